//! Questions about an ensemble as people and programs put them: names in text, answered over open columns.

use std::error::Error;
use std::sync::Arc;

use model::{Catalogue, Model, UnknownName, Wanted};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use world::WorldRange;

use crate::columns::Columns;
use crate::distribution::Distribution;
use crate::error::EnsembleError;
use crate::event_reader::{EventRows, KeepEvents};
use crate::expression::{Expression, OutcomeRef};
use crate::given::{Given, TooFew};
use crate::interval::Interval;
use crate::known::possible;
use crate::plan::Plan;
use crate::price::{Price, price_while};
use crate::state::{GameState, StateError};
use crate::store::StoredEnsemble;

/// Why a model could not be made.
pub type ModelError = Box<dyn Error + Send + Sync>;

/// Makes the model that a stored plan was played by.
pub type MakeModel = Arc<dyn Fn(&Plan) -> Result<Arc<dyn Model>, ModelError> + Send + Sync>;

const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
const BINS: usize = 20;
/// Legs and conditions of one question.
const CONDITIONS_MAX: usize = 1_000;
/// Outcomes of one question, each of one entity.
const OUTCOMES_MAX: usize = 10_000;
/// Different values of all outcomes of one question, and those of a question that wants them all in its answer.
const VALUES_MAX: usize = 8 << 20;
const CDF_VALUES_MAX: usize = 200_000;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// Stored outcomes or events could not be read.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// A name stands for nothing.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A leg or condition makes no sense.
    #[error(transparent)]
    Expression(#[from] expr::Error),
    /// The question has too many parts.
    #[error("{count} {what} in one question are too many, {max} at most: ask several questions")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How much.
        count: usize,
        /// How much there may be.
        max: usize,
    },
    /// Whoever asked does not wait for the answer.
    #[error("the question was given up")]
    GivenUp,
    /// A moment of a game makes no sense.
    #[error(transparent)]
    State(#[from] StateError),
    /// Too few worlds meet the conditions.
    #[error(transparent)]
    TooFew(#[from] TooFew),
    /// Nothing was asked.
    #[error("say what to price: give at least one leg")]
    NoLegs,
    /// A moment of a game, and no game.
    #[error("a moment of a game needs an entity (--entity), to know of which")]
    NoEntity,
    /// No world can answer yet.
    #[error("ensemble {ensemble:?} has no completed worlds yet")]
    NoWorlds {
        /// The ensemble.
        ensemble: String,
    },
    /// The entity is not played.
    #[error("{entity} has no events: only the entities that are played have")]
    NoEvents {
        /// The entity.
        entity: String,
    },
    /// The model that plays worlds again is not there, or failed.
    #[error("worlds of ensemble {ensemble:?} cannot be played again: {reason}")]
    Replay {
        /// The ensemble.
        ensemble: String,
        /// Why not.
        reason: String,
    },
}

/// What the probability is asked of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceQuestion {
    /// The ensemble.
    pub ensemble: String,
    /// Whose outcomes the legs name; others' are written `entity:outcome`.
    #[serde(default)]
    pub entity: Option<String>,
    /// Conditions, each of which must hold.
    pub legs: Vec<String>,
    /// Count only worlds in which these hold: conditions, or moments of the entity's game.
    #[serde(default)]
    pub given: Vec<String>,
    /// Answer from at least so many worlds.
    #[serde(default = "min_worlds")]
    pub min_worlds: usize,
}

/// Worlds from which an answer under conditions is worth something.
fn min_worlds() -> usize {
    100
}

impl PriceQuestion {
    /// Answers over `columns`, those of the ensemble; `make_model` is asked where events must be played again, and
    /// `wanted` whether anybody waits for the answer.
    ///
    /// # Errors
    /// Where the question makes no sense of the ensemble or is too large, too few worlds match, nobody waits, or
    /// segments cannot be read.
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
        for text in &self.given {
            if GameState::is_meant(text) {
                let state = GameState::parse(text)?;
                let entity = entity.ok_or(QuestionError::NoEntity)?;
                given.add_state(text, state, &times_needed(state, columns.ensemble(), entity, make_model)?);
            } else {
                let condition = parse(text)?;
                given.add(text, &columns.worlds_of(&condition, wanted)?);
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

/// How many times the state's tolerances must be taken for each world's game to have been in it.
fn times_needed(
    state: GameState,
    ensemble: &StoredEnsemble,
    entity: usize,
    make_model: &MakeModel,
) -> Result<Vec<u32>, QuestionError> {
    let mut times = Vec::with_capacity(ensemble.worlds());
    ensemble.bring(&ensemble.events).map_err(EnsembleError::from)?;
    for (range, _, _) in &ensemble.outcomes {
        let events = events_of(ensemble, entity, *range, GameState::reads, make_model)?;
        times.extend(state.times_needed(&ensemble.plan.catalogue, &events)?);
    }
    Ok(times)
}

/// The events of an entity in some worlds of one completed range, the columns for which `wants` says so at least: read
/// where they are stored, played again from the seed where they are not.
///
/// # Errors
/// Where the entity has no events, and where they can be neither read nor played again.
pub fn events_of(
    stored: &StoredEnsemble,
    entity: usize,
    worlds: WorldRange,
    wants: impl Fn(&str) -> bool,
    make_model: &MakeModel,
) -> Result<EventRows, QuestionError> {
    let catalogue = &stored.plan.catalogue;
    let events = match stored.event_segments(worlds)?.first() {
        Some(segment) => {
            let segment = stored.open(segment).map_err(EnsembleError::from)?;
            let has = segment.facts().entities.contains(&entity);
            let read = || segment.events(catalogue, entity, worlds, wants).map_err(EnsembleError::from);
            has.then(read).transpose()?
        }
        None => replay(&stored.plan, entity, worlds, make_model)?,
    };
    events.ok_or_else(|| QuestionError::NoEvents { entity: catalogue.entities[entity].name.clone() })
}

/// Plays an entity's events again from the seed; `None` where it has none.
fn replay(
    plan: &Plan,
    entity: usize,
    worlds: WorldRange,
    make_model: &MakeModel,
) -> Result<Option<EventRows>, QuestionError> {
    let failed = |reason: String| QuestionError::Replay { ensemble: plan.name.clone(), reason };
    let model = make_model(plan).map_err(|e| failed(e.to_string()))?;
    let mut kept = KeepEvents::default();
    let wanted = Wanted { events: true, entity: Some(entity) };
    model.simulate(plan.seed, worlds, wanted, &mut kept).map_err(|e| failed(e.to_string()))?;
    Ok(kept.0.pop())
}

/// Whose outcomes are asked for: each of the outcomes of each of the entities.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeQuestion {
    /// The ensemble.
    pub ensemble: String,
    /// Whose.
    pub entities: Vec<String>,
    /// Which.
    pub outcomes: Vec<String>,
    /// Also every value with the share of the worlds that do not exceed it.
    #[serde(default)]
    pub cdf: bool,
}

/// One outcome and how it is distributed.
#[derive(Debug)]
pub struct OutcomeAnswer {
    /// The entity's name.
    pub entity: String,
    /// Its name for people.
    pub title: String,
    /// The outcome.
    pub outcome: String,
    /// What it counts.
    pub unit: String,
    /// Over the worlds.
    pub distribution: Distribution,
    /// The mean's 95% confidence interval; `None` from fewer than two worlds.
    pub ci: Option<Interval>,
}

impl OutcomeQuestion {
    /// Answers over `columns`, those of the ensemble, for as long as `wanted` says that anybody waits.
    ///
    /// # Errors
    /// Where there is no such entity or outcome, there are too many, nobody waits, or segments cannot be read.
    pub fn answer(&self, columns: &Columns, wanted: &dyn Fn() -> bool) -> Result<Vec<OutcomeAnswer>, QuestionError> {
        /// Columns that are in memory at once.
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

    /// As commands and the server give it in JSON; `cdf` adds the cumulative distribution.
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
    /// What it is and how far, as commands and the server give it in JSON.
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
            "events": plan.events.word(),
            "outcome_bytes": outcome_bytes,
            "event_bytes": event_bytes,
            "created": self.created,
        })
    }
}

/// The columns of an ensemble, at most `limit_bytes` of them in memory.
///
/// # Errors
/// Where it has no completed worlds, or its segments cannot be opened.
pub fn open_columns(stored: StoredEnsemble, limit_bytes: usize) -> Result<Columns, QuestionError> {
    if stored.outcomes.is_empty() {
        return Err(QuestionError::NoWorlds { ensemble: stored.plan.name });
    }
    Ok(Columns::open(stored, limit_bytes)?)
}
