//! Programs that do not start, end too early, or not at all.

use std::thread::sleep;
use std::time::{Duration, Instant};

use model::{EventBlock, OutcomeBlock, Sink, Stop, Wanted};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use world::{Seed, World, WorldRange};

use super::{DESCRIPTION, Script, play};
use crate::{Limits, plugin};

const GOOD: &str = r#"for world in 0 1; do for entity in a b; do
    printf '{"world": %s, "entity": "%s", "x": 1, "y": 0}\n' $world $entity; done; done; echo"#;
const SOON: Duration = Duration::from_millis(1500);

#[test]
fn programs_that_do_not_start_say_why() {
    let limits = Limits { range: SOON };
    let reason = plugin("/no/such/program --fast", limits).map(|_| ()).unwrap_err().to_string();
    assert!(reason.starts_with("cannot start /no/such/program: No such file"), "{reason}");
    for (source, expected) in [
        ("echo too bad >&2; exit 3", "the program ended with exit status 3; the end of its stderr:\n  too bad"),
        ("exit 0", "the program ended with exit status 0, before the end of its input; it wrote nothing to stderr"),
        ("echo hello; cat", "the program does not describe itself: its first line is \"hello\": expected value"),
        ("echo '{}'; cat", "the program does not describe itself: missing field `name`"),
        ("kill -TERM $$", "the program was ended by signal 15 (SIGTERM)"),
        ("exec >&-; sleep 5", "the program closed its output"),
    ] {
        let reason = Script::new(source).failure();
        assert!(reason.starts_with(expected), "{source}: {reason}");
    }
    let reason = Script::new("sleep 100").within(SOON).failure();
    assert!(reason.starts_with("the program did not answer within 1.5 s"), "{reason}");
}

#[test]
fn programs_that_die_are_reported_with_their_last_words() {
    let dying = r#"printf '{"world": 0, "entity": "a", "x": 1, "y": 0}\n'
        for line in 1 2 3; do echo "line $line" >&2; done; kill -SEGV $$"#;
    let reason = Script::answering(dying).failure();
    let expected = "model pairs failed: after 1 of 4 records, the program was ended by signal 11 (SIGSEGV); the end of its \
                    stderr:\n  line 1\n  line 2\n  line 3";
    assert_eq!(reason, expected);
    // Much is said, and little is kept; the program does not wait for a reader.
    let talking = "yes 'a long story' | head -n 100000 >&2; exit 7";
    let reason = Script::answering(talking).failure();
    assert!(reason.contains("ended with exit status 7") && reason.len() < 5000, "{}", reason.len());
}

#[test]
fn programs_that_hang_are_ended() {
    let started = Instant::now();
    let reason = Script::answering("sleep 100").within(SOON).failure();
    assert!(reason.starts_with("model pairs failed: the program did not answer within 1.5 s"), "{reason}");
    let reason = Script::answering(GOOD.strip_suffix("; echo").unwrap()).within(SOON).failure();
    assert!(
        reason.contains("after all 4 records")
            && reason.contains("print an empty line after lines, or close the writer"),
        "{reason}"
    );
    // It never reads, and its output is endless.
    let flooding = Script::new(&format!("echo '{DESCRIPTION}'; sleep 0.1; yes")).within(SOON);
    assert!(flooding.failure().contains("the program printed \"y\""));
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn wrong_records_come_with_the_last_words() {
    let reason = Script::answering("echo drawing >&2; echo '{\"world\": 0, \"entity\": \"a\", \"x\": 0.5}'").failure();
    let expected = "model pairs failed on a in world 0: x is 0.5, not a whole number: round it, or declare it real; the end \
                    of its stderr:\n  drawing";
    assert_eq!(reason, expected);
    let reason = Script::answering("echo thinking >&2; sleep 0.1; echo rubbish").failure();
    assert!(reason.ends_with("lines that are JSON objects; the end of its stderr:\n  thinking"), "{reason}");
    // Long lines are shortened, and none begins in its middle.
    let noisy = "for line in 1 2 3; do head -c 3000 /dev/zero | tr '\\0' x >&2; echo \" $line\" >&2; done; exit 1";
    let reason = Script::answering(noisy).failure();
    let lines: Vec<&str> = reason.lines().skip(1).collect();
    assert_eq!(lines, [format!("  {} ...", "x".repeat(300))]);
}

#[test]
fn the_last_lines_are_shown() {
    let reason = Script::answering("for line in $(seq 1 30); do echo \"line $line\" >&2; done; exit 1").failure();
    let shown: Vec<&str> = reason.lines().skip(1).collect();
    assert_eq!(shown, (11..=30).map(|line| format!("  line {line}")).collect::<Vec<_>>());
}

#[test]
fn programs_that_leave_a_process_behind_are_not_waited_for() {
    let started = Instant::now();
    let reason = Script::answering("sleep 1000 & exit 4").within(Duration::from_mins(5)).failure();
    assert!(
        reason.contains("ended with exit status 4, and a process that it started keeps its output open"),
        "{reason}"
    );
    assert!(started.elapsed() < Duration::from_mins(1));
}

/// Wants a range until it is asked for the second time.
#[derive(Default)]
struct Impatient(u32);

impl Sink for Impatient {
    fn outcomes(&mut self, _: OutcomeBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn events(&mut self, _: EventBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn waiting(&mut self) -> Result<(), Stop> {
        self.0 += 1;
        if self.0 > 1 { Err(Stop::Sink) } else { Ok(()) }
    }
}

#[test]
fn slow_programs_are_waited_for_until_nobody_wants_the_range() {
    let model = Script::answering("sleep 1000").within(Duration::from_mins(5)).model().unwrap();
    let mut sink = Impatient::default();
    let range = WorldRange::new(World(0), 2).unwrap();
    let played = model.simulate(Seed(1), range, Wanted::default(), &mut sink);
    assert!(matches!(played, Err(Stop::Sink)) && sink.0 == 2, "{played:?}");
}

#[test]
fn a_range_after_a_failure_gets_another_process() {
    let source = format!("if [ -e \"$1/failed\" ]; then {GOOD}; else touch \"$1/failed\"; exit 1; fi");
    let script = Script::answering(&source);
    let model = script.model().unwrap();
    assert!(play(&*model, 0, 2).unwrap_err().contains("exit status 1"));
    assert_eq!(play(&*model, 0, 2).unwrap().len(), 2);
}

#[test]
fn a_changed_description_is_refused() {
    let other = DESCRIPTION.replace("\"x\"", "\"z\"");
    let source = format!(
        "if [ -e \"$1/again\" ]; then echo '{other}'; else touch \"$1/again\"; echo '{DESCRIPTION}'; fi; read -r request; exit 1"
    );
    let script = Script::new(&source);
    let model = script.model().unwrap();
    assert!(play(&*model, 0, 2).unwrap_err().contains("exit status 1"));
    let reason = play(&*model, 0, 2).unwrap_err();
    assert!(reason.contains("describes itself differently when it is started again"), "{reason}");
}

#[test]
fn nothing_outlives_its_model() {
    // It ignores the end of its input, and so does a process that it started.
    let source = format!(
        "trap '' TERM INT HUP; sleep 1000 & echo $! $$ > \"$1/pids\"; echo '{DESCRIPTION}'
         while read -r request; do {GOOD}; done; sleep 1000"
    );
    let script = Script::new(&source);
    let model = script.model().unwrap();
    assert_eq!(play(&*model, 0, 2).unwrap().len(), 2);
    let pids = std::fs::read_to_string(script.path().join("pids")).unwrap();
    let pids: Vec<Pid> = pids.split_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap())).collect();
    assert!(pids.len() == 2 && pids.iter().all(|pid| kill(*pid, None).is_ok()));
    drop(model);
    // A killed process is there until its parent, or init, has waited for it.
    let is_gone = |pid: Pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        kill(pid, None) == Err(Errno::ESRCH) || stat.contains(") Z ")
    };
    let started = Instant::now();
    while !pids.iter().all(|pid| is_gone(*pid)) {
        assert!(started.elapsed() < Duration::from_secs(10), "{pids:?} are still there");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn well_behaved_programs_end_by_themselves() {
    let source = format!("echo '{DESCRIPTION}'; while read -r request; do {GOOD}; done; echo done > \"$1/parted\"");
    let script = Script::new(&source);
    let model = script.model().unwrap();
    play(&*model, 0, 2).unwrap();
    drop(model);
    assert_eq!(std::fs::read_to_string(script.path().join("parted")).unwrap(), "done\n");
}
