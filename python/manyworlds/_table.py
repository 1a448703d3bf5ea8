"""Rows of an answer."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Iterator

from ._native import Batches

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_SHOWN_ROWS = 10


def arrow_object(rows: Any) -> Any | None:
    """What has the Arrow PyCapsule interface, without an index that has no name; `None` for anything else."""
    if not (hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__")):
        return None
    if type(rows).__module__.startswith("polars.") and hasattr(rows, "columns"):
        # Arrow for Rust refuses the columns of type Null that polars exports.
        return rows.cast({name: bool for name, of in rows.schema.items() if str(of) == "Null"})
    index = getattr(rows, "index", None)
    if index is not None and hasattr(rows, "reset_index") and all(name is None for name in index.names):
        # pandas would add it as a column.
        return rows.reset_index(drop=True)
    return rows


def _read(stream: bytes, notes: list[str]) -> Table:
    """A table that was pickled."""
    return Table(Batches.from_ipc(stream), notes)


class Table:
    """Rows of an answer, as Arrow record batches.

    polars, pandas 3, pyarrow, DuckDB and every other reader of the Arrow PyCapsule interface take a table as it is, any
    number of times and without a copy.

    Example:
        >>> import manyworlds as mw
        >>> rows = mw.open(DATA).sql("SELECT 1 AS n, 'a' AS t UNION ALL SELECT 2, NULL ORDER BY n")
        >>> rows.to_dicts()
        [{'n': 1, 't': 'a'}, {'n': 2, 't': None}]
    """

    def __init__(self, batches: Batches, notes: list[str] | None = None) -> None:
        self._batches = batches
        #: Remarks about the answer, such as why it is approximate.
        self.notes: list[str] = notes or []

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._batches.names

    @property
    def types(self) -> dict[str, str]:
        """Arrow type of each column."""
        return dict(zip(self._batches.names, self._batches.types))

    def __len__(self) -> int:
        return len(self._batches)

    def __arrow_c_schema__(self) -> object:
        return self._batches.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._batches.__arrow_c_stream__(requested_schema)

    def __getitem__(self, column: str) -> np.ndarray:
        """A column as a NumPy array; see `to_numpy`."""
        import numpy as np

        array = self._batches.array(column)
        if array is not None:
            return np.asarray(array)
        values = np.empty(len(self), dtype=object)
        values[:] = self._batches.values(column, 0, len(self))
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def to_numpy(self) -> dict[str, np.ndarray]:
        """Each column as a NumPy array, of length `len(self)`.

        Numbers without NULL that came in one batch are shared with the table and read-only. NULL becomes NaN in numbers
        (`None` where a `float64` does not hold all numbers exactly) and NaT in times, which are in UTC. Texts, lists and
        decimals become Python objects.
        """
        return {column: self[column] for column in self.columns}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The rows as a two-dimensional array of the columns' common type, or of Python objects."""
        import numpy as np

        columns = [self[column] for column in self.columns]
        try:
            common = np.result_type(*columns) if columns else np.dtype(float)
        except TypeError:
            common = np.dtype(object)
        rows = np.empty((len(self), len(columns)), dtype=common)
        for place, column in enumerate(columns):
            rows[:, place] = column
        return rows if dtype is None else rows.astype(dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_read, (self._batches.to_ipc(), self.notes))

    def to_arrow(self) -> pa.Table:
        """A `pyarrow.Table`, without a copy."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> pl.DataFrame:
        """A `polars.DataFrame`, without a copy."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pd.DataFrame:
        """A `pandas.DataFrame`: by pyarrow if it is installed, else from `to_numpy`."""
        import pandas

        try:
            import pyarrow
        except ImportError:
            return pandas.DataFrame(self.to_numpy())
        return pyarrow.table(self).to_pandas()

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict a row, of Python objects; NULL is `None`."""
        return self._rows(0, len(self))

    def _rows(self, first: int, count: int) -> list[dict[str, Any]]:
        names = self.columns
        columns = [self._batches.values(name, first, count) for name in names]
        if not names:
            return [{} for _ in range(min(count, len(self)))]
        return [dict(zip(names, row)) for row in zip(*columns)]

    def __repr__(self) -> str:
        names = ", ".join(f"{name}: {kind}" for name, kind in self.types.items())
        return f"<manyworlds.Table of {len(self)} rows ({names})>"

    def _repr_html_(self) -> str:
        shown = self._rows(0, _SHOWN_ROWS)
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        cell = lambda value: "" if value is None else escape(str(value))  # noqa: E731
        rows = "".join("<tr>" + "".join(f"<td>{cell(v)}</td>" for v in row.values()) + "</tr>" for row in shown)
        more = len(self) - len(shown)
        rest = f"<p>{more} more rows</p>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}"
