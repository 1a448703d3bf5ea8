//! `manyworlds compare`: differences between two ensembles.

use std::process::ExitCode;

use anyhow::{Result, bail};
use ensemble::{Columns, Comparison, OutcomeRef, compare as compared};
use serde_json::json;

use super::open_columns;
use super::simulation::outcome_of;
use crate::args::{CompareArgs, Format};
use crate::output::{Table, count, known_to, note, number, print, print_json};

pub(crate) async fn compare(args: &CompareArgs) -> Result<ExitCode> {
    let first = open_columns(&args.data.data, &args.first).await?;
    let second = open_columns(&args.data.data, &args.second).await?;
    let mut found = Vec::new();
    for name in &args.outcomes {
        let comparison = compared((&first, outcome(&first, name)?), (&second, outcome(&second, name)?))?;
        found.push((name, comparison));
    }
    match args.format.format {
        Format::Json => {
            let rows = found.iter().map(|(name, comparison)| {
                let mut row = json!(comparison);
                row["outcome"] = json!(name);
                row
            });
            print_json(&rows.collect::<Vec<_>>())?;
        }
        Format::Csv => print(&table(args, &found).to_csv())?,
        Format::Table => {
            print(&table(args, &found).to_string())?;
            if found.iter().any(|(_, c)| !c.is_paired) {
                note("the seeds differ: the worlds are unpaired, and each interval is that of two separate means");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Resolves an outcome of an ensemble that has worlds.
fn outcome(columns: &Columns, name: &str) -> Result<OutcomeRef> {
    let plan = &columns.ensemble().plan;
    let found = outcome_of(&plan.catalogue, name)?;
    if columns.worlds() == 0 {
        bail!("ensemble {:?} has no completed worlds yet", plan.name);
    }
    Ok(found)
}

fn table(args: &CompareArgs, found: &[(&String, Comparison)]) -> Table {
    let names = [&args.first, &args.second].map(|name| format!("mean of {name}"));
    let mut table = Table::new([
        "outcome",
        "worlds",
        &names[0],
        &names[1],
        "difference",
        "± 95%",
        "less",
        "same",
        "more",
        "± 95% unpaired",
    ]);
    let maybe = |n: Option<f64>| n.map(|half| known_to(half, half)).unwrap_or_default();
    for (name, c) in found {
        let share = |place: usize| c.shares.map(|s| format!("{:.1}%", s[place] * 100.0)).unwrap_or_default();
        table.push([
            (*name).clone(),
            count(c.worlds as u64),
            number(c.means[0]),
            number(c.means[1]),
            format!(
                "{}{}",
                if c.difference < 0.0 { "" } else { "+" },
                known_to(c.difference, c.ci_half_width.unwrap_or(0.0))
            ),
            maybe(c.ci_half_width),
            share(0),
            share(1),
            share(2),
            maybe(c.unpaired_half_width),
        ]);
    }
    table
}
