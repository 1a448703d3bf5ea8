//! Reads bets from CSV.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use csv::{ReaderBuilder, StringRecord, Trim};
use ensemble::{Bet, QuestionError, Side};
use model::UnknownName;

/// Maximum bytes of the file: 20,000 bets of 3 KB.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The bets of a file, and the lines that they begin on.
pub(super) struct BetFile {
    path: PathBuf,
    pub(super) bets: Vec<Bet>,
    lines: Vec<u64>,
    columns: Columns,
}

/// The places of the columns.
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
    fn of(header: &StringRecord) -> Result<Self> {
        let names: Vec<String> = header.iter().map(str::to_lowercase).collect();
        let find = |name: &str| names.iter().position(|known| known == name);
        let need =
            |name: &str| find(name).ok_or_else(|| anyhow!("no column {name}; the header is: {}", joined(header)));
        let legs = names.iter().enumerate().filter(|(_, name)| is_legs(name));
        let legs: Vec<usize> = legs.map(|(place, _)| place).collect();
        for (place, name) in names.iter().enumerate() {
            if names[..place].contains(name) {
                bail!("column {name} comes twice in the header");
            }
            if !NAMES.contains(&name.as_str()) && !legs.contains(&place) {
                return Err(UnknownName::new("a book has no column", name, NAMES).into());
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
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let bytes = std::fs::metadata(path).with_context(|| format!("cannot read {shown}"))?.len();
        if bytes > FILE_BYTES_MAX {
            bail!("{shown} has {bytes} bytes, the limit is {FILE_BYTES_MAX}: split the book");
        }
        let text = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text);
        let unreadable = |error: csv::Error| anyhow!("{shown}{}", reason(&error, text));
        let header = reader.headers().map_err(unreadable)?.clone();
        if header.iter().all(str::is_empty) {
            bail!("{shown} is empty: its first line names the columns legs, stake and odds");
        }
        let mut found = Self {
            path: path.to_owned(),
            bets: Vec::new(),
            lines: Vec::new(),
            columns: Columns::of(&header).with_context(|| format!("{shown}, line 1"))?,
        };
        for row in reader.records() {
            let row = row.map_err(unreadable)?;
            let line = row.position().map_or(0, |position| line_of(position, text));
            let bet = found.columns.bet(&row);
            let bet = bet.map_err(|(column, reason)| anyhow!("{shown}, line {line}, column {column}: {reason}"))?;
            found.bets.push(bet);
            found.lines.push(line);
        }
        if found.bets.is_empty() {
            bail!("{shown} has no bets below its header");
        }
        Ok(found)
    }

    /// Adds the line and the column to the error of a bet.
    pub(super) fn locate(&self, error: QuestionError) -> anyhow::Error {
        let QuestionError::Bet { place, field, reason } = error else { return error.into() };
        let column = match (field.as_str(), self.columns.legs.first()) {
            ("legs", Some(first)) => &self.columns.header[*first],
            (other, _) => other,
        };
        let line = self.lines.get(place).copied().unwrap_or(0);
        anyhow!("{}, line {line}, column {column}: {reason}", self.path.display())
    }
}

/// The line of a record. Its position is that of the empty lines before it.
fn line_of(position: &csv::Position, text: &[u8]) -> u64 {
    let before = text.iter().skip(position.byte() as usize).take_while(|byte| matches!(byte, b'\n' | b'\r'));
    position.line() + before.filter(|byte| **byte == b'\n').count() as u64
}

/// The line of a CSV error, and its reason.
fn reason(error: &csv::Error, text: &[u8]) -> String {
    let line = error.position().map(|position| format!(", line {}", line_of(position, text))).unwrap_or_default();
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{line}: expected {expected_len} values, found {len}")
        }
        csv::ErrorKind::Utf8 { .. } => format!("{line}: the text is not UTF-8"),
        _ => format!("{line}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<BetFile> {
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
        let said = |text: &str| format!("{:#}", read(text).err().unwrap());
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
        assert!(file.locate(error("legs")).to_string().ends_with("bets.csv, line 2, column leg_1: no"));
        assert!(file.locate(error("odds")).to_string().ends_with("bets.csv, line 2, column odds: no"));
    }
}
