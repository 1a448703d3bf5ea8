//! `manyworlds serve`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use ingest::{Durability, Partition, StoreOptions};
use server::{Server, Settings, TlsFiles};
use table::TableName;
use tokio::signal::unix::{SignalKind, signal};

use super::make_model;
use crate::args::{self, ServeArgs, Unique};
use crate::output::note;

pub(crate) async fn serve(args: &ServeArgs) -> Result<ExitCode> {
    let store = StoreOptions {
        durability: match args.durability {
            args::Durability::Sync => Durability::Sync,
            args::Durability::Interval => Durability::Interval,
            args::Durability::None => Durability::None,
        },
        flush_rows: args.flush_rows as usize,
        flush_age: Duration::from_secs(args.flush_seconds),
        flushes: args.flushes as usize,
        memory_bytes: args.memory << 20,
        columns_max: args.max_columns as usize,
        tables_max: args.max_tables as usize,
        codec: args.codec,
        partition: match args.partition {
            args::Partition::None => Partition::None,
            args::Partition::Day => Partition::Day,
            args::Partition::Hour => Partition::Hour,
        },
        unique: unique(&args.unique)?,
        compact_segments: args.compact,
        retain: args.retain.map(|days| Duration::from_hours(24 * days)),
        ..StoreOptions::default()
    };
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let settings = Settings {
        listen: args.listen,
        hosts: args.hosts.clone(),
        postgres: args.pg,
        token_file: args.token_file.clone(),
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        request_timeout: Duration::from_secs(args.request_seconds),
        question_timeout: Duration::from_secs(args.question_seconds),
        question_memory: (args.question_memory as usize) << 20,
        store,
        ..Settings::new(args.data.data.clone())
    };
    let ready = |server: &Server| {
        let scheme = if server.is_secure() { "https" } else { "http" };
        if let Some(address) = server.postgres_address() {
            note(&format!("clients of PostgreSQL are answered on {address}"));
        }
        note(&format!("listening on {scheme}://{}; Ctrl-C writes everything out and ends", server.address()));
    };
    server::serve(settings, make_model(), ready, told_to_stop()?).await?;
    note("everything is written out");
    Ok(ExitCode::SUCCESS)
}

/// What tells the rows of each table apart.
fn unique(given: &[Unique]) -> Result<BTreeMap<TableName, Vec<String>>> {
    let mut unique = BTreeMap::new();
    for Unique { table, columns } in given {
        if unique.insert(table.clone(), columns.clone()).is_some() {
            bail!("--unique names the table {table} twice: name all of its columns at once");
        }
    }
    Ok(unique)
}

/// Ends at the first SIGINT or SIGTERM.
fn told_to_stop() -> Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for Ctrl-C")?;
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
