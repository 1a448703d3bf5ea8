"""Stores batches of call records in an engine, orders them, or asks about some of them.

  calls.py ENGINE insert FOLDER FILE..
  calls.py ENGINE cluster FOLDER
  calls.py ENGINE QUESTION FOLDER

A FILE is a batch in Arrow's file format, and one commit.
"""

import sys
from pathlib import Path

engine, task, folder, *files = sys.argv[1:]
if engine == "duckdb":
    import duckdb
    import pyarrow
else:
    from chdb.session import Session

from clock import Clock

ORDER = "call_hour, cell_tower_id"


def duckdb_insert(database):
    for file in files:
        batch = pyarrow.ipc.open_file(pyarrow.memory_map(file)).read_all()
        database.register("batch", batch)
        database.execute("CREATE TABLE IF NOT EXISTS calls AS SELECT * FROM batch LIMIT 0")
        database.execute("INSERT INTO calls SELECT * FROM batch")
        database.unregister("batch")


def duckdb_cluster(database):
    database.execute(f"CREATE TABLE ordered AS SELECT * FROM calls ORDER BY {ORDER}")
    database.execute("DROP TABLE calls")
    database.execute("ALTER TABLE ordered RENAME TO calls")


def duckdb_ask(database):
    return [int(value) for value in database.execute(task).fetchone()]


def chdb_insert(session):
    files_in_order = [file.replace("'", "\\'") for file in files]
    session.query(
        f"CREATE TABLE calls ENGINE = MergeTree ORDER BY ({ORDER}) EMPTY AS SELECT * FROM "
        f"file('{files_in_order[0]}', 'Arrow') SETTINGS schema_inference_make_columns_nullable = 'auto'"
    )
    for file in files_in_order:
        session.query(f"INSERT INTO calls SELECT * FROM file('{file}', 'Arrow')")


def chdb_cluster(session):
    session.query("OPTIMIZE TABLE calls FINAL")


def chdb_ask(session):
    return [int(value) for value in str(session.query(task, "TSV")).split()]


clock = Clock()
if engine == "duckdb":
    tasks = {"insert": duckdb_insert, "cluster": duckdb_cluster}
    with duckdb.connect(str(Path(folder) / "calls.duckdb"), read_only=task not in tasks) as opened:
        answer = tasks.get(task, duckdb_ask)(opened)
else:
    tasks = {"insert": chdb_insert, "cluster": chdb_cluster}
    opened = Session(str(Path(folder) / "chdb"))
    answer = tasks.get(task, chdb_ask)(opened)
    opened.close()
clock.report(answer)
