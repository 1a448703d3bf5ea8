//! A model's inputs: named numbers with defaults and bounds.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::{DefinitionError, UnknownName};

/// The documentation of one parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterSpec {
    /// Lower-case words joined by `_`.
    pub name: &'static str,
    /// Its effect, with the unit.
    pub doc: &'static str,
    pub default: f64,
    pub min: f64,
    pub max: f64,
}

/// Values of all parameters of a model, each within its bounds, and the model's definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    values: BTreeMap<&'static str, f64>,
    definition: Option<String>,
}

/// The key of the definition in parameters as JSON.
const DEFINITION: &str = "definition";

#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ParameterError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    #[error("missing {0}: the model needs one, so name the file that defines it")]
    Undefined(&'static str),
    #[error("not a JSON object of parameters: {0}")]
    NotAnObject(String),
    #[error("parameter {name} is {value:?}: give a number from {min} to {max}")]
    NotANumber { name: &'static str, value: String, min: f64, max: f64 },
    #[error("parameter {name} is {value}: give a number from {min} to {max}")]
    OutOfBounds { name: &'static str, value: f64, min: f64, max: f64 },
}

impl Parameters {
    /// The defaults, overridden by `given` pairs of name and text; the last pair of a name wins.
    pub fn parse<'a>(
        specs: &[ParameterSpec],
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ParameterError> {
        let mut values: BTreeMap<_, _> = specs.iter().map(|s| (s.name, s.default)).collect();
        for (name, text) in given {
            let spec = specs.iter().find(|s| s.name == name);
            let spec = spec.ok_or_else(|| UnknownName::new("no parameter", name, specs.iter().map(|s| s.name)))?;
            let ParameterSpec { name, min, max, .. } = *spec;
            let value: f64 = text.trim().parse().map_err(|_| ParameterError::NotANumber {
                name,
                value: text.to_owned(),
                min,
                max,
            })?;
            if !(min..=max).contains(&value) {
                return Err(ParameterError::OutOfBounds { name, value, min, max });
            }
            values.insert(name, value);
        }
        Ok(Self { values, definition: None })
    }

    /// Adds a definition, as returned by the model's [`read`](crate::DefinitionSpec::read).
    #[must_use]
    pub fn defining(self, definition: String) -> Self {
        Self { definition: Some(definition), ..self }
    }

    /// Parses the output of [`to_json`](Self::to_json).
    ///
    /// # Errors
    /// If the text is not such an object, a parameter is unknown, or a value is invalid.
    pub fn from_json(specs: &[ParameterSpec], text: &str) -> Result<Self, ParameterError> {
        let broken = |error: serde_json::Error| ParameterError::NotAnObject(error.to_string());
        // Keeps the text of all values: parsing and printing numbers could change them.
        let mut whole: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).map_err(broken)?;
        let definition = whole.remove(DEFINITION).map(|definition| definition.get().to_owned());
        let given = whole.iter().map(|(name, value)| (name.as_str(), value.get()));
        Ok(Self { definition, ..Self::parse(specs, given)? })
    }

    /// The model's definition.
    ///
    /// # Errors
    /// If the definition is missing; `name` is the model's name for it.
    pub fn definition(&self, name: &'static str) -> Result<&str, ParameterError> {
        self.definition.as_deref().ok_or(ParameterError::Undefined(name))
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the model does not declare the parameter: a bug in the model.
    pub fn get(&self, name: &str) -> f64 {
        *self.values.get(name).unwrap_or_else(|| panic!("the model reads parameter {name}, which its list lacks"))
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.values.iter().map(|(name, value)| (*name, *value))
    }

    /// A JSON object with sorted keys: equal parameters give equal text.
    pub fn to_json(&self) -> String {
        let values = serde_json::json!(self.values);
        let values = values.to_string();
        match &self.definition {
            None => values,
            Some(definition) if values == "{}" => format!("{{\"{DEFINITION}\":{definition}}}"),
            Some(definition) => format!("{{\"{DEFINITION}\":{definition},{}", &values[1..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[ParameterSpec] = &[
        ParameterSpec { name: "home_edge", doc: "", default: 1.74, min: -10.0, max: 10.0 },
        ParameterSpec { name: "pace", doc: "", default: 1.0, min: 0.5, max: 2.0 },
    ];

    #[test]
    fn defaults_are_overridden_by_what_is_given() {
        let p = Parameters::parse(SPECS, [("pace", "1.5"), ("pace", "1.25")]).unwrap();
        assert_eq!((p.get("pace"), p.get("home_edge")), (1.25, 1.74));
        assert_eq!(p.to_json(), r#"{"home_edge":1.74,"pace":1.25}"#);
    }

    #[test]
    fn parameters_read_back_with_their_definition_to_the_letter() {
        let plain = Parameters::parse(SPECS, [("pace", "0.7000000000000001")]).unwrap();
        assert_eq!(plain.definition("event"), Err(ParameterError::Undefined("event")));
        let definition = r#"{"b":0.1000000000000000055511151231257827,"a":[1]}"#;
        for defined in [plain.clone(), plain.defining(definition.to_owned())] {
            let text = defined.to_json();
            let read = Parameters::from_json(SPECS, &text).unwrap();
            assert_eq!((&read, read.to_json()), (&defined, text));
        }
        let without_numbers = Parameters::parse(&[], []).unwrap().defining(definition.to_owned());
        assert_eq!(Parameters::from_json(&[], &without_numbers.to_json()).unwrap().definition("event"), Ok(definition));
        let message = |text| Parameters::from_json(SPECS, text).unwrap_err().to_string();
        assert!(message("[1]").starts_with("not a JSON object of parameters"), "{}", message("[1]"));
        assert_eq!(message(r#"{"zzz":1}"#), "no parameter \"zzz\"; there are: home_edge, pace");
    }

    #[test]
    fn bad_parameters_are_refused_by_name() {
        let message = |given: (&str, &str)| Parameters::parse(SPECS, [given]).unwrap_err().to_string();
        assert_eq!(message(("home_egde", "1")), "no parameter \"home_egde\"; did you mean home_edge?");
        assert_eq!(message(("zzz", "1")), "no parameter \"zzz\"; there are: home_edge, pace");
        assert_eq!(message(("pace", "fast")), "parameter pace is \"fast\": give a number from 0.5 to 2");
        assert_eq!(message(("pace", "3")), "parameter pace is 3: give a number from 0.5 to 2");
        assert_eq!(message(("pace", "NaN")), "parameter pace is NaN: give a number from 0.5 to 2");
    }
}
