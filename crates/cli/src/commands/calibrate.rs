//! `manyworlds calibrate`: compares a model with real statistics.

use anyhow::{Result, anyhow, bail};
use football::Measured;
use model::Parameters;
use serde_json::{Value, json};
use world::Seed;

use super::MODELS;
use crate::ExitCode;
use crate::args::CalibrateArgs;
use crate::output::{Table, note, show, trimmed};

pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<ExitCode> {
    let plugin = MODELS.find(&args.model)?;
    if plugin.name != football::PLUGIN.name {
        bail!("{} has no real statistics to compare with; football has", plugin.name);
    }
    let given = args.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let parameters = Parameters::parse(&plugin.parameters, given)?;
    let rows = football::calibrate(&parameters, args.games, Seed(args.seed)).map_err(|error| anyhow!(error))?;
    show(args.format.format, &rows.iter().map(to_json).collect::<Vec<_>>(), &table(&rows))?;
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
    let bar = |row: &Measured| match row.tolerance {
        Some(t) => format!("{} within {}", if row.holds(0.0) { "holds," } else { "FAILS," }, trimmed(t, 4)),
        None => String::new(),
    };
    Table::of(
        rows,
        &[
            ("group", &|row| row.group.to_owned()),
            ("what", &|row| row.what.to_owned()),
            ("measured", &|row| trimmed(row.spec, 4)),
            ("model", &|row| trimmed(row.model, 4)),
            ("standard_error", &|row| trimmed(row.error, 4)),
            ("bar", &bar),
        ],
    )
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
