//! Work of a question on other threads, which may go on for a while after nobody waits for the answer.

use std::any::Any;
use std::future::Future;
use std::sync::{Arc, Once};

use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use futures::FutureExt as _;
use futures::future::BoxFuture;

type Held = Arc<dyn Any + Send + Sync>;
type Outcome = Box<dyn Any + Send>;

tokio::task_local! {
    static HELD: Held;
}

/// Does `work`, and keeps `held` until the last piece of it has ended, also of what it began on other threads. Whoever
/// drops the future before its end asks for the pieces to end; they do so between two batches of rows.
pub async fn holding<W: Future>(held: Arc<dyn Any + Send + Sync>, work: W) -> W::Output {
    static TRACED: Once = Once::new();
    // Nobody else sets it: no other crate names DataFusion.
    TRACED.call_once(|| drop(set_join_set_tracer(&Pieces)));
    HELD.scope(held, work).await
}

/// Hands on what is held to all that a question begins.
struct Pieces;

impl JoinSetTracer for Pieces {
    fn trace_future(&self, piece: BoxFuture<'static, Outcome>) -> BoxFuture<'static, Outcome> {
        match HELD.try_get() {
            Ok(held) => HELD.scope(held, piece).boxed(),
            Err(_) => piece,
        }
    }

    fn trace_block(&self, piece: Box<dyn FnOnce() -> Outcome + Send>) -> Box<dyn FnOnce() -> Outcome + Send> {
        match HELD.try_get() {
            Ok(held) => Box::new(move || HELD.sync_scope(held, piece)),
            Err(_) => piece,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use datafusion::common::runtime::SpawnedTask;

    use super::*;

    #[tokio::test]
    async fn work_that_was_given_up_is_held_until_it_ends() {
        let held = Arc::new(());
        let (begun, began) = tokio::sync::oneshot::channel();
        let (go, wait) = mpsc::channel::<()>();
        let (ended, end) = tokio::sync::oneshot::channel();
        let inner = held.clone();
        let question = tokio::spawn(holding(inner, async move {
            // A piece that a piece begins.
            let piece = SpawnedTask::spawn(async move {
                let blocking = SpawnedTask::spawn_blocking(move || {
                    begun.send(()).unwrap();
                    wait.recv().unwrap();
                    ended.send(()).unwrap();
                });
                blocking.await.unwrap();
            });
            piece.await.unwrap();
        }));
        began.await.unwrap();
        question.abort();
        assert!(question.await.unwrap_err().is_cancelled());
        assert!(Arc::strong_count(&held) > 1, "its work goes on");
        go.send(()).unwrap();
        end.await.unwrap();
        while Arc::strong_count(&held) > 1 {
            tokio::task::yield_now().await;
        }
    }
}
