//! Reads bets from CSV.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use csv::{ReaderBuilder, StringRecord, Trim};
use model::UnknownName;

use super::{Bet, Side};
use crate::error::QuestionError;

/// Maximum bytes of the file: 20,000 bets of 3 KB.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The bets of a file, and the lines that they begin on.
#[derive(Debug)]
pub struct BetFile {
    path: PathBuf,
    pub bets: Vec<Bet>,
    lines: Vec<u64>,
    columns: Columns,
}

/// Why a file has no bets.
#[derive(Debug, thiserror::Error)]
pub enum BetFileError {
    #[error("cannot read {}: {cause}", path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("{}{place} {reason}", path.display())]
    Invalid { path: PathBuf, place: Place, reason: String },
}

/// A place in a file, for people: nothing, or `, line 3, column odds:`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    line: Option<u64>,
    column: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line: Some(line), column } = self else { return Ok(()) };
        write!(f, ", line {line}")?;
        column.iter().try_for_each(|column| write!(f, ", column {column}"))?;
        f.write_str(":")
    }
}

/// The places of the columns.
#[derive(Debug)]
struct Columns {
    legs: Vec<usize>,
    stake: usize,
    odds: usize,
    id: Option<usize>,
    side: Option<usize>,
    entity: Option<usize>,
    header: StringRecord,
}

const NAMES: [&str; 6] = ["legs", "stake", "odds", "id", "side", "entity"];

impl Columns {
    fn of(header: &StringRecord) -> Result<Self, String> {
        let names: Vec<String> = header.iter().map(str::to_lowercase).collect();
        let find = |name: &str| names.iter().position(|known| known == name);
        let need =
            |name: &str| find(name).ok_or_else(|| format!("no column {name}; the header is: {}", joined(header)));
        let legs = names.iter().enumerate().filter(|(_, name)| is_legs(name));
        let legs: Vec<usize> = legs.map(|(place, _)| place).collect();
        for (place, name) in names.iter().enumerate() {
            if names[..place].contains(name) {
                return Err(format!("column {name} comes twice in the header"));
            }
            if !NAMES.contains(&name.as_str()) && !legs.contains(&place) {
                return Err(UnknownName::new("a book has no column", name, NAMES).to_string());
            }
        }
        if legs.is_empty() {
            need("legs")?;
        }
        let (stake, odds) = (need("stake")?, need("odds")?);
        let header = header.clone();
        Ok(Self { legs, stake, odds, id: find("id"), side: find("side"), entity: find("entity"), header })
    }

    fn bet(&self, row: &StringRecord) -> Result<Bet, (&'static str, String)> {
        let text = |column: Option<usize>| column.map(|column| row[column].to_owned()).filter(|text| !text.is_empty());
        let decimal = |column: usize, name: &'static str| {
            let text = &row[column];
            text.parse().map_err(|error| (name, format!("{error}, not {text:?}")))
        };
        let side = match self.side.map(|column| row[column].to_lowercase()).as_deref() {
            None | Some("" | "back") => Side::Back,
            Some("lay") => Side::Lay,
            Some(other) => return Err(("side", format!("expected back or lay, not {other:?}"))),
        };
        Ok(Bet {
            id: text(self.id),
            entity: text(self.entity),
            legs: self.legs.iter().flat_map(|column| split(&row[*column])).collect(),
            stake: decimal(self.stake, "stake")?,
            odds: decimal(self.odds, "odds")?,
            side,
        })
    }
}

/// `legs`, `leg`, or `leg_1`, `leg_2` and so on.
fn is_legs(name: &str) -> bool {
    let number = |rest: &str| rest.trim_start_matches('_').bytes().all(|byte| byte.is_ascii_digit());
    name == "legs" || name.strip_prefix("leg").is_some_and(number)
}

fn joined(header: &StringRecord) -> String {
    header.iter().collect::<Vec<_>>().join(",")
}

/// Splits legs at semicolons outside quotes; empty ones are left out.
fn split(text: &str) -> Vec<String> {
    let mut quote = None;
    let is_end = |c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            None => return c == ';',
            Some(_) => {}
        }
        false
    };
    text.split(is_end).map(str::trim).filter(|leg| !leg.is_empty()).map(str::to_owned).collect()
}

impl BetFile {
    /// Reads a whole file.
    ///
    /// # Errors
    /// If it cannot be read, is too large, or does not hold bets as CSV; names the line and the column.
    pub fn read(path: &Path) -> Result<Self, BetFileError> {
        let unreadable = |cause| BetFileError::Read { path: path.to_owned(), cause };
        let invalid = |line: Option<u64>, column: Option<&str>, reason: String| {
            let place = Place { line, column: column.map(str::to_owned) };
            BetFileError::Invalid { path: path.to_owned(), place, reason }
        };
        let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
        if bytes > FILE_BYTES_MAX {
            let reason = format!("has {bytes} bytes, the limit is {FILE_BYTES_MAX}: split the book");
            return Err(invalid(None, None, reason));
        }
        let text = std::fs::read(path).map_err(unreadable)?;
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text);
        let not_csv = |error: csv::Error| invalid(error_line(&error, text), None, reason(&error));
        let header = reader.headers().map_err(not_csv)?.clone();
        if header.iter().all(str::is_empty) {
            let reason = "is empty: its first line names the columns legs, stake and odds";
            return Err(invalid(None, None, reason.to_owned()));
        }
        let columns = Columns::of(&header).map_err(|reason| invalid(Some(1), None, reason))?;
        let mut found = Self { path: path.to_owned(), bets: Vec::new(), lines: Vec::new(), columns };
        for row in reader.records() {
            let row = row.map_err(not_csv)?;
            let line = row.position().map_or(0, |position| line_of(position, text));
            let bet = found.columns.bet(&row);
            found.bets.push(bet.map_err(|(column, reason)| invalid(Some(line), Some(column), reason))?);
            found.lines.push(line);
        }
        if found.bets.is_empty() {
            return Err(invalid(None, None, "has no bets below its header".to_owned()));
        }
        Ok(found)
    }

    /// Adds the line and the column to the error of a bet; returns other errors unchanged.
    ///
    /// # Errors
    /// If no bet causes the error.
    pub fn locate(&self, error: QuestionError) -> Result<BetFileError, QuestionError> {
        let QuestionError::Bet { place, field, reason } = error else { return Err(error) };
        let column = match (field.as_str(), self.columns.legs.first()) {
            ("legs", Some(first)) => &self.columns.header[*first],
            (other, _) => other,
        };
        let place = Place { line: self.lines.get(place).copied(), column: Some(column.to_owned()) };
        Ok(BetFileError::Invalid { path: self.path.clone(), place, reason })
    }
}

/// The line of a record. Its position is that of the empty lines before it.
fn line_of(position: &csv::Position, text: &[u8]) -> u64 {
    let before = text.iter().skip(position.byte() as usize).take_while(|byte| matches!(byte, b'\n' | b'\r'));
    position.line() + before.filter(|byte| **byte == b'\n').count() as u64
}

/// The line of an error, if known.
fn error_line(error: &csv::Error, text: &[u8]) -> Option<u64> {
    error.position().map(|position| line_of(position, text))
}

/// Why a file cannot be read as CSV.
fn reason(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("expected {expected_len} values, found {len}")
        }
        csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<BetFile, BetFileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bets.csv");
        std::fs::write(&path, text).unwrap();
        BetFile::read(&path)
    }

    #[test]
    fn legs_come_in_one_column_or_several() {
        let file = read("Stake, Odds,legs,ID,side\n10,2.5,a > 1; b = 'x;y' ;,first,Lay\n0.5,3,\"c, d\",,\n").unwrap();
        let [first, second] = &file.bets[..] else { panic!("{:?}", file.bets) };
        assert_eq!(
            (&first.legs[..], first.id.as_deref()),
            (&["a > 1", "b = 'x;y'"].map(str::to_owned)[..], Some("first"))
        );
        assert_eq!((first.side, second.side, &second.legs[0]), (Side::Lay, Side::Back, &"c, d".to_owned()));
        assert_eq!((second.id.clone(), second.stake.to_string()), (None, "0.5".to_owned()));
        let file = read("leg_1,leg_2,stake,odds,entity\na,b,1,2,x\nc,,1,2,\n").unwrap();
        assert_eq!([file.bets[0].legs.len(), file.bets[1].legs.len()], [2, 1]);
        assert_eq!([&file.bets[0].entity, &file.bets[1].entity], [&Some("x".to_owned()), &None]);
    }

    #[test]
    fn faults_name_line_and_column() {
        let said = |text: &str| read(text).unwrap_err().to_string();
        for (text, expected) in [
            ("", "bets.csv is empty: its first line names the columns legs, stake and odds"),
            ("legs,stake,odds\n", "bets.csv has no bets below its header"),
            ("legs,stake\na,1\n", "bets.csv, line 1: no column odds; the header is: legs,stake"),
            ("stake,odds\n1,2\n", "bets.csv, line 1: no column legs; the header is: stake,odds"),
            (
                "legs,stake,odds,sied\na,1,2,lay\n",
                "bets.csv, line 1: a book has no column \"sied\"; did you mean side?",
            ),
            ("legs,stake,odds,Odds\na,1,2,2\n", "bets.csv, line 1: column odds comes twice in the header"),
            (
                "legs,stake,odds\na,1,2\n\nb,x,2\n",
                "bets.csv, line 4, column stake: expected a decimal number such as 12.50, not \"x\"",
            ),
            (
                "legs,stake,odds\na,1,evens\n",
                "bets.csv, line 2, column odds: expected a decimal number such as 12.50, not \"evens\"",
            ),
            ("legs,stake,odds,side\na,1,2,buy\n", "bets.csv, line 2, column side: expected back or lay, not \"buy\""),
            ("legs,stake,odds\na,1\n", "bets.csv, line 2: expected 3 values, found 2"),
            ("legs,stake,odds\r\n\r\n\"a\r\n> 1\",1,2\r\n\r\nb,1\r\n", "bets.csv, line 6: expected 3 values, found 2"),
            (
                "\u{feff}legs,stake,odds\na,1,\n",
                "bets.csv, line 2, column odds: expected a decimal number such as 12.50, not \"\"",
            ),
        ] {
            assert!(said(text).ends_with(expected), "{text:?}: {}", said(text));
        }
        let file = read("leg_1,stake,odds\na,1,2\n").unwrap();
        let error = |field: &str| QuestionError::Bet { place: 0, field: field.to_owned(), reason: "no".to_owned() };
        assert!(file.locate(error("legs")).unwrap().to_string().ends_with("bets.csv, line 2, column leg_1: no"));
        assert!(file.locate(error("odds")).unwrap().to_string().ends_with("bets.csv, line 2, column odds: no"));
    }
}
