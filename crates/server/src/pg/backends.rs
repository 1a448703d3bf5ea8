//! Connections by number (PostgreSQL's `pid`), and what ends their statements: cancel requests, and the functions
//! `pg_cancel_backend` and `pg_terminate_backend`.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{Notify, oneshot};

use super::error::PgError;
use super::words::{Word, Words};

/// Connections by number, so that a cancel request finds its statement.
#[derive(Debug, Default)]
pub(super) struct Running(Mutex<HashMap<i32, Arc<Slot>>>);

/// The running statement of one connection.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) secret: i32,
    /// The name of the token that the client logged in with, if the server has tokens.
    owner: OnceLock<Option<String>>,
    cancel: Mutex<Option<oneshot::Sender<()>>>,
    terminated: Notify,
}

/// A connection's entry; dropping it frees the number.
pub(super) struct Key<'a> {
    running: &'a Running,
    pub(super) number: i32,
    pub(super) slot: Arc<Slot>,
}

impl Running {
    pub(super) fn enter(&self) -> io::Result<Key<'_>> {
        let mut random = [0; 8];
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            getrandom::fill(&mut random).map_err(io::Error::other)?;
            let [a, b, c, d, e, f, g, h] = random;
            let number = i32::from_be_bytes([a & 0x7f, b, c, d]);
            if running.contains_key(&number) {
                continue;
            }
            let secret = i32::from_be_bytes([e, f, g, h]);
            let slot = Slot { secret, owner: OnceLock::new(), cancel: Mutex::default(), terminated: Notify::new() };
            let slot = Arc::new(slot);
            running.insert(number, slot.clone());
            return Ok(Key { running: self, number, slot });
        }
    }

    fn find(&self, number: i32) -> Option<Arc<Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    /// Cancels the running statement of a connection if `secret` matches.
    pub(super) fn cancel(&self, number: i32, secret: i32) {
        if let Some(slot) = self.find(number).filter(|slot| slot.secret == secret) {
            slot.cancel();
        }
    }

    /// Cancels the running statement of a connection of the token `owner`, and may end the connection. Returns whether
    /// there is one.
    pub(super) fn stop(&self, stop: Stop, owner: Option<&str>) -> bool {
        let Some(slot) = self.find(stop.number).filter(|slot| slot.is_of(owner)) else { return false };
        if stop.terminates {
            slot.terminated.notify_one();
        }
        slot.cancel();
        true
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

impl Slot {
    /// Notes the token that the client logged in with.
    pub(super) fn is_now_of(&self, owner: Option<&str>) {
        let _ = self.owner.set(owner.map(str::to_owned));
    }

    fn is_of(&self, owner: Option<&str>) -> bool {
        self.owner.get().is_some_and(|own| own.as_deref() == owner)
    }

    /// Waits until another connection ends this one.
    pub(super) async fn terminated(&self) {
        self.terminated.notified().await;
    }

    fn cancel(&self) {
        let running = self.cancel.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(cancel) = running
            && cancel.send(()).is_err()
        {
            tracing::debug!("a statement ended before its cancellation");
        }
    }

    /// Begins a statement; the receiver ends when a request cancels it.
    pub(super) fn begin(&self) -> oneshot::Receiver<()> {
        let (cancel, cancelled) = oneshot::channel();
        *self.cancel.lock().unwrap_or_else(PoisonError::into_inner) = Some(cancel);
        cancelled
    }

    pub(super) fn end(&self) {
        *self.cancel.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A call of `pg_cancel_backend` or `pg_terminate_backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop {
    number: i32,
    terminates: bool,
}

impl Stop {
    /// The name of the function, and of its column.
    pub(super) fn name(self) -> &'static str {
        if self.terminates { "pg_terminate_backend" } else { "pg_cancel_backend" }
    }

    /// Parses `SELECT pg_cancel_backend(7)`, and the form of tools: `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    /// WHERE pid = 7`. `None` for any other statement.
    pub(super) fn of(sql: &str) -> Result<Option<Self>, PgError> {
        let mut words = Words::of(sql);
        if !words.take("select")? {
            return Ok(None);
        }
        let terminates = match without_schema(&mut words)?.as_deref() {
            Some("pg_cancel_backend") => false,
            Some("pg_terminate_backend") => true,
            _ => return Ok(None),
        };
        if !words.take("(")? {
            return Ok(None);
        }
        let number = if words.take("pid")? {
            let is_known = words.take(")")?
                && words.take("from")?
                && without_schema(&mut words)?.as_deref() == Some("pg_stat_activity")
                && words.take("where")?
                && words.take("pid")?
                && words.take("=")?;
            if is_known { number(&mut words)? } else { None }
        } else {
            let number = number(&mut words)?;
            if words.take(")")? { number } else { None }
        };
        let is_over = words.next()?.is_none();
        Ok(number.filter(|_| is_over).map(|number| Self { number, terminates }))
    }
}

/// A plain name, without `pg_catalog` before it.
fn without_schema(words: &mut Words<'_>) -> Result<Option<String>, PgError> {
    if words.take("pg_catalog")? {
        words.expect(".")?;
    }
    Ok(match words.next()? {
        Some(Word::Plain(name)) => Some(name),
        _ => None,
    })
}

fn number(words: &mut Words<'_>) -> Result<Option<i32>, PgError> {
    Ok(match words.next()? {
        Some(Word::Plain(number) | Word::Text(number)) => number.parse().ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_stop_others_are_known() {
        let stop = |number, terminates| Some(Stop { number, terminates });
        for (sql, expected) in [
            ("SELECT pg_cancel_backend(7)", stop(7, false)),
            ("select pg_catalog.pg_terminate_backend('7')", stop(7, true)),
            ("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid='7'", stop(7, true)),
            ("SELECT pg_cancel_backend(pid) FROM pg_catalog.pg_stat_activity WHERE pid = 7", stop(7, false)),
            ("SELECT pg_cancel_backend(pid) FROM pg_stat_activity", None),
            ("SELECT pg_cancel_backend(7), 1", None),
            ("SELECT pg_cancel_backend(7) FROM t", None),
            ("SELECT pg_cancel_backend(x)", None),
            ("SELECT 1", None),
        ] {
            assert_eq!(Stop::of(sql).unwrap(), expected, "{sql}");
        }
    }

    #[test]
    fn tokens_stop_their_own_connections_only() {
        let running = Running::default();
        let entered = running.enter().unwrap();
        let stop = Stop { number: entered.number, terminates: false };
        assert!(!running.stop(stop, None), "nobody has logged in");
        entered.slot.is_now_of(Some("a"));
        for (owner, expected) in [(Some("b"), false), (None, false), (Some("a"), true)] {
            assert_eq!(running.stop(stop, owner), expected, "{owner:?}");
        }
        let mut cancelled = entered.slot.begin();
        assert!(running.stop(stop, Some("a")));
        assert!(cancelled.try_recv().is_ok());
        let other = Stop { number: entered.number ^ 1, ..stop };
        assert!(!running.stop(other, Some("a")));
    }
}
