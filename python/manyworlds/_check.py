"""Checks that a model keeps its promise."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Iterable

from . import _native
from . import _shown as shown
from ._circumstances import clocks_ahead, environment
from ._given import MAX_64, whole as whole_number
from ._model import Model, Prepared
from ._processes import Child, end_if_loading, pickled
from ._suspects import THREAD, Suspects
from ._turns import in_turns
from .errors import InvalidError, ModelError

if TYPE_CHECKING:
    import numpy as np

#: The most worlds of a check, all of whose values are in memory.
_WORLDS_MAX = 1_000_000
#: Worlds that each of two threads plays.
_WORLDS_AT_ONCE = 8
#: Values that differ by less, relatively, differ by rounding, also if the model computes with 32 bits.
_ROUNDING = 1e-6
#: The values of outcomes and event columns, by entity and name, in the order of worlds.
Played = dict[tuple[str, str], "np.ndarray"]


@dataclass(frozen=True)
class Promise:
    """What `check` found. True if the model keeps its promise."""

    ok: bool
    #: What breaks the promise, in plain words; empty if nothing does.
    findings: tuple[str, ...]
    #: What was not checked, and why.
    skipped: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        title = f"the model {'keeps' if self.ok else 'breaks'} its promise"
        return "\n".join((title, *self.findings, *self.skipped))

    def _repr_html_(self) -> str:
        rows = [("no", text) for text in self.findings] + [("not checked", text) for text in self.skipped]
        return shown.table(("holds", "finding"), rows or [("yes", "the model keeps its promise")])


def check(
    model: Model,
    worlds: int = 64,
    seed: int = 1,
    parameters: Mapping[str, Any] | None = None,
    processes: bool = True,
) -> Promise:
    """Checks that a world depends on the parameters, the seed and its number alone.

    Plays the same worlds twice, one by one, in ranges that are cut differently and in another order, in threads, and with
    another seed, and compares every value. If the model reads a clock or the environment, plays at another time and with
    other values. Then plays them in five new processes, a second later, which takes about another: two that are equal, one
    with other hashes of texts, one that uses fewer features of the processor, and one that begins with other worlds.

    Args:
        model: an instance of a subclass of `Model`.
        worlds: number of worlds.
        seed: the seed of all random numbers.
        parameters: values other than the defaults.
        processes: play in new processes, too.

    Raises:
        ModelError: if the model fails.
    """
    end_if_loading()
    worlds, seed = whole_number("worlds", worlds, 1, _WORLDS_MAX), whole_number("seed", seed, 0, MAX_64 - 1)
    prepared = Prepared(model, parameters)
    findings: list[str] = []
    skipped: list[str] = []
    skip = lambda error: skipped.append(f"the worlds were not played in other processes: {error}")  # noqa: E731
    fresh = None
    try:
        # Before it plays, which may change its attributes.
        fresh = pickled(model) if processes else None
    except InvalidError as error:
        skip(error)
    play = lambda cuts, seed=seed: _played(prepared, seed, cuts)  # noqa: E731
    all_worlds = [(0, worlds)]
    with Suspects(model) as suspects:
        whole = play(all_worlds)
    played_at = time.monotonic()
    if found := _difference(whole, play(all_worlds)):
        causes = " and ".join(suspects.causes or ["keeps state between calls"])
        advice = "Draw from worlds.stream, and compute everything else anew"
        findings.append(f"{found} when the same worlds are played again: the model {causes}. {advice}")
    elif found := _first_difference(whole, worlds, play):
        findings.append(f"{found} when the worlds are cut into other ranges: {_cause_of_ranges(found, suspects.causes)}")
    elif said := _elsewhere(whole, suspects, lambda: play(all_worlds)):
        findings.append(said)
    elif said := _at_once(whole, worlds, play, suspects):
        findings.append(said)
    elif fresh:
        # A clock that cannot be moved, such as NumPy's, must at least show another second there.
        time.sleep(max(played_at + 1 - time.monotonic(), 0))
        try:
            findings += _in_processes(whole, fresh, parameters, (worlds, seed), sorted(suspects.of_process))
        except (EOFError, InvalidError) as error:
            skip(error)
    if not _difference(whole, play(all_worlds, seed + 1)):
        findings.append("another seed gives the same worlds: the model draws nothing from worlds.stream")
    return Promise(not findings, tuple(findings), tuple(skipped))


def _first_difference(whole: Played, worlds: int, play: Any) -> Difference | None:
    """The first value that differs in other ranges: cut in three and in another order, or a world alone."""
    middle, third = worlds // 2, max(worlds // 3, 1)
    cuts = [cut for cut in ((middle, worlds - middle), (0, third), (third, middle - third)) if cut[1] > 0]
    if found := _difference(whole, play(cuts)):
        return found
    alone = ((world, 1) for world in {0, middle, worlds - 1})
    return next((found for cut in alone if (found := _difference_of_part(whole, play([cut]), cut))), None)


def _cause_of_ranges(found: Difference, causes: list[str]) -> str:
    if found.is_rounding:
        return (
            "the last bits differ, because NumPy adds in another order, or computes a product of matrices otherwise, when"
            " arrays have other lengths. Round, or add arrays one by one"
        )
    also = f" Here it {' and '.join(causes)}." if causes else ""
    return (
        "a value depends on other worlds of its range, for example by a mean over the worlds, a generator that they share,"
        f" or a number of draws that depends on the range.{also} Compute each world from its own values"
    )


def _elsewhere(whole: Played, suspects: Suspects, play: Callable[[], Played]) -> str | None:
    """What of the clock and the environment makes a difference, among what the model reads of them."""
    for name in sorted(suspects.variables):
        with environment({name: None if name in os.environ else "1"}):
            try:
                found: object = _difference(whole, play())
            except ModelError as error:
                found = f"the model fails ({str(error).splitlines()[0]})"
        if found:
            return f"{found} with another environment: the model reads the variable {name}. Make it a parameter"
    if suspects.reads_clock:
        with clocks_ahead(suspects.places()):
            try:
                ahead = _difference(whole, play())
            except ModelError:
                # It may need more of a clock than this one has.
                ahead = None
        if ahead:
            return f"{ahead} at another time: the model {suspects.clocks}. Make the time a parameter"
    return None


def _at_once(whole: Played, worlds: int, play: Any, suspects: Suspects) -> str | None:
    """What makes a difference if threads play ranges at the same time, as a run does."""
    half = min(worlds // 2, _WORLDS_AT_ONCE)
    if not half:
        return None
    cuts = ((0, half), (half, half))
    try:
        parts: list[Played] = in_turns((partial(play, [cuts[0]]), partial(play, [cuts[1]])), suspects.is_own)
    except ModelError as error:
        found: object = str(error).splitlines()[0]
    else:
        found = next((found for part, cut in zip(parts, cuts) if (found := _difference_of_part(whole, part, cut))), None)
    cause = "calls share an attribute of the model or a name of its module. Use local names, or play with threads=1 or processes"
    if THREAD in suspects.of_process:
        cause = f"the model reads {THREAD}. Make it a parameter"
    return f"{found} when threads play ranges at the same time: {cause}" if found else None


#: Precedes the names of event columns.
_EVENTS = "event column "


def _played(prepared: Prepared, seed: int, cuts: Iterable[tuple[int, int]]) -> Played:
    """The values of every outcome and event column of every entity, in the order of worlds."""
    import numpy as np

    parts: dict[tuple[str, str], dict[int, np.ndarray]] = {}
    nullable, reals = prepared.catalogue._nullable, prepared.catalogue._reals

    def stored(entity: str, name: str, values: np.ndarray) -> np.ndarray:
        """A copy of the values; a whole number is stored without the sign of 0."""
        return np.array(values) if (entity, name) in reals else values + values.dtype.type(0)

    for first, count in cuts:
        range_of = (prepared.catalogue_json, first, count)
        outcomes, events = _native.emitter(*range_of), _native.events(*range_of)

        class KeptOutcomes:
            """Checks outcomes, and keeps them."""

            missing = staticmethod(outcomes.missing)

            def __call__(self, entity: str, **columns: np.ndarray) -> None:
                outcomes(entity, **columns)
                for name, values in columns.items():
                    parts.setdefault((entity, name), {})[first] = stored(entity, name, values)

        def kept_events(entity: str, worlds: np.ndarray, **columns: np.ndarray) -> None:
            events(entity, worlds, **columns)
            # A column that is left out is NULL.
            columns = {name: np.ma.masked_all(len(worlds)) for name in nullable} | columns
            order = np.argsort(worlds, kind="stable")
            for name, values in {"world": np.asarray(worlds) + first, **columns}.items():
                if name in nullable:
                    parts.setdefault((entity, f"{_EVENTS}{name} as NULL"), {})[first] = np.ma.getmaskarray(values)[order]
                shown = np.ma.filled(values, 0)[order]
                parts.setdefault((entity, _EVENTS + name), {})[first] = stored("", name, shown)

        if failed := prepared.play(seed, first, count, KeptOutcomes(), kept_events):
            world, entity, reason = failed
            at = f" on {entity}" if entity else ""
            where = "" if world is None else f" in world {world}"
            raise ModelError(f"model {prepared.title} failed{at}{where}: {reason}")
    return {key: np.concatenate([by_first[first] for first in sorted(by_first)]) for key, by_first in parts.items()}


@dataclass(frozen=True)
class Difference:
    """The first value that differs, in words."""

    text: str
    #: Whether both values are nearly the same.
    is_rounding: bool = False

    def __str__(self) -> str:
        return self.text


def _difference(a: Played, b: Played, first: int = 0) -> Difference | None:
    """The first value that differs; `first` is the number of the first world."""
    import numpy as np

    for (entity, name), values in a.items():
        others = b.get((entity, name))
        if others is None or len(others) != len(values):
            return Difference(f"{name} of {entity} has {len(values)} or {0 if others is None else len(others)} values")
        same = values == others
        if values.dtype.kind == others.dtype.kind == "f":
            # The sign of 0 is stored, too.
            same &= np.signbit(values) == np.signbit(others)
        differ = ~(same | ((values != values) & (others != others)))
        if differ.any():
            place = int(np.argmax(differ))
            row = "row" if name.startswith(_EVENTS) else "world"
            text = f"{name} of {entity} in {row} {first + place} is {values[place]} or {others[place]}"
            return Difference(text, bool(np.allclose(values, others, rtol=_ROUNDING, atol=0, equal_nan=True)))
    return None


def _difference_of_part(whole: Played, part: Played, cut: tuple[int, int]) -> Difference | None:
    """The first value that differs in a range of worlds."""
    first, count = cut
    # Events have other numbers of rows.
    outcomes = {key: values for key, values in whole.items() if key in part and not key[1].startswith(_EVENTS)}
    return _difference({key: values[first : first + count] for key, values in outcomes.items()}, part, first)


def _in_processes(
    whole: Played, model: bytes, parameters: Any, worlds_and_seed: tuple[int, int], reads: list[str]
) -> list[str]:
    """What makes a difference to a pickled model in other processes; `reads` is what it reads of its own."""
    worlds, seed = worlds_and_seed
    job, middle = (model, dict(parameters or {}), seed), worlds // 2
    in_order, swapped = [(0, worlds)], [(middle, worlds - middle), (0, middle)] if middle else [(0, worlds)]
    usual = {"PYTHONHASHSEED": "1"}
    circumstances = (
        (in_order, usual),
        (in_order, usual),
        (in_order, {"PYTHONHASHSEED": "2"}),
        (in_order, {**usual, **_old_processor()}),
        (swapped, usual),
    )
    children = [Child(_play_once, *job, cuts, **environment) for cuts, environment in circumstances]
    try:
        first, second, hashed, old, late = (_received(child) for child in children)
    finally:
        for child in children:
            child.end()
    by_process = (
        f"in another process: the model reads {', '.join(reads)}. Make it a parameter"
        if reads
        else "in another process: the model depends on its process, for example on its number (pid), on a number that its"
        " module draws when it is imported, on the time, or on the environment. Make everything a parameter, or draw it"
        " from worlds.stream"
    )
    by_hash = (
        "with another PYTHONHASHSEED: the model depends on hash() of a text, or on the order of a set. Sort what comes"
        " from a set"
    )
    by_processor = (
        "on a processor with fewer features: NumPy's exp, log, tanh or power, or a product of matrices, gives other last"
        " bits there. Use manyworlds.math, or round"
    )
    by_state = (
        "when another range is played first: the model keeps what its first call computed, such as a mean over the worlds."
        " Compute it anew in each call, or from the parameters alone"
    )
    # Every later comparison assumes that the ones before it found nothing.
    causes = ((second, by_process), (hashed, by_hash), (old, by_processor), (late, by_state), (whole, by_process))
    for others, cause in causes:
        if found := _difference(first, others):
            return [f"{found} {cause}"]
    return []


def _received(child: Child) -> Played:
    played, failed = child.receive()
    if failed is not None:
        raise InvalidError(failed)
    return played


def _play_once(pipe: Any, model: bytes, parameters: Mapping[str, Any], seed: int, cuts: list[tuple[int, int]]) -> None:
    try:
        pipe.send((_played(Prepared(pickle.loads(model), parameters), seed, cuts), None))
    except Exception as error:
        pipe.send((None, f"{type(error).__name__}: {error}"))


def _old_processor() -> dict[str, str]:
    """Variables with which libraries use only what every processor has."""
    from importlib import import_module

    environment = {"OPENBLAS_CORETYPE": "Prescott", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    for name in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        try:
            numpy = import_module(name)
        except ImportError:
            continue
        # Other names than those that it dispatches on would be an error.
        usable = [feature for feature in numpy.__cpu_dispatch__ if numpy.__cpu_features__.get(feature)]
        return {**environment, "NPY_DISABLE_CPU_FEATURES": " ".join(usable)}
    return environment
