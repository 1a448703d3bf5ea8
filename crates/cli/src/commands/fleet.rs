//! `manyworlds submit`, `worker`, `status`, `pause`, `resume`, `cancel` and `retry`: ensembles that a fleet plays.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use fleet::{Broker, EnsembleStatus, Halt, Ledger, State, SubmitOptions, WorkerMetrics, WorkerOptions, WorkerStatus};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::plan::{Sizing, planned, until};
use super::{cores, make_model};
use crate::args::{FleetArgs, Format, LedgerArgs, StatusArgs, SubmitArgs, SubmittedArgs, WorkerArgs};
use crate::output::{Table, count, note, print, print_json};

/// How often it is told how far a watched ensemble is.
const TELL_EACH: Duration = Duration::from_millis(500);

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
    let (_, plan) = planned(&play.plan, Sizing::Fleet)?;
    let until = until(&play.until, &plan.catalogue)?;
    let (ledger, broker) = open(&args.fleet).await?;
    let (name, worlds, ranges) = (plan.name.clone(), plan.worlds.count(), plan.ranges().len());
    let options = SubmitOptions { codec: play.codec, replace: play.replace, until };
    let (data, disk) = play.data.data.open()?;
    fleet::submit(&ledger, &broker, &data, disk, plan, options).await?;
    note(&format!("submitted {name}: {} worlds in {} ranges", count(worlds as u64), count(ranges as u64)));
    if args.watch { watch_until_end(&ledger, &name, play.format.format).await } else { Ok(ExitCode::SUCCESS) }
}

pub(crate) async fn worker(args: &WorkerArgs) -> Result<ExitCode> {
    let threads = match args.concurrency {
        Some(0) => bail!("--concurrency 0: a worker plays one range at a time at least"),
        Some(threads) => threads,
        None => cores(),
    };
    let (ledger, broker) = open(&args.fleet).await?;
    let metrics = Arc::new(WorkerMetrics::default());
    if let Some(address) = args.metrics {
        let bound = server::serve_metrics(address, {
            let metrics = metrics.clone();
            move || metrics.prometheus()
        })
        .await;
        note(&format!("metrics at http://{}/metrics", bound.with_context(|| format!("--metrics {address}"))?));
    }
    let (data, disk) = args.data.data.open()?;
    let options = WorkerOptions {
        data,
        disk,
        threads,
        make_model: make_model(),
        world_pause: Duration::from_millis(args.world_pause_ms),
        metrics,
    };
    let member = fleet::join(ledger, broker, options, halt_on_signals()?).await?;
    note(&format!("working on {} at once; stop with Ctrl-C", count(threads as u64)));
    member.work().await?;
    Ok(ExitCode::SUCCESS)
}

/// The first signal lets the worker finish what it has begun, the second one drops it.
fn halt_on_signals() -> Result<watch::Receiver<Halt>> {
    let (sender, receiver) = watch::channel(Halt::No);
    let mut interrupts = signal(SignalKind::interrupt()).context("listening for Ctrl-C")?;
    let mut terminations = signal(SignalKind::terminate()).context("listening for a signal to end")?;
    tokio::spawn(async move {
        for (halt, told) in [
            (Halt::Drain, "stopping once the ranges under way are stored; press again to drop them"),
            (Halt::Now, "dropping the ranges under way"),
        ] {
            tokio::select! {
                _ = interrupts.recv() => {}
                _ = terminations.recv() => {}
            }
            note(told);
            if sender.send(halt).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

pub(crate) async fn status(args: &StatusArgs) -> Result<ExitCode> {
    let ledger = open_ledger(&args.ledger).await?;
    if args.workers {
        let workers = fleet::workers(&ledger).await?;
        match args.format.format {
            Format::Json => print_json(&workers)?,
            Format::Csv => print(&crew(&workers).to_csv())?,
            Format::Table if workers.is_empty() => note("no worker is there"),
            Format::Table => print(&crew(&workers).to_string())?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    match &args.ensemble {
        Some(name) if args.watch => watch_until_end(&ledger, name, args.format.format).await,
        Some(name) => {
            show(&status_of(&ledger, name).await?, args.format.format)?;
            Ok(ExitCode::SUCCESS)
        }
        None => {
            let all = fleet::status(&ledger, None).await?;
            match args.format.format {
                Format::Json => print_json(&all)?,
                Format::Csv => print(&listed(&all).to_csv())?,
                Format::Table if all.is_empty() => note("nothing was submitted to this fleet yet"),
                Format::Table => print(&listed(&all).to_string())?,
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Shows how far an ensemble is until it has ended; exit code 1 where it did not end complete.
async fn watch_until_end(ledger: &Ledger, name: &str, format: Format) -> Result<ExitCode> {
    let changes = ledger.listen().await?;
    let mut shown = String::new();
    let mut told = Instant::now();
    while matches!(fleet::state(ledger, name).await?, State::Submitting | State::Running | State::Paused) {
        if shown.is_empty() || told.elapsed() >= TELL_EACH {
            let line = progress(&status_of(ledger, name).await?);
            if line != shown {
                note(&line);
            }
            (shown, told) = (line, Instant::now());
        }
        changes.wait(TELL_EACH).await;
    }
    let one = status_of(ledger, name).await?;
    show(&one, format)?;
    let is_complete = matches!(one.state, State::Complete | State::Enough);
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

async fn status_of(ledger: &Ledger, name: &str) -> Result<EnsembleStatus> {
    fleet::status(ledger, Some(name)).await?.pop().with_context(|| format!("ensemble {name:?} is gone from the ledger"))
}

fn progress(one: &EnsembleStatus) -> String {
    let left = one.left_s.map(|s| format!(", {} left", seconds(s))).unwrap_or_default();
    let workers = one.workers.iter().filter(|w| w.is_there).count();
    format!(
        "{} {}: {} of {} worlds, {} worlds/s, {workers} workers{left}",
        one.name,
        one.state.word(),
        count(one.worlds_done as u64),
        count(one.worlds as u64),
        count(one.worlds_per_s as u64)
    )
}

fn seconds(s: f64) -> String {
    let s = s.round() as u64;
    match (s / 3600, s / 60 % 60, s % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

fn listed(all: &[EnsembleStatus]) -> Table {
    let mut table = Table::new(["ensemble", "model", "state", "worlds", "done", "failed", "worlds/s", "submitted"]);
    for one in all {
        table.push([
            one.name.clone(),
            one.model.clone(),
            one.state.word().to_owned(),
            count(one.worlds as u64),
            count(one.worlds_done as u64),
            count(one.worlds_failed as u64),
            count(one.worlds_per_s as u64),
            one.submitted_at.chars().take(19).collect(),
        ]);
    }
    table
}

fn show(one: &EnsembleStatus, format: Format) -> Result<()> {
    match format {
        Format::Json => return print_json(one),
        Format::Csv => return print(&listed(std::slice::from_ref(one)).to_csv()),
        Format::Table => {}
    }
    print(&listed(std::slice::from_ref(one)).to_string())?;
    let p = &one.phases;
    let mut phases = Table::new(["phase", "seconds"]);
    let first = p.first_s.unwrap_or_default();
    for (name, s) in [
        ("submit", p.submit_s),
        ("until the first range", first),
        ("dispatch", p.dispatch_s),
        ("wait", p.wait_s),
        ("claim", p.claim_s),
        ("simulate", p.simulate_s),
        ("encode", p.encode_s),
        ("write", p.write_s),
        ("commit", p.commit_s),
        ("note", p.note_s),
        ("acknowledge", p.acknowledge_s),
    ] {
        phases.push([name.to_owned(), format!("{s:.3}")]);
    }
    print(&format!("\n{phases}"))?;
    if !one.workers.is_empty() {
        print(&format!("\n{}", crew(&one.workers)))?;
    }
    show_outcomes(one)?;
    for failure in &one.failures {
        let end = if failure.is_given_up { "given up" } else { "tried again" };
        note(&format!("worlds {} ({end}): {}", failure.range, failure.reason));
    }
    Ok(())
}

fn crew(workers: &[WorkerStatus]) -> Table {
    let mut table = Table::new(["worker", "process", "threads", "there", "worlds", "worlds/s", "trouble"]);
    for w in workers {
        table.push([
            w.host.clone(),
            w.pid.to_string(),
            w.threads.to_string(),
            if w.is_there { "yes" } else { "no" }.to_owned(),
            count(w.worlds_done as u64),
            count(w.worlds_per_s as u64),
            w.trouble.clone().unwrap_or_default(),
        ]);
    }
    table
}

/// Outcomes of an entity that are shown; the other formats have all.
const OUTCOMES_SHOWN: usize = 5;

/// What is known of the first outcomes of each entity.
fn show_outcomes(one: &EnsembleStatus) -> Result<()> {
    let mut table = Table::new(["outcome", "worlds", "mean", "± 95%", "deviation", "5%", "50%", "95%"]);
    let (mut entity, mut shown) = ("", 0);
    let number = |n: f64| format!("{n:.4}");
    for known in &one.outcomes {
        if entity != known.entity {
            (entity, shown) = (&known.entity, 0);
        }
        shown += 1;
        if shown <= OUTCOMES_SHOWN {
            let [low, middle, high] = known.quantiles.map(|q| q.map(number).unwrap_or_default());
            let half = known.ci_half_width.map(number).unwrap_or_default();
            let name = format!("{}:{}", known.entity, known.outcome);
            let (mean, deviation) = (number(known.mean), number(known.stddev));
            table.push([name, count(known.worlds), mean, half, deviation, low, middle, high]);
        }
    }
    if one.outcomes.is_empty() { Ok(()) } else { print(&format!("\n{table}")) }
}

pub(crate) async fn pause(args: &SubmittedArgs) -> Result<ExitCode> {
    fleet::pause(&open_ledger(&args.ledger).await?, &args.ensemble).await?;
    note(&format!("paused {}: go on with `manyworlds resume {}`", args.ensemble, args.ensemble));
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn resume(args: &SubmittedArgs) -> Result<ExitCode> {
    fleet::resume(&open_ledger(&args.ledger).await?, &args.ensemble).await?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn cancel(args: &SubmittedArgs) -> Result<ExitCode> {
    fleet::cancel(&open_ledger(&args.ledger).await?, &args.ensemble).await?;
    note(&format!("cancelled {}: what is stored stays readable", args.ensemble));
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn retry(args: &SubmittedArgs) -> Result<ExitCode> {
    let forgiven = fleet::retry(&open_ledger(&args.ledger).await?, &args.ensemble).await?;
    note(&format!("trying {} again: {} ranges had failed", args.ensemble, count(forgiven)));
    Ok(ExitCode::SUCCESS)
}
