//! Turns what a user asks to play into a plan.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

use definitions::{Checked, Library, check};
use disk::RealDisk;
use ensemble::Plan;
use model::{Model, Parameters, Plugin, UnknownName};
use run::{Request, Sizing};
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use super::message::{Definition, Seed, Wish};
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

/// The fields of a request.
struct Fields(BTreeMap<String, Box<RawValue>>);

impl Fields {
    /// Takes a field; `None` if it is missing or null.
    ///
    /// # Errors
    /// If its value is not as `accepted` says.
    fn take<T: DeserializeOwned>(&mut self, name: &str, accepted: &str) -> Result<Option<T>, Refusal> {
        const SHOWN_BYTES_MAX: usize = 100;
        let Some(raw) = self.0.remove(name) else { return Ok(None) };
        serde_json::from_str(raw.get()).map_err(|_| {
            let value = raw.get();
            let shown = &value[..value.floor_char_boundary(SHOWN_BYTES_MAX)];
            let text = format!("{name:?} is {shown}: give {accepted}");
            Refusal::bad(text).with("field", json!(name))
        })
    }

    fn need<T: DeserializeOwned>(&mut self, name: &str, accepted: &str) -> Result<T, Refusal> {
        let missing = || Refusal::bad(format!("{name:?} is missing: give {accepted}")).with("field", json!(name));
        self.take(name, accepted)?.ok_or_else(missing)
    }
}

/// The fields of a wish.
const FIELDS: [&str; 11] =
    ["model", "name", "worlds", "seed", "parameters", "definition", "events", "replace", "extend", "until", "threads"];

impl Wish {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// If it is no JSON object, or a field is unknown or of another type.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Refusal> {
        let fields = serde_json::from_slice(body);
        let mut fields = Fields(fields.map_err(|error| Refusal::bad(format!("cannot read the request: {error}")))?);
        if let Some(name) = fields.0.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            let unknown = UnknownName::new("no field", name, FIELDS);
            return Err(Refusal::bad(unknown.to_string()).of_kind(UNKNOWN_NAME).with("field", json!(name)));
        }
        Ok(Self {
            model: fields.need("model", "the name of a model")?,
            name: fields.take("name", "a text")?,
            worlds: fields.need("worlds", &format!("a whole number from 1 to {}", u32::MAX))?,
            seed: fields.take("seed", &format!("a whole number from 0 to {}, or such a number as text", u64::MAX))?,
            parameters: fields.take("parameters", "an object")?,
            definition: fields.take("definition", "a text, or the \"name\" and \"version\" of a kept definition")?,
            events: fields.take("events", "\"store\", \"compact\" or \"replay\"")?.unwrap_or_default(),
            replace: fields.take("replace", "true or false")?.unwrap_or_default(),
            extend: fields.take("extend", "true or false")?.unwrap_or_default(),
            until: fields.take("until", "an \"outcome\" as ENTITY:OUTCOME, and a \"goal\" such as \"0.5%\"")?,
            threads: fields.take("threads", "a whole number")?,
        })
    }

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
                let text = format!("the seed must be a whole number from 0 to {}, and {text:?} is not", u64::MAX);
                Refusal::bad(text).with("field", json!("seed"))
            }),
        }
    }

    fn parameters(&self, plugin: &Plugin) -> Result<Parameters, Refusal> {
        let text = self.parameters.as_ref().map_or("{}", |parameters| parameters.get());
        let parameters = Parameters::from_json(&plugin.parameters, text).map_err(|error| of_parameters(&error))?;
        if parameters.given_definition().is_some() {
            let names = plugin.parameters.iter().map(|spec| &*spec.name);
            return Err(of_parameters(&UnknownName::new("no parameter", "definition", names).into()));
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
                    .map_err(|error| of_definitions(&error).with("field", json!("definition")))?;
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
                    "this is only a part of an {}, so it cannot be played: name it in the {} that uses it",
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
        events: wish.events,
        range_worlds: None,
    };
    request.plan(plugin, &parameters, Sizing::Shared, None).map_err(of_request)
}
