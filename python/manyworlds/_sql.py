"""Texts of SQL about ensembles."""

from __future__ import annotations

from typing import Iterable

from ._given import MAX_32, whole
from .errors import InvalidError

#: The tables that SQL can name.
TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema <> 'information_schema'"
    " ORDER BY 1, 2"
)


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def worlds(ensemble: str, entity: str, columns: Iterable[str]) -> str:
    """Columns of an entity, a row for each world."""
    return f"SELECT {', '.join(map(_name, columns))} FROM worlds({_text(ensemble)}, {_text(entity)})"


def events(ensemble: str, entity: str, worlds: int | range | tuple[int, int], where: str | None) -> str:
    """The events of an entity in a world, or in a range of worlds."""
    if isinstance(worlds, range):
        if worlds.step != 1 or not worlds:
            raise InvalidError(f"{worlds!r}: give a range of worlds that is not empty, with step 1")
        worlds = (worlds.start, worlds.stop - 1)
    ends = worlds if isinstance(worlds, tuple) and len(worlds) == 2 else (worlds,)
    first, *last = (str(whole("a world of events", end, 0, MAX_32)) for end in ends)
    named = _text(f"{first}-{last[0]}") if last else first
    condition = f" WHERE {where}" if where else ""
    return f"SELECT * FROM events({_text(ensemble)}, {_text(entity)}, {named}){condition}"
