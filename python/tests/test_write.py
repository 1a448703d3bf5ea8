"""Numbers computed elsewhere: equal to the bit after the round trip, or refused with their place."""

import datetime as dt
import decimal
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
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


def test_columns_have_any_names(tmp_path):
    named = {"draw": [0, 0, 1, 1], "who": ["a", "b"] * 2, "what": ["x"] * 4, "how": [1.5, 2.5, 3.5, 4.5]}
    names = {"world": "draw", "entity_column": "who", "outcome": "what", "value": "how"}
    for form in (None, "long"):
        ens = mw.write("named", pl.DataFrame(named), tmp_path, form=form, replace=form is not None, **names)
        assert ens.entities == ["a", "b"] and ens["b"].worlds("x").tolist() == [2.5, 4.5]
    # The columns of the long form, as outcomes of the wide one.
    wide = mw.write("wide", pl.DataFrame({"outcome": ["up", "down"], "value": [1.5, 2.5]}), tmp_path, form="wide")
    assert wide["all"].outcomes == ["outcome", "value"] and wide["all"].labels("outcome") == ["down", "up"]
    with pytest.raises(mw.InvalidError, match="the form is 'tall': write wide or long|the form is \"tall\""):
        mw.write("tall", {"x": np.arange(3)}, tmp_path, form="tall")


def test_texts_of_numpy(tmp_path):
    words = ["up", "down", "up"]
    for place, values in enumerate((np.array(words), np.array(words, dtype=object), np.array(words, dtype=np.dtypes.StringDType()))):
        entity = mw.write(f"texts-{place}", {"x": values}, tmp_path)["all"]
        assert [entity.labels("x")[code] for code in entity.worlds("x")] == words


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
    theta = mw.write("theta", posterior.theta, tmp_path, entity="school")
    assert theta["b"].worlds("theta").tolist() == ens["all"].worlds("theta[b]").tolist() and theta.worlds == 100


def test_worlds_are_added_and_replaced(tmp_path):
    first = mw.write("e", {"x": np.arange(10)}, tmp_path)
    with pytest.raises(mw.ExistsError, match="exists already; add worlds with append=True"):
        mw.write("e", {"x": np.arange(10)}, tmp_path)
    longer = mw.write("e", {"x": np.arange(10, 25)}, tmp_path, append=True)
    assert longer["all"].worlds("x").tolist() == list(range(25)) and first.worlds == 10
    replaced = mw.write("e", {"y": np.arange(3.5, 6)}, tmp_path, replace=True, kinds={"y": "real"})
    assert replaced["all"].worlds("y").tolist() == [3.5, 4.5, 5.5]


def test_every_form_is_appended(tmp_path):
    """Worlds that no number names follow the stored ones."""
    rng = np.random.default_rng(5)
    values = {name: {"x": rng.normal(size=30), "late": rng.random(30) < 0.5} for name in ("a", "b")}
    half = lambda part: {name: {o: array[part] for o, array in of.items()} for name, of in values.items()}  # noqa: E731
    stack = lambda of, o: np.stack([of[name][o] for name in of])  # noqa: E731
    dataset = lambda of: xr.Dataset(  # noqa: E731
        {o: (("entity", "world"), stack(of, o)) for o in ("x", "late")}, {"entity": list(of)}
    )
    draws = lambda of: xr.Dataset(  # noqa: E731
        {o: (("school", "chain", "draw"), stack(of, o).reshape(2, 3, -1)) for o in ("x", "late")}, {"school": list(of)}
    )
    trees = lambda of: xr.DataTree.from_dict({"posterior": draws(of)})  # noqa: E731
    whole = mw.write("whole", values, tmp_path).verify().hash
    for place, form in enumerate((dict, dataset, draws, trees)):
        name, by = f"form-{place}", {"entity": "school"} if form in (draws, trees) else {}
        first = mw.write(name, form(half(slice(0, 12))), tmp_path, **by)
        longer = mw.write(name, form(half(slice(12, 30))), tmp_path, append=True, **by)
        assert (first.worlds, longer.worlds) == (12, 30) and longer["b"].worlds("x").tolist() == values["b"]["x"].tolist()
        assert longer.verify().hash == whole, form


def test_worlds_with_numbers_are_checked(tmp_path):
    numbered = lambda worlds: xr.Dataset(  # noqa: E731
        {"x": (("entity", "world"), np.array([worlds, worlds]))}, {"entity": ["a", "b"], "world": worlds}
    )
    arrays = lambda worlds: {name: {"x": np.array(worlds), "world": np.array(worlds)} for name in ("a", "b")}  # noqa: E731
    for name, form in (("dataset", numbered), ("arrays", arrays)):
        mw.write(name, form([1, 0, 2]), tmp_path)
        with pytest.raises(mw.InvalidError, match='column "world": world 0 is stored already: continue with world 3'):
            mw.write(name, form([0, 1, 2]), tmp_path, append=True)
        longer = mw.write(name, form([4, 3]), tmp_path, append=True)
        assert longer["b"].worlds("x").tolist() == [0, 1, 2, 3, 4], name
    kinds = {"a": {"x": np.arange(3), "world": [2, 0, 1]}, "b": {"y": np.arange(3) / 2, "world": np.array([2, 0, 1])}}
    mixed = mw.write("kinds", kinds, tmp_path)
    assert mixed["a"].worlds("x").tolist() == [1, 2, 0] and mixed["b"].worlds("y").tolist() == [0.5, 1.0, 0.0]
    for other in ({"y": np.arange(3)}, {"y": np.arange(3), "world": [0, 1, 2]}):
        with pytest.raises(mw.InvalidError, match="a and b have different worlds"):
            mw.write("other", {**kinds, "b": other}, tmp_path)


def draws(names, worlds=(2, 20), seed=6):
    """Draws for three schools; those of `mu` are shared."""
    rng = np.random.default_rng(seed)
    dims = lambda name: ("chain", "draw") if name == "mu" else ("chain", "draw", "school")  # noqa: E731
    size = lambda name: worlds if name == "mu" else (*worlds, 3)  # noqa: E731
    return xr.Dataset({n: (dims(n), rng.normal(size=size(n))) for n in names}, {"school": ["a", "b", "c"]})


class Groups(dict):
    """The form of InferenceData, of ArviZ before 1.0: groups are Datasets."""

    def groups(self):
        return list(self)


@pytest.mark.parametrize("form", [xr.DataTree.from_dict, Groups])
def test_groups_of_arviz(tmp_path, form):
    posterior, predictive = draws(["mu", "theta"]), draws(["y"], seed=7)
    others = {"observed_data": xr.Dataset({"y": ("school", [1.0, 2.0, 3.0])}), "sample_stats": draws(["mu"])}
    both = form({"posterior": posterior, "posterior_predictive": predictive, **others})
    ens = mw.write("both", both, tmp_path, entity="school")
    assert ens.entities == ["a", "b", "c"] and ens["b"].outcomes == ["mu", "theta", "y"] and ens.worlds == 40
    for name, dataset in (("mu", posterior), ("theta", posterior), ("y", predictive)):
        array = dataset[name].sel(school="b") if name != "mu" else dataset[name]
        assert ens["b"].worlds(name).tolist() == array.values.reshape(-1).tolist()
    alone = mw.write("alone", form({"posterior": posterior, **others}), tmp_path)
    assert alone.entities == ["all"] and alone["all"].outcomes == ["mu", "theta[a]", "theta[b]", "theta[c]"]
    assert mw.write("predictive", form({"posterior_predictive": predictive}), tmp_path, entity="school")["a"].outcomes == ["y"]
    with pytest.raises(mw.InvalidError, match="the groups are observed_data, sample_stats, and only posterior and"):
        mw.write("bad", form(others), tmp_path)
    with pytest.raises(mw.InvalidError, match="both posterior and posterior_predictive have mu, theta: rename"):
        mw.write("bad", form({"posterior": posterior, "posterior_predictive": posterior}), tmp_path)
    with pytest.raises(mw.InvalidError, match="different coordinates, so give one group"):
        mw.write("bad", form({"posterior": posterior, "posterior_predictive": draws(["y"], (2, 30))}), tmp_path)


def test_one_group_of_a_tree(tmp_path):
    tree = xr.DataTree.from_dict({"posterior": draws(["mu"]), "prior": draws(["theta"])})
    assert mw.write("prior", tree["prior"], tmp_path, entity="school")["c"].outcomes == ["theta"]


def test_ensembles_are_written_again(tmp_path, season):
    names = ["home_margin", "home_won"]
    copy = mw.write("copy", season.to_xarray("game", names), tmp_path)
    back = mw.write("back", season.to_arviz("game", names), tmp_path)
    assert copy.verify().hash == back.verify().hash and len(copy) == 288
    assert back["game-017"].worlds("home_won").tolist() == season["game-017"].worlds("home_won").tolist()


def test_places_without_coordinates_have_numbers(tmp_path):
    values = np.arange(12.0).reshape(2, 6)
    ens = mw.write("numbers", xr.Dataset({"x": (("queue", "world"), values)}), tmp_path, entity="queue")
    assert ens.entities == ["queue-0", "queue-1"] and ens["queue-1"].worlds("x").tolist() == values[1].tolist()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"x": np.arange(3), "y": np.arange(4)}, "x has 3 values and y has 4: give each one value for each world"),
        ({"x": np.zeros((2, 2))}, "x has 2 dimensions"),
        ({"x": np.array([1 + 2j])}, "x has the type complex128"),
        ({"x": np.array([1], np.longdouble)}, "x has the type float128"),
        ({"x": np.array(["2026-01-01"], "M8[D]")}, r"x has the type datetime64\[D\]"),
        ({"x": np.array([object()])}, "x is an array of Python's objects: value 1 is object, and only texts may be"),
        ({"x": [1.0, None]}, "x: value 2 is missing: give a number for each world, or NaN"),
        ({"x": np.array(["a", None], dtype=object)}, "x: value 2 is missing"),
        ({"x": np.ma.masked_equal([1.5, 7.0, 2.0], 7.0)}, "x: value 2 is missing"),
        ({"x": pa.array([1, 2, None])}, "x: value 3 is missing"),
        ({"x": pl.Series([1.5, None])}, "x: value 2 is missing"),
        ({"x": pd.array([None, 1], dtype="Int64")}, "x: value 1 is missing"),
        (pa.table({"x": pa.array([decimal.Decimal("1E-23")], pa.decimal128(38, 23))}), "decimals of scale 23 cannot be imported"),
        (pa.table({"x": [dt.datetime(2026, 1, 1)]}), r"a column of Timestamp\(µs\) holds no outcome: give numbers"),
        (pa.table({"world": ["a"], "x": [1]}), 'column "world": a column of Utf8 names no worlds: give integers from 0'),
        (pa.table({"x": pa.array([decimal.Decimal(10) ** 40]).cast(pa.decimal256(60, 2))}), "a decimal of more than 15 digits"),
        ({"x": np.array([1 << 60])}, "x"),
        ({}, "give arrays by outcome"),
        (7, "the values are int"),
        (pl.DataFrame({"x": [1, None]}), r"row 2, column \"x\": the value is missing"),
        (pl.DataFrame({"world": [0, 1, 1], "x": [1, 2, 3]}), "row 3.*world 1 of .* is repeated"),
        (pl.DataFrame({"world": [0, 2], "x": [1, 2]}), "world 1 of .* is missing"),
        (pl.DataFrame({"x": []}, schema={"x": pl.Int64}), "no rows"),
        (xr.Dataset({"x": (("a",), [1, 2])}), "name one world, or chain and draw"),
        (xr.Dataset({"x": (("world",), [1, 2]), "y": (("a",), [1])}), r"y lacks the dimension world.*drop_vars\('y'\)"),
        (xr.Dataset({"x": (("entity", "world"), [[1], [2]])}, {"entity": ["a", "a"]}), "names 'a' twice"),
        (xr.Dataset({"x": (("world", "at"), [[1, 2]])}, {"at": ["10:00", "11:00"]}), "the coordinate at has '10:00': names"),
        (xr.DataArray([1, 2], dims="world"), "the DataArray has no name"),
        (xr.DataTree(), "the dimensions are missing"),
        ({"a": {"x": np.arange(3)}, "b": {"x": np.arange(2)}}, 'world 2 of .*"b" is missing'),
    ],
)
def test_numbers_that_cannot_be_stored(tmp_path, values, words):
    with pytest.raises(mw.InvalidError, match=words):
        mw.write("bad", values, tmp_path)
    assert all(summary["worlds"] == 0 for summary in mw.open(tmp_path).ensembles.summaries())


@pytest.mark.parametrize("width", ["decimal32(9, 2)", "decimal64(18, 2)", "decimal128(38, 2)", "decimal256(60, 2)"])
def test_decimals_are_their_nearest_numbers(tmp_path, width):
    name, digits, scale = re.match(r"(\w+)\((\d+), (\d+)\)", width).groups()
    given = [decimal.Decimal(text) for text in ("1.25", "-0.01", "9999999.99", "0")]
    column = pa.array(given).cast(getattr(pa, name)(int(digits), int(scale)))
    assert mw.write("money", pa.table({"x": column}), tmp_path)["all"].worlds("x").tolist() == [float(of) for of in given]


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
