//! A model's inputs: named numbers with defaults and bounds.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::{DefinitionError, UnknownName};

/// One parameter as its model documents it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterSpec {
    /// Lower-case words joined by `_`.
    pub name: &'static str,
    /// What it does, with its unit.
    pub doc: &'static str,
    /// The value where none is given.
    pub default: f64,
    /// Smallest value accepted.
    pub min: f64,
    /// Largest value accepted.
    pub max: f64,
}

/// Values for every parameter of a model, each within its bounds, and the definition of what it plays.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    values: BTreeMap<&'static str, f64>,
    definition: Option<String>,
}

/// Where the definition stands among parameters as JSON.
const DEFINITION: &str = "definition";

/// Why parameters were refused.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ParameterError {
    /// The model has no such parameter.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// What the model plays is not defined well.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// What the model plays is not defined.
    #[error("there is no {0}: the model plays one, so name the file that defines it")]
    Undefined(&'static str),
    /// What was stored are no parameters.
    #[error("not a JSON object of parameters: {0}")]
    NotAnObject(String),
    /// The value is no number.
    #[error("parameter {name} is {value:?}: give a number from {min} to {max}")]
    NotANumber {
        /// The parameter.
        name: &'static str,
        /// The text that was given.
        value: String,
        /// Smallest value accepted.
        min: f64,
        /// Largest value accepted.
        max: f64,
    },
    /// The value lies outside its bounds.
    #[error("parameter {name} is {value}: give a number from {min} to {max}")]
    OutOfBounds {
        /// The parameter.
        name: &'static str,
        /// The value that was given.
        value: f64,
        /// Smallest value accepted.
        min: f64,
        /// Largest value accepted.
        max: f64,
    },
}

impl Parameters {
    /// Defaults, overridden by `given` pairs of name and text; a later pair wins.
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

    /// The same parameters for what a model's [`DefinitionSpec::read`] gave back.
    #[must_use]
    pub fn defining(self, definition: String) -> Self {
        Self { definition: Some(definition), ..self }
    }

    /// Reads back what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// Where the text is no such object, and where the model has no such parameter or refuses its value.
    pub fn from_json(specs: &[ParameterSpec], text: &str) -> Result<Self, ParameterError> {
        let broken = |error: serde_json::Error| ParameterError::NotAnObject(error.to_string());
        // As they are written: numbers that were read and written again could be other numbers.
        let mut whole: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).map_err(broken)?;
        let definition = whole.remove(DEFINITION).map(|definition| definition.get().to_owned());
        let given = whole.iter().map(|(name, value)| (name.as_str(), value.get()));
        Ok(Self { definition, ..Self::parse(specs, given)? })
    }

    /// What the model plays.
    ///
    /// # Errors
    /// Where it is not defined; `name` is what the model calls it.
    pub fn definition(&self, name: &'static str) -> Result<&str, ParameterError> {
        self.definition.as_deref().ok_or(ParameterError::Undefined(name))
    }

    /// The value of a parameter that the model's own list declares.
    ///
    /// # Panics
    /// Where the list does not declare it: an error in the model.
    pub fn get(&self, name: &str) -> f64 {
        *self.values.get(name).unwrap_or_else(|| panic!("the model reads parameter {name}, which its list lacks"))
    }

    /// Names and values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.values.iter().map(|(name, value)| (*name, *value))
    }

    /// As a JSON object, its keys in order: equal parameters give equal text.
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
