"""Checks what callers give."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from .errors import InvalidError

#: The largest numbers of 32 and of 64 bits.
MAX_32, MAX_64 = (1 << 32) - 1, (1 << 64) - 1
#: Threads or processes of one call.
THREADS_MAX = 1024


def whole(name: str, value: Any, least: int, most: int) -> int:
    """A whole number of Python or NumPy.

    Raises:
        InvalidError: if the value is no whole number, or beyond the bounds.
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise InvalidError(f"{name} is {value!r}: give a whole number from {least} to {most}")
    return number


def texts(name: str, given: str | Iterable[str]) -> list[str]:
    """One text, or several.

    Raises:
        InvalidError: if something else is among them.
    """
    if isinstance(given, str):
        return [given]
    found = list(given) if isinstance(given, Iterable) else [given]
    for text in found:
        if not isinstance(text, str):
            raise InvalidError(f"{name} is {text!r}: write it as a text")
    return found
