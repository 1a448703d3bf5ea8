//! `run --extend`.

use crate::support::{failure, json};

#[test]
fn extended_ensemble_has_the_hash_of_a_longer_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let play = |name: &str, more: &[&str]| {
        let words = ["run", "football", "--events", "replay", "--name", name, "--threads", "1"];
        json(data, &[&words[..], more].concat())
    };
    let whole = play("whole", &["--worlds", "9"]);
    play("season", &["--worlds", "4", "--range-worlds", "3"]);
    let extended = play("season", &["--extend", "9"]);
    assert_eq!((&extended["hash"], &extended["played"]), (&whole["hash"], &5.into()));
    assert_eq!(json(data, &["verify", "season"])["ok"], true);
    let words = ["run", "football", "--events", "replay", "--name", "season"];
    let said = |more: &[&str]| failure(data, &[&words[..], more].concat(), 2);
    assert_eq!(
        said(&["--extend", "5"]),
        "error: ensemble \"season\" cannot be extended: it has 9 worlds already, more than 5\n"
    );
    assert!(said(&["--extend", "10", "--seed", "2"]).contains("it was played with seed 1, not 2"));
    assert!(said(&["--extend", "10", "--param", "pace=1.1"]).contains("cannot be extended: it was played with"));
    let unknown = failure(data, &["run", "football", "--name", "new", "--extend", "10"], 2);
    assert!(unknown.contains("unknown ensemble \"new\""), "{unknown}");
    assert!(said(&["--extend", "10", "--resume"]).contains("cannot be used with"));
    assert!(said(&["--extend", "10", "--worlds", "10"]).contains("cannot be used with"));
}
