//! Runs queries on separate threads, with limits on their number and time.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinHandle};

use crate::access::Access;
use crate::error::Refusal;

/// The executor of queries, separate so that heavy queries do not slow down ingest.
#[derive(Debug)]
pub(crate) struct Questions {
    /// `None` once it is dropped.
    runtime: Option<Runtime>,
    handle: Handle,
    room: Arc<Semaphore>,
    /// Places per token, by its name. An entry lives while a query holds or awaits one of its places.
    shares: Mutex<HashMap<String, Weak<Semaphore>>>,
    places: usize,
    patience: Duration,
}

/// The place of a running query. It is freed when the last part of the query's work drops it, even long after the
/// client got its reply or left.
#[derive(Debug, Clone)]
pub(crate) struct Place(Arc<Held>);

#[derive(Debug)]
struct Held {
    given_up: AtomicBool,
    _permit: OwnedSemaphorePermit,
    /// `None` if the server has no tokens.
    _share: Option<OwnedSemaphorePermit>,
}

impl Place {
    /// Whether the query is cancelled.
    pub(crate) fn is_given_up(&self) -> bool {
        self.0.given_up.load(Ordering::Relaxed)
    }
}

/// A running query; dropping it before the answer cancels the query.
struct Asked<T> {
    task: JoinHandle<T>,
    place: Place,
}

impl<T> Drop for Asked<T> {
    fn drop(&mut self) {
        self.place.0.given_up.store(true, Ordering::Relaxed);
        self.task.abort();
    }
}

impl Questions {
    /// Allows `places` queries at once, each limited to `patience`.
    pub(crate) fn new(places: usize, patience: Duration) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().enable_all().thread_name("question").build()?;
        let handle = runtime.handle().clone();
        Ok(Self {
            runtime: Some(runtime),
            handle,
            room: Arc::new(Semaphore::new(places)),
            shares: Mutex::default(),
            places,
            patience,
        })
    }

    /// The runtime of the queries.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Queries that are still running.
    pub(crate) fn running(&self) -> usize {
        self.places - self.room.available_permits()
    }

    /// Runs a query once a place is free. Dropping the future cancels it.
    ///
    /// # Errors
    /// 503 if no place became free in time, 408 if the query took too long, or the error of `work`.
    pub(crate) async fn ask<T, W>(&self, access: &Access, work: impl FnOnce(Place) -> W) -> Result<T, Refusal>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, Refusal>> + Send + 'static,
    {
        self.ask_within(access, self.patience, work).await
    }

    /// See [`Self::ask`]; with its own time limit.
    pub(crate) async fn ask_within<T, W>(
        &self,
        access: &Access,
        patience: Duration,
        work: impl FnOnce(Place) -> W,
    ) -> Result<T, Refusal>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, Refusal>> + Send + 'static,
    {
        let place = self.place(access).await?;
        let task = self.handle.spawn(work(place.clone()));
        let mut asked = Asked { task, place };
        let Ok(answered) = tokio::time::timeout(patience, &mut asked.task).await else {
            let text = format!("the query took longer than {} s: reduce its work", patience.as_secs_f64());
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, text));
        };
        answered.map_err(|e| broken(&e))?
    }

    async fn place(&self, access: &Access) -> Result<Place, Refusal> {
        let busy = |_| {
            let (places, seconds) = (self.places, self.patience.as_secs());
            let text = format!("{places} queries are running, and none ended within {seconds} s: retry later");
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5)
        };
        let granted = async {
            let share = match access.name() {
                Some(name) => Some(self.share(name).await?),
                None => None,
            };
            let permit = self.room.clone().acquire_owned().await?;
            Ok::<_, AcquireError>(Held { given_up: AtomicBool::new(false), _permit: permit, _share: share })
        };
        let held = tokio::time::timeout(self.patience, granted).await.map_err(busy)?;
        let held = held.map_err(|_| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is closing"))?;
        Ok(Place(Arc::new(held)))
    }

    /// Reserves one of the token's places. A token has one place fewer than the server, so other tokens always find
    /// one.
    async fn share(&self, token: &str) -> Result<OwnedSemaphorePermit, AcquireError> {
        let share = {
            let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
            shares.retain(|_, share| share.strong_count() > 0);
            let known = shares.get(token).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let new = Arc::new(Semaphore::new(self.places.saturating_sub(1).max(1)));
                shares.insert(token.to_owned(), Arc::downgrade(&new));
                new
            })
        };
        // A permit keeps its semaphore alive.
        share.acquire_owned().await
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        // Waiting for the threads here would block the caller.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

pub(crate) fn broken(error: &JoinError) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the query failed: {error}"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    async fn until_none_runs(questions: &Questions) {
        let ended = async {
            while questions.running() > 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), ended).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_question_that_was_given_up_keeps_its_place_until_its_work_ends() {
        let (questions, all) = (Questions::new(1, Duration::from_millis(20)).unwrap(), Access::all());
        let (go, wait) = mpsc::channel::<()>();
        let (saw, seen) = mpsc::channel();
        let status = |refused: Result<(), Refusal>| refused.unwrap_err().status();
        let slow = questions.ask(&all, |place| async move {
            let work = tokio::task::spawn_blocking(move || {
                wait.recv().unwrap();
                saw.send(place.is_given_up()).unwrap();
                drop(place);
            });
            work.await.map_err(|e| broken(&e))
        });
        assert_eq!(status(slow.await), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(questions.running(), 1);
        assert_eq!(status(questions.ask(&all, |_| async { Ok(()) }).await), StatusCode::SERVICE_UNAVAILABLE);
        go.send(()).unwrap();
        assert!(seen.recv().unwrap(), "the work can see that nobody waits for it");
        until_none_runs(&questions).await;
        assert!(questions.ask(&all, |_| async { Ok(()) }).await.is_ok());
    }

    #[tokio::test]
    async fn a_question_whose_client_goes_away_ends() {
        let (questions, all) = (Questions::new(1, Duration::from_hours(1)).unwrap(), Access::all());
        let asked = questions.ask(&all, |_| std::future::pending::<Result<(), Refusal>>());
        assert!(tokio::time::timeout(Duration::from_millis(20), asked).await.is_err());
        until_none_runs(&questions).await;
    }
}
