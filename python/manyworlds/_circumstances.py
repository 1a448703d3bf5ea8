"""Other circumstances for a model: clocks that run ahead, and another environment."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

#: By this much clocks run ahead: no part of a date or a time stays the same.
_AHEAD = datetime.timedelta(days=403, hours=5, minutes=7, seconds=13)


class _Kind(type):
    """Instances of the usual class count as those of its heir."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.__bases__[0])


class _Date(datetime.date, metaclass=_Kind):
    @classmethod
    def today(cls) -> Any:
        return _usual.fromtimestamp(_now()).date() + _AHEAD


class _DateTime(datetime.datetime, metaclass=_Kind):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return _usual.fromtimestamp(_now(), tz) + _AHEAD

    @classmethod
    def today(cls) -> Any:
        return cls.now()

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now(datetime.timezone.utc).replace(tzinfo=None)


#: As they are before a model gets others.
_usual, _now = datetime.datetime, time.time


def _clocks() -> dict[int, Any]:
    """Clocks that run ahead, each by the identity of the usual one."""
    seconds = _AHEAD.total_seconds()
    found: dict[int, Any] = {id(datetime.date): _Date, id(datetime.datetime): _DateTime}

    def later(clock: Any, more: float) -> Any:
        return lambda: clock() + more

    def at(of: Any) -> Any:
        return lambda moment=None: of(_now() + seconds if moment is None else moment)

    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        found[id(getattr(time, name))] = later(getattr(time, name), seconds)
        found[id(getattr(time, name + "_ns"))] = later(getattr(time, name + "_ns"), int(seconds) * 10**9)
    for name in ("localtime", "gmtime", "ctime"):
        found[id(getattr(time, name))] = at(getattr(time, name))
    local, form, show = time.localtime, time.strftime, time.asctime

    def strftime(text: str, moment: Any = None) -> str:
        return form(text, local(_now() + seconds) if moment is None else moment)

    def asctime(moment: Any = None) -> str:
        return show(local(_now() + seconds) if moment is None else moment)

    return {**found, id(form): strftime, id(show): asctime}


@contextmanager
def clocks_ahead(places: Iterable[dict[str, Any]]) -> Iterator[None]:
    """Lets clocks run ahead in `time` and `datetime`, and where other modules have taken them from there."""
    clocks, changed = _clocks(), []
    for place in (vars(time), vars(datetime), *places):
        for name, value in list(place.items()):
            if id(value) in clocks:
                changed.append((place, name, value))
                place[name] = clocks[id(value)]
    try:
        yield
    finally:
        for place, name, value in changed:
            place[name] = value


@contextmanager
def environment(values: Mapping[str, str | None]) -> Iterator[None]:
    """Changes environment variables; `None` removes one."""

    def put(values: Mapping[str, str | None]) -> None:
        for name, value in values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    before = {name: os.environ.get(name) for name in values}
    put(values)
    try:
        yield
    finally:
        put(before)
