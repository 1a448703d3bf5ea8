//! A worker: receives ranges, plays them on its threads, and commits them.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use disk::Disk;
use ensemble::MakeModel;
use run::Meter;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use crate::broker::Broker;
use crate::commit::commit_all;
use crate::error::FleetError;
use crate::halt::{Halt, HaltSignal};
use crate::ledger::{Introduction, Ledger};
use crate::player::PlayerThread;
use crate::progress::Claims;
use crate::ranges::Ranges;
use crate::retry::Retry;
use crate::session::{Intake, Session};
use crate::tables::Tables;

type Result<T> = std::result::Result<T, FleetError>;

#[derive(Clone)]
pub struct WorkerOptions {
    pub data: PathBuf,
    pub disk: Arc<dyn Disk>,
    /// Concurrent ranges, one per thread; at least 1.
    pub threads: usize,
    pub make_model: MakeModel,
    /// How long a thread sleeps per played world: imitates a slower model without processor time.
    pub world_pause: Duration,
    pub meter: Arc<Meter>,
}

/// A worker that the ledger and the broker have accepted.
pub struct Member {
    intake: Intake,
    session: Session,
    world_pause: Duration,
}

/// Introduces a worker to the ledger and the broker.
///
/// # Errors
/// If either refuses.
pub async fn join(
    ledger: Ledger,
    broker: Broker,
    options: WorkerOptions,
    halt: watch::Receiver<Halt>,
) -> Result<Member> {
    let host = nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let me = Introduction { id: Uuid::new_v4(), host, pid: std::process::id(), threads: options.threads };
    let changes = ledger.listen().await?;
    let halt = HaltSignal(halt);
    let ranges = Ranges {
        worker: me.id,
        ledger,
        tables: Tables::new(options.data, options.disk),
        claims: Claims::default(),
        meter: options.meter,
        retry: Retry::new(halt.clone()),
        halt,
    };
    let intake =
        Intake { me, broker, changes, make_model: options.make_model, inbox: Arc::default(), ranges: Arc::new(ranges) };
    let session = Session::open(&intake).await?;
    intake.ranges.ledger.see(&intake.me, None, &[]).await?;
    Ok(Member { intake, session, world_pause: options.world_pause })
}

impl Member {
    /// Works until asked to end. Waits through outages of the ledger and the broker.
    ///
    /// # Errors
    /// If its threads cannot be started.
    pub async fn work(self) -> Result<()> {
        let Self { intake, session, world_pause } = self;
        let (inbox, ranges) = (intake.inbox.clone(), intake.ranges.clone());
        let (played, to_commit) = mpsc::channel(intake.me.threads);
        let committer = tokio::spawn(commit_all(ranges.clone(), to_commit));
        let player = PlayerThread {
            ranges: ranges.clone(),
            inbox: inbox.clone(),
            played,
            world_pause,
            handle: Handle::current(),
        };
        let threads = start_players(&player, intake.me.threads)?;
        // The committer ends once all senders of played ranges are gone.
        drop(player);
        let session = receive(&intake, session).await;
        inbox.close();
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
        if let Err(error) = ranges.ledger.dismiss(ranges.worker).await {
            tracing::warn!(%error, "could not note that this worker ends");
        }
        Ok(())
    }
}

/// Receives messages until the worker should end, and reopens broken sessions. Returns the last session, for its
/// acknowledgements.
async fn receive(intake: &Intake, session: Session) -> Option<Session> {
    let ranges = &intake.ranges;
    let mut open = Some(session);
    while !ranges.halt.is_halting() {
        let still_open = match open.take() {
            Some(session) => session.run(intake).await,
            None => Session::open(intake).await,
        };
        match still_open {
            Ok(session) => open = Some(session),
            Err(error) => {
                tracing::warn!(%error, "reconnecting");
                ranges.meter.reconnects();
                ranges.retry.set_trouble(Some(error.to_string()));
                ranges.halt.rest(Duration::from_secs(1), Halt::Drain).await;
            }
        }
    }
    if let Some(session) = &mut open {
        session.leave(intake).await;
    }
    open
}

fn start_players(player: &PlayerThread, threads: usize) -> Result<Vec<JoinHandle<()>>> {
    let start = |number: usize| {
        let player = player.clone();
        let thread = std::thread::Builder::new().name(format!("player-{number}"));
        thread.spawn(move || player.run()).map_err(FleetError::Thread)
    };
    (0..threads).map(start).collect()
}
