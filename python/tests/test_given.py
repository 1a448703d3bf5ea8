"""What callers give wrongly: each error says which argument, and what to give."""

import numpy as np
import pytest

import manyworlds as mw

ONE = {"a": {"x": mw.number()}}


class Ones(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue(ONE, ["a-1"])

    def simulate(self, p, worlds, emit):
        emit("a-1", x=worlds.stream("a-1").integers(0, 9))


def of_catalogue(*arguments, **named):
    return lambda folder: mw.Catalogue(*arguments, **named)


def of_parameters(declared, **given):
    model = type("Odd", (Ones,), {"parameters": declared})()
    return lambda folder: mw.run(model, 10, data=folder, parameters=given)


def running(**options):
    return lambda folder: mw.run(Ones(), **{"worlds": 10, "data": folder, **options})


def asking(ask):
    return lambda folder: ask(mw.run(Ones(), 200, name="asked", data=folder))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (of_catalogue(ONE, ["e", "f", "e"]), mw.InvalidError, "entity 'e' is in the catalogue twice"),
        (of_catalogue(ONE, "abc"), mw.InvalidError, "the entities are the text 'abc': give a list"),
        (of_catalogue(ONE, [1, 2]), mw.InvalidError, "an entity is 1: write it as a text"),
        (of_catalogue(ONE, {1: "a"}), mw.InvalidError, "an event column is 1: write it as a text"),
        (of_catalogue(ONE, []), mw.InvalidError, "no entity"),
        (of_catalogue({}, ["e"]), mw.InvalidError, "no entity, or a kind without outcomes"),
        (of_catalogue({"a": {}}, ["e"]), mw.InvalidError, "a kind without outcomes"),
        (of_catalogue({**ONE, "b": {"y": mw.real()}}, ["e"]), mw.InvalidError, "several kinds: give the kind of each"),
        (of_catalogue(ONE, {"e": "b"}), mw.UnknownNameError, "no kind 'b' in the catalogue: there are a"),
        (of_catalogue({"a": {"x": "number"}}, ["e"]), mw.InvalidError, "'x' is 'number': make it with number, flag"),
        (of_catalogue(ONE, ["e"], events={"y": 3}), mw.InvalidError, "'y' is 3: make it with number, flag"),
        (of_catalogue(ONE, ["a:b"]), mw.InvalidError, "\"a:b\" cannot name an entity: use a name without ':'"),
        (of_catalogue(ONE, [" "]), mw.InvalidError, "cannot name an entity"),
        (of_catalogue({"a": {"x\ny": mw.number()}}, ["e"]), mw.InvalidError, "cannot name an outcome: use a name without"),
        (of_catalogue({"a": {"world": mw.number()}}, ["e"]), mw.InvalidError, 'and other than "world" and "entity"'),
        (of_catalogue({"a": {"entity": mw.number()}}, ["e"]), mw.InvalidError, 'and other than "world" and "entity"'),
        (of_catalogue(ONE, ["e"], {"f": "F"}), mw.UnknownNameError, "no entity 'f' in the catalogue, and it has a title"),
        (of_catalogue(ONE, ["e"], events={"worlds": mw.number()}), mw.InvalidError, "no event column can be called 'worlds'"),
        (lambda _: mw.number("points", 0), mw.InvalidError, "the scale of an outcome is 0: give a whole number from 1"),
        (lambda _: mw.number("points", 2.5), mw.InvalidError, "the scale of an outcome is 2.5"),
        (lambda _: mw.number(10), mw.InvalidError, "the unit of an outcome is 10: write it as a text"),
        (lambda _: mw.code("a", "b", "a"), mw.InvalidError, "a code has the label 'a' twice"),
        (lambda _: mw.code(["a", "b"]), mw.InvalidError, r"a label of a code is \['a', 'b'\]: write it as a text"),
        (of_parameters({"a": 5}), mw.InvalidError, "parameter 'a' of Odd is 5: make it a Param"),
        (of_parameters({"definition": mw.Param(1)}), mw.InvalidError, "no parameter can be called 'definition'"),
        (of_parameters({"a": mw.Param(1)}, definition={}), mw.UnknownNameError, "no parameter 'definition'; there are: a"),
        (running(worlds=0), mw.InvalidError, "worlds is 0: give a whole number from 1 to 4294967295"),
        (running(worlds=10.0), mw.InvalidError, "worlds is 10.0: give a whole number"),
        (running(worlds="10"), mw.InvalidError, "worlds is '10': give a whole number"),
        (running(worlds=True), mw.InvalidError, "worlds is True: give a whole number"),
        (running(seed=-1), mw.InvalidError, "seed is -1: give a whole number from 0 to 18446744073709551615"),
        (running(seed=1 << 64), mw.InvalidError, "seed is 18446744073709551616"),
        (running(threads=0), mw.InvalidError, "threads is 0: give a whole number from 1"),
        (running(processes=-1), mw.InvalidError, "processes is -1"),
        (running(range_worlds=0), mw.InvalidError, "range_worlds is 0"),
        (running(until="a-1:x"), mw.InvalidError, "until is 'a-1:x': give an outcome and a width"),
        (running(until=("a-1:x",)), mw.InvalidError, "give an outcome and a width"),
        (running(progress="yes"), mw.InvalidError, "progress is 'yes': give True or a function"),
        (lambda folder: mw.check(Ones(), worlds=0), mw.InvalidError, "worlds is 0"),
        (lambda folder: mw.open(folder, threads=0), mw.InvalidError, "threads is 0"),
        (lambda folder: mw.open(folder, memory=-1), mw.InvalidError, "memory is -1"),
        (lambda _: mw.open("http://127.0.0.1:8080"), mw.InvalidError, "unsupported address .*: use a folder or s3://BUCKET/PREFIX; for a server call manyworlds.connect"),
        (lambda _: mw.open("gs://bucket"), mw.InvalidError, 'unsupported address "gs://bucket": use a folder or s3://BUCKET/PREFIX'),
        (lambda folder: mw.write("w", {"x": np.ones(3)}, folder, seed=-4), mw.InvalidError, "seed is -4"),
        (asking(lambda e: e.probability(3)), mw.InvalidError, "a condition is 3: write it as a text"),
        (asking(lambda e: e.probability("x > 3", given=[2])), mw.InvalidError, "given is 2: write it as a text"),
        (asking(lambda e: e.probability("x > 3", min_worlds=-1)), mw.InvalidError, "min_worlds is -1"),
        (asking(lambda e: e.book([{"legs": 3, "stake": 1, "odds": 2}])), mw.InvalidError, "a leg is 3"),
        (asking(lambda e: e.book([{"legs": "x > 0", "odds": 2}])), mw.InvalidError, "bet 1 has no 'stake'"),
        (asking(lambda e: e.book([{"legs": "x > 0", "stake": 1, "odds": 2, "stakes": 1}])), mw.InvalidError, "bet 1 has an unknown key 'stakes'; there are"),
        (asking(lambda e: e.book(["x > 0"])), mw.InvalidError, "bet 1 is str: give dicts, one a bet"),
        (asking(lambda e: e.compare("other")), mw.InvalidError, "'other' is not an ensemble: open one"),
        (asking(lambda e: e["a-1"].labels("y")), mw.UnknownNameError, 'a a has no outcome "y"|no outcome "y"'),
        (asking(lambda e: e["a-1"].labels("x + 1")), mw.UnknownNameError, "only outcomes have labels"),
        (asking(lambda e: e.correlate("a-1", "x")["x", "y"]), mw.UnknownNameError, "no outcome 'y' among the correlated ones: x"),
        (asking(lambda e: e.outcome("x").quantile(1.5)), mw.InvalidError, "a quantile's share is 1.5"),
        (asking(lambda e: e.events("a-1", [1, 2])), mw.InvalidError, r"a world of events is \[1, 2\]"),
        (asking(lambda e: e.events("a-1", -1)), mw.InvalidError, "a world of events is -1"),
        (asking(lambda e: e.events("a-1", range(0))), mw.InvalidError, "give a range of worlds that is not empty"),
        (asking(lambda e: e.to_xarray(outcomes=["x", 3])), mw.InvalidError, "an outcome is 3"),
    ],
)  # fmt: skip
def test_invalid_arguments_are_named(tmp_path, call, error, words):
    with pytest.raises(error, match=words) as raised:
        call(tmp_path / "data")
    assert isinstance(raised.value, mw.Error)


def test_numbers_of_numpy_are_numbers(tmp_path):
    played = mw.run(Ones(), np.int64(200), np.uint32(7), "n", tmp_path, threads=np.int8(2), range_worlds=np.int64(50))
    assert (played.worlds, played.seed) == (200, 7)
    assert played.probability("x > 3", min_worlds=np.int64(5)).worlds == 200
    assert mw.write("w", {"x": np.arange(3)}, tmp_path, seed=np.int64(9)).seed == 9
    assert mw.number("", np.int64(100)).scale == 100
    assert mw.run(Ones(), 5, (1 << 64) - 1, "last-seed", tmp_path).seed == (1 << 64) - 1


@pytest.mark.parametrize("missing", ["catalogue", "simulate"])
def test_a_model_without_a_method_is_told_which(tmp_path, missing):
    kept = {name: of for name, of in vars(Ones).items() if name in ("catalogue", "simulate") and name != missing}
    with pytest.raises((NotImplementedError, mw.ModelError), match=rf"Half .*define {missing}\(self, p"):
        mw.run(type("Half", (mw.Model,), kept)(), 10, data=tmp_path)


@pytest.mark.parametrize("call", ["emit", "events"])
def test_entities_are_texts(tmp_path, call):
    def simulate(self, p, worlds, emit):
        (emit if call == "emit" else emit.events)(1, *([np.arange(2)] if call == "events" else []), x=np.ones(len(worlds)))

    with pytest.raises(mw.ModelError, match="(?s)in world 0: InvalidError: 1 names no entity: give its name as a text.*in simulate"):
        mw.run(type("Odd", (Ones,), {"simulate": simulate})(), 10, data=tmp_path, threads=1)


def test_a_mapping_has_no_unknown_names(tmp_path):
    data = mw.open(tmp_path)
    ensemble = mw.run(Ones(), 10, name="ones", data=data)
    assert data.ensembles.get("one") is None and ensemble.get("b") is None
    assert "one" not in data.ensembles and dict(ensemble).keys() == {"a-1"}
    with pytest.raises(KeyError) as raised:
        ensemble["b"]
    assert str(raised.value).startswith('no entity "b"')


def test_progress_is_drawn(tmp_path, capfd):
    mw.run(Ones(), 5000, data=tmp_path, progress=True)
    drawn = capfd.readouterr().err
    assert drawn.startswith("\r") and drawn.endswith("\n") and "5,000 of 5,000 worlds" in drawn.split("\r")[-1]
    mw.run(Ones(), 50, name="quiet", data=tmp_path)
    assert capfd.readouterr().err == ""
