"""What a model declares: its parameters and its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InvalidError, UnknownNameError


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
