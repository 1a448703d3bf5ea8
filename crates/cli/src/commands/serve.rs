//! `manyworlds serve`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use ensemble::Plan;
use ingest::{Durability, StoreOptions};
use model::Model;
use query::ModelError;
use server::Settings;
use tokio::signal::unix::{SignalKind, signal};

use super::model_of;
use crate::args::{self, ServeArgs};
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
        codec: args.codec,
        compact_segments: args.compact,
        retain: args.retain.map(|days| Duration::from_hours(24 * days)),
        ..StoreOptions::default()
    };
    let settings = Settings { listen: args.listen, store, ..Settings::new(args.data.data.clone()) };
    let ready = |address| note(&format!("listening on http://{address}; Ctrl-C writes everything out and ends"));
    server::serve(settings, Arc::new(replayer), ready, told_to_stop()?).await?;
    note("everything is written out");
    Ok(ExitCode::SUCCESS)
}

fn replayer(plan: &Plan) -> Result<Arc<dyn Model>, ModelError> {
    Ok(model_of(plan)?.into())
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
