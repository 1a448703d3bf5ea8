"""Tables of rows, and tables as answers."""

import datetime as dt
import decimal
import pickle
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import manyworlds as mw

QUERY = """
    SELECT * FROM (VALUES
        (1, 2.5, 'a', true, TIMESTAMP '2026-01-02 03:04:05', DATE '2026-01-02'),
        (NULL, NULL, NULL, NULL, NULL, NULL),
        (3, 'nan'::DOUBLE, 'é', false, TIMESTAMP '1969-12-31 23:59:59', DATE '1969-12-31')
    ) AS t(n, x, s, b, t, d)
"""


@pytest.fixture
def data(tmp_path):
    return mw.open(tmp_path / "data")


def test_answers_go_to_every_reader_of_arrow(data):
    rows = data.sql(QUERY)
    expected = pa.table(rows).to_pylist()
    assert [row["s"] for row in expected] == ["a", None, "é"] and expected[0]["d"] == dt.date(2026, 1, 2)
    assert pl.DataFrame(rows)["t"].to_list() == rows.to_polars()["t"].to_list() == [row["t"] for row in expected]
    assert duckdb.sql("SELECT n, s, b FROM rows").fetchall() == [(1, "a", True), (None, None, None), (3, "é", False)]
    assert rows.to_arrow().column("n").to_pylist() == [1, None, 3]
    assert rows.to_pandas()["s"].tolist()[0] == "a"
    # A stream is consumed by its reader; the table hands out a new one each time.
    assert pa.table(rows).num_rows == pa.table(rows).num_rows == len(rows) == 3


def test_a_frame_needs_no_pyarrow(tmp_path):
    script = f"""
import sys
sys.modules["pyarrow"] = None
import manyworlds as mw
frame = mw.open("data").sql({QUERY!r}).to_pandas()
print(list(frame.columns), frame["s"][2], frame["d"][0].date(), frame["n"].tolist(), len(frame))
"""
    said = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert said.stdout == "['n', 'x', 's', 'b', 't', 'd'] é 2026-01-02 [1.0, nan, 3.0] 3\n", said.stderr


def test_numpy_columns(data):
    rows = data.sql(QUERY)
    assert rows["n"].dtype == np.float64 and np.isnan(rows["n"][1])
    assert rows["s"].tolist() == ["a", None, "é"] and rows["b"].tolist() == [True, None, False]
    assert rows["t"].dtype == "<M8[ns]" and np.isnat(rows["t"][1])
    assert rows["t"][2] == np.datetime64("1969-12-31T23:59:59")
    assert rows["d"][0] == np.datetime64("2026-01-02") and np.isnat(rows["d"][1])
    whole = data.sql("SELECT value AS v FROM generate_series(1, 100000)")["v"]
    assert whole.dtype == np.int64 and whole.sum() == 5_000_050_000
    large = data.sql("SELECT * FROM (VALUES (9007199254740993), (NULL)) AS t(n)")["n"]
    assert large.tolist() == [9_007_199_254_740_993, None]
    with pytest.raises(mw.UnknownNameError, match="no column"):
        rows["nothing"]


def test_a_table_is_an_array(data):
    numbers = data.sql("SELECT value AS n, value * 0.5 AS x FROM generate_series(1, 3)")
    assert np.asarray(numbers).tolist() == [[1, 0.5], [2, 1], [3, 1.5]] and np.asarray(numbers, dtype=np.float32).dtype == np.float32
    mixed = np.array(data.sql("SELECT 1 AS n, 'a' AS s"))
    assert mixed.dtype == object and mixed.tolist() == [[1, "a"]]
    assert np.asarray(data.sql("SELECT 1 AS n WHERE false")).shape == (0, 1)


def test_tables_are_pickled(data):
    rows = data.sql(QUERY)
    copy = pickle.loads(pickle.dumps(rows))
    assert copy.types == rows.types and copy.to_polars().equals(rows.to_polars()) and copy.notes == rows.notes
    empty = pickle.loads(pickle.dumps(data.sql("SELECT 1 AS n WHERE false")))
    assert (len(empty), empty.columns) == (0, ["n"])


def test_every_type_is_shown(data):
    values = {
        "interval '1 month 2 days'": "1 mons 2 days", "[1, 2]": [1, 2], "{'a': 1}": {"a": 1}, "x'ff'": b"\xff",
        "arrow_cast('y', 'Utf8View')": "y", "arrow_cast(7, 'UInt64')": 7, "arrow_cast('z', 'Dictionary(Int8, Utf8)')": "z",
        "1.50::DECIMAL(10, 2)": decimal.Decimal("1.50"), "arrow_cast(1.5, 'Float16')": 1.5, "NULL": None,
        "arrow_cast(90, 'Duration(Second)')": dt.timedelta(seconds=90),
    }  # fmt: skip
    rows = data.sql("SELECT " + ", ".join(f"{text} AS c{place}" for place, text in enumerate(values)))
    assert list(rows.to_dicts()[0].values()) == list(values.values())
    assert all(len(column) == 1 for column in rows.to_numpy().values()) and "1 mons 2 days" in rows._repr_html_()


def test_decimals_keep_their_digits_beside_null(data):
    rows = data.sql("SELECT d::DECIMAL(20, 2) AS d FROM (VALUES ('123456789012345678.25'), (NULL)) AS t (d)")
    assert rows["d"].tolist() == rows.to_numpy()["d"].tolist() == [decimal.Decimal("123456789012345678.25"), None]


def test_columns_of_one_name_are_not_mixed_up(data):
    rows = data.sql("SELECT * FROM (SELECT 1 AS a) x, (SELECT 2 AS a) y")
    assert rows.columns == ["a", "a"] and rows.to_arrow().column(1).to_pylist() == [2]
    for ask in (rows.to_dicts, rows.to_numpy, lambda: rows["a"]):
        with pytest.raises(mw.InvalidError, match='several columns are called "a": give each its own name'):
            ask()


def test_an_empty_answer_keeps_its_columns(data):
    rows = data.sql("SELECT 1 AS n, 'a' AS s WHERE false")
    assert (len(rows), rows.columns, rows.to_dicts()) == (0, ["n", "s"], [])
    assert rows["n"].shape == (0,) and rows.to_polars().columns == ["n", "s"]
    assert "<table>" in rows._repr_html_()


def test_html_is_escaped_and_short(data):
    shown = data.sql("SELECT '<b>' AS s FROM generate_series(1, 30)")._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>" not in shown and "20 more rows" in shown


def test_rows_come_in_as_dicts_and_as_arrow(data):
    at = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.timezone.utc)
    assert data.append("t", [{"time": at, "host": "a", "ms": 3}, {"time": at, "host": "b", "ms": np.int64(5)}]) == 2
    assert data.append("t", pl.DataFrame({"time": [at], "host": ["c"], "ms": [7]})) == 1
    assert data.append("t", pd.DataFrame({"host": ["c", "d"], "ms": [7, 9]}).iloc[1:]) == 1
    assert data.append("t", pa.record_batch({"host": ["e"], "ms": [11]})) == 1
    assert data.sql('SELECT host, ms FROM t ORDER BY host').to_dicts() == [
        {"host": host, "ms": ms} for host, ms in zip("abcde", [3, 5, 7, 9, 11])
    ]  # fmt: skip
    assert data.sql("SELECT count(*) AS n FROM t WHERE time = TIMESTAMP '2026-01-02 03:04:05'")["n"].tolist() == [3]
    assert data.ask("t", sum="ms", count=True).to_dicts() == [{"count": 5, "sum(ms)": 35}]
    assert "default.t" in data.tables and "__index_level_0__" not in data.sql("SELECT * FROM t").columns


def test_many_rows_go_to_segments(data, tmp_path):
    rows = pl.DataFrame({"n": range(200_000)})
    assert data.append("many", rows) == 200_000
    assert data.sql("SELECT count(*) AS n, sum(n) AS s FROM many").to_dicts() == [{"n": 200_000, "s": 19_999_900_000}]
    assert list((tmp_path / "data").glob("**/many/**/*.parquet"))


@pytest.mark.parametrize("rows", [pl.DataFrame({"s": ["x" * 1_000] * 40_000}), [{"s": "x" * 1_000}] * 40_000])
def test_rows_beyond_one_request_are_several(data, remote, rows):
    for place in (data, remote):
        before = place.ask("large", count=True)["count"][0] if "default.large" in place.tables else 0
        assert place.append("large", rows) == 40_000
        assert place.ask("large", count=True)["count"][0] == before + 40_000


def test_many_flags_are_several_bodies(data):
    flags = pl.DataFrame({"f": [True, False] * 9_000_000})
    assert data.append("flags", flags) == 18_000_000


def test_numbers_that_json_lacks(data):
    rows = [{"n": 1.5, "host": "a"}] * 50_001 + [{"n": np.float64("nan"), "host": "b"}, {"n": float("-inf")}]
    with pytest.raises(mw.RefusedRowsError, match="row 50002: n: JSON has no NaN: leave the field out, or write null") as raised:
        data.append("t", rows)
    assert [item["position"] for item in raised.value.refused] == [50_002, 50_003] and raised.value.stored == 50_001
    assert data.append("t", pl.DataFrame({"n": [float("nan")]})) == 1
    assert data.sql("SELECT count(*) AS n FROM t WHERE n = 'NaN'::DOUBLE")["n"][0] == 1


def test_values_that_do_not_fit(data):
    data.append("t", [{"n": 1}])
    assert data.append("t", [{"n": "late"}]) == 1
    assert data.sql("SELECT n_text FROM t WHERE n IS NULL").to_dicts() == [{"n_text": "late"}]
    with pytest.raises(mw.RefusedRowsError, match="refused 1") as raised:
        data.append("t", [{"n": 2}, {"n": "late"}], on_conflict="refuse")
    assert raised.value.stored == 1 and raised.value.refused[0]["position"] == 2
    assert data.sql("SELECT count(*) AS n FROM t")["n"].tolist() == [3]
    frame = pl.DataFrame({"n": ["late", None, "later"], "host": ["a", "b", "c"]})
    with pytest.raises(mw.RefusedRowsError, match="refused 2 of the rows, stored 1; first: row 1: n: .*integers, and text") as raised:
        data.append("t", frame, on_conflict="refuse")
    assert raised.value.stored == 1 and [item["position"] for item in raised.value.refused] == [1]
    assert data.sql("SELECT host FROM t WHERE host IS NOT NULL").to_dicts() == [{"host": "b"}]


def test_dicts_may_hold_what_json_lacks(data):
    day, noon = np.datetime64("2026-01-02"), dt.datetime(2026, 1, 2, 12)
    rows = [
        {"at": noon, "day": day, "tags": np.array(["b", "a"])},
        {"at": np.datetime64("2026-01-02T12:00:00.000001"), "day": day, "tags": ["c"]},
        {"at": np.datetime64("2026-01-02T12:00:00.5", "ns"), "day": None, "tags": None},
        {"at": np.datetime64("2026-01-02T12", "h"), "day": None, "tags": None},
        {"at": np.datetime64("NaT"), "day": pd.NaT, "tags": None},
    ]
    assert data.append("t", rows) == 5
    stored = data.sql("SELECT at, day, tags FROM t ORDER BY at NULLS LAST")
    utc = noon.replace(tzinfo=dt.timezone.utc)
    micros = [0, 0, 1, 500_000]
    assert [row["at"] for row in stored.to_dicts()] == [*(utc + dt.timedelta(microseconds=of) for of in micros), None]
    assert data.sql("SELECT tags, day FROM t WHERE day IS NOT NULL ORDER BY at").to_dicts() == [
        {"tags": ["a", "b"], "day": "2026-01-02"}, {"tags": ["c"], "day": "2026-01-02"},
    ]  # fmt: skip


def test_a_row_that_cannot_be_sent_is_named_with_what_is_stored(data):
    rows = [{"n": 1}] * 60_000
    rows[55_000] = {"n": {1, 2}}
    words = "row 55001: a value is set: .*; of the first 50000 rows 50000 are stored"
    with pytest.raises(mw.InvalidError, match=words):
        data.append("t", rows)
    assert data.ask("t", count=True)["count"][0] == 50_000


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("abc", "str"), ({"n": 1}, "dict"), ([1], "row 1: it is int"), (7, "int"), ([{"n": object()}], "row 1: a value is object"),
    ],
)  # fmt: skip
def test_other_rows_are_refused(data, rows, words):
    with pytest.raises(mw.InvalidError, match=words):
        data.append("t", rows)
    assert "default.t" not in data.tables


def test_bad_questions(data):
    data.append("t", [{"n": 1}])
    with pytest.raises(mw.UnknownNameError, match='no table "nothing"'):
        data.ask("nothing", count=True)
    with pytest.raises(mw.UnknownNameError, match="unknown column"):
        data.ask("t", sum="m")
    with pytest.raises(mw.InvalidError, match="on_conflict is 'drop': write 'overflow' or 'refuse'"):
        data.append("t", [{"n": 2}], on_conflict="drop")
    data.append("t", [{"n": 5, "host": "a"}])
    assert data.ask("t", where="n > 2", group="host", max="n").to_dicts() == [{"host": "a", "max(n)": 5}]
    with pytest.raises(mw.InvalidError, match="unknown field `sort_by`"):
        data.ask("t", sort_by="n")
    with pytest.raises(mw.LimitError):
        mw.open(data.place, memory=1 << 20).sql(
            "SELECT a.value FROM generate_series(1, 3000000) a ORDER BY a.value * -1"
        )


def test_places(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    with pytest.raises(mw.InvalidError, match="file is a file: name the folder of the tables"):
        mw.open(tmp_path / "file")
    assert list(mw.open(tmp_path / "missing").ensembles) == []
    with pytest.raises(mw.InvalidError, match="s3://BUCKET/PREFIX"):
        mw.open("s3://")
    monkeypatch.setenv("MANYWORLDS_MIRROR", str(tmp_path))
    bucket = mw.open("s3://bucket/prefix")
    assert bucket.place == "s3://bucket/prefix"
    with pytest.raises(mw.InvalidError, match="need a folder"):
        bucket.append("t", [{"n": 1}])
