"""Every failure is an exception of its class."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from conftest import serving

import manyworlds as mw

GAME = "game-017"


@pytest.mark.parametrize(
    ("error", "bases"),
    [
        (mw.InvalidError, (ValueError,)),
        (mw.UnknownNameError, (KeyError,)),
        (mw.ExistsError, ()),
        (mw.LimitError, ()),
        (mw.TooFewWorldsError, ()),
        (mw.RefusedRowsError, (mw.InvalidError, ValueError)),
        (mw.DamagedError, ()),
        (mw.ModelError, ()),
        (mw.StorageError, (OSError,)),
        (mw.AccessError, (PermissionError,)),
        (mw.ForkedError, (RuntimeError,)),
    ],
)
def test_errors_are_those_of_python_too(error, bases):
    assert issubclass(error, (mw.Error,)) and all(issubclass(error, base) for base in bases)
    assert str(error("no entity")) == "no entity"


def spoil(folder, pattern):
    """Overwrites files with rubbish."""
    files = list(folder.glob(pattern))
    assert files
    for file in files:
        file.write_bytes(b"PAR1" + bytes(200) + b"PAR1")


def test_damaged_outcomes_are_named(tmp_path):
    for name in ("good", "bad"):
        mw.write(name, {"x": np.arange(200) / 7}, tmp_path)
    spoil(tmp_path, "sim/outcomes/ensemble=bad/**/*.parquet")
    data = mw.open(tmp_path)
    with pytest.raises(mw.DamagedError, match="ensemble=bad"):
        data.ensembles["bad"].outcome("x")
    assert data.ensembles["good"].outcome("x").worlds == 200


def test_a_damaged_description_hides_no_other_ensemble(tmp_path):
    for name in ("good", "bad"):
        mw.write(name, {"x": np.arange(200)}, tmp_path)
    spoil(tmp_path, "sim/ensembles/ensemble=bad/**/*.parquet")
    data = mw.open(tmp_path)
    with pytest.raises(mw.DamagedError, match='"bad"'):
        data.ensembles["bad"]
    listed = {summary["ensemble"]: summary for summary in data.ensembles.summaries()}
    assert listed["bad"]["state"] == "unreadable" and "bad" in listed["bad"]["error"]
    assert listed["good"]["state"] == "complete" and data.ensembles["good"].worlds == 200
    with pytest.raises(mw.DamagedError, match='"bad"'):
        data.sql("SELECT * FROM worlds('bad', 'all')")


def test_damaged_rows_are_named(tmp_path):
    data = mw.open(tmp_path)
    data.append("many", pl.DataFrame({"n": range(200_000)}))
    spoil(tmp_path, "**/many/**/*.parquet")
    with pytest.raises(mw.DamagedError):
        data.ask("many", sum="n")


def test_limits(season, tmp_path):
    with pytest.raises(mw.LimitError, match="1001 legs and conditions in one question are too many, 1000 at most"):
        season.probability(*["home_won"] * 1001, entity=GAME)
    data = mw.open(tmp_path, memory=1 << 20)
    data.append("many", pl.DataFrame({"n": range(200_000)}))
    with pytest.raises(mw.LimitError, match="memory"):
        data.ask("many", group="n", count=True)


def test_too_few_worlds_say_how_many_are_needed(season, remote):
    given = "home_margin > 10"
    matched = int((season[GAME].worlds("home_margin") > 10).sum())
    assert 0 < matched < 150
    for place in (season, remote.ensembles["season"]):
        with pytest.raises(mw.TooFewWorldsError) as raised:
            place[GAME].probability("home_won", given=given, min_worlds=150)
        few = raised.value
        assert (few.matched, few.worlds, few.minimum) == (matched, 200, 150)
        assert few.needed is not None and few.needed >= 150 * 200 / matched
        with pytest.raises(mw.TooFewWorldsError) as raised:
            place[GAME].probability("home_won", given="home_margin > 90")
        assert raised.value.needed is None


class Broken(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue({"a": {"x": mw.number()}}, ["a-1"])

    def simulate(self, p, worlds, emit):
        # The first world alone is played before the ensemble has its name.
        if 1 in worlds.numbers:
            raise RuntimeError("no dice")
        emit("a-1", x=np.zeros(len(worlds)))


def test_an_ensemble_without_worlds_has_too_few(tmp_path):
    with pytest.raises(mw.ModelError, match="no dice"):
        mw.run(Broken(), 10, data=tmp_path, range_worlds=10)
    empty = mw.open(tmp_path).ensembles["broken"]
    with pytest.raises(mw.TooFewWorldsError, match='ensemble "broken" has no completed worlds yet'):
        empty.compare(empty, "x")


def test_words_of_a_model_that_is_not_at_hand(tmp_path):
    queue = mw.write("queue", {"x": np.arange(200)}, tmp_path)
    with pytest.raises(mw.ModelError, match="its model, which may know these words, cannot be asked"):
        queue.probability("x > 3", given="long before noon")


def test_a_server_refuses_what_a_token_may_not_do(tmp_path):
    data = tmp_path / "data"
    mw.open(data).append("rows", [{"ms": 1}])
    with serving(data, tmp_path, "--question-seconds", "1") as (url, token):
        create = [sys.executable, "-m", "manyworlds", "token", "create", "--token-file", str(tmp_path / "tokens"), "--read", "reader"]
        reader = mw.connect(url, subprocess.run(create, check=True, capture_output=True, text=True).stdout.split()[-1])
        assert reader.ask("rows", count=True)["count"].tolist() == [1]
        with pytest.raises(mw.AccessError, match="may not write"):
            reader.append("rows", [{"ms": 1}])
        endless = "SELECT sum(a.value * b.value % 7) AS s FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b"
        with pytest.raises(mw.LimitError, match="longer than 1 s"):
            reader.sql(endless)
