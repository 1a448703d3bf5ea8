//! Completion at the prompt, and detection of a statement's end.

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use sql::{Engine, Session};
use tokio::runtime::Handle;

use super::open_engine;
use disk::Place;

const KEYWORDS: &str = "ALL AND ANY AS ASC BETWEEN BY CASE CAST COUNT CROSS DESC DESCRIBE DISTINCT ELSE END EXCEPT EXISTS \
     EXPLAIN ANALYZE FALSE FILTER FROM FULL GROUP HAVING ILIKE IN INNER INTERSECT INTERVAL IS JOIN LEFT LIKE LIMIT \
     NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION RIGHT SELECT SHOW TABLES THEN TRUE UNION USING VALUES WHEN WHERE \
     WITH";

pub(super) const COMMANDS: [&str; 4] = ["\\d", "\\q", "\\timing", "\\?"];

/// Whether a line is a command of the prompt.
pub(super) fn is_command(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('\\') || ["exit", "quit"].contains(&line.trim_end_matches(';'))
}

/// Completes names of tables and columns; opens tables on demand.
pub(super) struct Guide {
    pub(super) data: Place,
    pub(super) session: Session,
    pub(super) runtime: Handle,
}

/// The last word of a line, and its position.
fn last_word(line: &str) -> (usize, &str) {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\\');
    let begin = line.char_indices().rev().take_while(|(_, c)| inside(*c)).last().map_or(line.len(), |(place, _)| place);
    (begin, &line[begin..])
}

impl Guide {
    /// Completions of `word`.
    fn candidates(&self, line: &str, word: &str) -> Vec<String> {
        if word.starts_with('\\') {
            return COMMANDS.iter().map(|command| (*command).to_owned()).filter(|c| c.starts_with(word)).collect();
        }
        let small = word.chars().any(char::is_lowercase);
        let keywords =
            KEYWORDS.split_whitespace().map(|word| if small { word.to_lowercase() } else { word.to_owned() });
        let begins = |candidate: &String| candidate.to_lowercase().starts_with(&word.to_lowercase());
        // Without a readable folder, complete only SQL keywords.
        let Ok(engine) = self.runtime.block_on(open_engine(&self.data, &self.session)) else {
            return keywords.filter(begins).collect();
        };
        let tables = engine.tables();
        let mut found: Vec<String> = Vec::new();
        if let Some((of, _)) = word.rsplit_once('.') {
            found.extend(tables.iter().map(|(database, table)| format!("{database}.{table}")));
            found.extend(self.columns(&engine, of).into_iter().map(|column| format!("{of}.{column}")));
        } else {
            found.extend(tables.iter().map(|(_, table)| table.clone()));
            found.extend(tables.iter().map(|(database, _)| format!("{database}.")));
            let named = tables.iter().filter(|(_, table)| names(line, table));
            found.extend(named.flat_map(|(database, table)| self.columns(&engine, &format!("{database}.{table}"))));
            if !line.starts_with("\\d") {
                found.extend(keywords);
                found.extend(engine.functions().into_iter().map(|function| format!("{function}(")));
            }
        }
        found.retain(begins);
        found.sort_unstable_by_key(|candidate| candidate.to_lowercase());
        found.dedup();
        found
    }

    /// The columns of a table; empty if it cannot be opened.
    fn columns(&self, engine: &Engine, table: &str) -> Vec<String> {
        let asked = self.runtime.block_on(engine.describe(&format!("SELECT * FROM {table}"), &[]));
        let columns = asked.map(|asked| asked.columns.fields().iter().map(|f| f.name().clone()).collect());
        columns.unwrap_or_default()
    }
}

/// Whether `text` contains `word` as a whole word.
fn names(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|other| other == word)
}

impl Completer for Guide {
    type Candidate = Pair;

    fn complete(&self, line: &str, place: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (begin, word) = last_word(&line[..place]);
        let found = self.candidates(line, word).into_iter();
        Ok((begin, found.map(|word| Pair { display: word.clone(), replacement: word }).collect()))
    }
}

impl Validator for Guide {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let ended = is_command(text) || sql::is_empty(sql::split(text).1);
        Ok(if ended { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Guide {
    type Hint = String;
}

impl Highlighter for Guide {}

impl Helper for Guide {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_found() {
        assert_eq!(last_word("SELECT co"), (7, "co"));
        assert_eq!(last_word("SELECT count(d.c"), (13, "d.c"));
        assert_eq!(last_word("\\d"), (0, "\\d"));
        assert_eq!(last_word("SELECT "), (7, ""));
        assert!(is_command(" \\d cpu") && is_command("quit;") && !is_command("SELECT 1"));
        assert!(names("FROM d.cpu", "cpu") && !names("FROM d.cpus", "cpu"));
    }
}
