//! A worker's connection to the broker: which ensembles it receives ranges of.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use lapin::options::{BasicCancelOptions, BasicNackOptions};
use lapin::types::ShortString;
use lapin::{Channel, Connection, Consumer};

use crate::broker::{Link, message};
use crate::commit::settle;
use crate::error::FleetError;
use crate::inbox::Assignment;
use crate::job::Job;
use crate::ledger::{State, Submitted};
use crate::worker::{Halt, Worker};

type Result<T> = std::result::Result<T, FleetError>;

/// How often the ledger is asked which ensembles there are where it does not tell of a change.
const LOOK_EACH: Duration = Duration::from_secs(1);
/// How often the ledger is told that this worker is there, and messages that are missing are made.
const TEND_EACH: Duration = Duration::from_secs(2);
/// How long a broker may have no message for ranges that are left: workers have those that they are about to take up.
const LOST_AFTER: Duration = Duration::from_secs(15);
/// How long closing may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Messages of one ensemble that this worker receives.
struct Subscription {
    channel: Channel,
    link: Arc<Link>,
    consumer: ShortString,
    job: Arc<Job>,
    receiver: tokio::task::JoinHandle<()>,
}

impl Subscription {
    /// Ends to receive.
    async fn cancel(&self) {
        let cancelled = self.channel.basic_cancel(self.consumer.clone(), BasicCancelOptions::default());
        if let Err(error) = self.link.ask(cancelled).await {
            tracing::debug!(%error, "a consumer was gone already");
        }
    }
}

pub(crate) struct Session {
    connection: Connection,
    link: Arc<Link>,
    channel: Channel,
    subscriptions: HashMap<i64, Subscription>,
    /// Since when the broker has no message of an ensemble that has ranges left.
    silent: HashMap<i64, Instant>,
    tended: Option<Instant>,
}

impl Session {
    pub(crate) async fn open(worker: &Worker) -> Result<Self> {
        let connection = worker.broker.connect().await?;
        let channel = worker.broker.channel(&connection).await?;
        worker.set_trouble(None);
        Ok(Self {
            connection,
            link: Arc::default(),
            channel,
            subscriptions: HashMap::new(),
            silent: HashMap::new(),
            tended: None,
        })
    }

    /// Receives ranges of all ensembles that are running, until the worker is asked to end: then the session is given back.
    ///
    /// # Errors
    /// Where the broker is gone; what it had handed out, it hands out again.
    pub(crate) async fn run(mut self, worker: &Arc<Worker>) -> Result<Self> {
        loop {
            if let Err(error) = self.look(worker).await {
                if matches!(error, FleetError::Broker { .. }) || !self.connection.status().connected() {
                    drop(worker.inbox.clear());
                    return Err(error);
                }
                // The broker's messages wait for the ledger.
                tracing::warn!(%error, "waiting for it");
                worker.set_trouble(Some(error.to_string()));
            }
            tokio::select! {
                () = worker.changes.wait(LOOK_EACH) => {}
                () = worker.asked_to(Halt::Drain) => return Ok(self),
            }
        }
    }

    /// Looks which ensembles there are, and begins and ends to receive them.
    async fn look(&mut self, worker: &Arc<Worker>) -> Result<()> {
        let gone = self.link.is_dead() || !self.connection.status().connected() || !self.channel.status().connected();
        if gone || self.subscriptions.values().any(|s| s.receiver.is_finished()) {
            let lost = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
            return Err(worker.broker.fail("go on")(lapin::Error::from(lost)));
        }
        let running = worker.ledger.running().await?;
        let over: Vec<i64> =
            self.subscriptions.keys().copied().filter(|id| running.iter().all(|r| r.id != *id)).collect();
        for ensemble in over {
            self.unsubscribe(worker, ensemble).await;
        }
        for submitted in &running {
            if !self.subscriptions.contains_key(&submitted.id) {
                self.subscribe(worker, submitted).await?;
            }
        }
        if self.tended.is_none_or(|at| at.elapsed() >= TEND_EACH) {
            self.tended = Some(Instant::now());
            worker.ledger.see(&worker.me, worker.trouble().as_deref(), &worker.claims.moving()).await?;
            worker.ledger.adopt().await?;
            self.tend(worker, &running).await?;
        }
        Ok(())
    }

    async fn subscribe(&mut self, worker: &Arc<Worker>, submitted: &Submitted) -> Result<()> {
        let options = &worker.options;
        let job = match Job::load(submitted, &options.data, &options.disk, &options.make_model).await {
            Ok(job) => Arc::new(job),
            Err(error) => {
                // Others may have what this worker lacks.
                tracing::warn!(%error, ensemble = submitted.name, "cannot be played here");
                worker.set_trouble(Some(error.to_string()));
                return Ok(());
            }
        };
        if worker.broker.waiting(&self.connection, job.id).await?.is_none() {
            // It went with a broker that lost what it had: all messages are made anew.
            worker.ledger.unpublish(job.id).await?;
        }
        let channel = worker.broker.channel(&self.connection).await?;
        worker.broker.declare(&channel, job.id).await?;
        // One for each thread, and one for what is being committed meanwhile.
        let unacknowledged = (worker.options.threads + 1).min(usize::from(u16::MAX)) as u16;
        let messages = worker.broker.consume(&channel, job.id, unacknowledged).await?;
        let consumer = messages.tag();
        let link = self.link.clone();
        let receiver = tokio::spawn(receive(worker.clone(), job.clone(), channel.clone(), link.clone(), messages));
        self.subscriptions.insert(job.id, Subscription { channel, link, consumer, job, receiver });
        Ok(())
    }

    /// Ends to receive an ensemble's ranges, and gives back those that were not begun.
    async fn unsubscribe(&mut self, worker: &Worker, ensemble: i64) {
        let Some(subscription) = self.subscriptions.remove(&ensemble) else { return };
        subscription.cancel().await;
        for assignment in worker.inbox.withdraw(ensemble) {
            assignment.requeue().await;
        }
        if worker.ledger.state(ensemble).await.is_ok_and(|state| !state.is_some_and(State::may_go_on))
            && let Err(error) = worker.broker.remove(&self.channel, ensemble).await
        {
            tracing::debug!(%error, "a queue was gone already");
        }
    }

    /// Makes messages that are missing, because whoever submitted an ensemble died or the broker lost its queue, and ends
    /// ensembles whose last worker died before it did.
    async fn tend(&mut self, worker: &Worker, running: &[Submitted]) -> Result<()> {
        for submitted in running {
            let Some(job) = self.subscriptions.get(&submitted.id).map(|s| s.job.clone()) else { continue };
            self.look_for_lost(worker, submitted.id).await?;
            let missing = worker.ledger.unpublished(submitted.id).await?;
            if !missing.is_empty() {
                worker.broker.publish(&self.channel, submitted.id, &missing).await?;
                worker.ledger.note_published(submitted.id, &missing).await?;
            }
            settle(worker, &job).await;
        }
        Ok(())
    }

    /// A broker may come back without messages that it had: where it has none for long, and ranges are left that nobody has
    /// taken up, there is to be one for each again. One too many does no harm.
    async fn look_for_lost(&mut self, worker: &Worker, ensemble: i64) -> Result<()> {
        let waiting = worker.broker.waiting(&self.connection, ensemble).await?;
        if waiting.is_some_and(|waiting| waiting > 0) || !worker.ledger.has_idle(ensemble).await? {
            self.silent.remove(&ensemble);
        } else if self.silent.entry(ensemble).or_insert_with(Instant::now).elapsed() >= LOST_AFTER {
            self.silent.remove(&ensemble);
            let lost = worker.ledger.unpublish_idle(ensemble).await?;
            tracing::warn!(ensemble, lost, "the broker has no messages for ranges that are left: making them anew");
        }
        Ok(())
    }

    /// Ends to receive anything, and gives back what was not begun.
    pub(crate) async fn leave(&mut self, worker: &Worker) {
        for subscription in self.subscriptions.values() {
            subscription.cancel().await;
        }
        for assignment in worker.inbox.clear() {
            assignment.requeue().await;
        }
    }

    pub(crate) async fn close(self) {
        let closed = tokio::time::timeout(PATIENCE, self.connection.close(200, "done".into())).await;
        if !matches!(closed, Ok(Ok(()))) {
            tracing::debug!("the broker did not say good-bye");
        }
    }
}

/// Puts an ensemble's messages into the inbox until there are no more to come.
async fn receive(worker: Arc<Worker>, job: Arc<Job>, channel: Channel, link: Arc<Link>, mut messages: Consumer) {
    while let Some(Ok(delivery)) = messages.next().await {
        let read = message(&delivery.data);
        let Some((range, dispatch)) = read.and_then(|message| Some((message.range()?, message.age()))) else {
            tracing::error!(ensemble = job.player.ensemble().plan.name, "a message that is none of ours: put aside");
            let aside = delivery.nack(BasicNackOptions { requeue: false, multiple: false });
            if let Err(error) = link.ask(aside).await {
                tracing::debug!(%error, "it comes again");
            }
            continue;
        };
        worker.inbox.put(Assignment {
            job: job.clone(),
            range,
            acker: delivery.acker,
            _channel: channel.clone(),
            link: link.clone(),
            progress: Arc::default(),
            dispatch,
            arrived: Instant::now(),
        });
    }
}
