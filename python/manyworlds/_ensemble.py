"""Ensembles and their entities."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from . import _native, _sql
from ._answers import Book, Comparison, Correlation, Distribution, Probability, Verification
from ._table import Table
from .errors import InvalidError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    import xarray as xr

    from ._data import Data


def _texts(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _bets(bets: str | os.PathLike[str] | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Bets as a question has them."""
    if isinstance(bets, (str, os.PathLike)):
        return json.loads(_native.bets(bets))
    decimals = lambda bet: {name: str(bet[name]) for name in ("stake", "odds") if name in bet}  # noqa: E731
    return [{**bet, "legs": _texts(bet.get("legs", ())), **decimals(bet)} for bet in bets]


class Ensemble(Mapping):
    """One version of an ensemble of simulated worlds; a mapping from names to its entities.

    It keeps to the worlds that were complete when it was opened. Open it again to see newer ones.

    Example:
        >>> import manyworlds as mw
        >>> season = mw.open(DATA).ensembles["season"]
        >>> len(season.entities), season.worlds
        (320, 200)
        >>> season.probability("home_points > away_points", entity="game-017").worlds
        200
    """

    def __init__(self, data: Data, backend: Any) -> None:
        self._data = data
        self._backend = backend
        self._summary = backend.summary()
        self._described: dict[str, Any] | None = None
        self._kinds: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """Its name."""
        return self._summary["ensemble"]

    @property
    def model(self) -> str:
        """The model that played it."""
        return self._summary["model"]

    @property
    def seed(self) -> int:
        """The seed; with the model and its parameters it determines every world."""
        return self._summary["seed"]

    @property
    def version(self) -> int:
        """Its version, which grows when it is replaced."""
        return self._summary["version"]

    @property
    def worlds(self) -> int:
        """Number of stored worlds: the length of every array of outcomes."""
        return self._summary["worlds"]

    @property
    def summary(self) -> dict[str, Any]:
        """State, size and times, as `manyworlds ensembles --format json` lists them."""
        return dict(self._summary)

    @property
    def parameters(self) -> dict[str, Any]:
        """The model's parameters."""
        return dict(self._description()["parameters"])

    @property
    def catalogue(self) -> dict[str, Any]:
        """Everything that the model emits: `kinds` with their outcomes, `entities`, and the columns of `events`."""
        return self._description()["catalogue"]

    @property
    def entities(self) -> list[str]:
        """Names of the entities, in storage order."""
        return list(self._entities())

    def _description(self) -> dict[str, Any]:
        if self._described is None:
            self._described = self._backend.description()
        return self._described

    def _entities(self) -> dict[str, Any]:
        if not self._kinds:
            catalogue = self.catalogue
            self._kinds = {e["name"]: (e, catalogue["kinds"][e["kind"]]) for e in catalogue["entities"]}
        return self._kinds

    def __getitem__(self, entity: str) -> Entity:
        return Entity(self, entity)

    def __contains__(self, entity: object) -> bool:
        return entity in self._entities()

    def __iter__(self) -> Iterator[str]:
        return iter(self._entities())

    def __len__(self) -> int:
        """Number of entities."""
        return len(self._entities())

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def world_numbers(self) -> np.ndarray:
        """The numbers of the stored worlds, `int64`, in the order of every array of outcomes."""
        import numpy as np

        return np.asarray(self._backend.world_numbers())

    def probability(
        self,
        *conditions: str,
        entity: str | None = None,
        given: str | Iterable[str] = (),
        min_worlds: int = 100,
    ) -> Probability:
        """The share of worlds in which all conditions hold.

        Args:
            conditions: such as `"home_margin > 3"` for the default entity, or `"game-018:home_margin > 3"`.
            entity: the default entity.
            given: count only worlds that meet these conditions, or conditions in the model's own words.
            min_worlds: the fewest worlds that `given` may leave.

        Raises:
            TooFewWorldsError: if fewer than `min_worlds` worlds meet `given`.
            UnknownNameError, InvalidError: if a condition is invalid.
        """
        question = {
            "ensemble": self.name,
            "entity": entity,
            "legs": list(conditions),
            "given": _texts(given),
            "min_worlds": min_worlds,
        }
        return Probability._of(self._backend.price(question))

    price = probability

    def book(
        self,
        bets: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
        *,
        entity: str | None = None,
        given: str | Iterable[str] = (),
        min_worlds: int = 100,
        levels: Iterable[float] = (0.95, 0.99),
        worst: int = 10,
    ) -> Book:
        """The risk of a book of bets: its profit and loss in every world.

        Args:
            bets: a CSV file, as the command `book` reads it; or dicts with `legs` (a condition, or a list of them),
                `stake`, `odds` (decimal, above 1), and optionally `id`, `entity`, and `side` (`"back"` or `"lay"`).
            entity: the default entity of legs and conditions.
            given: count only worlds that meet these conditions.
            min_worlds: the fewest worlds that `given` may leave.
            levels: levels of value at risk and expected shortfall, between 0 and 1.
            worst: number of worlds to list.

        Raises:
            InvalidError: if a bet is invalid; names its place.
            UnknownNameError, TooFewWorldsError: as `probability`.

        Example:
            >>> import manyworlds as mw
            >>> season = mw.open(DATA).ensembles["season"]
            >>> book = season.book([{"legs": "home_points > away_points", "stake": 10, "odds": 2.1}], entity="game-017")
            >>> book.stake, len(book.bets), [tail.level for tail in book.tails]
            (10.0, 1, [0.95, 0.99])
        """
        question = {
            "ensemble": self.name,
            "entity": entity,
            "bets": _bets(bets),
            "given": _texts(given),
            "min_worlds": min_worlds,
            # As decimals: 0.95 is exact.
            "levels": [str(level) for level in levels],
            "worst": worst,
        }
        return Book._of(self._backend.book(question))

    def outcome(self, entity: str | None, outcome: str) -> Distribution:
        """The exact distribution of an outcome over all worlds.

        Args:
            entity: the entity of plain names; `None` if every name has its own, as in `"team-03:wins"`.
            outcome: an outcome, or an expression such as `"home_points + away_points"`.

        Raises:
            UnknownNameError: if the ensemble lacks the entity or the outcome.
            InvalidError: if the expression is invalid, or its value in some world is not finite.
        """
        question = {"ensemble": self.name, "entities": [] if entity is None else [entity], "outcomes": [outcome]}
        fetch = lambda: self._backend.outcome({**question, "cdf": True})[0]["cdf"]  # noqa: E731
        return Distribution._of(self._backend.outcome(question)[0], fetch)

    def correlate(self, entity: str, *outcomes: str) -> Correlation:
        """The correlations of an entity's outcomes or expressions over all worlds; of all outcomes if none is named."""
        found = self._backend.correlate({"ensemble": self.name, "entity": entity, "outcomes": list(outcomes)})
        return Correlation(tuple(found["outcomes"]), found["worlds"], found["matrix"])

    def compare(self, other: Ensemble, *outcomes: str) -> list[Comparison]:
        """Compares outcomes, as `"ENTITY:OUTCOME"` or expressions of such, with those of another ensemble.

        Ensembles with the same seed are compared world by world, which estimates the difference far better.
        """
        if type(other._backend) is not type(self._backend):
            raise InvalidError("one ensemble is behind a server and the other is not: open both in the same way")
        question = {"first": self.name, "second": other.name, "outcomes": list(outcomes)}
        return [Comparison._of(found) for found in self._backend.compare(other._backend, question)]

    def verify(self) -> Verification:
        """Reads and checks everything stored: counts, hashes, identities, and outcomes recounted from events."""
        return Verification._of(self._backend.verify())

    def events(self, entity: str, worlds: int | range | tuple[int, int], where: str | None = None) -> Table:
        """The events of an entity in some worlds, replayed unless they are stored.

        Args:
            entity: its name.
            worlds: a world's number, a `range`, or the first and the last.
            where: a condition in SQL on the columns of events.
        """
        return self._data.sql(_sql.events(self.name, entity, worlds, where))

    def sql(self, query: str) -> Table:
        """Answers a query in SQL in which `outcomes`, `events` and `ensembles` have this ensemble alone."""
        return Table(self._data._backend.sql(query, self._backend))

    def lazy(self, kind: str | None = None) -> pl.LazyFrame:
        """A polars LazyFrame with a row for each world and entity of a kind, which reads only the columns in use.

        Columns: `entity`, `world`, and the outcomes of the kind.

        Args:
            kind: the kind of entities; may be left out if the model has one.
        """
        from ._lazy import scan

        return scan(self, kind)

    def to_xarray(self, kind: str | None = None, outcomes: Iterable[str] | None = None) -> xr.Dataset:
        """An xarray Dataset with the dimensions (entity, world): a variable for each outcome of a kind of entities."""
        import numpy as np
        import xarray as xr

        entities, described = self._of_kind(kind)
        names = list(outcomes) if outcomes is not None else [o["name"] for o in described["outcomes"]]
        stack = lambda name: np.stack([self[entity].worlds(name) for entity in entities])  # noqa: E731
        variables = {name: (("entity", "world"), stack(name)) for name in names}
        attributes = {"ensemble": self.name, "model": self.model, "seed": self.seed}
        return xr.Dataset(variables, {"entity": entities, "world": self.world_numbers()}, attributes)

    def to_arviz(self, kind: str | None = None, outcomes: Iterable[str] | None = None) -> xr.DataTree:
        """The form of ArviZ: the worlds as draws of one chain in the group `posterior_predictive`."""
        import xarray as xr

        worlds = self.to_xarray(kind, outcomes).rename(world="draw").expand_dims(chain=[0])
        return xr.DataTree.from_dict({"posterior_predictive": worlds.transpose("chain", "draw", "entity")})

    def _of_kind(self, kind: str | None) -> tuple[list[str], dict[str, Any]]:
        """The entities of a kind, and its description."""
        kinds = {k["name"]: k for k in self.catalogue["kinds"]}
        if kind is None and len(kinds) == 1:
            kind = next(iter(kinds))
        if kind not in kinds:
            have = ", ".join(kinds)
            raise UnknownNameError(f"no kind of entities {kind!r} in ensemble {self.name!r}: name one of {have}")
        return [name for name, (_, k) in self._entities().items() if k["name"] == kind], kinds[kind]

    def __reduce__(self) -> tuple[Any, ...]:
        return (_reopened, (self._data, self.name, self.version))

    def __repr__(self) -> str:
        return f"<manyworlds.Ensemble {self.name!r}: {self.worlds} worlds of {self.model}, version {self.version}>"


def _reopened(data: Data, name: str, version: int) -> Ensemble:
    """An ensemble that was pickled."""
    ensemble = data.ensembles[name]
    if ensemble.version != version:
        raise UnknownNameError(f"ensemble {name!r} has no version {version}: it was replaced or dropped")
    return ensemble


class Entity:
    """One entity of an ensemble, such as a game or a team."""

    def __init__(self, ensemble: Ensemble, name: str) -> None:
        found = ensemble._entities().get(name)
        if found is None:
            # The same words, with suggestions, as everywhere.
            ensemble.outcome(name, "")
            raise UnknownNameError(f"no entity {name!r}")
        entity, self._kind = found
        self._ensemble = ensemble
        #: Its name.
        self.name: str = entity["name"]
        #: Its title for people.
        self.title: str = entity["title"]
        #: The kind of entity.
        self.kind: str = self._kind["name"]
        #: Names of its outcomes.
        self.outcomes: list[str] = [outcome["name"] for outcome in self._kind["outcomes"]]

    def labels(self, outcome: str) -> list[str]:
        """The labels of an outcome that is a code, by code; empty if it has none."""
        found = next((o for o in self._kind["outcomes"] if o["name"] == outcome), None)
        if found is None:
            raise UnknownNameError(f"a {self.kind} has no outcome {outcome!r}")
        return list(found.get("labels", ()))

    def worlds(self, outcome: str) -> np.ndarray:
        """An outcome over all stored worlds, one value a world, in the order of `Ensemble.world_numbers`.

        `bool` for flags, `int64` for whole numbers and codes, `float64` for decimals and real numbers. The array shares
        the memory of the ensemble's cache and is read-only.

        Example:
            >>> import manyworlds as mw
            >>> margin = mw.open(DATA).ensembles["season"]["game-017"].worlds("home_margin")
            >>> margin.shape, margin.dtype, margin.flags.owndata
            ((200,), dtype('int64'), False)
        """
        import numpy as np

        return np.asarray(self._ensemble._backend.array(self.name, outcome))

    def outcome(self, outcome: str) -> Distribution:
        """See `Ensemble.outcome`."""
        return self._ensemble.outcome(self.name, outcome)

    def probability(
        self, *conditions: str, given: str | Iterable[str] = (), min_worlds: int = 100
    ) -> Probability:
        """See `Ensemble.probability`; conditions are about this entity."""
        return self._ensemble.probability(*conditions, entity=self.name, given=given, min_worlds=min_worlds)

    price = probability

    def correlate(self, *outcomes: str) -> Correlation:
        """See `Ensemble.correlate`."""
        return self._ensemble.correlate(self.name, *outcomes)

    def events(self, worlds: int | range | tuple[int, int], where: str | None = None) -> Table:
        """See `Ensemble.events`."""
        return self._ensemble.events(self.name, worlds, where)

    def table(self, *outcomes: str) -> Table:
        """A row for each world: its number `world`, and the outcomes, all of them if none is named."""
        columns = ["world", *(outcomes or self.outcomes)]
        return self._ensemble._data.sql(_sql.worlds(self._ensemble.name, self.name, columns))

    def __repr__(self) -> str:
        return f"<manyworlds.Entity {self.name!r} of {self._ensemble.name!r}: {self.title}>"
