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
    let given = ["--seed", "7", "--param", "pace=1.1", "--param", "home_edge=2"];
    let whole = play("other", &[&given[..], &["--worlds", "6"]].concat());
    play("varied", &[&given[..], &["--worlds", "2"]].concat());
    let continued = json(data, &["run", "football", "--name", "varied", "--extend", "6"]);
    assert_eq!((&continued["hash"], &continued["played"]), (&whole["hash"], &4.into()));
    let resumed = json(data, &["run", "football", "--name", "varied", "--resume"]);
    assert_eq!((&resumed["hash"], &resumed["worlds"], &resumed["played"]), (&whole["hash"], &6.into(), &0.into()));
    let differs = failure(data, &["run", "football", "--name", "varied", "--resume", "--param", "pace=1.2"], 2);
    assert!(differs.contains("it was started with parameter pace 1.1, not 1.2"), "{differs}");
    let unknown = failure(data, &["run", "football", "--name", "new", "--extend", "10"], 2);
    assert!(unknown.contains("unknown ensemble \"new\""), "{unknown}");
    assert!(said(&["--extend", "10", "--resume"]).contains("cannot be used with"));
    assert!(said(&["--extend", "10", "--worlds", "10"]).contains("cannot be used with"));
}
