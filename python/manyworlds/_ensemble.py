"""Ensembles and their entities."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterable, Iterator, overload

from . import _native, _sql
from . import _shown as shown
from ._answers import Book, Comparison, Comparisons, Correlation, Distribution, Probability, Verification
from ._given import MAX_32, texts, whole
from ._table import Table
from .errors import InvalidError, LimitError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    import xarray as xr

    from ._data import Data


def _bets(bets: str | os.PathLike[str] | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Bets as a question has them."""
    if isinstance(bets, (str, os.PathLike)):
        return json.loads(_native.bets(bets))
    return [_bet(number, bet) for number, bet in enumerate(bets, 1)]


#: The keys of a bet.
_BET = ("id", "entity", "legs", "stake", "odds", "side")


def _bet(number: int, bet: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(bet, Mapping):
        raise InvalidError(f"bet {number} is {type(bet).__name__}: give dicts, one a bet")
    if missing := [name for name in ("legs", "stake", "odds") if name not in bet]:
        raise InvalidError(f"bet {number} has no {missing[0]!r}")
    if unknown := bet.keys() - set(_BET):
        raise InvalidError(f"bet {number} has an unknown key {min(unknown, key=str)!r}; there are: {', '.join(_BET)}")
    asked = {**bet, "legs": texts("a leg", bet["legs"]), "stake": str(bet["stake"]), "odds": str(bet["odds"])}
    if bet.get("id") is not None:
        asked["id"] = str(bet["id"])
    for name in ("entity", "side"):
        if not isinstance(bet.get(name, ""), (str, type(None))):
            raise InvalidError(f"bet {number} has {name} {bet[name]!r}: give a text, or leave it out")
    return asked


class Ensemble(Mapping):
    """One version of an ensemble of simulated worlds; a mapping from names to its entities.

    It keeps to the worlds that were complete when it was opened. Open it again to see newer ones. A pickled handle is
    opened again when it is loaded, so it sees worlds that were added since.

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

    def _is_outcome(self, name: str) -> bool:
        """Whether a name where an entity may stand is an outcome or an expression."""
        return name not in self and (":" in name or len(self) == 1)

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
        return self._backend.world_numbers()

    def array(self, expression: str, *, entity: str | None = None) -> np.ndarray:
        """An expression over all stored worlds, one value a world, in the order of `world_numbers`.

        Args:
            expression: such as `"team-03:wins - team-04:wins"`.
            entity: the entity of plain names; may be left out if there is only one.

        Raises:
            UnknownNameError, InvalidError: if the expression is invalid, or its value in some world is not finite.
        """
        return self._array(entity, expression)

    def _array(self, entity: str | None, expression: str) -> np.ndarray:
        return next(self._backend.arrays([] if entity is None else [entity], [expression]))

    def where(self, condition: str, *, entity: str | None = None) -> np.ndarray:
        """Whether a condition holds, `bool`, one value a world, in the order of `world_numbers`.

        Example:
            >>> import manyworlds as mw
            >>> season = mw.open(DATA).ensembles["season"]
            >>> upset = season.where("game-017:away_points > game-017:home_points + 10")
            >>> upset.shape, upset.dtype
            ((200,), dtype('bool'))
        """
        holds = self.array(condition, entity=entity)
        if holds.dtype != bool:
            raise InvalidError(f"{condition!r} is a number: write a condition, such as '{condition} > 0'")
        return holds

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
            entity: the default entity; may be left out if there is only one.
            given: count only worlds that meet these conditions, or conditions in the model's own words.
            min_worlds: the fewest worlds that `given` may leave.

        Raises:
            TooFewWorldsError: if fewer than `min_worlds` worlds meet `given`.
            UnknownNameError, InvalidError: if a condition is invalid.
        """
        question = {
            "ensemble": self.name,
            "entity": entity,
            "legs": texts("a condition", conditions),
            "given": texts("given", given),
            "min_worlds": whole("min_worlds", min_worlds, 0, MAX_32),
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
            "given": texts("given", given),
            "min_worlds": whole("min_worlds", min_worlds, 0, MAX_32),
            # As decimals: 0.95 is exact.
            "levels": [str(level) for level in levels],
            "worst": whole("worst", worst, 0, MAX_32),
        }
        return Book._of(self._backend.book(question))

    @overload
    def outcome(self, outcome: str, /) -> Distribution: ...
    @overload
    def outcome(self, entity: str | None, outcome: str) -> Distribution: ...
    def outcome(self, entity: str | None, outcome: str | None = None) -> Distribution:
        """The exact distribution of an outcome over all worlds.

        Args:
            entity: the entity of plain names; may be left out if there is only one, or if every name has its own, as in
                `"team-03:wins"`.
            outcome: an outcome, or an expression such as `"home_points + away_points"`.

        Raises:
            UnknownNameError: if the ensemble lacks the entity or the outcome.
            InvalidError: if the expression is invalid, or its value in some world is not finite.
        """
        if outcome is None:
            entity, outcome = None, entity or ""
        question = {"ensemble": self.name, "entities": [] if entity is None else [entity], "outcomes": [outcome]}
        fetch = lambda: self._backend.outcome({**question, "cdf": True})[0]["cdf"]  # noqa: E731
        return Distribution._of(self._backend.outcome(question)[0], fetch)

    def correlate(self, entity: str | None = None, *outcomes: str) -> Correlation:
        """The correlations of outcomes or expressions over all worlds.

        Args:
            entity: the entity of plain names; may be left out if there is only one, or if every name has its own.
            outcomes: all outcomes of the entity if none is named.
        """
        if entity is not None and self._is_outcome(entity):
            outcomes, entity = (entity, *outcomes), None
        question = {"ensemble": self.name, "entity": entity, "outcomes": list(outcomes)}
        found = self._backend.correlate(question)
        return Correlation(tuple(found["outcomes"]), found["worlds"], found["matrix"])

    def compare(self, other: Ensemble, *outcomes: str) -> Comparisons:
        """Compares outcomes with those of another ensemble: a list that a notebook shows as a table.

        Ensembles with the same seed are compared world by world, which estimates the difference far better.

        Args:
            other: an ensemble of the same place.
            outcomes: such as `"ENTITY:OUTCOME"`, or expressions of such; all outcomes that both have if none is named. An
                outcome of an ensemble's only entity needs no entity.

        Raises:
            UnknownNameError: if either ensemble lacks an outcome, or they have none in common.
            LimitError: if there are over 10,000 outcomes: name some.
        """
        if not isinstance(other, Ensemble):
            raise InvalidError(f"{other!r} is not an ensemble: open one first, as data.ensembles[NAME]")
        if type(other._backend) is not type(self._backend):
            raise InvalidError("one ensemble is behind a server and the other is not: open both in the same way")
        names = list(outcomes) or self._common(other)
        found = self._backend.compare(other._backend, {"first": self.name, "second": other.name, "outcomes": names})
        return Comparisons(map(Comparison._of, found), (self.name, other.name))

    def _common(self, other: Ensemble) -> list[str]:
        """Every outcome that both have, as `"ENTITY:OUTCOME"`."""
        names = {f"{entity}:{outcome}" for entity in other for outcome in other[entity].outcomes}
        common = [f"{entity}:{outcome}" for entity in self for outcome in self[entity].outcomes]
        if not (common := [name for name in common if name in names]):
            raise UnknownNameError(f"ensembles {self.name!r} and {other.name!r} have no outcome of an entity in common")
        if len(common) > _COMPARED_MAX:
            raise LimitError(f"ensembles {self.name!r} and {other.name!r} have {len(common)} outcomes in common: name some")
        return common

    def verify(self, replay: bool = False) -> Verification:
        """Reads and checks everything stored: counts, hashes, identities, and outcomes recounted from events.

        Args:
            replay: also play all worlds again, and compare their outcomes and stored events. Takes as long as playing
                them, and needs the model that played them.

        Raises:
            ModelError: if `replay` is true and the model is missing or another one.
        """
        return Verification._of(self._backend.verify(replay))

    def events(self, entity: str, worlds: int | range | tuple[int, int], where: str | None = None) -> Table:
        """The events of an entity in some worlds, replayed unless they are stored.

        Args:
            entity: its name.
            worlds: a world's number, a `range`, or the first and the last.
            where: a condition in SQL on the columns of events.
        """
        return self.sql(_sql.events(self.name, entity, worlds, where))

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
        names = [o["name"] for o in described["outcomes"]] if outcomes is None else texts("an outcome", outcomes)
        stack = lambda name: np.stack(list(self._backend.arrays(entities, [name])))  # noqa: E731
        variables = {name: (("entity", "world"), stack(name)) for name in names}
        attributes = {"ensemble": self.name, "model": self.model, "seed": self.seed}
        return xr.Dataset(variables, {"entity": entities, "world": self.world_numbers()}, attributes)

    def to_arviz(self, kind: str | None = None, outcomes: Iterable[str] | None = None) -> Any:
        """The form of ArviZ: the worlds as draws of one chain in the group `posterior_predictive`.

        Returns:
            An xarray DataTree; an InferenceData if ArviZ is installed in a version before 1.
        """
        import xarray as xr

        worlds = self.to_xarray(kind, outcomes).rename(world="draw").expand_dims(chain=[0])
        worlds = worlds.transpose("chain", "draw", "entity")
        try:
            from arviz import InferenceData
        except ImportError:
            return xr.DataTree.from_dict({"posterior_predictive": worlds})
        return InferenceData(posterior_predictive=worlds)

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

    def _repr_html_(self) -> str:
        rows = []
        for kind in self.catalogue["kinds"]:
            entities = [name for name, (_, of) in self._entities().items() if of is kind]
            outcomes = [outcome["name"] for outcome in kind["outcomes"]]
            rows.append((kind["name"], _listed(entities, 3), _listed(outcomes, _SHOWN_OUTCOMES)))
        note = f"ensemble {self.name}: {self.worlds:,} worlds of {self.model}, seed {self.seed}, version {self.version}"
        return shown.table(("kind", "entities", "outcomes"), rows, note)


#: Outcomes that one question may compare.
_COMPARED_MAX = 10_000
#: Outcomes of a kind or an entity that a notebook lists.
_SHOWN_OUTCOMES = 10


def _listed(names: list[str], most: int) -> str:
    """The first names, and the number of the others."""
    others = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + others


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
            # The same words, with suggestions, as everywhere.
            self.worlds(outcome)
            raise UnknownNameError(f"{outcome!r} is an expression, and only outcomes have labels")
        return list(found.get("labels", ()))

    def worlds(self, outcome: str) -> np.ndarray:
        """An outcome or an expression over all stored worlds, one value a world, in the order of
        `Ensemble.world_numbers`.

        `bool` for flags and conditions, `int64` for whole numbers and codes, `float64` for decimals and real numbers.
        The array is read-only. That of an outcome shares the memory of the ensemble's cache, except behind a server.

        Example:
            >>> import manyworlds as mw
            >>> margin = mw.open(DATA).ensembles["season"]["game-017"].worlds("home_margin")
            >>> margin.shape, margin.dtype, margin.flags.owndata
            ((200,), dtype('int64'), False)
        """
        return self._ensemble._array(self.name, outcome)

    def where(self, condition: str) -> np.ndarray:
        """See `Ensemble.where`; the condition is about this entity."""
        return self._ensemble.where(condition, entity=self.name)

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
        return self._ensemble.sql(_sql.worlds(self._ensemble.name, self.name, columns))

    def __repr__(self) -> str:
        return f"<manyworlds.Entity {self.name!r} of {self._ensemble.name!r}: {self.title}>"

    def _repr_html_(self) -> str:
        described = self._kind["outcomes"]
        rows = [(o["name"], o["kind"], ", ".join(o.get("labels", ())) or o["unit"]) for o in described[:_SHOWN_OUTCOMES]]
        others = f"; {len(described) - len(rows):,} more outcomes" if len(described) > len(rows) else ""
        title = f" ({self.title})" if self.title != self.name else ""
        note = f"{self.kind} {self.name}{title} of ensemble {self._ensemble.name}{others}"
        return shown.table(("outcome", "kind", "unit or labels"), rows, note)
