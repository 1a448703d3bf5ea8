//! `DECLARE`, `FETCH`, `MOVE` and `CLOSE`: cursors that a client names in SQL.

use super::error::PgError;
use super::words::{Word, Words, syntax};

/// `DECLARE name CURSOR FOR query`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declare {
    pub(super) name: String,
    /// The query.
    pub(super) sql: String,
    /// Whether its rows are in binary format.
    pub(super) binary: bool,
    /// Whether it outlives its transaction.
    pub(super) hold: bool,
}

/// `FETCH count FROM name`, or `MOVE` with the same words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fetch {
    pub(super) name: String,
    /// Maximum rows to read; `None`: all that are left.
    pub(super) most: Option<u64>,
    /// Whether the rows are sent. `MOVE` sends none.
    pub(super) sends: bool,
}

fn forward_only() -> PgError {
    PgError::unsupported("cursors go forward only: use FETCH NEXT, FETCH n, FETCH FORWARD n or FETCH ALL")
}

impl Declare {
    /// Reads what follows `DECLARE`.
    pub(super) fn of(mut words: Words<'_>) -> Result<Self, PgError> {
        let name = words.name()?;
        let (mut binary, mut hold) = (false, false);
        loop {
            match words.next()? {
                Some(Word::Plain(word)) => match word.as_str() {
                    "cursor" => break,
                    "binary" => binary = true,
                    // Many clients that declare a cursor so go forward only; FETCH refuses to go back.
                    "insensitive" | "asensitive" | "scroll" => {}
                    "no" => words.expect("scroll")?,
                    other => return Err(syntax(format!("DECLARE does not know {other:?}"))),
                },
                _ => return Err(syntax("write DECLARE name CURSOR FOR query")),
            }
        }
        for (word, held) in [("with", true), ("without", false)] {
            if words.take(word)? {
                words.expect("hold")?;
                hold = held;
            }
        }
        words.expect("for")?;
        let sql = words.rest().to_owned();
        Ok(Self { name, sql, binary, hold })
    }
}

impl Fetch {
    /// Reads what follows `FETCH` or, if no rows are sent, `MOVE`.
    pub(super) fn of(mut words: Words<'_>, sends: bool) -> Result<Self, PgError> {
        let mut most = Some(1);
        let mut ahead = words.clone();
        let direction = match ahead.next()? {
            Some(Word::Plain(word)) => word,
            Some(Word::Sign('-')) => return Err(forward_only()),
            _ => String::new(),
        };
        // A cursor may have any of these names, so the direction counts only if more follows.
        let more = !ahead.rest().is_empty();
        match direction.as_str() {
            "prior" | "first" | "last" | "absolute" | "relative" | "backward" if more => return Err(forward_only()),
            "next" | "forward" | "all" if more => {
                words = ahead;
                if direction == "all" || (direction == "forward" && words.take("all")?) {
                    most = None;
                } else if direction == "forward" {
                    let mut ahead = words.clone();
                    if let Some(Word::Plain(number)) = ahead.next()?
                        && let Some(count) = count(&number)?
                    {
                        (words, most) = (ahead, Some(count));
                    }
                }
            }
            number => {
                if let Some(count) = count(number)? {
                    (words, most) = (ahead, Some(count));
                }
            }
        }
        let _ = words.take("from")? || words.take("in")?;
        let name = words.name()?;
        words.end()?;
        Ok(Self { name, most, sends })
    }
}

/// A count of rows; `None` unless the word is a number.
fn count(word: &str) -> Result<Option<u64>, PgError> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    word.parse().map(Some).map_err(|_| PgError::new("22003", format!("FETCH cannot count {word} rows")))
}

/// Reads what follows `CLOSE`: a name, or `None` for all.
pub(super) fn close(mut words: Words<'_>) -> Result<Option<String>, PgError> {
    let is_all = words.clone().take("all")?;
    let name = words.name()?;
    words.end()?;
    Ok((!is_all).then_some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_declared() {
        let declare =
            |name: &str, binary, hold| Declare { name: name.to_owned(), sql: "SELECT 1".to_owned(), binary, hold };
        for (sql, expected) in [
            ("c CURSOR FOR SELECT 1", declare("c", false, false)),
            ("\"A b\" NO SCROLL CURSOR WITH HOLD FOR SELECT 1", declare("A b", false, true)),
            ("c SCROLL CURSOR FOR SELECT 1", declare("c", false, false)),
            ("c BINARY INSENSITIVE CURSOR WITHOUT HOLD FOR SELECT 1", declare("c", true, false)),
        ] {
            assert_eq!(Declare::of(Words::of(sql)).unwrap(), expected, "{sql}");
        }
        for (sql, code) in [
            ("c FOR SELECT 1", "42601"),
            ("\"\" CURSOR FOR SELECT 1", "42601"),
            ("c CURSOR WITH FOR SELECT 1", "42601"),
            ("", "42601"),
        ] {
            assert_eq!(Declare::of(Words::of(sql)).unwrap_err().code, code, "{sql}");
        }
    }

    #[test]
    fn fetch_counts_forward() {
        let fetch = |name: &str, most| Fetch { name: name.to_owned(), most, sends: true };
        for (sql, expected) in [
            ("c", fetch("c", Some(1))),
            ("NEXT FROM c", fetch("c", Some(1))),
            ("FORWARD c", fetch("c", Some(1))),
            ("10 FROM \"C d\"", fetch("C d", Some(10))),
            ("FORWARD 20 IN c", fetch("c", Some(20))),
            ("ALL FROM c", fetch("c", None)),
            ("FORWARD ALL c", fetch("c", None)),
            ("0 c", fetch("c", Some(0))),
            ("next", fetch("next", Some(1))),
            ("18446744073709551615 c", fetch("c", Some(u64::MAX))),
        ] {
            assert_eq!(Fetch::of(Words::of(sql), true).unwrap(), expected, "{sql}");
        }
        let moved = Fetch { sends: false, ..fetch("c", Some(3)) };
        assert_eq!(Fetch::of(Words::of("FORWARD 3 c"), false).unwrap(), moved);
        for (sql, code) in [
            ("PRIOR FROM c", "0A000"),
            ("-1 FROM c", "0A000"),
            ("BACKWARD 2 FROM c", "0A000"),
            ("18446744073709551616 c", "22003"),
            ("c d", "42601"),
            ("", "42601"),
        ] {
            assert_eq!(Fetch::of(Words::of(sql), true).unwrap_err().code, code, "{sql}");
        }
        assert_eq!(close(Words::of("\"All\"")).unwrap(), Some("All".to_owned()));
        assert_eq!(close(Words::of("ALL")).unwrap(), None);
    }
}
