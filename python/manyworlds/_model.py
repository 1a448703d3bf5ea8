"""Models in Python: a function over arrays of worlds."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Callable, Iterable

from . import _native
from .errors import InvalidError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np

    from ._data import Data
    from ._ensemble import Ensemble


@dataclass(frozen=True)
class Param:
    """A parameter of a model: a number within bounds, or a text that is one of some words."""

    #: The value unless another is given.
    default: float | str
    #: Bounds of a number, both included.
    min: float = float("-inf")
    max: float = float("inf")
    #: The effect, with the unit.
    doc: str = ""
    #: What a text may be; any text if there are none.
    words: tuple[str, ...] = ()

    def _check(self, name: str, value: Any) -> float | str:
        if isinstance(self.default, str):
            if not isinstance(value, str) or (self.words and value not in self.words):
                wanted = f"one of {', '.join(self.words)}" if self.words else "a text"
                raise InvalidError(f"parameter {name} is {value!r}: give {wanted}")
            return value
        bounds = f"a number from {self.min:g} to {self.max:g}"
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InvalidError(f"parameter {name} is {value!r}: give {bounds}") from None
        if not self.min <= number <= self.max or number in (float("inf"), float("-inf")):
            raise InvalidError(f"parameter {name} is {value!r}: give {bounds}")
        return number


@dataclass(frozen=True)
class Outcome:
    """What an outcome holds. Make one with `number`, `flag`, `code` or `real`."""

    kind: str
    unit: str
    scale: int = 1
    labels: tuple[str, ...] = ()


def number(unit: str = "", scale: int = 1) -> Outcome:
    """A whole number within 32 bits; or, with a scale of 10, 100, ..., a decimal that is a multiple of 1 / scale."""
    if not isinstance(scale, int) or not 1 <= scale <= 1_000_000_000:
        raise InvalidError(f"the scale of an outcome is {scale!r}: give a whole number from 1 to 1000000000")
    return Outcome("number", unit, scale)


def flag(unit: str = "0 or 1") -> Outcome:
    """True or false."""
    return Outcome("flag", unit)


def code(*labels: str) -> Outcome:
    """A place in a list of labels, from 0."""
    if not labels:
        raise InvalidError("a code has no labels: name them, as in code('home', 'draw', 'away')")
    return Outcome("code", "label", labels=labels)


def real(unit: str = "") -> Outcome:
    """A real number with full precision."""
    return Outcome("real", unit)


class Catalogue:
    """Everything that a model emits.

    Args:
        kinds: the kinds of entities by name, each with its outcomes by name.
        entities: the kind of each entity by name, in storage order; or all entities of a single kind as a list.
        titles: titles for people, by entity.
    """

    def __init__(
        self,
        kinds: Mapping[str, Mapping[str, Outcome]],
        entities: Mapping[str, str] | Sequence[str],
        titles: Mapping[str, str] | None = None,
    ) -> None:
        if not isinstance(entities, Mapping):
            if len(kinds) != 1:
                raise InvalidError("the catalogue has several kinds: give the kind of each entity")
            entities = dict.fromkeys(entities, next(iter(kinds)))
        if not entities or not all(kinds.values()):
            raise InvalidError("the catalogue has no entity, or a kind without outcomes: name at least one of each")
        places = {name: place for place, name in enumerate(kinds)}
        unknown = next((kind for kind in entities.values() if kind not in places), None)
        if unknown is not None:
            raise UnknownNameError(f"no kind {unknown!r} in the catalogue: there are {', '.join(kinds)}")
        described = lambda name, o: {  # noqa: E731
            "name": name, "unit": o.unit, "kind": o.kind, "scale": o.scale, "labels": o.labels,
        }  # fmt: skip
        self.entities = list(entities)
        self._json = {
            "kinds": [
                {"name": kind, "outcomes": [described(name, outcome) for name, outcome in outcomes.items()]}
                for kind, outcomes in kinds.items()
            ],
            "entities": [
                {"name": name, "kind": places[kind], "title": (titles or {}).get(name, name), "members": []}
                for name, kind in entities.items()
            ],
            "events": [],
        }


class Stream:
    """Random draws of one entity and purpose: each method returns an array with one value for each world.

    A world's draws depend on the seed, the world, the entity and the purpose alone. Draw in the same order in every
    world: the n-th call of a stream gives the n-th draw of each world. Values are the same on every machine.

    Means, shares and bounds may be numbers, or arrays with one value for each world.
    """

    def __init__(self, draws: _native.Draws) -> None:
        self._draws = draws

    def uniform(self, low: Any = 0.0, high: Any = 1.0) -> np.ndarray:
        """Uniform numbers from `low` to below `high`; `float64`."""
        values = self._draws.uniform()
        values *= high - low
        values += low
        return values

    def normal(self, mean: Any = 0.0, sd: Any = 1.0) -> np.ndarray:
        """Normal numbers; `float64`."""
        values = self._draws.normal()
        values *= sd
        values += mean
        return values

    def exponential(self, mean: Any = 1.0) -> np.ndarray:
        """Exponential numbers; `float64`."""
        values = self._draws.exponential()
        values *= mean
        return values

    def integers(self, low: int, high: int) -> np.ndarray:
        """Whole numbers from `low` to below `high`; `int64`."""
        if high <= low:
            raise InvalidError(f"integers from {low} to below {high}: give a higher end")
        values = self._draws.below(high - low)
        values += low
        return values

    def chance(self, p: Any) -> np.ndarray:
        """True with probability `p`; `bool`."""
        return self._draws.uniform() < p

    def choice(self, p: Sequence[float]) -> np.ndarray:
        """Places in a list of probabilities, which sum to 1; `int64`."""
        total, sums = 0.0, []
        for share in p:
            total += share
            sums.append(total)
        if not sums or min(p) < 0 or abs(total - 1.0) > 1e-9:
            raise InvalidError(f"the probabilities of a choice sum to {total}: give numbers from 0 that sum to 1")
        return self._draws.choice(sums)

    def poisson(self, mean: Any) -> np.ndarray:
        """Poisson numbers; `int64`."""
        return self._draws.poisson(_plain(mean))

    def binomial(self, n: Any, p: Any) -> np.ndarray:
        """Hits among `n` trials with probability `p`; `int64`."""
        return self._draws.binomial(_plain(n), _plain(p))


def _plain(given: Any) -> Any:
    """A number, or an array of `float64`."""
    if isinstance(given, (int, float)):
        return float(given)
    import numpy as np

    array = np.ascontiguousarray(given, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


class Worlds:
    """A range of worlds, as `Model.simulate` gets it. `len()` is the length of every array."""

    def __init__(self, seed: int, first: int, count: int, entities: dict[str, int]) -> None:
        self._seed, self._entities = seed, entities
        #: The first world's number.
        self.first = first
        self._count = count

    def __len__(self) -> int:
        return self._count

    @property
    def numbers(self) -> np.ndarray:
        """The worlds' numbers, `int64`."""
        import numpy as np

        return np.arange(self.first, self.first + self._count)

    def stream(self, entity: int | str = 0, purpose: int = 0) -> Stream:
        """The random draws of an entity, given by name or as any number from 0, for a purpose of the model's choice."""
        if isinstance(entity, str):
            if entity not in self._entities:
                raise UnknownNameError(f"no entity {entity!r} in the catalogue")
            entity = self._entities[entity]
        return Stream(_native.Draws(self._seed, self.first, self._count, entity, purpose))


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


class World:
    """One world, as a method under `per_world` gets it."""

    def __init__(self, seed: int, number: int) -> None:
        self._seed = seed
        #: The world's number.
        self.number = number

    def random(self, purpose: int = 0) -> Any:
        """A `random.Random` of this world and purpose."""
        import random

        return random.Random(self._key(purpose))

    def generator(self, purpose: int = 0) -> np.random.Generator:
        """A `numpy.random.Generator` of this world and purpose. NumPy may change its values between versions."""
        import numpy as np

        return np.random.Generator(np.random.Philox(self._key(purpose)))

    def _key(self, purpose: int) -> int:
        key = f"{self._seed}/{self.number}/{purpose}".encode()
        return int.from_bytes(hashlib.sha256(key).digest()[:16], "little")


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
            raise InvalidError(f"{model!r} is no model: give an instance of a subclass of manyworlds.Model")
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
            # The frames of this file say nothing to the model's author.
            frames = traceback.extract_tb(error.__traceback__)
            own = [frame for frame in frames if frame.filename != __file__]
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


def run(
    model: Model,
    worlds: int = 1000,
    seed: int = 1,
    name: str | None = None,
    data: Data | str | os.PathLike[str] = "data",
    *,
    parameters: Mapping[str, Any] | None = None,
    threads: int | None = None,
    range_worlds: int | None = None,
    replace: bool = False,
    resume: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Ensemble:
    """Plays worlds of a model, stores them, and opens the ensemble.

    Args:
        model: an instance of a subclass of `Model`.
        worlds: number of worlds.
        seed: the seed of all random numbers.
        name: the ensemble's name; by default the model's in lower case.
        data: the place of the tables.
        parameters: values other than the defaults.
        threads: threads that play and store ranges; Python's own code runs in one of them at a time.
        range_worlds: worlds in one call of `simulate`.
        replace: replace a stored ensemble; readers see the old one until the new one is complete.
        resume: continue an ensemble that was interrupted.
        progress: called with the worlds played and their number, some times a second.

    Raises:
        ModelError: if the model fails; names the range, the first failing world, and the traceback.
        ExistsError: if the name is taken.
        KeyboardInterrupt: after Ctrl-C, once the ranges in progress are stored; continue with `resume`.
    """
    from ._data import Data, open

    if replace and resume:
        raise InvalidError("replace and resume exclude each other: give one of them")
    if not 1 <= worlds < 1 << 32:
        raise InvalidError(f"worlds is {worlds}: give a number from 1 to 4294967295")
    prepared = Prepared(model, parameters)
    place = data if isinstance(data, Data) else open(data)
    store = getattr(place._backend, "native", None)
    if store is None:
        raise InvalidError("a server plays no models: give a folder or a bucket")
    cores = threads or os.cpu_count() or 1
    request = {
        "name": name or prepared.title.lower(),
        "model": prepared.name,
        "parameters": prepared.parameters_json(),
        "catalogue": prepared.catalogue._json,
        "seed": seed,
        "worlds": worlds,
        "range_worlds": range_worlds or min(5000, -(-worlds // cores)),
        "threads": cores,
        "mode": "replace" if replace else "resume" if resume else "new",
    }
    _native.play(store, json.dumps(request), prepared.play, progress)
    return place.ensembles[str(request["name"])]


@dataclass(frozen=True)
class Promise:
    """What `check` found. True if the model keeps its promise."""

    ok: bool
    #: What breaks the promise, in plain words; empty if nothing does.
    findings: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.ok


def check(model: Model, worlds: int = 64, seed: int = 1, parameters: Mapping[str, Any] | None = None) -> Promise:
    """Checks that a world depends on the parameters, the seed and its number alone.

    Plays the same worlds twice, in ranges that are cut differently and in another order, and with another seed, and
    compares every value.

    Raises:
        ModelError: if the model fails.
    """
    prepared = Prepared(model, parameters)
    play = lambda seed, cuts: _played(prepared, seed, cuts)  # noqa: E731
    middle, third = worlds // 2, max(worlds // 3, 1)
    whole = play(seed, [(0, worlds)])
    findings: list[str] = []
    if found := _difference(whole, play(seed, [(0, worlds)])):
        findings.append(
            f"{found} when the same worlds are played again: the model uses a generator of its own, such as numpy.random"
            " or random, keeps state between calls, or reads a clock. Draw from worlds.stream, and compute all else anew"
        )
    else:
        cuts = [(middle, worlds - middle), (0, third), (third, middle - third)]
        if found := _difference(whole, play(seed, [cut for cut in cuts if cut[1] > 0])):
            findings.append(
                f"{found} when the worlds are cut into other ranges: a value depends on other worlds of its range, for"
                " example by a mean over the worlds, a generator that they share, or a number of draws that depends on"
                " the range. Compute each world from its own values"
            )
    if len({tuple(c.tobytes() for c in columns.values()) for columns in (whole, play(seed + 1, [(0, worlds)]))}) == 1:
        findings.append("another seed gives the same worlds: the model draws nothing from worlds.stream")
    return Promise(not findings, tuple(findings))


def _played(prepared: Prepared, seed: int, cuts: Iterable[tuple[int, int]]) -> dict[tuple[str, str], np.ndarray]:
    """The values of every outcome of every entity, in the order of worlds."""
    import numpy as np

    from .errors import ModelError

    parts: dict[tuple[str, str], dict[int, np.ndarray]] = {}
    for first, count in cuts:
        strict = _native.emitter(json.dumps(prepared.catalogue._json), first, count)

        class Kept:
            """Checks what is emitted, and keeps it."""

            missing = staticmethod(strict.missing)

            def __call__(self, entity: str, **outcomes: np.ndarray) -> None:
                strict(entity, **outcomes)
                for name, values in outcomes.items():
                    parts.setdefault((entity, name), {})[first] = np.array(values)

        if failed := prepared.play(seed, first, count, Kept()):
            raise ModelError(f"model {prepared.title} failed in world {failed[0]}: {failed[1]}")
    return {key: np.concatenate([by_first[first] for first in sorted(by_first)]) for key, by_first in parts.items()}


def _difference(a: Mapping[tuple[str, str], np.ndarray], b: Mapping[tuple[str, str], np.ndarray]) -> str | None:
    """The first value that differs."""
    import numpy as np

    for (entity, outcome), values in a.items():
        others = b[entity, outcome]
        differ = ~((values == others) | ((values != values) & (others != others)))
        if differ.any():
            world = int(np.argmax(differ))
            return f"{outcome} of {entity} in world {world} is {values[world]} or {others[world]}"
    return None
