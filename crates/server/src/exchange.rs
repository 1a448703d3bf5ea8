//! Requests of a connection that are being answered, and replies that the client does not read.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::Instant;

/// What happens on a connection.
#[derive(Debug)]
pub(crate) struct Activity(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Requests whose replies are not complete.
    exchanges: usize,
    /// Those with a part of the reply that the client has not read.
    unread: usize,
    /// When a request began, or a part of a reply was made.
    moved: Instant,
}

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { exchanges: 0, unread: 0, moved: Instant::now() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(self: &Arc<Self>) -> Exchange {
        let mut state = self.state();
        state.exchanges += 1;
        state.moved = Instant::now();
        Exchange { activity: self.clone(), is_unread: false }
    }

    /// Whether only the client could have done something for so long: there was no request, or it did not read.
    pub(crate) fn waits_for_client(&self, since: Duration) -> bool {
        let state = self.state();
        state.unread == state.exchanges && state.moved.elapsed() >= since
    }
}

/// A request until its reply is complete.
#[derive(Debug)]
pub(crate) struct Exchange {
    activity: Arc<Activity>,
    is_unread: bool,
}

impl Exchange {
    /// The body of the reply.
    pub(crate) fn reply(self, body: Body) -> Reply {
        Reply { body, exchange: self }
    }

    fn set_unread(&mut self, is_unread: bool) {
        if self.is_unread != is_unread {
            let mut state = self.activity.state();
            state.unread = if is_unread { state.unread + 1 } else { state.unread - 1 };
            state.moved = Instant::now();
            self.is_unread = is_unread;
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.set_unread(false);
        let mut state = self.activity.state();
        state.exchanges -= 1;
        state.moved = Instant::now();
    }
}

/// The body of a reply, which knows whether the client reads it: only then the next part is asked for.
pub(crate) struct Reply {
    body: Body,
    exchange: Exchange,
}

impl HttpBody for Reply {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, exchange } = self.get_mut();
        let polled = Pin::new(body).poll_frame(context);
        exchange.set_unread(matches!(polled, Poll::Ready(Some(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_connection_waits_for_its_client_between_requests_and_while_it_does_not_read() {
        let activity = Activity::new();
        let waits = || activity.waits_for_client(Duration::ZERO);
        assert!(waits() && !activity.waits_for_client(Duration::from_hours(1)));
        let (question, other) = (activity.begin(), activity.begin());
        assert!(!waits());
        drop(other);
        assert!(!waits());

        let (parts, body) = tokio::sync::mpsc::channel::<Result<Bytes, std::io::Error>>(1);
        let stream = futures::stream::unfold(body, async |mut body| Some((body.recv().await?, body)));
        let mut reply = question.reply(Body::from_stream(stream));
        let mut next = || poll_fn(|context| Pin::new(&mut reply).poll_frame(context)).now_or_never();
        assert!(next().is_none());
        assert!(!waits(), "the client waits for a part");
        parts.send(Ok(Bytes::from_static(b"a"))).await.unwrap();
        assert!(matches!(next(), Some(Some(Ok(_)))));
        assert!(waits(), "the client has not read the part");
        assert!(next().is_none());
        assert!(!waits(), "the client has read the part");
        drop(reply);
        assert!(waits());
    }
}
