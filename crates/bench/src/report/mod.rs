//! What was measured, for people: as Markdown, and as one HTML page with plots that needs nothing else.

pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod number;
pub(crate) mod plot;
mod sections;

use run::Summary;

use crate::machine::Machine;
use crate::season::Season;

/// The report as Markdown with aligned tables, which reads as well on a terminal.
pub fn markdown(season: &Season) -> String {
    markdown::render(&sections::sections(season))
}

/// The report as one HTML page.
pub fn html(season: &Season) -> String {
    html::render(&sections::sections(season))
}

/// Where figures were measured, and whether others were at work.
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

/// A size in bytes, for people.
pub(crate) fn size(bytes: u64) -> String {
    number::bytes(bytes)
}

/// One run's size and cost, beside each other.
pub(crate) fn in_brief(run: &Summary) -> String {
    let mut figures = vec![format!("{} bits a value", number::short(run.outcomes.bits_per_value))];
    if run.events.rows > 0 {
        figures.push(format!("{} bytes a play", number::short(run.events.bytes_per_row)));
    }
    let cpu_ms = run.cpu_s * 1e3 / run.worlds.max(1) as f64;
    figures.push(format!("{} ms of processor time a world", number::short(cpu_ms)));
    figures.join(", ")
}

/// Part of a report.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) blocks: Vec<Block>,
}

/// What a section is made of.
pub(crate) enum Block {
    Text(String),
    Table(Table),
    Plot { title: &'static str, svg: String },
}

/// Cells as text, all rows as long as the header.
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

    /// Whether a column holds figures, which are set to the right.
    pub(crate) fn is_right(&self, column: usize) -> bool {
        let figure = |text: &str| text.is_empty() || text == "-" || text.starts_with(|c: char| c.is_ascii_digit());
        !self.rows.is_empty() && self.rows.iter().all(|row| figure(&row[column]))
    }
}

#[cfg(test)]
mod tests;
