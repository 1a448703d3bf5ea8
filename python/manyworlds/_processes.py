"""Processes that play ranges of a run, each one range at a time. They write the files; the run commits them."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from typing import Any, Iterator

from . import _native, errors
from ._circumstances import environment as changed_environment
from ._model import Model, Prepared, place_of
from .errors import InvalidError, ModelError

#: Marks processes of this module, for a script that calls this package while one of them loads it.
_MARK = "MANYWORLDS_PROCESS"
#: The exit code of such a process.
_UNGUARDED = 77
#: Held while a process starts, because it inherits the environment.
_STARTING = threading.Lock()
_GUARD = 'put the calls of your script under `if __name__ == "__main__":`, because new processes load the script, too'


def end_if_loading() -> None:
    """Ends a process of this module whose script calls the package without a guard."""
    if _MARK in os.environ and getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(_UNGUARDED)


def pickled(model: Model) -> bytes:
    """A model for another process: by the name of its class, or by value if cloudpickle is installed.

    Raises:
        InvalidError: if the other process could not find the class.
    """
    of, main = type(model), sys.modules["__main__"]
    script = getattr(main, "__file__", None)
    if script and main.__spec__ is None and not os.path.exists(script):
        raise InvalidError(f"another process cannot load the script {script}: write it to a file, or use threads")
    at_prompt = of.__module__ == "__main__" and script is None
    reason = "it is defined in a notebook or at a prompt"
    if not at_prompt:
        try:
            return pickle.dumps(model)
        except Exception as error:
            reason = str(error)
    try:
        import cloudpickle
    except ImportError:
        advice = "move its class to a module, install cloudpickle, or use threads"
        raise InvalidError(f"another process cannot load model {of.__qualname__}: {reason}; {advice}") from None
    try:
        return cloudpickle.dumps(model)
    except Exception as error:
        raise InvalidError(f"another process cannot load model {of.__qualname__}: {error}") from None


class Child:
    """A process that runs `work(pipe, *arguments)`, with its own environment variables."""

    def __init__(self, work: Any, *arguments: Any, **environment: str) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_begin, args=(work, theirs, *arguments), name="manyworlds")
        with _STARTING, changed_environment({_MARK: "1", **environment}), _without_interrupts():
            self._process.start()
        theirs.close()

    def send(self, message: Any) -> None:
        """Sends a message; one to a process that has ended is lost."""
        try:
            self._pipe.send(message)
        except OSError:
            pass

    def receive(self) -> Any:
        """The next message.

        Raises:
            EOFError: if the process ends before it; says how.
        """
        connection.wait([self._pipe, self._process.sentinel])
        try:
            if self._pipe.poll():
                return self._pipe.recv()
        except (EOFError, OSError):
            pass
        self._process.join()
        raise EOFError(_ended(self._process.exitcode))

    def end(self) -> None:
        """Ends the process at once."""
        self._process.kill()
        self._process.join()


def _ended(code: int | None) -> str:
    if code == _UNGUARDED:
        return f"its process ended at its start: {_GUARD}"
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        more = "; the system may lack memory" if name == "SIGKILL" else ""
        return f"its process was ended by signal {-code} ({name}){more}"
    return f"its process ended with code {code}"


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """A process that starts meanwhile leaves Ctrl-C to this one."""
    # Its start unblocks the signal, so it must run before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(work: Any, pipe: connection.Connection, *arguments: Any) -> None:
    os.environ.pop(_MARK, None)
    parent = multiprocessing.parent_process()
    if parent is not None:
        # A killed parent cannot end its processes.
        threading.Thread(target=lambda: (connection.wait([parent.sentinel]), os._exit(1)), daemon=True).start()
    work(pipe, *arguments)


class Processes:
    """The processes of a run. They start when they are first needed."""

    def __init__(self, model: Model, parameters: Mapping[str, Any] | None, *opening: Any) -> None:
        self._name = place_of(type(model))
        self._arguments = (pickled(model), dict(parameters or {}), *opening)
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._all: list[Child] = []
        self._is_over = False

    def play(self, version: int, first: int, count: int) -> bytes | None:
        """Has a range played. `None` once the run is over.

        Raises:
            Error: as the process raised it, or because the process ended.
        """
        with self._lock:
            if self._is_over:
                return None
            if not self._idle:
                self._idle.append(Child(_play_ranges, *self._arguments))
                self._all.append(self._idle[-1])
            child = self._idle.pop()
        child.send((version, first, count))
        try:
            written, failed = child.receive()
        except EOFError as ended:
            failed_at = f"worlds {first:08}-{first + count - 1:08} could not be played: model {self._name} failed"
            failed = ("ModelError", f"{failed_at}: {ended}")
        with self._lock:
            if self._is_over:
                return None
            if failed is None:
                self._idle.append(child)
                return written
        self.stop()
        raise getattr(errors, failed[0], ModelError)(failed[1])

    def stop(self) -> None:
        """Ends all processes, and drops the ranges in progress."""
        with self._lock:
            self._is_over = True
            for child in self._all:
                child.end()


def _play_ranges(
    pipe: connection.Connection,
    model: bytes,
    parameters: Mapping[str, Any],
    place: tuple[Any, ...],
    name: str,
    goal: tuple[str, str] | None,
) -> None:
    """Plays ranges in this process until the other end of the pipe closes."""
    players: dict[int, _native.Player] = {}
    while True:
        try:
            version, first, count = pipe.recv()
        except EOFError:
            return
        try:
            if version not in players:
                prepared = Prepared(pickle.loads(model), parameters)
                players[version] = _native.Player(_native.Store(*place), name, version, goal, prepared.play)
            pipe.send((players[version].play(first, count), None))
        except Exception as error:
            pipe.send((None, (type(error).__name__, str(error))))
