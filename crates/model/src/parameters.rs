//! A model's inputs: named numbers, texts and lists with defaults, and a definition.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::UnknownName;
use crate::parameter_spec::{ParameterError, ParameterSpec, ParameterValue};

/// Values of all parameters of a model, each accepted by its [`ParameterSpec`], and the model's definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    values: BTreeMap<String, ParameterValue>,
    definition: Option<String>,
}

/// The key of the definition in parameters as JSON.
pub(crate) const DEFINITION: &str = "definition";

impl Parameters {
    /// The defaults, overridden by `given` pairs of name and value; the last pair of a name wins.
    ///
    /// # Errors
    /// If a name is unknown or its parameter does not accept the value.
    pub fn new<'a>(
        specs: &[ParameterSpec],
        given: impl IntoIterator<Item = (&'a str, ParameterValue)>,
    ) -> Result<Self, ParameterError> {
        Self::defaults(specs).read(specs, given, ParameterSpec::check)
    }

    /// As [`Self::new`], with values as a user types them; see [`ParameterSpec::read`].
    ///
    /// # Errors
    /// If a name is unknown or its parameter does not accept the value.
    pub fn parse<'a>(
        specs: &[ParameterSpec],
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ParameterError> {
        Self::defaults(specs).with(specs, given)
    }

    /// These parameters, with other values as a user types them.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn with<'a>(
        self,
        specs: &[ParameterSpec],
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ParameterError> {
        self.read(specs, given, ParameterSpec::read)
    }

    fn defaults(specs: &[ParameterSpec]) -> Self {
        let default = |spec: &ParameterSpec| (spec.name.to_string(), spec.default.clone());
        Self { values: specs.iter().map(default).collect(), definition: None }
    }

    fn read<'a, V>(
        mut self,
        specs: &[ParameterSpec],
        given: impl IntoIterator<Item = (&'a str, V)>,
        read: impl Fn(&ParameterSpec, V) -> Result<ParameterValue, ParameterError>,
    ) -> Result<Self, ParameterError> {
        for (name, value) in given {
            let spec = specs.iter().find(|s| s.name == name);
            let spec = spec.ok_or_else(|| UnknownName::new("no parameter", name, specs.iter().map(|s| &*s.name)))?;
            self.values.insert(spec.name.to_string(), read(spec, value)?);
        }
        Ok(self)
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
        Ok(Self { definition, ..Self::defaults(specs).read(specs, given, ParameterSpec::read_json)? })
    }

    /// The model's definition, if it has one.
    pub fn given_definition(&self) -> Option<&str> {
        self.definition.as_deref()
    }

    /// The model's definition.
    ///
    /// # Errors
    /// If the definition is missing; `name` is the model's name for it.
    pub fn definition(&self, name: &str) -> Result<&str, ParameterError> {
        self.definition.as_deref().ok_or_else(|| ParameterError::Undefined(name.to_owned()))
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the model does not declare the parameter: a bug in the model.
    pub fn value(&self, name: &str) -> &ParameterValue {
        self.values.get(name).unwrap_or_else(|| panic!("the model reads parameter {name}, which its list lacks"))
    }

    /// The value of a declared number.
    ///
    /// # Panics
    /// If the model does not declare a number of this name: a bug in the model.
    pub fn get(&self, name: &str) -> f64 {
        match self.value(name) {
            ParameterValue::Number(number) => *number,
            other => wrong(name, "a number", other),
        }
    }

    /// The value of a declared text.
    ///
    /// # Panics
    /// If the model does not declare a text of this name: a bug in the model.
    pub fn text(&self, name: &str) -> &str {
        match self.value(name) {
            ParameterValue::Text(text) => text,
            other => wrong(name, "a text", other),
        }
    }

    /// The value of a declared list of numbers.
    ///
    /// # Panics
    /// If the model does not declare a list of numbers of this name: a bug in the model.
    pub fn numbers(&self, name: &str) -> &[f64] {
        match self.value(name) {
            ParameterValue::Numbers(list) => list,
            other => wrong(name, "a list of numbers", other),
        }
    }

    /// The value of a declared list of texts.
    ///
    /// # Panics
    /// If the model does not declare a list of texts of this name: a bug in the model.
    pub fn texts(&self, name: &str) -> &[String] {
        match self.value(name) {
            ParameterValue::Texts(list) => list,
            other => wrong(name, "a list of texts", other),
        }
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
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

fn wrong(name: &str, what: &str, value: &ParameterValue) -> ! {
    panic!("the model reads parameter {name} as {what}, but it declares {value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter_spec::ParameterItem;

    const SPECS: &[ParameterSpec] =
        &[ParameterSpec::number("home_edge", "", 1.74, -10.0, 10.0), ParameterSpec::number("pace", "", 1.0, 0.5, 2.0)];

    #[test]
    fn defaults_are_overridden_by_what_is_given() {
        let p = Parameters::parse(SPECS, [("pace", "1.5"), ("pace", "1.25")]).unwrap();
        assert_eq!((p.get("pace"), p.get("home_edge")), (1.25, 1.74));
        assert_eq!(p.to_json(), r#"{"home_edge":1.74,"pace":1.25}"#);
    }

    #[test]
    fn parameters_read_back_with_their_definition_to_the_letter() {
        let plain = Parameters::parse(SPECS, [("pace", "0.7000000000000001")]).unwrap();
        assert_eq!(plain.definition("event"), Err(ParameterError::Undefined("event".to_owned())));
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

    /// A text of any words, one of some words, and a list of each kind.
    fn all_kinds() -> Vec<ParameterSpec> {
        let spec = |name: &'static str, default, item, items_max| ParameterSpec {
            name: name.into(),
            doc: "".into(),
            default,
            item,
            items_max,
        };
        let share = || ParameterItem::Number { min: 0.0, max: 1.0 };
        let any = || ParameterItem::Text { words: Vec::new() };
        let pace = || ParameterItem::Text { words: vec!["slow".to_owned(), "fast".to_owned()] };
        vec![
            spec("path", ParameterValue::Text(String::new()), any(), None),
            spec("pace", ParameterValue::Text("slow".to_owned()), pace(), None),
            spec("shares", ParameterValue::Numbers(vec![0.5]), share(), Some(3)),
            spec("teams", ParameterValue::Texts(Vec::new()), any(), Some(2)),
            spec("paces", ParameterValue::Texts(Vec::new()), pace(), Some(2)),
        ]
    }

    #[test]
    fn texts_and_lists_are_read_as_typed() {
        let given = [("path", " a, b"), ("pace", "fast"), ("shares", "1, 0.25,0"), ("teams", "x y,z"), ("paces", "")];
        let p = Parameters::parse(&all_kinds(), given).unwrap();
        assert_eq!((p.text("path"), p.text("pace"), p.numbers("shares")), (" a, b", "fast", &[1.0, 0.25, 0.0][..]));
        assert_eq!((p.texts("teams"), p.texts("paces").len()), (&["x y".to_owned(), "z".to_owned()][..], 0));
        let quoted = Parameters::parse(&all_kinds(), [("teams", r#"["a,b", ""]"#), ("shares", "[0.1]")]).unwrap();
        assert_eq!(
            (quoted.texts("teams"), quoted.numbers("shares")),
            (&["a,b".to_owned(), String::new()][..], &[0.1][..])
        );
        for parameters in [p, quoted] {
            let typed: Vec<(String, String)> = parameters.iter().map(|(n, v)| (n.to_owned(), v.to_string())).collect();
            let typed = typed.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            assert_eq!(Parameters::parse(&all_kinds(), typed).unwrap(), parameters);
            let json = parameters.to_json();
            let read = Parameters::from_json(&all_kinds(), &json).unwrap();
            assert_eq!((&read, read.to_json()), (&parameters, json));
        }
    }

    #[test]
    fn refusals_name_the_accepted_values() {
        let message = |given: (&str, &str)| Parameters::parse(&all_kinds(), [given]).unwrap_err().to_string();
        assert_eq!(message(("pace", "fsat")), "parameter pace is \"fsat\": give one of slow, fast");
        let shares = "give a comma-separated list of up to 3 numbers from 0 to 1";
        for bad in ["0,2", "0,,1", "a", "0,0,0,0", "[1", "inf"] {
            assert_eq!(message(("shares", bad)), format!("parameter shares is {bad:?}: {shares}"));
        }
        let paces = "give a comma-separated list of up to 2 of slow, fast";
        assert_eq!(message(("paces", "slow,x")), format!("parameter paces is \"slow,x\": {paces}"));
        assert!(message(("teams", "a,b,c")).ends_with("give a comma-separated list of up to 2 texts"));
        let json = |text: &str| Parameters::from_json(&all_kinds(), text).unwrap_err().to_string();
        assert_eq!(json(r#"{"pace":1}"#), "parameter pace is 1: give one of slow, fast");
        assert_eq!(json(r#"{"shares":0.5}"#), format!("parameter shares is 0.5: {shares}"));
        let long = message(("shares", &"1,".repeat(10_000)));
        assert!(long.len() < 400, "{long}");
        let unbounded = ParameterSpec::number("x", "", 0.0, f64::NEG_INFINITY, f64::INFINITY);
        let refused = Parameters::parse(&[unbounded], [("x", "inf")]).unwrap_err().to_string();
        assert_eq!(refused, "parameter x is inf: give a finite number");
        let value = ParameterValue::Texts(vec!["a".to_owned()]);
        let refused = Parameters::new(SPECS, [("pace", value)]).unwrap_err().to_string();
        assert_eq!(refused, "parameter pace is \"a\": give a number from 0.5 to 2");
    }
}
