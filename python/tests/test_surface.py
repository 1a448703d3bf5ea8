"""Whatever can be asked of a folder can be asked of a server, with the same answers."""

import dataclasses
import inspect
import json
import urllib.error
import urllib.request

import numpy as np
import polars as pl
import pytest
import xarray as xr
from conftest import serving

import manyworlds as mw
from manyworlds import _local, _remote


class Match(mw.Model):
    def catalogue(self, p):
        outcomes = {
            "goals": mw.number("goals"), "pace": mw.number("per minute", scale=100), "won": mw.flag(),
            "result": mw.code("home", "draw", "away"), "luck": mw.real(),
        }  # fmt: skip
        kinds = {"match": outcomes, "cup": {"total": mw.number("goals")}}
        return mw.Catalogue(kinds, {"match-1": "match", "match-2": "match", "cup": "cup"}, events={"minute": mw.number("minutes")})

    def simulate(self, p, worlds, emit):
        total = 0
        for match in ("match-1", "match-2"):
            r = worlds.stream(match)
            goals = r.poisson(2.6)
            emit.events(match, np.repeat(np.arange(len(worlds)), goals), minute=np.repeat(r.integers(1, 90), goals))
            pace, result = r.integers(100, 400) / 100, r.integers(0, 3)
            emit(match, goals=goals, pace=pace, won=goals > 2, result=result, luck=r.normal())
            total = total + goals
        emit("cup", total=total)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A folder, and the server of a copy: `append` changes both."""
    folders = [tmp_path_factory.mktemp(name) / "data" for name in ("near", "far")]
    for folder in folders:
        mw.run(Match(), 300, seed=1, name="match", data=folder)
        mw.run(Match(), 200, seed=1, name="other", data=folder)
        mw.open(folder).append("rows", [{"host": "a", "ms": 3}, {"host": "b", "ms": 5}])
    with serving(folders[1], tmp_path_factory.mktemp("server")) as found:
        yield mw.open(folders[0]), mw.connect(*found)


BETS = [{"legs": ["won", "goals < 6"], "stake": 10, "odds": 3.1, "id": "both"}]
#: A call of every public attribute.
DATA = {
    "append": lambda d: d.append("rows", [{"host": "c", "ms": 7}]),
    "ask": lambda d: d.ask("rows", group="host", avg="ms", sort="host", asc=True),
    "ensembles": lambda d: list(d.ensembles),
    "place": lambda d: bool(d.place),
    "sql": lambda d: d.sql("SELECT entity, avg(value) AS mean FROM outcomes GROUP BY entity ORDER BY entity"),
    "tables": lambda d: d.tables,
}
ENSEMBLES = {
    "summaries": lambda e: [{k: v for k, v in of.items() if k not in ("created", "event_bytes")} for of in e.summaries()],
}
ENSEMBLE = {
    "array": lambda e: [e.array("match-1:goals - match-2:goals"), e.array("pace * 2", entity="match-1"), e.array("cup:total")],
    "book": lambda e: e.book(BETS, entity="match-1", given="cup:total > 2", min_worlds=1),
    "catalogue": lambda e: e.catalogue,
    "compare": lambda e: [*e.compare(e._data.ensembles["other"]), *e.compare(e, "match-1:goals + match-2:goals")],
    "correlate": lambda e: [e.correlate("match-1"), e.correlate("match-1:goals", "match-2:luck")],
    "entities": lambda e: e.entities,
    "events": lambda e: e.events("match-1", range(0, 50), where="minute > 10"),
    "lazy": lambda e: e.lazy("match").filter(pl.col("won") == 1).select("entity", "world", "luck"),
    "model": lambda e: e.model,
    "name": lambda e: e.name,
    "outcome": lambda e: [e.outcome("match-1", "luck"), e.outcome("match-1", "luck").cdf(), e.outcome("cup:total + match-1:goals")],
    "parameters": lambda e: e.parameters,
    "price": lambda e: e.price("match-1:won", "cup:total > 5"),
    "probability": lambda e: e.probability("won", entity="match-2", given=["match-1:won"], min_worlds=2),
    "seed": lambda e: e.seed,
    "sql": lambda e: e.sql("SELECT ensemble, count(*) AS n FROM outcomes GROUP BY ensemble"),
    "summary": lambda e: {k: v for k, v in e.summary.items() if k not in ("created", "event_bytes")},
    "to_arviz": lambda e: e.to_arviz("match", ["goals", "luck"])["posterior_predictive"],
    "to_xarray": lambda e: e.to_xarray("match"),
    # A server does not load models written in Python, which check more.
    "verify": lambda e: [(v.ok, v.hash, v.event_hash, v.checks[0]) for v in [e.verify()]],
    "version": lambda e: e.version,
    "where": lambda e: [e.where("cup:total > 5"), e.where("won", entity="match-1")],
    "world_numbers": lambda e: e.world_numbers(),
    "worlds": lambda e: e.worlds,
}
ENTITY = {
    "correlate": lambda m: m.correlate("goals", "luck * 2"),
    "events": lambda m: m.events(3),
    "kind": lambda m: m.kind,
    "labels": lambda m: m.labels("result"),
    "name": lambda m: m.name,
    "outcome": lambda m: [m.outcome("result").labels, m.outcome("pace").quantile(0.3)],
    "outcomes": lambda m: m.outcomes,
    "price": lambda m: m.price("won"),
    "probability": lambda m: m.probability("result = 'home'", "goals > 1"),
    "table": lambda m: m.table("goals", "luck"),
    "title": lambda m: m.title,
    "where": lambda m: m.where("goals > 2"),
    "worlds": lambda m: [m.worlds(of) for of in (*m.outcomes, "goals + 1", "goals / 4", "goals > 2")],
}
OBJECTS = {
    mw.Data: (DATA, lambda d: d),
    mw.Ensembles: (ENSEMBLES, lambda d: d.ensembles),
    mw.Ensemble: (ENSEMBLE, lambda d: d.ensembles["match"]),
    mw.Entity: (ENTITY, lambda d: d.ensembles["match"]["match-1"]),
}
#: What every mapping has.
MAPPING = {"get", "items", "keys", "values"}


def test_every_public_attribute_is_asked(places):
    for of, (calls, find) in OBJECTS.items():
        public = {name for name in dir(find(places[0])) if not name.startswith("_")}
        assert public - MAPPING == set(calls), of


def plain(value):
    """A value that can be compared, with types and shapes."""
    if isinstance(value, pl.LazyFrame):
        value = value.collect()
    if isinstance(value, mw.Table):
        value = value.to_polars()
    if isinstance(value, pl.DataFrame):
        return value.schema, value.to_dict(as_series=False)
    if isinstance(value, xr.Dataset):
        return value.attrs, {name: plain((of.dims, of.values)) for name, of in value.variables.items()}
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value


def without_fetch(value):
    return {k: v for k, v in value.items() if k != "_fetch"} if isinstance(value, dict) else value


@pytest.mark.parametrize(("of", "name"), [(of, name) for of, (calls, _) in OBJECTS.items() for name in calls])
def test_answers_are_the_same(places, of, name):
    calls, find = OBJECTS[of]
    near, far = (plain(calls[name](find(place))) for place in places)
    strip = lambda value: [without_fetch(part) for part in value] if isinstance(value, list) else without_fetch(value)  # noqa: E731
    assert strip(near) == strip(far) and near not in (None, [], {})


def test_arrays_are_read_only(places):
    for place in places:
        match = place.ensembles["match"]["match-1"]
        for array in (*map(match.worlds, ("won", "luck", "goals")), place.ensembles["match"].world_numbers()):
            assert not array.flags.writeable


def test_both_sides_have_the_same_methods():
    own = {"native", "request", "ask_json", "ask_arrow"}
    for near, far in ((_local.Local, _remote.Remote), (_local.LocalEnsemble, _remote.RemoteEnsemble)):
        of = lambda side: {  # noqa: E731
            name: [p.name for p in inspect.signature(method).parameters.values()]
            for name, method in vars(side).items() if callable(method) and not name.startswith("_") and name not in own
        }  # fmt: skip
        assert of(near) == of(far)


def test_long_answers_come_in_parts(places, monkeypatch):
    near, far = (place.ensembles["match"] for place in places)
    expected = near.to_xarray("match"), near.world_numbers().tolist()
    asked = []
    ask = _remote.Remote.ask_arrow
    monkeypatch.setattr(_remote.Remote, "ask_arrow", lambda self, path, question: asked.append(question) or ask(self, path, question))
    for values, least in ((100, 60), (700, 10), (100_000, 6)):
        monkeypatch.setattr(_remote, "_VALUES", values)
        asked.clear()
        far = places[1].ensembles["match"]
        assert far.to_xarray("match").identical(expected[0]) and far.world_numbers().tolist() == expected[1]
        assert len(asked) >= least and all(len(q["outcomes"]) * max(1, len(q["entities"])) < values for q in asked)


def test_a_handle_keeps_its_worlds_behind_a_server(tmp_path):
    data = tmp_path / "data"
    mw.write("queue", {"x": np.arange(5), "late": np.arange(5) % 2 == 0}, data)
    with serving(data, tmp_path) as found:
        olds = [mw.connect(*found).ensembles["queue"] for _ in range(2)]
        # One has read the numbers of its worlds by then, the other has not.
        assert olds[0].world_numbers().tolist() == [0, 1, 2, 3, 4]
        mw.write("queue", {"x": np.arange(7), "late": np.arange(7) % 2 == 0}, data, append=True)
        for old in olds:
            assert old["all"].worlds("x").tolist() == old.world_numbers().tolist() == [0, 1, 2, 3, 4]
            assert old.to_xarray().sizes["world"] == len(old.where("late")) == 5
        new = mw.connect(*found).ensembles["queue"]
        assert new["all"].worlds("x").tolist() == [*range(5), *range(7)] and new.worlds == 12


def ask(place, question):
    body, _ = place._backend.request("/api/v1/worlds", json.dumps(question).encode(), content_type="application/json")
    return body


def test_worlds_over_http(places):
    """As a client without this package asks."""
    import pyarrow as pa

    far = places[1]
    table = pa.ipc.open_stream(ask(far, {"ensemble": "match", "entities": ["match-1", "match-2"], "outcomes": ["goals", "won"], "first": 10, "worlds": 5})).read_all()
    assert table.schema.names == ["world", "match-1:goals", "match-1:won", "match-2:goals", "match-2:won"]
    assert [str(of) for of in table.schema.types] == ["uint32", "int32", "bool", "int32", "bool"]
    assert table.column("world").to_pylist() == [10, 11, 12, 13, 14]
    assert table.column("match-2:goals").to_pylist() == places[0].ensembles["match"]["match-2"].worlds("goals")[10:15].tolist()
    assert table.schema.metadata == {b"ensemble": b"match", b"version": b"1"}
    past = pa.ipc.open_stream(ask(far, {"ensemble": "match", "outcomes": ["cup:total / 2"], "first": 1000})).read_all()
    assert past.num_rows == 0 and str(past.schema.field("cup:total / 2").type) == "double"
    for question, error, words in (
        ({"ensemble": "nothing"}, mw.UnknownNameError, "there are: match"),
        ({"ensemble": "match", "version": 7}, mw.UnknownNameError, "has no version 7"),
        ({"ensemble": "match", "outcomes": ["match-1:goal"]}, mw.UnknownNameError, "did you mean"),
        ({"ensemble": "match", "outcomes": ["match-1:goals / 0"]}, mw.InvalidError, "no finite value"),
        ({"ensemble": "match", "outcomes": ["cup:total"] * 10_001}, mw.LimitError, "10001 outcomes"),
        ({"ensemble": "match", "outcomes": ["cup:total", "1"] * 5_000 + ["cup:total"] * 5_000}, mw.LimitError, "outcomes"),
        ({"ensemble": "match", "nothing": 1}, mw.InvalidError, "unknown field"),
    ):
        with pytest.raises(error, match=words):
            ask(far, question)
    openapi = json.loads(far._backend.request("/api/v1/openapi.json")[0])["paths"]["/api/v1/worlds"]["post"]
    assert openapi["security"] and set(openapi["responses"]) >= {"200", "400", "401", "403", "404", "408"}
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(urllib.request.Request(far.place + "/api/v1/worlds", b"{}"))
