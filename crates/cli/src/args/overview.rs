//! `manyworlds --help`: all commands on one screen.

use std::fmt::Write as _;

use clap::builder::styling::Styles;
use clap::{Command, CommandFactory as _};

use super::Args;

/// The commands in groups, in the order of a user's first steps.
pub(super) const GROUPS: [(&str, &[&str]); 6] = [
    ("Simulate", &["models", "check", "run", "import", "bingo", "football", "calibrate"]),
    (
        "Explore",
        &[
            "ensembles",
            "outcome",
            "probability",
            "price",
            "book",
            "correlate",
            "leverage",
            "compare",
            "events",
            "verify",
            "drop",
        ],
    ),
    ("Scale out", &["submit", "worker", "status", "pause", "resume", "cancel", "retry"]),
    ("Tables", &["append", "ask", "sql", "info", "export", "flush", "table"]),
    ("Serve", &["serve", "ui", "config", "token"]),
    ("Measure", &["loadgen", "bench"]),
];

/// The command line, with the overview as the program's own help, because clap has no groups of commands.
pub(crate) fn command() -> Command {
    let command = Args::command();
    let overview = overview(&command);
    command.override_help(overview)
}

fn overview(command: &Command) -> String {
    let styles = Styles::styled();
    let (bold, group) = (styles.get_literal(), styles.get_header());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{about}\n{group}Usage:{group:#} {bold}manyworlds{bold:#} <COMMAND> [OPTIONS]\n");
    for (title, names) in GROUPS {
        let commands = names.iter().filter_map(|name| command.find_subcommand(name));
        for (place, one) in commands.enumerate() {
            let title = if place == 0 { title } else { "" };
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{group}{title}{group:#}{:1$}{bold}{2:11}{bold:#}  {about}",
                "",
                11 - title.len(),
                one.get_name()
            );
        }
    }
    text + "Run 'manyworlds help COMMAND' for its flags and an example.\n"
}
