"""Watches a model for what may make its worlds differ from call to call: clocks, and generators of its own."""

from __future__ import annotations

import inspect
import random
import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any, Iterator

#: Functions of `time` and `datetime` whose results depend on nothing but their arguments.
_PURE = {"sleep", "strftime", "strptime", "mktime", "asctime"}
_DATES = {"now", "utcnow", "today"}


class Suspects:
    """Notes, as a context, what a model calls and which generators it draws from."""

    def __init__(self, model: Any) -> None:
        self._generators = dict(_generators(model))
        self._clocks: set[str] = set()
        self._is_random = False

    def __enter__(self) -> Suspects:
        self._before = {name: _state(generator) for name, generator in self._generators.items()}
        self._profile = sys.getprofile()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._profile)
        drawn = [name for name, generator in self._generators.items() if _state(generator) != self._before[name]]
        self.causes = [f"draws from {name}, a generator of its own" for name in drawn]
        self.causes += [f"reads a clock ({name})" for name in sorted(self._clocks)]
        if self._is_random:
            self.causes.append("draws from the system's generator, as one without a seed does")

    def _note(self, _frame: Any, event: str, function: Any) -> None:
        if event != "c_call" or not isinstance(function, BuiltinFunctionType):
            return
        owner, name = function.__self__, function.__name__
        module = getattr(owner, "__name__", "")
        if (module == "time" and name not in _PURE) or (module in ("datetime", "date") and name in _DATES):
            self._clocks.add(f"{module}.{name}")
        elif name in ("urandom", "getrandom") or (name == "seed" and isinstance(owner, random.Random)):
            self._is_random = True


def _state(generator: Any) -> str:
    """The state of a generator, as text."""
    if isinstance(generator, random.Random):
        return repr(generator.getstate())
    bits = getattr(generator, "bit_generator", None)
    return repr(bits.state if bits is not None else generator.get_state())


def _generators(model: Any) -> Iterator[tuple[str, Any]]:
    """The generators that a model can reach: global ones, and those of its class, its instance and its modules."""
    yield "random", getattr(random, "_inst")
    numpy = sys.modules.get("numpy")
    kinds: tuple[type, ...] = (random.Random,)
    if numpy is not None:
        yield "numpy.random", numpy.random.mtrand._rand
        kinds += (numpy.random.Generator, numpy.random.RandomState)
    places = [vars(model), *(vars(of) for of in type(model).__mro__[:-1]), *_globals(type(model))]
    for place in places:
        yield from ((name, value) for name, value in list(place.items()) if isinstance(value, kinds))


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
        if not function.__module__.startswith("manyworlds."):
            yield function.__globals__
        contents = map(_content, function.__closure__ or ())
        waiting += [content for content in contents if isinstance(content, FunctionType)]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        # A name that is not bound yet.
        return None
