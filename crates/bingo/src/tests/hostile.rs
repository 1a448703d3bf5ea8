//! Definitions that are nearly right: each is played or refused, and none panics.

use proptest::prelude::*;

use crate::definition::{SMALL, parse};

use super::support::model;

/// Values at an edge, or of another kind.
const VALUES: [&str; 28] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "1e308",
    "-0.0",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\"1/4294967295\"",
    "\"4294967295/4294967295\"",
    "\"0/0\"",
    "\"1/128\"",
    "\"366days\"",
    "\"18446744073709551615s\"",
    "\"+262142-12-31T23:59\"",
    "\"-262143-01-01T00:00\"",
    "\"9999-12-31T23:59\"",
    "\"24:00\"",
    "[]",
    "[4294967295, 0]",
    "{}",
    "\"\u{1F980}\"",
];

/// The text with some lines left out, doubled, or with other values.
fn changed(changes: &[(prop::sample::Index, u8, prop::sample::Index)]) -> String {
    let mut lines: Vec<String> = SMALL.lines().map(str::to_owned).collect();
    for (line, change, value) in changes {
        let place = line.index(lines.len());
        match change {
            0 => drop(lines.remove(place)),
            1 => lines.insert(place, lines[place].clone()),
            _ => {
                if let Some((key, _)) = lines[place].clone().split_once('=') {
                    lines[place] = format!("{key}= {}", VALUES[value.index(VALUES.len())]);
                }
            }
        }
    }
    lines.join("\n")
}

proptest! {
    #[test]
    fn changed_definitions_are_built_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8, any::<prop::sample::Index>()), 1..4),
    ) {
        if let Ok(event) = parse(&changed(&changes)) {
            model(&event, &[]);
        }
    }
}

#[test]
fn deep_definitions_are_refused() {
    for (open, close) in [("[", "]"), ("{a=", "}"), ("{\"a\":", "}")] {
        let deep = open.repeat(100_000) + "1" + &close.repeat(100_000);
        assert!(parse(&deep).is_err(), "{open}");
        assert!(parse(&format!("name = {deep}")).is_err(), "{open}");
    }
    assert!(parse(&format!("{} = 1", "a.".repeat(100_000) + "b")).is_err());
}
