//! What aggregates say of outcomes, for people and programs.

use model::{Catalogue, Outcome, OutcomeKind};
use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Aggregates, Follow};
use crate::columns::Columns;
use crate::error::EnsembleError;
use crate::expression::OutcomeRef;
use crate::interval::Interval;

/// What is known of an outcome from some of the worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownOutcome {
    /// Whose it is.
    pub entity: String,
    /// Its name.
    pub outcome: String,
    /// Worlds.
    pub worlds: u64,
    /// Its mean.
    pub mean: f64,
    /// The mean's 95% confidence interval; `None` from fewer than two worlds.
    #[serde(default)]
    pub ci: Option<Interval>,
    /// How far it reaches from the mean, to the farther side.
    pub ci_half_width: Option<f64>,
    /// Its standard deviation.
    pub stddev: f64,
    /// Smallest and largest value.
    pub bounds: Option<[f64; 2]>,
    /// The 5%, 50% and 95% quantiles, within 0.4%.
    pub quantiles: [Option<f64>; 3],
}

impl KnownOutcome {
    /// What an aggregate says of an outcome of an entity, both places in the catalogue.
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

/// As much of an interval as an outcome's mean can be in: a flag is 0 or 1.
pub(crate) fn possible(outcome: &Outcome, Interval { low, high }: Interval) -> Interval {
    match outcome.kind {
        OutcomeKind::Flag => Interval { low: low.max(0.0), high: high.min(1.0) },
        _ => Interval { low, high },
    }
}

impl Aggregates {
    /// What is known of outcomes from the worlds that are stored.
    ///
    /// # Errors
    /// Where they cannot be read.
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

    /// What is known of one outcome of an entity, both places in the catalogue; `None` where it is not followed.
    pub fn known(&self, catalogue: &Catalogue, entity: usize, outcome: usize) -> Option<KnownOutcome> {
        KnownOutcome::of(catalogue, entity, outcome, self.get(entity, outcome)?)
    }

    /// What is known of every outcome that is followed, in the catalogue's order.
    pub fn all_known(&self, catalogue: &Catalogue) -> Vec<KnownOutcome> {
        self.iter().filter_map(|(entity, outcome, a)| KnownOutcome::of(catalogue, entity, outcome, a)).collect()
    }
}
