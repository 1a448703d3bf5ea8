"""A user's script, which mypy checks strictly: every public call with the types that it returns."""

from types import SimpleNamespace
from typing import Any

import numpy as np

import manyworlds as mw


class League(mw.Model):
    """A league."""

    name = "league"
    version = "1"
    parameters = {"home": mw.Param(2.5, 0, 10, "home edge, points"), "styles": mw.Param(["even"], words=("even", "wild"))}

    def catalogue(self, p: SimpleNamespace) -> mw.Catalogue:
        events = {"points": mw.optional(mw.real("points"))}
        return mw.Catalogue({"game": {"margin": mw.number("points"), "won": mw.flag()}}, ["game-1"], events=events)

    def simulate(self, p: SimpleNamespace, worlds: mw.Worlds, emit: mw.Emit) -> None:
        margin = np.rint(worlds.stream("game-1").normal(p.home, 13))
        emit("game-1", margin=margin, won=margin > 0)
        emit.events("game-1", np.arange(len(worlds)), points=margin)


class Walk(mw.Model):
    """One world a call."""

    def catalogue(self, p: SimpleNamespace) -> mw.Catalogue:
        return mw.Catalogue({"walk": {"end": mw.real()}}, {"walk-1": "walk"}, titles={"walk-1": "A walk"})

    @mw.per_world
    def simulate(self, p: SimpleNamespace, world: mw.World) -> dict[str, dict[str, float]]:
        generator: np.random.Generator = world.generator()
        return {"walk-1": {"end": world.random().gauss() + float(generator.random())}}


def report(done: int, of: int) -> None:
    print(done, of)


def main() -> None:
    promise: mw.Promise = mw.check(League())
    if not promise:
        print(promise.findings, promise.skipped)
    league: mw.Ensemble = mw.run(
        League(), 100, 1, "league", "data", parameters={"home": 3}, until=("game-1:margin", "1%"), progress=report
    )
    mw.run(Walk(), progress=True, replace=True)
    data: mw.Data = mw.open("data", threads=2, memory=1 << 30)
    remote: mw.Data = mw.connect("http://127.0.0.1:8080", token="secret")
    season: mw.Ensemble | None = remote.ensembles.get("season")
    game: mw.Entity = league["game-1"]
    margin: np.ndarray = game.worlds("margin")
    upset: np.ndarray = league.where("game-1:margin < -10")
    price: mw.Probability = game.probability("margin > 3", given=["margin > 1"], min_worlds=3)
    total: float = float(price) + price.ci.low + (price.fair_odds or 0.0)
    distribution: mw.Distribution = league.outcome("game-1:margin")
    total += distribution.quantile(0.5) + league.outcome("game-1", "margin").mean
    ends: np.ndarray = distribution.quantile([0.1, 0.9])
    values, shares = distribution.cdf()
    correlation: mw.Correlation = league.correlate("game-1", "margin", "won")
    total += correlation["margin", "won"]
    matrix: np.ndarray = correlation.matrix()
    comparisons: mw.Comparisons = league.compare(league, "game-1:margin")
    for comparison in comparisons:
        print(comparison.difference, comparison.ci)
    verification: mw.Verification = league.verify(replay=True)
    events: mw.Table = league.events("game-1", range(3), where="points > 1")
    rows: mw.Table = data.sql("SELECT 1 AS x")
    print(events.to_polars().shape, rows.to_pandas(), rows.to_arrow(), rows.to_numpy()["x"], rows["x"], len(rows))
    print(rows.columns, rows.types, rows.notes, np.asarray(rows))
    stored: int = data.append("table", [{"a": 1}])
    book: mw.Book = league.book([{"legs": "margin > 1", "stake": 1, "odds": 2.0}], entity="game-1")
    written: mw.Ensemble = mw.write("queue", {"wait": np.ones(3)}, data, kinds={"wait": "real"})
    print(league.lazy("game").collect(), league.to_xarray("game", ["margin"]), league.to_arviz())
    try:
        league["game-2"]
    except mw.UnknownNameError as error:
        print(error)
    except mw.TooFewWorldsError as few:
        print(few.matched, few.needed)
    except mw.RefusedRowsError as refused:
        print(refused.stored, refused.refused)
    summaries: list[dict[str, Any]] = data.ensembles.summaries()
    print(season, margin, upset, total, values, shares, matrix, verification.ok, stored, book.mean, written.worlds, summaries)
    print(mw.math.exp(margin), data.ask("table", group="a", count=True).to_dicts())
