"""Models in Python: a function over arrays of worlds."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Callable

from . import _native
from ._catalogue import Catalogue, Param, plain
from ._draws import World, Worlds
from ._origin import origin
from .errors import InvalidError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np


class Emit:
    """Takes what a model emits for a range of worlds: `emit(ENTITY, OUTCOME=ARRAY, ...)`, and `emit.events`."""

    def __init__(self, outcomes: Any, events: Any, worlds: Worlds) -> None:
        self._outcomes, self._events, self._worlds = outcomes, events, worlds
        #: The entity of a call that has not returned.
        self._entity: str | None = None

    def __call__(self, /, entity: str, **outcomes: np.ndarray) -> None:
        """Takes the outcomes of an entity: an array with one value for each world for each of them."""
        self._begin(entity)
        self._outcomes(entity, **outcomes)
        self._entity = None
        self._worlds._begun.discard(entity)

    def events(self, /, entity: str, worlds: np.ndarray, **columns: np.ndarray) -> None:
        """Takes the events of an entity, in any order of worlds.

        Args:
            entity: its name.
            worlds: the place of each event's world in the range, from 0 to below `len()` of the range.
            columns: an array with one value for each event, for each event column of the catalogue. Columns that are
                `optional` accept masked arrays, and may be left out.
        """
        self._begin(entity)
        self._events(entity, worlds, **columns)
        self._entity = None

    def _begin(self, entity: str) -> None:
        if not isinstance(entity, str):
            raise InvalidError(f"{entity!r} names no entity: give its name as a text")
        self._entity = entity

    def _at(self) -> str | None:
        """The entity that the model is at, if known: of a refused call, or the only one that it has begun."""
        begun = self._worlds._begun
        return self._entity or (next(iter(begun)) if len(begun) == 1 else None)


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
        raise NotImplementedError(f"{type(self).__name__} has no catalogue: define catalogue(self, p), which returns a Catalogue")

    def simulate(self, p: SimpleNamespace, worlds: Worlds, emit: Emit) -> None:
        """Plays a range of worlds: calls `emit(ENTITY, OUTCOME=ARRAY, ...)` once for each entity, with an array of one
        value for each world for each outcome. Calls `emit.events` at most once for each entity."""
        raise NotImplementedError(f"{type(self).__name__} plays no worlds: define simulate(self, p, worlds, emit)")


_RETURN = 'return outcomes by entity, as in {"day-1": {"served": 17}}'


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

        columns: dict[tuple[str, str], list[Any]] = {}
        width = None
        for done, number in enumerate(range(worlds.first, worlds.first + len(worlds)), 1):
            try:
                given = 0
                returned = simulate(self, p, World(worlds.seed, number))
                if not isinstance(returned, Mapping):
                    raise InvalidError(f"simulate returned {type(returned).__name__}: {_RETURN}")
                for entity, outcomes in returned.items():
                    if not isinstance(outcomes, Mapping):
                        raise InvalidError(f"simulate returned {type(outcomes).__name__} for {entity}: {_RETURN}")
                    given += len(outcomes)
                    for name, value in outcomes.items():
                        columns.setdefault((entity, name), []).append(value)
                width = len(columns) if width is None else width
                if not given == width == len(columns):
                    entity, name = next(key for key, values in columns.items() if len(values) != done)
                    raise InvalidError(f"{entity}: some worlds have outcome {name!r}, others lack it")
            except Exception as error:
                raise WorldError(number) from error
        by_entity: dict[str, dict[str, np.ndarray]] = {}
        for (entity, name), values in columns.items():
            by_entity.setdefault(entity, {})[name] = np.array(values)
        for entity, arrays in by_entity.items():
            emit(entity, **arrays)

    return of_range


class WorldError(Exception):
    """One world failed, for the reason in `__cause__`."""

    def __init__(self, world: int) -> None:
        super().__init__(f"world {world}")
        self.world = world


def place_of(model: type) -> str:
    """Where a model is found again: `MODULE:CLASS`, or `FILE.py:CLASS` for that of a script."""
    module = model.__module__
    if module in ("__main__", "__mp_main__"):
        module = getattr(sys.modules["__main__"], "__file__", None) or module
    return file_name(module, model.__qualname__)


def file_name(file: str, model: str) -> str:
    """How tables name a model of a file, which may be in another folder elsewhere; or of a module."""
    return f"{os.path.basename(file)}:{model}".replace(" ", "_")


#: The origin of a model among its parameters in tables.
_ORIGIN = "definition"

#: The first world that fails and its entity, if known, and the reason.
Failure = tuple[int | None, str | None, str]


class Prepared:
    """A model with its parameters, ready to play ranges."""

    def __init__(self, model: Model, parameters: Mapping[str, Any] | None, known: Mapping[str, Any] | None = None) -> None:
        """`known` is what is stored about the model's origin, if that is not all that can be known."""
        if not isinstance(model, Model):
            raise InvalidError(f"{model!r} is not a model: give an instance of a subclass of manyworlds.Model")
        self.title = model.name or type(model).__name__
        self.model = model
        self.name = place_of(type(model))
        if not isinstance(parameters or {}, Mapping):
            raise InvalidError(f"the parameters are {type(parameters).__name__}: give a dict of names and values")
        given = {name: plain(value) for name, value in (parameters or {}).items()}
        if _ORIGIN in given:
            raise UnknownNameError(f"no parameter {_ORIGIN!r}; there are: {', '.join(model.parameters)}")
        #: The parameters, and what else determines the worlds, as JSON.
        self.origin = dict(known or origin(model))
        self.parameters = _native.parameters(described(model), json.dumps({**given, _ORIGIN: self.origin}))
        values = json.loads(self.parameters)
        self.values = {name: p._value(values[name]) for name, p in model.parameters.items()}
        self.catalogue = model.catalogue(self._namespace())
        if not isinstance(self.catalogue, Catalogue):
            raise InvalidError(f"the catalogue of model {self.title} is {type(self.catalogue).__name__}: return a Catalogue")
        self.catalogue_json = json.dumps(self.catalogue._json)
        self._places = {name: place for place, name in enumerate(self.catalogue.entities)}

    def _namespace(self) -> SimpleNamespace:
        return SimpleNamespace(**self.values)

    def play(self, seed: int, first: int, count: int, outcomes: Any, events: Any) -> Failure | None:
        """Plays a range. Returns why it cannot be played."""
        failed = self._failure(seed, first, count, outcomes, events)
        # Halve the range until one failing world is left.
        while failed is not None and failed[0] is None and count > 1:
            half = (count + 1) // 2
            for part in ((first, half), (first + half, count - half)):
                catalogue = (self.catalogue_json, *part)
                found = self._failure(seed, *part, _native.emitter(*catalogue), _native.events(*catalogue))
                if found is not None:
                    failed, (first, count) = found, part
                    break
            else:
                return failed
        return failed and (first if failed[0] is None else failed[0], *failed[1:])

    def _failure(self, seed: int, first: int, count: int, outcomes: Any, events: Any) -> Failure | None:
        worlds = Worlds(seed, first, count, self._places)
        emit = Emit(outcomes, events, worlds)
        try:
            self.model.simulate(self._namespace(), worlds, emit)
        # Models that exit would end a worker or a notebook.
        except (Exception, SystemExit) as error:
            cause = error.__cause__ if isinstance(error, WorldError) and error.__cause__ else error
            return getattr(error, "world", None), emit._at(), _traceback(cause)
        missing = outcomes.missing()
        return (None, None, f"it emitted no outcomes of {', '.join(missing[:5])}") if missing else None


def _traceback(error: BaseException | None) -> str:
    """An error with its traceback, and the errors that it was raised from."""
    texts: list[str] = []
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        frames = traceback.extract_tb(error.__traceback__)
        # Frames of this package say nothing to the model's author.
        own = [frame for frame in frames if os.path.dirname(frame.filename) != os.path.dirname(__file__)]
        title = ": ".join(filter(None, (type(error).__name__, str(error))))
        texts.append(f"{title}\n{''.join(traceback.format_list(own))}".rstrip())
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\ncaused by ".join(texts)


def described(model: Model) -> str:
    """The parameters of a model, as the native module reads them."""
    for name, parameter in model.parameters.items():
        if not isinstance(parameter, Param):
            raise InvalidError(f"parameter {name!r} of {type(model).__name__} is {parameter!r}: make it a Param")
        if name == _ORIGIN:
            raise InvalidError(f"no parameter can be called {name!r}: tables keep the model's origin under it")
    return json.dumps([p._described(name) for name, p in model.parameters.items()])
