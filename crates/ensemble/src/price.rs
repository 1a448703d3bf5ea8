//! Joint probabilities: the share of worlds in which all legs hold.

use serde::Serialize;

use crate::columns::Columns;
use crate::error::EnsembleError;
use crate::expression::{BitSet, Expression};
use crate::interval::{Interval, Level, of_share};

/// The probability that all legs hold, with its Monte Carlo error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// Share of the worlds in which every leg holds.
    pub probability: f64,
    /// Its 95% Clopper-Pearson confidence interval.
    pub ci: Interval,
    /// Its standard error with two hits and two misses added (Agresti and Coull), so that it is not 0 without hits.
    pub standard_error: f64,
    /// Worlds counted: all, or those that meet the condition.
    pub worlds: usize,
    /// Worlds in which every leg holds.
    pub hits: usize,
    /// Decimal odds without margin, 1 / probability; `None` without hits.
    pub fair_odds: Option<f64>,
    /// The product of the legs' probabilities, as if they were independent.
    pub independent: f64,
    pub legs: Vec<LegPrice>,
}

/// One leg alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LegPrice {
    /// The leg as typed.
    pub leg: String,
    /// Share of the worlds in which it holds.
    pub probability: f64,
}

/// Prices `legs` over the worlds in `given` (`None`: all).
pub fn price(columns: &Columns, legs: &[Expression], given: Option<&BitSet>) -> Result<Price, EnsembleError> {
    price_while(columns, legs, given, &|| true)
}

/// As [`price`], but stops once `wanted` returns false; the price is then meaningless.
pub(crate) fn price_while(
    columns: &Columns,
    legs: &[Expression],
    given: Option<&BitSet>,
    wanted: &dyn Fn() -> bool,
) -> Result<Price, EnsembleError> {
    let worlds = columns.worlds();
    let mut joint = given.cloned().unwrap_or_else(|| BitSet::all(worlds));
    let counted = joint.count();
    let share = |hits: usize| if counted == 0 { 0.0 } else { hits as f64 / counted as f64 };
    let mut alone = Vec::with_capacity(legs.len());
    for leg in legs.iter().take_while(|_| wanted()) {
        let holds = columns.worlds_of(leg, wanted)?;
        let hits = match given {
            None => holds.count(),
            Some(given) => {
                let mut met = holds.clone();
                met.intersect(given);
                met.count()
            }
        };
        joint.intersect(&holds);
        alone.push(LegPrice { leg: leg.text().to_owned(), probability: share(hits) });
    }
    let hits = joint.count();
    let probability = share(hits);
    let (more, near) = (counted as f64 + 4.0, (hits as f64 + 2.0) / (counted as f64 + 4.0));
    Ok(Price {
        probability,
        ci: of_share(hits as u64, counted as u64, Level::FIXED),
        standard_error: (near * (1.0 - near) / more).sqrt(),
        worlds: counted,
        hits,
        fair_odds: (hits > 0).then(|| 1.0 / probability),
        independent: alone.iter().map(|leg| leg.probability).product(),
        legs: alone,
    })
}
