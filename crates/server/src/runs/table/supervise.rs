//! Watches the process of one run from its start to its end.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant as Deadline, sleep_until};

use super::super::message::{Begun, Ended, Job, Order, Report, Setup};
use super::super::process::{End, Process};
use super::super::record::Outcome;
use super::{CANCEL_WITHIN, Phase, Runs, unstarted};
use crate::error::Refusal;

impl Runs {
    /// Starts a process and waits until it has begun. Its supervision goes on if the caller goes away.
    pub(super) async fn launch(self: &Arc<Self>, name: String, job: Job) -> Result<(), Refusal> {
        let (told, begun) = oneshot::channel();
        let runs = self.clone();
        self.handle.spawn(async move { runs.supervise(name, job, told).await });
        begun.await.unwrap_or_else(|_| Err(Refusal::internal("the run was lost: see the server's log")))
    }

    /// Watches a run until its process has ended.
    async fn supervise(self: Arc<Self>, name: String, job: Job, told: oneshot::Sender<Result<(), Refusal>>) {
        let plays = !matches!(job, Job::Start { play: false, .. });
        let was_registered = matches!(job, Job::Resume { .. });
        let preparing = self.preparing.acquire().await;
        let setup = Setup { data: self.data.clone(), job };
        let mut process = match Process::start(&self.program, &setup).await {
            Ok(process) => process,
            Err(error) => {
                self.give_up(&name, was_registered, unstarted(&error), told).await;
                return;
            }
        };
        let (orders, mut obeyed) = mpsc::unbounded_channel();
        self.change(&name, |active| {
            let order = match active.phase {
                Phase::Pausing => Some(Order::Pause),
                Phase::Cancelling => Some(Order::Cancel),
                _ => None,
            };
            // It was stopped before it could be told.
            order.into_iter().for_each(|order| _ = orders.send(order));
            active.orders = Some(orders);
        });
        let mut kill_at = None;
        let begun = next(&name, &mut process, &mut obeyed, &mut kill_at).await;
        drop(preparing);
        match begun {
            Some(Report::Begun(begun)) => self.begin(&name, &begun, plays).await,
            Some(Report::Refused(refused)) => {
                self.give_up(&name, was_registered, refused.into(), told).await;
                drop(process.end().await);
                return;
            }
            _ => {
                let end = process.end().await;
                self.give_up(&name, was_registered, Refusal::internal(end.reason()), told).await;
                return;
            }
        }
        let mut told = Some(told);
        if plays {
            answer(&mut told);
        }
        let mut ended = (!plays).then_some(Ended::Stopped);
        while let Some(report) = next(&name, &mut process, &mut obeyed, &mut kill_at).await {
            match report {
                Report::Progress(progress) => {
                    self.change(&name, |active| active.progress = progress);
                    self.notify();
                }
                Report::Ended(how) => ended = Some(how),
                Report::Begun(_) | Report::Refused(_) => {}
            }
        }
        let end = process.end().await;
        if plays || !self.enqueue(&name) {
            self.finish(name, ended, &end).await;
        }
        answer(&mut told);
    }

    /// Notes that an ensemble is registered.
    async fn begin(&self, name: &str, begun: &Begun, plays: bool) {
        let record = {
            let mut state = self.state();
            let Some(active) = state.active.get_mut(name) else { return };
            (active.version, active.worlds, active.before) = (begun.version, begun.worlds, begun.done);
            active.model.clone_from(&begun.model);
            if plays {
                active.began = Some(Instant::now());
                if active.phase == Phase::Starting {
                    active.phase = Phase::Running;
                }
            }
            let record = active.record(None, None);
            state.records.insert(name.to_owned(), record.clone());
            record
        };
        self.save(name, Some(record)).await;
        self.notify();
    }

    /// Ends a run whose process did not begin.
    async fn give_up(
        self: &Arc<Self>,
        name: &str,
        was_registered: bool,
        refusal: Refusal,
        told: oneshot::Sender<Result<(), Refusal>>,
    ) {
        let record = {
            let mut state = self.state();
            let active = state.active.remove(name);
            active.filter(|_| was_registered).map(|active| {
                let record = match active.phase {
                    Phase::Cancelling => active.record(Some(Outcome::Cancelled), None),
                    _ => active.record(Some(Outcome::Failed), Some(refusal.text().to_owned())),
                };
                state.records.insert(name.to_owned(), record.clone());
                record
            })
        };
        if let Some(record) = record {
            self.save(name, Some(record)).await;
        }
        // The client may be gone.
        _ = told.send(Err(refusal));
        self.advance();
        self.notify();
    }

    /// Notes how a run ended.
    async fn finish(self: &Arc<Self>, name: String, ended: Option<Ended>, end: &End) {
        let record = {
            let mut state = self.state();
            let is_closing = state.is_closing;
            let Some(active) = state.active.remove(&name) else { return };
            state.ended += 1;
            let stopped = match active.phase {
                Phase::Cancelling => Some(Outcome::Cancelled),
                Phase::Pausing => Some(Outcome::Paused),
                _ if is_closing => Some(Outcome::Paused),
                _ => None,
            };
            let (outcome, error) = match (ended, stopped) {
                (Some(Ended::Complete), _) => (Outcome::Complete, None),
                (Some(Ended::Enough), _) => (Outcome::Enough, None),
                (Some(Ended::Stopped), stopped) => (stopped.unwrap_or(Outcome::Paused), None),
                (_, Some(Outcome::Cancelled)) => (Outcome::Cancelled, None),
                (Some(Ended::Failed(reason)), _) => (Outcome::Failed, Some(reason)),
                (None, Some(outcome)) if is_closing => (outcome, None),
                (None, _) => (Outcome::Failed, Some(end.reason())),
            };
            let record = active.record(Some(outcome), error);
            state.records.insert(name.clone(), record.clone());
            record
        };
        if let Some(error) = &record.error {
            tracing::warn!(name, error, "a run failed");
        }
        let is_whole = matches!(record.outcome, Some(Outcome::Complete | Outcome::Enough));
        self.save(&name, Some(record).filter(|_| !is_whole)).await;
        self.advance();
        self.notify();
    }
}

/// Tells who started a run that it has begun, once.
fn answer(told: &mut Option<oneshot::Sender<Result<(), Refusal>>>) {
    // The client may be gone.
    told.take().into_iter().for_each(|told| _ = told.send(Ok(())));
}

/// The next report of a process, after passing on orders; `None` once it has ended. A process that does not obey in time
/// is killed at `kill_at`.
async fn next(
    name: &str,
    process: &mut Process,
    orders: &mut mpsc::UnboundedReceiver<Order>,
    kill_at: &mut Option<Deadline>,
) -> Option<Report> {
    loop {
        let patience = async {
            match *kill_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            report = process.report() => return report,
            Some(order) = orders.recv() => {
                if let Err(error) = process.order(order).await {
                    tracing::debug!(%error, name, "a run ended before its order");
                }
                if order == Order::Cancel {
                    *kill_at = Some(Deadline::now() + CANCEL_WITHIN);
                }
            }
            () = patience => {
                process.kill();
                *kill_at = None;
            }
        }
    }
}
