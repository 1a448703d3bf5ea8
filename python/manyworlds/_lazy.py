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
    types = {outcome["name"]: _type(outcome) for outcome in described["outcomes"]}
    schema = {"entity": pl.String(), "world": pl.Int32(), **types}

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        columns = list(schema) if columns is None else columns
        outcomes = [name for name in columns if name in types]
        worlds = pl.Series("world", ensemble.world_numbers()).cast(pl.Int32)
        for entity in entities:
            if rows == 0:
                return
            arrays = ensemble._backend.arrays([entity], outcomes)
            values = [pl.Series(name, array).cast(types[name]) for name, array in zip(outcomes, arrays)]
            frame = pl.DataFrame([worlds, *values]).with_columns(entity=pl.lit(entity)).select(columns)
            if predicate is not None:
                frame = frame.filter(predicate)
            if rows is not None:
                frame = frame.head(rows)
                rows -= len(frame)
            yield frame

    return register_io_source(read, schema=schema)
