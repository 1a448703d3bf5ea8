//! `manyworlds submit`, `worker`, `pause`, `resume`, `cancel` and `retry`: ensembles played by a fleet.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use fleet::{Broker, Halt, Ledger, SubmitOptions, WorkerOptions};
use run::{Meter, Sizing};
use tokio::sync::watch;

use super::simulation::{make_named_model, planned, plugin_of, started, until};
use super::{MODELS, cores, serve_metrics, status, stop_on_signals};
use crate::ExitCode;
use crate::args::{FleetArgs, LedgerArgs, SubmitArgs, SubmittedArgs, WorkerArgs};
use crate::output::{count, counted, note};
use crate::progress::Ticker;

async fn open_ledger(args: &LedgerArgs) -> Result<Ledger> {
    Ok(Ledger::open(&args.ledger).await?)
}

async fn open(args: &FleetArgs) -> Result<(Ledger, Broker)> {
    let ledger = open_ledger(&args.ledger).await?;
    let broker = Broker::new(&args.broker, &ledger)?;
    Ok((ledger, broker))
}

pub(crate) async fn submit(args: &SubmitArgs) -> Result<ExitCode> {
    let play = &args.play;
    let plugin = plugin_of(&play.plan.model)?;
    let (_, plan) = planned(&play.plan, &plugin, None, Sizing::Shared)?;
    let until = until(&play.until, &plan.catalogue)?;
    let (ledger, broker) = open(&args.fleet).await?;
    let (name, worlds, ranges) = (plan.name.clone(), plan.worlds.count(), plan.ranges().len());
    let options = SubmitOptions { format: play.page_format(), replace: play.replace, until };
    let (data, disk) = play.data.data.open()?;
    fleet::submit(&ledger, &broker, &data, disk, plan, options).await?;
    note(&format!("submitted {name}: {} worlds in {}", count(worlds as u64), counted(ranges as u64, "range")));
    if args.watch { status::watch_until_end(&ledger, &name, play.format.format).await } else { Ok(ExitCode::SUCCESS) }
}

pub(crate) async fn worker(args: &WorkerArgs) -> Result<()> {
    let threads = match args.concurrency {
        Some(0) => bail!("--concurrency 0: a worker plays at least one range at a time"),
        Some(threads) => threads,
        None => cores(),
    };
    for model in &args.models {
        MODELS.find(model)?;
    }
    for command in &args.programs {
        started(command, &args.program_limit)?;
    }
    let (ledger, broker) = open(&args.fleet).await?;
    let meter = Arc::new(Meter::default());
    serve_metrics(args.metrics, &meter).await?;
    let (data, disk) = args.data.data.open()?;
    let options = WorkerOptions {
        data,
        disk,
        threads,
        make_model: make_named_model(),
        world_pause: Duration::from_millis(args.world_pause_ms),
        meter: meter.clone(),
    };
    let member = fleet::join(ledger, broker, options, halt_on_signals()?).await?;
    note(&format!("playing up to {} at once; stop with Ctrl-C", counted(threads as u64, "range")));
    let phases = Ticker::of_worker(meter);
    let worked = member.work().await;
    phases.finish();
    Ok(worked?)
}

/// The first signal lets the worker finish running ranges, the second drops them.
fn halt_on_signals() -> Result<watch::Receiver<Halt>> {
    let (sender, receiver) = watch::channel(Halt::No);
    stop_on_signals(move |is_first| {
        // Without a receiver, the worker has ended.
        _ = sender.send(if is_first { Halt::Drain } else { Halt::Now });
    })?;
    Ok(receiver)
}

pub(crate) async fn pause(args: &SubmittedArgs) -> Result<()> {
    fleet::pause(&open_ledger(&args.ledger).await?, &args.ensemble).await?;
    note(&format!("paused {}; continue with `manyworlds resume {}`", args.ensemble, args.ensemble));
    Ok(())
}

pub(crate) async fn resume(args: &SubmittedArgs) -> Result<()> {
    Ok(fleet::resume(&open_ledger(&args.ledger).await?, &args.ensemble).await?)
}

pub(crate) async fn cancel(args: &SubmittedArgs) -> Result<()> {
    fleet::cancel(&open_ledger(&args.ledger).await?, &args.ensemble).await?;
    note(&format!("cancelled {}; its stored worlds stay readable", args.ensemble));
    Ok(())
}

pub(crate) async fn retry(args: &SubmittedArgs) -> Result<()> {
    let forgiven = fleet::retry(&open_ledger(&args.ledger).await?, &args.ensemble).await?;
    note(&format!("retrying {}: {} had failed", args.ensemble, counted(forgiven, "range")));
    Ok(())
}
