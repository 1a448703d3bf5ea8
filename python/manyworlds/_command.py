"""The command `manyworlds`."""

import os
import signal
import sys
import traceback

from . import _native
from ._models import add_files, named

#: The exit code of a command that could not do its work.
_ERROR = 2


def main() -> int:
    """Runs the command of `sys.argv` and returns its exit code."""
    # `python -m` would import modules of the working folder, whose names may come from stored data.
    if sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    _native.find_models(named)
    try:
        words = add_files(sys.argv[1:])
    except Exception as error:
        print(f"error: {''.join(traceback.format_exception_only(error)).strip()}", file=sys.stderr)
        return _ERROR
    # Python's handlers run only between its own instructions, and the command is one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The package may have no script. `-P` keeps modules of the working folder out.
    program = [sys.executable, "-P", "-m", "manyworlds"]
    return _native.main(["manyworlds", *words], program)
