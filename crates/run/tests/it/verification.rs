//! What `verify` reports of an ensemble that is not as it was written: the first difference, whichever core meets one.

use std::path::Path;
use std::sync::Arc;

use disk::RealDisk;
use ensemble::{Check, MakeModel, Progress, Store, StoredEnsemble, verify, verify_by_replay, verify_with};
use model::{Catalogue, EventBlock, Identity, Model, Sink, Stop, Wanted};
use world::{Seed, WorldRange};

use crate::support::{model, plan, play_on};

/// Dice of 40 worlds in ranges of five.
async fn played(data: &Path, seed: u64) -> StoredEnsemble {
    play_on(Arc::new(RealDisk), data, &dice::PLUGIN, plan(&dice::PLUGIN, seed, 40, 5), 2).await.unwrap();
    Store::open(data, Arc::new(RealDisk)).await.unwrap().unwrap().ensemble("test").await.unwrap()
}

/// The names of the checks that fail, with what they say.
fn failed(checks: &[Check]) -> Vec<(&str, &str)> {
    checks.iter().filter(|check| check.ok == Some(false)).map(|check| (&*check.name, &*check.detail)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_range_with_outcomes_of_others_is_reported() {
    let data = tempfile::tempdir().unwrap();
    let mut ensemble = played(data.path(), 1).await;
    let whole = verify(&ensemble, &*model(&dice::PLUGIN)).unwrap();
    assert!(whole.ok, "{whole:?}");
    for (one, other) in [(6, 5), (4, 3)] {
        let path = ensemble.outcomes[one].1.clone();
        ensemble.outcomes[one].1 = std::mem::replace(&mut ensemble.outcomes[other].1, path);
    }
    let found = verify(&ensemble, &*model(&dice::PLUGIN)).unwrap();
    assert_ne!(found.hash, whole.hash);
    assert_eq!(found.event_hash, whole.event_hash);
    let [(outcomes, hashes), (recounts, difference)] = failed(&found.checks)[..] else { panic!("{found:?}") };
    assert_eq!((outcomes, recounts), ("outcomes are as they were written", "outcomes recount from the events"));
    assert!(hashes.starts_with("worlds 00000015-00000019 hash to "), "{hashes}");
    assert!(difference.starts_with("ann of table-1 in world 15 is stored as "), "{difference}");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_and_other_events_are_reported_and_the_rest_is_checked() {
    let (data, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut ensemble, other) = (played(data.path(), 1).await, played(others.path(), 2).await);
    ensemble.events.remove(2);
    let found = verify(&ensemble, &*model(&dice::PLUGIN)).unwrap();
    let events = "events are as they were written";
    assert_eq!(failed(&found.checks), [(events, "the events of worlds 00000010-00000014 are missing")]);
    let recounts = found.checks.iter().find(|check| check.name == "outcomes recount from the events").unwrap();
    // Three outcomes of three tables in the other 35 worlds.
    assert_eq!((recounts.ok, &*recounts.detail), (Some(true), "315 values"));

    // Files of another seed are whole, and their own hashes hold.
    for place in [6, 4] {
        ensemble.events[place].1 = other.events[place + 1].1.clone();
    }
    let found = verify(&ensemble, &*model(&dice::PLUGIN)).unwrap();
    let [_, (recounts, difference)] = failed(&found.checks)[..] else { panic!("{found:?}") };
    assert_eq!(recounts, "outcomes recount from the events");
    assert!(difference.contains(" of table-1 in world 25 is stored as "), "{difference}");

    // Of a damaged one nothing is counted.
    std::fs::write(&ensemble.events[1].1, b"PAR1").unwrap();
    let found = verify(&ensemble, &*model(&dice::PLUGIN)).unwrap();
    let [(damaged, detail)] = failed(&found.checks)[..] else { panic!("{found:?}") };
    assert!(damaged == events && detail.contains("is damaged"), "{damaged}: {detail}");
    assert_eq!(found.event_hash.unwrap(), "0000000000000000");
}

/// Dice that claim conditions which do not hold.
struct Claims {
    dice: Arc<dyn Model>,
    identities: Vec<Identity>,
}

impl Model for Claims {
    fn catalogue(&self) -> &Catalogue {
        self.dice.catalogue()
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.dice.simulate(Seed(seed.0 + u64::from(range.first().0 >= 20)), range, wanted, sink)
    }

    fn recount(&self, events: &EventBlock<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.dice.recount(events, sink)
    }

    fn identities(&self) -> Vec<Identity> {
        self.identities.clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_violated_identity_and_the_first_other_world_are_reported() {
    let data = tempfile::tempdir().unwrap();
    let ensemble = played(data.path(), 1).await;
    let of_tables = |condition: &str| Identity { kind: Some(0), condition: condition.to_owned() };
    let mut claims = Claims { dice: model(&dice::PLUGIN), identities: Vec::new() };
    for (conditions, said) in [
        (vec!["ann >= 10", "ann + bob >= 20"], None),
        (vec!["ann >= 10", "bob < 0", "ann < 0"], Some("bob < 0 does not hold for table-1 in world 0")),
        (vec!["bob is red"], Some("bob is red: ")),
    ] {
        claims.identities = conditions.into_iter().map(of_tables).collect();
        let found = verify(&ensemble, &claims).unwrap();
        let details: Vec<&str> = failed(&found.checks).into_iter().map(|(_, detail)| detail).collect();
        assert_eq!(details.len(), usize::from(said.is_some()), "{details:?}");
        assert!(details.iter().zip(said).all(|(detail, said)| detail.starts_with(said)), "{details:?}");
    }
    let whole = Identity { kind: None, condition: "table-1:ann + table-2:bob < 0".to_owned() };
    claims.identities = vec![whole];
    let found = verify(&ensemble, &claims).unwrap();
    let said = "table-1:ann + table-2:bob < 0 does not hold in world 0";
    assert_eq!(failed(&found.checks), [("identities hold in every world", said)]);

    claims.identities = Vec::new();
    let claims: Arc<dyn Model> = Arc::new(claims);
    let claims: MakeModel = Arc::new(move |_| Ok(claims.clone()));
    let found = verify_by_replay(&ensemble, &claims, &Progress::default()).unwrap();
    let [(replayed, difference)] = failed(&found.checks)[..] else { panic!("{found:?}") };
    assert_eq!(replayed, "worlds are the same when they are played again");
    assert!(difference.contains(" of table-1 in world 20 is stored as "), "{difference}");
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_reaches_the_end_of_the_last_pass() {
    let data = tempfile::tempdir().unwrap();
    let ensemble = played(data.path(), 1).await;
    let dice: MakeModel = Arc::new(|_| Ok(model(&dice::PLUGIN)));
    let progress = Progress::default();
    assert_eq!(progress.now(), None);
    let checked = verify_with(&ensemble, &dice, &progress).unwrap();
    let (pass, share) = progress.now().unwrap();
    assert!(checked.ok && pass == "checking identities" && (share - 1.0).abs() < 1e-9, "{pass}: {share}");
    let played = verify_by_replay(&ensemble, &dice, &progress).unwrap();
    let (pass, share) = progress.now().unwrap();
    assert!(played.ok && pass == "playing again" && (share - 1.0).abs() < 1e-9, "{pass}: {share}");
}
