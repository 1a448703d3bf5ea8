"""The command `manyworlds`.

Loads the modules for models only if a model of Python is named: they take longer than most commands.
"""

import os
import signal
import sys

from . import _native

#: The exit code of a command that could not do its work.
_ERROR = 2


def main() -> int:
    """Runs the command of `sys.argv` and returns its exit code."""
    # `python -m` would import modules of the working folder, whose names may come from stored data.
    if sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    _native.find_models(_named)
    words = sys.argv[1:]
    # A model as FILE.py:CLASS.
    if any(".py:" in word for word in words):
        from ._models import add_files

        try:
            words = add_files(words)
        except Exception as error:
            import traceback

            print(f"error: {''.join(traceback.format_exception_only(error)).strip()}", file=sys.stderr)
            return _ERROR
    # Python's handlers run only between its own instructions, and the command is one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The package may have no script. `-P` keeps modules of the working folder out.
    program = [sys.executable, "-P", "-m", "manyworlds"]
    return _native.main(["manyworlds", *words], program)


def _named(name: str) -> object:
    from ._models import named

    return named(name)
