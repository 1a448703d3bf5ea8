"""Other threads run while the engine works, and a signal ends one long question."""

import json
import os
import pickle
import signal
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

import manyworlds as mw
from manyworlds import _native

WORLDS = 100_000


@pytest.fixture(scope="module")
def normal(tmp_path_factory):
    rng = np.random.default_rng(1)
    return mw.write("normal", {f"x{n}": rng.normal(size=WORLDS) for n in range(4)}, tmp_path_factory.mktemp("threads"))


@contextmanager
def meanwhile(act):
    """Calls `act` in another thread, which runs only where this one gives up the interpreter's lock."""
    begin, acted = threading.Event(), []

    def wait():
        begin.wait()
        acted.append(True)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    interval = sys.getswitchinterval()
    # Python itself takes the lock from a thread after this many seconds.
    sys.setswitchinterval(60)
    try:
        begin.set()
        yield acted
    finally:
        sys.setswitchinterval(interval)
        thread.join()


BET = {"legs": "x1 * x2 > 0", "stake": 1, "odds": 2}
NUMBERS = np.linspace(0.1, 3, WORLDS)


def draws():
    return _native.Draws(1, 0, WORLDS, 0, 0)


@pytest.mark.parametrize(
    "work",
    [
        lambda e, r: e.probability("x1 * x2 > 0"),
        lambda e, r: e.book([BET]),
        lambda e, r: e.outcome("x1 * x2"),
        lambda e, r: e.correlate(),
        lambda e, r: e.compare(e, "x1 * x2"),
        lambda e, r: e.array("x1 * x2"),
        lambda e, r: e._data.ensembles["normal"].array("x1"),
        lambda e, r: e.sql("SELECT sum(value) FROM outcomes"),
        lambda e, r: e.verify(),
        lambda e, r: pickle.dumps(r),
        lambda e, r: _native.bodies(r),
        # Without NumPy's own functions, which give the lock up, too.
        lambda e, r: _native.map_one("exp", NUMBERS),
        lambda e, r: _native.map_two("pow", NUMBERS, NUMBERS),
        lambda e, r: draws().uniform(),
        lambda e, r: draws().normal(),
        lambda e, r: draws().exponential(),
        lambda e, r: draws().below(9),
        lambda e, r: draws().choice([0.5, 1.0]),
        lambda e, r: draws().poisson(3.5),
        lambda e, r: draws().binomial(40.0, 0.3),
    ],
)
def test_other_threads_run_meanwhile(normal, work):
    rows = mw.Table(_native.table([("x", NUMBERS), ("text", np.array(["a"] * WORLDS, dtype=object))]))
    with meanwhile(lambda: None) as acted:
        # A thread that wakes late has another chance.
        for _ in range(100):
            if not acted:
                work(normal, rows)
        assert acted


def expressions(count, form="x1 * {} + x2"):
    return [form.format(n) for n in range(1, count + 1)]


QUESTIONS = {
    "price": {"legs": expressions(900, "x1 * x2 > x3 - {}")},
    "outcome": {"entities": [], "outcomes": expressions(300)},
    "correlate": {"outcomes": expressions(150)},
    "book": {"bets": [{"legs": [leg], "stake": 1, "odds": 2} for leg in expressions(1500, "x1 * x2 > x3 - {}")]},
}


@pytest.mark.parametrize("name", [*QUESTIONS, "compare", "array"])
def test_a_signal_ends_one_long_question(normal, name):
    native = normal._backend.native
    question = json.dumps({"ensemble": "normal", **QUESTIONS.get(name, {})})
    compared = json.dumps({"first": "normal", "second": "normal", "outcomes": expressions(300)})
    others = {"array": (None, " + ".join(expressions(1000, "x1 * {}"))), "compare": (native, compared)}
    arguments = others.get(name, (question,))
    answers = []
    with pytest.raises(KeyboardInterrupt) as raised:
        with meanwhile(lambda: os.kill(os.getpid(), signal.SIGINT)):
            # No code of Python between the answer and its place in the list, which would notice the signal.
            answers.extend(map(getattr(native, name), *([argument] for argument in arguments)))
    # Nor did the question fail before.
    assert answers == [] and raised.value.__context__ is None
