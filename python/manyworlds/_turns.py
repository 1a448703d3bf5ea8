"""Two threads that take turns, to meet each other's changes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

#: Turns of two threads. Then both run freely.
_TURNS = 10_000
#: A thread that waits longer goes on: the other one may need a lock that it holds.
_WAIT_SECONDS = 0.1

T = TypeVar("T")


class _Turns:
    def __init__(self, is_own: Callable[[Any], bool]) -> None:
        self._is_own = is_own
        self._begin = threading.Barrier(2)
        self._changed = threading.Condition()
        self._turn, self._left = 0, _TURNS

    def take(self, me: int, work: Callable[[], T]) -> T:
        """Works, and lets the other thread go on before every line of the model's own code."""

        def at_line(_frame: Any, event: str, _argument: Any) -> Any:
            if event == "line" and self._left > 0:
                with self._changed:
                    self._turn, self._left = 1 - me, self._left - 1
                    self._changed.notify()
                    self._changed.wait_for(lambda: self._turn == me or self._left <= 0, _WAIT_SECONDS)
            return at_line

        self._begin.wait()
        sys.settrace(lambda frame, _event, _argument: at_line if self._is_own(frame) else None)
        try:
            return work()
        finally:
            sys.settrace(None)
            with self._changed:
                # The other one need not wait any more.
                self._left = 0
                self._changed.notify()


def in_turns(works: tuple[Callable[[], T], Callable[[], T]], is_own: Callable[[Any], bool]) -> list[T]:
    """The results of two functions whose threads change at every line of frames that `is_own` accepts."""
    turns = _Turns(is_own)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(turns.take, (0, 1), works))
