//! `manyworlds models`: lists the models.

use anyhow::Result;
use model::{ParameterSpec, Plugin};
use serde_json::Value;

use super::MODELS;
use super::simulation::started;
use crate::args::{Format, ProgramArgs};
use crate::output::{Table, note, show};

pub(crate) fn models(name: Option<&str>, program: &ProgramArgs, format: Format) -> Result<()> {
    let plugin = match (&program.program, name) {
        (Some(command), _) => Some(started(command, &program.limit)?),
        (None, name) => name.map(|name| MODELS.find(name)).transpose()?,
    };
    let Some(plugin) = plugin else {
        let models = MODELS.all();
        let table = Table::of(
            models.iter().map(|model| &**model),
            &[("model", &|m: &Plugin| m.name.clone()), ("what it plays", &|m: &Plugin| m.summary.clone())],
        );
        let models: Vec<_> = models.iter().map(|model| model.description()).collect();
        return show(format, &models, &table);
    };
    let parameters = &*plugin.parameters;
    let table = Table::of(
        parameters,
        &[
            ("parameter", &|p| p.name.to_string()),
            ("default", &|p| p.default.to_string()),
            ("accepts", &ParameterSpec::accepted),
            ("meaning", &|p| p.doc.to_string()),
        ],
    );
    if let Some(definition) = plugin.definition.as_ref().filter(|_| format == Format::Table) {
        note(&format!("--{} FILE: {}", definition.name, definition.doc));
    }
    show(format, &parameters.iter().map(described).collect::<Vec<_>>(), &table)
}

/// A parameter's description with the titles of the table as keys.
fn described(spec: &ParameterSpec) -> Value {
    let mut described = spec.description();
    for (key, title) in [("name", "parameter"), ("doc", "meaning")] {
        described[title] = described[key].take();
    }
    if let Some(keys) = described.as_object_mut() {
        keys.retain(|key, _| key != "name" && key != "doc");
    }
    described
}
