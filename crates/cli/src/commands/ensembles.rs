//! `manyworlds ensembles` and `manyworlds drop`.

use std::process::ExitCode;

use anyhow::Result;
use ensemble::{EnsembleError, Store};
use fleet::Ledger;
use serde_json::{Value, json};

use super::{create_store, open_store};
use crate::advice::explain;
use crate::args::{Format, Place};
use crate::output::{Table, bytes, count, note, print, print_json};

const COLUMNS: [&str; 11] = [
    "ensemble",
    "state",
    "version",
    "model",
    "worlds",
    "planned",
    "seed",
    "events",
    "outcome_bytes",
    "event_bytes",
    "created",
];

pub(crate) async fn list(place: &Place, format: Format) -> Result<ExitCode> {
    let (data, disk) = place.open()?;
    let Some(store) = Store::open(&data, disk).await? else {
        return print_list(&[], format);
    };
    let mut rows = Vec::new();
    for (name, found) in store.ensembles().await? {
        rows.push(match found {
            Ok(ensemble) => ensemble.to_json(),
            Err(error) => {
                note(&explain(&error.into()));
                unreadable(&name)
            }
        });
    }
    print_list(&rows, format)
}

/// The row of an unreadable ensemble.
fn unreadable(name: &str) -> Value {
    let mut row: Value = COLUMNS.into_iter().map(|column| (column, Value::Null)).collect();
    row["ensemble"] = json!(name);
    row["state"] = json!("unreadable");
    row
}

fn print_list(rows: &[Value], format: Format) -> Result<ExitCode> {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match format {
        Format::Json => print_json(&rows)?,
        Format::Csv => {
            let mut table = Table::new(COLUMNS);
            rows.iter().for_each(|row| table.push(COLUMNS.map(|c| text(&row[c]))));
            print(&table.to_csv())?;
        }
        Format::Table if rows.is_empty() => print("no ensemble is stored yet\n")?,
        Format::Table => {
            let mut table = Table::new(COLUMNS);
            for row in rows {
                table.push(COLUMNS.map(|c| match (c, row[c].as_u64()) {
                    ("outcome_bytes" | "event_bytes", Some(n)) => bytes(n),
                    ("worlds" | "planned", Some(n)) => count(n),
                    _ => text(&row[c]),
                }));
            }
            print(&table.to_string())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn drop(place: &Place, name: &str, ledger: Option<&str>) -> Result<ExitCode> {
    // Connect first, so that an unreachable ledger is reported before anything is dropped.
    let ledger = match ledger {
        Some(url) => Some(Ledger::open(url).await?),
        None => None,
    };
    open_store(place).await?;
    let dropped = create_store(place).await?.drop_ensemble(name).await;
    match (dropped, &ledger) {
        (Ok(version), Some(ledger)) => _ = fleet::forget(ledger, name, Some(version)).await?,
        // An earlier drop ran without the ledger.
        (Err(EnsembleError::Unknown { .. }), Some(ledger)) if fleet::forget(ledger, name, None).await? > 0 => {}
        (dropped, _) => _ = dropped?,
    }
    print(&format!("dropped {name}\n"))?;
    Ok(ExitCode::SUCCESS)
}
