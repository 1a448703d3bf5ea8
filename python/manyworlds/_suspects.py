"""Watches a model for what may make its worlds differ: clocks, generators of its own, its process, its environment."""

from __future__ import annotations

import gc
import inspect
import os
import random
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType
from typing import Any

from ._origin import is_own

#: Functions of `time` and `datetime` whose results depend on nothing but their arguments.
_PURE = {"sleep", "strptime", "mktime"}
_DATES = {"now", "utcnow", "today"}
#: The function that names the thread.
THREAD = "threading.get_ident"
#: Functions whose results belong to a process or a machine, and their usual names.
_OF_PROCESS = {
    "getpid": "os.getpid", "getppid": "os.getppid", "get_ident": THREAD, "gethostname": "socket.gethostname",
    "uname": "os.uname", "id": "id",
}  # fmt: skip
#: Modules with functions that read environment variables for their callers.
_READERS = ("os", "collections.abc", "_collections_abc")
_READ_VARIABLE = type(os.environ).__getitem__.__code__


class Suspects:
    """Notes, as a context, what a model calls and which generators it draws from."""

    def __init__(self, model: Any) -> None:
        self._home = type(model).__module__
        self._globals = list(_globals(type(model)))
        self._generators = list(_generators((vars(model), *map(vars, type(model).__mro__[:-1]), *self.places())))
        self._clocks: set[str] = set()
        #: What the model reads of its process, and environment variables.
        self.of_process: set[str] = set()
        self.variables: set[str] = set()
        #: Whether the model's own functions read a clock.
        self.reads_clock = False
        self._is_random = False

    def __enter__(self) -> Suspects:
        self._before = [_state(generator) for _, generator in self._generators]
        self._profile = sys.getprofile()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._profile)
        drawn = [name for (name, of), before in zip(self._generators, self._before) if _state(of) != before]
        self.causes = [f"draws from {name}a generator of its own" for name in dict.fromkeys(drawn)]
        #: The clocks, in words.
        self.clocks = f"reads a clock ({', '.join(sorted(self._clocks))})"
        self.causes += [self.clocks] if self._clocks else []
        if self._is_random:
            self.causes.append("draws from the system's generator, as one without a seed does")

    def places(self) -> list[dict[str, Any]]:
        """The names of all modules that the user has written."""
        modules = [vars(module) for name, module in list(sys.modules.items()) if module and is_own(name, self._home)]
        return [*self._globals, *modules]

    def is_own(self, frame: Any) -> bool:
        """Whether a frame runs code that the user has written."""
        return is_own(frame.f_globals.get("__name__"), self._home)

    def _note(self, frame: Any, event: str, function: Any) -> None:
        if event == "call" and frame.f_code is _READ_VARIABLE:
            caller = frame.f_back
            while caller is not None and caller.f_globals.get("__name__") in _READERS:
                caller = caller.f_back
            if caller is not None and self.is_own(caller):
                self.variables.add(os.fsdecode(frame.f_locals["key"]))
        if event != "c_call" or not isinstance(function, BuiltinFunctionType):
            return
        owner, name = function.__self__, function.__name__
        module = getattr(owner, "__name__", "")
        if (module == "time" and name not in _PURE) or (module in ("datetime", "date") and name in _DATES):
            self._clocks.add(f"{module}.{name}")
            self.reads_clock = self.reads_clock or self.is_own(frame)
        elif name in ("urandom", "getrandom") or (name == "seed" and isinstance(owner, random.Random)):
            self._is_random = True
        elif name in _OF_PROCESS and self.is_own(frame):
            self.of_process.add(_OF_PROCESS[name])


def _state(generator: Any) -> str:
    """The state of a generator, as text."""
    if isinstance(generator, random.Random):
        return repr(generator.getstate())
    bits = getattr(generator, "bit_generator", None)
    return repr(bits.state if bits is not None else generator.get_state())


def _generators(places: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """All generators of this process, each with its name in one of the places and a comma, or with an empty text."""
    kinds: tuple[type, ...] = (random.Random,)
    names = {id(getattr(random, "_inst")): "random"}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        names[id(numpy.random.mtrand._rand)] = "numpy.random"
        kinds += (numpy.random.Generator, numpy.random.RandomState)
    for place in places:
        for name, value in list(place.items()):
            names.setdefault(id(value), name)
    for value in gc.get_objects():
        # The system's generator has no state.
        if issubclass(type(value), kinds) and not isinstance(value, random.SystemRandom):
            known = names.get(id(value))
            yield f"{known}, " if known else "", value


def _globals(model: type) -> Iterator[dict[str, Any]]:
    """The global names of the functions of a class, and of functions that those enclose."""
    waiting = [value for value in vars(model).values() if isinstance(value, FunctionType)]
    seen: set[FunctionType] = set()
    while waiting:
        function = inspect.unwrap(waiting.pop())
        if function in seen:
            continue
        seen.add(function)
        # Those of this package have no generators, and enclose the model's own.
        if not (function.__module__ or "").startswith("manyworlds."):
            yield function.__globals__
        contents = map(_content, function.__closure__ or ())
        waiting += [content for content in contents if isinstance(content, FunctionType)]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        # A name that is not bound yet.
        return None
