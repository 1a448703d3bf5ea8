//! `manyworlds config`: prints a server's settings as a settings file.

use std::fmt::Write as _;

use anyhow::Result;

use crate::output::print;
use crate::settings::Setting;

pub(crate) fn config(settings: &[Setting]) -> Result<()> {
    let mut text = String::new();
    for Setting { name, value, source, is_secret } in settings {
        // Writing to a String cannot fail.
        let _ = match value {
            Some(_) if *is_secret => writeln!(text, "# {name} is set, and not shown: it holds a password # {source}"),
            None => writeln!(text, "# {name} is not set"),
            Some(value) => writeln!(text, "{name} = {} # {source}", literal(value)),
        };
    }
    print(&text)
}

fn literal(value: &str) -> toml::Value {
    value.parse().map_or_else(|_| toml::Value::String(value.to_owned()), toml::Value::Integer)
}
