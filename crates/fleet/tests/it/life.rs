//! What can be said to a fleet while it plays, and what it refuses.

use std::sync::Arc;
use std::time::Duration;

use disk::RealDisk;
use fleet::{Broker, Halt, Ledger, State};

use crate::support::{Site, embedded, make_slow, plan};

const SLOW: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_ensemble_stands_still_until_it_is_resumed() {
    let site = Site::new().await;
    let worker = site.worker_with(make_slow(SLOW), Arc::new(RealDisk), 2);
    site.submit(plan("e", 1, 400, 10)).await.unwrap();
    site.until_it("e", |e| e.ranges_done >= 2).await;
    fleet::pause(&site.ledger, "e").await.unwrap();
    // What was begun is finished.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let paused = site.status("e").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((paused.state, site.status("e").await.ranges_done), (State::Paused, paused.ranges_done));
    assert!(paused.ranges_done < paused.ranges, "{paused:?}");
    let again = fleet::pause(&site.ledger, "e").await.unwrap_err().to_string();
    assert_eq!(again, "ensemble \"e\" is paused: only a running ensemble can be paused");
    fleet::resume(&site.ledger, "e").await.unwrap();
    site.until("e", &[State::Complete]).await;
    assert_eq!(site.verified("e").await, embedded(plan("e", 1, 400, 10)).await);
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_ensemble_keeps_what_it_has_and_can_be_tried_again() {
    let site = Site::new().await;
    let worker = site.worker_with(make_slow(SLOW), Arc::new(RealDisk), 1);
    site.submit(plan("e", 1, 300, 10)).await.unwrap();
    site.until_it("e", |e| e.ranges_done >= 2).await;
    fleet::cancel(&site.ledger, "e").await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let cancelled = site.status("e").await;
    assert_eq!(cancelled.state, State::Cancelled);
    assert_eq!(site.stored("e").await.worlds() as i64, cancelled.worlds_done);
    let refused = fleet::resume(&site.ledger, "e").await.unwrap_err().to_string();
    assert_eq!(refused, "ensemble \"e\" is cancelled: only a paused ensemble can be resumed");
    assert_eq!(fleet::retry(&site.ledger, "e").await.unwrap(), 0);
    site.until("e", &[State::Complete]).await;
    assert_eq!(site.verified("e").await, embedded(plan("e", 1, 300, 10)).await);
    let refused = fleet::cancel(&site.ledger, "e").await.unwrap_err().to_string();
    assert_eq!(refused, "ensemble \"e\" is complete: an ensemble that has ended cannot be cancelled");
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_drains_finishes_what_it_has_begun_and_leaves_the_rest() {
    let site = Site::new().await;
    let first = site.worker_with(make_slow(SLOW), Arc::new(RealDisk), 2);
    site.submit(plan("e", 1, 600, 10)).await.unwrap();
    site.until_it("e", |e| e.ranges_done >= 2).await;
    first.end().await;
    let left = site.status("e").await;
    assert!(left.ranges_done < left.ranges && left.workers.iter().all(|w| !w.is_there), "{left:?}");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(site.status("e").await.ranges_done, left.ranges_done);
    let second = site.worker();
    site.until("e", &[State::Complete]).await;
    assert_eq!(site.verified("e").await, embedded(plan("e", 1, 600, 10)).await);
    second.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_told_to_end_now_drops_what_it_has_begun() {
    let site = Site::new().await;
    let first = site.worker_with(make_slow(SLOW), Arc::new(RealDisk), 1);
    site.submit(plan("e", 1, 200, 10)).await.unwrap();
    site.until_it("e", |e| e.ranges_done >= 1).await;
    first.halt.send(Halt::Now).unwrap();
    let second = site.worker();
    let status = site.until("e", &[State::Complete]).await;
    assert_eq!(status.ranges_failed, 0);
    assert_eq!(site.verified("e").await, embedded(plan("e", 1, 200, 10)).await);
    second.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_told_in_one_sentence() {
    let site = Site::new().await;
    let unknown = fleet::cancel(&site.ledger, "zzz").await.unwrap_err().to_string();
    assert_eq!(unknown, "the fleet has no ensemble \"zzz\": nothing was submitted to it yet");
    site.submit(plan("real", 1, 10, 10)).await.unwrap();
    let unknown = fleet::cancel(&site.ledger, "zzz").await.unwrap_err().to_string();
    assert_eq!(unknown, "the fleet has no ensemble \"zzz\"; there are: real");
    for (url, said) in [
        ("http://x", "invalid ledger address \"http://x\": write it as postgres://user:password@host:5432/database"),
        ("postgres://me:se/cret@host:port/x", "invalid ledger address \"postgres://...@host:port/x\": "),
        ("postgres://127.0.0.1:1/none", "the ledger at 127.0.0.1:1 could not be reached: "),
    ] {
        let error = Ledger::open(url).await.unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
    }
    let (user, rest) = site.ledger_url.split_once('@').unwrap();
    let wrong = format!("{}:wrong@{rest}", user.rsplit_once(':').unwrap().0);
    let error = Ledger::open(&wrong).await.unwrap_err().to_string();
    assert!(error.contains("could not be reached") && error.contains("password authentication failed"), "{error}");
    assert!(!error.contains("wrong"), "a password is told: {error}");
    let error = Broker::new("zzz", &site.ledger).unwrap_err().to_string();
    assert!(error.starts_with("invalid broker address \"zzz\": write it as amqp://"), "{error}");
    let nobody = Broker::new("amqp://127.0.0.1:1/%2f", &site.ledger).unwrap();
    let error = nobody.connect().await.unwrap_err().to_string();
    assert!(error.starts_with("the broker at 127.0.0.1:1 could not be reached: "), "{error}");
    let url = std::env::var("MANYWORLDS_BROKER").unwrap();
    let (user, rest) = url.split_once('@').unwrap();
    let wrong = format!("{}:wrong@{rest}", user.rsplit_once(':').unwrap().0);
    let error = Broker::new(&wrong, &site.ledger).unwrap().connect().await.unwrap_err().to_string();
    assert!(error.contains("could not be reached") && error.contains("ACCESS"), "{error}");
}
