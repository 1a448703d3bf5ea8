//! `manyworlds run`: plays an ensemble.

use std::sync::Arc;

use anyhow::{Result, bail};
use ensemble::{Plan, Registered, Store};
use run::{Control, Options, Sizing, Summary, play};

use super::simulation::{planned, plugin_of, until};
use super::{MODELS, cores, create_store, serve_metrics, statistics, stop_on_signals};
use crate::ExitCode;
use crate::args::{Format, RunArgs};
use crate::output::{Table, bytes, count, note, print, show};
use crate::progress::Ticker;

pub(crate) async fn run(mut args: RunArgs) -> Result<ExitCode> {
    args.play.plan.worlds = args.extend.or(args.play.plan.worlds);
    let threads = match args.threads {
        Some(0) => bail!("--threads 0: a run needs at least one thread"),
        Some(threads) => threads,
        None => cores(),
    };
    let plugin = plugin_of(&args.play.plan.model)?;
    let data = &args.play.data.data;
    let (opened, stored) = if args.resume || args.extend.is_some() {
        let mut store = create_store(data).await?;
        let name = args.play.plan.name.clone().unwrap_or_else(|| plugin.ensemble_name());
        let stored = store.resume(&name).await?;
        (Some(store), Some(stored))
    } else {
        (None, None)
    };
    let stored_plan = stored.as_ref().map(|ensemble| &ensemble.plan);
    let (model, plan) = planned(&args.play.plan, &plugin, stored_plan, Sizing::Threads(threads))?;
    let until = until(&args.play.until, &plan.catalogue)?;
    let mut store = match opened {
        Some(store) => store,
        None => create_store(data).await?,
    };
    let ensemble = take_up(&mut store, plan, stored, &args).await?;
    let planned_worlds = ensemble.plan.worlds.end();
    let control = Arc::new(Control::default());
    let asked = control.clone();
    stop_on_signals(move |_| _ = asked.stop())?;
    serve_metrics(args.metrics, &control.meter).await?;
    let progress = Ticker::of_run(&ensemble, control.clone(), until);
    let options = Options { threads, format: args.play.page_format(), until };
    let result = play(model, &mut store, ensemble, options, control.clone()).await;
    progress.finish();
    let summary = result?;
    report(&summary, args.play.format.format)?;
    if summary.is_enough {
        note(&format!("reached the precision goal after {} worlds", count(summary.worlds as u64)));
    }
    if summary.complete || summary.is_enough {
        return Ok(ExitCode::SUCCESS);
    }
    note(&format!(
        "stopped at {} of {} worlds; continue with --resume",
        count(summary.worlds as u64),
        count(planned_worlds.into())
    ));
    Ok(ExitCode::from(130))
}

/// Registers the plan, or resumes or extends the ensemble that is stored.
async fn take_up(store: &mut Store, plan: Plan, stored: Option<Registered>, args: &RunArgs) -> Result<Registered> {
    let Some(ensemble) = stored else {
        return Ok(store.register(plan, args.play.replace).await?);
    };
    let (done, worlds) = (ensemble.done.iter().map(|r| r.count()).sum::<usize>(), plan.worlds.end());
    if args.extend.is_some() {
        let ensemble = store.extend(&plan).await?;
        note(&format!("extending from {} to {} worlds", count(done as u64), count(worlds.into())));
        return Ok(ensemble);
    }
    if let Some(difference) = ensemble.plan.difference(&plan) {
        let is_same = ensemble.plan.model == plan.model;
        // The model says best what has changed in it.
        let changed = MODELS.find(&plan.model)?.build_from_json(&ensemble.plan.parameters).err().filter(|_| is_same);
        let difference = changed.map_or(difference, |changed| format!("another model: {changed}"));
        bail!("cannot resume ensemble {:?}: it was started with {difference}; use the same, or --replace", plan.name);
    }
    if ensemble.replaces && args.play.until.until_ci.is_some() {
        bail!("--until-ci: ensemble {:?} replaces an older version, which takes all of its worlds", plan.name);
    }
    note(&format!("resuming at {} of {} worlds", count(done as u64), count(worlds.into())));
    Ok(ensemble)
}

fn report(summary: &Summary, format: Format) -> Result<()> {
    show(format, summary, &as_table(summary))?;
    match statistics::table(&summary.known) {
        Some(outcomes) if format == Format::Table => print(&format!("\n{outcomes}")),
        _ => Ok(()),
    }
}

fn as_table(s: &Summary) -> Table {
    let per = |amount: f64, by: f64| if by > 0.0 { amount / by } else { 0.0 };
    let rate = |n: u64| format!("{}/s", count(per(n as f64, s.wall_s) as u64));
    let played = s.played as f64;
    let raw = s.outcomes.values * 8;
    let mut table = Table::new(["stored", "", ""]);
    let mut row = |a: &str, b: String, c: String| table.push([a.to_owned(), b, c]);
    row("ensemble", format!("{} (version {})", s.ensemble, s.version), format!("hash {}", s.hash));
    row("worlds", count(s.worlds as u64), format!("{:.1}/s", per(played, s.wall_s)));
    row(
        "outcome values",
        count(s.outcomes.values),
        rate((s.outcomes.values as f64 * per(played, s.worlds as f64)) as u64),
    );
    row(
        "  on disk",
        bytes(s.outcomes.bytes),
        format!(
            "{:.2} bits per value, {:.1} times smaller than raw doubles",
            s.outcomes.bits_per_value,
            per(raw as f64, s.outcomes.bytes as f64)
        ),
    );
    if s.events.hash.is_some() {
        row("events", count(s.events.rows), rate((s.events.rows as f64 * per(played, s.worlds as f64)) as u64));
        row("  on disk", bytes(s.events.bytes), format!("{:.2} bytes per row", s.events.bytes_per_row));
    } else {
        row("events", "replayed on demand".to_owned(), String::new());
    }
    let cpu = if played > 0.0 {
        format!("{:.2} ms of processor time per world", s.cpu_s * 1e3 / played)
    } else {
        String::new()
    };
    row("time", format!("{:.1} s", s.wall_s), cpu);
    row("peak memory", bytes(s.peak_rss_bytes), String::new());
    let p = &s.phases;
    for (name, seconds) in [
        ("  simulate", p.simulate_s),
        ("  encode", p.encode_s),
        ("  write", p.write_s),
        ("  commit", p.commit_s),
        ("  wait", p.wait_s),
    ] {
        row(name, format!("{seconds:.2} s"), String::new());
    }
    table
}
