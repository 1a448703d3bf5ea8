//! Describes one parameter of a model: its default and the values that it accepts.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{DefinitionError, UnknownName};

/// The documentation of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterSpec {
    /// Lower-case words joined by `_`.
    pub name: Cow<'static, str>,
    /// Its effect, with the unit.
    pub doc: Cow<'static, str>,
    /// A value that the parameter accepts.
    pub default: ParameterValue,
    /// What a single value, or each item of a list, may be.
    pub item: ParameterItem,
    /// The maximum length of a list; `None` if the parameter is a single value.
    pub items_max: Option<usize>,
}

/// A number, a text, or an item of a list of either.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterItem {
    /// A finite number within bounds, which may be infinite.
    Number { min: f64, max: f64 },
    /// One of some words; any text if there are none.
    Text { words: Vec<String> },
}

/// The value of a parameter. As JSON, a number, a string, or an array of either.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ParameterValue {
    Number(f64),
    Text(String),
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ParameterError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    #[error("missing {0}: the model needs one, so name the file that defines it")]
    Undefined(String),
    #[error("not a JSON object of parameters: {0}")]
    NotAnObject(String),
    #[error("parameter {name} is {value}: give {accepted}")]
    Refused {
        name: String,
        /// The value as given; texts are quoted.
        value: String,
        /// What the parameter accepts, such as `a number from 0.5 to 2`.
        accepted: String,
    },
    /// The model refuses its parameters for a reason of its own.
    #[error("{0}")]
    Model(String),
}

impl ParameterError {
    /// The parameter that the error is about, as given.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::Unknown(unknown) => Some(&unknown.name),
            Self::Refused { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl ParameterSpec {
    /// A parameter that is one number from `min` to `max`.
    pub const fn number(name: &'static str, doc: &'static str, default: f64, min: f64, max: f64) -> Self {
        Self {
            name: Cow::Borrowed(name),
            doc: Cow::Borrowed(doc),
            default: ParameterValue::Number(default),
            item: ParameterItem::Number { min, max },
            items_max: None,
        }
    }

    /// The bounds of a number, or of each number of a list; `None` for texts.
    pub fn bounds(&self) -> Option<[f64; 2]> {
        match self.item {
            ParameterItem::Number { min, max } => Some([min, max]),
            ParameterItem::Text { .. } => None,
        }
    }

    /// Reads a value as a user types it: a list as `a,b,c` or as a JSON array, a text unchanged.
    ///
    /// # Errors
    /// If the parameter does not accept the value.
    pub fn read(&self, text: &str) -> Result<ParameterValue, ParameterError> {
        let value = match (&self.item, self.items_max) {
            (ParameterItem::Number { .. }, None) => text.trim().parse().ok().map(ParameterValue::Number),
            (ParameterItem::Text { .. }, None) => Some(ParameterValue::Text(text.to_owned())),
            (_, Some(_)) if text.trim_start().starts_with('[') => self.parse_json(text),
            (ParameterItem::Number { .. }, Some(_)) => {
                split(text).map(|item| item.parse().ok()).collect::<Option<_>>().map(ParameterValue::Numbers)
            }
            (ParameterItem::Text { .. }, Some(_)) => {
                Some(ParameterValue::Texts(split(text).map(str::to_owned).collect()))
            }
        };
        value.map_or_else(|| Err(self.refused(&quoted(text))), |value| self.check(value))
    }

    /// Reads a value as JSON has it.
    ///
    /// # Errors
    /// If the parameter does not accept the value.
    pub fn read_json(&self, json: &str) -> Result<ParameterValue, ParameterError> {
        self.parse_json(json).map_or_else(|| Err(self.refused(&shortened(json))), |value| self.check(value))
    }

    /// Passes on a value that the parameter accepts.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(&self, value: ParameterValue) -> Result<ParameterValue, ParameterError> {
        if self.accepts(&value) { Ok(value) } else { Err(self.refused(&value.shown())) }
    }

    /// The accepted values in words, to follow *give*.
    pub fn accepted(&self) -> String {
        let Some(max) = self.items_max else {
            return match &self.item {
                ParameterItem::Number { min, max } => format!("a {}", numbers("number", *min, *max)),
                ParameterItem::Text { words } if words.is_empty() => "a text".to_owned(),
                ParameterItem::Text { words } => format!("one of {}", listed(words)),
            };
        };
        let items = match &self.item {
            ParameterItem::Number { min, max } => numbers("numbers", *min, *max),
            ParameterItem::Text { words } if words.is_empty() => "texts".to_owned(),
            ParameterItem::Text { words } => format!("of {}", listed(words)),
        };
        format!("a comma-separated list of up to {max} {items}")
    }

    fn accepts(&self, value: &ParameterValue) -> bool {
        let fits = |length: usize| self.items_max.is_some_and(|max| length <= max);
        match value {
            ParameterValue::Number(number) => self.items_max.is_none() && self.item.accepts_number(*number),
            ParameterValue::Text(text) => self.items_max.is_none() && self.item.accepts_text(text),
            ParameterValue::Numbers(list) => fits(list.len()) && list.iter().all(|n| self.item.accepts_number(*n)),
            ParameterValue::Texts(list) => fits(list.len()) && list.iter().all(|text| self.item.accepts_text(text)),
        }
    }

    fn parse_json(&self, json: &str) -> Option<ParameterValue> {
        // `parse` reads every number to the bit; serde_json does not.
        match (&self.item, self.items_max) {
            (ParameterItem::Number { .. }, None) => json.parse().ok().map(ParameterValue::Number),
            (ParameterItem::Text { .. }, None) => serde_json::from_str(json).ok().map(ParameterValue::Text),
            (ParameterItem::Number { .. }, Some(_)) => {
                let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
                items.iter().map(|item| item.get().parse().ok()).collect::<Option<_>>().map(ParameterValue::Numbers)
            }
            (ParameterItem::Text { .. }, Some(_)) => serde_json::from_str(json).ok().map(ParameterValue::Texts),
        }
    }

    fn refused(&self, value: &str) -> ParameterError {
        ParameterError::Refused { name: self.name.to_string(), value: value.to_owned(), accepted: self.accepted() }
    }
}

impl ParameterItem {
    fn accepts_number(&self, number: f64) -> bool {
        matches!(self, Self::Number { min, max } if number.is_finite() && (*min..=*max).contains(&number))
    }

    fn accepts_text(&self, text: &str) -> bool {
        matches!(self, Self::Text { words } if words.is_empty() || words.iter().any(|word| word == text))
    }
}

impl ParameterValue {
    fn shown(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            _ => quoted(&self.to_string()),
        }
    }
}

/// The value in the form that [`ParameterSpec::read`] reads.
impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A text that is empty, or that splitting would change, needs quotes.
        let is_plain = |text: &String| !text.is_empty() && text.trim() == text && !text.contains([',', '[']);
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::Numbers(list) => f.write_str(&list.iter().map(f64::to_string).collect::<Vec<_>>().join(",")),
            Self::Texts(list) if list.iter().all(is_plain) => f.write_str(&list.join(",")),
            Self::Texts(list) => f.write_str(&serde_json::json!(list).to_string()),
        }
    }
}

/// The items of a list that a user types.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|_| !text.trim().is_empty())
}

fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

/// The start of a value, for messages.
fn shortened(text: &str) -> String {
    const SHOWN_BYTES_MAX: usize = 200;
    let shown = &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)];
    if shown.len() < text.len() { format!("{shown}...") } else { shown.to_owned() }
}

fn numbers(what: &str, min: f64, max: f64) -> String {
    match (min.is_finite(), max.is_finite()) {
        (true, true) => format!("{what} from {min} to {max}"),
        (true, false) => format!("{what} of at least {min}"),
        (false, true) => format!("{what} of at most {max}"),
        (false, false) => format!("finite {what}"),
    }
}

fn listed(words: &[String]) -> String {
    const LISTED_MAX: usize = 20;
    let shown = words[..words.len().min(LISTED_MAX)].join(", ");
    if words.len() > LISTED_MAX { format!("{shown} and {} more", words.len() - LISTED_MAX) } else { shown }
}
