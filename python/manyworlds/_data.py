"""A place of tables: a folder, a bucket, or a server."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Iterable, Iterator

from . import _native
from ._ensemble import Ensemble
from ._given import MAX_64, THREADS_MAX, whole
from ._local import Local
from ._table import Table, arrow_object
from .errors import Error, InvalidError, RefusedRowsError


class Ensembles(Mapping):
    """The ensembles of a place by name; looks at the tables each time."""

    def __init__(self, data: Data) -> None:
        self._data = data

    def __getitem__(self, name: str) -> Ensemble:
        return Ensemble(self._data, self._data._backend.ensemble(name))

    def __iter__(self) -> Iterator[str]:
        return (summary["ensemble"] for summary in self.summaries())

    def __len__(self) -> int:
        return len(self.summaries())

    def __contains__(self, name: object) -> bool:
        return any(summary["ensemble"] == name for summary in self.summaries())

    def summaries(self) -> list[dict[str, Any]]:
        """State, size and times of each, as `manyworlds ensembles --format json` lists them."""
        return self._data._backend.ensembles()

    def __repr__(self) -> str:
        return f"<manyworlds.Ensembles of {self._data.place}: {', '.join(self) or 'none'}>"


class Data:
    """The ensembles and tables of a place. Make one with `open` or `connect`.

    Example:
        >>> import manyworlds as mw
        >>> data = mw.open(DATA)
        >>> list(data.ensembles)
        ['season']
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    @property
    def place(self) -> str:
        """The folder, or the address of the bucket or server."""
        return self._backend.place

    @property
    def ensembles(self) -> Ensembles:
        """The ensembles by name."""
        return Ensembles(self)

    @property
    def tables(self) -> list[str]:
        """The tables that SQL can name, as `DATABASE.TABLE`."""
        return [f"{database}.{name}" for database, name in self._backend.tables()]

    def sql(self, query: str) -> Table:
        """Answers a query in SQL over all ensembles and tables.

        Raises:
            InvalidError, UnknownNameError: if the query is invalid or names something unknown.
            LimitError: if it needs more memory than allowed.
        """
        return Table(self._backend.sql(query, None))

    def ask(self, table: str, **options: Any) -> Table:
        """Aggregates rows of a table: the options of the command `ask`.

        A condition is given as `where`; a text stands for a list with one member.

        Example:
            >>> import manyworlds as mw
            >>> data = mw.open(DATA)
            >>> data.append("pings", [{"host": "a", "ms": 3}, {"host": "a", "ms": 5}, {"host": "b", "ms": 9}])
            3
            >>> data.ask("pings", group="host", count=True, avg="ms", sort="host", asc=True).to_dicts()
            [{'host': 'a', 'count': 2, 'avg(ms)': 4.0}, {'host': 'b', 'count': 1, 'avg(ms)': 9.0}]
        """
        lists = {"group", "avg", "sum", "min", "max", "stddev", "distinct", "quantiles", "hist", "loghist", "where",
                 "replace", "columns"}
        request = {name: [value] if name in lists and isinstance(value, str) else value for name, value in options.items()}
        batches, notes = self._backend.ask(table, request)
        return Table(batches, notes)

    def append(self, table: str, rows: Any, on_conflict: str = "overflow") -> int:
        """Stores rows in a table, which is created if it is missing. Returns their number once they are durable.

        Args:
            table: its name, or `DATABASE.NAME`.
            rows: dicts, one a row; or anything with the Arrow PyCapsule interface, such as a data frame. Dicts hold no
                NaN and no infinities: give `None`, or a data frame, which keeps them.
            on_conflict: `"overflow"` keeps a value that does not fit its column as text in `NAME_text`; `"refuse"`
                refuses its row.

        Raises:
            RefusedRowsError: if some rows cannot be stored. The others are.
            InvalidError: if a value cannot be sent. Names the row.

        Every error says how many rows of earlier requests are stored, if there were any.
        """
        if on_conflict not in ("overflow", "refuse"):
            raise InvalidError(f"on_conflict is {on_conflict!r}: write 'overflow' or 'refuse'")
        stored, refused, count = 0, [], 0
        before = 0
        try:
            for form, body, sent in _bodies(rows):
                written = self._backend.write(table, form, body, on_conflict == "refuse")
                stored += sent if written["rows"] is None else written["rows"]
                refused += [_refused(item, form, before) for item in written["refused"]]
                count += written["refused_count"]
                before += sent
        except Error as failure:
            if before:
                failure.args = (f"{failure}; of the first {before} rows {stored} are stored",)
            raise
        if count:
            first = refused[0]
            row = f"row {first['position']}" if first["position"] else None
            why = ": ".join(part for part in (row, first["field"], first["reason"]) if part)
            error = RefusedRowsError(f"refused {count} of the rows, stored {stored}; first: {why}")
            error.stored, error.refused = stored, refused
            raise error
        return stored

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self)._from, (type(self._backend), self._backend.arguments))

    @classmethod
    def _from(cls, backend: type, arguments: tuple[Any, ...]) -> Data:
        return cls(backend(*arguments))

    def __repr__(self) -> str:
        return f"<manyworlds.Data at {self.place}>"


def open(place: str | os.PathLike[str] = "data", *, threads: int | None = None, memory: int | None = None) -> Data:
    """Opens the ensembles and tables of a folder, or of a bucket as `s3://BUCKET/PREFIX`.

    Args:
        place: the folder or bucket; it may be empty or missing.
        threads: threads for each question; by default one for each core.
        memory: memory for each question in bytes; by default 1 GiB.

    Raises:
        InvalidError: if it is a file, or an address, but not of a bucket.
        StorageError: if the environment does not say how to reach the bucket.
    """
    threads = None if threads is None else whole("threads", threads, 1, THREADS_MAX)
    memory = None if memory is None else whole("memory", memory, 1, MAX_64)
    return Data(Local(os.fsdecode(place), threads, memory))


def connect(url: str, token: str | None = None, *, timeout: float = 60.0) -> Data:
    """The ensembles and tables behind a server that `manyworlds serve` runs, with the same questions as `open`.

    Not over HTTP: `run` and `write`. Arrays of worlds are copied.

    Args:
        url: its address, such as `http://127.0.0.1:8080`.
        token: the token, if the server requires one.
        timeout: seconds to wait for a reply.

    Raises:
        InvalidError: if the address is invalid.
        AccessError: by a question, if the server refuses the token.
        StorageError: by a question, if the server cannot be reached.
    """
    # Loaded here: few programs need it.
    from ._remote import Remote

    return Data(Remote(url, token, timeout))


def _refused(item: dict[str, Any], form: str, before: int) -> dict[str, Any]:
    """A refused item with the number of its row, after `before` rows of earlier bodies; 0 means many rows."""
    # Of Arrow, a position is that of a record batch.
    position = item.get("row", 0) if form == "arrow" else item.get("row", item.get("position", 0))
    position = position and before + position
    return {"position": position, "field": item.get("field"), "reason": item["reason"]}


#: Rows and bytes of one body.
_ROWS, _BYTES = 50_000, 16 << 20


def _bodies(rows: Any) -> Iterator[tuple[str, bytes, int]]:
    """Rows in the forms of requests, with their number."""
    if (arrow := arrow_object(rows)) is not None:
        for body, count in _native.bodies(arrow):
            yield "arrow", body, count
        return
    if isinstance(rows, Mapping) or isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise InvalidError(f"rows are {type(rows).__name__}: give dicts, one a row, or an Arrow object")
    lines: list[str] = []
    size = sent = 0
    for row in rows:
        try:
            lines.append(_line(row))
        except InvalidError as error:
            raise InvalidError(f"row {sent + len(lines) + 1}: {error}") from None
        size += len(lines[-1])
        if len(lines) == _ROWS or size >= _BYTES:
            yield "json", "\n".join(lines).encode(), len(lines)
            sent += len(lines)
            lines, size = [], 0
    if lines:
        yield "json", "\n".join(lines).encode(), len(lines)


def _line(row: Any) -> str:
    if not isinstance(row, Mapping):
        raise InvalidError(f"it is {type(row).__name__}: give dicts, one a row")
    try:
        return json.dumps(row, default=_plain)
    except (TypeError, ValueError) as error:
        # A name that is not text, or a value that contains itself.
        raise InvalidError(str(error)) from None


def _plain(value: Any) -> Any:
    """Values that JSON lacks. Times without an offset are UTC."""
    if isinstance(value, datetime):
        # The missing time of pandas is one, and equals nothing.
        if value != value:
            return None
        return value.isoformat() + ("Z" if value.tzinfo is None else "")
    if isinstance(value, date):
        return value.isoformat()
    if getattr(getattr(value, "dtype", None), "kind", "") == "M" and value.ndim == 0:
        return _time(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise InvalidError(f"a value is {type(value).__name__}: give texts, numbers, booleans, times or None")


def _time(value: Any) -> str | None:
    """A time of NumPy."""
    import numpy as np

    if np.isnat(value):
        return None
    unit = np.datetime_data(value.dtype)[0]
    if unit in ("Y", "M", "W", "D"):
        return str(value.astype("M8[D]"))
    text = str(value if unit in ("s", "ms", "us", "ns") else value.astype("M8[s]"))
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "Z"
