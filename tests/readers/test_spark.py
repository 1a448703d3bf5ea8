"""Spark reads every kind of table: its files, and the table through Delta Lake for Spark."""

import datetime
import decimal
import json
import os
import random
import subprocess

import deltalake
import pyarrow
import pyarrow.parquet
import pytest

from rows import lines
from test_live import body, serve

HERE = os.path.dirname(os.path.abspath(__file__))
# Pythons of environments with a Spark each, by scripts/python_tests.sh.
SPARKS = [python for python in os.environ.get("MANYWORLDS_SPARKS", "").split(":") if python]
LAYOUTS = {
    "column": ["--layout", "column"],
    "pruned": ["--bloom", "i64,text"],
    "clustered": ["--cluster", "i32,time", "--bloom", "text", "--lookup", "text"],
    "uncompressed": ["--codec", "none"],
    "lz4": ["--codec", "lz4"],
    "snappy": ["--codec", "snappy"],
}


def manyworlds(*words, stdin=None):
    subprocess.run([os.environ["MANYWORLDS"], *words], check=True, input=stdin, stdout=subprocess.PIPE)


def every_type(path, rows=3000, seed=7):
    """A file with a column of each type that tables have, of values that suit each encoding."""
    chance = random.Random(seed)
    epoch = datetime.datetime(2026, 11, 22, tzinfo=datetime.timezone.utc)

    def some(make):
        return [None if chance.random() < 0.1 else make(i) for i in range(rows)]

    whole = {"i8": 7, "i16": 15, "i32": 31, "i64": 63}
    columns = {name: pyarrow.array(some(lambda i: chance.randrange(-(2**bits), 2**bits)), f"int{bits + 1}") for name, bits in whole.items()}
    columns |= {
        "number": pyarrow.array(range(rows), "int64"),
        "few": pyarrow.array(some(lambda i: chance.randrange(5)), "int64"),
        "f32": pyarrow.array(some(lambda i: chance.choice([0.5, -0.0, float("nan"), chance.random()])), "float32"),
        "f64": pyarrow.array(some(lambda i: chance.choice([1e300, float("inf"), chance.gauss(0, 1)])), "float64"),
        "same": pyarrow.array([1.5] * rows, "float64"),
        "flag": pyarrow.array(some(lambda i: chance.random() < 0.3), "bool"),
        "text": pyarrow.array(some(lambda i: chance.choice(["", "é\\%", f"+1-{i:09}"])), "string"),
        "word": pyarrow.array(some(lambda i: chance.choice(["a", "b", "ü"])), "string"),
        "bytes": pyarrow.array(some(lambda i: chance.randbytes(chance.randrange(9))), "binary"),
        "day": pyarrow.array(some(lambda i: epoch.date() + datetime.timedelta(days=chance.randrange(-9000, 9000))), "date32"),
        "time": pyarrow.array(some(lambda i: epoch + datetime.timedelta(microseconds=chance.randrange(10**15))), pyarrow.timestamp("us", "UTC")),
        "price": pyarrow.array(some(lambda i: decimal.Decimal(chance.randrange(-(10**6), 10**6)).scaleb(-2)), pyarrow.decimal128(7, 2)),
        "total": pyarrow.array(some(lambda i: decimal.Decimal(chance.randrange(-(10**17), 10**17)).scaleb(-4)), pyarrow.decimal128(18, 4)),
        "wide": pyarrow.array(some(lambda i: decimal.Decimal(chance.randrange(-(10**29), 10**29)).scaleb(-6)), pyarrow.decimal128(30, 6)),
        "nothing": pyarrow.array([None] * rows, "int64"),
        "set": pyarrow.array(some(lambda i: sorted(chance.sample(["x", "y", "z", "é"], chance.randrange(4)))), pyarrow.list_(pyarrow.string())),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Folders of tables, by what is in them."""
    data = tmp_path_factory.mktemp("spark")
    folder = ["--data", str(data)]
    every_type(data / "every.parquet")
    for name, options in LAYOUTS.items():
        manyworlds("table", "insert", name, str(data / "every.parquet"), "--batch-rows", "1000", *options, *folder)
    manyworlds("table", "cluster", "clustered", *folder)
    manyworlds("table", "compact", "pruned", *folder)
    manyworlds("table", "delete", "clustered", "--where", "few = 3 OR number < 100", "--apply", *folder)
    manyworlds("table", "insert", "rewritten", str(data / "every.parquet"), "--encodings", "dense", *folder)
    manyworlds("table", "rewrite", "rewritten", "--encodings", "portable", *folder)
    serve(data, body(range(72), 1), body(range(10, 20), 2))
    rows = [{"host": f"h{i % 7}", "n": i, "load": i / 7, "tags": ["a", "b"][: i % 3], "time": f"2026-11-22T00:{i % 60:02}:00Z"} for i in range(500)]
    for part in (rows[:300], rows[300:] + [{"host": "late", "more": True, "n": 2**62}]):
        manyworlds("append", "events", *folder, stdin="\n".join(map(json.dumps, part)).encode())
        manyworlds("flush", "events", *folder)
    event = subprocess.run([os.environ["MANYWORLDS"], "bingo", "example"], check=True, stdout=subprocess.PIPE).stdout
    (data / "event.toml").write_bytes(event)
    manyworlds("run", "bingo", "--event", str(data / "event.toml"), "--worlds", "30", "--range-worlds", "10", "--encodings", "portable", *folder)
    roots = [str(path.parent) for database in ("default", "sim") for path in sorted((data / database).glob("*/_delta_log"))]
    assert len(roots) == len(LAYOUTS) + 3 + 3
    return roots


def of_arrow(root):
    table = deltalake.DeltaTable(root).to_pyarrow_table()
    table = table.select(sorted(table.column_names))
    return lines(table.column_names, zip(*(column.to_pylist() for column in table.columns)))


def test_no_page_of_portable_tables_is_split_into_planes(tables):
    for root in tables:
        for file in deltalake.DeltaTable(root).file_uris():
            metadata = pyarrow.parquet.read_metadata(file)
            for group in range(metadata.num_row_groups):
                for column in range(metadata.num_columns):
                    chunk = metadata.row_group(group).column(column)
                    assert "BYTE_STREAM_SPLIT" not in chunk.encodings, (file, chunk.path_in_schema)


def test_dense_tables_stay_dense(tmp_path):
    every_type(tmp_path / "every.parquet", rows=300)
    folder = ["--data", str(tmp_path)]
    manyworlds("table", "insert", "dense", str(tmp_path / "every.parquet"), "--encodings", "dense", *folder)
    manyworlds("append", "dense", *folder, stdin=b'{"f64": 0.5, "number": 1}\n{"f64": 0.25, "number": 2}\n')
    manyworlds("flush", "dense", *folder)
    manyworlds("table", "compact", "dense", *folder)
    files = deltalake.DeltaTable(str(tmp_path / "default" / "dense")).file_uris()
    groups = [pyarrow.parquet.read_metadata(file).row_group(0) for file in files]
    encodings = [{encoding for i in range(group.num_columns) for encoding in group.column(i).encodings} for group in groups]
    assert encodings and all("BYTE_STREAM_SPLIT" in of for of in encodings)


@pytest.mark.skipif(not SPARKS, reason="no Spark is installed (scripts/python_tests.sh)")
@pytest.mark.parametrize("python", SPARKS)
def test_spark_reads_every_table(python, tables):
    # Which ensemble a file of `sim` belongs to is in the log alone.
    asked = [{"root": root, "files": [] if "/sim/" in root else deltalake.DeltaTable(root).file_uris()} for root in tables]
    environment = os.environ | {"PYTHONPATH": HERE, "PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [python, os.path.join(HERE, "spark_rows.py")], input=json.dumps(asked), env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-5000:]
    # Spark writes of its packages to the same stream.
    answer = json.loads(done.stdout[done.stdout.index('{"version"') :])
    for root, read in zip(tables, answer["tables"]):
        expected = of_arrow(root)
        for how, found in read.items():
            different = [pair for pair in zip(found, expected) if pair[0] != pair[1]][:1]
            assert len(found) == len(expected) and not different, (answer["version"], root, how, len(found), len(expected), different)
