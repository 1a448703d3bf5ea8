//! `manyworlds serve`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use decode::Limits;
use ingest::{Durability, Failing, Partition, StoreOptions};
use server::{FleetSettings, Server, Settings, ShownSetting, TlsFiles};
use table::TableName;
use tokio::signal::unix::{SignalKind, signal};

use super::{MODELS, make_model};
use crate::ExitCode;
use crate::args::{self, ServeArgs, Unique};
use crate::output::{count, note};
use crate::settings::Setting;

/// Serves until it is told to stop; calls `opened` with the address of the page.
pub(crate) async fn serve(args: &ServeArgs, given: &[Setting], opened: &dyn Fn(&str)) -> Result<ExitCode> {
    return_idle_memory()?;
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
        encodings: args.encodings,
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
        limits: Limits { columns_max: store.columns_max, ..Limits::default() },
        listen: args.listen,
        hosts: args.hosts.clone(),
        postgres: args.pg,
        flight: args.flight,
        token_file: args.token_file.clone(),
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        connections: args.connections as usize,
        request_timeout: Duration::from_secs(args.request_seconds),
        question_timeout: Duration::from_secs(args.question_seconds),
        question_memory: (args.question_memory as usize) << 20,
        question_program: own_program("question-process")?,
        runs: args.runs as usize,
        run_program: own_program("run-process")?,
        fleet: args.ledger.clone().map(|ledger| FleetSettings { ledger, broker: args.broker.clone() }),
        store,
        shown: given.iter().map(shown).collect(),
        ..Settings::new(args.data.data.clone())
    };
    let ready = |server: &Server| {
        let scheme = if server.is_secure() { "https" } else { "http" };
        if let Some(address) = server.postgres_address() {
            note(&format!("serving PostgreSQL clients on {address}"));
        }
        if let Some(address) = server.flight_address() {
            note(&format!("serving Arrow Flight SQL clients on {address}"));
        }
        note(&format!("listening on {scheme}://{}; Ctrl-C flushes all rows and stops", server.address()));
        opened(&page(args, server.address()));
    };
    let failing = server::serve(settings, &MODELS, ready, told_to_stop()?).await?;
    if failing.is_empty() {
        note("flushed all rows");
        return Ok(ExitCode::SUCCESS);
    }
    for Failing { table, reason, rows, .. } in &failing {
        let left = match rows {
            None => "; its rows stay in its log".to_owned(),
            Some(0) => String::new(),
            Some(rows) => format!("; its {} rows stay in its log", count(*rows)),
        };
        note(&format!(
            "cannot write table {table}: {reason}{left}: fix the cause, then run `manyworlds table rebuild {table} \
             --apply` or start the server again"
        ));
    }
    note("flushed all other rows");
    Ok(ExitCode::from(1))
}

fn shown(Setting { name, value, source, is_secret }: &Setting) -> ShownSetting {
    let value = value.clone().filter(|_| !is_secret);
    ShownSetting { name: name.clone(), value, source: source.clone(), secret: *is_secret }
}

/// The address of the page of a server that listens on `address`.
pub(super) fn page(args: &ServeArgs, address: SocketAddr) -> String {
    let port = address.port();
    match address.ip() {
        // A certificate is for a name.
        _ if args.tls_cert.is_some() => {
            format!("https://{}:{port}/", args.hosts.first().map_or("localhost", String::as_str))
        }
        ip if ip.is_unspecified() => format!("http://localhost:{port}/"),
        _ => format!("http://{address}/"),
    }
}

/// This program with a command, for a process of the server.
fn own_program(command: &str) -> Result<Vec<OsString>> {
    Ok(crate::program()?.into_iter().chain([command.into()]).collect())
}

/// Returns freed memory to the system even while idle.
fn return_idle_memory() -> Result<()> {
    let started = tikv_jemalloc_ctl::background_thread::write(true);
    started.map_err(|error| anyhow!("starting the threads that return memory: {error}"))
}

/// Answers the queries of the server that started this process.
pub(crate) fn answer_questions() -> Result<()> {
    return_idle_memory()?;
    server::answer_questions(make_model()).context("cannot answer the server's queries")
}

/// Plays a run of the server that started this process.
pub(crate) fn play_run() -> Result<()> {
    server::play_run(MODELS.all()).context("cannot play the server's run")
}

/// The key columns of each table, besides the time.
fn unique(given: &[Unique]) -> Result<BTreeMap<TableName, Vec<String>>> {
    let mut unique = BTreeMap::new();
    for Unique { table, columns } in given {
        if unique.insert(table.clone(), columns.clone()).is_some() {
            bail!("--unique names table {table} twice: name all columns at once");
        }
    }
    Ok(unique)
}

/// Waits for the first SIGINT or SIGTERM.
fn told_to_stop() -> Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
