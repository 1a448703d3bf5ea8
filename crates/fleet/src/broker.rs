//! The broker, RabbitMQ: one message for each unplayed range.
//!
//! Each ensemble has a quorum queue: confirmed messages survive a restart of the broker. A message leaves the queue
//! after its range is committed; when a connection ends, the broker requeues its messages.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::Utc;
use futures::future::try_join_all;
use lapin::options::{
    BasicConsumeOptions, BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions, QueueDeclareOptions,
    QueueDeleteOptions,
};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties, Consumer, ErrorKind};
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use world::{World, WorldRange};

use crate::error::FleetError;

type Result<T> = std::result::Result<T, FleetError>;

/// Time limit for an answer: a dead connection shows no error.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for the confirmation of [`UNCONFIRMED_MAX`] messages.
const CONFIRMING: Duration = Duration::from_mins(1);
/// Deliveries of a message, at most. High, because the ledger counts failures, and the broker also counts deliveries
/// that no worker began.
const DELIVERIES_MAX: i64 = 1_000_000;
/// Messages that may await confirmation together.
const UNCONFIRMED_MAX: usize = 1_000;
/// The delivery mode of durable messages.
const PERSISTENT: u8 = 2;

/// A broker's address and the fleet that owns its queues.
#[derive(Debug, Clone)]
pub struct Broker {
    url: String,
    address: String,
    fleet: Uuid,
}

/// A message that names a range.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Message {
    ensemble: i64,
    first_world: u32,
    worlds: u32,
    /// Publication time in nanoseconds since 1970.
    made_ns: i64,
}

impl Message {
    pub(crate) fn range(self) -> Option<WorldRange> {
        WorldRange::new(World(self.first_world), self.worlds).ok()
    }

    /// Time since publication, by the clocks of both machines.
    pub(crate) fn age(self) -> Duration {
        Duration::from_nanos(now_ns().saturating_sub(self.made_ns).max(0) as u64)
    }
}

fn now_ns() -> i64 {
    Utc::now().timestamp_nanos_opt().unwrap_or_default()
}

impl Broker {
    /// The broker at an address such as `amqp://user:password@host:port/vhost`, with the queues of a ledger's fleet.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn new(url: &str, ledger: &crate::ledger::Ledger) -> Result<Self> {
        let parsed: std::result::Result<lapin::uri::AMQPUri, _> = url.parse();
        let parsed = parsed.map_err(|_| FleetError::address("broker", url, "amqp://user:password@host:5672/%2f"))?;
        let address = format!("{}:{}", parsed.authority.host, parsed.authority.port);
        Ok(Self { url: url.to_owned(), address, fleet: ledger.fleet() })
    }

    pub(crate) fn fail(&self, doing: &'static str) -> impl Fn(lapin::Error) -> FleetError + use<> {
        let address = self.address.clone();
        move |cause| FleetError::Broker { doing, address: address.clone(), cause }
    }

    /// Awaits an answer with a time limit.
    pub(crate) async fn answer<T>(
        &self,
        doing: &'static str,
        asked: impl Future<Output = lapin::Result<T>>,
    ) -> Result<T> {
        in_time(PATIENCE, asked).await.map_err(self.fail(doing))
    }

    pub(crate) async fn channel(&self, connection: &Connection) -> Result<Channel> {
        self.answer("open a channel", connection.create_channel()).await
    }

    /// Connects.
    ///
    /// # Errors
    /// If the broker is unreachable or refuses.
    pub async fn connect(&self) -> Result<Connection> {
        let properties = ConnectionProperties::default().with_connection_name("manyworlds".into());
        self.answer("be reached", Connection::connect(&self.url, properties)).await
    }

    pub(crate) fn queue(&self, ensemble: i64) -> String {
        format!("manyworlds.{}.{ensemble}", self.fleet.simple())
    }

    /// The queue for messages of ranges that were given up.
    fn dead_letters(&self) -> String {
        format!("manyworlds.{}.dead", self.fleet.simple())
    }

    /// Creates an ensemble's queue if missing.
    pub(crate) async fn declare(&self, channel: &Channel, ensemble: i64) -> Result<()> {
        let doing = "make a queue";
        let quorum = |mut arguments: FieldTable| {
            arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
            arguments
        };
        let dead = self.dead_letters();
        let declared =
            channel.queue_declare(dead.as_str().into(), QueueDeclareOptions::durable(), quorum(FieldTable::default()));
        self.answer(doing, declared).await?;
        let mut arguments = quorum(FieldTable::default());
        arguments.insert("x-delivery-limit".into(), AMQPValue::LongLongInt(DELIVERIES_MAX));
        arguments.insert("x-dead-letter-exchange".into(), AMQPValue::LongString("".into()));
        arguments.insert("x-dead-letter-routing-key".into(), AMQPValue::LongString(dead.into()));
        let name = self.queue(ensemble);
        let declared = channel.queue_declare(name.as_str().into(), QueueDeclareOptions::durable(), arguments);
        self.answer(doing, declared).await.map(drop)
    }

    /// Messages in an ensemble's queue; `None` without a queue.
    pub(crate) async fn waiting(&self, connection: &Connection, ensemble: i64) -> Result<Option<u32>> {
        // The broker closes a channel that names a missing queue, so use a separate one.
        let channel = self.channel(connection).await?;
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
        let name = self.queue(ensemble);
        let found = channel.queue_declare(name.as_str().into(), options, FieldTable::default());
        match in_time(PATIENCE, found).await {
            Ok(queue) => Ok(Some(queue.message_count())),
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(self.fail("look for a queue")(error)),
        }
    }

    /// Publishes a message per range, and waits until the broker has confirmed all.
    pub(crate) async fn publish(&self, channel: &Channel, ensemble: i64, ranges: &[WorldRange]) -> Result<()> {
        let doing = "take messages";
        let fail = self.fail(doing);
        self.answer(doing, channel.confirm_select(ConfirmSelectOptions::default())).await?;
        let queue = self.queue(ensemble);
        for some in ranges.chunks(UNCONFIRMED_MAX) {
            let mut confirmations = Vec::with_capacity(some.len());
            for range in some {
                let message =
                    Message { ensemble, first_world: range.first().0, worlds: range.count() as u32, made_ns: now_ns() };
                let body = serde_json::to_vec(&message).unwrap_or_default();
                let properties = BasicProperties::default().with_delivery_mode(PERSISTENT);
                // Without this flag, the broker silently drops messages to a missing queue.
                let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
                let sent = channel.basic_publish("".into(), queue.as_str().into(), options, &body, properties);
                confirmations.push(self.answer(doing, sent).await?);
            }
            for confirmation in in_time(CONFIRMING, try_join_all(confirmations)).await.map_err(&fail)? {
                if confirmation.is_nack() || confirmation.take_message().is_some() {
                    let refused = std::io::Error::other("the queue is full or missing");
                    return Err(fail(lapin::Error::from(refused)));
                }
            }
        }
        Ok(())
    }

    /// Starts receiving an ensemble's messages, at most `unacknowledged` at once.
    pub(crate) async fn consume(&self, channel: &Channel, ensemble: i64, unacknowledged: u16) -> Result<Consumer> {
        let doing = "hand out messages";
        self.answer(doing, channel.basic_qos(unacknowledged, BasicQosOptions::default())).await?;
        let queue = self.queue(ensemble);
        let options = BasicConsumeOptions::default();
        let consumer = channel.basic_consume(queue.as_str().into(), "".into(), options, FieldTable::default());
        self.answer(doing, consumer).await
    }

    /// Removes an ensemble's queue with its messages.
    pub(crate) async fn remove(&self, channel: &Channel, ensemble: i64) -> Result<()> {
        let queue = self.queue(ensemble);
        let removed = channel.queue_delete(queue.as_str().into(), QueueDeleteOptions::default());
        self.answer("remove a queue", removed).await.map(drop)
    }
}

/// The broker's answer, or a timeout.
pub(crate) async fn in_time<T>(patience: Duration, asked: impl Future<Output = lapin::Result<T>>) -> lapin::Result<T> {
    let late = |_| Err(lapin::Error::from(std::io::Error::from(std::io::ErrorKind::TimedOut)));
    tokio::time::timeout(patience, asked).await.unwrap_or_else(late)
}

/// Whether a connection still answers, shared by all its users. After one timeout, the others stop waiting: the session
/// ends, and the broker requeues its unacknowledged messages.
#[derive(Debug, Default)]
pub(crate) struct Link(AtomicBool);

impl Link {
    pub(crate) fn is_dead(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Awaits an answer, unless the connection is dead.
    pub(crate) async fn ask<T>(&self, asked: impl Future<Output = lapin::Result<T>>) -> lapin::Result<()> {
        if self.is_dead() {
            return Err(std::io::Error::from(std::io::ErrorKind::NotConnected).into());
        }
        let answer = tokio::time::timeout(PATIENCE, asked).await;
        if answer.is_err() {
            tracing::warn!("the broker does not answer: giving up the connection");
            self.0.store(true, Ordering::SeqCst);
        }
        answer.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?.map(drop)
    }
}

fn is_not_found(error: &lapin::Error) -> bool {
    let not_found = AMQPErrorKind::Soft(AMQPSoftError::NOTFOUND);
    matches!(error.kind(), ErrorKind::ProtocolError(error) if *error.kind() == not_found)
}

pub(crate) fn message(body: &[u8]) -> Option<Message> {
    serde_json::from_slice(body).ok()
}
