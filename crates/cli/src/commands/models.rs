//! `manyworlds models`: lists the models.

use anyhow::Result;
use model::{ParameterItem, ParameterSpec, ParameterValue, Plugin};
use serde_json::{Value, json};

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
        let models: Vec<_> = models.iter().map(|m| json!({"model": m.name, "summary": m.summary})).collect();
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
    show(format, &parameters.iter().map(to_json).collect::<Vec<_>>(), &table)
}

/// The parameter with what it accepts: bounds of numbers, words of texts, and the maximum length of a list.
fn to_json(spec: &ParameterSpec) -> Value {
    let kind = match spec.default {
        ParameterValue::Number(_) => "number",
        ParameterValue::Text(_) => "text",
        ParameterValue::Numbers(_) => "numbers",
        ParameterValue::Texts(_) => "texts",
    };
    let mut value = json!({"parameter": spec.name, "kind": kind, "default": spec.default, "meaning": spec.doc});
    match &spec.item {
        ParameterItem::Number { min, max } => (value["min"], value["max"]) = (json!(min), json!(max)),
        ParameterItem::Text { words } if words.is_empty() => {}
        ParameterItem::Text { words } => value["words"] = json!(words),
    }
    if let Some(max) = spec.items_max {
        value["items_max"] = json!(max);
    }
    value
}
