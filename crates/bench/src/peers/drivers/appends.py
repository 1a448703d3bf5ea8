"""Appends events from standard input to an engine's table, as one commit, or counts its rows.

  appends.py ENGINE append FOLDER < EVENTS
  appends.py ENGINE count FOLDER
"""

import sys
from pathlib import Path

engine, task, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
if engine == "duckdb":
    import duckdb
else:
    from chdb.session import Session

from clock import Clock

CLOCK = Clock()
COLUMNS = "time BIGINT, weight BIGINT, ping BIGINT, host VARCHAR, status VARCHAR, index_int BIGINT, region VARCHAR"
NAMES = "time, weight, ping, host, status, index_int, region"
CH_COLUMNS = COLUMNS.replace("BIGINT", "Int64").replace("VARCHAR", "String")


def append_duckdb():
    with duckdb.connect(str(folder / "small.duckdb")) as database:
        database.execute(f"CREATE TABLE IF NOT EXISTS small ({COLUMNS})")
        rows = "read_json('/dev/stdin', format = 'newline_delimited')"
        database.execute(f"INSERT INTO small SELECT {NAMES} FROM {rows}")


def count_duckdb():
    with duckdb.connect(str(folder / "small.duckdb"), read_only=True) as database:
        return database.execute("SELECT count(*) FROM small").fetchone()[0]


def append_chdb():
    session = Session(str(folder / "chdb"))
    session.query(f"CREATE TABLE IF NOT EXISTS small ({CH_COLUMNS}) ENGINE = MergeTree ORDER BY time")
    settings = "SETTINGS input_format_skip_unknown_fields = 1"
    session.query(f"INSERT INTO small ({NAMES}) {settings} FORMAT JSONEachRow {sys.stdin.read()}")
    session.close()


def count_chdb():
    session = Session(str(folder / "chdb"))
    count = int(str(session.query("SELECT count() FROM small", "CSV")))
    session.close()
    return count


TASKS = {
    ("duckdb", "append"): append_duckdb,
    ("duckdb", "count"): count_duckdb,
    ("chdb", "append"): append_chdb,
    ("chdb", "count"): count_chdb,
}
CLOCK.report(TASKS[engine, task]())
