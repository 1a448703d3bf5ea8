//! Playing ensembles: models, runs, and what becomes of them.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::Stream;
use futures::stream::unfold;
use serde::Deserialize;
use serde_json::Value;
use table::SIM;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::access::Access;
use crate::app::App;
use crate::authenticate;
use crate::error::{Refusal, UNKNOWN_NAME};
use crate::runs::Fleet;
use crate::runs::message::Wish;
use crate::runs::refuse::{conflict, of_ensemble, of_fleet};
use crate::runs::status::{Action, By, Run, Status};
use crate::runs::table::Active;

/// Minimum time between two events of a stream.
const EVENT_EACH: Duration = Duration::from_millis(250);
/// Time between comments on a quiet stream.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Time between checks that the token of a stream is still valid.
const ACCESS_EACH: Duration = Duration::from_secs(2);

/// Describes the models.
pub(crate) async fn models(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Vec<Value>>, Refusal> {
    access.may_read_of(SIM)?;
    Ok(Json(app.models.0.iter().map(|plugin| plugin.description()).collect()))
}

type Accepted = (StatusCode, Json<Run>);

/// Starts a run.
pub(crate) async fn run(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Accepted, Refusal> {
    access.may_write(SIM)?;
    let (name, wish) = app.wish(body).await?;
    app.watch.runs.start(name.clone(), wish).await?;
    Ok((StatusCode::ACCEPTED, Json(app.find_run(&name).await?)))
}

/// Submits a run to the fleet.
pub(crate) async fn submit(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Accepted, Refusal> {
    access.may_write(SIM)?;
    let (name, wish) = app.wish(body).await?;
    let fleet = app.fleet()?;
    let no_broker =
        || conflict("this server has no broker for its fleet: its operator can set \"broker\" and restart it");
    let broker = fleet.settings.broker.clone().ok_or_else(no_broker)?;
    if wish.extend {
        let text = "a fleet does not extend ensembles: submit more worlds under another name, or run it here";
        return Err(Refusal::bad(text).with("field", "extend".into()));
    }
    if app.watch.runs.has(&name) {
        return Err(conflict(format!("ensemble {name:?} is being played already")));
    }
    let name = app.watch.runs.submit(wish, fleet.settings.ledger.clone(), broker).await?;
    fleet.ask().await;
    app.watch.renew().await;
    Ok((StatusCode::ACCEPTED, Json(app.find_run(&name).await?)))
}

/// Reports what runs.
pub(crate) async fn status(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Status>, Refusal> {
    access.may_read_of(SIM)?;
    let status = app.watch.status().await.map_err(of_ensemble)?;
    Ok(Json(Status::clone(&status)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    ensemble: String,
}

/// Stops a run at the end of its ranges.
pub(crate) async fn pause(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Run>, Refusal> {
    app.act(&access, body, Action::Pause).await
}

/// Continues a paused run.
pub(crate) async fn resume(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Run>, Refusal> {
    app.act(&access, body, Action::Resume).await
}

/// Stops a run now.
pub(crate) async fn cancel(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Run>, Refusal> {
    app.act(&access, body, Action::Cancel).await
}

/// Continues a failed or cancelled run.
pub(crate) async fn retry(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Run>, Refusal> {
    app.act(&access, body, Action::Retry).await
}

impl App {
    /// Reads what to play, and the name of its ensemble.
    async fn wish(&self, body: Body) -> Result<(String, Wish), Refusal> {
        let wish = Wish::read(&self.question_body(body).await?)?;
        wish.check()?;
        let name = wish.ensemble(self.models.find(&wish.model)?);
        ensemble::check_name(&name).map_err(|error| Refusal::bad(error.to_string()).with("field", "name".into()))?;
        Ok((name, wish))
    }

    fn fleet(&self) -> Result<&Arc<Fleet>, Refusal> {
        let text = "this server has no fleet: its operator can set \"ledger\" and \"broker\", and restart it";
        self.watch.fleet.as_ref().ok_or_else(|| conflict(text))
    }

    /// # Errors
    /// 404 if nothing of this name runs, or could go on.
    async fn find_run(&self, name: &str) -> Result<Run, Refusal> {
        let status = self.watch.status().await.map_err(of_ensemble)?;
        let found = status.runs.iter().find(|run| run.ensemble == name).cloned();
        found.ok_or_else(|| {
            let text = format!("no run of ensemble {name:?}");
            Refusal::new(StatusCode::NOT_FOUND, text).of_kind(UNKNOWN_NAME)
        })
    }

    async fn act(&self, access: &Access, body: Body, action: Action) -> Result<Json<Run>, Refusal> {
        access.may_write(SIM)?;
        let Named { ensemble: name } = self.question(body).await?;
        self.watch.renew().await;
        let mut run = self.find_run(&name).await?;
        if run.by == By::Fleet {
            // Whoever acts sees the ledger as it is now, not as it was up to 300 ms ago.
            self.fleet()?.ask().await;
            self.watch.renew().await;
            run = self.find_run(&name).await?;
        }
        if !run.can.contains(&action) {
            return Err(refused(&run, action));
        }
        let runs = &self.watch.runs;
        if run.by == By::Fleet {
            let fleet = self.fleet()?;
            let ledger = fleet.ledger().await.map_err(of_fleet)?;
            let done = match action {
                Action::Pause => fleet::pause(&ledger, &name).await,
                Action::Resume => fleet::resume(&ledger, &name).await,
                Action::Cancel => fleet::cancel(&ledger, &name).await,
                Action::Retry => fleet::retry(&ledger, &name).await.map(drop),
            };
            done.map_err(of_fleet)?;
            fleet.ask().await;
            self.watch.renew().await;
        } else if runs.has(&name) {
            match action {
                Action::Pause => runs.pause(&name).await,
                _ => runs.cancel(&name).await,
            }
        } else {
            let tables =
                self.watch.stored.look(&self.settings.data, self.watch.runs.ended()).await.map_err(of_ensemble)?;
            let newest = tables.newest.iter().find(|newest| newest.name == name);
            let newest = newest.ok_or_else(|| conflict(format!("ensemble {name:?} was dropped meanwhile")))?;
            match action {
                Action::Cancel => runs.abandon(&name, Active::of(newest)).await,
                _ => runs.resume(name.clone(), Active::of(newest)).await?,
            }
        }
        Ok(Json(self.find_run(&name).await?))
    }
}

/// The refusal of an action that the state of a run forbids.
fn refused(run: &Run, action: Action) -> Refusal {
    let (name, state) = (&run.ensemble, run.state);
    let verb = match action {
        Action::Pause => "paused",
        Action::Resume => "resumed",
        Action::Cancel => "cancelled",
        Action::Retry => "retried",
    };
    if run.by == By::Elsewhere && state == "running" {
        return conflict(format!(
            "ensemble {name:?} is played by another program: stop it there, it cannot be {verb} here"
        ));
    }
    conflict(format!("ensemble {name:?} is {state}: it cannot be {verb}"))
}

/// Sends the status whenever it changes.
pub(crate) async fn stream(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    access.may_read_of(SIM)?;
    let changes = app.watch.runs.changes();
    let (now, access_at) = (Instant::now(), Instant::now());
    let watcher = Watcher { app, headers, uri, changes, sent: None, next_at: now, access_at, ready: VecDeque::new() };
    let events = unfold(watcher, async |mut watcher| Some((Ok(watcher.next().await?), watcher)));
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("still here")))
}

/// A client that watches.
struct Watcher {
    app: App,
    headers: HeaderMap,
    uri: Uri,
    changes: watch::Receiver<u64>,
    /// The last status as text, and the number of changes of the list of ensembles.
    sent: Option<(String, u64)>,
    next_at: Instant,
    access_at: Instant,
    ready: VecDeque<Event>,
}

impl Watcher {
    /// The next event; `None` once the server closes, or the token is revoked.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            tokio::time::sleep_until(self.next_at).await;
            if self.sent.is_some() {
                // Tables and fleets do not notify.
                _ = tokio::time::timeout(EVENT_EACH, self.changes.changed()).await;
            }
            if self.app.closing.load(Ordering::Relaxed) || !self.may_read().await {
                return None;
            }
            self.look().await;
        }
    }

    async fn may_read(&mut self) -> bool {
        if self.access_at.elapsed() < ACCESS_EACH {
            return true;
        }
        self.access_at = Instant::now();
        let access = authenticate::access(&self.app, &self.headers, &self.uri, None).await;
        access.is_ok_and(|access| access.may_read_of(SIM).is_ok())
    }

    /// Prepares events about what has changed.
    async fn look(&mut self) {
        let status = match self.app.watch.status().await {
            Ok(status) => status,
            Err(error) => {
                // The tables may be readable again at the next look.
                tracing::warn!(%error, "cannot read what runs");
                self.next_at = Instant::now() + EVENT_EACH;
                return;
            }
        };
        let Ok(text) = serde_json::to_string(&*status) else { return };
        let (before, lists) = self.sent.as_ref().map_or((None, status.lists), |(text, lists)| (Some(text), *lists));
        if before != Some(&text) {
            self.ready.push_back(Event::default().event("status").data(&text));
        }
        if lists != status.lists {
            self.ready.push_back(Event::default().event("ensembles").data("{}"));
        }
        if !self.ready.is_empty() {
            self.next_at = Instant::now() + EVENT_EACH;
        }
        self.sent = Some((text, status.lists));
    }
}
