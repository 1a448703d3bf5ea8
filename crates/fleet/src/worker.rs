//! A worker: takes ranges up, plays them on its threads, commits them, and tells the ledger and the broker.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ensemble::{MakeModel, Store, WrittenRange};
use run::{Meter, Times};
use table::disk::Disk;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use crate::broker::Broker;
use crate::commit::{commit_all, settle};
use crate::error::FleetError;
use crate::inbox::{Assignment, Inbox};
use crate::ledger::{Changes, Introduction, Ledger, Verdict};
use crate::player::play_all;
use crate::progress::Claims;
use crate::session::Session;

type Result<T> = std::result::Result<T, FleetError>;

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
    pub meter: Arc<Meter>,
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
    pub(crate) times: Times,
}

/// What a worker's tasks and threads share.
pub(crate) struct Worker {
    pub(crate) ledger: Ledger,
    pub(crate) broker: Broker,
    pub(crate) options: WorkerOptions,
    pub(crate) me: Introduction,
    pub(crate) inbox: Inbox,
    pub(crate) halt: watch::Receiver<Halt>,
    pub(crate) changes: Changes,
    /// The tables, once they were needed and as long as they do not refuse.
    pub(crate) store: tokio::sync::Mutex<Option<Store>>,
    /// The ranges that were taken up.
    pub(crate) claims: Claims,
    trouble: Mutex<Option<String>>,
}

/// A worker that the ledger and the broker have let in.
pub struct Member {
    worker: Arc<Worker>,
    session: Session,
}

/// Introduces a worker to the ledger and the broker.
///
/// # Errors
/// Where one of them refuses: whoever starts a worker can mend that.
pub async fn join(
    ledger: Ledger,
    broker: Broker,
    options: WorkerOptions,
    halt: watch::Receiver<Halt>,
) -> Result<Member> {
    let host = nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let me = Introduction { id: Uuid::new_v4(), host, pid: std::process::id(), threads: options.threads };
    let worker = Worker {
        changes: ledger.listen().await?,
        ledger,
        broker,
        options,
        me,
        inbox: Inbox::default(),
        halt,
        store: tokio::sync::Mutex::default(),
        claims: Claims::default(),
        trouble: Mutex::default(),
    };
    let worker = Arc::new(worker);
    let session = Session::open(&worker).await?;
    worker.ledger.see(&worker.me, None, &[]).await?;
    Ok(Member { worker, session })
}

impl Member {
    /// Works until asked to end. Waits for a ledger or a broker that is gone, and goes on when it is back.
    ///
    /// # Errors
    /// Where its threads cannot be started.
    pub async fn work(self) -> Result<()> {
        let Self { worker, session } = self;
        let (played, to_commit) = mpsc::channel(worker.options.threads);
        let committer = tokio::spawn(commit_all(worker.clone(), to_commit));
        let threads = start_players(&worker, &played)?;
        drop(played);
        let session = receive(&worker, session).await;
        worker.inbox.close();
        let joined = tokio::task::spawn_blocking(move || threads.into_iter().filter_map(|t| t.join().err()).count());
        if joined.await.is_ok_and(|died| died > 0) {
            tracing::error!("a thread of the worker died");
        }
        if committer.await.is_err() {
            tracing::error!("the worker's committer died");
        }
        if let Some(session) = session {
            session.close().await;
        }
        if let Err(error) = worker.ledger.dismiss(worker.me.id).await {
            tracing::warn!(%error, "the ledger does not know that this worker ends");
        }
        Ok(())
    }
}

/// Receives messages until the worker is asked to end, over one session after another where the broker goes away meanwhile.
/// Gives back the last one: what was handed out over it is acknowledged over it.
async fn receive(worker: &Arc<Worker>, session: Session) -> Option<Session> {
    let mut open = Some(session);
    while !worker.is_halting() {
        let still_open = match open.take() {
            Some(session) => session.run(worker).await,
            None => Session::open(worker).await,
        };
        match still_open {
            Ok(session) => open = Some(session),
            Err(error) => worker.suffer(&error).await,
        }
    }
    if let Some(session) = &mut open {
        session.leave(worker).await;
    }
    open
}

fn start_players(worker: &Arc<Worker>, played: &mpsc::Sender<Played>) -> Result<Vec<JoinHandle<()>>> {
    let start = |number: usize| {
        let (worker, played, handle) = (worker.clone(), played.clone(), Handle::current());
        let thread = std::thread::Builder::new().name(format!("player-{number}"));
        thread.spawn(move || play_all(&worker, &played, &handle)).map_err(FleetError::Thread)
    };
    (0..worker.options.threads).map(start).collect()
}

/// Pauses between attempts at what fails for a while: each twice as long as the one before, up to 15 seconds.
pub(crate) struct Pauses(Duration);

impl Pauses {
    const FIRST: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(15);

    pub(crate) fn new() -> Self {
        Self(Self::FIRST)
    }

    pub(crate) fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(Self::LONGEST);
        pause
    }
}

impl Worker {
    pub(crate) fn is_halting(&self) -> bool {
        *self.halt.borrow() != Halt::No
    }

    pub(crate) fn drops_all(&self) -> bool {
        *self.halt.borrow() == Halt::Now
    }

    /// What keeps this worker from playing, if anything does.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_trouble(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Waits so long, or until the worker is asked to end, as urgently as said.
    pub(crate) async fn rest(&self, pause: Duration, unless: Halt) {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.asked_to(unless) => {}
        }
    }

    /// Waits until the worker is asked to end, as urgently as said.
    pub(crate) async fn asked_to(&self, end: Halt) {
        if self.halt.clone().wait_for(|halt| *halt >= end).await.is_err() {
            // Whoever could have asked is gone.
            std::future::pending::<()>().await;
        }
    }

    /// Waits a while after an error, unless the worker is asked to end.
    async fn suffer(&self, error: &FleetError) {
        tracing::warn!(%error, "waiting for it");
        self.options.meter.reconnects();
        self.set_trouble(Some(error.to_string()));
        self.rest(Duration::from_secs(1), Halt::Drain).await;
    }

    /// Asks again and again while what is wrong may pass. `None` where the worker must not wait any longer.
    pub(crate) async fn patiently<T, F>(&self, ask: impl Fn() -> F) -> Option<Result<T>>
    where
        F: Future<Output = Result<T>>,
    {
        let mut pauses = Pauses::new();
        let mut is_troubled = false;
        loop {
            match ask().await {
                Err(error) if error.is_passing() => {
                    if self.drops_all() {
                        return None;
                    }
                    tracing::warn!(%error, "trying again");
                    self.set_trouble(Some(error.to_string()));
                    is_troubled = true;
                    self.rest(pauses.next(), Halt::Now).await;
                }
                result => {
                    if is_troubled && result.is_ok() {
                        self.set_trouble(None);
                    }
                    return Some(result);
                }
            }
        }
    }

    /// Lets another worker have a range that this one took up.
    pub(crate) async fn give_back(&self, assignment: &Assignment) {
        let (ensemble, range) = (assignment.job.id, assignment.range);
        self.claims.release(ensemble, range);
        self.options.meter.gave_back();
        if let Err(error) = self.ledger.give_back(ensemble, range).await {
            tracing::warn!(%error, %range, "the ledger takes it for begun");
        }
        assignment.requeue().await;
    }

    /// Notes a failure. The broker gets the message back, or its dead letters where the range is given up.
    pub(crate) async fn fail(&self, assignment: &Assignment, reason: &str) {
        let (ensemble, range) = (assignment.job.id, assignment.range);
        self.claims.release(ensemble, range);
        tracing::warn!(%range, reason, "failed");
        self.options.meter.failed();
        match self.patiently(|| self.ledger.note_failure(ensemble, range, reason)).await {
            Some(Ok(Verdict::GivenUp)) => {
                assignment.give_up().await;
                settle(self, &assignment.job).await;
            }
            Some(Ok(Verdict::Again)) | None => assignment.requeue().await,
            Some(Err(error)) => {
                tracing::error!(%error, %range, "its failure is not noted");
                assignment.requeue().await;
            }
        }
    }
}
