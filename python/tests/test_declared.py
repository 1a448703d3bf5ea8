"""What models declare: parameters and events; and functions with the same bits everywhere."""

import logging
import math
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import manyworlds as mw


class Match(mw.Model):
    """Goals of matches, with their minutes."""

    parameters = {
        "rates": mw.Param([1.4, 1.1], 0, 10, "goals of home and away", items_max=2),
        "names": mw.Param(("home", "away"), doc="names of the teams"),
        "cards": mw.Param([], words=("red", "yellow"), doc="cards to show"),
        "city": mw.Param("Rome", doc="the city"),
    }

    def catalogue(self, p):
        events = {"minute": mw.number("minutes"), "scorer": mw.code(*p.names), "own": mw.flag(), "xg": mw.real("goals")}
        return mw.Catalogue({"match": {"goals": mw.number("goals")}}, ["match-1", "match-2"], events=events)

    def simulate(self, p, worlds, emit):
        for match in ("match-1", "match-2"):
            goals = [worlds.stream(match, side).poisson(p.rates[side]) for side in (0, 1)]
            # The away goals first: events may come in any order of worlds.
            at = np.concatenate([np.repeat(np.arange(len(worlds)), goals[side]) for side in (1, 0)])
            scorer = np.repeat([1, 0], [goals[1].sum(), goals[0].sum()])
            emit.events(match, at, minute=(at + worlds.first) % 90, scorer=scorer, own=scorer == 1, xg=(at + worlds.first) * 0.1)
            emit(match, goals=goals[0] + goals[1])


@pytest.fixture(scope="module")
def matches(tmp_path_factory):
    """The same worlds with events stored and replayed."""
    data = mw.open(tmp_path_factory.mktemp("matches"))
    for events, size in (("store", 70), ("replay", 33)):
        mw.run(Match(), 200, 3, events, data, events=events, range_worlds=size)
    return data.ensembles["store"], data.ensembles["replay"]


def test_replayed_events_are_those_stored(matches):
    stored, replayed = matches
    assert stored.verify() and stored.verify().hash == replayed.verify().hash
    assert stored.verify().event_hash is not None and replayed.verify().event_hash is None
    tables = [ens.events("match-2", range(60, 150)).to_dicts() for ens in matches]
    place = lambda row: (row["world"], row["number"])  # noqa: E731
    without = [
        [{k: v for k, v in row.items() if k not in ("ensemble", "version")} for row in sorted(rows, key=place)] for rows in tables
    ]
    assert without[0] == without[1] and len(without[0]) > 100
    row = without[0][0]
    assert row["minute"] == row["world"] % 90 and row["scorer"] in ("home", "away") and isinstance(row["xg"], float)


def test_events_agree_with_outcomes(matches):
    stored, _ = matches
    counted = stored.sql("SELECT world, count(*) AS n FROM events WHERE entity = 'match-1' GROUP BY world").to_dicts()
    goals = np.zeros(200, dtype=int)
    for row in counted:
        goals[row["world"]] = row["n"]
    assert goals.tolist() == stored["match-1"].worlds("goals").tolist()
    home = stored.events("match-1", range(0, 200), where="scorer = 'home'")
    assert {row["own"] for row in home.to_dicts()} == {0}


def with_events(add, columns=None):
    def catalogue(self, p):
        return mw.Catalogue({"a": {"x": mw.number()}}, ["a-1"], events=columns or {"n": mw.number(), "kind": mw.code("b", "c"), "real": mw.real()})

    def simulate(self, p, worlds, emit):
        add(emit, worlds)
        emit("a-1", x=np.zeros(len(worlds)))

    return type("Small", (mw.Model,), {"catalogue": catalogue, "simulate": simulate})()


GOOD = {"n": np.arange(2), "kind": np.array([0, 1]), "real": np.array([0.5, np.nan])}
AT = np.array([0, 1])


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (lambda emit, w: emit.events("a-1", AT, n=np.arange(2), kind=AT), 'event column "real" is missing'),
        (lambda emit, w: emit.events("a-1", AT, **GOOD, m=AT), 'events have no column "m"; did you mean n'),
        (lambda emit, w: emit.events("b-1", AT, **GOOD), 'no entity "b-1"'),
        (lambda emit, w: emit.events("a-1", AT, **{**GOOD, "n": np.arange(3)}), 'event column "n" has 3 values for 2 events'),
        (lambda emit, w: emit.events("a-1", AT, **{**GOOD, "real": np.arange(3)}), 'event column "real" has 3 values for 2 events'),
        (lambda emit, w: emit.events("a-1", AT, **{**GOOD, "n": np.array([0, 0.5])}), 'event column "n" is 0.5 in world 1, not a whole number: round it, or declare it real'),
        (lambda emit, w: emit.events("a-1", AT, **{**GOOD, "n": np.array([0, 1 << 40])}), 'is 1099511627776 in world 1, not a number within 32 bits'),
        (lambda emit, w: emit.events("a-1", AT, **{**GOOD, "kind": np.array([0, 2])}), 'is 2 in world 1, not a code from 0 to 1'),
        (lambda emit, w: emit.events("a-1", AT[::-1], **{**GOOD, "kind": np.array([2, 0])}), 'is 2 in world 1, not a code from 0 to 1'),
        (lambda emit, w: emit.events("a-1", AT, **{**GOOD, "kind": np.array(["b", "c"])}), 'has the type <U1: give numbers'),
        (lambda emit, w: emit.events("a-1", AT, **{**GOOD, "n": np.ma.masked_equal(AT, 1)}), 'event column "n" is NULL in world 1: give a value, or declare'),
        (lambda emit, w: emit.events("a-1", AT, **{**GOOD, "real": np.array([0, 2**53 + 1])}), 'is 9007199254740993 in world 1, beyond 2^53'),
        (lambda emit, w: emit.events("a-1", AT, **{**GOOD, "real": np.array([0, 2**64 - 1], np.uint64)}), "has 18446744073709551615, which is too large for every column"),
        (lambda emit, w: emit.events("a-1", np.array([0, 0.5]), **GOOD), "worlds has 0.5: give the place"),
        (lambda emit, w: emit.events("a-1", [0, 1], **GOOD), "worlds is list: give a NumPy array"),
        (lambda emit, w: emit.events("a-1", AT + len(w), **GOOD), "worlds has 10: give the place of each event's world in the range, from 0 to 9"),
        (lambda emit, w: emit.events("a-1", AT - 1, **GOOD), "worlds has -1"),
        (lambda emit, w: [emit.events("a-1", AT, **GOOD) for _ in "ab"], "its events were emitted twice"),
    ],
)
def test_invalid_events_are_refused(tmp_path, add, words):
    with pytest.raises(mw.ModelError) as raised:
        mw.run(with_events(add), 10, name="broken", data=tmp_path, range_worlds=10)
    assert words in str(raised.value) and "failed on" in str(raised.value)


def test_event_columns_are_declared(tmp_path):
    with pytest.raises(mw.ModelError, match="the catalogue declares no event columns"):
        undeclared = with_events(lambda emit, w: emit.events("a-1", AT, n=AT))
        undeclared.catalogue = lambda p: mw.Catalogue({"a": {"x": mw.number()}}, ["a-1"])
        mw.run(undeclared, 10, name="none", data=tmp_path)
    with pytest.raises(mw.InvalidError, match="'n' has a scale, which events lack"):
        mw.Catalogue({"a": {"x": mw.number()}}, ["a-1"], events={"n": mw.number(scale=10)})
    nothing = mw.run(with_events(lambda emit, w: None), 10, name="nothing", data=tmp_path)
    assert len(nothing.events("a-1", range(10))) == 0 and nothing.verify()


def test_event_columns_may_be_null(tmp_path):
    kinds = {"n": mw.number(), "kind": mw.code("b", "c"), "own": mw.flag(), "real": mw.real()}
    columns = {name: mw.optional(column) for name, column in kinds.items()} | {"at": mw.number(), "left_out": mw.optional(mw.real())}

    def add(emit, worlds):
        # Two events in each world, in another order, and every third value is NULL.
        at = np.tile(np.arange(len(worlds)), 2)
        number = np.repeat([0, 1], len(worlds)) + 2 * worlds.numbers[at]
        some = lambda values: np.ma.masked_array(values, number % 3 == 0)  # noqa: E731
        real = np.where(number % 7 == 0, np.nan, number / 4)
        emit.events("a-1", at, at=number, n=some(number), kind=some(number % 2), own=some(number % 2 == 0), real=some(real))

    model = with_events(add, columns)
    # It draws nothing, and that is all.
    assert [finding.split(":")[0] for finding in mw.check(model, processes=False).findings] == ["another seed gives the same worlds"]
    stored = mw.run(model, 50, name="stored", data=tmp_path, range_worlds=50)
    parts = mw.run(model, 50, name="parts", data=tmp_path, range_worlds=7)
    assert stored.verify() and stored.verify().event_hash == parts.verify().event_hash
    rows = stored.events("a-1", range(50)).to_dicts()
    assert len(rows) == 100
    for row in rows:
        at = row["at"]
        assert at // 2 == row["world"] and row["left_out"] is None
        found = (row["n"], row["kind"], row["own"])
        assert found == ((None, None, None) if at % 3 == 0 else (at, "bc"[at % 2], at % 2 == 0))
        real = row["real"]
        assert real is None if at % 3 == 0 else (math.isnan(real) if at % 7 == 0 else real == at / 4)
    with pytest.raises(mw.InvalidError, match="outcome 'x' is optional: only event columns may be NULL"):
        mw.Catalogue({"a": {"x": mw.optional(mw.number())}}, ["a-1"])


def test_check_compares_null():
    columns = {"n": mw.optional(mw.number())}

    def add(emit, worlds, is_null):
        zeros = np.zeros(len(worlds), int)
        emit.events("a-1", np.arange(len(worlds)), n=np.ma.masked_array(zeros, zeros == 0) if is_null else zeros)

    unequal = with_events(lambda emit, w: add(emit, w, w.first > 0), columns)
    finding = mw.check(unequal, processes=False).findings[0]
    assert finding.startswith("event column n as NULL of a-1 in row 21 is False or True when the worlds are cut"), finding
    # The same NULL in two ways.
    equal = with_events(lambda emit, w: add(emit, w, True) if w.first else emit.events("a-1", np.arange(len(w))), columns)
    assert len(mw.check(equal, processes=False).findings) == 1


class Shifted(mw.Model):
    """Dice that depend on the environment, which the hash of the source does not see."""

    def catalogue(self, p):
        return mw.Catalogue({"die": {"points": mw.number()}}, ["die-1"], events={"at": mw.optional(mw.real())})

    def simulate(self, p, worlds, emit):
        points = worlds.stream("die-1").integers(1, 7)
        shift = int(os.environ.get("SHIFT", 0)) * (worlds.numbers == 30)
        emit.events("die-1", np.arange(len(worlds)), at=np.ma.masked_array(points / 4, points == 6))
        emit("die-1", points=points + shift)


def test_worlds_are_verified_by_replay(tmp_path, monkeypatch):
    ens = mw.run(Shifted(), 60, name="dice", data=tmp_path, range_worlds=25)
    replay = lambda: ens.verify(replay=True).checks[-1]  # noqa: E731
    assert replay().ok and replay().detail == "60 values" and ens.verify().checks[-1].name != replay().name
    monkeypatch.setenv("SHIFT", "3")
    assert ens.verify() and not ens.verify(replay=True)
    assert "points of die-1 in world 30 is stored as " in replay().detail, replay()


class Switched(Shifted):
    """A model whose events or outputs change with the environment."""

    def catalogue(self, p):
        outcomes = {"points": mw.number(), **({"extra": mw.number()} if "EXTRA" in os.environ else {})}
        return mw.Catalogue({"die": outcomes}, ["die-1"], events={"at": mw.optional(mw.real())})

    def simulate(self, p, worlds, emit):
        points = worlds.stream("die-1").integers(1, 7)
        late = int(os.environ.get("LATE", 0)) * (worlds.numbers == 30)
        emit.events("die-1", np.arange(len(worlds)), at=points / 4 + late)
        emit("die-1", points=points, **({"extra": points} if "EXTRA" in os.environ else {}))


def test_replay_compares_events_and_outputs(tmp_path, monkeypatch):
    ens = mw.run(Switched(), 60, name="dice", data=tmp_path, range_worlds=25)
    replay = lambda: ens.verify(replay=True).checks[-1]  # noqa: E731
    assert replay().ok
    with monkeypatch.context() as changed:
        changed.setenv("LATE", "1")
        assert not ens.verify(replay=True)
        assert replay().detail == "worlds 00000025-00000049: 25 other events are played again than the 25 stored ones"
    monkeypatch.setenv("EXTRA", "1")
    assert not ens.verify(replay=True)
    assert replay().detail == "the model has other outputs now"


def test_check_compares_events():
    assert mw.check(Match(), processes=False).ok
    unequal = with_events(lambda emit, w: emit.events("a-1", AT, **{**GOOD, "n": AT + w.first}))
    assert "event column" in mw.check(unequal, processes=False).findings[0]


def test_parameters_are_texts_and_lists(tmp_path):
    given = {"rates": np.array([0.5, 2]), "names": ["Roma", "Lazio"], "cards": ("red",), "city": "Ostia"}
    match = mw.run(Match(), 100, data=tmp_path, name="derby", parameters=given)
    kept = {name: match.parameters[name] for name in given}
    assert kept == {"rates": [0.5, 2], "names": ["Roma", "Lazio"], "cards": ["red"], "city": "Ostia"}
    assert {row["scorer"] for row in match.events("match-1", range(100)).to_dicts()} == {"Roma", "Lazio"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rates": [1, 11]}, "parameter rates is .*give a comma-separated list of up to 2 numbers from 0 to 10"),
        ({"rates": [1, 2, 3]}, "up to 2 numbers"),
        ({"rates": 1}, "parameter rates is"),
        ({"names": [1, 2]}, "list of up to 1000 texts"),
        ({"cards": ["blue"]}, "of red, yellow"),
        ({"city": 4}, "parameter city is .*give a text"),
        ({"city": ["Rome"]}, "give a text"),
        ({"rates": [math.inf, 1]}, "parameter rates is"),
    ],
)
def test_invalid_parameters_are_refused(tmp_path, given, words):
    with pytest.raises(mw.InvalidError, match=words):
        mw.run(Match(), 10, data=tmp_path, parameters=given)


FUNCTIONS = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "cbrt", "asin", "acos", "atan"]
OTHER_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_agree_with_numpy(name):
    x = np.concatenate([np.linspace(-3, 3, 1001), [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e300]])
    with np.errstate(all="ignore"):
        expected = getattr(np, OTHER_NAMES.get(name, name))(x)
    found = getattr(mw.math, name)(x)
    # Without AVX-512, NumPy takes `cbrt` from the C library, whose result is off by up to 2.3 units in the last place.
    rtol = 6e-16 if name == "cbrt" else 4e-16
    assert np.allclose(found, expected, rtol=rtol, atol=0, equal_nan=True)
    assert getattr(mw.math, name)(x[3:1003].reshape(10, 100)).tobytes() == found[3:1003].tobytes()
    assert isinstance(getattr(mw.math, name)(0.5), float)


def test_functions_broadcast():
    powers = mw.math.pow([[1.0], [2.0], [3.0]], [1, 2])
    assert powers.tolist() == [[1, 1], [2, 4], [3, 9]]
    assert mw.math.hypot(3, 4) == 5.0 and mw.math.atan2(0.0, -1.0) == math.pi
    assert mw.math.erf(0.0) == 0.0 and mw.math.erfc(0.0) == 1.0 and mw.math.gamma(5) == 24.0 and mw.math.lgamma(1) == 0.0
    assert set(mw.math.__all__) == {name for name in dir(mw.math) if not name.startswith("_")} - {"annotations", "Any"}


def test_functions_have_the_same_bits_on_old_processors():
    script = textwrap.dedent(
        f"""
        import hashlib, numpy as np, manyworlds as mw
        x = np.linspace(-3, 3, 100_001)
        with np.errstate(all="ignore"):
            print(hashlib.sha256(b"".join(getattr(mw.math, name)(x).tobytes() for name in {FUNCTIONS})).hexdigest())
        """
    )
    from manyworlds._check import _old_processor

    digest = lambda environment: subprocess.run(  # noqa: E731
        [sys.executable, "-c", script], env={**os.environ, **environment}, check=True, capture_output=True, text=True
    ).stdout
    assert digest({}) == digest(_old_processor())


def test_messages_go_to_logging(tmp_path, caplog):
    coin = mw.run(Match(), 20, data=tmp_path, name="logged")
    folder = next(path.parent for path in tmp_path.glob("sim/outcomes/**/*.parquet"))
    crashed = folder / "old.parquet.tmp"
    for level, expected in ((logging.WARNING, 0), (logging.INFO, 1)):
        caplog.clear()
        crashed.write_text("")
        os.utime(crashed, (0, 0))
        with caplog.at_level(level, logger="manyworlds"):
            mw.run(Match(), 20, data=tmp_path, name="logged", resume=True)
        records = [record for record in caplog.records if "temporary file" in record.message]
        assert len(records) == expected and not crashed.exists()
    assert records[0].name.startswith("manyworlds.run") and records[0].levelno == logging.INFO
    assert str(crashed) in records[0].message
    assert coin.worlds == 20
    # A folder cannot be removed as a file. Warnings pass without any setting.
    crashed.mkdir()
    os.utime(crashed, (0, 0))
    caplog.clear()
    mw.run(Match(), 20, data=tmp_path, name="logged", resume=True)
    [record] = caplog.records
    assert record.levelno == logging.WARNING and str(crashed) in record.message and "error=" in record.message


def test_a_handler_that_asks_again_does_not_hang(tmp_path, matches):
    """Handlers run without locks of the engine."""
    stored, _ = matches

    class Asking(logging.Handler):
        asked = 0

        def emit(self, record):
            Asking.asked += 1
            stored.probability("match-1:goals > 1")

    handler, logger = Asking(), logging.getLogger("manyworlds")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        threads = [threading.Thread(target=lambda: stored._data.sql("SELECT 1")) for _ in range(8)]
        for thread in threads:
            thread.start()
        mw.run(Match(), 50, data=tmp_path, range_worlds=5)
        for thread in threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in threads)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
