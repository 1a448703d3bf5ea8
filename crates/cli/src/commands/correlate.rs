//! `manyworlds correlate`: correlations between an entity's outcomes.

use std::fmt::Write as _;

use anyhow::Result;
use ensemble::{OutcomeRef, correlation};
use serde_json::{Value, json};

use super::open_columns;
use crate::args::{CorrelateArgs, Format};
use crate::output::{Table, print, print_json};

/// Maximum number of outcomes for which the table shows the whole matrix.
const WHOLE_MATRIX: usize = 12;

pub(crate) async fn correlate(args: &CorrelateArgs) -> Result<()> {
    let columns = open_columns(&args.data.data, &args.ensemble).await?;
    let catalogue = &columns.ensemble().plan.catalogue;
    let entity = catalogue.find_entity(&args.entity)?;
    let kind = catalogue.kind_of(entity);
    let mut places = args.outcomes.iter().map(|name| kind.find_outcome(name)).collect::<Result<Vec<usize>, _>>()?;
    if places.is_empty() {
        places = (0..kind.outcomes.len()).collect();
    }
    let refs: Vec<OutcomeRef> = places.iter().map(|&outcome| OutcomeRef { entity, outcome }).collect();
    let names: Vec<&str> = places.iter().map(|&p| kind.outcomes[p].name.as_str()).collect();
    let matrix = correlation(&columns.get(&refs)?);
    let cell = |i: usize, j: usize| matrix[[i, j]];
    match args.format.format {
        Format::Json => {
            // JSON has no NaN: a constant outcome has no correlation.
            let number = |r: f64| if r.is_nan() { Value::Null } else { json!(r) };
            let rows: Vec<Vec<Value>> =
                (0..names.len()).map(|i| (0..names.len()).map(|j| number(cell(i, j))).collect()).collect();
            print_json(&json!({"entity": args.entity, "worlds": columns.worlds(), "outcomes": names, "matrix": rows}))
        }
        Format::Csv => print(&as_csv(&names, cell)),
        Format::Table if names.len() <= WHOLE_MATRIX => print(&as_matrix(&names, cell)),
        Format::Table => print(&strongest(&names, args.top, cell).to_string()),
    }
}

fn as_csv(names: &[&str], cell: impl Fn(usize, usize) -> f64) -> String {
    let mut text = format!("outcome,{}\n", names.join(","));
    for (i, name) in names.iter().enumerate() {
        let row: Vec<String> = (0..names.len()).map(|j| cell(i, j).to_string()).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name},{}", row.join(","));
    }
    text
}

fn as_matrix(names: &[&str], cell: impl Fn(usize, usize) -> f64) -> String {
    let width = names.iter().map(|n| n.len()).max().unwrap_or(0);
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
