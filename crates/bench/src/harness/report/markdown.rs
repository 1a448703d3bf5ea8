//! Formats sections as Markdown.

use std::fmt::Write as _;

use super::{Block, Column, Section};

pub(super) fn render(sections: &[Section]) -> String {
    let mut text = String::new();
    for (place, section) in sections.iter().enumerate() {
        let marks = if place == 0 { "#" } else { "\n##" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{marks} {}", section.title);
        for block in &section.blocks {
            let _ = match block {
                Block::Text(words) => writeln!(text, "\n{words}"),
                Block::Table(columns) => write!(text, "\n{}", table(columns)),
                Block::Plot { .. } => Ok(()),
            };
        }
    }
    text
}

fn table(columns: &[Column]) -> String {
    let columns: Vec<Vec<String>> = columns.iter().map(aligned).collect();
    let line = |line: usize| {
        let cells: Vec<&str> = columns.iter().map(|column| column[line].as_str()).collect();
        format!("|{}|\n", cells.join("|"))
    };
    (0..columns.first().map_or(0, Vec::len)).map(line).collect()
}

/// The cells of a column with its header and the line below it, all of one width.
fn aligned(column: &Column) -> Vec<String> {
    let right = column.is_right();
    let texts = || [column.header].into_iter().chain(column.cells.iter().map(String::as_str));
    let width = texts().map(|text| text.chars().count()).max().unwrap_or(0).max(3);
    let pad = |text| if right { format!(" {text:>width$} ") } else { format!(" {text:<width$} ") };
    let mut lines: Vec<String> = texts().map(pad).collect();
    lines.insert(1, "-".repeat(width + 1) + if right { ":" } else { "-" });
    lines
}
