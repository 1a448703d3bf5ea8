"""Answers about ensembles, against the stored values and the commands."""

import json
import math
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path

import arviz
import numpy as np
import polars as pl
import pytest
import xarray as xr

import manyworlds as mw

GAME = "game-017"


def command(folder, *words):
    """What the command answers."""
    run = [sys.executable, "-m", "manyworlds", *words, "--data", str(folder), "--format", "json"]
    return json.loads(subprocess.run(run, check=True, capture_output=True).stdout)


def test_arrays_hold_the_stored_values_without_a_copy(season):
    game = season[GAME]
    margin = game.worlds("home_margin")
    assert margin.dtype == np.int64 and margin.shape == (season.worlds,)
    assert not margin.flags.owndata and not margin.flags.writeable
    assert np.shares_memory(margin, game.worlds("home_margin"))
    rows = season.sql(f"SELECT world, value FROM outcomes WHERE entity = '{GAME}' AND outcome = 'home_margin' ORDER BY world")
    assert rows["world"].tolist() == season.world_numbers().tolist()
    assert rows["value"].tolist() == margin.tolist()
    won = game.worlds("home_won")
    assert won.dtype == bool and won.tolist() == (margin > 0).tolist()


def test_sums_of_arrays_do_not_overflow(season):
    points = season[GAME].worlds("total_points")
    assert (points * 1_000_000_000).max() == int(points.max()) * 1_000_000_000


def test_arrays_outlive_their_ensemble(folder):
    margin = mw.open(folder).ensembles["season"][GAME].worlds("home_margin")
    expected = mw.open(folder).ensembles["season"][GAME].worlds("home_margin").tolist()
    assert margin.tolist() == expected


def test_probabilities_are_those_of_the_command(folder, season):
    game = season[GAME]
    found = game.probability("home_margin > 3", "total_points > 40", given="game-018:home_won", min_worlds=10)
    margin, points = game.worlds("home_margin"), game.worlds("total_points")
    given = season["game-018"].worlds("home_won")
    assert (found.worlds, found.hits) == (given.sum(), ((margin > 3) & (points > 40) & given).sum())
    assert float(found) == found.hits / found.worlds and found.fair_odds == 1 / float(found)
    answer = command(
        folder, "price", "season", "--entity", GAME, "--condition", "home_margin > 3", "--condition", "total_points > 40",
        "--given", "game-018:home_won", "--min-worlds", "10",
    )
    assert (answer["hits"], answer["ci"]) == (found.hits, [found.ci.low, found.ci.high])
    assert [c.text for c in found.conditions] == ["home_margin > 3", "total_points > 40"]
    assert season.price("game-017:home_margin > 3").probability == np.mean(margin > 3)
    assert "home_margin &gt; 3" in found._repr_html_()


def test_distributions_are_exact(season):
    margin = np.sort(season[GAME].worlds("home_margin"))
    found = season.outcome(GAME, "home_margin")
    assert (found.worlds, found.min, found.max) == (len(margin), margin[0], margin[-1])
    assert math.isclose(found.mean, margin.mean()) and math.isclose(found.standard_deviation, margin.std())
    for p in (0.0, 0.004, 0.25, 0.5, 0.9, 1.0):
        assert found.quantile(p) == margin[max(math.ceil(p * len(margin)), 1) - 1], p
    several = found.quantile(np.array([[0.9, 0.1], [0.0, 1.0]]))
    assert several.tolist() == [[found.quantile(0.9), found.quantile(0.1)], [margin[0], margin[-1]]]
    values, shares = found.cdf()
    assert values.tolist() == np.unique(margin).tolist() and shares[-1] == 1.0
    assert sum(b.worlds for b in found.histogram) == len(margin)
    for share in (1.5, [0.5, -0.1], math.nan, "half"):
        with pytest.raises(mw.InvalidError, match="a quantile's share is .*: give a number from 0 to 1"):
            found.quantile(share)


def test_conditions_and_flags_are_numbers(season):
    game = season[GAME]
    home, away, won = (game.worlds(name) for name in ("home_points", "away_points", "home_won"))
    for text, expected in {
        "(home_points > 20) + (away_points > 20)": (home > 20).astype(int) + (away > 20),
        "10 * (home_points > 20) - home_won": 10 * (home > 20) - won.astype(int),
        "0.1 * home_points + 3 * (home_points >= 30 and not home_won)": home / 10 + 3 * ((home >= 30) & ~won),
        # A comparison takes the whole sum.
        "home_points > 20 + home_won": home > 20 + won,
    }.items():
        whole = re.sub(r"\b(home|away)_", f"{GAME}:\\1_", text)
        assert np.allclose(season.array(whole), expected), text
        assert math.isclose(game.outcome(text).mean, np.mean(expected)), text
        [same] = season.compare(season, whole)
        assert same.is_paired and same.difference == 0
    found = game.correlate("(home_points > 20) + (away_points > 20)", "home_points")
    expected = np.corrcoef((home > 20).astype(int) + (away > 20), home)
    assert np.allclose(found.matrix(), expected, atol=1e-5)
    assert game.probability("(home_points > 20) + (away_points > 20) = 1").probability == np.mean((home > 20) != (away > 20))
    with pytest.raises(mw.InvalidError, match="put a condition that is an argument in parentheses"):
        game.outcome("max(home_points > 20, 1)")


def test_correlations_and_comparisons(season):
    game = season[GAME]
    found = game.correlate("home_points", "away_points", "home_margin")
    expected = np.corrcoef([game.worlds(name) for name in found.outcomes])
    assert np.allclose(found.matrix(), expected, atol=1e-5)
    assert found["home_points", "home_margin"] == found.matrix()[0, 2]
    [same] = season.compare(season, "game-017:home_margin")
    assert same.is_paired and same.difference == 0 and same.shares == (0.0, 1.0, 0.0)


def test_verify_finds_what_was_stored(season):
    found = season.verify()
    assert found and found.hash and all(check.ok is not False for check in found.checks)


def test_events_of_worlds(season):
    one = season.events(GAME, 3)
    assert set(one["world"].tolist()) == {3}
    some = season[GAME].events(range(3, 6), where="play_type = 'pass'")
    assert set(some["world"].tolist()) == {3, 4, 5} and set(some["play_type"]) == {"pass"}
    assert len(season.events(GAME, (3, 3))) == len(one)
    with pytest.raises(ValueError, match="step 1"):
        season.events(GAME, range(0, 9, 2))


def test_sql_of_an_ensemble_sees_it_alone(folder, season):
    subprocess.run(
        [sys.executable, "-m", "manyworlds", "run", "football", "--worlds", "2", "--name", "other", "--events", "replay", "--data", str(folder)],
        check=True, capture_output=True,
    )  # fmt: skip
    try:
        assert season.sql("SELECT ensemble FROM ensembles").to_dicts() == [{"ensemble": "season"}]
        data = mw.open(folder)
        assert set(data.ensembles) == {"season", "other"} and len(data.ensembles) == 2
        assert data.sql("SELECT count(*) AS n FROM ensembles")["n"].tolist() == [2]
        assert data.ensembles["other"].worlds == 2
    finally:
        subprocess.run([sys.executable, "-m", "manyworlds", "drop", "other", "--data", str(folder)], check=True, capture_output=True)


def test_lazy_frames_read_what_is_asked(season):
    frame = season.lazy("game").select("entity", "world", "home_margin").filter(pl.col("home_margin") > 20).collect()
    expected = sum(int((season[name].worlds("home_margin") > 20).sum()) for name in season if name.startswith("game-"))
    assert frame.columns == ["entity", "world", "home_margin"] and len(frame) == expected
    assert season.lazy("game").select("entity").head(3).collect().to_dict(as_series=False) == {"entity": ["game-001"] * 3}
    with pytest.raises(mw.UnknownNameError, match="game, "):
        season.lazy()


def test_a_lazy_frame_reads_the_columns_in_use_only(tmp_path):
    rng, names = np.random.default_rng(1), [f"x {n}" for n in range(40)]
    mw.write("wide", {name: rng.normal(size=20_000) for name in names}, tmp_path)

    def read(ask):
        """Bytes of files that a new handle reads."""
        wide = mw.open(tmp_path).ensembles["wide"]
        before = read_bytes()
        found = ask(wide.lazy()).collect()
        return read_bytes() - before, found

    everything, all_columns = read(lambda frame: frame)
    one, column = read(lambda frame: frame.select("x 7"))
    nothing, worlds = read(lambda frame: frame.select("world", "entity"))
    assert all_columns.shape == (20_000, 42) and worlds["world"].to_list() == list(range(20_000))
    assert column["x 7"].to_list() == all_columns["x 7"].to_list()
    assert everything > 40 * 20_000 * 6 and one < everything / 20 and nothing < one / 2


def read_bytes():
    return int(re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text())[1])


def test_a_lazy_frame_reads_no_more_entities_than_rows(season, monkeypatch):
    read, arrays = [], type(season._backend).arrays
    monkeypatch.setattr(type(season._backend), "arrays", lambda self, entities, names: read.append(*entities) or arrays(self, entities, names))
    found = season.lazy("game").select("home_margin").head(250).collect()
    both = [*season["game-001"].worlds("home_margin"), *season["game-002"].worlds("home_margin")]
    assert found["home_margin"].to_list() == both[:250] and read[:2] == ["game-001", "game-002"] and len(read) - 2 == 2


def test_an_ensemble_keeps_its_worlds(tmp_path):
    old = mw.write("queue", {"wait time": np.arange(5), "late": np.arange(5) % 2 == 0}, tmp_path)
    new = mw.write("queue", {"wait time": np.arange(7), "late": np.arange(7) % 2 == 0}, tmp_path, append=True)
    for ensemble, worlds in ((old, 5), (new, 12)):
        entity = ensemble["all"]
        assert len(entity.worlds("wait time")) == len(entity.table()) == len(ensemble.lazy().collect()) == worlds
        assert ensemble.to_xarray().sizes["world"] == len(ensemble.world_numbers()) == worlds
        assert ensemble.sql("SELECT count(*) AS n FROM worlds('queue', 'all')")["n"].tolist() == [worlds]
    assert old.lazy().select("entity").collect()["entity"].to_list() == ["all"] * 5


def test_xarray_and_arviz(season):
    worlds = season.to_xarray("game", ["home_margin"])
    assert worlds.home_margin.dims == ("entity", "world")
    assert worlds.home_margin.sel(entity=GAME).values.tolist() == season[GAME].worlds("home_margin").tolist()


def test_both_forms_of_arviz(season, monkeypatch):
    old = season.to_arviz("game", ["home_margin"])
    means = arviz.summary(old, group="posterior_predictive", coords={"entity": GAME}, kind="stats")["mean"]
    assert means.iloc[0] == pytest.approx(season[GAME].outcome("home_margin").mean, abs=0.001)
    monkeypatch.setitem(sys.modules, "arviz", None)
    tree = season.to_arviz("game", ["home_margin"])
    assert isinstance(tree, xr.DataTree)
    assert dict(tree["posterior_predictive"].sizes) == {"chain": 1, "draw": season.worlds, "entity": 288}


def test_handles_are_pickled(season):
    copy = pickle.loads(pickle.dumps(season))
    assert (copy.name, copy.version) == (season.name, season.version)
    assert copy[GAME].worlds("home_margin").tolist() == season[GAME].worlds("home_margin").tolist()


def test_a_handle_is_of_one_version(tmp_path):
    kept = pickle.dumps(mw.write("queue", {"x": np.arange(5)}, tmp_path))
    assert pickle.loads(kept)["all"].worlds("x").tolist() == [0, 1, 2, 3, 4]
    mw.write("queue", {"x": np.arange(3)}, tmp_path, replace=True)
    with pytest.raises(mw.UnknownNameError, match="ensemble 'queue' has no version 1: it was replaced or dropped"):
        pickle.loads(kept)


def test_an_unpickled_handle_sees_newer_worlds(tmp_path):
    old = mw.write("queue", {"x": np.arange(5)}, tmp_path)
    kept = pickle.dumps((old, old["all"]))
    mw.write("queue", {"x": np.arange(3)}, tmp_path, append=True)
    copy, entity = pickle.loads(kept)
    assert (copy.version, copy.worlds, old.worlds) == (old.version, 8, 5)
    assert copy.world_numbers().tolist() == list(range(8))
    assert entity.worlds("x").tolist() == [0, 1, 2, 3, 4, 0, 1, 2] and old["all"].worlds("x").tolist() == [0, 1, 2, 3, 4]


def test_answers_are_pickled(season):
    game = season[GAME]
    answers = [
        game.outcome("home_margin"), game.probability("home_won"), game.correlate("home_points", "away_points"), season.verify(),
        season.compare(season, "game-017:home_margin"), season.book([{"legs": "home_won", "stake": 1, "odds": 2}], entity=GAME),
    ]  # fmt: skip
    for answer, copy in zip(answers, pickle.loads(pickle.dumps(answers))):
        assert copy == answer and copy._repr_html_() == answer._repr_html_()
    # The copy needs no ensemble.
    assert pickle.loads(pickle.dumps(answers[0])).quantile(0.9) == answers[0].quantile(0.9)


def test_threads_share_an_ensemble(season):
    found = []
    ask = lambda: found.extend(season.probability("game-017:home_won").hits for _ in range(50))  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(found) == 200 and len(set(found)) == 1


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda s: s["game-999"], mw.UnknownNameError, "did you mean game-"),
        (lambda s: s[GAME].worlds("home_margn"), mw.UnknownNameError, "did you mean home_margin"),
        (lambda s: s.probability("home_margin >", entity=GAME), mw.InvalidError, "expected"),
        (lambda s: s.probability(entity=GAME), mw.InvalidError, "no condition"),
        (lambda s: s.probability("home_won"), mw.InvalidError, "home_won"),
        (lambda s: s.probability("home_won", entity=GAME, given="home_margin > 90"), mw.TooFewWorldsError, "0 of 200"),
        (lambda s: s.outcome(GAME, "nothing"), mw.UnknownNameError, "no outcome"),
        (lambda s: s.events(GAME, 200), mw.InvalidError, "does not store world 200"),
        (lambda s: s.sql("DROP TABLE outcomes"), mw.InvalidError, "only queries"),
        (lambda s: s.sql("SELECT nothing FROM outcomes"), mw.UnknownNameError, "nothing"),
        (lambda s: s._data.ensembles["nothing"], mw.UnknownNameError, "there are: season"),
    ],
)
def test_errors_are_classes_with_the_usual_words(season, ask, error, words):
    with pytest.raises(error, match=words) as raised:
        ask(season)
    assert isinstance(raised.value, mw.Error)
    if error is mw.TooFewWorldsError:
        assert (raised.value.matched, raised.value.worlds, raised.value.minimum) == (0, 200, 100)
