"""What a model emits: every type that holds the numbers gives the same stored values."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import manyworlds as mw

WORLDS = 40


class Given(mw.Model):
    """Emits arrays that are computed from the worlds' numbers: an outcome and a function by entity."""

    def __init__(self, given):
        self.given = given

    def catalogue(self, p):
        kinds = {f"of-{name}": {"x": outcome} for name, (outcome, _) in self.given.items()}
        return mw.Catalogue(kinds, {name: f"of-{name}" for name in self.given})

    def simulate(self, p, worlds, emit):
        for name, (_, values) in self.given.items():
            emit(name, x=values(worlds.numbers))


def stored(tmp_path, given):
    ensemble = mw.run(Given(given), WORLDS, data=tmp_path, range_worlds=7)
    assert ensemble.verify()
    return {name: ensemble[name].worlds("x").tolist() for name in given}


TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", ">f8", ">u2"]


def test_every_type_gives_the_same_numbers(tmp_path):
    kinds = {"number": mw.number(), "decimal": mw.number(scale=100), "real": mw.real()}
    cast = lambda type: lambda worlds: worlds.astype(type)  # noqa: E731
    given = {f"{kind}-{type}": (outcome, cast(type)) for kind, outcome in kinds.items() for type in TYPES}
    for name, numbers in stored(tmp_path, given).items():
        assert numbers == list(range(WORLDS)), name


def test_booleans_are_numbers(tmp_path):
    outcomes = {"flag": mw.flag(), "number": mw.number(), "decimal": mw.number(scale=100_000), "real": mw.real()}
    given = {name: (outcome, lambda worlds: worlds % 3 == 0) for name, outcome in outcomes.items()}
    for name, numbers in stored(tmp_path, given).items():
        assert numbers == [number % 3 == 0 for number in range(WORLDS)], name


def test_views_are_read_in_their_order(tmp_path):
    views = {
        "backwards": lambda worlds: (worlds[::-1].copy() * 2.0)[::-1],
        "every-other": lambda worlds: np.repeat(worlds, 2)[::2],
        "read-only": lambda worlds: np.broadcast_to(np.int16(5), worlds.shape),
    }
    found = stored(tmp_path, {name: (mw.number(), view) for name, view in views.items()})
    assert found["backwards"] == [2 * number for number in range(WORLDS)]
    assert found["every-other"] == list(range(WORLDS))
    assert found["read-only"] == [5] * WORLDS


def test_edges_of_the_stored_types_are_kept(tmp_path):
    edges = [2**15 - 1, 2**15, -(2**15), -(2**15) - 1, 2**31 - 1, -(2**31) + 1]
    mixed = lambda edge, type: lambda worlds: np.where(worlds % 2 == 0, edge, worlds).astype(type)  # noqa: E731
    given = {f"{edge}-{type}": (mw.number(), mixed(edge, type)) for edge in edges for type in ("i8", "f8")}
    for name, numbers in stored(tmp_path, given).items():
        edge = int(name.rsplit("-", 1)[0])
        assert numbers == [edge if n % 2 == 0 else n for n in range(WORLDS)], name


def test_decimals_are_rounded_to_their_scale(tmp_path):
    # 0.1 * 3 is not 0.3 in binary.
    found = stored(tmp_path, {"tenths": (mw.number(scale=10), lambda worlds: worlds * 0.1)})
    assert found["tenths"] == [n / 10 for n in range(WORLDS)]


@pytest.mark.parametrize(
    "outcome, values, words",
    [
        (mw.number(), lambda w: np.where(w == 33, 2**31, w), "2147483648 in world 33, beyond the numbers from -2147483647 to 2147483647 that its column holds: declare it real"),
        (mw.number(), lambda w: np.where(w == 33, float(2**31), w), "2147483648 in world 33, beyond the numbers from"),
        (mw.number(), lambda w: np.where(w == 33, np.nan, w), "NaN in world 33, not a whole number"),
        (mw.number(), lambda w: np.where(w == 33, -np.inf, w), "-inf in world 33, not a whole number"),
        (mw.number(), lambda w: np.where(w == 33, 0.5, w), "0.5 in world 33, not a whole number"),
        (mw.number(), lambda w: np.where(w == 33, 1e300, w), r"is 1e300 in world 33, beyond the numbers from"),
        (mw.number(scale=100), lambda w: np.where(w == 33, 2**31, w), "in world 33, beyond the numbers from -21474836 to 21474836 that its column holds"),
        (mw.number(scale=100), lambda w: np.where(w == 33, -(2**63), w), "in world 33, beyond the numbers from -21474836 to 21474836 that its column holds"),
        (mw.number(scale=100), lambda w: np.where(w == 33, 0.005, w), "in world 33, not a multiple of 1/100"),
        (mw.number(), lambda w: w.astype("u8") + np.uint64(2**63), "beyond the numbers from"),
        (mw.flag(), lambda w: np.where(w == 33, 2, 0), "is 2 in world 33: a flag is 0 or 1"),
        (mw.code("a", "b"), lambda w: np.where(w == 33, 2, 0), "is 2 in world 33: a code is a whole number from 0 to 1"),
        (mw.code("a", "b"), lambda w: np.where(w == 33, -1.0, 0), "is -1 in world 33: a code is"),
        (mw.code("a"), lambda w: w == 33, "is 1 in world 33: a code is a whole number from 0 to 0"),
        (mw.real(), lambda w: np.where(w == 33, 2**53 + 1, w), r"is 9007199254740993 in world 33, beyond 2\^53"),
        (mw.real(), lambda w: np.where(w == 33, 2**64 - 1, w).astype("u8"), r"is 18446744073709551615 in world 33, beyond 2\^53"),
        (mw.number(), lambda w: np.ma.masked_equal(w, 33), "is masked in world 33: emit a value for each world"),
        (mw.number(), lambda w: w * 1j, "has the type complex128: emit numbers of at most 64 bits, or booleans"),
        (mw.real(), lambda w: np.longdouble(w) / 3, "has the type float128: emit numbers of at most 64 bits"),
        (mw.number(), lambda w: w.astype("M8[s]"), r"has the type datetime64\[s\]"),
        (mw.number(), lambda w: w.astype(str), "has the type <U21"),
        (mw.number(), lambda w: w.tolist(), "is list: emit a NumPy array"),
        (mw.number(), lambda w: w[:-1], r"has the shape .*: emit one value for each world"),
        (mw.number(), lambda w: w[:, None], r"has the shape .*: emit one value for each world"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_are_refused(outcome, values, words):
    with pytest.raises(mw.ModelError, match=words):
        mw.check(Given({"all": (outcome, values)}), WORLDS)


def test_a_model_in_rust_gives_the_same_worlds(tmp_path):
    """The hash of `examples/league`, which `crates/run` checks, too."""
    spec = importlib.util.spec_from_file_location("league", Path(__file__).parents[1] / "bench" / "league.py")
    league = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(league)
    played = mw.run(league.League(), 100, seed=1, data=tmp_path)
    assert played.verify().hash == "0d7338bc0e9ecee4"
    # What follows from the margin need not be stored.
    game = played["game-007"]
    for outcome, expression in {"home_won": "margin > 0", "close": "abs(margin) <= 3", "beyond": "abs(margin)"}.items():
        assert game.worlds(expression).tolist() == game.worlds(outcome).tolist()
        assert game.outcome(expression).mean == game.outcome(outcome).mean
