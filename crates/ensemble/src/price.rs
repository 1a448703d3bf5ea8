//! Joint probabilities: in how many worlds do all the legs hold.

use serde::Serialize;

use crate::columns::Columns;
use crate::error::EnsembleError;
use crate::expression::{BitSet, Expression};

/// The probability that all legs hold, with its Monte Carlo error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// Share of the worlds in which every leg holds.
    pub probability: f64,
    /// Standard error of that share: sqrt(p (1 - p) / worlds).
    pub standard_error: f64,
    /// Worlds that count: all, or those that meet the condition.
    pub worlds: usize,
    /// Worlds in which every leg holds.
    pub hits: usize,
    /// Decimal odds without margin, 1 / probability; `None` where no world has it.
    pub fair_odds: Option<f64>,
    /// What the legs' probabilities would multiply to if they were independent.
    pub independent: f64,
    /// Each leg alone.
    pub legs: Vec<LegPrice>,
}

/// One leg alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LegPrice {
    /// As it was typed.
    pub leg: String,
    /// Share of the worlds in which it holds.
    pub probability: f64,
}

/// Prices `legs` over the worlds in `given` (all, where it is `None`).
pub fn price(columns: &Columns, legs: &[Expression], given: Option<&BitSet>) -> Result<Price, EnsembleError> {
    price_while(columns, legs, given, &|| true)
}

/// As [`price`]. The price means nothing once `wanted` says that nobody waits for it.
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
    Ok(Price {
        probability,
        standard_error: (probability * (1.0 - probability) / counted.max(1) as f64).sqrt(),
        worlds: counted,
        hits,
        fair_odds: (hits > 0).then(|| 1.0 / probability),
        independent: alone.iter().map(|leg| leg.probability).product(),
        legs: alone,
    })
}
