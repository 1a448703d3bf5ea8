//! Checks a definition, with the lines of its faults.

use model::{DefinitionSpec, Fault};
use serde::Serialize;
use toml::de::DeTable;

use crate::kept::Library;
use crate::located::Located;
use crate::parts::{Used, Whole, is_part, whole};
use crate::places::{Position, Step, find, steps};

/// What was found in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    pub valid: bool,
    pub faults: Vec<Located>,
    pub advice: Vec<Located>,
    /// The definition with all its parts, in the form that ensembles store; `None` of a part, or if there are faults.
    pub canonical: Option<String>,
    /// Whether the text is a part for other definitions.
    pub is_part: bool,
    /// The parts that it uses.
    pub uses: Vec<Used>,
}

/// Checks the text of a definition of `model`, or of a part. Parts that it uses come from `library`.
pub fn check(spec: &DefinitionSpec, model: &str, text: &str, library: &Library) -> Checked {
    let mut checked = Checked {
        valid: false,
        faults: Vec::new(),
        advice: Vec::new(),
        canonical: None,
        is_part: false,
        uses: Vec::new(),
    };
    // The model reports a text that is no TOML, or is JSON.
    let table = if text.trim_start().starts_with('{') { None } else { DeTable::parse(text).ok() };
    let table = table.as_ref().map(toml::Spanned::get_ref);
    let mut merged = Whole { text: text.to_owned(), own_lines: usize::MAX, ..Whole::default() };
    if let (Some(part), Some(table)) = (&spec.part, table) {
        if is_part(table, part) {
            checked.is_part = true;
            let faults = (part.check)(text).err().map(|error| error.0).unwrap_or_default();
            checked.faults = faults.into_iter().map(|fault| located(fault, text, Some(table), &merged)).collect();
            checked.valid = checked.faults.is_empty();
            return checked;
        }
        match whole(spec, part, model, text, table, library) {
            Ok(found) => merged = found,
            Err(faults) => {
                checked.faults = faults;
                return checked;
            }
        }
    }
    let used = merged.parts.iter().map(|part| Used { name: part.kept.name.clone(), version: part.kept.version });
    checked.uses = used.collect();
    let locate = |faults: Vec<Fault>| faults.into_iter().map(|fault| located(fault, text, table, &merged)).collect();
    match (spec.read)(&merged.text) {
        Ok(canonical) => {
            checked.valid = true;
            checked.advice = locate((spec.advise)(&merged.text));
            checked.canonical = Some(canonical);
        }
        Err(faults) => checked.faults = locate(faults.0),
    }
    checked
}

/// Finds a fault of the whole text in the text that its user wrote, or in a part.
fn located(fault: Fault, text: &str, table: Option<&DeTable<'_>>, whole: &Whole) -> Located {
    let Fault { place, reason } = fault;
    if let Some(position) = Position::parse(&place) {
        if position.line <= whole.own_lines {
            return Located::new(place, reason, Some(position), None);
        }
        let mut first = whole.own_lines;
        let part = whole.parts.iter().find(|part| {
            first += part.lines;
            position.line <= first
        });
        return Located::new(place, reason, None, part.map(|part| part.kept.title()));
    }
    let Some(mut path) = steps(&place) else { return Located::new(place, reason, None, None) };
    let Some((part, item)) = lent(&path, whole) else {
        let position = table.and_then(|table| find(text, table, &path));
        return Located::new(place, reason, position, None);
    };
    let kept = &whole.parts[part].kept;
    let rest = place.split_once(']').map_or("", |(_, rest)| rest);
    let list = place.split('[').next().unwrap_or_default();
    let place = format!("{list}[{item}]{rest}");
    path[1] = Step::Item(item);
    let position = DeTable::parse(&kept.text).ok().and_then(|table| find(&kept.text, table.get_ref(), &path));
    Located::new(place, reason, position, Some(kept.title()))
}

/// The part that lends an item, and the item's number in it; `None` if it is the text's own.
fn lent(path: &[Step], whole: &Whole) -> Option<(usize, usize)> {
    let [Step::Key(list), Step::Item(item), ..] = path else { return None };
    let count = |counts: &[(&str, usize)]| counts.iter().find(|(name, _)| name == list).map(|(_, count)| *count);
    let mut item = item.checked_sub(count(&whole.own)?)?;
    for (place, part) in whole.parts.iter().enumerate() {
        match item.checked_sub(count(&part.items)?) {
            Some(rest) => item = rest,
            None => return Some((place, item)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use bingo::PLUGIN;
    use bingo::definition::SMALL;

    use super::*;
    use crate::kept::tests::library;

    fn checked(text: &str, library: &Library) -> Checked {
        check(PLUGIN.definition.as_ref().unwrap(), "bingo", text, library)
    }

    /// The example without its players, and these.
    fn split() -> (String, String) {
        let first = SMALL.find("[[players]]").unwrap();
        let end = first + SMALL[first..].rfind("[[players]]").unwrap();
        let end = end + SMALL[end..].find("\n[[rows]]").or_else(|| SMALL[end..].find("\n[[teams]]")).unwrap();
        (format!("{}{}", &SMALL[..first], &SMALL[end..]), SMALL[first..end].to_owned())
    }

    #[test]
    fn faults_have_lines() {
        let (_data, library) = library();
        let text = SMALL.replace("zone = \"America/New_York\"", "zone = \"Nowhere/At_all\"");
        let fault = &checked(&text, &library).faults[0];
        let line = 1 + text.lines().position(|line| line.starts_with("zone")).unwrap();
        assert_eq!((&*fault.place, fault.line, fault.column), ("zone", Some(line), Some(1)));
        let broken = checked(&SMALL.replace("solo = true", "solos = true"), &library);
        let line = 1 + SMALL.lines().position(|line| line == "solo = true").unwrap();
        assert_eq!(broken.faults[0].line, Some(line), "{broken:?}");
        let torn = checked(&format!("{SMALL}\nx = ["), &library);
        assert!(!torn.valid && torn.faults[0].line >= Some(SMALL.lines().count()), "{torn:?}");
        assert!(checked("{", &library).faults[0].line == Some(1));
    }

    #[test]
    fn shared_players_give_the_same_event() {
        let (_data, library) = library();
        let alone = checked(SMALL, &library);
        assert!(alone.valid && alone.faults.is_empty() && alone.uses.is_empty(), "{alone:?}");
        let (event, players) = split();
        let part = checked(&players, &library);
        assert!(part.valid && part.is_part && part.canonical.is_none(), "{part:?}");
        library.save("friends", "bingo", "[[players]]\nname = \"zoe\"\n").unwrap();
        let version = library.save("friends", "bingo", &players).unwrap();
        let event = format!("use = [\"friends@{version}\"]\n{event}");
        let whole = checked(&event, &library);
        assert_eq!(whole.canonical, alone.canonical, "{:?}", whole.faults);
        assert_eq!(whole.uses, [Used { name: "friends".to_owned(), version }]);
        // Another version, and the newest by default.
        assert!(!checked(&event.replace("@2", "@1"), &library).valid);
        assert_eq!(checked(&event.replace("@2", ""), &library).canonical, alone.canonical);
    }

    #[test]
    fn faults_of_parts_name_the_part() {
        let (_data, library) = library();
        let (event, players) = split();
        library
            .save("friends", "bingo", &format!("{players}\n[[players]]\nname = \"zoe\"\ncapabilities = [\"x\"]\n"))
            .unwrap();
        let event = format!("use = [\"friends\"]\n{event}");
        let fault = &checked(&event, &library).faults[0];
        assert_eq!(fault.part.as_deref(), Some("friends@1"), "{fault:?}");
        assert_eq!(fault.line, Some(players.lines().count() + 4), "{fault:?}");
        assert!(fault.reason.contains("no capability \"x\""), "{fault:?}");
        for (uses, reason) in [
            ("[\"nobody\"]", "no definition \"nobody\""),
            ("[\"friends@7\"]", "has no version 7"),
            ("[\"friends@x\"]", "is not a version number"),
            ("[\"../x\"]", "cannot name a definition"),
            ("[3]", "as text"),
            ("\"friends\"", "as a list"),
        ] {
            let checked = checked(&event.replace("[\"friends\"]", uses), &library);
            assert!(checked.faults[0].reason.contains(reason) && checked.faults[0].line == Some(1), "{checked:?}");
        }
        library.save("event", "bingo", SMALL).unwrap();
        let whole = checked(&event.replace("friends", "event"), &library);
        assert!(whole.faults[0].reason.contains("cannot be part of an event"), "{whole:?}");
    }
}
