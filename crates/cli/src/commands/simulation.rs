//! Makes plans and models from flags.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use ensemble::{EventMode, OutcomeRef, Plan, check_name};
use model::{Catalogue, Model, Parameters, Plugin};
use run::{Probe, Until};
use world::{Seed, World, WorldRange};

use super::MODELS;
use crate::args::{Events, PlanArgs, UntilArgs};

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
    let plugin = MODELS.find(&args.model)?;
    let name = args.name.clone().unwrap_or_else(|| plugin.ensemble_name());
    check_name(&name)?;
    let parameters = parameters(&plugin, args)?;
    let model: Arc<dyn Model> = (plugin.build)(&parameters)?.into();
    let worlds = WorldRange::new(World(0), args.worlds).context("--worlds")?;
    let seed = Seed(args.seed);
    let range_worlds = match args.range_worlds {
        Some(0) => bail!("--range-worlds 0: a range needs at least one world"),
        Some(size) => size,
        None => {
            let probe = Probe::of(&*model, seed, args.events == Events::Store);
            match sizing {
                Sizing::Threads(threads) => args.worlds.div_ceil(threads as u32).min(probe.range_worlds()),
                Sizing::Fleet => probe.fleet_range_worlds(args.worlds, model.catalogue()),
            }
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

fn parameters(plugin: &Plugin, args: &PlanArgs) -> Result<Parameters> {
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
