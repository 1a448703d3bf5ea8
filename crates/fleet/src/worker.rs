//! A worker: takes ranges up, plays them on its threads, commits them, and tells the ledger and the broker.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ensemble::{Encoders, MakeModel, WrittenRange};
use lapin::options::{BasicAckOptions, BasicNackOptions};
use run::RunError;
use table::ErrorKind;
use table::disk::Disk;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use crate::broker::Broker;
use crate::commit::commit_all;
use crate::error::FleetError;
use crate::inbox::{Assignment, Inbox};
use crate::ledger::{Claim, Finished, Introduction, Ledger, Verdict};
use crate::metrics::{Phase, WorkerMetrics};
use crate::session::Session;

type Result<T> = std::result::Result<T, FleetError>;

/// The longest pause between two attempts at something that fails for a while.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(15);
pub(crate) const PAUSE_MIN: Duration = Duration::from_millis(100);
/// How long a range of a paused ensemble is held before it is given back, so that it does not come again at once.
const PAUSED: Duration = Duration::from_millis(200);

/// How to work.
#[derive(Clone)]
pub struct WorkerOptions {
    /// The folder of the tables: the one that the ensembles were submitted to.
    pub data: PathBuf,
    /// What the tables are written to.
    pub disk: Arc<dyn Disk>,
    /// Ranges played at once, each on a thread; at least 1.
    pub threads: usize,
    /// Makes the models of submitted plans.
    pub make_model: MakeModel,
    /// How long a thread sleeps for each world that it has played: as a slower model would take, without the processor.
    pub world_pause: Duration,
    /// What counts what the worker does.
    pub metrics: Arc<WorkerMetrics>,
}

/// How a worker is asked to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Halt {
    /// It goes on.
    #[default]
    No,
    /// It ends when what it has begun is committed; what it has not begun others get.
    Drain,
    /// It drops what it has begun as well.
    Now,
}

/// A range that was played and is to be committed.
pub(crate) struct Played {
    pub(crate) assignment: Assignment,
    pub(crate) written: WrittenRange,
    pub(crate) times: Finished,
}

/// What a worker's tasks and threads share.
pub(crate) struct Worker {
    pub(crate) ledger: Ledger,
    pub(crate) broker: Broker,
    pub(crate) options: WorkerOptions,
    pub(crate) me: Introduction,
    pub(crate) inbox: Inbox,
    pub(crate) halt: watch::Receiver<Halt>,
    trouble: Mutex<Option<String>>,
    is_over: AtomicBool,
}

/// Works until asked to end.
///
/// # Errors
/// Where the ledger or the broker refuses at the start. Later the worker waits for them, and goes on when they are back.
pub async fn work(ledger: Ledger, broker: Broker, options: WorkerOptions, halt: watch::Receiver<Halt>) -> Result<()> {
    let host = nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let me = Introduction { id: Uuid::new_v4(), host, pid: std::process::id(), threads: options.threads };
    ledger.see(&me, None).await?;
    let (ledger_too, id) = (ledger.clone(), me.id);
    let worker = Arc::new(Worker {
        ledger,
        broker,
        options,
        me,
        inbox: Inbox::default(),
        halt: halt.clone(),
        trouble: Mutex::default(),
        is_over: AtomicBool::new(false),
    });
    // Refused at the start: whoever started it can mend that.
    let first = Session::open(&worker).await?;
    let (played, to_commit) = mpsc::channel(worker.options.threads);
    let committer = tokio::spawn(commit_all(worker.clone(), to_commit));
    let threads = start_players(&worker, &played)?;
    drop(played);
    let mut session = Some(first);
    while !worker.is_halting() {
        let ended = match session.take() {
            Some(session) => session.run(&worker).await,
            None => match Session::open(&worker).await {
                Ok(opened) => {
                    session = Some(opened);
                    continue;
                }
                Err(error) => Err(error),
            },
        };
        match ended {
            Ok(open) => session = Some(open),
            Err(error) => worker.suffer(&error).await,
        }
    }
    if let Some(session) = &mut session {
        session.leave(&worker).await;
    }
    worker.inbox.close();
    let joined = tokio::task::spawn_blocking(move || threads.into_iter().filter_map(|t| t.join().err()).count());
    if joined.await.is_ok_and(|died| died > 0) {
        tracing::error!("a thread of the worker died");
    }
    if committer.await.is_err() {
        tracing::error!("the worker's committer died");
    }
    worker.is_over.store(true, Ordering::SeqCst);
    if let Some(session) = session {
        session.close().await;
    }
    if let Err(error) = ledger_too.dismiss(id).await {
        tracing::warn!(%error, "the ledger does not know that this worker ends");
    }
    Ok(())
}

fn start_players(worker: &Arc<Worker>, played: &mpsc::Sender<Played>) -> Result<Vec<std::thread::JoinHandle<()>>> {
    let start = |number: usize| {
        let (worker, played, handle) = (worker.clone(), played.clone(), Handle::current());
        let thread = std::thread::Builder::new().name(format!("player-{number}"));
        thread.spawn(move || play_all(&worker, &played, &handle)).map_err(FleetError::Thread)
    };
    (0..worker.options.threads).map(start).collect()
}

impl Worker {
    pub(crate) fn is_halting(&self) -> bool {
        *self.halt.borrow() != Halt::No
    }

    fn drops_all(&self) -> bool {
        *self.halt.borrow() == Halt::Now
    }

    /// What keeps this worker from playing, if anything does.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_trouble(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Waits a while after an error, unless the worker is asked to end.
    async fn suffer(&self, error: &FleetError) {
        tracing::warn!(%error, "waiting for it");
        self.options.metrics.reconnects();
        self.set_trouble(Some(error.to_string()));
        let mut halt = self.halt.clone();
        let halted = halt.wait_for(|halt| *halt != Halt::No);
        if tokio::time::timeout(Duration::from_secs(1), halted).await.is_ok() {
            tracing::debug!("asked to end while waiting");
        }
    }

    /// Asks again and again while what is wrong may pass. `None` where the worker must not wait any longer.
    pub(crate) async fn patiently<T, F>(&self, ask: impl Fn() -> F) -> Option<Result<T>>
    where
        F: Future<Output = Result<T>>,
    {
        let mut pause = PAUSE_MIN;
        loop {
            match ask().await {
                Err(error) if error.is_passing() => {
                    if self.drops_all() {
                        return None;
                    }
                    tracing::warn!(%error, "trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                result => return Some(result),
            }
        }
    }
}

/// A player thread: takes up ranges until there are no more to come.
fn play_all(worker: &Worker, played: &mpsc::Sender<Played>, handle: &Handle) {
    let mut encoders: Option<(i64, Encoders)> = None;
    let mut pause = PAUSE_MIN;
    while let Some(assignment) = worker.inbox.take() {
        let wait = assignment.arrived.elapsed();
        let (job, range) = (assignment.job.clone(), assignment.range);
        let claiming = Instant::now();
        let claim = handle.block_on(worker.patiently(|| worker.ledger.claim(job.id, range, worker.me.id)));
        match claim {
            Some(Ok(Claim::Play)) => {}
            Some(Ok(Claim::Settled)) => {
                handle.block_on(acknowledge(&assignment));
                continue;
            }
            Some(Ok(Claim::Later)) => {
                std::thread::sleep(PAUSED);
                handle.block_on(requeue(&assignment));
                continue;
            }
            Some(Err(error)) => {
                tracing::error!(%error, %range, "the ledger does not hand it out");
                handle.block_on(requeue(&assignment));
                continue;
            }
            None => continue,
        }
        let claim = claiming.elapsed();
        if encoders.as_ref().is_none_or(|(of, _)| *of != job.id) {
            encoders = job.player.encoders().ok().map(|made| (job.id, made));
        }
        let Some((_, made)) = &mut encoders else {
            handle.block_on(fail(worker, assignment, "its columns cannot be stored"));
            continue;
        };
        match job.player.play(range, made, &|| worker.drops_all()) {
            Ok(Some(mut written)) => {
                let pause_of_all = worker.options.world_pause * range.count() as u32;
                std::thread::sleep(pause_of_all);
                written.times.simulate += pause_of_all;
                pause = PAUSE_MIN;
                worker.set_trouble(None);
                let spent = [
                    (Phase::Dispatch, Duration::from_nanos(assignment.dispatch_ns as u64)),
                    (Phase::Wait, wait),
                    (Phase::Claim, claim),
                    (Phase::Simulate, written.times.simulate),
                    (Phase::Encode, written.times.encode),
                    (Phase::Write, written.times.write),
                ];
                spent.into_iter().for_each(|(phase, time)| worker.options.metrics.add(phase, time));
                let ns = |time: Duration| time.as_nanos() as i64;
                let times = Finished {
                    dispatch: assignment.dispatch_ns,
                    wait: ns(wait),
                    claim: ns(claim),
                    simulate: ns(written.times.simulate),
                    encode: ns(written.times.encode),
                    write: ns(written.times.write),
                    commit: 0,
                };
                if played.blocking_send(Played { assignment, written, times }).is_err() {
                    return;
                }
            }
            Ok(None) => handle.block_on(give_back(worker, &assignment)),
            Err(RunError::Table(error)) if error.kind() == ErrorKind::Environment => {
                // Another worker may have room; this one tries again in a while.
                tracing::warn!(%error, %range, "cannot be written here");
                worker.set_trouble(Some(error.to_string()));
                handle.block_on(give_back(worker, &assignment));
                std::thread::sleep(pause);
                pause = (pause * 2).min(PAUSE_MAX);
            }
            Err(error) => handle.block_on(fail(worker, assignment, &error.to_string())),
        }
    }
}

/// Lets another worker have a range that this one took up.
async fn give_back(worker: &Worker, assignment: &Assignment) {
    let (ensemble, range) = (assignment.job.id, assignment.range);
    worker.options.metrics.gave_back();
    if let Err(error) = worker.ledger.give_back(ensemble, range).await {
        tracing::warn!(%error, %range, "the ledger takes it for begun");
    }
    requeue(assignment).await;
}

/// Notes a failure. The broker gets the message back, or its dead letters where the range is given up.
pub(crate) async fn fail(worker: &Worker, assignment: Assignment, reason: &str) {
    let (ensemble, range) = (assignment.job.id, assignment.range);
    tracing::warn!(%range, reason, "failed");
    worker.options.metrics.failed();
    let noted = worker.patiently(|| worker.ledger.note_failure(ensemble, range, reason)).await;
    match noted {
        Some(Ok(Verdict::GivenUp)) => {
            refuse(&assignment, false).await;
            crate::commit::settle(worker, &assignment.job).await;
        }
        Some(Ok(Verdict::Again)) | None => requeue(&assignment).await,
        Some(Err(error)) => {
            tracing::error!(%error, %range, "its failure is not noted");
            requeue(&assignment).await;
        }
    }
}

/// Tells the broker that a range is settled.
pub(crate) async fn acknowledge(assignment: &Assignment) {
    if let Err(error) = assignment.acker.ack(BasicAckOptions::default()).await {
        // It comes again, and is found to be done.
        tracing::debug!(%error, range = %assignment.range, "the broker was not told that it is done");
    }
}

pub(crate) async fn requeue(assignment: &Assignment) {
    refuse(assignment, true).await;
}

async fn refuse(assignment: &Assignment, requeue: bool) {
    if let Err(error) = assignment.acker.nack(BasicNackOptions { requeue, multiple: false }).await {
        // The connection is gone, and with it this worker's hold on the message.
        tracing::debug!(%error, range = %assignment.range, "the broker was not told of it");
    }
}
