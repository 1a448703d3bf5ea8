"""Counts the worlds that meet all of some conditions.

  joint.py numpy prepare PARQUET FOLDER
  joint.py ENGINE count FOLDER_OR_PARQUET CONDITIONS

PARQUET holds a row for each world and entity. CONDITIONS is JSON: [[entity, outcome, operator, number], ..].
"""

import json
import operator
import sys
from pathlib import Path

if sys.argv[1] == "duckdb":
    import duckdb
else:
    import numpy

from clock import Clock

OPERATORS = {">=": operator.ge, "<=": operator.le, "=": operator.eq}


def prepare_numpy(parquet, folder):
    """Writes each outcome of each entity to a file, ordered by world."""
    import pyarrow.compute
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(parquet).sort_by("world")
    for entity in pyarrow.compute.unique(table["entity"]).to_pylist():
        rows = table.filter(pyarrow.compute.equal(table["entity"], entity))
        for outcome in rows.column_names:
            if outcome not in ("world", "entity"):
                numpy.save(Path(folder) / f"{entity}.{outcome}.npy", rows[outcome].to_numpy())


def count_numpy(folder, conditions):
    met = True
    for entity, outcome, compare, number in conditions:
        met = met & OPERATORS[compare](numpy.load(Path(folder) / f"{entity}.{outcome}.npy"), number)
    return int(numpy.count_nonzero(met))


def count_duckdb(parquet, conditions):
    entities = sorted({condition[0] for condition in conditions})
    tables = [f"(SELECT * FROM read_parquet($1) WHERE entity = '{entity}') AS {entity}" for entity in entities]
    joined = tables[0] + "".join(f" JOIN {table} USING (world)" for table in tables[1:])
    met = " AND ".join(f"{entity}.{outcome} {compare} {number}" for entity, outcome, compare, number in conditions)
    return duckdb.execute(f"SELECT count(*) FROM {joined} WHERE {met}", [parquet]).fetchone()[0]


clock = Clock()
engine, task, source, rest = sys.argv[1:]
if task == "prepare":
    clock.report(prepare_numpy(source, rest))
else:
    count = {"numpy": count_numpy, "duckdb": count_duckdb}[engine]
    clock.report(count(source, json.loads(rest)))
