//! `manyworlds correlate`: correlations between outcomes.

use std::fmt::Write as _;

use anyhow::Result;
use ensemble::CorrelationQuestion;

use super::open_columns;
use crate::args::{CorrelateArgs, Format};
use crate::output::{Table, print, print_json};

/// Maximum number of outcomes for which the table shows the whole matrix.
const WHOLE_MATRIX: usize = 12;

pub(crate) async fn correlate(args: &CorrelateArgs) -> Result<()> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let question = CorrelationQuestion {
        ensemble: args.ensemble.clone(),
        entity: args.entity.clone(),
        outcomes: args.outcomes.clone(),
    };
    let found = question.answer(&columns, &|| true)?;
    let names: Vec<&str> = found.outcomes.iter().map(String::as_str).collect();
    let cell = |i: usize, j: usize| found.matrix[[i, j]];
    match args.format.format {
        Format::Json => print_json(&found.to_json()),
        Format::Csv => print(&as_csv(&names, cell)),
        Format::Table if names.len() <= WHOLE_MATRIX => print(&as_matrix(&names, cell)),
        Format::Table => print(&strongest(&names, args.top, cell).to_string()),
    }
}

fn as_csv(names: &[&str], cell: impl Fn(usize, usize) -> f64) -> String {
    let header = ["outcome"].iter().chain(names).map(|name| (*name).to_owned());
    let mut table = Table::with_header(header.collect());
    for (i, name) in names.iter().enumerate() {
        let cells = (0..names.len()).map(|j| cell(i, j).to_string());
        table.push_row(std::iter::once((*name).to_owned()).chain(cells).collect());
    }
    table.to_csv()
}

fn as_matrix(names: &[&str], cell: impl Fn(usize, usize) -> f64) -> String {
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (i, name) in names.iter().enumerate() {
        let _ = write!(text, "{name:<width$}");
        for j in 0..=i {
            let _ = write!(text, "{:>7.3}", cell(i, j));
        }
        text.push('\n');
    }
    text
}

/// The most strongly correlated pairs, positive or negative.
fn strongest(names: &[&str], top: usize, cell: impl Fn(usize, usize) -> f64) -> Table {
    let mut pairs: Vec<(f64, usize, usize)> = (0..names.len())
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| (cell(i, j), i, j))
        .filter(|(r, _, _)| !r.is_nan())
        .collect();
    pairs.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let mut table = Table::new(["outcome", "with", "correlation"]);
    for (r, i, j) in pairs.into_iter().take(top) {
        table.push([names[j].to_owned(), names[i].to_owned(), format!("{r:.4}")]);
    }
    table
}
