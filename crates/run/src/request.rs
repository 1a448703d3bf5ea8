//! Makes the plan of an ensemble from a user's wishes.

use std::sync::Arc;
use std::time::Duration;

use ensemble::{EventMode, NameError, OutcomeRef, Plan, check_name};
use model::{Catalogue, DefinitionError, Model, ParameterError, Parameters, Plugin, UnknownName};
use world::{RangeError, Seed, World, WorldRange};

use crate::error::RunError;
use crate::execute::Until;
use crate::probe::{Probe, play_first_world};

/// The worlds that a user asks for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Default: the name of the model.
    pub name: Option<String>,
    pub worlds: u32,
    pub seed: u64,
    pub events: EventMode,
    /// Worlds of a range; by default what suits the model and its players.
    pub range_worlds: Option<u32>,
}

/// Who plays, which determines the size of ranges.
#[derive(Debug, Clone, Copy)]
pub enum Sizing {
    /// Threads of one process that nobody watches: large ranges, which compress best.
    Threads(usize),
    /// Any number of workers, or a process that somebody watches and may pause: ranges of a second or two.
    Shared,
}

/// Why a request has no plan.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Worlds(#[from] RangeError),
    #[error("a range needs at least one world")]
    NoRange,
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    #[error("{model} takes no definition")]
    TakesNone { model: String },
    /// The model cannot play without a definition.
    #[error("{model} needs an {name}: {doc}")]
    Undefined { model: String, name: String, doc: String },
    /// The text does not define what the model plays.
    #[error("this text does not define a valid {name}:\n{faults}")]
    Faults { name: String, faults: DefinitionError },
    /// The model cannot play its first world.
    #[error(transparent)]
    FirstWorld(RunError),
    /// The goal names no outcome.
    #[error(transparent)]
    Outcome(#[from] UnknownName),
    #[error("{0:?} names no outcome: write it as ENTITY:OUTCOME")]
    NoOutcome(String),
    #[error("{0}")]
    Goal(String),
}

/// Adds a definition to a model's parameters: the text of one, or the source of a model that was described at run time.
/// Without a text they keep the definition that they have.
///
/// # Errors
/// If the text is faulty, or missing although the model needs one.
pub fn defined(plugin: &Plugin, parameters: Parameters, text: Option<&str>) -> Result<Parameters, RequestError> {
    let model = || plugin.name.clone();
    match (&plugin.definition, text) {
        (Some(definition), Some(text)) => {
            let name = || definition.name.to_string();
            let read = (definition.read)(text).map_err(|faults| RequestError::Faults { name: name(), faults })?;
            Ok(parameters.defining(read))
        }
        (None, Some(_)) => Err(RequestError::TakesNone { model: model() }),
        (Some(definition), None) if definition.required && parameters.given_definition().is_none() => {
            let (name, doc) = (definition.name.to_string(), definition.doc.to_string());
            Err(RequestError::Undefined { model: model(), name, doc })
        }
        (_, None) => Ok(match &plugin.origin {
            Some(origin) => parameters.defining(origin.clone()),
            None => parameters,
        }),
    }
}

impl Request {
    /// The model and the plan. Plays a few worlds to size the ranges.
    ///
    /// `within` is the time limit of a range, for a model that has one.
    ///
    /// # Errors
    /// If the name, the worlds or the parameters are refused, or the model cannot play its first world: its mistakes show
    /// before the name is taken.
    pub fn plan(
        &self,
        plugin: &Plugin,
        parameters: &Parameters,
        sizing: Sizing,
        within: Option<Duration>,
    ) -> Result<(Arc<dyn Model>, Plan), RequestError> {
        let name = self.name.clone().unwrap_or_else(|| plugin.ensemble_name());
        check_name(&name)?;
        let model: Arc<dyn Model> = (plugin.build)(parameters)?.into();
        let (worlds, seed) = (WorldRange::new(World(0), self.worlds)?, Seed(self.seed));
        play_first_world(&*model, &plugin.name, seed).map_err(RequestError::FirstWorld)?;
        let range_worlds = match self.range_worlds {
            Some(0) => return Err(RequestError::NoRange),
            Some(size) => size,
            None => {
                let probe = Probe::of(&*model, seed, self.events.is_stored());
                let size = match sizing {
                    Sizing::Threads(threads) => probe.range_worlds(self.worlds, threads),
                    Sizing::Shared => probe.fleet_range_worlds(self.worlds, model.catalogue()),
                };
                size.min(within.map_or(u32::MAX, |limit| probe.worlds_within(limit)))
            }
        };
        let plan = Plan {
            name,
            model: plugin.name.clone(),
            parameters: parameters.to_json(),
            seed,
            worlds,
            range_worlds,
            events: self.events,
            catalogue: model.catalogue().clone(),
        };
        Ok((model, plan))
    }
}

impl Until {
    /// The goal for an outcome that is written as `ENTITY:OUTCOME`.
    ///
    /// # Errors
    /// If the model has no such outcome, or the goal is no width of an interval.
    pub fn parse(catalogue: &Catalogue, outcome: &str, goal: &str) -> Result<Self, RequestError> {
        let OutcomeRef { entity, outcome } = outcome_of(catalogue, outcome)?;
        Ok(Self { entity, outcome, goal: goal.parse().map_err(RequestError::Goal)? })
    }
}

/// The outcome that is written as `ENTITY:OUTCOME`.
///
/// # Errors
/// If the model has no such outcome.
pub fn outcome_of(catalogue: &Catalogue, name: &str) -> Result<OutcomeRef, RequestError> {
    let (entity, outcome) = name.split_once(':').ok_or_else(|| RequestError::NoOutcome(name.to_owned()))?;
    let entity = catalogue.find_entity(entity)?;
    let outcome = catalogue.kind_of(entity).find_outcome(outcome)?;
    Ok(OutcomeRef { entity, outcome })
}
