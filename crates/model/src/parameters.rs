//! A model's inputs: named numbers with defaults and bounds.

use std::collections::BTreeMap;

use crate::UnknownName;

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

/// Values for every parameter of a model, each within its bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters(BTreeMap<&'static str, f64>);

/// Why parameters were refused.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ParameterError {
    /// The model has no such parameter.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
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
        Ok(Self(values))
    }

    /// The value of a parameter that the model's own list declares.
    ///
    /// # Panics
    /// Where the list does not declare it: an error in the model.
    pub fn get(&self, name: &str) -> f64 {
        *self.0.get(name).unwrap_or_else(|| panic!("the model reads parameter {name}, which its list lacks"))
    }

    /// Names and values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.0.iter().map(|(name, value)| (*name, *value))
    }

    /// As a JSON object, its keys in order: equal parameters give equal text.
    pub fn to_json(&self) -> String {
        serde_json::json!(self.0).to_string()
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
    fn bad_parameters_are_refused_by_name() {
        let message = |given: (&str, &str)| Parameters::parse(SPECS, [given]).unwrap_err().to_string();
        assert_eq!(message(("home_egde", "1")), "no parameter \"home_egde\"; did you mean home_edge?");
        assert_eq!(message(("zzz", "1")), "no parameter \"zzz\"; there are: home_edge, pace");
        assert_eq!(message(("pace", "fast")), "parameter pace is \"fast\": give a number from 0.5 to 2");
        assert_eq!(message(("pace", "3")), "parameter pace is 3: give a number from 0.5 to 2");
        assert_eq!(message(("pace", "NaN")), "parameter pace is NaN: give a number from 0.5 to 2");
    }
}
