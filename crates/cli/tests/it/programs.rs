//! Programs in other languages as models: the examples, their ends, and what they may not do.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::{failure, json, program, run};

const PATIENCE: Duration = Duration::from_mins(1);

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/program").join(name);
    path.canonicalize().unwrap().display().to_string()
}

/// The command lines of all examples; the C one is compiled into `folder`.
fn examples(folder: &Path) -> Vec<String> {
    let compiled = folder.join("dice");
    let built = Command::new("cc").args(["-O2", "-o"]).arg(&compiled).arg(example("dice.c")).status().unwrap();
    assert!(built.success());
    let python = format!("python3 {}", example("dice.py"));
    let mut commands = vec![
        compiled.display().to_string(),
        format!("jq -nrc --unbuffered -f {}", example("dice.jq")),
        format!("{python} lines"),
    ];
    let has_arrow = Command::new("python3").args(["-c", "import pyarrow"]).stderr(Stdio::null()).status().unwrap();
    if has_arrow.success() {
        commands.push(python);
    }
    commands
}

/// A shell script that describes itself and then answers each request with `answer`.
pub(crate) fn script(folder: &Path, name: &str, answer: &str) -> String {
    let source = format!(
        r#"echo '{{"name": "sim", "kinds": {{"k": {{"x": "number"}}}}, "entities": ["one"]}}'
while read -r request; do
first=${{request#*\"first\":}}; first=${{first%%,*}}; worlds=${{request#*\"worlds\":}}; worlds=${{worlds%%,*}}
{answer}
done
"#
    );
    let path = folder.join(name);
    std::fs::write(&path, source).unwrap();
    format!("sh {}", path.display())
}

/// An answer in which x is the world's number.
pub(crate) const NUMBERS: &str = r#"i=0; while [ $i -lt $worlds ]; do echo "{\"world\":$((first + i)),\"x\":$((first + i))}"; i=$((i + 1)); done; echo"#;

#[test]
fn examples_keep_their_promise_in_any_ranges() {
    let folder = tempfile::tempdir().unwrap();
    for command in examples(folder.path()) {
        let checked =
            program(&["check", "--program", &command, "--worlds", "12", "--format", "json"]).output().unwrap();
        assert!(checked.status.success(), "{command}: {}", String::from_utf8_lossy(&checked.stderr));
        let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
        assert_eq!((&checked["ok"], checked["checks"].as_array().unwrap().len()), (&true.into(), 5), "{command}");
        let words = ["run", "--program", &command, "--worlds", "30", "--param", "rolls=3"];
        let played = |name: &str, more: &[&str]| {
            json(folder.path(), &[&words[..], &["--name", name, "--replace"], more].concat())
        };
        let whole = played("whole", &["--threads", "1", "--range-worlds", "30"]);
        let parts = played("parts", &["--threads", "3", "--range-worlds", "7"]);
        assert_eq!((&whole["hash"], &whole["worlds"]), (&parts["hash"], &30.into()), "{command}");
        let pips = &json(folder.path(), &["outcome", "whole", "table-2", "ann + bob"])[0];
        assert!((15.0..=27.0).contains(&pips["mean"].as_f64().unwrap()), "{command}: {pips}");
    }
}

#[test]
fn python_answers_the_same_in_both_forms() {
    let folder = tempfile::tempdir().unwrap();
    let commands = examples(folder.path());
    let [.., lines, arrow] = &commands[..] else { return };
    if !lines.ends_with("lines") {
        return;
    }
    let played = |command: &str, name: &str| {
        json(folder.path(), &["run", "--program", command, "--worlds", "20", "--name", name])
    };
    assert_eq!(played(lines, "lines")["hash"], played(arrow, "arrow")["hash"]);
}

#[test]
fn ensembles_of_programs_answer_questions() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let command = script(folder.path(), "sim.sh", NUMBERS);
    let summary = json(data, &["run", "--program", &command, "--worlds", "100"]);
    assert_eq!((&summary["ensemble"], &summary["complete"]), (&"sim".into(), &true.into()));
    assert_eq!(json(data, &["ensembles"])[0]["model"], "program:sim");
    let price = json(data, &["price", "sim", "--entity", "one", "--condition", "x >= 75"]);
    assert_eq!(price["probability"], 0.25);
    let sql = json(data, &["sql", "SELECT sum(value) AS total FROM outcomes WHERE outcome = 'x'"]);
    assert_eq!(sql[0]["total"], 4950.0);
    let verified = json(data, &["verify", "sim"]);
    assert_eq!(verified["ok"], true, "{verified}");
    let skipped = verified["checks"].as_array().unwrap().iter().find(|check| check["ok"].is_null()).unwrap();
    assert!(
        skipped["detail"].as_str().unwrap().contains("the program \"sim\" that played it is not given"),
        "{verified}"
    );
    let listed = String::from_utf8(program(&["models", "--program", &command]).output().unwrap().stdout).unwrap();
    assert!(listed.starts_with("parameter"), "{listed}");
}

#[test]
fn events_are_stored_replayed_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let arrow = format!("python3 {}", example("match.py"));
    let lines = format!("{arrow} lines");
    for command in [&arrow, &lines] {
        let checked = program(&["check", "--program", command, "--worlds", "20"]).output().unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    }
    let played = |command: &str, name: &str, more: &[&str]| {
        json(data, &[&["run", "--program", command, "--worlds", "40", "--name", name][..], more].concat())
    };
    let stored = played(&arrow, "stored", &["--range-worlds", "40"]);
    let parts = played(&lines, "parts", &["--range-worlds", "7"]);
    let replayed = played(&arrow, "replayed", &["--events", "replay"]);
    assert_eq!((&stored["hash"], &stored["hash"]), (&parts["hash"], &replayed["hash"]));
    let hash = |name: &str| json(data, &["verify", name])["event_hash"].clone();
    assert!(hash("stored").is_string());
    assert_eq!(hash("stored"), hash("parts"));

    let world = |name: &str, more: &[&str]| {
        json(data, &[&["events", name, "--entity", "match-2", "--world", "33"][..], more].concat())
    };
    let goals = world("stored", &[]);
    assert_eq!(goals, world("replayed", &["--program", &arrow]));
    assert!(!goals.as_array().unwrap().is_empty() && goals[0]["side"].is_string(), "{goals}");
    let sql = |name: &str| {
        let counts = "count(*) AS n, count(assist) AS assists, sum(penalty) AS penalties";
        format!("SELECT {counts} FROM events('{name}', 'match-1', '0-39')")
    };
    let counted = json(data, &["sql", &sql("stored")]);
    assert_eq!(counted, json(data, &["sql", &sql("replayed"), "--program", &arrow]));
    let [n, assists, penalties] = ["n", "assists", "penalties"].map(|name| counted[0][name].as_i64().unwrap());
    assert!(n > 50 && n == assists + penalties && penalties > 0, "{counted}");

    for name in ["stored", "replayed"] {
        let verified = json(data, &["verify", name, "--program", &arrow]);
        let last = verified["checks"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["ok"], &last["detail"]), (&true.into(), &"160 values".into()), "{verified}");
    }
    let said = failure(data, &["events", "replayed", "--entity", "match-2", "--world", "33"], 2);
    assert!(said.contains("the program \"match\" that played it is not given"), "{said}");
    assert!(said.ends_with("; name it with --program COMMAND\n"), "{said}");
    for words in [&["events", "replayed", "--entity", "match-2", "--world", "33"][..], &["verify", "stored"]] {
        let said = failure(data, &[words, &["--program", &lines]].concat(), 2);
        assert!(
            said.contains("is not the one that played these worlds: its words are `python3 match.py lines`"),
            "{said}"
        );
    }
}

#[test]
fn a_changed_program_verifies_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let answer = format!("shift=$(cat '{}/shift'); first=$((first + shift)); {NUMBERS}", folder.path().display());
    let answer = answer.replace("\\\"world\\\":$((first + i))", "\\\"world\\\":$((first - shift + i))");
    std::fs::write(folder.path().join("shift"), "0").unwrap();
    let command = script(folder.path(), "sim.sh", &answer);
    json(data, &["run", "--program", &command, "--worlds", "20"]);
    json(data, &["verify", "sim", "--program", &command]);
    // What the program reads is no word of its command line.
    std::fs::write(folder.path().join("shift"), "5").unwrap();
    let verified = run(data, &["verify", "sim", "--program", &command]);
    let table = String::from_utf8(verified.stdout).unwrap();
    assert_eq!(verified.status.code(), Some(1), "{table}");
    assert!(table.contains("x of one in world 0 is stored as 0, but playing it again gives 5"), "{table}");
    let changed = script(folder.path(), "sim.sh", &format!("{answer} # changed"));
    let said = failure(data, &["verify", "sim", "--program", &changed], 2);
    assert!(said.contains("a file of its command line has other content"), "{said}");
    json(data, &["run", "football", "--worlds", "1", "--name", "season"]);
    let said = failure(data, &["verify", "season", "--program", &changed], 2);
    assert_eq!(said, "error: ensemble \"season\" was played by football, not by program:sim\n");
    let said = failure(data, &["events", "season", "--entity", "game-001", "--world", "0", "--program", &changed], 2);
    assert!(said.contains("was played by football, not by program:sim"), "{said}");
    assert_eq!(json(data, &["verify", "season", "--replay"])["ok"], true);
}

#[test]
fn programs_are_extended_and_continued_unless_they_changed() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let command = script(folder.path(), "sim.sh", NUMBERS);
    let whole = json(data, &["run", "--program", &command, "--worlds", "50", "--name", "whole"]);
    json(data, &["run", "--program", &command, "--worlds", "20", "--range-worlds", "7"]);
    let extended = json(data, &["run", "--program", &command, "--extend", "50"]);
    assert_eq!((&extended["hash"], &extended["played"]), (&whole["hash"], &30.into()));
    // The same file in another folder is the same program.
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let moved = script(&elsewhere, "sim.sh", NUMBERS);
    assert_eq!(json(data, &["run", "--program", &moved, "--extend", "60"])["played"], 10);
    let changed = script(folder.path(), "sim.sh", &format!("{NUMBERS} # changed"));
    let said = failure(data, &["run", "--program", &changed, "--extend", "70"], 2);
    assert!(said.contains("cannot be extended: it was played with"), "{said}");
    let said = failure(data, &["run", "--program", &changed, "--worlds", "60", "--resume"], 2);
    assert!(said.contains("it was started with another model: the program \"sim\" is not the one"), "{said}");
    assert!(said.contains("a file of its command line has other content; use the same, or --replace"), "{said}");
    let replaced = json(data, &["run", "--program", &changed, "--worlds", "50", "--replace"]);
    assert_eq!(replaced["hash"], whole["hash"]);
}

#[test]
fn programs_of_another_version_or_outputs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let command = script(folder.path(), "sim.sh", NUMBERS);
    // The program describes itself from a file that its command line does not name.
    let path = folder.path().join("sim.sh");
    let source = std::fs::read_to_string(&path).unwrap();
    let (_, answers) = source.split_once('\n').unwrap();
    std::fs::write(&path, format!("cat \"$(dirname \"$0\")/description\"\n{answers}")).unwrap();
    let describe = |version: &str, entity: &str| {
        let kinds = r#"{"k": {"x": "number"}}"#;
        let line = format!(r#"{{"name": "sim", "version": "{version}", "kinds": {kinds}, "entities": ["{entity}"]}}"#);
        std::fs::write(folder.path().join("description"), format!("{line}\n")).unwrap();
    };
    describe("1", "one");
    json(data, &["run", "--program", &command, "--worlds", "20"]);
    for (version, entity, part, difference) in [
        ("2", "one", "version", "its version is \"2\", and was \"1\""),
        ("1", "two", "outputs", "it has other outputs"),
    ] {
        describe(version, entity);
        let said = failure(data, &["run", "--program", &command, "--extend", "30"], 2);
        let expected = format!("it was played with another definition of its model: {part} differs");
        assert!(said.contains("cannot be extended") && said.contains(&expected), "{said}");
        let said = failure(data, &["run", "--program", &command, "--worlds", "20", "--resume"], 2);
        let expected = format!(
            "it was started with another model: the program \"sim\" is not the one that played these worlds: \
             {difference}; use the same, or --replace"
        );
        assert!(said.contains(&expected), "{said}");
    }
    describe("1", "one");
    assert_eq!(json(data, &["run", "--program", &command, "--extend", "30"])["played"], 10);
}

#[test]
fn stored_names_start_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let command = script(folder.path(), "sim.sh", &format!("touch \"$0.started\"; {NUMBERS}"));
    json(data, &["run", "--program", &command, "--worlds", "5"]);
    std::fs::remove_file(folder.path().join("sim.sh.started")).unwrap();
    let said = failure(data, &["run", "program:sim", "--worlds", "9", "--resume"], 2);
    assert_eq!(
        said,
        "error: cannot load model \"program:sim\": the program \"sim\" that played it is not given; name it with --program \
         COMMAND\n"
    );
    json(data, &["verify", "sim"]);
    assert!(!folder.path().join("sim.sh.started").exists());
    let both = failure(data, &["run", "football", "--program", &command], 2);
    assert!(both.contains("cannot be used with"), "{both}");
}

#[test]
fn broken_programs_are_refused_before_anything_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    std::fs::create_dir(data).unwrap();
    let said = |command: &str| failure(data, &["run", "--program", command, "--program-seconds", "1"], 2);
    assert!(said("/no/such/program").starts_with("error: --program /no/such/program: cannot start /no/such/program: "));
    assert!(
        said("sh -c 'echo so be it >&2; exit 3'")
            .contains("ended with exit status 3; the end of its stderr:\n  so be it")
    );
    assert!(said("echo hello").contains("does not describe itself: its first line is \"hello\": expected value"));
    assert!(said("sim 'x").contains("cannot split the command line"));
    assert!(said("sleep 100").contains("did not answer within 1 s"));
    let first = "error: worlds 00000000-00000000 could not be played: model program:sim failed";
    for (answer, expected) in [
        ("echo rubbish", ": the program printed \"rubbish\""),
        ("sleep 100", ": the program did not answer within 1 s"),
        ("exit 9", ": the program ended with exit status 9"),
        ("echo '{\"world\": 0, \"x\": 0.5}'; echo", " on one in world 0: x is 0.5, not a whole number"),
        ("echo '{\"world\": 0}'; echo", " on one in world 0: the record has no outcome \"x\""),
    ] {
        let said = said(&script(folder.path(), "sim.sh", answer));
        assert!(said.starts_with(&format!("{first}{expected}")), "{said}");
    }
    assert!(std::fs::read_dir(data).unwrap().next().is_none(), "a refused command wrote something");
}

#[test]
fn a_failing_range_is_named_and_the_rest_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    // World 33 fails until somebody helps. The help is no word of the command line, so the program stays the same.
    let answer = format!(
        "if [ $first = 30 ] && [ ! -e '{}/help' ]; then echo worn out >&2; exit 5; fi; {NUMBERS}",
        folder.path().display()
    );
    let command = script(folder.path(), "sim.sh", &answer);
    let words = ["run", "--program", &command, "--worlds", "50", "--range-worlds", "10", "--threads", "1"];
    let said = failure(data, &words, 2);
    let expected = "error: worlds 00000030-00000039 could not be played: model program:sim failed: the program ended with \
                    exit status 5; the end of its stderr:\n  worn out";
    assert_eq!(said.trim_end(), expected);
    std::fs::write(folder.path().join("help"), "").unwrap();
    let resumed = json(data, &[&words[..], &["--resume"]].concat());
    let whole = json(data, &["run", "--program", &command, "--worlds", "50", "--name", "whole"]);
    assert_eq!((&resumed["hash"], &resumed["complete"]), (&whole["hash"], &true.into()));
}

#[test]
fn broken_promises_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let found = |answer: &str| {
        let command = script(folder.path(), "sim.sh", answer);
        let output = program(&["check", "--program", &command, "--worlds", "10", "--format", "json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        let promise: Value = serde_json::from_slice(&output.stdout).unwrap();
        let failed = promise["checks"].as_array().unwrap().iter().find(|check| check["ok"] == false).unwrap().clone();
        format!("{}: {}", failed["name"].as_str().unwrap(), failed["detail"].as_str().unwrap())
    };
    let with = |x: &str| NUMBERS.replace("\\\"x\\\":$((first + i))", &format!("\\\"x\\\":{x}"));
    let state = found(&format!("calls=$((calls + 1)); {}", with("$calls")));
    assert!(state.starts_with("played again: x of one in world 0 is 1 or 2: the model keeps state"), "{state}");
    let process = found(&with("$$"));
    assert!(process.starts_with("started anew: x of one in world 0 is "), "{process}");
    let range = found(&with("$i"));
    assert!(
        range.starts_with("cut into other ranges: x of one in world 4 is 4 or 0: a value depends on other"),
        "{range}"
    );
    let seed = found(NUMBERS);
    assert!(seed.starts_with("another seed: another seed gives the same worlds"), "{seed}");
    // Rust's models are checked by the same command.
    assert!(program(&["check", "football", "--worlds", "3"]).output().unwrap().status.success());
}

/// A program that writes its number and that of a process of its own, and ends neither by itself nor on request.
fn stubborn(folder: &Path) -> String {
    let pids = folder.join("pids");
    let answer = format!("sleep 1000 & echo $$ $! >> '{}'; sleep 0.1; {NUMBERS}", pids.display());
    let command = script(folder, "stubborn.sh", &answer);
    let path = folder.join("stubborn.sh");
    let source = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("trap '' TERM INT HUP\n{source}\nsleep 1000\n")).unwrap();
    command
}

/// Waits until the processes that were noted are gone, or dead and waited for by nobody.
fn expect_gone(pids: &Path) {
    let noted = std::fs::read_to_string(pids).unwrap();
    let is_gone = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.contains(") Z ") || kill(Pid::from_raw(pid.parse().unwrap()), None) == Err(Errno::ESRCH)
    };
    let started = Instant::now();
    while !noted.split_whitespace().all(is_gone) {
        assert!(started.elapsed() < PATIENCE, "some of {noted:?} are still there");
        sleep(Duration::from_millis(20));
    }
}

fn lines_of(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn no_program_outlives_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let pids = folder.path().join("pids");
    let command = stubborn(folder.path());
    let words = ["run", "--program", &command, "--worlds", "40", "--range-worlds", "2", "--threads", "2"];
    let interrupt = Signal::SIGINT;
    let endings = [
        (vec![], Some(0)),
        (vec![interrupt], Some(130)),
        (vec![interrupt; 2], Some(130)),
        (vec![Signal::SIGKILL], None),
    ];
    for (signals, code) in endings {
        let _ = std::fs::remove_file(&pids);
        let mut child = program(&words)
            .arg("--replace")
            .arg("--data")
            .arg(data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        // Some are of the measurement before the run.
        while !signals.is_empty() && lines_of(&pids) < 8 {
            assert!(started.elapsed() < PATIENCE && child.try_wait().unwrap().is_none());
            sleep(Duration::from_millis(5));
        }
        for signal in &signals {
            kill(Pid::from_raw(child.id() as i32), *signal).unwrap();
            sleep(Duration::from_millis(30));
        }
        assert_eq!(child.wait().unwrap().code(), code, "{signals:?}");
        assert!(lines_of(&pids) > 1);
        expect_gone(&pids);
    }
    let verified = run(data, &["verify", "sim"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
