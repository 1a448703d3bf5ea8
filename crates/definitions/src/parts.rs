//! Puts the parts that a definition uses into its text.

use model::{DefinitionSpec, PartSpec};
use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::kept::{Kept, Library};
use crate::located::Located;

/// The key of the parts that a definition uses: `use = ["players@3", "bosses"]`.
const USE: &str = "use";

/// A part that a definition uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Used {
    pub name: String,
    pub version: u32,
}

/// The whole text of a definition. Its own lines come first, unchanged except for the list of parts.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    pub(crate) text: String,
    /// Lines of the definition itself.
    pub(crate) own_lines: usize,
    /// The number of its own items, for each list that parts may hold.
    pub(crate) own: Vec<(&'static str, usize)>,
    pub(crate) parts: Vec<Part>,
}

/// A part in the whole text.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) kept: Kept,
    /// Its lines in the whole text.
    pub(crate) lines: usize,
    /// The number of its items, for each list.
    pub(crate) items: Vec<(&'static str, usize)>,
}

/// Whether a text is a part: it holds only lists that definitions share.
pub(crate) fn is_part(table: &DeTable<'_>, part: &PartSpec) -> bool {
    !table.is_empty() && table.keys().all(|key| part.lists.contains(&&**key.get_ref()))
}

/// The text with the parts that it names.
///
/// # Errors
/// The faults of the list of parts.
pub(crate) fn whole(
    spec: &DefinitionSpec,
    part: &PartSpec,
    model: &str,
    text: &str,
    table: &DeTable<'_>,
    library: &Library,
) -> Result<Whole, Vec<Located>> {
    let lines = |text: &str| text.matches('\n').count() + 1;
    let own = counts(part, |list| table.get(list).map(Spanned::get_ref));
    let Some((key, uses)) = table.get_key_value(USE) else {
        return Ok(Whole { text: text.to_owned(), own_lines: lines(text), own, parts: Vec::new() });
    };
    let fault = |place: &str, at: usize, reason: String| Located::at(place, reason, text, at);
    let DeValue::Array(names) = uses.get_ref() else {
        let reason = "write the parts as a list: use = [\"NAME\", \"NAME@VERSION\"]".to_owned();
        return Err(vec![fault(USE, key.span().start, reason)]);
    };
    let mut faults = Vec::new();
    // Blank the list of parts: all other places keep their lines.
    let span = key.span().start..uses.span().end;
    let blank: String = text[span.clone()].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
    let mut whole = Whole {
        text: format!("{}{blank}{}\n", &text[..span.start], &text[span.end..]),
        own_lines: lines(text),
        own,
        parts: Vec::new(),
    };
    for (place, name) in names.iter().enumerate() {
        match used(spec, part, model, name.get_ref(), library) {
            Ok((kept, lent)) => {
                if let Some(list) = lent.keys().find(|list| is_inline(text, table, list)) {
                    let reason = format!("write its items as [[{list}]], because {} adds to them", kept.name);
                    let at = table.get_key_value(&**list).map_or(0, |(key, _)| key.span().start);
                    faults.push(fault(list, at, reason));
                    continue;
                }
                let items = counts(part, |list| lent.get(list));
                let lent = toml::to_string(&lent).unwrap_or_default();
                whole.text.push_str(&lent);
                whole.parts.push(Part { kept, lines: lent.matches('\n').count(), items });
            }
            Err(reason) => faults.push(fault(&format!("{USE}[{place}]"), name.span().start, reason)),
        }
    }
    if faults.is_empty() { Ok(whole) } else { Err(faults) }
}

/// The lists that a kept part lends.
fn used(
    spec: &DefinitionSpec,
    part: &PartSpec,
    model: &str,
    name: &DeValue<'_>,
    library: &Library,
) -> Result<(Kept, toml::Table), String> {
    let DeValue::String(name) = name else { return Err("write the name of a part as text".to_owned()) };
    let (name, version) = match name.split_once('@') {
        None => (&**name, None),
        Some((name, version)) => {
            let version = version.parse().map_err(|_| format!("{version:?} is not a version number: write NAME@3"))?;
            (name, Some(version))
        }
    };
    let kept = library.get(name, version).map_err(|error| error.to_string())?;
    if kept.model != model {
        return Err(format!("{name:?} is a part for model {:?}", kept.model));
    }
    let table: toml::Table =
        kept.text.parse().map_err(|_| format!("version {} of {name:?} is not valid TOML", kept.version))?;
    if let Some(key) = table.keys().find(|key| !part.lists.contains(&key.as_str())) {
        let lists = part.lists.join(" and ");
        return Err(format!(
            "{name:?} cannot be part of an {}: it contains {key:?}, but a part may contain only {lists}",
            spec.name
        ));
    }
    Ok((kept, table))
}

/// Whether a list of the text is written as `list = [...]`, which TOML lets nobody add to.
fn is_inline(text: &str, table: &DeTable<'_>, list: &str) -> bool {
    table.get_key_value(list).is_some_and(|(key, _)| !text[..key.span().start].trim_end().ends_with("[["))
}

trait Length {
    fn items(&self) -> usize;
}

impl Length for DeValue<'_> {
    fn items(&self) -> usize {
        self.as_array().map_or(0, |items| items.len())
    }
}

impl Length for toml::Value {
    fn items(&self) -> usize {
        self.as_array().map_or(0, Vec::len)
    }
}

fn counts<'a, V: Length + 'a>(
    part: &PartSpec,
    value: impl Fn(&'static str) -> Option<&'a V>,
) -> Vec<(&'static str, usize)> {
    part.lists.iter().map(|list| (*list, value(list).map_or(0, Length::items))).collect()
}
