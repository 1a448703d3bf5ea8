//! Formats sections as one HTML page without scripts or external files, in light and dark colours.

use super::{Block, Column, OTHER_SCALE, Section};

const STYLE: &str = include_str!("page.css");

pub(super) fn render(sections: &[Section]) -> String {
    let title = sections.first().map_or("", |s| s.title);
    let body: String =
        sections.iter().enumerate().map(|(place, s)| section(s, if place == 0 { 1 } else { 2 })).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         {body}</body>\n</html>\n",
        escape(title)
    )
}

fn section(section: &Section, level: usize) -> String {
    let blocks: String = section.blocks.iter().map(block).collect();
    format!("<section>\n<h{level}>{}</h{level}>\n{blocks}</section>\n", escape(section.title))
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(words) => format!("<p>{}</p>\n", escape(words)),
        Block::Table(columns) => table(columns),
        Block::Plot { title, svg } => format!("<figure>\n<figcaption>{}</figcaption>\n{svg}</figure>\n", escape(title)),
    }
}

fn table(columns: &[Column]) -> String {
    let cell = |tag: &str, column: &Column, text: &str| {
        let class = if column.is_right() { " class=\"right\"" } else { "" };
        format!("<{tag}{class}>{}</{tag}>", escape(text))
    };
    let header: String = columns.iter().map(|column| cell("th", column, column.header)).collect();
    let of_row = |column: &Column, row: usize| {
        let text = &column.cells[row];
        verdict_or(text, || cell("td", column, text))
    };
    let row = |row| format!("<tr>{}</tr>\n", columns.iter().map(|column| of_row(column, row)).collect::<String>());
    let rows: String = (0..columns.first().map_or(0, |column| column.cells.len())).map(row).collect();
    format!("<div class=\"wide\"><table>\n<tr>{header}</tr>\n{rows}</table></div>\n")
}

/// Colours a verdict, unless its figure was measured at another scale.
fn verdict_or(text: &str, plain: impl FnOnce() -> String) -> String {
    if text.ends_with(OTHER_SCALE) {
        return plain();
    }
    let class = match text.split([',', ' ']).next().unwrap_or("") {
        "met" | "PASS" | "same" => "good",
        "WARN" => "fair",
        "missed" | "FAIL" | "DIFFERENT:" => "bad",
        _ => return plain(),
    };
    format!("<td class=\"{class}\">{}</td>", escape(text))
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
