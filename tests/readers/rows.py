"""Rows as lines of text that are equal where the rows are, whichever reader they come from."""

import datetime
import decimal
import math


def text(value):
    if value is None:
        return "NULL"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, float):
        return "nan" if math.isnan(value) else repr(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, datetime.datetime):
        utc = value if value.tzinfo is None else value.astimezone(datetime.timezone.utc)
        return utc.replace(tzinfo=None).isoformat()
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    return repr(value)


def lines(columns, rows):
    """Sorted lines, each of one row's columns by name."""
    return sorted(" ".join(f"{name}={text(value)}" for name, value in zip(columns, row)) for row in rows)
