//! Turns what a user asks to play into a plan.

use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

use definitions::{Checked, Library, check};
use disk::RealDisk;
use ensemble::Plan;
use model::{Model, ParameterError, Parameters, Plugin, UnknownName};
use run::{Request, Sizing};
use serde_json::json;

use super::message::{Definition, Events, Seed, Wish};
use super::refuse::{of_definitions, of_parameters, of_request};
use crate::error::{Refusal, UNKNOWN_NAME};

/// The models that requests may play.
#[derive(Clone)]
pub(crate) struct Known(pub(crate) Vec<Arc<Plugin>>);

impl Known {
    /// # Errors
    /// If the name is unknown. No file is loaded, and no program is started.
    pub(crate) fn find(&self, name: &str) -> Result<&Arc<Plugin>, Refusal> {
        let found = self.0.iter().find(|plugin| plugin.name == name);
        found.ok_or_else(|| {
            let unknown = UnknownName::new("no model", name, self.0.iter().map(|plugin| plugin.name.as_str()));
            Refusal::bad(unknown.to_string()).of_kind(UNKNOWN_NAME).with("field", json!("model"))
        })
    }
}

/// Cores available to this process.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

impl Wish {
    /// The name of the ensemble.
    pub(crate) fn ensemble(&self, plugin: &Plugin) -> String {
        self.name.clone().unwrap_or_else(|| plugin.ensemble_name())
    }

    /// Refuses what contradicts itself.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let bad = |field: &str, text: &str| Err(Refusal::bad(text).with("field", json!(field)));
        if self.replace && self.extend {
            return bad("extend", "an ensemble is replaced or extended, not both");
        }
        if self.replace && self.until.is_some() {
            return bad("until", "an ensemble that replaces another takes all of its worlds: leave out \"until\"");
        }
        if self.threads == Some(0) {
            return bad("threads", "a run needs at least one thread");
        }
        if self.threads.is_some_and(|threads| threads > cores()) {
            return bad("threads", &format!("this server has {} processors: use at most as many threads", cores()));
        }
        Ok(())
    }

    fn seed(&self) -> Result<u64, Refusal> {
        match &self.seed {
            None => Ok(1),
            Some(Seed::Number(seed)) => Ok(*seed),
            Some(Seed::Text(text)) => text.parse().map_err(|_| {
                let text = format!("the seed {text:?} is no whole number from 0 to {}", u64::MAX);
                Refusal::bad(text).with("field", json!("seed"))
            }),
        }
    }

    fn parameters(&self, plugin: &Plugin) -> Result<Parameters, Refusal> {
        let text = self.parameters.as_ref().map_or("{}", |parameters| parameters.get());
        let parameters = Parameters::from_json(&plugin.parameters, text).map_err(of_parameters)?;
        if parameters.given_definition().is_some() {
            let names = plugin.parameters.iter().map(|spec| &*spec.name);
            return Err(of_parameters(ParameterError::Unknown(UnknownName::new("no parameter", "definition", names))));
        }
        Ok(parameters)
    }

    /// The whole text of the definition, in canonical form.
    fn definition(&self, plugin: &Plugin, data: &Path) -> Result<Option<String>, Refusal> {
        let library = Library::new(data, Arc::new(RealDisk));
        let text = match &self.definition {
            None => return Ok(None),
            Some(Definition::Text(text)) => text.clone(),
            Some(Definition::Kept { name, version }) => {
                let kept = library
                    .get(name, *version)
                    .map_err(|error| of_definitions(error).with("field", json!("definition")))?;
                if kept.model != plugin.name {
                    let text = format!("definition {name:?} is for model {:?}, not for {:?}", kept.model, plugin.name);
                    return Err(Refusal::bad(text).with("field", json!("definition")));
                }
                kept.text
            }
        };
        let Some(spec) = &plugin.definition else { return Ok(Some(text)) };
        let Checked { canonical, faults, is_part, .. } = check(spec, &plugin.name, &text, &library);
        match canonical {
            Some(canonical) => Ok(Some(canonical)),
            None if is_part => {
                let text = format!(
                    "this is a part for an {}, and none that can be played: name it in the {} that uses it",
                    spec.name, spec.name
                );
                Err(Refusal::bad(text).with("field", json!("definition")))
            }
            None => {
                let lines: Vec<String> =
                    faults.iter().map(|fault| format!("{}: {}", fault.place, fault.reason)).collect();
                let text = format!("this text does not define a valid {}:\n{}", spec.name, lines.join("\n"));
                Err(Refusal::bad(text).with("field", json!("definition")).with("faults", json!(faults)))
            }
        }
    }
}

/// The model and the plan.
pub(crate) fn planned(wish: &Wish, known: &Known, data: &Path) -> Result<(Arc<dyn Model>, Plan), Refusal> {
    wish.check()?;
    let plugin = known.find(&wish.model)?;
    let definition = wish.definition(plugin, data)?;
    let parameters = run::defined(plugin, wish.parameters(plugin)?, definition.as_deref()).map_err(of_request)?;
    let request = Request {
        name: wish.name.clone(),
        worlds: wish.worlds,
        seed: wish.seed()?,
        replay: wish.events == Events::Replay,
        range_worlds: None,
    };
    request.plan(plugin, &parameters, Sizing::Shared, None).map_err(of_request)
}
