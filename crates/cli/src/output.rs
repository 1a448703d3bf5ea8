//! Results to stdout, notes to stderr.

use std::fmt::{self, Write as _};
use std::io::Write as _;

use anyhow::{Context as _, Result};
use ensemble::Interval;
use serde::Serialize;
use serde_json::Value;

use crate::args::Format;

pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write the result")
}

pub(crate) fn print_json<T: Serialize + ?Sized>(value: &T) -> Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Prints a result in `format`: `value` as JSON, or `table`.
pub(crate) fn show<T: Serialize + ?Sized>(format: Format, value: &T, table: &Table) -> Result<()> {
    if format == Format::Json { print_json(value) } else { print(&table.text(format)) }
}

/// Prints a note for people to stderr.
pub(crate) fn note(text: &str) {
    // If stderr is closed, the note has no reader.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// An aligned table: numbers on the right, text on the left.
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The header of a column, and the text of its cell for an item.
pub(crate) type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

impl Table {
    /// One row per item.
    pub(crate) fn of<'a, T: 'a>(items: impl IntoIterator<Item = &'a T>, columns: &[Column<'_, T>]) -> Self {
        let header = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let rows = items.into_iter().map(|item| columns.iter().map(|(_, cell)| cell(item)).collect()).collect();
        Self { header, rows }
    }

    pub(crate) fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { header: header.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// A table with a header known only at run time.
    pub(crate) fn with_header(header: Vec<String>) -> Self {
        Self { header, rows: Vec::new() }
    }

    /// Appends a row with as many cells as the header.
    pub(crate) fn push_row(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub(crate) fn push<const N: usize>(&mut self, row: [String; N]) {
        self.rows.push(row.into());
    }

    /// CSV, or aligned columns.
    pub(crate) fn text(&self, format: Format) -> String {
        if format == Format::Csv { self.to_csv() } else { self.to_string() }
    }

    pub(crate) fn to_csv(&self) -> String {
        let field = |text: &String| {
            if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.clone() }
        };
        let line = |row: &Vec<String>| row.iter().map(field).collect::<Vec<_>>().join(",") + "\n";
        std::iter::once(&self.header).chain(&self.rows).map(line).collect()
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') && text.chars().any(|c| c.is_ascii_digit())
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.header.len();
        let width =
            |c: usize| std::iter::once(&self.header).chain(&self.rows).map(|r| r[c].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let right: Vec<bool> =
            (0..columns).map(|c| !self.rows.is_empty() && self.rows.iter().all(|r| is_number(&r[c]))).collect();
        for row in std::iter::once(&self.header).chain(&self.rows) {
            let mut line = String::new();
            for (c, cell) in row.iter().enumerate() {
                let gap = " ".repeat(widths[c] - cell.chars().count());
                if right[c] { write!(line, "{gap}{cell}  ")? } else { write!(line, "{cell}{gap}  ")? }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A number of things: `1 row`, `1,234,567 rows`.
pub(crate) fn counted(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{} {thing}s", count(n)) }
}

/// A count with separated thousands: `1,234,567`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

/// A JSON value as a cell: texts without quotes, null empty.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A share in percent: `47.52%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

/// A number with at most `decimals` decimals, without trailing zeros.
pub(crate) fn trimmed(n: f64, decimals: usize) -> String {
    let text = fixed(n, decimals);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A number with four decimals.
pub(crate) fn number(n: f64) -> String {
    fixed(n, 4)
}

/// A number with some decimals; a very large one as `1.7977e308`.
fn fixed(n: f64, decimals: usize) -> String {
    if n.abs() >= 1e15 && n.is_finite() { format!("{n:.4e}") } else { format!("{n:.decimals$}") }
}

/// Number of decimals that show two digits of the uncertainty `width`, and at least `least`.
pub(crate) fn decimals(width: f64, least: usize) -> usize {
    const MOST: i32 = 15;
    if width > 0.0 { (1 - width.log10().floor() as i32).clamp(least as i32, MOST) as usize } else { least }
}

/// A number with the precision of the uncertainty `width`, never rounded to 0.
pub(crate) fn known_to(n: f64, width: f64) -> String {
    fixed(n, decimals(width, 4))
}

/// A mean with the half width of its confidence interval, if known.
pub(crate) fn interval(mean: f64, half_width: Option<f64>) -> String {
    half_width.map_or_else(|| number(mean), |half| format!("{} ± {}", known_to(mean, half), known_to(half, half)))
}

/// The bounds of an interval.
pub(crate) fn from_to(Interval { low, high }: Interval) -> String {
    format!("{} to {}", known_to(low, high - low), known_to(high, high - low))
}

/// A share in percent and its interval: `0.00% (0.00% to 0.37%)`.
pub(crate) fn share(p: f64, Interval { low, high }: Interval) -> String {
    let percent = |share: f64| format!("{:.*}%", decimals(100.0 * (high - low), 2), 100.0 * share);
    format!("{} ({} to {})", percent(p), percent(low), percent(high))
}

/// A size: `1.23 GB`.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut size = n as f64;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{size:.2} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([count(0), count(999), count(1_000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([bytes(999), bytes(1_000), bytes(1_234_567_890)], ["999 B", "1.00 kB", "1.23 GB"]);
    }

    #[test]
    fn intervals_are_never_written_as_nothing() {
        let of = |low, high| Interval { low, high };
        assert_eq!(share(0.0, of(0.0, 0.003_682)), "0.00% (0.00% to 0.37%)");
        assert_eq!(share(0.0, of(0.0, 0.000_003_7)), "0.00000% (0.00000% to 0.00037%)");
        assert_eq!(share(0.4752, of(0.4651, 0.4853)), "47.52% (46.51% to 48.53%)");
        assert_eq!(interval(0.000_2, Some(0.000_021)), "0.000200 ± 0.000021");
        assert_eq!(
            (interval(23.25, Some(0.5)), interval(1.0, None)),
            ("23.2500 ± 0.5000".to_owned(), "1.0000".to_owned())
        );
        assert_eq!(from_to(of(0.0, 0.000_012)), "0.000000 to 0.000012");
    }

    #[test]
    fn tables_are_aligned_and_quoted() {
        let mut table = Table::new(["name", "n"]);
        table.push(["a,b".to_owned(), "1".to_owned()]);
        table.push(["c".to_owned(), "-12".to_owned()]);
        assert_eq!(table.to_string(), "name    n\na,b     1\nc     -12\n");
        assert_eq!(table.to_csv(), "name,n\n\"a,b\",1\nc,-12\n");
    }
}
