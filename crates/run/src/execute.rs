//! Plays the ranges of an ensemble on worker threads, and commits each finished range.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ensemble::{Aggregates, Columns, Follow, Goal, Registered, Store, WrittenRange};
use model::{Catalogue, Model};
use table::PageFormat;
use tokio::sync::mpsc;
use world::WorldRange;

use crate::control::Control;
use crate::error::RunError;
use crate::meter::{Phase, Times};
use crate::player::{PlayElsewhere, Player, Players};
use crate::summary::{Phases, Summary, seconds, totals};
use crate::sweep::sweep;
use crate::usage::Usage;

#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Worker threads, at least 1.
    pub threads: usize,
    pub format: PageFormat,
    /// A goal that may end the run early.
    pub until: Option<Until>,
}

/// A goal: the mean of an outcome with a narrow enough confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Until {
    /// The entity's index in the catalogue.
    pub entity: usize,
    /// The outcome's index in the entity's kind.
    pub outcome: usize,
    /// The required half width of the interval.
    pub goal: Goal,
}

impl Until {
    /// The goal as text, as the tables store it: `ENTITY:OUTCOME within 0.5%`.
    pub fn to_text(&self, catalogue: &Catalogue) -> String {
        let (entity, kind) = (&catalogue.entities[self.entity], catalogue.kind_of(self.entity));
        format!("{}:{} within {}", entity.name, kind.outcomes[self.outcome].name, self.goal)
    }

    pub fn is_met(&self, aggregates: &Aggregates) -> bool {
        aggregates.get(self.entity, self.outcome).is_some_and(|aggregate| self.goal.is_met(aggregate))
    }
}

type Played = Result<Option<WrittenRange>, RunError>;

/// Shared by the worker threads.
struct Shared {
    plays: Plays,
    ranges: Mutex<VecDeque<WorldRange>>,
    control: Arc<Control>,
}

/// How worker threads have ranges played.
enum Plays {
    Here(Box<Player>),
    Elsewhere { players: Arc<dyn PlayElsewhere>, version: u64, entities: u64 },
}

/// Plays and commits the remaining ranges of `ensemble` on threads of this process, as [`play_by`].
///
/// # Errors
/// As [`play_by`].
pub async fn play(
    model: Arc<dyn Model>,
    store: &mut Store,
    ensemble: Registered,
    options: Options,
    control: Arc<Control>,
) -> Result<Summary, RunError> {
    play_by(Players::Here(model), store, ensemble, options, control).await
}

/// Has the remaining ranges of `ensemble` played, and commits them. A version that replaces another takes its place once
/// it is complete.
///
/// # Errors
/// The first error of a worker or commit, after the other workers have stopped.
pub async fn play_by(
    players: Players,
    store: &mut Store,
    ensemble: Registered,
    options: Options,
    control: Arc<Control>,
) -> Result<Summary, RunError> {
    let (started, before) = (Instant::now(), Usage::now());
    let _playing = store.mark_playing(&ensemble.plan.name);
    let ranges: VecDeque<WorldRange> = ensemble.plan.ranges_without(&ensemble.done).into();
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
            // An earlier run stopped at its goal; this one plays the remaining worlds.
            store.note_enough(&ensemble.plan.name, ensemble.version, None).await?;
        }
    }
    let plays = match players {
        Players::Here(model) => {
            let (ensemble, disk) = (ensemble.clone(), store.disk().clone());
            Plays::Here(Box::new(Player { model, ensemble, disk, format: options.format, follow }))
        }
        Players::Elsewhere(players) => {
            let entities = ensemble.plan.catalogue.entities.len() as u64;
            Plays::Elsewhere { players, version: ensemble.version, entities }
        }
    };
    let shared = Arc::new(Shared { plays, ranges: Mutex::new(ranges), control: control.clone() });
    let (sender, mut results) = mpsc::channel(threads);
    let workers = start_workers(threads, &shared, &sender)?;
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
        let goal = until.to_text(&ensemble.plan.catalogue);
        store.note_enough(&ensemble.plan.name, ensemble.version, Some(&goal)).await?;
    }
    let wall = started.elapsed();
    summarise(store, &ensemble, &control, threads, wall, before).await
}

fn start_workers(
    threads: usize,
    shared: &Arc<Shared>,
    results: &mpsc::Sender<Played>,
) -> Result<Vec<JoinHandle<()>>, RunError> {
    let start = |number: usize| {
        let (shared, results) = (shared.clone(), results.clone());
        let thread = std::thread::Builder::new().name(format!("worker-{number}"));
        thread.spawn(move || work(&shared, &results)).map_err(RunError::Thread)
    };
    (0..threads).map(start).collect()
}

/// Commits a range, and adds its times and aggregates.
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

/// One worker thread: plays ranges until none are left, and sends each once its files are complete.
fn work(shared: &Shared, results: &mpsc::Sender<Played>) {
    let mut play = match shared.plays.thread(&shared.control) {
        Ok(play) => play,
        Err(error) => return report(results, Err(error)),
    };
    while !shared.control.is_draining() {
        let next = shared.ranges.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(range) = next else {
            return;
        };
        let result = play(range);
        let failed = result.is_err();
        report(results, result);
        if failed {
            return;
        }
    }
}

impl Plays {
    /// Plays ranges on one thread, and counts blocks as they are played.
    fn thread<'a>(&'a self, control: &'a Control) -> Result<Box<dyn FnMut(WorldRange) -> Played + 'a>, RunError> {
        match self {
            Self::Here(player) => {
                let mut encoders = player.encoders()?;
                Ok(Box::new(move |range| {
                    let stop = || {
                        control.add(range.count() as u64);
                        control.is_abandoned()
                    };
                    player.play(range, &mut encoders, &stop)
                }))
            }
            Self::Elsewhere { players, version, entities } => Ok(Box::new(move |range| {
                let played = players.play(*version, range).map_err(RunError::Elsewhere)?;
                control.add(played.as_ref().map_or(0, |played| played.range.count() as u64 * entities));
                Ok(played)
            })),
        }
    }
}

fn report(results: &mpsc::Sender<Played>, result: Played) {
    if results.blocking_send(result).is_err() {
        tracing::debug!("the run ended before this range was reported");
    }
}
