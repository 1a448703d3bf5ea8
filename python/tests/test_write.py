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
