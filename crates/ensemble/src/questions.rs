//! Queries about an ensemble from people and programs: names as text, answered over open columns.

use model::Catalogue;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::columns::Columns;
use crate::distribution::Distribution;
use crate::error::QuestionError;
use crate::expression::{Expression, OutcomeRef};
use crate::given::Given;
use crate::interval::Interval;
use crate::known::possible;
use crate::model_words::ModelWords;
use crate::plan::MakeModel;
use crate::price::{Price, price_while};
use crate::stored::StoredEnsemble;

const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
const BINS: usize = 20;
/// Maximum legs and conditions of one query.
const CONDITIONS_MAX: usize = 1_000;
/// Maximum outcomes of one query, over all its entities.
const OUTCOMES_MAX: usize = 10_000;
/// Maximum distinct values of all outcomes of one query, and of one that returns them all.
const VALUES_MAX: usize = 8 << 20;
const CDF_VALUES_MAX: usize = 200_000;

/// A query for a probability.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceQuestion {
    pub ensemble: String,
    /// The default entity of the legs; other entities' outcomes are written `entity:outcome`.
    #[serde(default)]
    pub entity: Option<String>,
    /// Conditions that must all hold.
    pub legs: Vec<String>,
    /// Count only worlds that meet these: conditions over outcomes, or in the model's own words, for the default entity
    /// or for another as `entity: words`.
    #[serde(default)]
    pub given: Vec<String>,
    /// Require at least this many worlds.
    #[serde(default = "min_worlds")]
    pub min_worlds: usize,
}

/// The fewest worlds that make a conditional answer useful.
fn min_worlds() -> usize {
    100
}

impl PriceQuestion {
    /// Answers over `columns` of the ensemble. Calls `make_model` for conditions in the model's own words, and stops
    /// once `wanted` returns false.
    ///
    /// # Errors
    /// When the query is invalid or too large, too few worlds match, nobody waits, or segments cannot be read.
    pub fn answer(
        &self,
        columns: &Columns,
        make_model: &MakeModel,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Price, QuestionError> {
        if self.legs.is_empty() {
            return Err(QuestionError::NoLegs);
        }
        check_count("legs and conditions", self.legs.len() + self.given.len(), CONDITIONS_MAX)?;
        let catalogue = &columns.ensemble().plan.catalogue;
        let entity = self.entity.as_deref().map(|name| catalogue.find_entity(name)).transpose()?;
        let parse = |text: &String| Expression::parse(text, catalogue, entity);
        let legs = self.legs.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let mut given = Given::new(if self.given.is_empty() { 0 } else { columns.worlds() });
        let mut words = ModelWords::new(columns.ensemble(), entity, make_model);
        for text in &self.given {
            match parse(text) {
                Ok(condition) => given.add(text, &columns.worlds_of(&condition, wanted)?),
                Err(error) => words.add(&mut given, text, error, wanted)?,
            }
            if !wanted() {
                return Err(QuestionError::GivenUp);
            }
        }
        let given = if self.given.is_empty() { None } else { Some(given.worlds(self.min_worlds)?) };
        let price = price_while(columns, &legs, given.as_ref(), wanted)?;
        if wanted() { Ok(price) } else { Err(QuestionError::GivenUp) }
    }
}

fn check_count(what: &'static str, count: usize, max: usize) -> Result<(), QuestionError> {
    if count > max { Err(QuestionError::TooMany { what, count, max }) } else { Ok(()) }
}

/// A query for outcomes: each of the outcomes of each of the entities.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeQuestion {
    pub ensemble: String,
    pub entities: Vec<String>,
    pub outcomes: Vec<String>,
    /// Also return every value with the share of worlds that do not exceed it.
    #[serde(default)]
    pub cdf: bool,
}

/// One outcome and its distribution.
#[derive(Debug)]
pub struct OutcomeAnswer {
    pub entity: String,
    /// The entity's title for people.
    pub title: String,
    pub outcome: String,
    pub unit: String,
    pub distribution: Distribution,
    /// The mean's 95% confidence interval; `None` for fewer than two worlds.
    pub ci: Option<Interval>,
}

impl OutcomeQuestion {
    /// Answers over `columns` of the ensemble; stops once `wanted` returns false.
    ///
    /// # Errors
    /// When an entity or outcome is unknown, there are too many, nobody waits, or segments cannot be read.
    pub fn answer(&self, columns: &Columns, wanted: &dyn Fn() -> bool) -> Result<Vec<OutcomeAnswer>, QuestionError> {
        /// Columns in memory at once.
        const AT_ONCE: usize = 16;
        check_count("outcomes", self.entities.len().saturating_mul(self.outcomes.len()), OUTCOMES_MAX)?;
        let catalogue = &columns.ensemble().plan.catalogue;
        let mut named = Vec::new();
        for name in &self.entities {
            let entity = catalogue.find_entity(name)?;
            let kind = catalogue.kind_of(entity);
            for outcome in &self.outcomes {
                named.push(OutcomeRef { entity, outcome: kind.find_outcome(outcome)? });
            }
        }
        let mut answers = Vec::with_capacity(named.len());
        let mut values = 0;
        let values_max = if self.cdf { CDF_VALUES_MAX } else { VALUES_MAX };
        for some in named.chunks(AT_ONCE) {
            for (outcome, column) in some.iter().zip(columns.get(some)?) {
                if !wanted() {
                    return Err(QuestionError::GivenUp);
                }
                let distribution = Distribution::of(&column);
                values += distribution.counts.len();
                check_count("different values of outcomes", values, values_max)?;
                answers.push(OutcomeAnswer::new(catalogue, *outcome, distribution));
            }
        }
        Ok(answers)
    }
}

impl OutcomeAnswer {
    fn new(catalogue: &Catalogue, outcome: OutcomeRef, distribution: Distribution) -> Self {
        let entity = &catalogue.entities[outcome.entity];
        let described = &catalogue.kind_of(outcome.entity).outcomes[outcome.outcome];
        Self {
            entity: entity.name.clone(),
            title: entity.title.clone(),
            outcome: described.name.clone(),
            unit: described.unit.clone(),
            ci: distribution.interval().map(|interval| possible(described, interval)),
            distribution,
        }
    }

    /// The JSON form in commands and the server; `cdf` adds the cumulative distribution.
    pub fn to_json(&self, cdf: bool) -> Value {
        let d = &self.distribution;
        let quantiles: Map<String, Value> = QUANTILES.iter().map(|q| (q.to_string(), json!(d.quantile(*q)))).collect();
        let bin = |(from, to, n): &(f64, f64, usize)| json!({"from": from, "to": to, "worlds": n});
        let mut value = json!({
            "entity": self.entity,
            "outcome": self.outcome,
            "unit": self.unit,
            "worlds": d.worlds,
            "mean": d.mean(),
            "ci": self.ci,
            "standard_deviation": d.standard_deviation(),
            "min": d.quantile(0.0),
            "max": d.quantile(1.0),
            "quantiles": quantiles,
            "histogram": d.histogram(BINS).iter().map(bin).collect::<Vec<_>>(),
        });
        if cdf {
            value["cdf"] = d.cdf().map(|(v, p)| json!({"value": v, "probability": p})).collect();
        }
        value
    }
}

impl StoredEnsemble {
    /// Summary and progress, in the JSON form of commands and the server.
    pub fn to_json(&self) -> Value {
        let (outcome_bytes, event_bytes) = self.bytes();
        let plan = &self.plan;
        json!({
            "ensemble": plan.name,
            "state": self.state(),
            "enough": self.enough,
            "version": self.version,
            "model": plan.model,
            "worlds": self.worlds(),
            "planned": plan.worlds.count(),
            "seed": plan.seed.0,
            "events": plan.events.into_str(),
            "outcome_bytes": outcome_bytes,
            "event_bytes": event_bytes,
            "created": self.created,
        })
    }
}

/// Opens the columns of an ensemble; caches at most `limit_bytes` of them.
///
/// # Errors
/// When it has no completed worlds, or its segments cannot be opened.
pub fn open_columns(stored: StoredEnsemble, limit_bytes: usize) -> Result<Columns, QuestionError> {
    if stored.outcomes.is_empty() {
        return Err(QuestionError::NoWorlds { ensemble: stored.plan.name });
    }
    Ok(Columns::open(stored, limit_bytes)?)
}
