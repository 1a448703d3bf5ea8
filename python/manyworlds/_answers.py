"""Answers about ensembles."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, overload

from . import _shown as shown
from .errors import InvalidError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np

#: Outcomes of a matrix, and pairs of a longer list, that a notebook shows.
_SHOWN_OUTCOMES, _SHOWN_PAIRS = 12, 20


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
    """The share of worlds in which all conditions hold. `float()` gives `probability`; a notebook shows fair odds."""

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

    def __repr__(self) -> str:
        ends = f"{shown.percent(self.ci.low)} to {shown.percent(self.ci.high)}"
        return f"<manyworlds.Probability {shown.percent(self.probability)} (95%: {ends}): {self.hits:,} of {self.worlds:,} worlds>"

    def _repr_html_(self) -> str:
        row = lambda name, share, ends="": (  # noqa: E731
            name, shown.percent(share) + ends, f"{1 / share:.2f}" if share else ""
        )  # fmt: skip
        rows = [row(c.text, c.probability) for c in self.conditions]
        rows.append(row("if independent", self.independent))
        ends = f" ({shown.percent(self.ci.low)} to {shown.percent(self.ci.high)})"
        rows.append(row(f"all, in {self.worlds:,} worlds", self.probability, ends))
        return shown.table(("condition", "probability", "fair odds"), rows)

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

    @overload
    def quantile(self, p: float) -> float: ...

    @overload
    def quantile(self, p: Sequence[float] | np.ndarray) -> np.ndarray: ...

    def quantile(self, p: float | Sequence[float] | np.ndarray) -> float | np.ndarray:
        """The smallest value that at least a share `p` (0 to 1) of the worlds does not exceed; an array for several.

        Raises:
            InvalidError: if `p` is not from 0 to 1.
        """
        if isinstance(p, Real):
            return self._quantile(float(p))
        import numpy as np

        try:
            shares = np.asarray(p, dtype=float)
        except (TypeError, ValueError):
            raise InvalidError(f"a quantile's share is {p!r}: give a number from 0 to 1") from None
        return np.array([self._quantile(share) for share in shares.flat]).reshape(shares.shape)[()]

    def _quantile(self, share: float) -> float:
        if not 0 <= share <= 1:
            raise InvalidError(f"a quantile's share is {share}: give a number from 0 to 1")
        values, shares = self._steps()
        return values[min(bisect_left(shares, share), len(values) - 1)]

    def __getstate__(self) -> dict[str, Any]:
        # A copy in another process knows all values, and needs no ensemble.
        self._steps()
        return {**self.__dict__, "_fetch": None}

    @property
    def _name(self) -> str:
        return f"{self.outcome} of {self.entity}" if self.entity else self.outcome

    @property
    def _title(self) -> str:
        """What the values are: `OUTCOME of ENTITY, UNIT`."""
        return f"{self._name}, {self.unit}" if self.unit else self._name

    @property
    def _mean(self) -> str:
        """The mean, and its interval if it is known."""
        ends = f" ({shown.interval(self.ci.low, self.ci.high)})" if self.ci and math.isfinite(self.mean) else ""
        return f"mean {shown.number(self.mean)}{ends}"

    def _not_finite(self) -> int:
        """Worlds whose value is NaN or infinite."""
        if math.isfinite(self.mean):
            return 0
        values, shares = self._steps()
        steps = (share - before for share, before in zip(shares, [0.0, *shares]))
        return round(self.worlds * sum(step for value, step in zip(values, steps) if not math.isfinite(value)))

    def __repr__(self) -> str:
        ends = f"{shown.number(self.min)} to {shown.number(self.max)}"
        return f"<manyworlds.Distribution of {self._title}: {self._mean}, values {ends}, {self.worlds:,} worlds>"

    def _repr_html_(self) -> str:
        if self.labels:
            rows = [(label, shown.percent(share)) for label, share in self.labels.items()]
            return shown.table((self._name, "share of worlds"), rows, f"{self.worlds:,} worlds")
        spread = f"{self._mean}, standard deviation {shown.number(self.standard_deviation)}; {self.worlds:,} worlds"
        if others := self._not_finite():
            spread += f", {others:,} of them with NaN or an infinite value"
        return shown.figure(_picture(self.histogram, self._title), f"{self._title}: {spread}")

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


def _picture(bins: tuple[Bin, ...], caption: str) -> str:
    """A histogram as an image; empty if an end is not finite."""
    return shown.histogram([(b.low, b.high, b.worlds) for b in bins], caption)


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
        return f"<figure>{_picture(self.histogram, 'profit')}<figcaption>{title}</figcaption></figure>"

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

    def _repr_html_(self) -> str:
        return Comparisons([self])._repr_html_()

    @staticmethod
    def _of(answer: dict[str, Any]) -> Comparison:
        first, second = map(_number, answer["means"])
        return Comparison(
            outcome=answer["outcome"],
            worlds=answer["worlds"],
            is_paired=answer["is_paired"],
            means=(first, second),
            difference=_number(answer["difference"]),
            ci=Interval._of(answer["ci"]),
            unpaired_half_width=answer["unpaired_half_width"],
            correlation=answer["correlation"],
            shares=None if answer["shares"] is None else tuple(answer["shares"]),
        )


class Comparisons(list[Comparison]):
    """Comparisons of several outcomes: a list that a notebook shows as a table."""

    def __init__(self, comparisons: Iterable[Comparison] = (), names: tuple[str, str] = ("first", "second")) -> None:
        super().__init__(comparisons)
        #: The names of the two ensembles.
        self.names = names

    def _repr_html_(self) -> str:
        heads = ("outcome", *(f"mean in {name}" for name in self.names), "difference", "95% interval", "worlds", "compared")
        return shown.table(heads, [_compared(comparison) for comparison in self])


def _compared(c: Comparison) -> tuple[str, ...]:
    """A row of a table of comparisons."""
    sign = "+" if c.difference > 0 else ""
    ends = f"{shown.number(c.ci.low)} to {shown.number(c.ci.high)}" if c.ci else ""
    how = "in pairs" if c.is_paired else "independently"
    return c.outcome, *map(shown.number, c.means), sign + shown.number(c.difference), ends, f"{c.worlds:,}", how


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
        if lacking := next((name for name in pair if name not in self.outcomes), None):
            raise UnknownNameError(f"no outcome {lacking!r} among the correlated ones: {', '.join(self.outcomes[:10])}")
        a, b = (self.outcomes.index(name) for name in pair)
        return _number(self._rows[a][b])

    def __str__(self) -> str:
        width = max(map(len, self.outcomes[:_SHOWN_OUTCOMES]))
        cell = lambda value: "      " if value is None else f"{value:6.3f}"  # noqa: E731
        shown_rows = list(zip(self.outcomes, self._rows))[:_SHOWN_OUTCOMES]
        lines = [" ".join([name.ljust(width), *map(cell, row[: place + 1])]) for place, (name, row) in enumerate(shown_rows)]
        more = len(self.outcomes) - len(lines)
        return "\n".join([*lines, *([f"{more} more outcomes"] if more else []), f"{self.worlds:,} worlds"])

    def _repr_html_(self) -> str:
        note = f"{self.worlds:,} worlds"
        cell = lambda value: "" if value is None else f"{value:.3f}"  # noqa: E731
        if len(self.outcomes) <= _SHOWN_OUTCOMES:
            rows = [(name, *map(cell, row)) for name, row in zip(self.outcomes, self._rows)]
            return shown.table(("", *self.outcomes), rows, note)
        pairs = (
            (abs(value), name, other, value)
            for place, (name, row) in enumerate(zip(self.outcomes, self._rows))
            for other, value in zip(self.outcomes[:place], row)
            if value is not None
        )
        strongest = heapq.nlargest(_SHOWN_PAIRS, pairs, key=lambda pair: pair[0])
        note = f"the strongest of the correlations of {len(self.outcomes)} outcomes; {note}"
        return shown.table(("outcome", "outcome", "correlation"), [(b, a, cell(r)) for _, a, b, r in strongest], note)


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

    def _repr_html_(self) -> str:
        holds = {True: "yes", False: "no", None: "not checked"}
        rows = [(check.name, holds[check.ok], check.detail) for check in self.checks]
        hashes = [("outcome hash", self.hash), ("event hash", self.event_hash)]
        return shown.table(("check", "holds", "detail"), [*rows, *((name, "", text) for name, text in hashes if text)])

    @staticmethod
    def _of(answer: dict[str, Any]) -> Verification:
        checks = tuple(Check(c["name"], c["ok"], c["detail"]) for c in answer["checks"])
        return Verification(answer["ok"], answer["hash"], answer["event_hash"], checks)
