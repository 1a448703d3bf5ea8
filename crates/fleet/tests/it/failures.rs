//! What fails, fails for itself.

use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use disk::watched::{Operation, WatchedDisk};
use disk::{Disk, RealDisk};
use fleet::State;
use lapin::options::{BasicGetOptions, BasicPublishOptions};
use world::World;

use crate::support::{Count, Site, embedded, make_dice, make_failing, make_slow, make_with, plan};

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_panics_on_one_world_fails_its_range_alone() {
    let site = Site::new().await;
    let tries = Count::default();
    let counted = tries.clone();
    let make = make_with(move |range| {
        if range.contains(World(137)) {
            if range.count() == 20 {
                counted.more();
            }
            panic!("a die fell off the table");
        }
    });
    let worker = site.worker_with(make, Arc::new(RealDisk), 2);
    site.submit(plan("e", 1, 400, 20)).await.unwrap();
    let status = site.until("e", &[State::Failed]).await;
    assert_eq!((status.worlds_done, status.worlds_failed, status.ranges_failed), (380, 20, 1));
    assert_eq!(tries.get(), 5, "it is tried five times");
    let [failure] = &status.failures[..] else { panic!("{status:?}") };
    assert_eq!((failure.range.as_str(), failure.is_given_up), ("00000120-00000139", true));
    let reason =
        "worlds 00000120-00000139 could not be played: the model panicked on world 137: a die fell off the table";
    assert_eq!(failure.reason, reason);
    // The rest is there to be asked about.
    let stored = site.stored("e").await;
    assert_eq!((stored.worlds(), stored.state()), (380, "incomplete"));
    worker.end().await;
    // Once the model is mended, what failed is played.
    assert_eq!(fleet::retry(&site.ledger, "e").await.unwrap(), 1);
    let mended = site.worker();
    site.until("e", &[State::Complete]).await;
    assert_eq!(site.verified("e").await, embedded(plan("e", 1, 400, 20)).await);
    mended.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ledger_keeps_the_models_message() {
    let site = Site::new().await;
    let worker = site.worker_with(make_failing(World(37), "no die\nleft"), Arc::new(RealDisk), 2);
    site.submit(plan("e", 1, 60, 20)).await.unwrap();
    let status = site.until("e", &[State::Failed]).await;
    let [failure] = &status.failures[..] else { panic!("{status:?}") };
    let reason = "worlds 00000020-00000039 could not be played: model dice failed in world 37: no die\nleft";
    assert_eq!((failure.reason.as_str(), status.worlds_done), (reason, 40));
    worker.end().await;
}

/// A disk that is full, but for the log.
fn full_disk() -> Arc<dyn Disk> {
    Arc::new(WatchedDisk::over(RealDisk, |operation, path| {
        let is_segment = path.file_name().is_some_and(|name| name.to_string_lossy().contains(".parquet"));
        let is_full = operation == Operation::Create && is_segment;
        if is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_of_one_worker_leaves_its_ranges_to_the_others() {
    let site = Site::new().await;
    let full = site.worker_with(make_dice(), full_disk(), 1);
    site.submit(plan("e", 1, 600, 20)).await.unwrap();
    let troubled = |e: &fleet::EnsembleStatus| e.workers.iter().any(|w| w.trouble.is_some());
    let status = site.until_it("e", troubled).await;
    assert_eq!((status.state, status.worlds_done), (State::Running, 0));
    let trouble = status.workers[0].trouble.clone().unwrap();
    assert!(trouble.contains("00000") && trouble.contains(".parquet"), "{trouble}");
    // What it gave back is nobody's: were its message lost, it would be made anew.
    let started = Instant::now();
    while site.ask::<i64>("SELECT count(*) FROM ranges WHERE worker IS NOT NULL").await > 0 {
        assert!(started.elapsed() < Duration::from_mins(1), "it keeps a range that it cannot write");
    }
    let well = site.worker();
    let status = site.until("e", &[State::Complete]).await;
    assert_eq!((status.ranges_failed, full.count("worlds_total"), well.count("worlds_total")), (0, 0, 600));
    assert_eq!(site.verified("e").await, embedded(plan("e", 1, 600, 20)).await);
    full.end().await;
    well.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_worker_holds_nobody_up() {
    let site = Site::new().await;
    let slow = site.worker_with(make_slow(Duration::from_secs(2)), Arc::new(RealDisk), 1);
    site.submit(plan("e", 1, 400, 10)).await.unwrap();
    let fast = site.worker();
    site.until("e", &[State::Complete]).await;
    let (few, many) = (slow.count("worlds_total"), fast.count("worlds_total"));
    assert!(few + many == 400 && many >= 300, "the slow one played {few}, the fast one {many}");
    assert_eq!(site.verified("e").await, embedded(plan("e", 1, 400, 10)).await);
    slow.end().await;
    fast.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_submission_cut_short_is_completed_by_a_worker() {
    let site = Site::new().await;
    site.submit(plan("e", 1, 200, 20)).await.unwrap();
    // As if whoever submitted it had died before all messages were made, long ago.
    site.tamper("UPDATE ensembles SET state = 'submitting', submitted_at = now() - interval '5 minutes'").await;
    site.tamper("UPDATE ranges SET published = false WHERE first_world >= 100").await;
    let worker = site.worker();
    site.until("e", &[State::Complete]).await;
    assert_eq!(site.verified("e").await, embedded(plan("e", 1, 200, 20)).await);
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_played_here_is_left_to_others() {
    let site = Site::new().await;
    let ignorant =
        site.worker_with(Arc::new(|plan| Err(format!("no model {:?}", plan.model).into())), Arc::new(RealDisk), 1);
    site.submit(plan("e", 1, 100, 20)).await.unwrap();
    let status = site.until_it("e", |e| e.workers.iter().any(|w| w.trouble.is_some())).await;
    assert!(status.workers[0].trouble.as_ref().unwrap().contains("no model \"dice\""), "{status:?}");
    let able = site.worker();
    site.until("e", &[State::Complete]).await;
    ignorant.end().await;
    able.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_none_of_ours_is_put_aside() {
    let site = Site::new().await;
    let id = site.submit(plan("e", 1, 100, 20)).await.unwrap();
    let (connection, queue, dead) = site.queues(id).await;
    let channel = connection.create_channel().await.unwrap();
    let strays = ["what is this?", r#"{"ensemble":1,"first_world":4294967295,"worlds":9,"made_ns":0}"#];
    for stray in strays {
        let properties = lapin::BasicProperties::default();
        let sent = channel.basic_publish(
            "".into(),
            queue.as_str().into(),
            BasicPublishOptions::default(),
            stray.as_bytes(),
            properties,
        );
        sent.await.unwrap();
    }
    let worker = site.worker();
    site.until("e", &[State::Complete]).await;
    worker.end().await;
    let mut aside = Vec::new();
    while aside.len() < strays.len() {
        if let Some(message) = channel.basic_get(dead.as_str().into(), BasicGetOptions::default()).await.unwrap() {
            aside.push(String::from_utf8(message.delivery.data).unwrap());
        }
    }
    assert_eq!(aside, strays);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_that_does_not_get_on_is_played_by_another() {
    let site = Site::new().await;
    let released = Arc::new((Mutex::new(false), Condvar::new()));
    let waits = released.clone();
    // It waits as for a service that never answers, while its heartbeat goes on.
    let make = make_with(move |range| {
        if range.contains(World(137)) {
            let (released, changed) = &*waits;
            drop(changed.wait_while(released.lock().unwrap(), |released| !*released).unwrap());
        }
    });
    let stuck = site.worker_with(make, Arc::new(RealDisk), 1);
    site.submit(plan("e", 1, 400, 20)).await.unwrap();
    let started = Instant::now();
    // Longer than a worker takes to note progress.
    let stands = "SELECT count(*) FROM ranges WHERE first_world = 120 AND worker IS NOT NULL \
                  AND progress_at < now() - interval '8 seconds'";
    while site.ask::<i64>(stands).await == 0 {
        assert!(started.elapsed() < Duration::from_mins(1), "it is not taken up");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    site.tamper("UPDATE ranges SET progress_at = progress_at - interval '1 minute' WHERE first_world = 120").await;
    let well = site.worker();
    let status = site.until("e", &[State::Complete]).await;
    assert_eq!((status.worlds_done, status.ranges_failed), (400, 0));
    assert_eq!(site.verified("e").await, embedded(plan("e", 1, 400, 20)).await);
    let (held, changed) = &*released;
    *held.lock().unwrap() = true;
    changed.notify_all();
    stuck.end().await;
    well.end().await;
}
