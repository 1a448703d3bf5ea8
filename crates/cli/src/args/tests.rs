//! Every help follows the style guide, and every example parses.

use clap::Command;

use super::overview::GROUPS;

const SCREEN_LINES: usize = 41;
const SCREEN_COLUMNS: usize = 80;
const WORDS_MAX: usize = 8;

/// The command line with the flags of all commands.
fn command() -> Command {
    let mut command = super::command();
    command.build();
    command
}

/// The visible commands by full name, the program itself first.
fn visible(name: &str, command: &Command) -> Vec<(String, Command)> {
    let below = command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
    let below = below.flat_map(|c| visible(&format!("{name} {}", c.get_name()), c));
    std::iter::once((name.to_owned(), command.clone())).chain(below).collect()
}

fn check_short(of: &str, help: Option<&clap::builder::StyledStr>) {
    let help = help.unwrap_or_else(|| panic!("{of} has no help")).to_string();
    assert!(help.starts_with(char::is_uppercase), "{of}: {help:?} begins with no capital letter");
    assert!(!help.ends_with('.'), "{of}: {help:?} ends with a full stop");
    assert!(help.split_whitespace().count() <= WORDS_MAX, "{of}: {help:?} has more than {WORDS_MAX} words");
}

/// Splits a command line into words as a shell does, up to a redirection.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars().chain([' ']) {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == ' ' => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.into_iter().take_while(|word| word != ">").collect()
}

#[test]
fn every_command_is_in_one_group() {
    let command = command();
    let shown = command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
    let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    shown.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(grouped, shown);
}

#[test]
fn overview_fits_one_screen() {
    let help = command().render_help().to_string();
    assert!(help.lines().count() <= SCREEN_LINES, "{help}");
    assert!(help.lines().all(|line| line.chars().count() <= SCREEN_COLUMNS), "{help}");
    assert_eq!(help, command().render_long_help().to_string());
}

/// A doc comment on the struct of a command's flags would replace it.
#[test]
fn commands_keep_their_help_once_their_flags_are_built() {
    let abouts = |command: &Command| -> Vec<_> {
        let of = |c: &Command| (c.get_name().to_owned(), c.get_about().cloned(), c.get_long_about().cloned());
        command.get_subcommands().filter(|c| c.get_name() != "help").map(of).collect()
    };
    assert_eq!(abouts(&super::command()), abouts(&command()));
}

#[test]
fn short_helps_are_verb_phrases() {
    for (name, command) in visible("manyworlds", &command()).into_iter().skip(1) {
        check_short(&name, command.get_about());
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_id() != "help") {
            check_short(&format!("{name} {}", arg.get_id()), arg.get_help());
        }
    }
}

#[test]
fn every_command_has_an_example_that_parses() {
    for (name, command) in visible("manyworlds", &command()).into_iter().skip(1) {
        let help = command.get_after_long_help().unwrap_or_else(|| panic!("{name} has no example")).to_string();
        let examples = help.lines().filter_map(|line| Some(words(&line[line.find("manyworlds ")?..])));
        let examples: Vec<Vec<String>> = examples.collect();
        assert!(!examples.is_empty(), "{name}: {help}");
        for example in examples {
            assert!(example.join(" ").starts_with(&name), "{name} shows another command: {example:?}");
            let parsed = super::command().try_get_matches_from(&example);
            assert!(parsed.is_ok(), "{example:?}: {}", parsed.unwrap_err());
        }
    }
}

#[test]
fn old_spellings_still_parse() {
    let old: [&[&str]; 7] = [
        &["digest", "t"],
        &["load", "http://127.0.0.1:1", "--max"],
        &["tables"],
        &["inspect", "t"],
        &["trim", "t", "--keep-bytes", "1"],
        &["rebuild", "t", "--apply"],
        &["price", "season", "--leg", "home_won"],
    ];
    for words in old {
        let all = [&["manyworlds"], words].concat();
        assert!(command().try_get_matches_from(&all).is_ok(), "{all:?}");
    }
    let overview = command().render_long_help().to_string();
    let shown: Vec<&str> = overview.lines().filter_map(|line| line.get(11..)?.split(' ').next()).collect();
    assert!(shown.contains(&"flush"), "{overview}");
    for name in ["digest", "load", "tables", "inspect", "trim", "rebuild", "question-process"] {
        assert!(!shown.contains(&name), "{name} is shown");
    }
}
