//! `manyworlds ensembles` and `manyworlds drop`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::{create_store, disk, open_store};
use crate::args::Format;
use crate::output::{Table, bytes, count, print, print_json};
use ensemble::Store;

pub(crate) async fn list(data: &Path, format: Format) -> Result<ExitCode> {
    let Some(store) = Store::open(data, disk()).await? else {
        return print_list(&[], format);
    };
    let mut rows = Vec::new();
    for name in store.names().await? {
        let e = store.ensemble(&name).await?;
        let (outcome_bytes, event_bytes) = e.bytes();
        rows.push(json!({
            "ensemble": name,
            "version": e.version,
            "model": e.plan.model,
            "worlds": e.worlds(),
            "planned": e.plan.worlds.count(),
            "seed": e.plan.seed.0,
            "events": e.plan.events.word(),
            "outcome_bytes": outcome_bytes,
            "event_bytes": event_bytes,
            "created": e.created,
        }));
    }
    print_list(&rows, format)
}

fn print_list(rows: &[serde_json::Value], format: Format) -> Result<ExitCode> {
    const COLUMNS: [&str; 10] = [
        "ensemble",
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
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
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
                table.push(COLUMNS.map(|c| match c {
                    "outcome_bytes" | "event_bytes" => bytes(row[c].as_u64().unwrap_or(0)),
                    "worlds" | "planned" => count(row[c].as_u64().unwrap_or(0)),
                    _ => text(&row[c]),
                }));
            }
            print(&table.to_string())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn drop(data: &Path, name: &str) -> Result<ExitCode> {
    open_store(data).await?;
    create_store(data).await?.drop_ensemble(name).await?;
    print(&format!("dropped {name}\n"))?;
    Ok(ExitCode::SUCCESS)
}
