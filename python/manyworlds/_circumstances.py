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


def _clocks() -> dict[int, Any]:
    """Clocks that run ahead, each by the identity of the usual one."""
    seconds, now = _AHEAD.total_seconds(), time.time
    date, moment = datetime.date, datetime.datetime

    class Date(date, metaclass=_Kind):
        @classmethod
        def today(cls) -> Any:
            return date.today() + _AHEAD

    class DateTime(moment, metaclass=_Kind):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return moment.now(tz) + _AHEAD

        @classmethod
        def today(cls) -> Any:
            return moment.today() + _AHEAD

        @classmethod
        def utcnow(cls) -> Any:
            return moment.now(datetime.timezone.utc).replace(tzinfo=None) + _AHEAD

    found = {id(date): Date, id(moment): DateTime}
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        for clock, more in ((getattr(time, name), seconds), (getattr(time, name + "_ns"), int(seconds) * 10**9)):
            found[id(clock)] = lambda clock=clock, more=more: clock() + more
    for name in ("localtime", "gmtime", "ctime"):
        of = getattr(time, name)
        found[id(of)] = lambda at=None, of=of: of(now() + seconds if at is None else at)
    local, form, show = time.localtime, time.strftime, time.asctime
    found[id(form)] = lambda text, at=None: form(text, local(now() + seconds) if at is None else at)
    found[id(show)] = lambda at=None: show(local(now() + seconds) if at is None else at)
    return found


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
