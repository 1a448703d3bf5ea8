//! Aggregates of outcomes as reports.

use model::{Catalogue, Outcome, OutcomeKind};
use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Aggregates, Follow};
use crate::columns::Columns;
use crate::error::EnsembleError;
use crate::expression::OutcomeRef;
use crate::interval::Interval;

/// An estimate of an outcome from some worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownOutcome {
    pub entity: String,
    pub outcome: String,
    pub worlds: u64,
    pub mean: f64,
    /// The mean's 95% confidence interval; `None` for fewer than two worlds.
    #[serde(default)]
    pub ci: Option<Interval>,
    /// The distance from the mean to the farther end of the interval.
    pub ci_half_width: Option<f64>,
    pub stddev: f64,
    /// Smallest and largest value.
    pub bounds: Option<[f64; 2]>,
    /// The 5%, 50% and 95% quantiles, within 0.4%.
    pub quantiles: [Option<f64>; 3],
}

impl KnownOutcome {
    /// Reports an aggregate of an outcome of an entity, both catalogue indices.
    fn of(catalogue: &Catalogue, entity: usize, outcome: usize, aggregate: &Aggregate) -> Option<Self> {
        let (entity, outcome) = (catalogue.entities.get(entity)?, catalogue.kind_of(entity).outcomes.get(outcome)?);
        Some(Self {
            entity: entity.name.clone(),
            outcome: outcome.name.clone(),
            worlds: aggregate.count,
            mean: aggregate.mean(),
            ci: aggregate.interval().map(|interval| possible(outcome, interval)),
            ci_half_width: aggregate.ci_half_width(),
            stddev: aggregate.variance().sqrt(),
            bounds: aggregate.bounds(),
            quantiles: [0.05, 0.5, 0.95].map(|q| aggregate.quantile(q)),
        })
    }
}

/// Clips an interval to the possible means of an outcome: a flag is 0 or 1.
fn possible(outcome: &Outcome, interval: Interval) -> Interval {
    if outcome.kind == OutcomeKind::Flag { interval.of_flag() } else { interval }
}

impl Aggregates {
    /// Aggregates outcomes over the stored worlds.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn of_stored(columns: &Columns, follow: &Follow) -> Result<Self, EnsembleError> {
        let catalogue = &columns.ensemble().plan.catalogue;
        let mut aggregates = Self::default();
        for (entity, outcome) in follow.outcomes(catalogue) {
            for column in columns.get(&[OutcomeRef { entity, outcome }])? {
                aggregates.insert(entity, outcome, Aggregate::of_column(&column));
            }
        }
        Ok(aggregates)
    }

    /// Reports one outcome of an entity, both catalogue indices; `None` if it is not followed.
    pub fn known(&self, catalogue: &Catalogue, entity: usize, outcome: usize) -> Option<KnownOutcome> {
        KnownOutcome::of(catalogue, entity, outcome, self.get(entity, outcome)?)
    }

    /// Reports every followed outcome, in the catalogue's order.
    pub fn all_known(&self, catalogue: &Catalogue) -> Vec<KnownOutcome> {
        self.iter().filter_map(|(entity, outcome, a)| KnownOutcome::of(catalogue, entity, outcome, a)).collect()
    }
}
