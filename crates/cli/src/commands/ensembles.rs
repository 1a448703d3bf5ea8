//! `manyworlds ensembles` and `manyworlds drop`.

use anyhow::Result;
use disk::Place;
use ensemble::{EnsembleError, ReadRows, Store};
use fleet::{FleetError, Ledger};
use serde_json::{Value, json};

use super::{create_store, open_store};
use crate::advice::explain;
use crate::args::Format;
use crate::output::{Table, bytes, cell, count, note, print, show};

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

pub(crate) async fn list(place: &Place, format: Format) -> Result<()> {
    let (data, disk) = place.open()?;
    let mut rows = Vec::new();
    let ensembles = match Store::open(&data, disk).await? {
        Some(store) => store.ensembles(&mut ReadRows::default()).await?,
        None => Vec::new(),
    };
    for (name, found) in ensembles {
        rows.push(match found {
            Ok(ensemble) => ensemble.to_json(),
            Err(error) => {
                note(&explain(&error.into()));
                unreadable(&name)
            }
        });
    }
    if rows.is_empty() && format == Format::Table {
        return print("no ensemble is stored yet\n");
    }
    let mut table = Table::new(COLUMNS);
    for row in &rows {
        table.push(COLUMNS.map(|column| match (column, row[column].as_u64()) {
            ("outcome_bytes" | "event_bytes", Some(n)) if format == Format::Table => bytes(n),
            ("worlds" | "planned", Some(n)) if format == Format::Table => count(n),
            _ => cell(&row[column]),
        }));
    }
    show(format, &rows, &table)
}

/// The row of an unreadable ensemble.
fn unreadable(name: &str) -> Value {
    let mut row: Value = COLUMNS.into_iter().map(|column| (column, Value::Null)).collect();
    row["ensemble"] = json!(name);
    row["state"] = json!("unreadable");
    row
}

pub(crate) async fn drop(place: &Place, name: &str, ledger: Option<&str>) -> Result<()> {
    // Connect first, so that an unreachable ledger is reported before anything is dropped.
    let ledger = match ledger {
        Some(url) => Some(Ledger::open(url).await?),
        None => None,
    };
    open_store(place).await?;
    if let Some(ledger) = &ledger {
        // Workers would store more of it.
        match fleet::cancel(ledger, name).await {
            // It has ended, or was never submitted.
            Ok(()) | Err(FleetError::State { .. } | FleetError::Unknown { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let dropped = create_store(place).await?.drop_ensemble(name).await;
    match (dropped, &ledger) {
        (Ok(version), Some(ledger)) => _ = ledger.forget(name, Some(version)).await?,
        // An earlier drop ran without the ledger.
        (Err(EnsembleError::Unknown { .. }), Some(ledger)) if ledger.forget(name, None).await? > 0 => {}
        (dropped, _) => _ = dropped?,
    }
    print(&format!("dropped {name}\n"))
}
