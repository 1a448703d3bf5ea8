"""Models in Python: the same worlds however they are cut, and clear words about what is wrong."""

import datetime
import math
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import manyworlds as mw
from manyworlds import _models

GAMES = [(home, away) for home in range(4) for away in range(4) if home != away]


class League(mw.Model):
    version = "1"
    parameters = {"home": mw.Param(2.5, 0, 10, "home edge, points"), "style": mw.Param("even", words=("even", "wild"))}

    def catalogue(self, p):
        outcomes = {
            "margin": mw.number("points"), "home_won": mw.flag(), "pace": mw.number("plays per minute", scale=100),
            "luck": mw.real("standard deviations"), "result": mw.code("home", "draw", "away"),
        }  # fmt: skip
        return mw.Catalogue({"game": outcomes}, [f"game-{g:02}" for g in range(len(GAMES))])

    def simulate(self, p, worlds, emit):
        rating = np.stack([worlds.stream(team, purpose=1).normal(0, 3) for team in range(4)])
        spread = 13 if p.style == "even" else 26
        for g, (home, away) in enumerate(GAMES):
            r = worlds.stream(f"game-{g:02}")
            margin = np.rint(r.normal(p.home + rating[home] - rating[away], spread))
            emit(
                f"game-{g:02}", margin=margin, home_won=margin > 0, luck=r.exponential(),
                pace=r.integers(100, 400) / 100, result=np.sign(-margin).astype(int) + 1,
            )  # fmt: skip


def played(tmp_path, **options):
    return mw.run(League(), worlds=500, seed=7, data=tmp_path / "data", **options)


def test_worlds_do_not_depend_on_ranges_and_threads(tmp_path):
    hashes = {
        played(tmp_path, name=f"league-{n}", threads=threads, range_worlds=size).verify().hash
        for n, (threads, size) in enumerate([(1, 500), (2, 77), (3, 10), (1, 499)])
    }
    assert len(hashes) == 1


def test_a_played_ensemble_is_like_any_other(tmp_path):
    league = played(tmp_path, parameters={"home": 4})
    assert (league.name, league.model, league.worlds, len(league)) == ("league", "test_models:League", 500, 12)
    assert league.parameters["home"] == 4.0 and league.parameters["style"] == "even"
    origin = league.parameters["definition"]
    assert origin["class"] == "League" and origin["numpy"] == np.__version__ and len(origin["source"]) == 64
    game = league["game-03"]
    margin = game.worlds("margin")
    assert game.worlds("home_won").tolist() == (margin > 0).tolist()
    assert game.worlds("pace").dtype == np.float64 and set(np.round(game.worlds("pace") * 100) % 1) == {0}
    assert game.probability("margin > 0").hits == (margin > 0).sum()
    assert league.verify()
    assert game.labels("result") == ["home", "draw", "away"]
    assert game.probability("result = 'home'").hits == (margin > 0).sum()
    assert game.outcome("result").labels["home"] == np.mean(margin > 0)
    assert game.outcome("2 * margin").mean == 2 * game.outcome("margin").mean
    assert game.worlds("luck").dtype == np.float64 and game.worlds("luck").min() > 0
    listed = subprocess.run(
        [sys.executable, "-m", "manyworlds", "ensembles", "--data", str(tmp_path / "data")], capture_output=True, text=True
    )
    assert "test_models:League" in listed.stdout


def test_draws_are_those_of_the_distributions():
    r = lambda purpose: mw.Worlds(3, 0, 200_000, {}).stream(0, purpose)  # noqa: E731
    near = lambda values, mean, sd: abs(np.mean(values) - mean) < 5 * sd / math.sqrt(200_000)  # noqa: E731
    assert near(r(0).uniform(2, 4), 3, 2 / math.sqrt(12)) and near(r(1).normal(5, 2), 5, 2)
    assert near(r(2).exponential(3), 3, 3) and near(r(3).integers(1, 7), 3.5, 1.71)
    assert near(r(4).chance(0.3), 0.3, 0.46) and near(r(5).poisson(4.2), 4.2, 2.05)
    assert near(r(6).binomial(10, 0.25), 2.5, 1.37) and near(r(7).choice([0.5, 0.25, 0.25]) == 1, 0.25, 0.43)
    means = np.linspace(0, 9, 200_000)
    assert abs(np.corrcoef(r(8).poisson(means), means)[0, 1]) > 0.7
    assert r(0).uniform().tolist() == r(0).uniform().tolist() != r(1).uniform().tolist()


def test_a_world_has_a_generator_for_each_purpose():
    draws = lambda *of: (mw.World(*of[:2]).random(of[2]).random(), mw.World(*of[:2]).generator(of[2]).random())  # noqa: E731
    assert draws(1, 5, 0) == draws(1, 5, 0)
    for other in ((2, 5, 0), (1, 6, 0), (1, 5, 1)):
        assert all(a != b for a, b in zip(draws(1, 5, 0), draws(*other))), other
    # Worlds stay the same in later versions.
    assert mw.World(1, 5).random(2).random() == 0.421923446619372


def test_worlds_of_a_part_are_those_of_the_whole():
    whole = mw.Worlds(1, 0, 100, {}).stream(5).poisson(np.arange(100) / 10.0)
    part = mw.Worlds(1, 40, 20, {}).stream(5).poisson(np.arange(40, 60) / 10.0)
    assert part.tolist() == whole[40:60].tolist()


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda r: r.normal(sd=-1), "sd has a value that is not a number from 0"),
        (lambda r: r.normal(0, np.where(np.arange(10) == 3, np.nan, 1)), "sd has a value that is not a number from 0"),
        (lambda r: r.exponential(np.float32(-1)), "mean has a value that is not a number from 0"),
        (lambda r: r.poisson(-1), "mean has a value that is not a number from 0"),
        (lambda r: r.poisson(np.ones(3)), "mean has 3 values for 10 worlds"),
        (lambda r: r.binomial(2.5, 0.5), "n has a value that is not a whole number"),
        (lambda r: r.binomial(2, 1.5), "p has a value that is not a probability"),
        (lambda r: r.integers(3, 3), "give a higher end"),
        (lambda r: r.choice([0.5, 0.6]), "sum to 1.1"),
        (lambda r: r.choice(np.full(2, np.nan)), "sum to nan"),
        (lambda r: r.choice([0.5, np.nan]), "sum to nan"),
        (lambda r: r.chance(1.01), "p has a value that is not a probability"),
        (lambda r: r.chance(np.where(np.arange(10) == 3, np.nan, 0.5)), "p has a value that is not a probability"),
        (lambda r: mw.Worlds(1, 0, 10, {}).stream(purpose=-1), "purpose is -1: give a whole number from 0"),
        (lambda r: mw.Worlds(1, 0, 10, {}).stream(1.5), "entity is 1.5: give a whole number from 0"),
    ],
)
def test_impossible_draws_are_refused(draw, words):
    with pytest.raises(mw.InvalidError, match=words):
        draw(mw.Worlds(1, 0, 10, {}).stream())


def model(simulate):
    return type("Small", (mw.Model,), {"catalogue": lambda self, p: mw.Catalogue({"a": {"x": mw.number(), "y": mw.real()}}, ["a-1", "a-2"]), "simulate": simulate})()


def both(x, y=None):
    def simulate(self, p, worlds, emit):
        for entity in ("a-1", "a-2"):
            emit(entity, x=x(worlds), y=worlds.stream(entity).normal() if y is None else y(worlds))

    return model(simulate)


generator = np.random.default_rng(1)
held = {"one": np.random.default_rng(2)}
calls = []


@pytest.mark.parametrize(
    ("impure", "words"),
    [
        (both(lambda worlds: np.rint(generator.normal(size=len(worlds)) * 99)), "played again: the model draws from generator, a generator of its own"),
        (both(lambda worlds: np.array([random.randrange(99) for _ in range(len(worlds))])), "draws from random, a generator of its own"),
        (both(lambda worlds: np.rint(held["one"].normal(size=len(worlds)) * 99)), "draws from a generator of its own"),
        (both(lambda worlds: np.rint(np.random.normal(size=len(worlds)) * 99)), r"draws from numpy.random, a generator of its own"),
        (both(lambda worlds: np.random.default_rng().integers(0, 99, len(worlds))), "draws from the system's generator"),
        (both(lambda worlds: np.full(len(worlds), datetime.datetime.now().microsecond)), r"reads a clock \(datetime.now\)"),
        (both(lambda worlds: np.full(len(worlds), time.perf_counter_ns() % 1_000_003)), r"played again: the model reads a clock \(time.perf_counter_ns\)"),
        (both(lambda worlds: np.full(len(worlds), calls.append(1) or len(calls))), "played again: the model keeps state between calls"),
        (both(lambda worlds: np.full(len(worlds), worlds.first)), "other ranges"),
        (both(lambda worlds: np.full(len(worlds), len(worlds) == 1)), "other ranges"),
        (both(lambda worlds: np.random.default_rng(7).integers(0, 99, len(worlds))), "other ranges.*generator"),
        (both(lambda worlds: np.zeros(len(worlds)), lambda w: w.stream().normal() - w.stream().normal().mean()), "mean over"),
        (both(lambda worlds: worlds.numbers, lambda worlds: worlds.numbers * 0.5), "another seed gives the same worlds"),
    ],
)
def test_check_finds_what_breaks_the_promise(impure, words):
    found = mw.check(impure, processes=False)
    assert not found and len(found.findings) == 1
    assert re.search(words, found.findings[0])


def test_check_tells_zeros_apart():
    """As the hash does: real numbers are kept to the bit."""
    signed = both(lambda w: w.stream().integers(0, 9), lambda w: np.where(w.numbers == 40, -0.0 if w.first else 0.0, 1.0))
    [finding] = mw.check(signed, processes=False).findings
    assert finding.startswith("y of a-1 in world 40 is 0.0 or -0.0 when the worlds are cut into other ranges"), finding
    # A whole number has no sign at 0.
    whole = both(lambda w: np.where(w.numbers == 40, -0.0 if w.first else 0.0, 1.0), lambda w: w.stream().normal())
    assert mw.check(whole, processes=False).ok


def test_tracebacks_end_where_the_model_calls():
    found = both(lambda w: w.stream("b-1"))
    with pytest.raises(mw.ModelError) as raised:
        mw.check(found, processes=False)
    assert "test_models.py" in str(raised.value) and "manyworlds/_" not in str(raised.value)


def test_check_names_no_world_of_a_failure_of_the_range():
    with pytest.raises(mw.ModelError, match='model Small failed on a-1: .*outcome "x" is 0.5'):
        mw.check(both(lambda worlds: np.full(len(worlds), 0.5 if len(worlds) > 32 else 0)), processes=False)


def test_check_accepts_a_model_that_keeps_its_promise():
    found = mw.check(League())
    assert found.ok and found.skipped == () and mw.check(League(), worlds=1, processes=False).findings == ()
    assert str(found) == "the model keeps its promise"


def other_error(worlds):
    try:
        {}["home"]
    except KeyError as error:
        raise ValueError("no rating") from error


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (both(lambda worlds: np.zeros(len(worlds) + 1)), r"a-1: outcome \"x\" has the shape \[\d+\]: emit one value"),
        (both(lambda worlds: np.zeros((len(worlds), 1))), "has the shape"),
        (both(lambda worlds: [0] * len(worlds)), "is list: emit a NumPy array"),
        (both(lambda worlds: np.full(len(worlds), "a")), "has the type <U1"),
        (both(lambda worlds: np.full(len(worlds), 0.5)), "is 0.5 in world 0, not a whole number: round it, or declare it real"),
        (both(lambda worlds: np.full(len(worlds), 1 << 40)), "in world 0, beyond the numbers from -2147483647 to 2147483647"),
        (both(lambda worlds: np.where(worlds.numbers == 7, np.nan, 1)), "NaN in world 7, not a whole number"),
        (model(lambda self, p, w, emit: emit("a-1", x=np.zeros(len(w)))), 'outcome "y" is missing'),
        (model(lambda self, p, w, emit: emit("a-1", z=np.zeros(len(w)))), 'no outcome "z"'),
        (model(lambda self, p, w, emit: emit("b-1", x=np.zeros(len(w)))), 'no entity "b-1"'),
        (model(lambda self, p, w, emit: [emit("a-1", x=np.zeros(len(w)), y=np.zeros(len(w))) for _ in "ab"]), "emitted twice"),
        (model(lambda self, p, w, emit: emit("a-1", x=np.zeros(len(w)), y=np.zeros(len(w)))), "no outcomes of a-2"),
        (model(lambda self, p, w, emit: w.stream("b-1")), "no entity 'b-1'"),
        (both(lambda worlds: np.full(len(worlds), 1 // (17 not in worlds.numbers))), "(?s)in world 17: ZeroDivision.*1 //"),
        (both(lambda worlds: np.full(len(worlds), 17 in worlds.numbers and sys.exit(3))), r"(?s)in world 17: SystemExit: 3\n.*sys.exit\(3\)"),
        (both(lambda worlds: other_error(worlds)), r"(?s)in world 0: ValueError: no rating\n.*caused by KeyError: 'home'\n.*\{\}\[\"home\"\]"),
    ],
)
def test_failures_name_the_world_and_the_reason(tmp_path, broken, words):
    with pytest.raises(mw.ModelError, match=words) as raised:
        mw.run(broken, worlds=40, name="broken", data=tmp_path / "data", range_worlds=20, threads=1)
    # A model that fails in its first world has taken no name.
    later = re.search("world 1?7", words)
    place = "worlds 00000000-00000019" if later else "worlds 00000000-00000000"
    assert f"{place} could not be played: model test_models:Small failed" in str(raised.value)
    assert [ensemble.worlds for ensemble in mw.open(tmp_path / "data").ensembles.values()] == [0] * bool(later)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"parameters": {"home": 11}}, mw.InvalidError, "parameter home is 11: give a number from 0 to 10"),
        ({"parameters": {"home": "far"}}, mw.InvalidError, 'parameter home is "far": give a number from 0 to 10'),
        ({"parameters": {"style": "odd"}}, mw.InvalidError, "give one of even, wild"),
        ({"parameters": {"hom": 1}}, mw.UnknownNameError, 'no parameter "hom"; did you mean home'),
        ({"parameters": ["home"]}, mw.InvalidError, "the parameters are list: give a dict"),
        ({"name": "League"}, mw.InvalidError, "cannot name an ensemble"),
        ({"name": ""}, mw.InvalidError, "cannot name an ensemble"),
        ({"replace": True, "resume": True}, mw.InvalidError, "exclude each other"),
    ],
)
def test_invalid_runs_are_refused(tmp_path, options, error, words):
    with pytest.raises(error, match=words):
        played(tmp_path, **options)
    assert list(mw.open(tmp_path / "data").ensembles) == []


def test_real_outcomes_may_be_anything(tmp_path):
    special = np.array([np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0])
    odd = both(lambda worlds: np.zeros(len(worlds)), lambda worlds: special[worlds.numbers % len(special)])
    entity = mw.run(odd, worlds=60, name="odd", data=tmp_path, range_worlds=7)["a-1"]
    assert entity.worlds("y").tobytes() == np.tile(special, 10).tobytes()
    assert entity.outcome("y").worlds == 60
    nothing = mw.run(both(lambda w: np.zeros(len(w)), lambda w: np.full(len(w), np.nan)), 60, name="nan", data=tmp_path)
    assert np.isnan(nothing["a-1"].worlds("y")).all() and nothing.verify()


def test_names_are_taken_once(tmp_path):
    first = played(tmp_path)
    with pytest.raises(mw.ExistsError, match="exists already; continue it with resume=True, replace it"):
        played(tmp_path)
    second = played(tmp_path, replace=True, parameters={"home": 9})
    assert second.version > first.version and second["game-00"].outcome("margin").mean > first["game-00"].outcome("margin").mean
    with pytest.raises(mw.InvalidError, match="it was started with"):
        played(tmp_path, resume=True)
    with pytest.raises(mw.InvalidError, match="not a model"):
        mw.run(League, data=tmp_path)


def test_progress_is_reported(tmp_path):
    seen = []
    slow = both(lambda worlds: time.sleep(0.2) or np.zeros(len(worlds)))
    mw.run(slow, worlds=4, range_worlds=1, threads=1, name="slow", data=tmp_path, progress=lambda done, of: seen.append((done, of)))
    assert seen == sorted(seen) and {of for _, of in seen} == {4} and len({done for done, _ in seen}) > 1


SCRIPT = """
    import time, sys
    import numpy as np, manyworlds as mw

    class Slow(mw.Model):
        def catalogue(self, p):
            return mw.Catalogue({"a": {"x": mw.number()}}, ["a-1"])
        def simulate(self, p, worlds, emit):
            time.sleep(float(sys.argv[1]))
            print("played", flush=True)
            emit("a-1", x=worlds.stream().integers(0, 1000))

    ensemble = mw.run(Slow(), worlds=30, range_worlds=1, threads=1, seed=3, data="data", resume="resume" in sys.argv)
    print(ensemble.verify().hash)
"""


def slow(folder, *words):
    script = folder / "slow.py"
    script.write_text(textwrap.dedent(SCRIPT))
    return subprocess.Popen([sys.executable, str(script), *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_run_is_resumed_after_a_kill_or_ctrl_c(tmp_path, sent):
    whole = tmp_path / "whole"
    whole.mkdir()
    expected = slow(whole, "0").communicate(timeout=60)[0].split()[-1]
    process = slow(tmp_path, "0.1")
    for _ in range(5):
        assert process.stdout.readline() == "played\n"
    process.send_signal(sent)
    error = process.communicate(timeout=60)[1]
    assert process.returncode != 0 and (sent == signal.SIGKILL or "KeyboardInterrupt" in error)
    stored = mw.open(tmp_path / "data").ensembles["slow"].worlds
    assert 3 <= stored < 30
    resumed = slow(tmp_path, "0", "resume").communicate(timeout=60)[0].split()
    assert resumed[-1] == expected and resumed.count("played") == 30 - stored


IMPURE = """
    import os, random, numpy as np, manyworlds as mw

    class Sets(mw.Model):
        def catalogue(self, p):
            return mw.Catalogue({"a": {"x": mw.real()}}, ["a-1"])
        def simulate(self, p, worlds, emit):
            words = {"home", "away", "draw", "win", "loss"}
            emit("a-1", x=worlds.stream().normal() + list(words).index("home"))

    SHIFT = random.random()

    class Imported(Sets):
        def simulate(self, p, worlds, emit):
            emit("a-1", x=worlds.stream().normal() + SHIFT)

    class Kept(Sets):
        mean = None
        def simulate(self, p, worlds, emit):
            if self.mean is None:
                self.mean = worlds.stream(purpose=1).normal().mean()
            emit("a-1", x=worlds.stream().normal() + self.mean)

    class Pid(Sets):
        def simulate(self, p, worlds, emit):
            emit("a-1", x=np.full(len(worlds), os.getpid()))

    class Clock(Sets):
        def simulate(self, p, worlds, emit):
            emit("a-1", x=np.full(len(worlds), float(np.datetime64("now").astype("i8"))))

    class Exact(Sets):
        def simulate(self, p, worlds, emit):
            emit("a-1", x=mw.math.exp(worlds.stream().normal()))

    def product():
        matrix = np.sin(np.arange(40_000.0)).reshape(200, 200)
        return np.abs(matrix @ matrix).sum()

    class Product(Sets):
        def simulate(self, p, worlds, emit):
            emit("a-1", x=worlds.stream().normal() * product())
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Sets", "with another PYTHONHASHSEED: the model depends on hash"),
        ("Imported", "in another process: .*a number that its module draws when it is imported"),
        ("Kept", "when another range is played first: the model keeps what its first call computed"),
        ("Pid", "in another process: the model reads os.getpid"),
        # Found earlier if a second ends meanwhile.
        ("Clock", "in another process: .* on the time|again|ranges"),
        ("Exact", None),
    ],
)
def test_check_plays_in_other_processes(tmp_path, monkeypatch, name, words):
    (tmp_path / "impure.py").write_text(textwrap.dedent(IMPURE))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "impure", raising=False)
    import impure

    found = mw.check(getattr(impure, name)())
    assert found.skipped == ()
    if words is None:
        assert found.ok
    else:
        assert re.search(words, found.findings[0]) and str(found).startswith("the model breaks its promise\nx of a-1"), found


def test_check_says_what_it_skips(monkeypatch):
    words = "the worlds were not played in other processes: another process cannot load model Small"
    locked = both(lambda worlds: worlds.stream().integers(0, 9))
    locked.lock = threading.Lock()
    found = mw.check(locked)
    assert found.ok and words in found.skipped[0] and words in str(found)
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    found = mw.check(both(lambda worlds: worlds.stream().integers(0, 9)))
    assert found.ok and words in found.skipped[0]


def test_check_finds_bits_that_depend_on_the_processor(tmp_path, monkeypatch):
    (tmp_path / "impure.py").write_text(textwrap.dedent(IMPURE))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "impure", raising=False)
    import impure
    from manyworlds._check import _old_processor

    script = "import impure; print(float(impure.product()).hex())"
    product = lambda **environment: subprocess.run(  # noqa: E731
        [sys.executable, "-c", script], env={**os.environ, **environment}, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    found = mw.check(impure.Product())
    # On a processor without the features there is nothing to find.
    if product() == product(**_old_processor()):
        assert found.ok
    else:
        assert re.search("on a processor with fewer features: NumPy's exp", found.findings[0]), found


@pytest.mark.parametrize(
    ("play", "words"),
    [
        (lambda self, p, world: {"walk": {"end": 1 / (world.number - 33)}}, r"in world 33: ZeroDivisionError.*\n.*test_models.py"),
        (lambda self, p, world: {"walk": {} if world.number == 12 else {"end": 1.0}}, "in world 12: .*some worlds have outcome 'end', others lack it"),
        (lambda self, p, world: {"walk": {"end": "far"}}, 'walk: outcome "end" has the type <U3'),
        (lambda self, p, world: None, "in world 0: .*simulate returned NoneType: return outcomes by entity"),
        (lambda self, p, world: {"walk": 1.0}, "simulate returned float for walk: return outcomes by entity"),
        (lambda self, p, world: {"walk": {"ends": 1.0}}, 'no outcome "ends"'),
    ],
)
def test_per_world_names_the_failing_world(tmp_path, play, words):
    catalogue = lambda self, p: mw.Catalogue({"walk": {"end": mw.real()}}, ["walk"])  # noqa: E731
    broken = type("Walk", (mw.Model,), {"catalogue": catalogue, "simulate": mw.per_world(play)})()
    with pytest.raises(mw.ModelError) as raised:
        mw.run(broken, 60, name="walk", data=tmp_path, threads=1)
    assert re.search(words, str(raised.value)), raised.value


def test_per_world_costs_microseconds(tmp_path):
    catalogue = lambda self, p: mw.Catalogue({"walk": {"end": mw.real()}}, ["walk"])  # noqa: E731
    play = mw.per_world(lambda self, p, world: {"walk": {"end": world.random().random()}})
    walk = type("Walk", (mw.Model,), {"catalogue": catalogue, "simulate": play})()
    began = time.process_time()
    mw.run(walk, 20_000, name="walk", data=tmp_path, threads=1)
    assert time.process_time() - began < 4


class Shifted(League):
    def __init__(self, shift=0):
        if shift:
            self.shift = shift


def test_the_model_is_found_where_it_is_loaded(tmp_path, monkeypatch):
    without_model = lambda ens: [c.detail for c in ens.verify().checks if "model" in c.detail]  # noqa: E731
    assert without_model(played(tmp_path)) == []
    run = lambda shift: mw.run(Shifted(shift), 10, name=f"shift-{shift}", data=tmp_path)  # noqa: E731
    assert without_model(run(0)) == []
    third = run(3)
    assert without_model(third) == [] and third.verify(replay=True)
    monkeypatch.setattr(_models, "_played", {})
    assert any("was made with arguments that are not stored" in detail for detail in without_model(third))
    with pytest.raises(mw.InvalidError, match="it was started with"):
        mw.run(Shifted(4), 10, name="shift-3", data=tmp_path, resume=True)


def test_models_with_arguments_are_at_hand_once_played(tmp_path):
    class Times(Match):
        def __init__(self, factor):
            self.factor = factor

        def simulate(self, p, worlds, emit):
            emit.events("match-1", np.arange(len(worlds)), minute=np.full(len(worlds), self.factor))
            emit("match-1", goals=worlds.stream().poisson(self.factor))

    ensembles = [mw.run(Times(factor), 20, name=f"times-{factor}", data=tmp_path, events="replay") for factor in (2, 3)]
    assert [times.events("match-1", 5).to_dicts()[0]["minute"] for times in ensembles] == [2, 3]


class Match(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue({"match": {"goals": mw.number()}}, ["match-1"], events={"minute": mw.number()})


def test_classes_without_a_source_are_told_apart(tmp_path):
    """As in a notebook, where each session names its files anew."""
    text = """
class Walk(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue({"walk": {"end": mw.real()}}, ["walk"])
    @mw.per_world
    def simulate(self, p, world):
        return {"walk": {"end": world.random().gauss(0, SD) if "a" in {"a", "b"} else 0.0}}
"""

    def walk(file, sd):
        names = {"mw": mw}
        exec(compile(text.replace("SD", str(sd)), file, "exec"), names)
        return names["Walk"]()

    def stop(played, worlds):
        raise KeyboardInterrupt

    assert mw.check(walk("cell-0", 1), processes=False).ok
    options = {"worlds": 200, "name": "walk", "data": tmp_path, "range_worlds": 1, "threads": 1}
    with pytest.raises(KeyboardInterrupt):
        mw.run(walk("cell-1", 1), progress=stop, **options)
    with pytest.raises(mw.InvalidError, match="started with"):
        mw.run(walk("cell-1", 100), resume=True, **options)
    assert mw.run(walk("cell-2", 1), resume=True, **options).worlds == 200
