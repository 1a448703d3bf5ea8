"""Progress of a run, as a line of text: bars of other libraries need packages of their own in notebooks."""

from __future__ import annotations

import sys
import time

#: Seconds between two drawings.
_DRAWN_EACH = 0.5


class Line:
    """A line on stderr with the worlds played, which terminals and notebooks overwrite."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._drawn = 0.0
        self._width = 0

    def __call__(self, done: int, of: int) -> None:
        """Draws the line, unless it was drawn just now."""
        now = time.monotonic()
        if done < of and now - self._drawn < _DRAWN_EACH:
            return
        self._drawn = now
        text = f"{done:,} of {of:,} worlds"
        if done:
            rate = done / max(now - self._started, 1e-9)
            text += f", {rate:,.0f} worlds/s, {(of - done) / rate:,.0f} s left"
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def end(self) -> None:
        """Leaves the line as it is."""
        if self._width:
            print(file=sys.stderr, flush=True)
