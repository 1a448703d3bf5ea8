"""Numbers computed elsewhere: equal to the bit after the round trip, or refused with their place."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import manyworlds as mw

REALS = np.array([0.1, -0.0, 5e-324, np.inf, -np.inf, np.nan, 1e308, 1 / 3])


def test_every_dtype_is_read_back(tmp_path):
    n = len(REALS)
    given = {
        "real": REALS,
        "single": REALS[:4].repeat(2).astype(np.float32),
        "flag": np.arange(n) % 2 == 0,
        "small": np.arange(n, dtype=np.int8) - 4,
        "wide": np.arange(n, dtype=np.int64) * 100_000_000,
        "unsigned": np.arange(n, dtype=np.uint16),
        "money": np.round(np.arange(n) * 1.37, 2),
        "text": np.array(list("abcabcab"), dtype=object),
    }
    ens = mw.write("all-types", given, tmp_path)
    entity = ens["all"]
    for name in ("real", "single"):
        stored = entity.worlds(name)
        assert stored.dtype == np.float64 and stored.tobytes() == given[name].astype(np.float64).tobytes(), name
    for name in ("flag", "small", "wide", "unsigned", "money"):
        assert entity.worlds(name).tolist() == given[name].tolist(), name
    assert entity.worlds("flag").dtype == bool and entity.worlds("money").dtype == np.float64
    assert [entity.labels("text")[code] for code in entity.worlds("text")] == given["text"].tolist()
    assert ens.verify() and entity.probability("text = 'a'", min_worlds=1).hits == 3


def test_all_forms_are_one_ensemble(tmp_path):
    rng = np.random.default_rng(2)
    values = {f"team-{t}": {"points": rng.integers(0, 50, 40), "speed": rng.normal(size=40)} for t in range(3)}
    long = [
        {"world": w, "entity": e, "outcome": o, "value": float(v)}
        for e, outcomes in values.items() for o, array in outcomes.items() for w, v in enumerate(array)
    ]  # fmt: skip
    wide = pd.concat(
        [pd.DataFrame({"world": range(40), "entity": e, **outcomes}) for e, outcomes in values.items()]
    ).sample(frac=1, random_state=3)
    stack = lambda o: (("entity", "world"), np.stack([values[e][o] for e in values]))  # noqa: E731
    dataset = xr.Dataset({o: stack(o) for o in ("points", "speed")}, {"entity": list(values)})
    hashes = {
        mw.write(f"form-{place}", form, tmp_path).verify().hash
        for place, form in enumerate([values, wide, pl.from_pandas(wide), pl.DataFrame(long), dataset])
    }
    assert len(hashes) == 1


def test_posterior_draws(tmp_path):
    rng = np.random.default_rng(4)
    posterior = xr.Dataset(
        {"mu": (("chain", "draw"), rng.normal(size=(2, 50))), "theta": (("chain", "draw", "school"), rng.normal(size=(2, 50, 3)))},
        {"school": ["a", "b", "c"]},
    )
    ens = mw.write("posterior", posterior, tmp_path)
    assert sorted(ens["all"].outcomes) == ["mu", "theta[a]", "theta[b]", "theta[c]"] and ens.worlds == 100
    assert ens["all"].worlds("theta[b]").tolist() == posterior.theta.sel(school="b").values.reshape(-1).tolist()
    assert ens["all"].worlds("mu").tolist() == posterior.mu.values.reshape(-1).tolist()


def test_worlds_are_added_and_replaced(tmp_path):
    first = mw.write("e", {"x": np.arange(10)}, tmp_path)
    with pytest.raises(mw.ExistsError, match="exists already"):
        mw.write("e", {"x": np.arange(10)}, tmp_path)
    longer = mw.write("e", {"x": np.arange(10, 25)}, tmp_path, append=True)
    assert longer["all"].worlds("x").tolist() == list(range(25)) and first.worlds == 10
    replaced = mw.write("e", {"y": np.arange(3.5, 6)}, tmp_path, replace=True, kinds={"y": "real"})
    assert replaced["all"].worlds("y").tolist() == [3.5, 4.5, 5.5]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"x": np.arange(3), "y": np.arange(4)}, "length"),
        ({"x": np.zeros((2, 2))}, "x has 2 dimensions"),
        ({"x": np.array([1 + 2j])}, "x has the type complex128"),
        ({"x": np.array([object()])}, "neither numbers nor texts"),
        ({"x": np.array([1 << 60])}, "x"),
        ({}, "give arrays by outcome"),
        (7, "the values are int"),
        (pl.DataFrame({"x": [1, None]}), r"row 2, column \"x\": the value is missing"),
        (pl.DataFrame({"world": [0, 1, 1], "x": [1, 2, 3]}), "row 3.*world 1 of .* is repeated"),
        (pl.DataFrame({"world": [0, 2], "x": [1, 2]}), "world 1 of .* is missing"),
        (pl.DataFrame({"x": []}, schema={"x": pl.Int64}), "no rows"),
        (xr.Dataset({"x": (("a",), [1, 2])}), "name one world, or chain and draw"),
    ],
)
def test_numbers_that_cannot_be_stored(tmp_path, values, words):
    with pytest.raises(mw.InvalidError, match=words):
        mw.write("bad", values, tmp_path)
    assert all(summary["worlds"] == 0 for summary in mw.open(tmp_path).ensembles.summaries())


def test_numbers_that_are_not_finite_are_floats(tmp_path):
    ens = mw.write("nans", {"x": np.array([1.5, np.nan, np.inf, 0.1])}, tmp_path)
    found = ens.outcome("all", "x")
    assert np.isnan(found.mean) and found.min == 0.1 and np.isnan(found.max)
    assert found.quantile(0.75) == np.inf and np.isnan(found.quantile(1.0))
    assert "mean nan" in found._repr_html_()


def test_entities_may_have_different_outcomes(tmp_path):
    teams = {f"team-{n}": {"points": np.arange(5) * n, "won": np.arange(5) % 2 == 0} for n in (1, 2)}
    ens = mw.write("cup", {**teams, "player-1": {"yards": np.linspace(0, 1, 5)}}, tmp_path)
    assert list(ens["team-2"].worlds("points")) == [0, 2, 4, 6, 8]
    assert list(ens["player-1"].worlds("yards")) == list(np.linspace(0, 1, 5))
    columns = {"team-1:points": np.arange(5), "team-1:won": np.arange(5) % 2 == 0}
    columns |= {"team-2:points": np.arange(5) * 2, "team-2:won": np.arange(5) % 2 == 0}
    by_column = mw.write("columns", columns | {"player-1:yards": np.linspace(0, 1, 5)}, tmp_path)
    assert by_column.verify().hash == ens.verify().hash


def test_repeated_appends_are_refused(tmp_path):
    mw.write("e", {"x": np.arange(4)}, tmp_path)
    with pytest.raises(mw.InvalidError, match="appended already"):
        mw.write("e", {"x": np.arange(4)}, tmp_path, append=True)
    assert mw.write("e", {"x": np.arange(4)}, tmp_path, append=True, again=True).worlds == 8
    with pytest.raises(mw.InvalidError, match="begin at 1"):
        mw.write("f", pl.DataFrame({"world": [1, 2], "x": [5, 6]}), tmp_path)
    assert mw.write("f", pl.DataFrame({"world": [1, 2], "x": [5, 6]}), tmp_path, first_world=1).worlds == 2
