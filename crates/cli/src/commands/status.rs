//! `manyworlds status`: the progress of a fleet.

use std::time::Duration;

use anyhow::Result;
use fleet::{EnsembleStatus, FleetError, Ledger, State, WorkerStatus};
use indicatif::HumanDuration;

use super::statistics;
use crate::ExitCode;
use crate::args::{Format, StatusArgs};
use crate::output::{Table, count, interval, note, print, show, yes_no};
use crate::progress::Display;

/// Time between `watch`'s checks of the ledger without a notification.
const LOOK_EACH: Duration = Duration::from_millis(200);

pub(crate) async fn status(args: &StatusArgs) -> Result<ExitCode> {
    let (ledger, format) = (Ledger::open(&args.ledger.ledger).await?, args.format.format);
    if args.workers {
        let workers = fleet::workers(&ledger).await?;
        if workers.is_empty() && format == Format::Table {
            note("no workers");
        } else {
            show(format, &workers, &table_of_workers(&workers))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    match &args.ensemble {
        Some(name) if args.watch => return watch_until_end(&ledger, name, format).await,
        Some(name) => show_one(&fleet::status_of(&ledger, name).await?, format)?,
        None => {
            let all = fleet::status(&ledger).await?;
            if all.is_empty() && format == Format::Table {
                note("no ensemble was submitted yet");
            } else {
                show(format, &all, &table_of_ensembles(&all))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the progress of an ensemble until it ends, with exit code 1 unless it is complete. Waits through outages of the
/// ledger.
pub(super) async fn watch_until_end(ledger: &Ledger, name: &str, format: Format) -> Result<ExitCode> {
    let changes = ledger.listen().await?;
    let mut display = Display::start();
    let mut is_waiting = false;
    let ended = loop {
        match look(ledger, name, &mut display).await {
            Ok(Some(ended)) => break ended,
            Ok(None) => is_waiting = false,
            Err(error) if error.is_passing() => {
                if !std::mem::replace(&mut is_waiting, true) {
                    display.say(&format!("waiting: {error}"));
                }
            }
            Err(error) => return Err(error.into()),
        }
        changes.wait(LOOK_EACH).await;
    };
    drop(display);
    show_one(&ended, format)?;
    let is_complete = matches!(ended.state, State::Complete | State::Enough);
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Shows the progress if it is due; returns the status once the ensemble has ended.
async fn look(ledger: &Ledger, name: &str, display: &mut Display) -> Result<Option<EnsembleStatus>, FleetError> {
    let has_ended = !fleet::state(ledger, name).await?.may_go_on();
    if !has_ended && !display.is_due() {
        return Ok(None);
    }
    let one = fleet::status_of(ledger, name).await?;
    if has_ended {
        return Ok(Some(one));
    }
    display.show(one.worlds_done as u64, one.worlds as u64, progress(&one));
    Ok(None)
}

/// The progress without the count of worlds.
fn progress(one: &EnsembleStatus) -> String {
    let mut parts = vec![one.state.into_str().to_owned(), format!("{} worlds/s", count(one.worlds_per_s as u64))];
    parts.push(match one.workers.iter().filter(|w| w.is_there).count() {
        1 => "1 worker".to_owned(),
        workers => format!("{workers} workers"),
    });
    parts.extend(one.left_s.map(|s| format!("{} left", HumanDuration(Duration::from_secs_f64(s)))));
    if let Some((until, known)) = one.until.as_ref().and_then(|until| Some((until, until.known.as_ref()?))) {
        let so_far = interval(known.mean, known.ci_half_width);
        parts.push(format!("{} {so_far} of ± {}", until.outcome, until.goal));
    }
    parts.join(", ")
}

fn table_of_ensembles<'a>(all: impl IntoIterator<Item = &'a EnsembleStatus>) -> Table {
    Table::of(
        all,
        &[
            ("ensemble", &|one| one.name.clone()),
            ("model", &|one| one.model.clone()),
            ("state", &|one| one.state.into_str().to_owned()),
            ("worlds", &|one| count(one.worlds as u64)),
            ("done", &|one| count(one.worlds_done as u64)),
            ("failed", &|one| count(one.worlds_failed as u64)),
            ("worlds/s", &|one| count(one.worlds_per_s as u64)),
            ("submitted", &|one| one.submitted_at.chars().take(19).collect()),
        ],
    )
}

fn show_one(one: &EnsembleStatus, format: Format) -> Result<()> {
    show(format, one, &table_of_ensembles([one]))?;
    if format != Format::Table {
        return Ok(());
    }
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
        print(&format!("\n{}", table_of_workers(&one.workers)))?;
    }
    if let Some(outcomes) = statistics::table(&one.outcomes) {
        print(&format!("\n{outcomes}"))?;
    }
    for failure in &one.failures {
        let end = if failure.is_given_up { "given up" } else { "retried" };
        note(&format!("worlds {} ({end}): {}", failure.range, failure.reason));
    }
    Ok(())
}

fn table_of_workers(workers: &[WorkerStatus]) -> Table {
    Table::of(
        workers,
        &[
            ("worker", &|w| w.host.clone()),
            ("process", &|w| w.pid.to_string()),
            ("threads", &|w| w.threads.to_string()),
            ("there", &|w| yes_no(w.is_there)),
            ("worlds", &|w| count(w.worlds_done as u64)),
            ("worlds/s", &|w| count(w.worlds_per_s as u64)),
            ("trouble", &|w| w.trouble.clone().unwrap_or_default()),
        ],
    )
}
