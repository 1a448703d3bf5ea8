"""Checks that a model keeps its promise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable

from . import _native
from ._model import Model, Prepared
from .errors import ModelError

if TYPE_CHECKING:
    import numpy as np


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
