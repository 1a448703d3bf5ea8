//! The risk of a book of bets: profit and loss in every world.
//!
//! Money is counted in whole numbers of a small unit ([`money`]), so sums over bets are exact. A bet is one set of
//! worlds, and bets with equal legs share it. Memory: these sets (at most 256 MB), and 48 bytes per world.

mod decimal;
mod file;
mod legs;
mod money;
mod report;
mod tail;

use std::fmt;
use std::sync::Arc;

pub use decimal::{Decimal, DecimalError};
pub use file::{BetFile, BetFileError};
use legs::Legs;
use model::Catalogue;
use money::{ODDS_MAX, Profits, STAKE_MAX, Unit, profits};
pub use report::{BetRisk, BookAnswer, Share, Shortfall, TailRisk, WorstWorld};
use serde::{Deserialize, Serialize};
use tail::{Losses, Tail, TailWorlds};

use crate::columns::Columns;
use crate::error::QuestionError;
use crate::expression::BitSet;
use crate::plan::MakeModel;
use crate::questions::{check_count, given_worlds, min_worlds};

/// Maximum bets of one book, and legs of all its bets.
const BETS_MAX: usize = 20_000;
const LEGS_MAX: usize = 100_000;
/// Maximum levels, and worlds listed as the worst.
const LEVELS_MAX: usize = 16;
const WORST_MAX: usize = 1_000;

/// A query for the risk of a book.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BookQuestion {
    pub ensemble: String,
    /// The default entity of legs and conditions; other entities' outcomes are written `entity:outcome`.
    #[serde(default)]
    pub entity: Option<String>,
    pub bets: Vec<Bet>,
    /// Count only worlds that meet these; see [`PriceQuestion::given`](crate::PriceQuestion::given).
    #[serde(default)]
    pub given: Vec<String>,
    /// Require at least this many worlds.
    #[serde(default = "min_worlds")]
    pub min_worlds: usize,
    /// Levels of value at risk and expected shortfall, between 0 and 1.
    #[serde(default = "levels")]
    pub levels: Vec<Decimal>,
    /// Number of worlds to list.
    #[serde(default = "worst")]
    pub worst: usize,
}

fn levels() -> Vec<Decimal> {
    vec![Decimal::percent(95), Decimal::percent(99)]
}

fn worst() -> usize {
    10
}

/// A bet: it wins in the worlds in which all legs hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bet {
    /// A name for reports; by default the bet's position, from 1.
    #[serde(default)]
    pub id: Option<String>,
    /// The default entity of the legs; overrides that of the book.
    #[serde(default)]
    pub entity: Option<String>,
    /// Conditions that must all hold.
    pub legs: Vec<String>,
    /// The backer's stake, in money: 0 to 10^12.
    pub stake: Decimal,
    /// Decimal odds, above 1 and up to 10^6: the payout for a stake of 1, the stake included.
    pub odds: Decimal,
    #[serde(default)]
    pub side: Side,
}

/// Whether the book backs a bet or lays it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Gains `stake * (odds - 1)` if the bet is met, and loses the stake otherwise.
    #[default]
    Back,
    /// Loses `stake * (odds - 1)` if the bet is met, and gains the stake otherwise.
    Lay,
}

/// A part of a bet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BetField {
    Legs,
    Entity,
    Stake,
    Odds,
}

impl fmt::Display for BetField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legs => "legs",
            Self::Entity => "entity",
            Self::Stake => "stake",
            Self::Odds => "odds",
        })
    }
}

impl Bet {
    fn check(&self) -> Result<(), (BetField, String)> {
        let Self { stake, odds, .. } = self;
        if self.legs.is_empty() {
            return Err((BetField::Legs, "no condition: give at least one".to_owned()));
        }
        if stake.digits() < 0 || stake.is_above(STAKE_MAX) {
            return Err((BetField::Stake, format!("the stake {stake} is not between 0 and {STAKE_MAX}")));
        }
        if !odds.is_above(1) || odds.is_above(ODDS_MAX) {
            let reason = format!("decimal odds are above 1 and at most {ODDS_MAX}, not {odds}");
            return Err((BetField::Odds, reason));
        }
        Ok(())
    }

    /// The worlds in which it is met.
    fn met(&self, legs: &mut Legs<'_>, catalogue: &Catalogue, entity: Option<usize>) -> Result<Arc<BitSet>, BetError> {
        let of_entity = |error: model::UnknownName| (BetField::Entity, error.into());
        let own = catalogue.asked_entity(self.entity.as_deref()).map_err(of_entity)?;
        legs.met(own.or(entity), &self.legs).map_err(|error| (BetField::Legs, error))
    }
}

type BetError = (BetField, QuestionError);

/// The bets over worlds.
struct Book<'a> {
    bets: &'a [Bet],
    unit: Unit,
    profits: Vec<Profits>,
    /// The worlds in which each bet is met.
    met: Vec<Arc<BitSet>>,
    counted: BitSet,
}

impl BookQuestion {
    /// Answers over `columns` of the ensemble. Calls `make_model` for conditions in the model's own words, and stops
    /// once `wanted` returns false.
    ///
    /// # Errors
    /// When a bet is invalid ([`QuestionError::Bet`]), the book is empty or too large, a level is not between 0 and 1,
    /// too few worlds match, the caller gives up, or segments cannot be read.
    pub fn answer(
        &self,
        columns: &Columns,
        make_model: &MakeModel,
        wanted: &dyn Fn() -> bool,
    ) -> Result<BookAnswer, QuestionError> {
        self.check()?;
        let catalogue = &columns.ensemble().plan.catalogue;
        let entity = catalogue.asked_entity(self.entity.as_deref())?;
        let (unit, profits) = profits(&self.bets).ok_or(QuestionError::BookAmounts)?;
        let mut legs = Legs::new(columns, wanted);
        let mut met = Vec::with_capacity(self.bets.len());
        for (bet, place) in self.bets.iter().zip(0..) {
            let set = bet.met(&mut legs, catalogue, entity);
            met.push(set.map_err(|(field, error)| invalid(place, field, error))?);
        }
        drop(legs);
        let given = given_worlds(&self.given, self.min_worlds.max(1), entity, columns, make_model, wanted)?;
        let counted = given.unwrap_or_else(|| BitSet::all(columns.worlds()));
        let book = Book { bets: &self.bets, unit, profits, met, counted };
        let losses = book.losses();
        if !wanted() {
            return Err(QuestionError::GivenUp);
        }
        Ok(book.report(self, columns.ensemble(), &losses))
    }

    fn check(&self) -> Result<(), QuestionError> {
        if self.bets.is_empty() {
            return Err(QuestionError::NoBets);
        }
        check_count("bets", self.bets.len(), BETS_MAX)?;
        check_count("legs", self.bets.iter().map(|bet| bet.legs.len()).sum(), LEGS_MAX)?;
        check_count("levels", self.levels.len(), LEVELS_MAX)?;
        check_count("worst worlds", self.worst, WORST_MAX)?;
        if let Some(level) = self.levels.iter().find(|level| level.digits() <= 0 || !level.is_below(1)) {
            return Err(QuestionError::Level { level: level.to_string() });
        }
        for (bet, place) in self.bets.iter().zip(0..) {
            bet.check().map_err(|(field, reason)| QuestionError::Bet { place, field: field.to_string(), reason })?;
        }
        Ok(())
    }
}

/// Adds the place of a bet to its error.
fn invalid(place: usize, field: BetField, error: QuestionError) -> QuestionError {
    match error {
        QuestionError::Unknown(_) | QuestionError::Expression(_) => {
            QuestionError::Bet { place, field: field.to_string(), reason: error.to_string() }
        }
        other => other,
    }
}

impl Book<'_> {
    /// The loss in every world, in units.
    fn losses(&self) -> Vec<i64> {
        let if_missed: i64 = self.profits.iter().map(|profits| -profits.if_missed).sum();
        let mut losses = vec![if_missed; self.counted.len()];
        for (met, profits) in self.met.iter().zip(&self.profits) {
            met.add_to(&mut losses, profits.if_missed - profits.if_met);
        }
        losses
    }

    /// The smallest and largest loss that the bets allow.
    fn possible(&self) -> [i64; 2] {
        let sum = |pick: fn(i64, i64) -> i64| self.profits.iter().map(|p| pick(-p.if_met, -p.if_missed)).sum();
        [sum(i64::min), sum(i64::max)]
    }

    /// The largest number that divides all differences between losses.
    fn step(&self) -> i64 {
        let differences = self.profits.iter().map(|profits| (profits.if_met - profits.if_missed).abs());
        differences.fold(0, |mut a, mut b| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        })
    }

    /// The part of a tail's mean loss that comes from one bet.
    fn share_of(&self, bet: usize, tail: &Tail, worlds: &TailWorlds) -> f64 {
        let Profits { if_met, if_missed } = self.profits[bet];
        let met = worlds.weight(&self.met[bet], tail);
        (0.0 - met * if_met as f64 - (tail.mass - met) * if_missed as f64) / tail.mass
    }
}

#[cfg(test)]
mod tests;
