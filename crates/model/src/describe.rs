//! Describes a model to people and programs, in JSON.

use serde_json::{Value, json};

use crate::{ParameterItem, ParameterSpec, ParameterValue, Plugin};

impl Plugin {
    /// Its name, parameters and definition, in the JSON form of commands and the server.
    pub fn description(&self) -> Value {
        let definition = self.definition.as_ref().map(|definition| {
            let lists = definition.part.as_ref().map_or(&[][..], |part| part.lists);
            json!({"name": definition.name, "doc": definition.doc, "required": definition.required, "parts": lists})
        });
        let parameters: Vec<Value> = self.parameters.iter().map(ParameterSpec::description).collect();
        json!({"model": self.name, "summary": self.summary, "parameters": parameters, "definition": definition})
    }
}

impl ParameterSpec {
    /// What it accepts: bounds of numbers, words of texts, and the maximum length of a list.
    pub fn description(&self) -> Value {
        let kind = match self.default {
            ParameterValue::Number(_) => "number",
            ParameterValue::Text(_) => "text",
            ParameterValue::Numbers(_) => "numbers",
            ParameterValue::Texts(_) => "texts",
        };
        let mut value = json!({"name": self.name, "kind": kind, "default": self.default, "doc": self.doc});
        match &self.item {
            // An infinite bound becomes null: JSON has no such number.
            ParameterItem::Number { min, max } => (value["min"], value["max"]) = (json!(min), json!(max)),
            ParameterItem::Text { words } if words.is_empty() => {}
            ParameterItem::Text { words } => value["words"] = json!(words),
        }
        if let Some(max) = self.items_max {
            value["items_max"] = json!(max);
        }
        value
    }
}
