//! Formats sections as Markdown.

use std::fmt::Write as _;

use super::{Block, Section, Table};

pub(crate) fn render(sections: &[Section]) -> String {
    let mut text = String::new();
    for (place, section) in sections.iter().enumerate() {
        let marks = if place == 0 { "#" } else { "\n##" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{marks} {}", section.title);
        for block in &section.blocks {
            let _ = match block {
                Block::Text(words) => writeln!(text, "\n{words}"),
                Block::Table(table) => write!(text, "\n{}", self::table(table)),
                Block::Plot { .. } => Ok(()),
            };
        }
    }
    text
}

fn table(table: &Table) -> String {
    let columns = 0..table.header.len();
    let width = |c: usize| {
        let cells = table.rows.iter().map(|row| row[c].chars().count());
        cells.max().unwrap_or(0).max(table.header[c].chars().count()).max(3)
    };
    let widths: Vec<usize> = columns.clone().map(width).collect();
    let right: Vec<bool> = columns.map(|c| table.is_right(c)).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().enumerate().map(|(c, cell)| {
            let gap = " ".repeat(widths[c] - cell.chars().count());
            if right[c] { format!(" {gap}{cell} ") } else { format!(" {cell}{gap} ") }
        });
        format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
    };
    let dashes = widths.iter().zip(&right).map(|(width, right)| {
        let dashes = "-".repeat(width + 1);
        if *right { format!("{dashes}:") } else { format!("{dashes}-") }
    });
    let dashes = format!("|{}|\n", dashes.collect::<Vec<_>>().join("|"));
    let rows = table.rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    [line(table.header.clone()), dashes].into_iter().chain(rows).collect()
}
