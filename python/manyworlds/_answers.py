"""Answers about ensembles."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    import numpy as np


def _number(value: float | str | None) -> float:
    """A number of an answer: JSON has NaN and infinities as texts, and had them as null."""
    return float("nan") if value is None else float(value)


@dataclass(frozen=True)
class Interval:
    """A 95% confidence interval."""

    low: float
    high: float

    @staticmethod
    def _of(ci: list[float] | None) -> Interval | None:
        return None if ci is None else Interval(*map(_number, ci))


@dataclass(frozen=True)
class Condition:
    """One condition of a question, alone."""

    text: str
    #: Share of the worlds in which it holds.
    probability: float


@dataclass(frozen=True)
class Probability:
    """The share of worlds in which all conditions hold. `float()` gives `probability`."""

    #: Share of the worlds in which every condition holds, from 0 to 1.
    probability: float
    #: Its 95% Clopper-Pearson confidence interval.
    ci: Interval
    #: Its standard error; above 0 without hits, too (Agresti and Coull).
    standard_error: float
    #: Worlds counted: all, or those that meet `given`.
    worlds: int
    #: Worlds in which every condition holds.
    hits: int
    #: The product of the conditions' probabilities, as if they were independent.
    independent: float
    #: Each condition alone.
    conditions: tuple[Condition, ...]

    @property
    def fair_odds(self) -> float | None:
        """Decimal odds without margin, 1 / probability; `None` without hits."""
        return 1.0 / self.probability if self.hits else None

    def __float__(self) -> float:
        return self.probability

    def _repr_html_(self) -> str:
        rows = [(c.text, f"{c.probability:.4f}") for c in self.conditions]
        rows.append(("if independent", f"{self.independent:.4f}"))
        rows.append((f"all, in {self.worlds} worlds", f"{self.probability:.4f} ({self.ci.low:.4f} to {self.ci.high:.4f})"))
        body = "".join(f"<tr><td>{escape(name)}</td><td>{value}</td></tr>" for name, value in rows)
        return f"<table><thead><tr><th>condition</th><th>probability</th></tr></thead><tbody>{body}</tbody></table>"

    @staticmethod
    def _of(answer: dict[str, Any]) -> Probability:
        return Probability(
            probability=answer["probability"],
            ci=Interval(*answer["ci"]),
            standard_error=answer["standard_error"],
            worlds=answer["worlds"],
            hits=answer["hits"],
            independent=answer["independent"],
            conditions=tuple(Condition(leg["leg"], leg["probability"]) for leg in answer["legs"]),
        )


@dataclass(frozen=True)
class Bin:
    """A bin of a histogram: values from `low` to `high`."""

    low: float
    high: float
    worlds: int


@dataclass(frozen=True)
class Distribution:
    """The exact distribution of one outcome or expression over all worlds."""

    #: `None` for an expression that names the entity of each outcome.
    entity: str | None
    outcome: str
    unit: str
    worlds: int
    mean: float
    #: The mean's 95% confidence interval; `None` for fewer than two worlds.
    ci: Interval | None
    #: Over the worlds (divisor: their number).
    standard_deviation: float
    min: float
    max: float
    #: Share of worlds of each label, for an outcome whose codes have labels.
    labels: dict[str, float]
    #: At most 20 bins of equal width.
    histogram: tuple[Bin, ...]
    _fetch: Callable[[], list[dict[str, float]]] = field(repr=False, compare=False)

    def _steps(self) -> tuple[list[float], list[float]]:
        cached = self.__dict__.get("_cdf")
        if cached is None:
            steps = self._fetch()
            cached = ([_number(step["value"]) for step in steps], [step["probability"] for step in steps])
            self.__dict__["_cdf"] = cached
        return cached

    def cdf(self) -> tuple[np.ndarray, np.ndarray]:
        """Each value, ascending, and the share of worlds that do not exceed it: two arrays of equal length."""
        import numpy as np

        values, shares = self._steps()
        return np.array(values), np.array(shares)

    def quantile(self, p: float) -> float:
        """The smallest value that at least a share `p` (0 to 1) of the worlds does not exceed.

        Raises:
            ValueError: if `p` is not from 0 to 1.
        """
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"a quantile's share is {p}: give a number from 0 to 1")
        values, shares = self._steps()
        return values[min(bisect_left(shares, p), len(values) - 1)]

    def _repr_html_(self) -> str:
        of = f" of {escape(self.entity)}" if self.entity else ""
        title = f"{escape(self.outcome)}{of}, {escape(self.unit)}: mean {self.mean:.4g}"
        if self.ci is not None:
            title += f" ({self.ci.low:.4g} to {self.ci.high:.4g})"
        return f"<figure>{_picture(self.histogram)}<figcaption>{title}; {self.worlds} worlds</figcaption></figure>"

    @staticmethod
    def _of(answer: dict[str, Any], fetch: Callable[[], list[dict[str, float]]]) -> Distribution:
        return Distribution(
            entity=answer["entity"],
            outcome=answer["outcome"],
            unit=answer["unit"],
            worlds=answer["worlds"],
            mean=_number(answer["mean"]),
            ci=Interval._of(answer["ci"]),
            standard_deviation=_number(answer["standard_deviation"]),
            min=_number(answer["min"]),
            max=_number(answer["max"]),
            labels={label["label"]: label["share"] for label in answer.get("labels", ())},
            histogram=tuple(Bin(_number(b["from"]), _number(b["to"]), b["worlds"]) for b in answer["histogram"]),
            _fetch=fetch,
        )


def _picture(bins: tuple[Bin, ...]) -> str:
    """A histogram as SVG, with the lowest and the highest value below it."""
    width, height, foot = 360, 120, 18
    most = max((b.worlds for b in bins), default=1) or 1
    step = width / max(len(bins), 1)
    bars = []
    for place, b in enumerate(bins):
        tall = height * b.worlds / most
        label = f"{b.low:g}" if b.low == b.high else f"{b.low:g} to {b.high:g}"
        bars.append(
            f'<rect x="{place * step:.1f}" y="{height - tall:.1f}" width="{step * 0.9:.1f}" height="{tall:.1f}"'
            f' fill="#4c78a8"><title>{label}: {b.worlds} worlds</title></rect>'
        )
    ends = (
        f'<text x="0" y="{height + foot - 4}" font-size="11">{bins[0].low:g}</text>'
        f'<text x="{width}" y="{height + foot - 4}" font-size="11" text-anchor="end">{bins[-1].high:g}</text>'
        if bins
        else ""
    )
    return f'<svg width="{width}" height="{height + foot}" role="img">{"".join(bars)}{ends}</svg>'


@dataclass(frozen=True)
class Share:
    """A share of the worlds, with its 95% Clopper-Pearson confidence interval."""

    probability: float
    ci: Interval


@dataclass(frozen=True)
class TailRisk:
    """Losses in the worst `1 - level` of the worlds, as positive numbers, with 95% confidence intervals."""

    level: float
    #: The loss that `level` of the worlds do not exceed.
    value_at_risk: float
    value_at_risk_ci: Interval
    #: The mean loss in the tail.
    expected_shortfall: float
    expected_shortfall_ci: Interval
    #: Worlds in the tail; the last one counts in part.
    worlds: float

    @staticmethod
    def _of(answer: dict[str, Any]) -> TailRisk:
        return TailRisk(**_with_intervals(answer))


@dataclass(frozen=True)
class WorstWorld:
    """A world with a low profit."""

    world: int
    profit: float
    #: The bets that lose money in it.
    lost: tuple[str, ...]


@dataclass(frozen=True)
class BetRisk:
    """One bet, and its part in the risk. `edge` is the mean profit for a stake of 1."""

    id: str
    legs: tuple[str, ...]
    side: str
    stake: float
    odds: float
    probability: float
    ci: Interval
    expected_profit: float
    expected_profit_ci: Interval
    edge: float
    edge_ci: Interval
    #: Its part of each expected shortfall: `level`, `amount`, and its `share`; the parts of all bets add up.
    shortfall: tuple[dict[str, Any], ...]

    @staticmethod
    def _of(answer: dict[str, Any]) -> BetRisk:
        lists = {"legs": tuple(answer["legs"]), "shortfall": tuple(answer["shortfall"])}
        return BetRisk(**_with_intervals({**answer, **lists}))


@dataclass(frozen=True)
class Book:
    """The risk of a book of bets. Money is in the unit of the stakes."""

    #: Worlds counted: all, or those that meet `given`.
    worlds: int
    #: The sum of all stakes.
    stake: float
    #: Whether the profit of every bet is exact. Otherwise each is rounded to a multiple of `money_unit`.
    is_exact: bool
    money_unit: float
    #: The mean profit.
    mean: float
    #: The mean's 95% confidence interval; `None` for fewer than two worlds.
    ci: Interval | None
    standard_deviation: float
    min: float
    max: float
    #: Profits by share of the worlds that do not exceed them.
    quantiles: dict[str, float]
    #: At most 20 bins of profits.
    histogram: tuple[Bin, ...]
    #: The share of the worlds with a negative profit.
    loss: Share
    #: Value at risk and expected shortfall, by level.
    tails: tuple[TailRisk, ...]
    #: The worlds with the lowest profits, worst first.
    worst: tuple[WorstWorld, ...]
    #: Every bet, in the given order.
    bets: tuple[BetRisk, ...]

    def _repr_html_(self) -> str:
        title = f"profit: mean {self.mean:.4g}, loss in {self.loss.probability:.1%} of {self.worlds} worlds"
        return f"<figure>{_picture(self.histogram)}<figcaption>{title}</figcaption></figure>"

    @staticmethod
    def _of(answer: dict[str, Any]) -> Book:
        parts = {
            "ci": Interval._of(answer["ci"]),
            "histogram": tuple(Bin(b["from"], b["to"], b["worlds"]) for b in answer["histogram"]),
            "loss": Share(**_with_intervals(answer["loss"])),
            "tails": tuple(map(TailRisk._of, answer["tails"])),
            "worst": tuple(WorstWorld(w["world"], w["profit"], tuple(w["lost"])) for w in answer["worst"]),
            "bets": tuple(map(BetRisk._of, answer["bets"])),
        }
        return Book(**{**answer, **parts})


def _with_intervals(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer with its confidence intervals as such."""
    return {name: Interval(*value) if name.endswith("ci") else value for name, value in answer.items()}


@dataclass(frozen=True)
class Comparison:
    """How an outcome of one ensemble differs from that of another."""

    outcome: str
    #: Worlds in both.
    worlds: int
    #: Whether both have the same seed, so that worlds are compared in pairs.
    is_paired: bool
    means: tuple[float, float]
    #: The second mean minus the first.
    difference: float
    #: Its 95% confidence interval; `None` for fewer than two worlds.
    ci: Interval | None
    #: Distance from the difference to the farther end of the interval that unpaired worlds would give.
    unpaired_half_width: float | None
    #: Correlation over paired worlds; `None` if either is constant.
    correlation: float | None
    #: Shares of paired worlds in which the second is less, equal, and greater.
    shares: tuple[float, float, float] | None

    @staticmethod
    def _of(answer: dict[str, Any]) -> Comparison:
        return Comparison(
            outcome=answer["outcome"],
            worlds=answer["worlds"],
            is_paired=answer["is_paired"],
            means=tuple(answer["means"]),
            difference=answer["difference"],
            ci=Interval._of(answer["ci"]),
            unpaired_half_width=answer["unpaired_half_width"],
            correlation=answer["correlation"],
            shares=None if answer["shares"] is None else tuple(answer["shares"]),
        )


@dataclass(frozen=True)
class Correlation:
    """Pearson correlations of an entity's outcomes."""

    outcomes: tuple[str, ...]
    worlds: int
    _rows: list[list[float | None]] = field(repr=False)

    def matrix(self) -> np.ndarray:
        """The square matrix in the order of `outcomes`, `float64`; NaN for a constant outcome."""
        import numpy as np

        return np.array(self._rows, dtype=float).reshape(len(self.outcomes), len(self.outcomes))

    def __getitem__(self, pair: tuple[str, str]) -> float:
        """The correlation of two outcomes; NaN if either is constant."""
        a, b = (self.outcomes.index(name) for name in pair)
        value = self._rows[a][b]
        return float("nan") if value is None else value


@dataclass(frozen=True)
class Check:
    """One property that `verify` checked."""

    name: str
    #: Whether it holds; `None` if there was nothing to check.
    ok: bool | None
    #: The amount checked, the violation found, or why there was nothing to check.
    detail: str


@dataclass(frozen=True)
class Verification:
    """What `verify` found. True if no check fails."""

    ok: bool
    #: Content hash of the stored outcomes.
    hash: str
    #: Content hash of the stored events; `None` if events are replayed.
    event_hash: str | None
    checks: tuple[Check, ...]

    def __bool__(self) -> bool:
        return self.ok

    @staticmethod
    def _of(answer: dict[str, Any]) -> Verification:
        checks = tuple(Check(c["name"], c["ok"], c["detail"]) for c in answer["checks"])
        return Verification(answer["ok"], answer["hash"], answer["event_hash"], checks)
