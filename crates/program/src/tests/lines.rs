//! Answers of lines.

use super::{DESCRIPTION, Script, play};

/// Lines for two worlds, then the end.
fn lines(records: &[&str]) -> String {
    let lines: Vec<String> = records.iter().map(|record| format!("echo '{record}'\n")).collect();
    format!("{}echo", lines.concat())
}

const GOOD: [&str; 4] = [
    r#"{"world": 0, "entity": "a", "x": 7, "y": true}"#,
    r#"{"world": 1, "entity": "a", "x": 70000, "y": 0}"#,
    r#"{"y": 1.0, "x": -8.0, "entity": 1, "world": 0}"#,
    r#"{"world": 1, "entity": "b", "x": 9, "y": false}"#,
];

#[test]
fn records_come_in_any_order_and_form() {
    let reversed: Vec<&str> = GOOD.into_iter().rev().collect();
    for records in [&GOOD[..], &reversed] {
        let model = Script::answering(&lines(records)).model().unwrap();
        for _ in 0..2 {
            let played = play(&*model, 0, 2).unwrap();
            assert_eq!(played, [[vec![7.0, 70000.0], vec![1.0, 0.0]], [vec![-8.0, 9.0], vec![1.0, 0.0]]]);
        }
    }
}

#[test]
fn a_line_is_one_object() {
    for rest in [GOOD[1], " debug", "}"] {
        let both = format!("{}{rest}", GOOD[0]);
        let said = Script::answering(&lines(&[&both, GOOD[2], GOOD[3]])).play(0, 2).unwrap_err();
        assert!(said.contains("trailing characters at column"), "{said}");
    }
}

#[test]
fn long_names_do_not_make_an_answer_too_long() {
    let names: Vec<String> = (0..100).map(|number| format!("{:é<40}{number}", "")).collect();
    let kind = names.iter().map(|name| format!("\"{name}\": \"real\"")).collect::<Vec<_>>().join(", ");
    let description = format!(r#"{{"name": "r", "kinds": {{"k": {{{kind}}}}}, "entities": ["only"]}}"#);
    // As Python's json.dumps writes them.
    let letter = format!("{}u00e9", '\\');
    let values = names.iter().map(|name| format!("\"{}\": 0.1", name.replace('é', &letter))).collect::<Vec<_>>();
    let script = format!(
        "printf '%s\\n' '{description}'; while read -r request; do world=0; while [ $world -lt 300 ]; do \
         printf '%s\\n' '{{\"world\": '$world', {}}}'; world=$((world+1)); done; echo; done",
        values.join(", ")
    );
    assert_eq!(Script::new(&script).play(0, 300).unwrap()[0][0].len(), 300);
}

#[test]
fn requests_have_seeds_entities_and_parameters() {
    let description = DESCRIPTION.replacen('{', r#"{"parameters": {"p": 0.1, "t": "x"}, "#, 1);
    let script = Script::new(&format!(
        "echo '{description}'; while read -r request; do echo \"$request\" >> \"$1/requests\"; {}\ndone",
        lines(&GOOD)
    ));
    script.play(0, 2).unwrap();
    let request = std::fs::read_to_string(script.path().join("requests")).unwrap();
    let request: serde_json::Value = serde_json::from_str(&request).unwrap();
    assert_eq!(request["parameters"], serde_json::json!({"p": 0.1, "t": "x"}));
    assert_eq!(request["entities"], serde_json::json!(["a", "b"]));
    assert_eq!((&request["first"], &request["worlds"], &request["seed"]), (&0.into(), &2.into(), &1.into()));
    assert_eq!(request["seeds"].as_array().unwrap().len(), 2);
}

#[test]
fn real_numbers_are_read_to_the_bit() {
    let description = r#"{"name": "r", "kinds": {"k": {"r": "real"}}, "entities": ["only"]}"#;
    let values = ["0.1", "-0", "5e-324", "1.7976931348623157e308", "\"NaN\"", "\"-inf\"", "0.30000000000000004"];
    let records: Vec<String> =
        values.iter().enumerate().map(|(world, value)| format!(r#"{{"world": {world}, "r": {value}}}"#)).collect();
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let script = Script::new(&format!("echo '{description}'; while read -r request; do {}\ndone", lines(&records)));
    let played = script.play(0, values.len() as u32).unwrap();
    let refused = |value: &str| {
        let answer = format!("echo '{{\"world\": 0, \"r\": {value}}}'; echo");
        Script::new(&format!("echo '{description}'; while read -r request; do {answer}\ndone")).play(0, 1).unwrap_err()
    };
    assert!(
        refused("9007199254740993").contains("r is 9007199254740993, beyond 2^53"),
        "{}",
        refused("9007199254740993")
    );
    for value in ["1e400", "-1e400", "12345678901234567891", "-12345678901234567891"] {
        let said = refused(value);
        assert!(said.contains(&format!("r is {value}, not a number that a double holds")), "{said}");
    }
    for value in ["\"3.5\"", "\"1e999\"", "\"9007199254740993\"", "\"\"", "\"x\""] {
        let said = refused(value);
        assert!(said.contains(&format!("r is {value}, not a number")), "{said}");
    }
    for value in ["NaN", "Infinity", "-Infinity"] {
        let said = refused(value);
        assert!(said.contains("print the texts \"NaN\", \"inf\" and \"-inf\""), "{said}");
    }
    assert!(refused("null").contains("r is null, not a number: print NaN as the text \"NaN\""), "{}", refused("null"));
    let expected = [0.1, -0.0, 5e-324, f64::MAX, f64::NAN, f64::NEG_INFINITY, 0.1 + 0.2].map(f64::to_bits);
    assert_eq!(played[0][0].iter().map(|value| value.to_bits()).collect::<Vec<_>>(), expected);
}

#[test]
fn wrong_records_are_named() {
    let second = |record: &str| {
        let records = [GOOD[0], record, GOOD[2], GOOD[3]];
        Script::answering(&lines(&records)).failure()
    };
    let failed = |reason: &str| format!("model pairs failed{reason}");
    for (record, expected) in [
        (r#"{"world": 1, "entity": "a", "x": 2.5, "y": 0}"#, " on a in world 1: x is 2.5, not a whole number"),
        (
            r#"{"world": 1, "entity": "a", "x": 3e9, "y": 0}"#,
            " on a in world 1: x is 3000000000, beyond the numbers from -2147483647",
        ),
        (r#"{"world": 1, "entity": "a", "x": "7", "y": 0}"#, " on a in world 1: x is \"7\", not a number"),
        (r#"{"world": 1, "entity": "a", "x": null, "y": 0}"#, " on a in world 1: x is null, not a number"),
        (r#"{"world": 1, "entity": "a", "x": 7, "y": 2}"#, " on a in world 1: y is 2: a flag is 0 or 1"),
        (
            r#"{"world": 1, "entity": "a", "x": 9007199254740993, "y": 0}"#,
            " on a in world 1: x is 9007199254740993, beyond the numbers from",
        ),
        (r#"{"world": 1, "entity": "a", "y": 0}"#, " on a in world 1: the record has no outcome \"x\""),
        (r#"{"world": 0, "entity": "a", "x": 1, "y": 0}"#, " on a in world 0: two records have this world and entity"),
        (
            r#"{"world": 2, "entity": "a", "x": 1, "y": 0}"#,
            " on a: a record has world 2, outside the range from 0 to 1",
        ),
        (r#"{"world": -1, "entity": "a", "x": 1, "y": 0}"#, " on a: a record has world -1, outside"),
        (r#"{"world": 0.5, "entity": "a", "x": 1, "y": 0}"#, " on a: a record has world 0.5: give its number"),
        (r#"{"world": 1, "entity": "c", "x": 1, "y": 0}"#, ": no entity \"c\"; there are: a, b"),
        (r#"{"world": 1, "entity": 2, "x": 1, "y": 0}"#, ": a record has entity 2: there are 2"),
        (r#"{"world": 1, "x": 1, "y": 0}"#, ": a record has no entity"),
        (r#"{"entity": "a", "x": 1, "y": 0}"#, " on a: a record has no world"),
    ] {
        let reason = second(record);
        assert!(reason.starts_with(&failed(expected)), "{record}: {reason}");
    }
    for (record, expected) in [
        (r#"{"world": 1, "entity": "a", "xx": 1, "y": 0}"#, "no outcome \"xx\"; did you mean x?"),
        (r#"{"world": 1, "entity": "a", "x": 1, "x": 2, "y": 0}"#, "a name is repeated"),
        ("hello", "the program printed \"hello\": expected value"),
        ("[1]", "invalid type: sequence, expected a record"),
    ] {
        let reason = second(record);
        assert!(reason.starts_with(&failed(": after 1 of 4 records, ")) && reason.contains(expected), "{reason}");
    }
}

#[test]
fn missing_records_are_named() {
    let reason = Script::answering(&lines(&GOOD[..3])).failure();
    let expected = "model pairs failed on b in world 1: the record is missing: the answer has 3 of 4 records";
    assert_eq!(reason, expected);
    assert!(Script::answering("echo").failure().contains("on a in world 0: the record is missing"));
}

#[test]
fn outcomes_of_other_kinds_are_refused() {
    let description =
        r#"{"name": "m", "kinds": {"k": {"x": "number"}, "l": {"z": "real"}}, "entities": {"a": "k", "b": "l"}}"#;
    let of = |records: &[&str]| {
        Script::new(&format!("echo '{description}'; while read -r request; do {}\ndone", lines(records)))
    };
    let a = r#"{"world": 0, "entity": "a", "x": 1}"#;
    let played = of(&[a, r#"{"world": 0, "entity": "b", "z": 0.5}"#]).play(0, 1).unwrap();
    assert_eq!(played, [[[1.0]], [[0.5]]]);
    let reason = of(&[a, r#"{"world": 0, "entity": "b", "x": 1}"#]).play(0, 1).unwrap_err();
    assert!(reason.contains("on b in world 0: entities of kind l have no outcome \"x\""), "{reason}");
}

#[test]
fn rubbish_and_long_lines_are_refused() {
    let reason = Script::answering("echo 'Hello, world'").failure();
    assert!(reason.starts_with("model pairs failed: the program printed \"Hello, world\": an answer is"), "{reason}");
    let marked = Script::answering("printf '\\357\\273\\277{\"world\": 0}\\n'").failure();
    assert!(
        marked.contains("the program printed \"\\u{feff}{") && marked.contains("an answer is an Arrow"),
        "{marked}"
    );
    let reason = Script::answering("printf '{'; head -c 2000000 /dev/zero | tr '\\0' x").failure();
    assert!(reason.contains("a line of more than 1048576 bytes"), "{reason}");
    let endless =
        Script::answering("while true; do echo '{\"world\": 0, \"entity\": \"a\", \"x\": 7, \"y\": 1}'; done");
    assert!(endless.failure().contains("two records have this world and entity"));
    let late = Script::answering(&format!("{}; echo late", lines(&GOOD)));
    let model = late.model().unwrap();
    let reasons: Vec<_> = (0..50).filter_map(|_| play(&*model, 0, 2).err()).collect();
    assert!(!reasons.is_empty() && reasons.iter().all(|reason| reason.contains("printed \"late\"")), "{reasons:?}");
}

#[test]
fn codes_are_places_or_labels() {
    let description = r#"{"name": "c", "kinds": {"k": {"c": {"kind": "code", "labels": ["top", "middle", "low"]}}},
        "entities": ["only"]}"#;
    let description = description.replace('\n', " ");
    let of = |values: &[&str]| {
        let record = |(world, value): (usize, &&str)| format!(r#"{{"world": {world}, "c": {value}}}"#);
        let records: Vec<String> = values.iter().enumerate().map(record).collect();
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        Script::new(&format!("echo '{description}'; while read -r request; do {}\ndone", lines(&records)))
    };
    assert_eq!(of(&["2", "\"middle\"", "\"top\""]).play(0, 3).unwrap(), [[[2.0, 1.0, 0.0]]]);
    let said = of(&["0", "\"midle\""]).play(0, 2).unwrap_err();
    assert!(said.contains(" on only in world 1: c has no label \"midle\"; did you mean middle?"), "{said}");
    assert!(of(&["0", "\"\""]).play(0, 2).unwrap_err().contains("c has no label \"\""));
}
