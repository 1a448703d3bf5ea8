"""Tables of inserted rows, in every Parquet layout and after upkeep, read alike in readers that we did not write."""

import json
import os
import subprocess

import deltalake
import duckdb
import polars
import pyarrow.compute as compute
import pytest

ROWS = 20_000


def manyworlds(*words):
    """Runs the program and reads the JSON that it prints."""
    output = subprocess.run([os.environ["MANYWORLDS"], *words, "--format", "json"], check=True, capture_output=True)
    return json.loads(output.stdout)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A file of calls, a fifth of whose notes are missing."""
    path = tmp_path_factory.mktemp("rows") / "calls.csv"
    with open(path, "w", encoding="utf-8") as file:
        file.write("id,at,phone,tower,price,note\n")
        for i in range(ROWS):
            note = "" if i % 5 == 0 else f"é{i % 7}"
            minute = i % 1440
            file.write(f"{i},2025-10-01T{minute // 60:02}:{minute % 60:02}:00,+1-{i * 7919 % 500_000:010},{i * 31 % 997},{i / 8},{note}\n")
    return path


def readings(root):
    """Count, sums and NULLs, by three readers of the files that the log names."""
    delta = deltalake.DeltaTable(str(root))
    arrow = delta.to_pyarrow_table()
    by_arrow = (
        len(arrow),
        compute.sum(arrow["id"]).as_py(),
        compute.sum(arrow["price"]).as_py(),
        compute.sum(compute.utf8_length(arrow["phone"])).as_py(),
        arrow["note"].null_count,
        compute.max(arrow["at"]).as_py().timestamp(),
    )
    by_duckdb = duckdb.sql(
        "select count(*), sum(id), sum(price), sum(length(phone)), count(*) - count(note), epoch(max(\"at\"))"
        f" from read_parquet({delta.file_uris()!r})"
    ).fetchall()[0]
    by_polars = (
        polars.scan_delta(str(root))
        .select(
            polars.len(),
            polars.col("id").sum(),
            polars.col("price").sum(),
            polars.col("phone").str.len_chars().cast(polars.Int64).sum(),
            polars.col("note").null_count(),
            polars.col("at").max(),
        )
        .collect()
        .row(0)
    )
    by_polars = (*by_polars[:5], by_polars[5].timestamp())
    assert by_arrow == tuple(by_duckdb) == by_polars
    # A filter that any of them uses must not lose the row that is looked for.
    files = delta.file_uris()
    found = duckdb.sql(f"select count(*) from read_parquet({files!r}) where phone = '+1-0000007919'").fetchall()[0][0]
    assert found == polars.scan_delta(str(root)).filter(polars.col("phone") == "+1-0000007919").collect().height == 1
    return by_arrow


@pytest.mark.parametrize("layout", ["column", "pruned", "clustered"])
def test_rows_read_alike_before_and_after_upkeep(rows, layout, tmp_path):
    options = {
        "column": ["--layout", "column"],
        "pruned": ["--bloom", "phone,id"],
        "clustered": ["--cluster", "tower,at", "--bloom", "phone,id", "--lookup", "phone,tower"],
    }[layout]
    data = ["--data", str(tmp_path)]
    root = tmp_path / "default" / "calls"
    manyworlds("table", "insert", "calls", str(rows), "--batch-rows", "3000", *options, *data)
    expected = readings(root)
    assert expected[:2] == (ROWS, ROWS * (ROWS - 1) // 2)
    manyworlds("table", "cluster" if layout == "clustered" else "compact", "calls", *data)
    assert readings(root) == expected
    # What others clean up are segments: look-ups are left to our own clean-up, which takes those of no segment.
    cleaned = deltalake.DeltaTable(root).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=True)
    assert cleaned and all("_lookup" not in name for name in cleaned)
    manyworlds("table", "vacuum", "calls", "--retain", "0", "--apply", *data)
    assert readings(root) == expected
    names = [{path.stem for path in root.glob(pattern)} for pattern in ("*.parquet", "_lookup/*")]
    assert names[1] == (names[0] if layout == "clustered" else set())


@pytest.mark.parametrize("layout", ["column", "pruned", "clustered"])
def test_rows_read_alike_after_a_change_of_layout_and_a_deletion(rows, layout, tmp_path):
    options = {
        "column": ["--layout", "column"],
        "pruned": ["--layout", "pruned", "--bloom", "phone,id"],
        "clustered": ["--layout", "clustered", "--cluster", "tower,at", "--bloom", "phone"],
    }[layout]
    data = ["--data", str(tmp_path)]
    root = tmp_path / "default" / "calls"
    before = ["--layout", "pruned" if layout == "column" else "column"]
    manyworlds("table", "insert", "calls", str(rows), "--batch-rows", "3000", *before, *data)
    expected = readings(root)
    manyworlds("table", "rewrite", "calls", *options, *data)
    assert readings(root) == expected
    manyworlds("table", "vacuum", "calls", "--retain", "0", "--apply", *data)
    assert readings(root) == expected
    manyworlds("table", "delete", "calls", "--where", "note IS NULL OR id >= 15000", "--apply", *data)
    after = readings(root)
    left = [i for i in range(15_000) if i % 5]
    assert after[:3] == (len(left), sum(left), sum(left) / 8) and after[4] == 0


def members(root):
    """The set of every row by its number, by three readers of the files that the log names."""
    delta = deltalake.DeltaTable(str(root))
    arrow = delta.to_pyarrow_table()
    by_arrow = dict(zip(arrow["id"].to_pylist(), arrow["groups"].to_pylist()))
    assert len(arrow) == len(by_arrow)
    by_duckdb = dict(duckdb.sql(f"select id, groups from read_parquet({delta.file_uris()!r})").fetchall())
    by_polars = dict(polars.scan_delta(str(root)).select("id", "groups").collect().rows())
    assert by_arrow == by_duckdb == by_polars
    # Nor do statistics that any of them uses lose a row.
    nothing = polars.scan_delta(str(root)).filter(polars.col("groups").is_null()).collect().height
    assert nothing == sum(groups is None for groups in by_arrow.values())
    return by_arrow


@pytest.mark.parametrize("layout", ["column", "pruned", "clustered"])
def test_sets_read_alike_and_other_writers_add_to_them(layout, tmp_path):
    expected = {}
    for i in range(ROWS):
        groups = [f"mod{m}" for m in (2, 3, 5) if i % m == 0] + [f"é{i % 1000}"] * (i % 11 == 0)
        expected[i] = None if i % 17 == 0 else groups
    path = tmp_path / "tagged.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        for i, groups in expected.items():
            file.write(json.dumps({"id": i, "groups": groups}) + "\n")
    data = ["--data", str(tmp_path / "data")]
    root = tmp_path / "data" / "default" / "tagged"
    options = ["--cluster", "id"] if layout == "clustered" else ["--layout", layout]
    manyworlds("table", "insert", "tagged", str(path), "--batch-rows", "3000", *options, *data)
    assert members(root) == expected
    manyworlds("table", "cluster" if layout == "clustered" else "compact", "tagged", *data)
    assert members(root) == expected
    # Rows of another writer, in whose files lists are called otherwise.
    more = polars.DataFrame({"id": [ROWS, ROWS + 1, ROWS + 2], "groups": [["x", "y"], [], None]})
    deltalake.write_deltalake(str(root), more.to_arrow(), mode="append")
    expected |= dict(more.rows())
    assert members(root) == expected
    sql = "SELECT count(*) AS rows, count(groups) AS sets, sum(cardinality(groups)) AS members FROM tagged"
    sets = [groups for groups in expected.values() if groups is not None]
    counted = [{"rows": len(expected), "sets": len(sets), "members": sum(map(len, sets))}]
    assert manyworlds("sql", sql, *data) == counted
    manyworlds("table", "compact", "tagged", *data)
    assert members(root) == expected and manyworlds("sql", sql, *data) == counted
    manyworlds("table", "delete", "tagged", "--where", "array_has(groups, 'mod2')", "--apply", *data)
    assert members(root) == {i: groups for i, groups in expected.items() if not groups or "mod2" not in groups}
