"""Tables in a folder or bucket, read by this process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Iterator

from . import _native

if TYPE_CHECKING:
    import numpy as np


class LocalEnsemble:
    """One version of an ensemble, open in this process."""

    def __init__(self, native: _native.Ensemble) -> None:
        self.native = native

    def summary(self) -> dict[str, Any]:
        return json.loads(self.native.summary())

    def description(self) -> dict[str, Any]:
        return json.loads(self.native.description())

    def price(self, question: dict[str, Any]) -> dict[str, Any]:
        return json.loads(self.native.price(json.dumps(question)))

    def book(self, question: dict[str, Any]) -> dict[str, Any]:
        return json.loads(self.native.book(json.dumps(question)))

    def outcome(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        return json.loads(self.native.outcome(json.dumps(question)))

    def compare(self, other: LocalEnsemble, question: dict[str, Any]) -> list[dict[str, Any]]:
        return json.loads(self.native.compare(other.native, json.dumps(question)))

    def correlate(self, question: dict[str, Any]) -> dict[str, Any]:
        return json.loads(self.native.correlate(json.dumps(question)))

    def verify(self, replay: bool) -> dict[str, Any]:
        return json.loads(self.native.verify(replay))

    def arrays(self, entities: list[str], outcomes: list[str]) -> Iterator[np.ndarray]:
        import numpy as np

        named: list[str | None] = [*entities] or [None]
        pairs = ((entity, outcome) for entity in named for outcome in outcomes)
        return (np.asarray(self.native.array(*pair)) for pair in pairs)

    def world_numbers(self) -> np.ndarray:
        import numpy as np

        return np.asarray(self.native.world_numbers())


class Local:
    """Tables in a folder or bucket, read by this process."""

    def __init__(self, place: str, threads: int | None, memory_bytes: int | None) -> None:
        self.arguments = (place, threads, memory_bytes)
        self.native = _native.Store(place, threads, memory_bytes)
        self.place = self.native.place

    def ensembles(self) -> list[dict[str, Any]]:
        return json.loads(self.native.ensembles())

    def ensemble(self, name: str) -> LocalEnsemble:
        return LocalEnsemble(self.native.ensemble(name))

    def tables(self) -> list[tuple[str, str]]:
        return self.native.tables()

    def sql(self, query: str, only: LocalEnsemble | None) -> _native.Batches:
        return self.native.sql(query, only.native if only else None)

    def ask(self, table: str, request: dict[str, Any]) -> tuple[_native.Batches, list[str]]:
        return self.native.ask(table, json.dumps(request))

    def write(self, table: str, form: str, body: bytes, refuse: bool) -> dict[str, Any]:
        return json.loads(self.native.write(table, form, body, refuse))
