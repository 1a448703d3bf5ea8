//! Statements other than queries that every client sends: settings, and transactions. Transactions have no effect here.

use std::time::Duration;

use sql::postgres::setting;

use super::backends::Stop;
use super::cursors::{self, Declare, Fetch};
use super::error::PgError;
use super::words::Words;

/// A statement other than a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// Begins a transaction.
    Begin,
    /// Ends a transaction; holds the command tag.
    End(&'static str),
    /// A statement within a transaction without effect here, such as a savepoint; holds the command tag.
    Nothing(&'static str),
    /// Sets the timeout of statements; `None`: the server's limit.
    Timeout(Option<Duration>),
    /// Sets the timeout until the transaction ends.
    TimeoutOnce(Option<Duration>),
    /// Sets the application name.
    Name(String),
    /// Sets the schemas of plain table names; none: the default.
    Path(Vec<String>),
    /// Sets them until the transaction ends.
    PathOnce(Vec<String>),
    /// Sets a time zone, which has no effect.
    Zone(String),
    /// Cancels the statement of a connection, or ends it.
    Stop(Stop),
    /// Shows a setting.
    Show(String),
    /// Drops a prepared statement, or all.
    Deallocate(Option<String>),
    /// Resets the session.
    Discard,
    /// Declares a cursor.
    Declare(Declare),
    /// Sends or skips rows of a cursor.
    Fetch(Fetch),
    /// Closes a cursor, or all.
    Close(Option<String>),
}

/// Settings with a value per session.
const OWN: [&str; 4] = ["statement_timeout", "application_name", "search_path", "session_authorization"];

/// What else `SHOW` lists.
const OF_ENGINE: [&str; 4] = ["ALL", "TABLES", "FUNCTIONS", "COLUMNS"];

/// Maximum number of words that the parser reads.
const WORDS_MAX: usize = 32;

impl Command {
    /// Parses a statement; `None` for any other.
    pub(super) fn of(sql: &str) -> Result<Option<Self>, PgError> {
        let sql = sql::without_comments(sql);
        let words = sql.split(|c: char| c.is_whitespace() || c == '=' || c == ';').filter(|word| !word.is_empty());
        let words: Vec<&str> = words.take(WORDS_MAX).collect();
        let upper: Vec<String> = words.iter().take(4).map(|word| word.to_uppercase()).collect();
        let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
        Ok(Some(match upper.as_slice() {
            ["BEGIN", ..] | ["START", "TRANSACTION", ..] => Self::Begin,
            ["COMMIT" | "END", ..] => Self::End("COMMIT"),
            ["ROLLBACK", "TO", ..] | ["ROLLBACK", _, "TO", ..] => Self::Nothing("ROLLBACK"),
            ["ROLLBACK" | "ABORT", ..] => Self::End("ROLLBACK"),
            ["SAVEPOINT", ..] => Self::Nothing("SAVEPOINT"),
            ["RELEASE", ..] => Self::Nothing("RELEASE"),
            ["LISTEN", ..] => Self::Nothing("LISTEN"),
            ["UNLISTEN", ..] => Self::Nothing("UNLISTEN"),
            ["DECLARE", ..] => Self::Declare(Declare::of(after_first(sql)?)?),
            ["FETCH", ..] => Self::Fetch(Fetch::of(after_first(sql)?, true)?),
            ["MOVE", ..] => Self::Fetch(Fetch::of(after_first(sql)?, false)?),
            ["CLOSE", ..] => Self::Close(cursors::close(after_first(sql)?)?),
            ["DISCARD", ..] => Self::Discard,
            ["DEALLOCATE", "ALL"] | ["DEALLOCATE", "PREPARE", "ALL"] => Self::Deallocate(None),
            ["DEALLOCATE", ..] => Self::Deallocate(words.last().map(|name| name.trim_matches('"').to_owned())),
            ["RESET", "SEARCH_PATH"] => Self::Path(Vec::new()),
            ["RESET", "ALL" | "STATEMENT_TIMEOUT"] => Self::Timeout(None),
            ["RESET", ..] => Self::Nothing("RESET"),
            ["SET", "LOCAL", _, ..] => match Self::set(words.get(2..).unwrap_or_default())? {
                Self::Timeout(timeout) => Self::TimeoutOnce(timeout),
                Self::Path(names) => Self::PathOnce(names),
                other => other,
            },
            ["SET", "SESSION", _, ..] => Self::set(words.get(2..).unwrap_or_default())?,
            ["SET", ..] => Self::set(words.get(1..).unwrap_or_default())?,
            ["SELECT", ..] => return Ok(Stop::of(sql)?.map(Self::Stop)),
            ["SHOW", "TRANSACTION", "ISOLATION", ..] => Self::Show("transaction_isolation".to_owned()),
            ["SHOW", "TIME", "ZONE"] => Self::Show("timezone".to_owned()),
            ["SHOW", name] if setting(&name.to_lowercase()).is_some() || OWN.contains(&&*name.to_lowercase()) => {
                Self::Show(name.to_lowercase())
            }
            ["SHOW", name] if !OF_ENGINE.contains(name) && !name.contains('.') => {
                return Err(PgError::new("42704", format!("unknown setting {:?}", name.to_lowercase())));
            }
            _ => return Ok(None),
        }))
    }

    fn set(words: &[&str]) -> Result<Self, PgError> {
        let zone = words
            .first()
            .zip(words.get(1))
            .is_some_and(|(time, zone)| time.eq_ignore_ascii_case("time") && zone.eq_ignore_ascii_case("zone"));
        let words = if zone { &words[1..] } else { words };
        let name = words.first().map(|name| name.to_lowercase()).unwrap_or_default();
        let values = words.get(1..).unwrap_or_default();
        let values = if values.first().is_some_and(|to| to.eq_ignore_ascii_case("to")) { &values[1..] } else { values };
        let value = values.join(" ").trim_matches('\'').to_owned();
        match name.as_str() {
            "statement_timeout" => timeout(&value).map(Self::Timeout),
            "application_name" => Ok(Self::Name(value)),
            "search_path" => Ok(Self::Path(schemas(&values.join(" ")))),
            "timezone" | "zone" if !is_utc(&value) => Ok(Self::Zone(value)),
            "client_encoding" | "names" if !is_utf8(&value) => {
                Err(PgError::new("22023", format!("unsupported encoding {value:?}: use UTF8")))
            }
            _ => Ok(Self::Nothing("SET")),
        }
    }

    /// The command tag for the client.
    pub(super) fn tag(&self) -> &'static str {
        match self {
            Self::Begin => "BEGIN",
            Self::End(tag) | Self::Nothing(tag) => tag,
            Self::Timeout(_)
            | Self::TimeoutOnce(_)
            | Self::Name(_)
            | Self::Path(_)
            | Self::PathOnce(_)
            | Self::Zone(_) => "SET",
            Self::Stop(_) => "SELECT 1",
            Self::Show(_) => "SHOW",
            Self::Deallocate(_) => "DEALLOCATE",
            Self::Discard => "DISCARD ALL",
            Self::Declare(_) => "DECLARE CURSOR",
            Self::Fetch(fetch) => {
                if fetch.sends {
                    "FETCH"
                } else {
                    "MOVE"
                }
            }
            Self::Close(_) => "CLOSE CURSOR",
        }
    }
}

/// The names in a search path; none for `DEFAULT`.
pub(super) fn schemas(path: &str) -> Vec<String> {
    let name = |written: &str| match written.trim() {
        quoted if quoted.starts_with(['"', '\'']) => quoted.trim_matches(['"', '\'']).to_owned(),
        plain => plain.to_lowercase(),
    };
    let names = path.split(',').map(name).filter(|name| !name.is_empty() && name != "default");
    names.collect()
}

/// Whether a time zone is the one of this server.
fn is_utc(zone: &str) -> bool {
    const UTC: [&str; 10] = ["utc", "etc/utc", "gmt", "z", "zulu", "default", "local", "0", "+00", "+00:00"];
    UTC.contains(&zone.to_lowercase().as_str())
}

/// The words after the first.
fn after_first(sql: &str) -> Result<Words<'_>, PgError> {
    let mut words = Words::of(sql);
    words.next()?;
    Ok(words)
}

pub(super) fn is_utf8(encoding: &str) -> bool {
    matches!(
        encoding.to_lowercase().replace(['-', '\'', '"'], "").as_str(),
        "utf8" | "unicode" | "default" | "sql_ascii"
    )
}

/// Parses milliseconds, or a number with its unit; 0 means the server's limit.
pub(super) fn timeout(text: &str) -> Result<Option<Duration>, PgError> {
    let text = text.trim().trim_matches('\'');
    if text.eq_ignore_ascii_case("default") {
        return Ok(None);
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "" | "ms" => Some(1),
        "s" => Some(1_000),
        "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let millis = scale.and_then(|scale| number.parse::<u64>().ok()?.checked_mul(scale));
    let millis = millis.ok_or_else(|| {
        PgError::new("22023", format!("{text:?} is not a statement_timeout: write milliseconds, '5s' or '1min'"))
    })?;
    Ok((millis > 0).then(|| Duration::from_millis(millis)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send_beside_questions_is_known() {
        let of = |sql: &str| Command::of(sql).unwrap();
        let second = Some(Duration::from_secs(1));
        for (sql, expected) in [
            ("begin transaction isolation level serializable", Some(Command::Begin)),
            ("/* x */ COMMIT;", Some(Command::End("COMMIT"))),
            ("rollback to savepoint a", Some(Command::Nothing("ROLLBACK"))),
            ("ROLLBACK", Some(Command::End("ROLLBACK"))),
            ("SET statement_timeout = '1s'", Some(Command::Timeout(second))),
            ("set session statement_timeout to 1000", Some(Command::Timeout(second))),
            ("SET LOCAL statement_timeout = '1s'", Some(Command::TimeoutOnce(second))),
            ("SET statement_timeout=0", Some(Command::Timeout(None))),
            ("SET extra_float_digits = 3", Some(Command::Nothing("SET"))),
            ("SET client_encoding TO 'UTF8'", Some(Command::Nothing("SET"))),
            ("SET search_path = \"A b\", public", Some(Command::Path(vec!["A b".to_owned(), "public".to_owned()]))),
            ("SET LOCAL search_path TO Met", Some(Command::PathOnce(vec!["met".to_owned()]))),
            ("SET search_path TO DEFAULT", Some(Command::Path(Vec::new()))),
            ("RESET search_path", Some(Command::Path(Vec::new()))),
            ("SET TIME ZONE 'UTC'", Some(Command::Nothing("SET"))),
            ("SET SESSION TIMEZONE TO 'Europe/Berlin'", Some(Command::Zone("Europe/Berlin".to_owned()))),
            ("SHOW server_version", Some(Command::Show("server_version".to_owned()))),
            ("show transaction isolation level", Some(Command::Show("transaction_isolation".to_owned()))),
            ("DEALLOCATE \"s1\"", Some(Command::Deallocate(Some("s1".to_owned())))),
            ("DISCARD ALL", Some(Command::Discard)),
            ("CLOSE \"c\"", Some(Command::Close(Some("c".to_owned())))),
            ("SHOW TABLES", None),
            ("SELECT 1", None),
            ("INSERT INTO t VALUES (1)", None),
        ] {
            assert_eq!(of(sql), expected, "{sql}");
        }
        for wrong in ["SET statement_timeout = 'soon'", "SET client_encoding = 'latin1'"] {
            assert_eq!(Command::of(wrong).unwrap_err().code, "22023");
        }
        assert_eq!(Command::of("SHOW nothing").unwrap_err().code, "42704");
    }
}
