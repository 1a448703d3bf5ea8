//! The prompt: multi-line statements, answered one by one.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use sql::Session;
use tokio::runtime::Handle;

use super::ask;
use super::completion::{Guide, is_command};
use crate::advice::explain;
use crate::args::SqlArgs;
use crate::output::{counted, note};

const PROMPT: &str = "manyworlds> ";
const HISTORY_MAX: usize = 10_000;

const HELP: &str = "End statements with ;. They may span lines. Ctrl-C cancels a statement, Tab completes.
\\d         lists the tables
\\d TABLE   lists its columns
\\timing    turns the time of each answer on or off
\\q         quits (as Ctrl-D does)";

const TABLES: &str = "SELECT table_schema AS database, table_name AS table FROM information_schema.tables
     WHERE table_schema <> 'information_schema' ORDER BY 1, 2";

/// Reads and runs statements until the input ends.
pub(super) fn converse(args: &SqlArgs, session: Session) -> Result<()> {
    // Waiting for keys must not block queries.
    tokio::task::block_in_place(|| Prompt { args, session, runtime: Handle::current(), times: true }.run())
}

struct Prompt<'a> {
    args: &'a SqlArgs,
    session: Session,
    runtime: Handle,
    times: bool,
}

impl Prompt<'_> {
    fn run(&mut self) -> Result<()> {
        let config = Config::builder()
            .history_ignore_space(true)
            .max_history_size(HISTORY_MAX)
            .and_then(|config| config.history_ignore_dups(true))
            .context("cannot open the prompt")?
            .completion_type(CompletionType::List)
            .build();
        let mut editor: Editor<Guide, FileHistory> = Editor::with_config(config).context("cannot open the prompt")?;
        let (data, session) = (self.args.data.data.clone(), self.session.clone());
        editor.set_helper(Some(Guide { data, session, runtime: self.runtime.clone() }));
        let history = history_file();
        if let Some(file) = &history
            && file.exists()
            && let Err(error) = editor.load_history(file)
        {
            note(&format!("cannot read the history from {}: {error}", file.display()));
        }
        note("\\? shows help, \\q quits");
        loop {
            match editor.readline(PROMPT) {
                Ok(text) => {
                    if text.trim().is_empty() {
                        continue;
                    }
                    keep(&mut editor, &text, history.as_ref());
                    if self.answer(&text)?.is_break() {
                        break;
                    }
                }
                // Ctrl-C drops the line.
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(error).context("cannot read from the terminal"),
            }
        }
        Ok(())
    }

    fn answer(&mut self, text: &str) -> Result<ControlFlow<()>> {
        if !is_command(text) {
            for sql in sql::split(text).0 {
                if !self.ask(sql)? {
                    break;
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let text = text.trim().trim_end_matches(';');
        match text.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["\\q" | "exit" | "quit"] => return Ok(ControlFlow::Break(())),
            ["\\d" | "\\dt"] => drop(self.ask(TABLES)?),
            ["\\d", table] => drop(self.ask(&format!("DESCRIBE {table}"))?),
            ["\\timing"] => {
                self.times = !self.times;
                note(if self.times { "timing is on" } else { "timing is off" });
            }
            ["\\?"] => note(HELP),
            _ => note(&format!("error: unknown command {text}: \\? lists the commands")),
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Runs one statement; `false` if it failed or was cancelled.
    fn ask(&self, sql: &str) -> Result<bool> {
        let begun = Instant::now();
        let asked = self.runtime.block_on(async {
            tokio::select! {
                asked = ask(self.args, &self.session, sql) => Some(asked),
                _ = tokio::signal::ctrl_c() => None,
            }
        });
        match asked {
            Some(Ok(rows)) if self.times => {
                note(&format!("({}, {})", counted(rows as u64, "row"), time_in_words(begun.elapsed())));
            }
            Some(Ok(rows)) => note(&format!("({})", counted(rows as u64, "row"))),
            // The reader of the output is gone.
            Some(Err(error)) if crate::is_broken_pipe(&error) => return Err(error),
            Some(Err(error)) => {
                note(&format!("error: {}", explain(&error)));
                return Ok(false);
            }
            None => {
                note("cancelled");
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn time_in_words(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1e3;
    if millis < 1_000.0 { format!("{millis:.1} ms") } else { format!("{:.2} s", millis / 1e3) }
}

/// Appends to the history, on disk at once.
fn keep(editor: &mut Editor<Guide, FileHistory>, text: &str, file: Option<&PathBuf>) {
    let kept = editor.add_history_entry(text).and_then(|new| match file {
        Some(file) if new => {
            file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            editor.append_history(file)
        }
        _ => Ok(()),
    });
    if let Err(error) = kept {
        note(&format!("cannot save the history: {error}"));
    }
}

/// The history file, in the user's state folder.
fn history_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    Some(state?.join("manyworlds/history"))
}
