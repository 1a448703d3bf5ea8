"""Models in Python: a function over arrays of worlds."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import sys
import traceback
from collections.abc import Mapping
from importlib import metadata
from types import SimpleNamespace
from typing import Any, Callable

from . import _native
from ._catalogue import Catalogue, Param
from ._draws import World, Worlds
from .errors import InvalidError, UnknownNameError


class Model:
    """A model of worlds. Subclass it, and implement `catalogue` and `simulate`.

    A world's numbers must depend on the parameters, the seed and the world alone: draw random numbers from
    `worlds.stream` only, and keep no state between calls. `check` finds models that break this.

    Example:
        >>> import manyworlds as mw
        >>> class Coins(mw.Model):
        ...     name, parameters = "coins", {"p": mw.Param(0.5, 0, 1, "probability of heads")}
        ...     def catalogue(self, p):
        ...         return mw.Catalogue({"coin": {"heads": mw.number("tosses of 10")}}, ["coin-1", "coin-2"])
        ...     def simulate(self, p, worlds, emit):
        ...         for coin in ("coin-1", "coin-2"):
        ...             emit(coin, heads=worlds.stream(coin).binomial(10, p.p))
        >>> mw.check(Coins()).ok
        True
        >>> coins = mw.run(Coins(), worlds=1000, seed=1, data=DATA, parameters={"p": 0.6})
        >>> abs(coins.outcome("coin-1", "heads").mean - 6) < 0.25
        True
    """

    #: The name in tables and messages; by default the class's.
    name: str = ""
    #: The version, for people.
    version: str = ""
    #: The parameters by name.
    parameters: Mapping[str, Param] = {}

    def catalogue(self, p: SimpleNamespace) -> Catalogue:
        """Everything that the model emits, with parameters `p`."""
        raise NotImplementedError

    def simulate(self, p: SimpleNamespace, worlds: Worlds, emit: Callable[..., None]) -> None:
        """Plays a range of worlds: calls `emit(ENTITY, OUTCOME=ARRAY, ...)` once for each entity, with an array of one
        value for each world for each outcome."""
        raise NotImplementedError


def per_world(simulate: Callable[..., Mapping[str, Mapping[str, Any]]]) -> Callable[..., None]:
    """Turns a method that plays one world into `Model.simulate`.

    The method gets the parameters and a `World`, and returns the outcomes of every entity by name. Each world costs a
    call of Python: use it for code such as SimPy's that cannot compute with arrays.

    Example:
        >>> import manyworlds as mw
        >>> class Walk(mw.Model):
        ...     def catalogue(self, p):
        ...         return mw.Catalogue({"walk": {"end": mw.real("steps")}}, ["walk"])
        ...     @mw.per_world
        ...     def simulate(self, p, world):
        ...         return {"walk": {"end": sum(world.random().gauss() for _ in range(3))}}
        >>> mw.check(Walk()).ok
        True
    """

    def of_range(self: Model, p: SimpleNamespace, worlds: Worlds, emit: Callable[..., None]) -> None:
        import numpy as np

        rows: dict[str, dict[str, list[Any]]] = {}
        for number in range(worlds.first, worlds.first + len(worlds)):
            for entity, outcomes in simulate(self, p, World(worlds._seed, number)).items():
                columns = rows.setdefault(entity, {name: [] for name in outcomes})
                for name, value in outcomes.items():
                    columns.setdefault(name, []).append(value)
        for entity, columns in rows.items():
            emit(entity, **{name: np.array(values) for name, values in columns.items()})

    return of_range


def _place(model: type) -> str:
    """Where a model is found again: `MODULE:CLASS`, or `FILE.py:CLASS` for that of a script."""
    module = model.__module__
    if module == "__main__":
        script = getattr(sys.modules["__main__"], "__file__", None)
        module = os.path.relpath(script) if script else module
    return f"{module}:{model.__qualname__}".replace(" ", "_")


class Prepared:
    """A model with its parameters, ready to play ranges."""

    def __init__(self, model: Model, parameters: Mapping[str, Any] | None) -> None:
        if not isinstance(model, Model):
            raise InvalidError(f"{model!r} is not a model: give an instance of a subclass of manyworlds.Model")
        self.title = model.name or type(model).__name__
        self.model = model
        self.name = _place(type(model))
        given = dict(parameters or {})
        unknown = next((name for name in given if name not in model.parameters), None)
        if unknown is not None:
            have = ", ".join(model.parameters) or "none"
            raise UnknownNameError(f"model {self.title} has no parameter {unknown!r}; there are: {have}")
        self.values = {name: p._check(name, given.get(name, p.default)) for name, p in model.parameters.items()}
        self.catalogue = model.catalogue(self._namespace())
        if not isinstance(self.catalogue, Catalogue):
            raise InvalidError(f"the catalogue of model {self.title} is {type(self.catalogue).__name__}: return a Catalogue")
        self._places = {name: place for place, name in enumerate(self.catalogue.entities)}

    def _namespace(self) -> SimpleNamespace:
        return SimpleNamespace(**self.values)

    def parameters_json(self) -> str:
        """The parameters, and what else determines the worlds."""
        return json.dumps({**self.values, "definition": origin(self.model)}, sort_keys=True)

    def play(self, seed: int, first: int, count: int, emit: Any) -> tuple[int | None, str] | None:
        """Plays a range. Returns the first world that fails, if one fails alone, and the traceback."""
        failed = self._failure(seed, first, count, emit)
        if failed is None:
            return None
        # Halve the range until one failing world is left.
        while count > 1:
            half = (count + 1) // 2
            halves = ((first, half), (first + half, count - half))
            found = next(((f, c, why) for f, c in halves if (why := self._failure(seed, f, c, None)) is not None), None)
            if found is None:
                return None, failed
            first, count, failed = found
        return first, failed

    def _failure(self, seed: int, first: int, count: int, emit: Any) -> str | None:
        """Why a range cannot be played."""
        emit = emit or _native.emitter(json.dumps(self.catalogue._json), first, count)
        try:
            self.model.simulate(self._namespace(), Worlds(seed, first, count, self._places), emit)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            # Frames of this package say nothing to the model's author.
            own = [frame for frame in frames if os.path.dirname(frame.filename) != os.path.dirname(__file__)]
            where = "".join(traceback.format_list(own))
            return f"{type(error).__name__}: {error}\n{where}".rstrip()
        missing = emit.missing()
        return f"it emitted no outcomes of {', '.join(missing[:5])}" if missing else None


def origin(model: Model) -> dict[str, str]:
    """Where a model is from: its source and the versions of its libraries."""
    try:
        source = inspect.getsource(type(model))
    except (OSError, TypeError):
        source = ""
    libraries = {"python": platform.python_version()}
    for name in ("numpy", "numba", "jax", "simpy"):
        if name in sys.modules:
            libraries[name] = metadata.version(name)
    digest = hashlib.sha256(source.encode()).hexdigest() if source else ""
    return {"class": type(model).__qualname__, "version": model.version, "source": digest, **libraries}
