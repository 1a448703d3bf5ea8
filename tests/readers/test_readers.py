"""Readers that we did not write must read our tables: counts, sums and list lengths are equal in all of them."""

import json
import os
import subprocess
import uuid

import deltalake
import duckdb
import polars
import pyarrow.compute as compute
import pyarrow.parquet
import pytest

WORLDS = 30


def manyworlds(*words):
    """Runs the program and reads the JSON that it prints."""
    output = subprocess.run([os.environ["MANYWORLDS"], *words], check=True, capture_output=True)
    return json.loads(output.stdout)


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    """A small season that was replaced once, so that the log holds removed segments too."""
    data = tmp_path_factory.mktemp("data")
    run = ["run", "football", "--name", "season", "--range-worlds", "8", "--data", str(data), "--format", "json"]
    manyworlds(*run, "--worlds", "5", "--seed", "9")
    summary = manyworlds(*run, "--worlds", str(WORLDS), "--replace")
    return data, summary


def table(data, name):
    return deltalake.DeltaTable(str(data / "sim" / name))


def duck(data, name, select):
    """One row of an aggregation by DuckDB over the files that the log names."""
    files = table(data, name).file_uris()
    return duckdb.sql(f"select {select} from read_parquet({files!r})").fetchall()[0]


def test_outcomes_read_alike(season):
    data, summary = season
    arrow = table(data, "outcomes").to_pyarrow_table(columns=["values"])["values"]
    by_arrow = (len(arrow), compute.sum(compute.list_flatten(arrow)).as_py(), compute.sum(compute.list_value_length(arrow)).as_py())
    by_duckdb = duck(data, "outcomes", "count(*), sum(list_sum(values)), sum(len(values))")
    values = polars.col("values")
    by_polars = (
        polars.scan_delta(str(data / "sim/outcomes"))
        .select(polars.len(), values.list.sum().cast(polars.Int64).sum().alias("s"), values.list.len().sum().alias("n"))
        .collect()
        .row(0)
    )
    assert by_arrow == by_duckdb == by_polars
    assert by_arrow[0] == summary["outcomes"]["rows"]
    assert by_arrow[2] == summary["outcomes"]["values"] == (288 * 850 + 32 * 54) * WORLDS


def test_events_read_alike(season):
    data, summary = season
    numbers = ["world", "number", "clock", "down", "distance", "yard_line", "yards", "air_yards", "points", "run_off"]
    words = ["entity", "offence", "play_type", "result", "passer", "player", "tackler", "foul", "time_out"]
    arrow = table(data, "events").to_pyarrow_table(columns=numbers + words)
    by_arrow = [arrow.num_rows]
    by_arrow += [compute.sum(arrow[n].cast("int64")).as_py() for n in numbers]
    by_arrow += [compute.count(arrow[w]).as_py() for w in words]
    by_arrow += [compute.count_distinct(arrow[w], mode="only_valid").as_py() for w in words]
    sums = [f"sum({n})" for n in numbers] + [f"count({w})" for w in words] + [f"count(distinct {w})" for w in words]
    by_duckdb = list(duck(data, "events", ", ".join(["count(*)", *sums])))
    frame = polars.scan_delta(str(data / "sim/events"))
    by_polars = list(
        frame.select(
            polars.len(),
            *[polars.col(n).cast(polars.Int64).sum() for n in numbers],
            *[polars.col(w).count().alias(f"count {w}") for w in words],
            *[polars.col(w).drop_nulls().n_unique().alias(f"distinct {w}") for w in words],
        )
        .collect()
        .row(0)
    )
    assert by_arrow == by_duckdb == by_polars
    assert by_arrow[0] == summary["events"]["rows"]


def test_ensembles_read_alike(season):
    data, _ = season
    columns = ["ensemble", "version", "model", "parameters", "seed", "worlds", "range_worlds", "events"]
    by_arrow = table(data, "ensembles").to_pyarrow_table(columns=columns).to_pylist()
    by_polars = polars.scan_delta(str(data / "sim/ensembles")).select(columns).collect().to_dicts()
    assert by_arrow == by_polars
    assert [(row["ensemble"], row["worlds"], row["model"]) for row in by_arrow] == [("season", WORLDS, "football")]
    assert duck(data, "ensembles", "count(*), any_value(worlds)") == (1, WORLDS)


def test_outcomes_recount_from_plays_in_sql(season):
    """An independent count: plays, aggregated by DuckDB, give the stored outcomes of every game and world."""
    data, _ = season
    plays = table(data, "events").file_uris()
    outcomes = table(data, "outcomes").file_uris()
    caught = "play_type = 'pass' and result not in ('incomplete', 'intercepted')"
    counted = {
        "home_pass_yards": f"sum(yards) filter ({caught} and offence = 'home')",
        "away_wr1_catch_yards": f"sum(yards) filter ({caught} and offence = 'away' and player = 'wr1')",
        "home_rb1_rushes": "count(*) filter (play_type in ('run', 'scramble', 'kneel') and offence = 'home' and player = 'rb1')",
        "total_sacks": "count(*) filter (play_type = 'sack')",
        "total_punts": "count(*) filter (play_type = 'punt')",
        "home_points": "max(home_score)",
        "away_points": "max(away_score)",
        "home_possession": "sum(run_off) filter (offence = 'home')",
        "total_penalties": "count(foul)",
        "total_field_goals": "count(*) filter (play_type = 'field_goal' and points = 3)",
    }
    for outcome, count in counted.items():
        different, compared = duckdb.sql(
            f"""
            with plays as (select entity, world, coalesce({count}, 0) as counted from read_parquet({plays!r}) group by all),
            stored as (
                select entity, first_world + generate_subscripts(values, 1) - 1 as world, unnest(values) as value
                from read_parquet({outcomes!r}) where outcome = '{outcome}'
            )
            select count(*) filter (counted <> value), count(*) from plays join stored using (entity, world)
            """
        ).fetchall()[0]
        assert (different, compared) == (0, 288 * WORLDS), outcome


def test_compact_events_are_no_values(tmp_path):
    """Other readers see differences under their own name, and no values; manyworlds sees the values."""
    run = ["run", "football", "--worlds", "20", "--threads", "1", "--data", str(tmp_path), "--format", "json", "--name"]
    plain, compact = manyworlds(*run, "plain"), manyworlds(*run, "compact", "--events", "compact")
    assert (compact["hash"], compact["events"]["hash"]) == (plain["hash"], plain["events"]["hash"])
    assert compact["events"]["bytes"] < 0.9 * plain["events"]["bytes"]
    columns = ["ensemble", "entity", "world", "number", "clock", "clock_residual", "yards"]
    read = table(tmp_path, "events").to_pyarrow_table(columns=columns).sort_by([(name, "ascending") for name in columns[:4]])
    of = {name: read.filter(compute.equal(read["ensemble"], name)) for name in ("plain", "compact")}
    assert of["plain"]["yards"] == of["compact"]["yards"]
    assert of["plain"]["clock_residual"].null_count == of["compact"]["clock"].null_count == plain["events"]["rows"]
    assert of["plain"]["clock"].null_count == of["compact"]["clock_residual"].null_count == 0
    # Each play begins when the one before ends, but for the first of a quarter.
    differences = compute.sum(compute.not_equal(of["compact"]["clock_residual"], 0)).as_py()
    assert differences < 0.05 * plain["events"]["rows"]


def test_copied_row_groups_read_alike(tmp_path):
    rows = polars.DataFrame({"n": range(120_000)}).with_columns(
        small=(polars.col("n") % 251 - 125).cast(polars.Int16),
        day=polars.date(2026, 1, 1) + polars.duration(days=polars.col("n") % 400),
        host=polars.format("h{}", polars.col("n") * 7919 % 97),
        load=polars.when(polars.col("n") % 5 > 0).then(polars.col("n") / 8),
    )
    folder = ["--data", str(tmp_path), "--format", "json"]
    for part, half in enumerate((rows[:60_000], rows[60_000:])):
        half.write_parquet(tmp_path / f"{part}.parquet")
        manyworlds("table", "insert", "numbers", str(tmp_path / f"{part}.parquet"), "--bloom", "host", *folder)
    assert manyworlds("table", "compact", "numbers", *folder)["segments_out"] == 1
    root = str(tmp_path / "default/numbers")
    (file,) = deltalake.DeltaTable(root).file_uris()
    metadata = pyarrow.parquet.read_metadata(file)
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [60_000, 60_000]
    assert polars.scan_delta(root).sort("n").collect().select(rows.columns).equals(rows)
    assert polars.from_arrow(pyarrow.parquet.read_table(file)).sort("n").select(rows.columns).equals(rows)
    question = "count(*), sum(n), sum(load), min(day) FROM {} WHERE host = 'h5' AND small > 0"
    ours = manyworlds("sql", f"SELECT {question.format('numbers')}", *folder)[0]
    theirs = duckdb.sql(f"SELECT {question.format(f'read_parquet({file!r})')}").fetchall()[0]
    assert [str(value) for value in ours.values()] == [str(value) for value in theirs]


@pytest.mark.skipif("MANYWORLDS_S3" not in os.environ, reason="the services do not run (scripts/services.sh start)")
def test_a_bucket_reads_alike(tmp_path, monkeypatch):
    """deltalake reads the store itself, without a mirror."""
    monkeypatch.setenv("MANYWORLDS_MIRROR", str(tmp_path))
    data = f"s3://manyworlds/readers-{uuid.uuid4().hex}"
    run = ["run", "football", "--name", "season", "--worlds", "6", "--range-worlds", "4", "--data", data]
    summary = manyworlds(*run, "--format", "json")
    outcomes = deltalake.DeltaTable(f"{data}/sim/outcomes").to_pyarrow_table(columns=["values"])["values"]
    assert len(outcomes) == summary["outcomes"]["rows"]
    assert compute.sum(compute.list_value_length(outcomes)).as_py() == summary["outcomes"]["values"]
    events = deltalake.DeltaTable(f"{data}/sim/events").to_pyarrow_table(columns=["world"])
    assert len(events) == summary["events"]["rows"]
