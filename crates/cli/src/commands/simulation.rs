//! Makes plans and models from flags.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use ensemble::{EnsembleError, MakeModel, OutcomeRef, Plan};
use model::{Catalogue, Model, Parameters, Plugin};
use program::Limits;
use run::{Request, RequestError, Sizing, Until, outcome_of};

use super::{MODELS, make_model};
use crate::args::{ModelArgs, PlanArgs, PlayedByArgs, ProgramLimitArgs, UntilArgs};

/// The worlds of an ensemble unless the user gives a number.
const WORLDS: u32 = 1000;
const SEED: u64 = 1;

/// The plan, with ranges sized for its players. `stored` is the plan that it continues: it has what the arguments do not
/// give.
pub(crate) fn planned(
    args: &PlanArgs,
    plugin: &Plugin,
    stored: Option<&Plan>,
    sizing: Sizing,
) -> Result<(Arc<dyn Model>, Plan)> {
    let stored = stored.filter(|plan| plan.model == plugin.name);
    let parameters = parameters(plugin, &args.model, stored)?;
    let request = Request {
        name: args.name.clone(),
        worlds: args.worlds.or(stored.map(|plan| plan.worlds.end())).unwrap_or(WORLDS),
        seed: args.seed.or(stored.map(|plan| plan.seed.0)).unwrap_or(SEED),
        events: args.events.map(Into::into).or(stored.map(|plan| plan.events)).unwrap_or_default(),
        range_worlds: args.range_worlds,
    };
    let limit = Duration::from_secs(args.model.program.limit.program_seconds);
    let within = args.model.program.program.is_some().then_some(limit);
    request.plan(plugin, &parameters, sizing, within).map_err(|error| match error {
        RequestError::Worlds(_) => anyhow!("--worlds: {error}"),
        RequestError::NoRange => anyhow!("--range-worlds 0: {error}"),
        error => error.into(),
    })
}

/// The outcome to estimate, and its precision.
pub(crate) fn until(args: &UntilArgs, catalogue: &Catalogue) -> Result<Option<Until>> {
    let (Some(goal), Some(name)) = (args.until_ci, &args.outcome) else { return Ok(None) };
    let OutcomeRef { entity, outcome } = outcome_of(catalogue, name).map_err(|error| match error {
        RequestError::NoOutcome(_) => anyhow!("--outcome {name}: write it as ENTITY:OUTCOME"),
        error => error.into(),
    })?;
    Ok(Some(Until { entity, outcome, goal }))
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

/// The model that the arguments name, or their program, which starts; `None` if they name neither.
pub(crate) fn played_by(args: &PlayedByArgs) -> Result<Option<Arc<Plugin>>> {
    match (&args.program, &args.model) {
        (Some(command), _) => started(command, &args.limit).map(Some),
        (None, Some(model)) => Ok(Some(MODELS.find(model)?)),
        (None, None) => Ok(None),
    }
}

/// Makes sure that a model or a program that is named is the one that played an ensemble.
///
/// # Errors
/// If it does not start, or is another than the one that played these worlds.
pub(crate) fn at_hand(args: &PlayedByArgs, plan: &Plan) -> Result<()> {
    match played_by(args)? {
        Some(plugin) if plugin.name != plan.model => {
            bail!("ensemble {:?} was played by {}, not by {}", plan.name, plan.model, plugin.name)
        }
        _ => Ok(()),
    }
}

/// An error of a replay, with advice if it needs a program or a model that is not named.
pub(crate) fn replayable(plan: &Plan, error: EnsembleError) -> anyhow::Error {
    match (error, naming(plan)) {
        (error @ EnsembleError::Replay { .. }, Some(flag)) => anyhow!("{error}; name it with {flag}"),
        (error, _) => error.into(),
    }
}

/// The models that a worker plays. An error says how to name a program or a model of a file.
pub(crate) fn make_named_model() -> MakeModel {
    let make = make_model();
    Arc::new(move |plan| {
        make(plan).map_err(|error| match naming(plan) {
            Some(flag) => format!("start the worker with {flag}: {error}").into(),
            None => error,
        })
    })
}

/// The flag that names a plan's model, if it is not at hand and only a flag can name it.
fn naming(plan: &Plan) -> Option<&'static str> {
    let flag = match &*plan.model {
        model if model.starts_with(program::PREFIX) => "--program COMMAND",
        model if model.contains(".py:") => "--model FILE.py:CLASS",
        _ => return None,
    };
    MODELS.find(&plan.model).is_err().then_some(flag)
}

/// The parameters that the arguments give, and otherwise those of the plan that they continue, or the defaults.
pub(crate) fn parameters(plugin: &Plugin, args: &ModelArgs, stored: Option<&Plan>) -> Result<Parameters> {
    let given = args.parameters.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    // If the model has changed, the plans will differ.
    let stored = stored.and_then(|plan| Parameters::from_json(&plugin.parameters, &plan.parameters).ok());
    let parameters = match stored {
        Some(stored) => stored.with(&plugin.parameters, given)?,
        None => Parameters::parse(&plugin.parameters, given)?,
    };
    let wanted = plugin.definition.as_ref().map(|definition| &*definition.name);
    if let Some((name, _)) = args.definitions().find(|(name, _)| Some(*name) != wanted) {
        bail!("--{name}: {} takes no {name}", plugin.name);
    }
    let file = args.definitions().next().map(|(_, path)| Ok::<_, anyhow::Error>((path, text_of(path)?))).transpose()?;
    run::defined(plugin, parameters, file.as_ref().map(|(_, text)| &**text)).map_err(|error| match (&error, &file) {
        (RequestError::Faults { name, faults }, Some((path, _))) => invalid_definition(path, name, faults),
        (RequestError::Undefined { model, name, doc }, _) => {
            anyhow!("{model} needs an {name}: name its file with --{name} FILE ({doc})")
        }
        _ => error.into(),
    })
}

/// The error for a file with mistakes.
pub(crate) fn invalid_definition(path: &Path, what: &str, faults: &dyn Display) -> anyhow::Error {
    anyhow!("{} does not define a valid {what}:\n{faults}", path.display())
}

pub(crate) fn text_of(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    String::from_utf8(bytes).map_err(|_| anyhow!("cannot read {}: it is not text in UTF-8", path.display()))
}
