"""Loads the events of `bench ask` into an engine, or asks it a question about them.

  ask.py ENGINE load EVENTS FOLDER
  ask.py ENGINE QUESTION FOLDER NEEDLE FROM TO
"""

import sys
from importlib import import_module
from pathlib import Path

from clock import Clock

QUANTILES = {"p50(ping)": 0.5, "p95(ping)": 0.95, "p99(ping)": 0.99}

# What the engines write alike; {hour} and {quantile} differ.
SQL = {
    "host": "SELECT host, count(*) AS count FROM events GROUP BY host",
    "host-status": "SELECT host, status, count(*) AS count FROM events GROUP BY host, status",
    "percentiles": "SELECT host, {quantiles} FROM events GROUP BY host",
    "hourly": "SELECT {hour} AS hour, count(*) AS count FROM events GROUP BY hour ORDER BY hour",
    "day": "SELECT host, count(*) AS count FROM events WHERE time >= {from} AND time < {to} GROUP BY host",
    "needle": "SELECT index_int, ping FROM events WHERE index_int = {needle}",
    "top": "SELECT index_int, count(*) AS count FROM events GROUP BY index_int ORDER BY index_int DESC LIMIT 10",
}


def sql(question, values, hour, quantile):
    quantiles = ", ".join(f'{quantile.format(share)} AS "{name}"' for name, share in QUANTILES.items())
    return SQL[question].format(hour=hour, quantiles=quantiles, **values)


class DuckDB:
    module = "duckdb"

    def __init__(self, duckdb, folder):
        self.open = lambda **options: duckdb.connect(str(folder / "events.duckdb"), **options)

    def load(self, events):
        with self.open() as database:
            database.execute(
                "CREATE TABLE events AS SELECT * FROM read_json($1, format = 'newline_delimited')", [str(events)]
            )

    def ask(self, question, values):
        with self.open(read_only=True) as database:
            database.execute(sql(question, values, "time // 3600", "quantile_disc(ping, {})"))
            names = [column[0] for column in database.description]
            return [dict(zip(names, row)) for row in database.fetchall()]


class ChDB:
    module = "chdb"

    COLUMNS = """time Int64, weight Int64, random_int Int64, ping Int64, host LowCardinality(String),
        status LowCardinality(String), groups Array(LowCardinality(String)), host_index Int64, index_int Int64,
        region LowCardinality(String)"""

    def __init__(self, chdb, folder):
        from chdb.session import Session

        self.open = lambda: Session(str(folder / "chdb"))

    def load(self, events):
        session = self.open()
        session.query(f"CREATE TABLE events ({self.COLUMNS}) ENGINE = MergeTree ORDER BY time")
        name = str(events).replace("'", "\\'")
        session.query(f"INSERT INTO events SELECT * FROM file('{name}', 'JSONEachRow')")
        session.close()

    def ask(self, question, values):
        import json

        session = self.open()
        # quantileExact takes another row of the sorted ones: take the row that the others take.
        quantile = "arraySort(groupArray(ping))[toUInt64(ceil({} * count()))]"
        settings = " SETTINGS output_format_json_quote_64bit_integers = 0"
        answer = session.query(sql(question, values, "intDiv(time, 3600)", quantile) + settings, "JSON")
        session.close()
        return json.loads(str(answer))["data"]


class DataFusion:
    module = "datafusion"

    PLACES = """SELECT host, ping, row_number() OVER (PARTITION BY host ORDER BY ping) AS place,
        count(*) OVER (PARTITION BY host) AS rows FROM events"""

    def __init__(self, datafusion, folder):
        self.context = datafusion.SessionContext()
        self.file = folder / "events.parquet"

    def load(self, events):
        self.context.read_json(str(events), file_extension=events.suffix).write_parquet(
            str(self.file), compression="zstd"
        )

    def ask(self, question, values):
        self.context.register_parquet("events", str(self.file))
        # It has no exact quantile that takes a value of the rows.
        quantile = "max(CASE WHEN place = CAST(ceil({} * rows) AS BIGINT) THEN ping END)"
        statement = sql(question, values, "time / 3600", quantile)
        if question == "percentiles":
            statement = statement.replace("events", f"({self.PLACES})")
        return self.context.sql(statement).to_pylist()


class Polars:
    module = "polars"

    def __init__(self, polars, folder):
        self.polars = polars
        self.file = folder / "events.parquet"

    def load(self, events):
        self.polars.scan_ndjson(events).sink_parquet(self.file, compression="zstd")

    def ask(self, question, values):
        events, col = self.polars.scan_parquet(self.file), self.polars.col
        count = self.polars.len().alias("count")
        quantiles = [
            col("ping").quantile(share, interpolation="equiprobable").cast(self.polars.Int64).alias(name)
            for name, share in QUANTILES.items()
        ]
        in_day = (col("time") >= values["from"]) & (col("time") < values["to"])
        asked = {
            "host": lambda: events.group_by("host").agg(count),
            "host-status": lambda: events.group_by("host", "status").agg(count),
            "percentiles": lambda: events.group_by("host").agg(quantiles),
            "hourly": lambda: events.group_by((col("time") // 3600).alias("hour")).agg(count).sort("hour"),
            "day": lambda: events.filter(in_day).group_by("host").agg(count),
            "needle": lambda: events.filter(col("index_int") == values["needle"]).select("index_int", "ping"),
            "top": lambda: events.group_by("index_int").agg(count).top_k(10, by="index_int"),
        }
        return asked[question]().collect(engine="streaming").to_dicts()


ENGINES = {"duckdb": DuckDB, "chdb": ChDB, "datafusion": DataFusion, "polars": Polars}


def main(engine, task, *rest):
    engine = ENGINES[engine]
    module = import_module(engine.module)
    clock = Clock()
    if task == "load":
        events, folder = map(Path, rest)
        engine(module, folder).load(events)
        clock.report()
    else:
        values = dict(zip(["needle", "from", "to"], map(int, rest[1:])))
        clock.report(engine(module, Path(rest[0])).ask(task, values))


main(*sys.argv[1:])
