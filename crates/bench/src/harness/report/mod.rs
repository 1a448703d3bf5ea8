//! Reports as Markdown, and as one self-contained HTML page with plots.

pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod number;
pub(crate) mod plot;

use crate::harness::machine::Machine;

/// A sentence about the machine and its load.
pub(crate) fn on_machine(machine: &Machine) -> String {
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

/// Suffix of a verdict on a figure that was measured at another scale than its bar.
pub(crate) const OTHER_SCALE: &str = " (other scale)";

pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) blocks: Vec<Block>,
}

/// A part of a section.
pub(crate) enum Block {
    Text(String),
    Table(Table),
    Plot { title: &'static str, svg: String },
}

/// A table of texts; all rows have as many cells as the header.
pub(crate) struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn block<const N: usize>(
        header: [&'static str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Block {
        Block::Table(Self { header: header.to_vec(), rows: rows.into_iter().map(Vec::from).collect() })
    }

    /// Whether a column holds figures and is right-aligned.
    pub(crate) fn is_right(&self, column: usize) -> bool {
        let figure = |text: &str| text.is_empty() || text == "-" || text.starts_with(|c: char| c.is_ascii_digit());
        !self.rows.is_empty() && self.rows.iter().all(|row| figure(&row[column]))
    }
}
