//! `manyworlds calibrate`: compares a model with real statistics.

use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use football::Measured;
use model::Parameters;
use serde_json::{Value, json};
use world::Seed;

use super::plugin;
use crate::args::{CalibrateArgs, Format};
use crate::output::{Table, note, print, print_json};

pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<ExitCode> {
    let plugin = plugin(&args.model)?;
    if plugin.name != football::PLUGIN.name {
        bail!("{} has no real statistics to compare with; football has", plugin.name);
    }
    let given = args.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let parameters = Parameters::parse(plugin.parameters, given)?;
    let rows = football::calibrate(&parameters, args.games, Seed(args.seed)).map_err(|error| anyhow!(error))?;
    match args.format.format {
        Format::Json => print_json(&rows.iter().map(to_json).collect::<Vec<_>>())?,
        Format::Csv => print(&table(&rows).to_csv())?,
        Format::Table => print(&table(&rows).to_string())?,
    }
    let bars = rows.iter().filter(|r| r.tolerance.is_some());
    let failed = bars.clone().filter(|r| !r.holds(0.0)).count();
    if failed > 0 {
        note(&format!("{failed} of {} bars fail", bars.count()));
        return Ok(ExitCode::from(1));
    }
    note(&format!("all {} bars hold", bars.count()));
    Ok(ExitCode::SUCCESS)
}

fn table(rows: &[Measured]) -> Table {
    let mut table = Table::new(["group", "what", "measured", "model", "standard_error", "bar"]);
    for row in rows {
        let bar = match row.tolerance {
            Some(t) => format!("{} within {}", if row.holds(0.0) { "holds," } else { "FAILS," }, figure(t)),
            None => String::new(),
        };
        table.push([
            row.group.to_owned(),
            row.what.to_owned(),
            figure(row.spec),
            figure(row.model),
            figure(row.error),
            bar,
        ]);
    }
    table
}

/// Up to four decimals, without trailing zeros.
fn figure(x: f64) -> String {
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn to_json(row: &Measured) -> Value {
    json!({
        "group": row.group,
        "what": row.what,
        "measured": row.spec,
        "model": row.model,
        "standard_error": row.error,
        "tolerance": row.tolerance,
        "holds": row.tolerance.map(|_| row.holds(0.0)),
    })
}
