//! Formats sections as one HTML page without scripts or external files, in light and dark colours.

use super::{Block, OTHER_SCALE, Section, Table};

const STYLE: &str = include_str!("page.css");

pub(crate) fn render(sections: &[Section]) -> String {
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
        Block::Table(of) => table(of),
        Block::Plot { title, svg } => format!("<figure>\n<figcaption>{}</figcaption>\n{svg}</figure>\n", escape(title)),
    }
}

fn table(table: &Table) -> String {
    let class = |c: usize| if table.is_right(c) { " class=\"right\"" } else { "" };
    let cell = |tag: &str, c: usize, text: &str| format!("<{tag}{}>{}</{tag}>", class(c), escape(text));
    let header: String = table.header.iter().enumerate().map(|(c, text)| cell("th", c, text)).collect();
    let row = |row: &Vec<String>| {
        let cells: String = row.iter().enumerate().map(|(c, text)| verdict_or(text, || cell("td", c, text))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = table.rows.iter().map(row).collect();
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

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
