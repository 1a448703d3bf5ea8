//! Plays the ranges of an ensemble on worker threads and commits them as they are finished.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ensemble::{Aggregates, Columns, EnsembleError, Follow, Goal, Registered, Store, WrittenRange};
use model::{Catalogue, Model};
use table::{PageFormat, TableError};
use tokio::sync::mpsc;
use world::WorldRange;

use crate::control::Control;
use crate::meter::{Phase, Times};
use crate::player::Player;
use crate::summary::{Phases, Summary, seconds, totals};
use crate::sweep::sweep;
use crate::usage::Usage;

/// How to play.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Worker threads, at least 1.
    pub threads: usize,
    /// How stored pages are written.
    pub format: PageFormat,
    /// When fewer worlds than planned are enough.
    pub until: Option<Until>,
}

/// A mean that is known well enough once its confidence interval is narrow enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Until {
    /// The entity, a place in the catalogue.
    pub entity: usize,
    /// Its outcome.
    pub outcome: usize,
    /// How narrow.
    pub goal: Goal,
}

impl Until {
    /// What is to be known, as the tables tell it: `game-001:won within 0.5%`.
    pub fn told(&self, catalogue: &Catalogue) -> String {
        let (entity, kind) = (&catalogue.entities[self.entity], catalogue.kind_of(self.entity));
        format!("{}:{} within {}", entity.name, kind.outcomes[self.outcome].name, self.goal)
    }

    /// Whether what is known is enough.
    pub fn is_met(&self, aggregates: &Aggregates) -> bool {
        aggregates.get(self.entity, self.outcome).is_some_and(|aggregate| self.goal.is_met(aggregate))
    }
}

/// Why a run ended early. Ranges committed before stay committed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store refused.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// A range's files could not be written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The worker threads could not be started.
    #[error("could not start a thread: {0}")]
    Thread(std::io::Error),
    /// The model failed on a range.
    #[error("worlds {range} could not be played: {reason}")]
    Model {
        /// The worlds.
        range: WorldRange,
        /// What went wrong.
        reason: String,
    },
}

type Outcome = Result<Option<WrittenRange>, RunError>;

/// What every worker thread has.
struct Workshop {
    player: Player,
    ranges: Mutex<VecDeque<WorldRange>>,
    control: Arc<Control>,
}

/// Plays the ranges of `ensemble` that are not done yet, and commits each; a version that replaces another takes its
/// place at the end, when it is complete.
///
/// # Errors
/// The first error of any worker or commit, after the other workers have stopped.
pub async fn play(
    model: Arc<dyn Model>,
    store: &mut Store,
    ensemble: Registered,
    options: Options,
    control: Arc<Control>,
) -> Result<Summary, RunError> {
    let (started, before) = (Instant::now(), Usage::now());
    let mut ranges: VecDeque<WorldRange> = ensemble.plan.ranges().into();
    ranges.retain(|range| !ensemble.done.contains(range));
    if let Some(range) = ensemble.plan.ranges().first() {
        for path in [ensemble.paths.outcomes(*range), ensemble.paths.events(*range)] {
            path.parent().into_iter().for_each(sweep);
        }
    }
    let threads = options.threads.clamp(1, ranges.len().max(1));
    let follow = Follow::new(&ensemble.plan.catalogue, options.until.iter().map(|u| (u.entity, u.outcome)).collect());
    let is_enough = |control: &Control| options.until.is_some_and(|until| until.is_met(&control.aggregates()));
    if !ensemble.done.is_empty() && !ensemble.replaces {
        let stored = Columns::open(store.ensemble(&ensemble.plan.name).await?, 0)?;
        *control.aggregates() = Aggregates::of_stored(&stored, &follow)?;
        if is_enough(&control) {
            control.end_with_enough();
        } else {
            // It was enough for another question: now its other worlds are missing.
            store.note_enough(&ensemble.plan.name, ensemble.version, None).await?;
        }
    }
    let workshop = Arc::new(Workshop {
        player: Player::new(model, ensemble.clone(), store.disk().clone(), options.format, follow),
        ranges: Mutex::new(ranges),
        control: control.clone(),
    });
    let (sender, mut results) = mpsc::channel(threads);
    let workers = start_workers(threads, &workshop, &sender)?;
    drop(sender);
    let mut failure = None;
    while let Some(result) = results.recv().await {
        let result = match result {
            Ok(Some(range)) => commit(store, &ensemble, &range, &control).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            control.abandon();
            failure.get_or_insert(error);
        } else if is_enough(&control) {
            control.end_with_enough();
        }
    }
    for worker in workers {
        if worker.join().is_err() {
            tracing::error!("a worker thread died");
        }
    }
    if let Some(error) = failure {
        return Err(error);
    }
    let played_all = ensemble.done.len() + control.meter.ranges() == ensemble.plan.ranges().len();
    if ensemble.replaces && played_all {
        let committing = Instant::now();
        store.switch(&ensemble).await?;
        control.meter.add(Phase::Commit, committing.elapsed());
    }
    if let (Some(until), true) = (options.until, control.has_enough()) {
        let told = until.told(&ensemble.plan.catalogue);
        store.note_enough(&ensemble.plan.name, ensemble.version, Some(&told)).await?;
    }
    let wall = started.elapsed();
    summarise(store, &ensemble, &control, threads, wall, before).await
}

fn start_workers(
    threads: usize,
    workshop: &Arc<Workshop>,
    results: &mpsc::Sender<Outcome>,
) -> Result<Vec<JoinHandle<()>>, RunError> {
    let start = |number: usize| {
        let (workshop, results) = (workshop.clone(), results.clone());
        let thread = std::thread::Builder::new().name(format!("worker-{number}"));
        thread.spawn(move || work(&workshop, &results)).map_err(RunError::Thread)
    };
    (0..threads).map(start).collect()
}

/// Commits a range, and counts what it took and what is known from it.
async fn commit(
    store: &mut Store,
    ensemble: &Registered,
    range: &WrittenRange,
    control: &Control,
) -> Result<(), RunError> {
    let committing = Instant::now();
    if !ensemble.replaces {
        store.commit_range(ensemble, range).await?;
    }
    let mut times = Times::default();
    times.add_played(&range.times);
    times.add(Phase::Commit, committing.elapsed());
    control.meter.spent(&times);
    control.meter.done(range.range.count());
    control.aggregates().merge(&range.aggregates);
    Ok(())
}

async fn summarise(
    store: &mut Store,
    ensemble: &Registered,
    control: &Control,
    threads: usize,
    wall: Duration,
    before: Usage,
) -> Result<Summary, RunError> {
    store.refresh().await?;
    let stored = store.ensemble(&ensemble.plan.name).await?;
    let (hash, outcomes, events) = totals(&stored)?;
    let usage = Usage::now();
    let meter = &control.meter;
    let [simulate, encode, write] = [Phase::Simulate, Phase::Encode, Phase::Write].map(|phase| meter.time(phase));
    Ok(Summary {
        ensemble: ensemble.plan.name.clone(),
        version: stored.version,
        worlds: stored.worlds(),
        played: meter.worlds(),
        complete: stored.is_complete() && stored.version == ensemble.version,
        is_enough: control.has_enough(),
        wall_s: seconds(wall),
        cpu_s: seconds(usage.cpu.saturating_sub(before.cpu)),
        peak_rss_bytes: usage.peak_rss_bytes,
        hash: hash.to_string(),
        outcomes,
        events,
        phases: Phases {
            simulate_s: seconds(simulate),
            encode_s: seconds(encode),
            write_s: seconds(write),
            commit_s: seconds(meter.time(Phase::Commit)),
            wait_s: seconds((wall * threads as u32).saturating_sub(simulate + encode + write)),
        },
        threads,
        known: control.aggregates().all_known(&ensemble.plan.catalogue),
    })
}

/// One worker: takes up ranges until there are none, and hands each on when its files are complete.
fn work(workshop: &Workshop, results: &mpsc::Sender<Outcome>) {
    let mut encoders = match workshop.player.encoders() {
        Ok(encoders) => encoders,
        Err(error) => return report(results, Err(error)),
    };
    while !workshop.control.is_draining() {
        let next = workshop.ranges.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(range) = next else {
            return;
        };
        let control = &workshop.control;
        let stop = || {
            control.add(range.count() as u64);
            control.is_abandoned()
        };
        let result = workshop.player.play(range, &mut encoders, &stop);
        let failed = result.is_err();
        report(results, result);
        if failed {
            return;
        }
    }
}

fn report(results: &mpsc::Sender<Outcome>, result: Outcome) {
    if results.blocking_send(result).is_err() {
        tracing::debug!("the run ended before this range was reported");
    }
}
