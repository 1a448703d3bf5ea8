"""The command `manyworlds`."""

import os
import signal
import sys
import sysconfig

from . import _native


def main() -> int:
    """Runs the command of `sys.argv` and returns its exit code."""
    # Python's handlers run only between its own instructions, and this is one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    script = os.path.join(sysconfig.get_path("scripts"), "manyworlds")
    program = script if os.access(script, os.X_OK) else os.path.abspath(sys.argv[0])
    return _native.main(["manyworlds", *sys.argv[1:]], program)
