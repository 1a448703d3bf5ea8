//! A worker's broker connection and subscriptions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ensemble::MakeModel;
use futures::StreamExt as _;
use lapin::options::{BasicCancelOptions, BasicNackOptions};
use lapin::types::ShortString;
use lapin::{Channel, Connection, Consumer};

use crate::assignment::Assignment;
use crate::broker::{Broker, Link, message};
use crate::error::FleetError;
use crate::halt::Halt;
use crate::inbox::Inbox;
use crate::job::Job;
use crate::ledger::{Changes, Introduction, State, Submitted};
use crate::ranges::Ranges;

type Result<T> = std::result::Result<T, FleetError>;

/// How often to look for ensembles without a notification.
const LOOK_EACH: Duration = Duration::from_secs(1);
/// How often the worker reports to the ledger and publishes missing messages.
const TEND_EACH: Duration = Duration::from_secs(2);
/// How long a queue may stay empty while ranges remain: workers hold messages of ranges that they will claim.
const LOST_AFTER: Duration = Duration::from_secs(15);
/// Time limit to close the connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// Shared by a worker's successive sessions: source and destination of ranges.
pub(crate) struct Intake {
    pub(crate) me: Introduction,
    pub(crate) broker: Broker,
    pub(crate) changes: Changes,
    pub(crate) make_model: MakeModel,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) ranges: Arc<Ranges>,
}

/// One ensemble's messages for this worker.
struct Subscription {
    channel: Channel,
    link: Arc<Link>,
    consumer: ShortString,
    job: Arc<Job>,
    receiver: tokio::task::JoinHandle<()>,
}

impl Subscription {
    /// Stops receiving.
    async fn cancel(&self) {
        let cancelled = self.channel.basic_cancel(self.consumer.clone(), BasicCancelOptions::default());
        if let Err(error) = self.link.ask(cancelled).await {
            tracing::debug!(%error, "a consumer was gone already");
        }
    }
}

/// An open connection to the broker.
pub(crate) struct Session {
    connection: Connection,
    link: Arc<Link>,
    channel: Channel,
    subscriptions: HashMap<i64, Subscription>,
    /// Ensembles with remaining ranges and an empty queue, and since when.
    silent: HashMap<i64, Instant>,
    tended: Option<Instant>,
    /// Ensembles that cannot be played here, and what was logged about it.
    refused: HashMap<i64, String>,
}

impl Session {
    pub(crate) async fn open(intake: &Intake) -> Result<Self> {
        let connection = intake.broker.connect().await?;
        let channel = intake.broker.channel(&connection).await?;
        intake.ranges.retry.set_trouble(None);
        Ok(Self {
            connection,
            link: Arc::default(),
            channel,
            subscriptions: HashMap::new(),
            silent: HashMap::new(),
            tended: None,
            refused: HashMap::new(),
        })
    }

    /// Receives ranges of all running ensembles until the worker should end, then returns the session.
    ///
    /// # Errors
    /// If the broker is gone. It requeues all messages of the session.
    pub(crate) async fn run(mut self, intake: &Intake) -> Result<Self> {
        loop {
            if let Err(error) = self.look(intake).await {
                if matches!(error, FleetError::Broker { .. }) || !self.connection.status().connected() {
                    // What may still work would receive beside the next session.
                    self.subscriptions.values().for_each(|subscription| subscription.receiver.abort());
                    drop(intake.inbox.clear());
                    self.close().await;
                    return Err(error);
                }
                // Messages stay at the broker until the ledger answers.
                tracing::warn!(%error, "retrying");
                intake.ranges.retry.set_trouble(Some(error.to_string()));
            }
            tokio::select! {
                () = intake.changes.wait(LOOK_EACH) => {}
                () = intake.ranges.halt.asked_to(Halt::Drain) => return Ok(self),
            }
        }
    }

    /// Subscribes to running ensembles, and unsubscribes from others.
    async fn look(&mut self, intake: &Intake) -> Result<()> {
        let gone = self.link.is_dead() || !self.connection.status().connected() || !self.channel.status().connected();
        if gone || self.subscriptions.values().any(|s| s.receiver.is_finished()) {
            let lost = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
            return Err(intake.broker.fail("go on")(lapin::Error::from(lost)));
        }
        let running = intake.ranges.ledger.running().await?;
        let over: Vec<i64> =
            self.subscriptions.keys().copied().filter(|id| running.iter().all(|r| r.id != *id)).collect();
        for ensemble in over {
            self.unsubscribe(intake, ensemble).await;
        }
        for submitted in &running {
            if !self.subscriptions.contains_key(&submitted.id) {
                self.subscribe(intake, submitted).await?;
            }
        }
        if self.tended.is_none_or(|at| at.elapsed() >= TEND_EACH) {
            self.tended = Some(Instant::now());
            intake
                .ranges
                .ledger
                .see(&intake.me, intake.ranges.retry.trouble().as_deref(), &intake.ranges.claims.moving())
                .await?;
            intake.ranges.ledger.adopt().await?;
            self.tend(intake, &running).await?;
        }
        Ok(())
    }

    async fn subscribe(&mut self, intake: &Intake, submitted: &Submitted) -> Result<()> {
        let job = match Job::load(submitted, &intake.ranges.tables, &intake.make_model).await {
            Ok(job) => Arc::new(job),
            Err(error) => {
                // Other workers may have the model that is missing here.
                let reason = error.to_string();
                if self.refused.insert(submitted.id, reason.clone()).as_ref() != Some(&reason) {
                    tracing::warn!(%error, ensemble = submitted.name, "cannot play this ensemble here");
                }
                intake.ranges.retry.set_trouble(Some(reason));
                return Ok(());
            }
        };
        if intake.broker.waiting(&self.connection, job.id).await?.is_none() {
            // The broker lost the queue: publish all messages again.
            intake.ranges.ledger.unpublish(job.id).await?;
        }
        let channel = intake.broker.channel(&self.connection).await?;
        intake.broker.declare(&channel, job.id).await?;
        // One per thread, plus one for a range being committed.
        let unacknowledged = (intake.me.threads + 1).min(usize::from(u16::MAX)) as u16;
        let messages = intake.broker.consume(&channel, job.id, unacknowledged).await?;
        let consumer = messages.tag();
        let link = self.link.clone();
        let receiver =
            tokio::spawn(receive(intake.inbox.clone(), job.clone(), channel.clone(), link.clone(), messages));
        self.subscriptions.insert(job.id, Subscription { channel, link, consumer, job, receiver });
        Ok(())
    }

    /// Unsubscribes from an ensemble, and requeues its ranges in the inbox.
    async fn unsubscribe(&mut self, intake: &Intake, ensemble: i64) {
        let Some(subscription) = self.subscriptions.remove(&ensemble) else { return };
        subscription.cancel().await;
        for assignment in intake.inbox.withdraw(ensemble) {
            assignment.requeue().await;
        }
        if intake.ranges.ledger.state(ensemble).await.is_ok_and(|state| !state.is_some_and(State::may_go_on))
            && let Err(error) = intake.broker.remove(&self.channel, ensemble).await
        {
            tracing::debug!(%error, "a queue was gone already");
        }
    }

    /// Publishes messages that a submitter or the broker lost, and ends ensembles whose last worker died first.
    async fn tend(&mut self, intake: &Intake, running: &[Submitted]) -> Result<()> {
        for submitted in running {
            let Some(job) = self.subscriptions.get(&submitted.id).map(|s| s.job.clone()) else { continue };
            self.look_for_lost(intake, submitted.id).await?;
            let missing = intake.ranges.ledger.unpublished(submitted.id).await?;
            if !missing.is_empty() {
                intake.broker.publish(&self.channel, submitted.id, &missing).await?;
                intake.ranges.ledger.note_published(submitted.id, &missing).await?;
            }
            intake.ranges.settle(&job).await;
        }
        Ok(())
    }

    /// Replaces messages that a restarted broker lost: if a queue stays empty while unclaimed ranges remain, publishes
    /// them again. A duplicate does no harm.
    async fn look_for_lost(&mut self, intake: &Intake, ensemble: i64) -> Result<()> {
        let waiting = intake.broker.waiting(&self.connection, ensemble).await?;
        if waiting.is_some_and(|waiting| waiting > 0) || !intake.ranges.ledger.has_idle(ensemble).await? {
            self.silent.remove(&ensemble);
        } else if self.silent.entry(ensemble).or_insert_with(Instant::now).elapsed() >= LOST_AFTER {
            self.silent.remove(&ensemble);
            let lost = intake.ranges.ledger.unpublish_idle(ensemble).await?;
            tracing::warn!(ensemble, lost, "the broker lost messages: publishing them again");
        }
        Ok(())
    }

    /// Unsubscribes, and requeues all messages in the inbox.
    pub(crate) async fn leave(&mut self, intake: &Intake) {
        for subscription in self.subscriptions.values() {
            subscription.cancel().await;
        }
        for assignment in intake.inbox.clear() {
            assignment.requeue().await;
        }
    }

    pub(crate) async fn close(self) {
        let closed = tokio::time::timeout(PATIENCE, self.connection.close(200, "done".into())).await;
        if !matches!(closed, Ok(Ok(()))) {
            tracing::debug!("could not close the connection to the broker");
        }
    }
}

/// Moves an ensemble's messages to the inbox until the subscription ends.
async fn receive(inbox: Arc<Inbox>, job: Arc<Job>, channel: Channel, link: Arc<Link>, mut messages: Consumer) {
    while let Some(Ok(delivery)) = messages.next().await {
        let read = message(&delivery.data);
        let Some((range, dispatch)) = read.and_then(|message| Some((message.range()?, message.age()))) else {
            tracing::error!(ensemble = job.name(), "an unreadable message: moved to the dead letters");
            let refused = delivery.nack(BasicNackOptions { requeue: false, multiple: false });
            if let Err(error) = link.ask(refused).await {
                tracing::debug!(%error, "could not refuse a message");
            }
            continue;
        };
        inbox.put(Assignment {
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
