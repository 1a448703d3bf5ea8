//! The program's models, and ensembles of a model that it does not have, as a user's own program writes them.

use std::path::Path;
use std::sync::Arc;

use disk::RealDisk;
use ensemble::{EventMode, Plan, Store};
use model::{Model as _, Parameters};
use run::{Control, Options, play};
use serde_json::json;
use world::{Seed, World, WorldRange};

use crate::served::Served;
use crate::support::{failure, json, program, run};

/// Plays 40 worlds of dice as `stored` with events, and as `replayed` without.
async fn play_dice(data: &Path) {
    let parameters = Parameters::parse(dice::PARAMETERS, []).unwrap();
    let model = Arc::new(dice::Dice::new(&parameters).unwrap());
    let mut store = Store::open_or_create(data, Arc::new(RealDisk)).await.unwrap();
    for (name, events) in [("stored", EventMode::Store), ("replayed", EventMode::Replay)] {
        let plan = Plan {
            name: name.to_owned(),
            model: "dice".to_owned(),
            parameters: parameters.to_json(),
            seed: Seed(1),
            worlds: WorldRange::new(World(0), 40).unwrap(),
            range_worlds: 20,
            events,
            catalogue: model.catalogue().clone(),
        };
        let registered = store.register(plan, false).await.unwrap();
        let options = Options { threads: 1, format: table::PageFormat::default(), until: None };
        play(model.clone(), &mut store, registered, options, Arc::new(Control::default())).await.unwrap();
    }
}

#[test]
fn models_list_what_parameters_accept() {
    let folder = tempfile::tempdir().unwrap();
    let said = |words: &[&str]| String::from_utf8(program(words).output().unwrap().stdout).unwrap();
    let parameters: serde_json::Value =
        serde_json::from_str(&said(&["models", "football", "--format", "json"])).unwrap();
    let pace = parameters.as_array().unwrap().iter().find(|p| p["parameter"] == "pace").unwrap();
    assert_eq!(
        (&pace["kind"], &pace["default"], &pace["min"], &pace["max"]),
        (&json!("number"), &json!(1.0), &json!(0.7), &json!(1.5))
    );
    assert!(said(&["models", "football"]).contains("a number from 0.7 to 1.5"));
    assert!(said(&["models", "--format", "csv"]).starts_with("model,what it plays\nbingo,"));
    let refused = failure(folder.path(), &["run", "football", "--param", "pace=fast"], 2);
    assert_eq!(refused, "error: parameter pace is \"fast\": give a number from 0.7 to 1.5\n");
}

const MISSING: &str = "no model \"dice\"; there are: bingo, football";

#[tokio::test(flavor = "multi_thread")]
async fn ensemble_of_unknown_model_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    play_dice(data).await;
    assert_eq!(json(data, &["ensembles"])[0]["model"], "dice");
    let mean = &json(data, &["outcome", "replayed", "--entity", "table-1", "--outcome", "ann"])[0];
    assert_eq!(mean["worlds"], 40);
    let words = ["probability", "stored", "--entity", "table-1", "--condition", "ann > 35", "--given", "ann_wins"];
    let probability = json(data, &[&words[..], &["--min-worlds", "1"]].concat());
    assert!(probability["worlds"].as_u64() > Some(5), "{probability}");
    let sixes = "SELECT count(*) AS n FROM events('stored', 'table-1', '0-39') WHERE pips = 6";
    let sixes = json(data, &["sql", sixes])[0]["n"].as_u64().unwrap();
    let in_world = |world: u32| {
        let world = world.to_string();
        let words = ["events", "stored", "--entity", "table-1", "--world", &world, "--where", "pips = 6"];
        json(data, &words).as_array().unwrap().len() as u64
    };
    assert_eq!(sixes, (0..40).map(in_world).sum::<u64>());

    let server = Served::start(data, &[]);
    let question = json!({"ensemble": "stored", "entity": "table-1", "legs": ["ann_wins"]});
    assert_eq!(server.post_json("/api/v1/price", &question).json()["worlds"], 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_without_model_says_what_it_skips() {
    let folder = tempfile::tempdir().unwrap();
    play_dice(folder.path()).await;
    for name in ["stored", "replayed"] {
        let found = json(folder.path(), &["verify", name]);
        let checks = found["checks"].as_array().unwrap();
        let skipped = checks.iter().filter(|check| check["ok"].is_null()).collect::<Vec<_>>();
        assert_eq!((&found["ok"], skipped.len()), (&true.into(), 1), "{found}");
        assert_eq!(skipped[0]["detail"], format!("not checked: {MISSING}"));
    }
    // Damage is still found.
    let segment = folder.path().join("sim/outcomes/ensemble=stored/version=1/00000020-00000039.parquet");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let output = run(folder.path(), &["verify", "stored"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_the_unknown_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    play_dice(data).await;
    let readable = "; the ensemble's outcomes and stored events can be read without its model";
    let one = ["--entity", "table-1", "--world", "3"];
    for words in [
        &[&["events", "replayed"], &one[..]].concat()[..],
        &["sql", "SELECT * FROM events('replayed', 'table-1', '0-39')"],
        &["price", "stored", "--entity", "table-1", "--condition", "ann > 9", "--given", "at roll 3"],
    ] {
        let said = failure(data, words, 2);
        assert!(said.contains(MISSING) && said.contains(readable), "{words:?}: {said}");
    }
    let said = failure(data, &["run", "dice", "--name", "stored", "--resume"], 2);
    assert_eq!(said, format!("error: {MISSING}\n"));
    // A summary needs the model for its words only.
    let output = run(data, &[&["events", "stored", "--summary", "--format", "json"], &one[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.starts_with("showing outcomes only: no model"), "{said}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["tables"][0]["name"], "outcomes");
}
