//! The settings of a server. Flags override the environment, the environment overrides a file, and a file overrides
//! defaults.
//!
//! A file's settings become flags before clap parses them, so each is checked in one place, whatever its source.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, FromArgMatches as _};
use model::UnknownName;

use crate::args::{Args, command};

/// Commands that accept a settings file.
const COMMANDS: [&str; 3] = ["serve", "config", "ui"];
/// Flags that are not settings.
const OTHERS: [&str; 3] = ["config", "help", "no-open"];

/// Separates the values of a setting.
const SEPARATOR: &str = ";";

/// A server's setting.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The flag's name.
    pub(crate) name: String,
    /// `None`: neither set nor with a default.
    pub(crate) value: Option<String>,
    /// The source of the value, as text.
    pub(crate) source: String,
    /// Whether the value holds a password.
    pub(crate) is_secret: bool,
}

/// Parses the command line. Ends the program after `--help` or an error.
pub(crate) fn parse(mut words: Vec<OsString>) -> Result<(Args, Vec<Setting>)> {
    let command = command();
    // No flag comes before the command.
    let name = COMMANDS.into_iter().find(|name| words.get(1).is_some_and(|word| word == name));
    let Some((name, mut built)) = name.and_then(|name| Some((name, command.find_subcommand(name)?.clone()))) else {
        return Ok((Args::from_arg_matches(&command.get_matches_from(words)).unwrap_or_else(|e| e.exit()), Vec::new()));
    };
    built.build();
    // The second parse includes the file and reports errors.
    let first = command.clone().ignore_errors(true).try_get_matches_from(&words).ok();
    let given = first.as_ref().and_then(|matches| matches.subcommand_matches(name));
    let file = given.and_then(|given| given.get_one::<PathBuf>("config").cloned());
    let of_file = match (&file, given) {
        (Some(file), Some(given)) => read(file, &built, given)?,
        _ => Vec::new(),
    };
    words.extend(of_file.iter().map(|(name, value)| OsString::from(format!("--{name}={value}"))));
    let matches = command.try_get_matches_from(words).unwrap_or_else(|error| {
        if let Some(file) = file.as_ref().filter(|_| !of_file.is_empty()) {
            crate::output::note(&format!("with the settings of {}:", file.display()));
        }
        error.exit()
    });
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    let given = matches.subcommand_matches(name);
    let settings =
        given.map(|given| settings_of(&built).map(|arg| resolved(arg, given, file.as_deref(), &of_file)).collect());
    Ok((args, settings.unwrap_or_default()))
}

fn settings_of(command: &Command) -> impl Iterator<Item = &clap::Arg> {
    command.get_arguments().filter(|arg| arg.get_long().is_some_and(|name| !OTHERS.contains(&name)))
}

/// The file's settings, except those overridden by flags or the environment.
fn read(file: &Path, command: &Command, given: &ArgMatches) -> Result<Vec<(String, String)>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let table: toml::Table = text.parse().with_context(|| format!("{} is not valid TOML", file.display()))?;
    let mut found = Vec::new();
    for (name, value) in table {
        let known = settings_of(command).find(|arg| arg.get_long() == Some(&name));
        let Some(arg) = known else {
            let unknown = UnknownName::new("no setting", &name, settings_of(command).filter_map(|a| a.get_long()));
            return Err(unknown).with_context(|| format!("in {}", file.display()));
        };
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            other => {
                bail!("in {}: {name} is of type {}: write a text or a whole number", file.display(), other.type_str())
            }
        };
        let source = given.value_source(arg.get_id().as_str());
        if !matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
            found.push((name, value));
        }
    }
    Ok(found)
}

fn resolved(arg: &clap::Arg, given: &ArgMatches, file: Option<&Path>, of_file: &[(String, String)]) -> Setting {
    let name = arg.get_long().unwrap_or_default().to_owned();
    let id = arg.get_id().as_str();
    let raw = given.get_raw(id).map(|values| values.map(OsStr::to_string_lossy).collect::<Vec<_>>());
    let environment = || arg.get_env().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
    let source = match (given.value_source(id), file) {
        (Some(ValueSource::EnvVariable), _) => format!("environment {}", environment()),
        (Some(ValueSource::CommandLine), Some(file)) if of_file.iter().any(|(n, _)| *n == name) => {
            format!("file {}", file.display())
        }
        (Some(ValueSource::CommandLine), _) => "flag".to_owned(),
        _ => "default".to_owned(),
    };
    Setting { name, value: raw.map(|values| values.join(SEPARATOR)), source, is_secret: arg.is_hide_env_values_set() }
}
