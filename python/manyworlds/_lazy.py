"""Ensembles as polars LazyFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator

import polars as pl
from polars.io.plugins import register_io_source

if TYPE_CHECKING:
    from ._ensemble import Ensemble


def _type(outcome: dict) -> pl.DataType:
    """The type of `Entity.table`."""
    return pl.Int64() if outcome["scale"] == 1 and outcome["kind"] != "real" else pl.Float64()


def scan(ensemble: Ensemble, kind: str | None) -> pl.LazyFrame:
    """Reads entity by entity, and only the outcomes in use."""
    entities, described = ensemble._of_kind(kind)
    schema = {"entity": pl.String(), "world": pl.Int32()}
    schema |= {outcome["name"]: _type(outcome) for outcome in described["outcomes"]}

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        columns = list(schema) if columns is None else columns
        outcomes = [name for name in columns if name not in ("entity", "world")]
        for entity in entities:
            if rows == 0:
                return
            frame = ensemble[entity].table(*(outcomes or described["outcomes"][0]["name"].split())).to_polars()
            frame = frame.with_columns(entity=pl.lit(entity)).select(columns)
            if predicate is not None:
                frame = frame.filter(predicate)
            if rows is not None:
                frame = frame.head(rows)
                rows -= len(frame)
            yield frame

    return register_io_source(read, schema=schema)
