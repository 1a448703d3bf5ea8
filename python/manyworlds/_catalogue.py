"""What a model declares: its parameters and its outputs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import _native
from ._given import texts, whole
from .errors import InvalidError, UnknownNameError


@dataclass(frozen=True)
class Param:
    """A parameter of a model: a number within bounds, a text, or a list of either.

    The default shows which. An empty list holds numbers, unless there are `words`.
    """

    #: The value unless another is given.
    default: float | str | Sequence[float] | Sequence[str]
    #: Bounds of a number, or of each number of a list; both are included.
    min: float = float("-inf")
    max: float = float("inf")
    #: The effect, with the unit.
    doc: str = ""
    #: The accepted texts; any text if empty.
    words: tuple[str, ...] = ()
    #: The longest list.
    items_max: int = 1000

    @property
    def _is_list(self) -> bool:
        return isinstance(plain(self.default), list)

    def _described(self, name: str) -> dict[str, Any]:
        """The parameter as the native module reads it."""
        default = plain(self.default)
        finite = lambda bound: None if bound in (float("inf"), float("-inf")) else plain(bound)  # noqa: E731
        first = next(iter(default), None) if isinstance(default, list) else default
        return {
            "name": name, "doc": self.doc, "default": default, "min": finite(self.min), "max": finite(self.max),
            "is_text": isinstance(first, str) or bool(self.words), "words": self.words,
            "items_max": self.items_max if self._is_list else None,
        }  # fmt: skip

    def _value(self, value: Any) -> Any:
        """A value that JSON had, as the model gets it: numbers are floats, lists are tuples."""
        number = lambda value: value if isinstance(value, str) else float(value)  # noqa: E731
        return tuple(map(number, value)) if self._is_list else number(value)


def plain(value: Any) -> Any:
    """A value of Python or NumPy as JSON has it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return list(map(plain, value))
    if isinstance(value, (str, int)) or (isinstance(value, float) and value - value == 0):
        return value
    # No parameter accepts what JSON lacks. As a text, the error can show it.
    return str(value)


@dataclass(frozen=True)
class Outcome:
    """What an outcome holds. Make one with `number`, `flag`, `code` or `real`."""

    kind: str
    unit: str
    scale: int = 1
    labels: tuple[str, ...] = ()
    #: Whether values may be NULL: only of event columns. See `optional`.
    nullable: bool = False


def number(unit: str = "", scale: int = 1) -> Outcome:
    """A whole number within 32 bits; or, with a scale of 10, 100, ..., a decimal that is a multiple of 1 / scale."""
    return Outcome("number", _unit(unit), whole("the scale of an outcome", scale, 1, 1_000_000_000))


def flag(unit: str = "0 or 1") -> Outcome:
    """True or false."""
    return Outcome("flag", _unit(unit))


def code(*labels: str) -> Outcome:
    """A place in a list of labels, from 0."""
    if not labels:
        raise InvalidError("a code has no labels: name them, as in code('home', 'draw', 'away')")
    if twice := _repeated(texts("a label of a code", labels)):
        raise InvalidError(f"a code has the label {twice!r} twice: give each its own text")
    return Outcome("code", "label", labels=labels)


def real(unit: str = "") -> Outcome:
    """A real number with full precision."""
    return Outcome("real", _unit(unit))


def _unit(unit: str) -> str:
    return texts("the unit of an outcome", [unit])[0]


def optional(column: Outcome) -> Outcome:
    """An event column that may be NULL, as in `events={"scorer": mw.optional(mw.code("home", "away"))}`.

    Emit a masked array (`numpy.ma`), whose masked values are NULL, or leave the column out. NaN is a value, and not NULL.
    """
    return replace(column, nullable=True)


def _repeated(names: Iterable[str]) -> str | None:
    """The first name that comes again."""
    counts = Counter(names)
    return next((name for name, count in counts.items() if count > 1), None)


class Catalogue:
    """Everything that a model emits.

    Args:
        kinds: the kinds of entities by name, each with its outcomes by name.
        entities: the kind of each entity by name, in storage order; or all entities of a single kind as a list.
        titles: titles for people, by entity.
        events: the columns of the events that entities may have, by name; the unit says what a column means. Their kinds
            are those of outcomes, without a scale. `optional` lets one be NULL.

    Raises:
        InvalidError: if a name is repeated, or no condition and no table can hold it.
        UnknownNameError: if an entity names an unknown kind, or a title an unknown entity.
    """

    def __init__(
        self,
        kinds: Mapping[str, Mapping[str, Outcome]],
        entities: Mapping[str, str] | Sequence[str],
        titles: Mapping[str, str] | None = None,
        events: Mapping[str, Outcome] | None = None,
    ) -> None:
        for of_kind in (*kinds.values(), events or {}):
            for name, outcome in of_kind.items():
                if not isinstance(outcome, Outcome):
                    raise InvalidError(f"{name!r} is {outcome!r}: make it with number, flag, code or real")
        if not isinstance(entities, Mapping):
            if len(kinds) > 1:
                raise InvalidError("the catalogue has several kinds: give the kind of each entity")
            if isinstance(entities, str):
                raise InvalidError(f"the entities are the text {entities!r}: give a list of names")
            if twice := _repeated(texts("an entity", entities)):
                raise InvalidError(f"entity {twice!r} is in the catalogue twice: give each its own name")
            entities = dict.fromkeys(entities, next(iter(kinds), ""))
        if not entities or not kinds or not all(kinds.values()):
            raise InvalidError("the catalogue has no entity, or a kind without outcomes: name at least one of each")
        texts("the name of an entity, a kind, an outcome or an event column", [*entities, *kinds, *(events or {})])
        places = {name: place for place, name in enumerate(kinds)}
        nullable = next((name for of_kind in kinds.values() for name, outcome in of_kind.items() if outcome.nullable), None)
        if nullable is not None:
            raise InvalidError(f"outcome {nullable!r} is optional: only event columns may be NULL")
        unknown = next((kind for kind in entities.values() if kind not in places), None)
        if unknown is not None:
            raise UnknownNameError(f"no kind {unknown!r} in the catalogue: there are {', '.join(kinds)}")
        if untitled := next((name for name in titles or {} if name not in entities), None):
            raise UnknownNameError(f"no entity {untitled!r} in the catalogue, and it has a title")
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
            "events": [_event_column(name, column) for name, column in (events or {}).items()],
        }
        if fault := _native.catalogue_fault(json.dumps(self._json)):
            raise InvalidError(f"the catalogue cannot be stored: {fault}")
        self.has_events = bool(events)
        #: Event columns that may be NULL.
        self._nullable = [name for name, column in (events or {}).items() if column.nullable]
        #: Entity and outcome of each real number; event columns have no entity.
        self._reals = {("", name) for name, column in (events or {}).items() if column.kind == "real"}
        self._reals |= {(name, o) for name, kind in entities.items() for o, of in kinds[kind].items() if of.kind == "real"}
        self.values_per_world = sum(len(kinds[kind]) for kind in entities.values())


def _event_column(name: str, column: Outcome) -> dict[str, Any]:
    if column.scale != 1:
        raise InvalidError(f"event column {name!r} has a scale, which events lack: declare it as real")
    if name in ("entity", "worlds"):
        raise InvalidError(f"no event column can be called {name!r}: it is an argument of emit.events")
    kinds = {"number": "i32", "flag": "i8", "code": {"label": column.labels}, "real": "f64"}
    return {"name": name, "doc": column.unit, "kind": kinds[column.kind], "nullable": column.nullable}
