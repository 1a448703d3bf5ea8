//! Data folders with restricted permissions.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::{description, json, program};

/// A user other than root, because permissions do not restrict root.
struct Anybody {
    folder: TempDir,
    /// A copy of the program that any user can run; `None` if this user is not root.
    program: Option<PathBuf>,
}

impl Anybody {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        allow(folder.path(), 0o755);
        let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
        let program = is_root.then(|| {
            let copy = folder.path().join("manyworlds");
            fs::copy(env!("CARGO_BIN_EXE_manyworlds"), &copy).unwrap();
            allow(&copy, 0o755);
            copy
        });
        Self { folder, program }
    }

    fn run(&self, data: &Path, words: &[&str]) -> Output {
        let mut command = match &self.program {
            None => program(&[]),
            Some(copy) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(copy);
                command.env_remove("MANYWORLDS_DATA").env_remove("MANYWORLDS_LOG");
                command
            }
        };
        command.args(words).arg("--data").arg(data).output().unwrap()
    }

    /// The error of a command that must fail.
    fn failure(&self, data: &Path, words: &[&str]) -> String {
        let output = self.run(data, words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}: {said}");
        said
    }
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Every file and folder below `path`, after `path` itself.
fn tree(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![path.to_owned()];
    if path.is_dir() {
        let mut inside: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        inside.sort();
        all.extend(inside.iter().flat_map(|path| tree(path)));
    }
    all
}

#[test]
fn a_run_into_a_folder_that_may_not_be_written_says_which() {
    let anybody = Anybody::new();
    let data = anybody.folder.path().join("data");
    fs::create_dir(&data).unwrap();
    allow(&data, 0o555);
    for asked in [data.clone(), data.join("new")] {
        let said = anybody.failure(&asked, &["run", "football", "--worlds", "2"]);
        let expected = format!(
            "error: cannot create the folder {}/sim/outcomes: Permission denied (os error 13): give this user access to \
             {}, or choose another folder\n",
            asked.display(),
            data.display()
        );
        assert_eq!(said, expected);
        assert_eq!(tree(&data).len(), 1, "something was left");
    }
}

#[test]
fn a_store_that_may_only_be_read_answers_and_stays_as_it_is() {
    let anybody = Anybody::new();
    let data = anybody.folder.path().join("data");
    json(&data, &["run", "football", "--worlds", "4", "--name", "season"]);
    let before = tree(&data);
    for path in &before {
        allow(path, if path.is_dir() { 0o555 } else { 0o444 });
    }
    let questions: [&[&str]; 4] = [
        &["ensembles", "--format", "json"],
        &["price", "season", "--entity", "game-017", "--leg", "home_won", "--format", "json"],
        &["sql", "SELECT count(*) FROM events", "--format", "json"],
        &["verify", "season", "--format", "json"],
    ];
    for words in questions {
        let output = anybody.run(&data, words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer, json(&data, &words[..words.len() - 2]), "{words:?}");
    }
    let refused = |words: &[&str], prefix: &str, place: &str| {
        let said = anybody.failure(&data, words);
        let place = data.join(place);
        let end = format!(
            "Permission denied (os error 13): give this user access to {}, or choose another folder\n",
            place.display()
        );
        assert!(said.starts_with(prefix) && said.ends_with(&end) && said.lines().count() == 1, "{said}");
    };
    refused(
        &["run", "football", "--worlds", "2", "--name", "other"],
        "error: cannot create the folder ",
        "sim/ensembles",
    );
    refused(&["drop", "season"], "error: cannot commit to the table ", "sim/ensembles");
    assert_eq!(tree(&data), before);
    before.iter().filter(|path| path.is_dir()).for_each(|path| allow(path, 0o755));
}

/// A file of 2,000 rows of noise, so that a segment of a thousand is larger than half a megabyte.
fn noise(folder: &Path) -> PathBuf {
    let mut text = "id,noise\n".to_owned();
    let mut state = 1_u64;
    for id in 0..2_000 {
        write!(text, "{id},").unwrap();
        for _ in 0..60 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            write!(text, "{:016x}", state ^ state >> 29).unwrap();
        }
        text.push('\n');
    }
    let path = folder.join("noise.csv");
    fs::write(&path, text).unwrap();
    allow(&path, 0o644);
    path
}

#[test]
fn rows_for_a_folder_that_may_not_be_written_are_refused_and_those_before_stay() {
    let anybody = Anybody::new();
    let (data, file) = (anybody.folder.path().join("data"), noise(anybody.folder.path()));
    let words = ["table", "insert", "calls", file.to_str().unwrap(), "--batch-rows", "1000"];
    for layout in ["column", "pruned"] {
        let (data, table) = (data.join(layout), data.join(layout).join("default/calls"));
        json(&data, &[&words[..], &["--layout", layout]].concat());
        // New folders are accessible only to their owner, including the parent.
        allow(data.parent().unwrap(), 0o755);
        let before = tree(&data);
        before.iter().for_each(|path| allow(path, if path.is_dir() { 0o555 } else { 0o444 }));
        let said = anybody.failure(&data, &[&words[..], &["--again"]].concat());
        let begins = format!("error: inserting {}, batch 1: cannot create {}/", file.display(), table.display());
        let end = format!("give this user access to {}, or choose another folder\n", table.display());
        assert!(said.starts_with(&begins) && said.ends_with(&end), "{said}");
        assert_eq!(tree(&data), before, "{layout}");
        assert_eq!(json(&data, &["sql", "SELECT count(*) AS n FROM calls"])[0]["n"], 2_000, "{layout}");
        before.iter().filter(|path| path.is_dir()).for_each(|path| allow(path, 0o755));
    }
    // A failed creation of a table leaves no files.
    let none = data.join("none");
    fs::create_dir(&none).unwrap();
    allow(&none, 0o555);
    let said = anybody.failure(&none, &words);
    let begins =
        format!("error: inserting {}, batch 1: cannot create the folder {}/default", file.display(), none.display());
    assert!(said.starts_with(&begins), "{said}");
    assert_eq!(tree(&none).len(), 1);
}

#[test]
fn rows_for_a_disk_that_is_full_are_refused_whole_and_inserted_once_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let file = noise(folder.path());
    for layout in ["column", "pruned"] {
        let data = folder.path().join(layout);
        let table = data.join("default/calls");
        let words =
            |rows: &str| ["table", "insert", "calls", file.to_str().unwrap(), "--batch-rows", rows].map(str::to_owned);
        json(&data, &[&words("100").each_ref().map(String::as_str)[..], &["--layout", layout]].concat());
        let before = tree(&data);
        // A limit on the file size simulates a full disk: a batch of a thousand rows does not fit.
        let script = format!(
            "trap '' XFSZ; ulimit -f 200; exec {} {} --data {}",
            env!("CARGO_BIN_EXE_manyworlds"),
            words("1000").join(" "),
            data.display()
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        let begins = format!("error: inserting {}, batch 1: cannot write {}/", file.display(), table.display());
        assert!(said.starts_with(&begins) && said.contains("File too large"), "{said}");
        assert_eq!(tree(&data), before, "{layout}: something was left");
        let rows = || json(&data, &["sql", "SELECT count(*) AS n, count(DISTINCT id) AS ids FROM calls"])[0].clone();
        assert_eq!(rows(), serde_json::json!({"n": 2_000, "ids": 2_000}), "{layout}");
        for expected in [2_000, 0] {
            let inserted = json(&data, &words("1000").each_ref().map(String::as_str));
            assert_eq!(inserted["rows"], expected, "{layout}");
        }
        assert_eq!(rows(), serde_json::json!({"n": 4_000, "ids": 2_000}), "{layout}");
    }
}

#[test]
fn what_may_not_be_read_is_neither_absent_nor_damaged() {
    let anybody = Anybody::new();
    let data = anybody.folder.path().join("data");
    json(&data, &["run", "football", "--worlds", "2", "--events", "replay", "--name", "season"]);
    tree(&data).iter().for_each(|path| allow(path, 0o755));
    let hidden = data.join("sim/outcomes");
    allow(&hidden, 0o000);
    let said = anybody.failure(&data, &["ensembles"]);
    let expected = format!(
        "error: cannot open {0}/_delta_log: Permission denied (os error 13): give this user access to {0}, or choose \
         another folder\n",
        hidden.display()
    );
    assert_eq!(said, expected);
    allow(&hidden, 0o755);
    let plan = description(&data, "season", 1);
    allow(&plan, 0o000);
    let output = anybody.run(&data, &["ensembles", "--format", "csv"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with(&format!("cannot open {}: Permission denied", plan.display())), "{said}");
    assert!(!said.contains("drop"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("season,unreadable,"));
}
