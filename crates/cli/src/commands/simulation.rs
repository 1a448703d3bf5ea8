//! Makes plans and models from flags.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use ensemble::{EnsembleError, EventMode, OutcomeRef, Plan, check_name};
use model::{Catalogue, Model, Parameters, Plugin};
use program::Limits;
use run::{Probe, Until, play_first_world};
use world::{Seed, World, WorldRange};

use super::MODELS;
use crate::args::{Events, ModelArgs, PlanArgs, PlayedByArgs, ProgramLimitArgs, UntilArgs};

/// The players of an ensemble; they determine the size of its ranges.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sizing {
    /// Threads of one process.
    Threads(usize),
    /// Any number of workers.
    Fleet,
}

/// The plan, with ranges sized for its players.
pub(crate) fn planned(args: &PlanArgs, sizing: Sizing) -> Result<(Arc<dyn Model>, Plan)> {
    let plugin = plugin_of(&args.model)?;
    let name = args.name.clone().unwrap_or_else(|| plugin.ensemble_name());
    check_name(&name)?;
    let parameters = parameters(&plugin, &args.model)?;
    let model: Arc<dyn Model> = (plugin.build)(&parameters)?.into();
    let worlds = WorldRange::new(World(0), args.worlds).context("--worlds")?;
    let seed = Seed(args.seed);
    let is_program = args.model.program.program.is_some();
    if is_program {
        // A program's mistakes show early, before its name is taken.
        let played = play_first_world(&*model, seed);
        played.map_err(|stop| anyhow!("the first world could not be played: {}", stop.reason(&plugin.name)))?;
    }
    let range_worlds = match args.range_worlds {
        Some(0) => bail!("--range-worlds 0: a range needs at least one world"),
        Some(size) => size,
        None => {
            let probe = Probe::of(&*model, seed, args.events == Events::Store);
            let size = match sizing {
                Sizing::Threads(threads) => args.worlds.div_ceil(threads as u32).min(probe.range_worlds()),
                Sizing::Fleet => probe.fleet_range_worlds(args.worlds, model.catalogue()),
            };
            if is_program { size.min(timely(&args.model.program.limit, probe)) } else { size }
        }
    };
    let plan = Plan {
        name,
        model: plugin.name.clone(),
        parameters: parameters.to_json(),
        seed,
        worlds,
        range_worlds,
        events: match args.events {
            Events::Store => EventMode::Store,
            Events::Replay => EventMode::Replay,
        },
        catalogue: model.catalogue().clone(),
    };
    Ok((model, plan))
}

/// The outcome to estimate, and its precision.
pub(crate) fn until(args: &UntilArgs, catalogue: &Catalogue) -> Result<Option<Until>> {
    let (Some(goal), Some(name)) = (args.until_ci, &args.outcome) else { return Ok(None) };
    let OutcomeRef { entity, outcome } = outcome_of(catalogue, name)?;
    Ok(Some(Until { entity, outcome, goal }))
}

/// Resolves `--outcome ENTITY:OUTCOME`.
pub(crate) fn outcome_of(catalogue: &Catalogue, name: &str) -> Result<OutcomeRef> {
    let (entity, outcome) =
        name.split_once(':').with_context(|| format!("--outcome {name}: write it as ENTITY:OUTCOME"))?;
    let entity = catalogue.find_entity(entity)?;
    let outcome = catalogue.kind_of(entity).find_outcome(outcome)?;
    Ok(OutcomeRef { entity, outcome })
}

/// The model that the arguments name, or a program.
pub(crate) fn plugin_of(args: &ModelArgs) -> Result<Arc<Plugin>> {
    match (&args.program.program, &args.model) {
        (Some(command), _) => started(command, &args.program.limit),
        (None, Some(model)) => Ok(MODELS.find(model)?),
        (None, None) => bail!("name a model"),
    }
}

/// Starts a program as a model.
pub(crate) fn started(command: &str, limit: &ProgramLimitArgs) -> Result<Arc<Plugin>> {
    let limits = Limits { range: Duration::from_secs(limit.program_seconds) };
    let plugin = program::plugin(command, limits).with_context(|| format!("--program {command}"))?;
    let name = plugin.name.clone();
    MODELS.add(plugin)?;
    Ok(MODELS.find(&name)?)
}

/// Starts the program that played an ensemble, if it is named.
///
/// # Errors
/// If it does not start, or is another than the one that played these worlds.
pub(crate) fn at_hand(args: &PlayedByArgs, plan: &Plan) -> Result<()> {
    let Some(command) = &args.program else { return Ok(()) };
    let program = started(command, &args.limit)?;
    if program.name != plan.model {
        bail!("ensemble {:?} was played by {}, not by {}", plan.name, plan.model, program.name);
    }
    Ok(())
}

/// An error of a replay, with advice if it needs a program that is not started.
pub(crate) fn replayable(plan: &Plan, error: EnsembleError) -> anyhow::Error {
    let is_missing = plan.model.starts_with(program::PREFIX) && MODELS.find(&plan.model).is_err();
    match error {
        EnsembleError::Replay { .. } if is_missing => anyhow!("{error}; name it with --program COMMAND"),
        error => error.into(),
    }
}

/// Worlds that a program plays well within its time.
fn timely(limit: &ProgramLimitArgs, probe: Probe) -> u32 {
    const PART: u32 = 4;
    let time = Duration::from_secs(limit.program_seconds) / PART;
    let worlds = time.as_nanos().checked_div(probe.world.as_nanos()).unwrap_or(u128::MAX);
    u32::try_from(worlds).unwrap_or(u32::MAX).max(1)
}

pub(crate) fn parameters(plugin: &Plugin, args: &ModelArgs) -> Result<Parameters> {
    let given = args.parameters.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let parameters = Parameters::parse(&plugin.parameters, given)?;
    let wanted = plugin.definition.as_ref().map(|definition| &*definition.name);
    if let Some((name, _)) = args.definitions().find(|(name, _)| Some(*name) != wanted) {
        bail!("--{name}: {} takes no {name}", plugin.name);
    }
    Ok(match (&plugin.definition, args.definitions().next()) {
        (Some(definition), Some((_, path))) => {
            let read = (definition.read)(&text_of(path)?);
            parameters.defining(read.map_err(|faults| invalid_definition(path, &definition.name, &faults))?)
        }
        (Some(definition), None) if definition.required => bail!(
            "{} needs an {}: name its file with --{} FILE ({})",
            plugin.name,
            definition.name,
            definition.name,
            definition.doc
        ),
        _ => match &plugin.origin {
            Some(origin) => parameters.defining(origin.clone()),
            None => parameters,
        },
    })
}

/// The error for a file with mistakes.
pub(crate) fn invalid_definition(path: &Path, what: &str, faults: &dyn Display) -> anyhow::Error {
    anyhow!("{} does not define a valid {what}:\n{faults}", path.display())
}

pub(crate) fn text_of(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
