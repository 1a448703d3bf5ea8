//! What a fleet leaves is what one process leaves.

use std::time::Duration;

use fleet::{State, SubmitOptions};
use run::Until;

use crate::support::{Site, alone, embedded, files, make_slow, plan};

#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_workers_leaves_the_same_rows_and_aggregates() {
    let alone = alone(plan("e", 3, 2_000, 100)).await;
    let stored = (alone.worlds, alone.hash, alone.events.hash);
    for workers in [1, 3, 8] {
        let site = Site::new().await;
        let crew: Vec<_> = (0..workers).map(|_| site.worker()).collect();
        site.submit(plan("e", 3, 2_000, 100)).await.unwrap();
        let status = site.until("e", &[State::Complete]).await;
        assert_eq!((status.worlds_done, status.ranges_done, status.ranges_failed), (2_000, 20, 0));
        assert_eq!(site.verified("e").await, stored, "{workers} workers");
        assert_eq!(status.outcomes, alone.known, "{workers} workers");
        let rates: f64 = status.workers.iter().map(|w| w.worlds_per_s).sum();
        assert!((rates / status.worlds_per_s - 1.0).abs() < 1e-9 && rates > 0.0, "{rates} of {status:?}");
        assert_eq!(crew.iter().map(|w| w.count("worlds_total")).sum::<u64>(), 2_000);
        for worker in crew {
            worker.end().await;
        }
    }
    let ann = &alone.known[0];
    assert_eq!((ann.entity.as_str(), ann.outcome.as_str(), ann.worlds), ("table-1", "ann", 2_000));
    // Ten dice: 35 on average, with a variance of 10 x 35/12.
    let error = (10.0f64 * 35.0 / 12.0 / 2_000.0).sqrt();
    assert!((ann.mean - 35.0).abs() < 4.0 * error && (ann.ci_half_width.unwrap() / (1.96 * error) - 1.0).abs() < 0.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_ensembles_are_played_side_by_side() {
    let site = Site::new().await;
    let worker = site.worker_with(make_slow(Duration::from_millis(50)), std::sync::Arc::new(disk::RealDisk), 1);
    site.submit(plan("a", 1, 400, 10)).await.unwrap();
    site.submit(plan("b", 2, 400, 10)).await.unwrap();
    // Neither waits for the other to end.
    let b = site.until_it("b", |b| b.ranges_done >= 5).await;
    assert_eq!(b.state, State::Running);
    assert_eq!(site.status("a").await.state, State::Running);
    for (name, seed) in [("a", 1), ("b", 2)] {
        site.until(name, &[State::Complete]).await;
        assert_eq!(site.verified(name).await, embedded(plan(name, seed, 400, 10)).await);
    }
    let there = fleet::workers(&site.ledger).await.unwrap();
    assert_eq!(there.iter().map(|w| w.worlds_done).collect::<Vec<_>>(), [800], "of both");
    assert!(there[0].worlds_per_s > 0.0, "{there:?}");
    worker.end().await;
    assert!(fleet::workers(&site.ledger).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_that_is_delivered_again_adds_nothing() {
    let site = Site::new().await;
    let worker = site.worker();
    site.submit(plan("e", 1, 300, 30)).await.unwrap();
    site.until("e", &[State::Complete]).await;
    let (before, rows) = (site.verified("e").await, files(&site.data().join("sim/outcomes/ensemble=e")));
    let aggregates = site.status("e").await.outcomes;
    // As if the ledger had forgotten that they are done: they are played again, into the same files.
    site.tamper("UPDATE ranges SET state = 'queued', published = false WHERE first_world < 150").await;
    site.tamper("UPDATE ensembles SET state = 'running'").await;
    site.until_it("e", |e| e.state == State::Complete && e.ranges_done == 10).await;
    assert_eq!(site.verified("e").await, before);
    assert_eq!(files(&site.data().join("sim/outcomes/ensemble=e")), rows);
    // Messages for ranges that the ledger knows to be done are only acknowledged.
    let played = worker.count("ranges_total");
    site.tamper("UPDATE ensembles SET state = 'running'").await;
    site.tamper("UPDATE ranges SET published = false").await;
    site.until("e", &[State::Complete]).await;
    assert_eq!(worker.count("ranges_total"), played);
    assert_eq!(aggregates.len(), site.status("e").await.outcomes.len());
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_version_takes_the_old_ones_place_when_it_is_complete() {
    let site = Site::new().await;
    let worker = site.worker_with(make_slow(Duration::from_millis(20)), std::sync::Arc::new(disk::RealDisk), 2);
    site.submit(plan("e", 1, 200, 20)).await.unwrap();
    site.until("e", &[State::Complete]).await;
    let old = site.verified("e").await;
    let refused = site.submit(plan("e", 2, 500, 20)).await.unwrap_err().to_string();
    assert!(refused.contains("ensemble \"e\" exists already"), "{refused}");
    site.submit_with(plan("e", 2, 500, 20), SubmitOptions { replace: true, ..SubmitOptions::default() }).await.unwrap();
    site.until_it("e", |e| e.version > 1 && e.ranges_done >= 3).await;
    if site.status("e").await.state == State::Running {
        assert_eq!(site.verified("e").await, old, "readers see the old version until the new one is complete");
    }
    site.until_it("e", |e| e.version > 1 && e.state == State::Complete).await;
    assert_eq!(site.verified("e").await, embedded(plan("e", 2, 500, 20)).await);
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_version_that_is_still_played_is_cancelled() {
    let site = Site::new().await;
    site.submit(plan("e", 1, 200, 20)).await.unwrap();
    site.submit(plan("other", 1, 200, 20)).await.unwrap();
    site.submit_with(plan("e", 2, 60, 20), SubmitOptions { replace: true, ..SubmitOptions::default() }).await.unwrap();
    let states: String = site.ask("SELECT string_agg(name || ' ' || state, ', ' ORDER BY id) FROM ensembles").await;
    assert_eq!(states, "e cancelled, other running, e running");
    let worker = site.worker();
    site.until("e", &[State::Complete]).await;
    assert_eq!(site.verified("e").await, embedded(plan("e", 2, 60, 20)).await);
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interval_that_is_narrow_enough_ends_an_ensemble() {
    let site = Site::new().await;
    let worker = site.worker_with(make_slow(Duration::from_millis(20)), std::sync::Arc::new(disk::RealDisk), 1);
    let until = Until { entity: 0, outcome: 0, goal: "1%".parse().unwrap() };
    let options = SubmitOptions { until: Some(until), ..SubmitOptions::default() };
    site.submit_with(plan("e", 1, 100_000, 50), options).await.unwrap();
    let status = site.until("e", &[State::Enough]).await;
    // A standard deviation of 5.4 and a mean of 35: 1% of it takes about 915 worlds.
    assert!((600..4_000).contains(&status.worlds_done), "{status:?}");
    let ann = &status.outcomes[0];
    assert!(ann.ci_half_width.unwrap() <= ann.mean / 100.0, "{ann:?}");
    let until = status.until.unwrap();
    assert_eq!((until.outcome, until.goal.as_str()), (format!("{}:{}", ann.entity, ann.outcome), "1%"));
    assert_eq!(until.known.as_ref(), Some(ann));
    worker.end().await;
    let stored = site.stored("e").await;
    assert_eq!(stored.worlds() as i64, site.status("e").await.worlds_done, "what is told is what is stored");
}
