//! Events in both forms of answers.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt64Array,
};
use arrow::datatypes::Int8Type;
use arrow::ipc::writer::StreamWriter;
use model::{Model, Wanted};
use world::{Seed, World, WorldRange};

use super::{Happened, Keep, Script};

const DESCRIPTION: &str = r#"{"name": "m", "kinds": {"k": {"x": "number"}}, "entities": ["a", "b"], "events": {"n": "number", "by": {"kind": "code", "labels": ["home", "away"], "nullable": true}, "own": "flag", "at": {"kind": "real", "nullable": true}}}"#;

fn simulate(model: &dyn Model, events: bool) -> Result<Keep, String> {
    let mut kept = Keep::default();
    let range = WorldRange::new(World(7), 2).unwrap();
    let played = model.simulate(Seed(1), range, Wanted { events, entity: None }, &mut kept);
    played.map(|()| kept).map_err(|stop| stop.reason("m"))
}

fn answering(answer: &str) -> Script {
    Script::new(&format!("echo '{DESCRIPTION}'; while read -r request; do {answer}\ndone"))
}

/// Outcomes of all records, and some events.
fn lines(events: &[&str]) -> String {
    let records = (0..4).map(|i| format!(r#"{{"world": {}, "entity": {}, "x": {i}}}"#, 7 + i % 2, i / 2));
    let lines = events.iter().map(|event| (*event).to_owned()).chain(records);
    let lines: Vec<String> = lines.map(|line| format!("echo '{line}'\n")).collect();
    lines.concat() + "echo"
}

const EVENTS: [&str; 3] = [
    r#"{"world": 8, "entity": "b", "event": {"n": 1, "by": "away", "own": true, "at": 0.5}}"#,
    r#"{"world": 7, "entity": 1, "event": {"own": 0, "n": -2, "at": "NaN"}}"#,
    r#"{"event": {"n": 3, "by": 0, "own": false, "at": null}, "world": 8, "entity": "b"}"#,
];

/// The events of `EVENTS`, all of b: those of world 7, then those of world 8.
fn expected() -> Vec<Happened> {
    let nan = Some(f64::NAN);
    vec![
        vec![vec![Some(-2.0), None, Some(0.0), nan]],
        vec![vec![Some(1.0), Some(1.0), Some(1.0), Some(0.5)], vec![Some(3.0), Some(0.0), Some(0.0), None]],
    ]
}

#[test]
fn lines_may_be_events() {
    let model = answering(&lines(&EVENTS)).model().unwrap();
    for _ in 0..2 {
        let kept = simulate(&*model, true).unwrap();
        assert_eq!(format!("{:?}", kept.1), format!("{:?}", [(1, expected())]));
        assert_eq!(kept.0, [[[0.0, 1.0]], [[2.0, 3.0]]]);
        // Those that nobody asked for are skipped.
        assert!(simulate(&*model, false).unwrap().1.is_empty());
    }
}

#[test]
fn requests_say_whether_events_are_wanted() {
    let script = answering(&format!("echo \"$request\" >> \"$1/requests\"; {}", lines(&[])));
    let model = script.model().unwrap();
    for events in [true, false] {
        simulate(&*model, events).unwrap();
    }
    let requests = std::fs::read_to_string(script.path().join("requests")).unwrap();
    let wanted: Vec<bool> = requests
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["events"].as_bool().unwrap())
        .collect();
    assert_eq!(wanted, [true, false]);
}

#[test]
fn wrong_events_are_named() {
    for (event, expected) in [
        (r#"{"own": 0}"#, " on b in world 8: an event has no column \"n\""),
        (r#"{"n": 0.5, "own": 0}"#, " on b in world 8: event column \"n\" is 0.5, not a whole number: round it"),
        (r#"{"n": 3000000000, "own": 0}"#, " on b in world 8: event column \"n\" is 3000000000, not a number within"),
        (r#"{"n": null, "own": 0}"#, " on b in world 8: event column \"n\" is NULL: give a value, or declare"),
        (r#"{"n": [], "own": 0}"#, " on b in world 8: event column \"n\" is [], not a number"),
        (r#"{"n": 1, "own": 2}"#, " on b in world 8: event column \"own\" is 2, not 0 or 1"),
        (r#"{"n": 1, "own": 0, "by": 2}"#, " on b in world 8: event column \"by\" is 2, not a code from 0 to 1"),
        (r#"{"n": 1, "own": 0, "by": "hme"}"#, " on b in world 8: event column \"by\" has no label \"hme\"; did you"),
        (r#"{"n": 1, "own": 0, "m": 2}"#, " on b in world 8: event \"{\\\"n\\\": 1"),
        (r#"{"n": 1, "n": 1, "own": 0}"#, " on b in world 8: event \"{\\\"n\\\": 1"),
        ("7", " on b in world 8: event \"7\": invalid type"),
    ] {
        let line = format!(r#"{{"world": 8, "entity": "b", "event": {event}}}"#);
        let reason = simulate(&*answering(&lines(&[&line])).model().unwrap(), true).err().unwrap();
        assert!(reason.starts_with(&format!("model m failed{expected}")), "{event}: {reason}");
    }
    let failure = |line: &str| simulate(&*answering(&lines(&[line])).model().unwrap(), true).err().unwrap();
    let outside = failure(r#"{"world": 9, "entity": "b", "event": {"n": 1, "own": 0}}"#);
    assert!(outside.contains("a record has world 9, outside the range from 7 to 8"), "{outside}");
    let both = failure(r#"{"world": 8, "entity": "b", "x": 1, "event": {"n": 1, "own": 0}}"#);
    assert!(both.contains("a line has an event and outcomes: print two lines"), "{both}");
}

fn of(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

fn stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn outcomes() -> RecordBatch {
    of(vec![
        ("world", Arc::new(Int32Array::from(vec![7, 8, 7, 8]))),
        ("entity", Arc::new(Int32Array::from(vec![0, 0, 1, 1]))),
        ("x", Arc::new(Int32Array::from(vec![0, 1, 2, 3]))),
    ])
}

fn events() -> Vec<(&'static str, ArrayRef)> {
    let by: DictionaryArray<Int8Type> = [Some("away"), None, Some("home")].into_iter().collect();
    vec![
        ("world", Arc::new(Int32Array::from(vec![8, 7, 8]))),
        ("entity", Arc::new(StringArray::from(vec!["b"; 3]))),
        ("at", Arc::new(Float64Array::from(vec![Some(0.5), Some(f64::NAN), None]))),
        ("n", Arc::new(Float64Array::from(vec![1.0, -2.0, 3.0]))),
        ("by", Arc::new(by)),
        ("own", Arc::new(BooleanArray::from(vec![true, false, false]))),
    ]
}

fn printing(streams: &[Vec<u8>], after: &str) -> Script {
    let script = answering(&format!("cat \"$1/answer\"; {after}"));
    std::fs::write(script.path().join("answer"), streams.concat()).unwrap();
    script
}

#[test]
fn a_second_stream_has_events() {
    let script = printing(&[stream(&outcomes()), stream(&of(events()))], "");
    let model = script.model().unwrap();
    let kept = simulate(&*model, true).unwrap();
    assert_eq!(format!("{:?}", kept.1), format!("{:?}", [(1, expected())]));
    let without = |name: &str| events().into_iter().filter(|(own, _)| *own != name).collect::<Vec<_>>();
    let played = |columns| {
        let script = printing(&[stream(&outcomes()), stream(&of(columns))], "");
        simulate(&*script.model().unwrap(), true)
    };
    let kept = played(without("by")).unwrap();
    assert_eq!(kept.1[0].1[1][0][1], None);
    let with = |name: &'static str, column: ArrayRef| {
        let mut columns = without(name);
        columns.push((name, column));
        played(columns).err().unwrap()
    };
    let numbers = |numbers: [Option<i32>; 3]| Arc::new(Int32Array::from(numbers.to_vec()));
    for (reason, expected) in [
        (played(without("n")).err().unwrap(), ": the stream of events has no column \"n\""),
        (played(without("entity")).err().unwrap(), ": the stream of events has no column \"entity\""),
        (with("m", numbers([None; 3])), ": the stream of events: events have no column \"m\"; there are: n, by"),
        (with("n", numbers([Some(1), None, None])), " on b in world 7: event column \"n\" is NULL: give a value"),
        (with("own", numbers([Some(1), Some(1), Some(2)])), " on b in world 8: event column \"own\" is 2, not 0 or 1"),
        (
            with("by", Arc::new(StringArray::from(vec!["home", "hme", "away"]))),
            " on b in world 8: event column \"by\" has no label \"hme\"; did you mean home?",
        ),
        (
            with("at", Arc::new(UInt64Array::from(vec![1, u64::MAX, 3]))),
            " on b in world 8: event column \"at\" has integers beyond 2^53",
        ),
        (
            with("n", Arc::new(StringArray::from(vec!["1"; 3]))),
            " on b in world 8: event column \"n\" is of type Utf8: give numbers or booleans",
        ),
    ] {
        assert!(reason.starts_with(&format!("model m failed{expected}")), "{reason}, and not {expected}");
    }
}

#[test]
fn a_missing_stream_of_events_is_named() {
    let reason = simulate(&*printing(&[stream(&outcomes())], "echo done").model().unwrap(), true).err().unwrap();
    assert!(
        reason.contains("after all 4 records, the program printed \"done\": the request has \"events\": true"),
        "{reason}"
    );
    let silent = printing(&[stream(&outcomes())], "").within(std::time::Duration::from_millis(1500));
    let reason = simulate(&*silent.model().unwrap(), true).err().unwrap();
    assert!(reason.ends_with("print an empty line after lines, or a second Arrow stream, of events"), "{reason}");
}

#[test]
fn a_stream_of_events_that_nobody_wants_is_named() {
    let script = printing(&[stream(&outcomes()), stream(&of(events()))], "echo > \"$1/printed\"");
    let model = script.model().unwrap();
    simulate(&*model, false).unwrap();
    while !script.path().join("printed").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let reason = simulate(&*model, false).err().unwrap();
    let expected = "the program printed an Arrow stream after the end of its answer: print a second one only if the request \
                    has \"events\": true";
    assert_eq!(reason, format!("model m failed: {expected}"));
}
