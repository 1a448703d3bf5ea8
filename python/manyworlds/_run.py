"""Plays models and stores their worlds."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable

from . import _native
from ._ensemble import Ensemble
from ._given import MAX_32, MAX_64, THREADS_MAX, whole
from ._local import LocalEnsemble
from ._model import Model, Prepared
from ._models import remember
from ._origin import as_stored, difference
from ._processes import Processes, end_if_loading
from ._progress import Line
from .errors import Error, ExistsError, InvalidError

if TYPE_CHECKING:
    from ._data import Data


#: Worlds in one call of `simulate`: of most models, and of quick ones, whose arrays are long so that NumPy's calls and
#: the pages of the files cost little.
_WORLDS, _QUICK_WORLDS = 5_000, 20_000
#: A quick model plays this many worlds within this many seconds.
_PROBE_WORLDS, _QUICK_SECONDS = 64, 0.02
#: Values of a range, which memory holds together.
_VALUES_MAX = 1 << 25


def run(
    model: Model,
    worlds: int = 1000,
    seed: int = 1,
    name: str | None = None,
    data: Data | str | os.PathLike[str] = "data",
    *,
    parameters: Mapping[str, Any] | None = None,
    threads: int | None = None,
    processes: int | None = None,
    until: tuple[str, str | float] | None = None,
    events: str = "store",
    range_worlds: int | None = None,
    replace: bool = False,
    resume: bool = False,
    progress: Callable[[int, int], None] | bool = False,
) -> Ensemble:
    """Plays worlds of a model, stores them, and opens the ensemble.

    Args:
        model: an instance of a subclass of `Model`.
        worlds: number of worlds.
        seed: the seed of all random numbers.
        name: the ensemble's name; by default the model's in lower case.
        data: the place of the tables.
        parameters: values other than the defaults.
        threads: threads that play and store ranges; by default one for each core. Python's own code runs in one of them
            at a time, NumPy's in all.
        processes: play ranges in this many processes instead, one range at a time each. They are spawned: a script calls
            `run` under `if __name__ == "__main__":`, and a model in a notebook needs cloudpickle.
        until: stop once a mean is this precise: an outcome as `"ENTITY:OUTCOME"`, and the largest half width of the 95%
            confidence interval of its mean, in percent of the mean (of 1 for shares and flags) as in `"0.5%"`, or in the
            outcome's unit.
        events: `"store"` events as rows, or `"replay"` them on demand. The worlds are the same.
        range_worlds: worlds in one call of `simulate`.
        replace: replace a stored ensemble; readers see the old one until the new one is complete.
        resume: continue an ensemble that was interrupted.
        progress: true draws a line on stderr; a function is called with the worlds played and their number, some times a
            second.

    Raises:
        ModelError: if the model fails; names the range, the first failing world, and the traceback.
        ExistsError: if the name is taken.
        InvalidError: if an argument is invalid, or another process cannot load the model.
        KeyboardInterrupt: after Ctrl-C, once the ranges in progress are stored, or within a second for `processes`;
            continue with `resume`.
    """
    from ._data import Data, open

    end_if_loading()
    given = {"replace": replace, "resume": resume, "until": until, "threads": threads, "processes": processes}
    for one, other in (("replace", "resume"), ("replace", "until"), ("threads", "processes")):
        if given[one] and given[other]:
            raise InvalidError(f"{one} and {other} exclude each other: give one of them")
    if events not in ("store", "replay"):
        raise InvalidError(f"events is {events!r}: write 'store' or 'replay'")
    worlds, seed = whole("worlds", worlds, 1, MAX_32), whole("seed", seed, 0, MAX_64)
    threads = None if threads is None else whole("threads", threads, 1, THREADS_MAX)
    processes = None if processes is None else whole("processes", processes, 1, THREADS_MAX)
    range_worlds = None if range_worlds is None else whole("range_worlds", range_worlds, 1, MAX_32)
    if until is not None and (isinstance(until, str) or len(until) != 2):
        raise InvalidError(f"until is {until!r}: give an outcome and a width, as in ('ENTITY:OUTCOME', '1%')")
    if not callable(progress) and progress not in (None, False, True):
        raise InvalidError(f"progress is {progress!r}: give True or a function of two numbers")
    prepared = Prepared(model, parameters)
    place = data if isinstance(data, Data) else open(data)
    store = getattr(place._backend, "native", None)
    if store is None:
        raise InvalidError("a server plays no models: give a folder or a bucket")
    name = prepared.title.lower() if name is None else name
    if resume:
        prepared = _of_stored(place, name, prepared, parameters)
    cores = processes or threads or os.cpu_count() or 1
    goal = (until[0], str(until[1])) if until else None
    request = {
        "name": name,
        "model": prepared.name,
        "parameters": prepared.parameters,
        "catalogue": prepared.catalogue._json,
        "seed": seed,
        "worlds": worlds,
        "range_worlds": range_worlds or _range_worlds(prepared, seed, worlds, cores, bool(until or processes)),
        "threads": cores,
        "mode": "replace" if replace else "resume" if resume else "new",
        # A model without events has none to store.
        "events": events if prepared.catalogue.has_events else "replay",
        "until": goal,
    }
    described = json.dumps(request)
    remember(model)
    line = Line() if progress is True else None
    report = line or (progress if callable(progress) else None)
    players = Processes(model, parameters, place._backend.arguments, name, goal) if processes else None
    try:
        if players:
            played = _native.play(store, described, players.play, report, players.stop)
        else:
            played = _native.play(store, described, prepared.play, report)
    except ExistsError as error:
        raise ExistsError(f"{error}; continue it with resume=True, replace it with replace=True, or choose another name") from None
    finally:
        if players:
            players.stop()
        if line:
            line.end()
    return Ensemble(place, LocalEnsemble(played))


def _of_stored(place: Data, name: str, prepared: Prepared, parameters: Mapping[str, Any] | None) -> Prepared:
    """The model of an interrupted ensemble, if this one is it."""
    try:
        ensemble = place.ensembles[name]
        stored = ensemble.parameters.get("definition")
    except Error:
        # The native module says why.
        return prepared
    if not isinstance(stored, dict):
        return prepared
    if differs := difference(stored, prepared.origin, "use the same, or replace=True"):
        raise InvalidError(f"cannot resume ensemble {name!r}: it was started with another model: {differs}")
    known = as_stored(stored, prepared.origin)
    prepared = prepared if known == prepared.origin else Prepared(prepared.model, parameters, known)
    # The same source may be in another file or module now.
    prepared.name = ensemble.model
    return prepared


def _range_worlds(prepared: Prepared, seed: int, worlds: int, cores: int, is_shared: bool) -> int:
    """Worlds in one call of `simulate`. Slow models share the worlds among the cores, quick ones play many at once."""
    even = min(_WORLDS, -(-worlds // cores))
    if is_shared or worlds <= even:
        return even
    started = time.perf_counter()
    probe = (prepared.catalogue_json, 0, min(_PROBE_WORLDS, worlds))
    failed = prepared.play(seed, *probe[1:], _native.emitter(*probe), _native.events(*probe))
    # The run reports a failure.
    if failed or prepared.catalogue.has_events or time.perf_counter() - started > _QUICK_SECONDS:
        return even
    return max(even, min(_QUICK_WORLDS, worlds, _VALUES_MAX // prepared.catalogue.values_per_world))
