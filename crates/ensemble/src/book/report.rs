//! The answer to a question about a book.

use serde::Serialize;
use serde_json::{Map, Value};

use super::decimal::Decimal;
use super::{Bet, Book, BookQuestion, Losses, Side, Tail, TailWorlds};
use crate::distribution::Distribution;
use crate::interval::{Interval, Level, of_share};
use crate::questions::{histogram, quantiles};
use crate::stored::StoredEnsemble;

/// The risk of a book. Money is in the unit of the stakes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BookAnswer {
    /// Worlds counted: all, or those that meet the condition.
    pub worlds: usize,
    /// The sum of all stakes.
    pub stake: f64,
    /// Whether the profit of every bet is exact. Otherwise each is rounded to a multiple of `money_unit`.
    pub is_exact: bool,
    /// Profits are whole numbers of this.
    pub money_unit: f64,
    /// The mean profit.
    pub mean: f64,
    /// The mean's 95% confidence interval; `None` for fewer than two worlds.
    pub ci: Option<Interval>,
    pub standard_deviation: f64,
    pub min: f64,
    pub max: f64,
    /// Profits by share of the worlds that do not exceed them.
    pub quantiles: Map<String, Value>,
    /// At most 20 bins of profits.
    pub histogram: Vec<Value>,
    /// The share of the worlds with a negative profit.
    pub loss: Share,
    /// Value at risk and expected shortfall, per level.
    pub tails: Vec<TailRisk>,
    /// The worlds with the lowest profits, worst first.
    pub worst: Vec<WorstWorld>,
    /// Every bet, in the order of the question.
    pub bets: Vec<BetRisk>,
    /// The distribution of the profit.
    #[serde(skip)]
    pub distribution: Distribution,
}

/// A share of the worlds with its 95% Clopper-Pearson confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    pub probability: f64,
    pub ci: Interval,
}

/// Losses in the worst `1 - level` of the worlds, as positive numbers, with 95% confidence intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TailRisk {
    pub level: Decimal,
    /// The loss that `level` of the worlds do not exceed.
    pub value_at_risk: f64,
    pub value_at_risk_ci: Interval,
    /// The mean loss in the tail.
    pub expected_shortfall: f64,
    pub expected_shortfall_ci: Interval,
    /// Worlds in the tail; the last one counts in part.
    pub worlds: f64,
}

/// A world with a low profit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstWorld {
    pub world: u32,
    pub profit: f64,
    /// The bets that lose money in it.
    pub lost: Vec<String>,
}

/// One bet and its part in the risk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BetRisk {
    pub id: String,
    pub legs: Vec<String>,
    pub side: Side,
    pub stake: Decimal,
    pub odds: Decimal,
    /// The share of the worlds in which all legs hold.
    pub probability: f64,
    pub ci: Interval,
    /// The mean profit, in money.
    pub expected_profit: f64,
    pub expected_profit_ci: Interval,
    /// The mean profit for a stake of 1: `probability * odds - 1` for a back, the negative of it for a lay.
    pub edge: f64,
    pub edge_ci: Interval,
    /// Its part of each expected shortfall; the parts of all bets add up to it (Euler allocation).
    pub shortfall: Vec<Shortfall>,
}

/// A part of an expected shortfall.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shortfall {
    pub level: Decimal,
    /// The bet's mean loss in the worlds of the tail, in money; negative for a bet that gains there.
    pub amount: f64,
    /// Its share of the expected shortfall; `None` if that is 0.
    pub share: Option<f64>,
}

impl Book<'_> {
    /// `losses` has the loss of every world, counted or not.
    pub(super) fn report(&self, question: &BookQuestion, ensemble: &StoredEnsemble, losses: &[i64]) -> BookAnswer {
        let money = |units: f64| self.unit.money(units);
        let mut sorted: Vec<i64> = self.counted.worlds().map(|world| losses[world]).collect();
        sorted.sort_unstable();
        let sum: i128 = sorted.iter().map(|loss| i128::from(-loss)).sum();
        // From the largest loss, which is the smallest profit.
        let counts = sorted.chunk_by(|a, b| a == b).rev().map(|run| (money(-run[0] as f64), run.len())).collect();
        let distribution = Distribution::of_counts(counts, money(self.step() as f64));
        let losing = sorted.len() - sorted.partition_point(|loss| *loss <= 0);
        let all = Losses { sorted: &sorted, possible: self.possible(), step: self.step() };
        let tails: Vec<(Decimal, Tail)> = question.levels.iter().map(|level| (*level, all.tail(*level))).collect();
        BookAnswer {
            worlds: sorted.len(),
            stake: self.bets.iter().map(|bet| bet.stake.to_f64()).sum(),
            is_exact: self.unit.is_exact,
            money_unit: money(1.0),
            mean: money(sum as f64 / sorted.len() as f64),
            ci: distribution.interval(),
            standard_deviation: distribution.standard_deviation(),
            min: distribution.quantile(0.0),
            max: distribution.quantile(1.0),
            quantiles: quantiles(&distribution),
            histogram: histogram(&distribution),
            loss: share(losing, sorted.len()),
            tails: tails.iter().map(|(level, tail)| self.tail_risk(*level, tail)).collect(),
            worst: self.worst(question.worst, ensemble, losses),
            bets: self.risks(&tails, losses),
            distribution,
        }
    }

    fn tail_risk(&self, level: Decimal, tail: &Tail) -> TailRisk {
        let money = |units: f64| self.unit.money(units);
        let both = |Interval { low, high }: Interval| Interval { low: money(low), high: money(high) };
        TailRisk {
            level,
            value_at_risk: money(tail.value_at_risk as f64),
            value_at_risk_ci: both(tail.value_at_risk_ci),
            expected_shortfall: money(tail.shortfall),
            expected_shortfall_ci: both(tail.shortfall_ci),
            worlds: tail.mass,
        }
    }

    fn worst(&self, wanted: usize, ensemble: &StoredEnsemble, losses: &[i64]) -> Vec<WorstWorld> {
        let numbers: Vec<u32> = ensemble.world_numbers().map(|world| world.0).collect();
        let mut worlds: Vec<usize> = self.counted.worlds().collect();
        worlds.sort_by_key(|&world| (std::cmp::Reverse(losses[world]), world));
        let loses = |bet: usize, world: usize| {
            let profits = self.profits[bet];
            (if self.met[bet].contains(world) { profits.if_met } else { profits.if_missed }) < 0
        };
        let lost = |world| (0..self.bets.len()).filter(move |bet| loses(*bet, world)).map(|bet| self.id(bet));
        let shown = worlds.into_iter().take(wanted).map(|world| WorstWorld {
            world: numbers[world],
            profit: self.unit.money(-losses[world] as f64),
            lost: lost(world).collect(),
        });
        shown.collect()
    }

    fn id(&self, bet: usize) -> String {
        self.bets[bet].id.clone().unwrap_or_else(|| (bet + 1).to_string())
    }

    fn risks(&self, tails: &[(Decimal, Tail)], losses: &[i64]) -> Vec<BetRisk> {
        let selected: Vec<TailWorlds> =
            tails.iter().map(|(_, tail)| TailWorlds::of(tail, losses, &self.counted)).collect();
        let risk = |(place, bet): (usize, &Bet)| {
            let shortfall = tails.iter().zip(&selected).map(|((level, tail), worlds)| {
                let amount = self.share_of(place, tail, worlds);
                let share = (tail.shortfall != 0.0).then(|| amount / tail.shortfall);
                Shortfall { level: *level, amount: self.unit.money(amount), share }
            });
            let Share { probability, ci } = share(self.met[place].common(&self.counted), self.counted.count());
            let (odds, stake) = (bet.odds.to_f64(), bet.stake.to_f64());
            let edge = |probability: f64| match bet.side {
                Side::Back => probability * odds - 1.0,
                Side::Lay => 1.0 - probability * odds,
            };
            let ends = [edge(ci.low), edge(ci.high)];
            let edge_ci = Interval { low: ends[0].min(ends[1]), high: ends[0].max(ends[1]) };
            BetRisk {
                id: self.id(place),
                legs: bet.legs.clone(),
                side: bet.side,
                stake: bet.stake,
                odds: bet.odds,
                probability,
                ci,
                expected_profit: stake * edge(probability),
                expected_profit_ci: Interval { low: stake * edge_ci.low, high: stake * edge_ci.high },
                edge: edge(probability),
                edge_ci,
                shortfall: shortfall.collect(),
            }
        };
        self.bets.iter().enumerate().map(risk).collect()
    }
}

fn share(hits: usize, worlds: usize) -> Share {
    Share { probability: hits as f64 / worlds as f64, ci: of_share(hits as u64, worlds as u64, Level::FIXED) }
}
