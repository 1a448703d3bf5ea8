"""`check` plays in other circumstances: another time, another environment, several threads, other processes."""

import datetime
import os
import re
import sys
import textwrap
import time
from datetime import date
from time import time as seconds

import numpy as np
import pytest

import manyworlds as mw


def model(value, outcome=mw.real):
    """A model whose outcome is a draw and a number that `value` computes from the model and its worlds."""

    def simulate(self, p, worlds, emit):
        emit("a-1", x=worlds.stream("a-1").uniform() + value(self, worlds))

    members = {"catalogue": lambda self, p: mw.Catalogue({"a": {"x": outcome()}}, ["a-1"]), "simulate": simulate}
    return type("Odd", (mw.Model,), members)()


def shared(self, worlds):
    """Keeps its worlds in an attribute, which threads share."""
    self.numbers = worlds.numbers
    total = worlds.stream("a-1", 1).uniform()
    return total + self.numbers


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda self, w: date.today().toordinal(), r"at another time: the model reads a clock \(date.today\). Make the time a parameter"),
        (lambda self, w: datetime.date.today().month, r"at another time: the model reads a clock \(date.today\)"),
        (lambda self, w: datetime.datetime.now(datetime.timezone.utc).hour, r"reads a clock \(datetime.now\)"),
        (lambda self, w: int(time.time()) // 3600, r"at another time: the model reads a clock \(time.time\)"),
        (lambda self, w: int(seconds()) // 3600, r"at another time: the model reads a clock \(time.time\)"),
        (lambda self, w: time.localtime().tm_min, r"at another time: the model reads a clock \(time.localtime\)"),
        (lambda self, w: float(time.strftime("%j")), r"at another time: the model reads a clock \(time.strftime\)"),
        (lambda self, w: float(os.environ.get("MANY_SHIFT", "0")), "with another environment: the model reads the variable MANY_SHIFT"),
        (lambda self, w: len(os.environ["MANY_HOME"]), "the model fails .*KeyError.* with another environment: the model reads the variable MANY_HOME"),
        (lambda self, w: len(os.getenv("MANY_HOME", "")), "the variable MANY_HOME. Make it a parameter"),
        (lambda self, w: "MANY_HOME" in os.environ, "the variable MANY_HOME"),
        (shared, "when threads play ranges at the same time: calls share an attribute of the model"),
        (lambda self, w: np.stack([w.stream("a-1", k).uniform() for k in range(50)]).sum(axis=0), "other ranges: the last bits differ, because NumPy adds in another order"),
        (lambda self, w: np.stack([w.stream("a-1", k).uniform() for k in range(50)]).astype("f4").mean(axis=0), "other ranges: the last bits differ"),
        (lambda self, w: np.random.seed(w.seed) or np.random.random(len(w)), "Here it draws from numpy.random, a generator of its own"),
    ],
)  # fmt: skip
def test_circumstances_that_make_a_difference_are_named(monkeypatch, value, words):
    monkeypatch.setenv("MANY_HOME", "here")
    found = mw.check(model(value), processes=False)
    assert len(found.findings) == 1 and re.search(words, found.findings[0]), found


@pytest.mark.parametrize(
    "value",
    [
        lambda self, w: 0 * time.time() if isinstance(datetime.date.today(), datetime.date) else 1,
        lambda self, w: 0 if os.environ.get("MANY_VERBOSE") is None else 0,
        lambda self, w: vars(self).setdefault("table", np.arange(10.0))[3],
    ],
)
def test_circumstances_without_a_difference_are_accepted(value):
    clocks, environment = time.time, dict(os.environ)
    assert mw.check(model(value), processes=False).findings == ()
    assert time.time is clocks and seconds is clocks and date is datetime.date and dict(os.environ) == environment


@pytest.mark.parametrize(("value", "words"), [("os.getpid()", "os.getpid"), ("threading.get_ident() % 1000", "threading.get_ident")])
def test_what_a_model_reads_of_its_process_is_named(tmp_path, monkeypatch, value, words):
    code = f"""
        import os, threading, manyworlds as mw

        class Odd(mw.Model):
            def catalogue(self, p):
                return mw.Catalogue({{"a": {{"x": mw.real()}}}}, ["a-1"])
            def simulate(self, p, worlds, emit):
                emit("a-1", x=worlds.stream("a-1").uniform() + {value})
    """
    (tmp_path / "of_process.py").write_text(textwrap.dedent(code))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "of_process", raising=False)
    import of_process

    [finding] = mw.check(of_process.Odd()).findings
    assert f"the model reads {words}. Make it a parameter" in finding
