"""Plays models and stores their worlds."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable

from . import _native
from ._model import Model, Prepared
from .errors import InvalidError

if TYPE_CHECKING:
    from ._data import Data
    from ._ensemble import Ensemble


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
