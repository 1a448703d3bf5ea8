//! Reports as Markdown, and as one self-contained HTML page with plots.

mod html;
mod markdown;
pub(crate) mod number;
pub(crate) mod plot;

use crate::harness::machine::Machine;

/// Suffix of a verdict on a figure that was measured at another scale than its bar.
pub(crate) const OTHER_SCALE: &str = " (other scale)";

/// A report of a benchmark. The title of its first section is that of the report.
pub struct Report(Vec<Section>);

impl Report {
    /// A report that begins with sentences about the machine and about what was measured.
    pub(crate) fn new(title: &'static str, machine: &Machine, what: String) -> Self {
        Self(vec![Section::new(title).text(on_machine(machine)).text(what)])
    }

    pub(crate) fn with(mut self, sections: impl IntoIterator<Item = Section>) -> Self {
        self.0.extend(sections);
        self
    }

    /// The report as Markdown with aligned tables.
    pub fn markdown(&self) -> String {
        markdown::render(&self.0)
    }

    pub fn html(&self) -> String {
        html::render(&self.0)
    }
}

/// A sentence about the machine and its load.
fn on_machine(machine: &Machine) -> String {
    format!(
        "Measured on {} cores of {}, {} of memory, Linux {}; load before the first run {:.2}{}.",
        machine.cores,
        machine.cpu_model,
        number::bytes(machine.memory_bytes),
        machine.kernel,
        machine.load_before,
        if machine.load_before > 0.5 { " (others were at work: times are longer than on an idle machine)" } else { "" }
    )
}

pub(crate) struct Section {
    title: &'static str,
    blocks: Vec<Block>,
}

/// A part of a section.
enum Block {
    Text(String),
    Table(Vec<Column>),
    Plot { title: &'static str, svg: String },
}

impl Section {
    pub(crate) fn new(title: &'static str) -> Self {
        Self { title, blocks: Vec::new() }
    }

    pub(crate) fn text(self, text: impl Into<String>) -> Self {
        self.block(Block::Text(text.into()))
    }

    pub(crate) fn table<R>(self, table: Table<R>) -> Self {
        self.block(Block::Table(table.columns))
    }

    pub(crate) fn plot(self, title: &'static str, svg: String) -> Self {
        self.block(Block::Plot { title, svg })
    }

    fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

/// A table with a line for each of some rows.
pub(crate) struct Table<R> {
    rows: Vec<R>,
    columns: Vec<Column>,
}

impl<R> Table<R> {
    pub(crate) fn of(rows: impl IntoIterator<Item = R>) -> Self {
        Self { rows: rows.into_iter().collect(), columns: Vec::new() }
    }

    /// Adds a column; `cell` formats its cell of a row.
    pub(crate) fn column<C: ToString>(mut self, header: &'static str, cell: impl Fn(&R) -> C) -> Self {
        let cells = self.rows.iter().map(|row| cell(row).to_string()).collect();
        self.columns.push(Column { header, cells });
        self
    }
}

struct Column {
    header: &'static str,
    cells: Vec<String>,
}

impl Column {
    /// Whether it holds figures and is right-aligned.
    fn is_right(&self) -> bool {
        let figure = |text: &String| text.is_empty() || text == "-" || text.starts_with(|c: char| c.is_ascii_digit());
        !self.cells.is_empty() && self.cells.iter().all(figure)
    }
}
