//! Answers as Arrow streams, which a shell prints from a file.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, LargeStringArray, RecordBatch,
    StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow::compute::{cast, take_record_batch};
use arrow::datatypes::{DataType, Int8Type};
use arrow::ipc::writer::StreamWriter;
use proptest::prelude::*;

use super::{DESCRIPTION, Played, Script, play};

const WORLDS: u32 = 50;

/// A program that answers every request with these bytes.
fn printing(description: &str, answer: &[u8], after: &str) -> Script {
    let script =
        Script::new(&format!("echo '{description}'; while read -r request; do cat \"$1/answer\"; {after}\ndone"));
    std::fs::write(script.path().join("answer"), answer).unwrap();
    script
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn of(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// All records in the order of entities: x is 100 times the entity plus the world, y whether the world is even.
fn records() -> RecordBatch {
    let rows = || (0..2).flat_map(|entity| (0..WORLDS).map(move |world| (entity, world)));
    let names: DictionaryArray<Int8Type> = rows().map(|(entity, _)| ["a", "b"][entity]).collect();
    let x = rows().map(|(entity, world)| 100_000 * entity as i64 + i64::from(world));
    of(vec![
        ("world", Arc::new(UInt32Array::from_iter_values(rows().map(|(_, world)| world)))),
        ("entity", Arc::new(names)),
        ("x", Arc::new(Int64Array::from_iter_values(x))),
        ("y", Arc::new(BooleanArray::from_iter(rows().map(|(_, world)| Some(world % 2 == 0))))),
    ])
}

fn expected() -> Played {
    let x = |entity: u32| (0..WORLDS).map(|world| f64::from(100_000 * entity + world)).collect::<Vec<_>>();
    let y: Vec<f64> = (0..WORLDS).map(|world| f64::from(u8::from(world % 2 == 0))).collect();
    (0..2).map(|entity| vec![x(entity), y.clone()]).collect()
}

fn with(batch: &RecordBatch, name: &str, column: ArrayRef) -> RecordBatch {
    let schema = batch.schema();
    let mut columns = batch.columns().to_vec();
    columns[schema.index_of(name).unwrap()] = column;
    of(schema.fields().iter().map(|field| field.name().as_str()).zip(columns).collect())
}

fn played(batches: &[RecordBatch]) -> Result<Played, String> {
    let script = printing(DESCRIPTION, &stream(batches), "");
    let model = script.model().unwrap();
    let first = play(&*model, 0, WORLDS);
    assert_eq!(play(&*model, 0, WORLDS).is_ok(), first.is_ok(), "another answer of the same process");
    first
}

#[test]
fn records_come_in_any_order_and_batches() {
    let batch = records();
    let rows = batch.num_rows() as u32;
    let by_world: Vec<u32> = (0..WORLDS).flat_map(|world| [world, WORLDS + world]).collect();
    let scattered: Vec<u32> = (0..rows).map(|row| row * 37 % rows).collect();
    let [forwards, backwards]: [Vec<u32>; 2] = [(0..rows).collect(), (0..rows).rev().collect()];
    for order in [forwards, backwards, by_world, scattered] {
        let batch = take_record_batch(&batch, &UInt32Array::from(order)).unwrap();
        assert_eq!(played(std::slice::from_ref(&batch)).unwrap(), expected());
        let parts: Vec<RecordBatch> =
            (0..10).map(|part| batch.slice(part * 10, 10)).chain([batch.slice(0, 0)]).collect();
        assert_eq!(played(&parts).unwrap(), expected());
    }
}

#[test]
fn columns_have_any_type_of_their_kind() {
    let batch = records();
    let rows = batch.num_rows();
    let names: Vec<&str> = (0..rows).map(|row| if row < WORLDS as usize { "a" } else { "b" }).collect();
    let x: Vec<f64> = (0..rows).map(|row| expected()[row / 50][0][row % 50]).collect();
    let y: Vec<f64> = (0..rows).map(|row| expected()[row / 50][1][row % 50]).collect();
    let places = names.iter().map(|name| u8::from(*name == "b"));
    let columns: [(&str, ArrayRef); 7] = [
        ("entity", Arc::new(StringArray::from(names.clone()))),
        ("entity", Arc::new(LargeStringArray::from(names.clone()))),
        ("entity", Arc::new(UInt8Array::from_iter_values(places))),
        ("x", Arc::new(Int32Array::from_iter_values(x.iter().map(|x| *x as i32)))),
        ("x", Arc::new(Float64Array::from(x))),
        ("y", Arc::new(UInt8Array::from_iter_values(y.iter().map(|y| *y as u8)))),
        ("y", Arc::new(Float64Array::from(y))),
    ];
    for (name, column) in columns {
        assert_eq!(played(&[with(&batch, name, column)]).unwrap(), expected(), "{name}");
    }
    let [x, y] = ["x", "y"].map(|name| batch.column_by_name(name).unwrap());
    for (name, column, of) in [
        ("x", x, DataType::UInt32),
        ("x", x, DataType::UInt64),
        ("x", x, DataType::Float32),
        ("y", y, DataType::Int8),
        ("y", y, DataType::Int16),
        ("y", y, DataType::Int64),
        ("y", y, DataType::UInt16),
        ("y", y, DataType::Float16),
    ] {
        let column = cast(&cast(column, &DataType::Int32).unwrap(), &of).unwrap();
        assert_eq!(played(&[with(&batch, name, column)]).unwrap(), expected(), "{name} {of}");
    }
}

/// Of a column of whole numbers, and of a real one.
#[test]
fn integers_beyond_the_exact_ones_are_refused() {
    let description = r#"{"name": "r", "kinds": {"k": {"n": "number", "r": "real"}}, "entities": ["only"]}"#;
    let said = |name: &str, numbers: ArrayRef| {
        let zero: ArrayRef = Arc::new(Int64Array::from(vec![0, 0]));
        let of_name = |own: &str| if own == name { numbers.clone() } else { zero.clone() };
        let world: ArrayRef = Arc::new(Int64Array::from(vec![0, 1]));
        let batch = of(vec![("world", world), ("n", of_name("n")), ("r", of_name("r"))]);
        printing(description, &stream(&[batch]), "").play(0, 2).map(|_| ()).unwrap_err()
    };
    let wide = |number: u64| Arc::new(UInt64Array::from(vec![1, number]));
    for (name, numbers, expected) in [
        ("n", wide(u64::MAX) as ArrayRef, "n is 1.8446744073709552e19, beyond the numbers from -2147483647"),
        ("r", wide((1 << 53) + 1), "r is 9007199254740993, beyond 2^53"),
        ("r", Arc::new(Int64Array::from(vec![1, -(1 << 53) - 1])), "r is -9007199254740993, beyond 2^53"),
    ] {
        let said = said(name, numbers);
        assert!(said.contains(&format!("on only in world 1: {expected}")), "{said}");
    }
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![0, 0]));
    let largest: ArrayRef = Arc::new(Int64Array::from(vec![1 << 53, -(1 << 53)]));
    let batch = of(vec![("world", Arc::new(Int64Array::from(vec![0, 1]))), ("n", whole), ("r", largest)]);
    let kept = printing(description, &stream(&[batch]), "").play(0, 2).unwrap();
    assert_eq!(kept[0][1], [9_007_199_254_740_992.0, -9_007_199_254_740_992.0]);
}

#[test]
fn kinds_share_a_stream() {
    let description = r#"{"name": "m", "entities": {"a": "k", "b": "l", "c": "k"},
        "kinds": {"k": {"x": "number", "s": "number"}, "l": {"z": "real", "s": {"kind": "number", "scale": 10}}}}"#;
    let description = description.replace('\n', " ");
    let batch = of(vec![
        ("world", Arc::new(Int64Array::from(vec![5, 5, 5]))),
        ("entity", Arc::new(StringArray::from(vec!["c", "b", "a"]))),
        ("s", Arc::new(Float64Array::from(vec![3.0, 0.2, 1.0]))),
        ("z", Arc::new(Float64Array::from(vec![None, Some(f64::MIN_POSITIVE), None]))),
        ("x", Arc::new(Int64Array::from(vec![Some(30), None, Some(10)]))),
    ]);
    let played = |batch: RecordBatch| printing(&description, &stream(&[batch]), "").play(5, 1);
    let expected = [[[10.0], [1.0]], [[f64::MIN_POSITIVE], [2.0]], [[30.0], [3.0]]];
    assert_eq!(played(batch.clone()).unwrap(), expected);
    let lacking = with(&batch, "x", Arc::new(Int64Array::from(vec![Some(30), None, None])));
    let reason = played(lacking).unwrap_err();
    assert!(reason.ends_with("failed on a in world 5: x is NULL"), "{reason}");
}

#[test]
fn wrong_streams_are_refused() {
    let batch = records();
    let rows = batch.num_rows();
    let column = |name: &str, column: ArrayRef| played(&[with(&batch, name, column)]).unwrap_err();
    let x =
        |change: &dyn Fn(usize) -> f64| column("x", Arc::new(Float64Array::from_iter_values((0..rows).map(change))));
    let texts = |text: &str| Arc::new(StringArray::from(vec![text; rows]));
    let without = |name: &str| {
        let kept = (0..4).filter(|place| batch.schema().field(*place).name() != name).collect::<Vec<_>>();
        played(&[batch.project(&kept).unwrap()]).unwrap_err()
    };
    let renamed = of(vec![
        ("world", batch.column(0).clone()),
        ("entity", batch.column(1).clone()),
        ("x", batch.column(2).clone()),
        ("yy", batch.column(3).clone()),
    ]);
    let world = |world: i64| {
        let worlds = (0..rows).map(|row| if row == 60 { world } else { row as i64 % i64::from(WORLDS) });
        column("world", Arc::new(Int64Array::from_iter_values(worlds)))
    };
    for (reason, expected) in [
        (x(&|row| if row == 60 { 0.5 } else { 0.0 }), " on b in world 10: x is 0.5, not a whole number"),
        (x(&|row| if row == 3 { f64::NAN } else { 0.0 }), " on a in world 3: x is NaN, not a whole number"),
        (column("x", texts("7")), " on a in world 0: x is of type Utf8: give numbers or booleans"),
        (column("y", Arc::new(Int64Array::from(vec![2; rows]))), " on a in world 0: y is 2: a flag is 0 or 1"),
        (column("entity", texts("c")), ": no entity \"c\"; there are: a, b"),
        (column("entity", Arc::new(Int64Array::from(vec![2; rows]))), ": a record has entity 2: there are 2"),
        (column("entity", Arc::new(Float64Array::from(vec![0.0; rows]))), ": column \"entity\" has type Float64"),
        (column("world", Arc::new(Float64Array::from(vec![0.0; rows]))), ": column \"world\" has type Float64"),
        (column("world", Arc::new(Int64Array::from(vec![None::<i64>; rows]))), ": column \"world\" has a NULL"),
        (without("x"), ": the answer has no column \"x\""),
        (without("world"), ": the answer has no column \"world\""),
        (without("entity"), ": the answer has no column \"entity\""),
        (played(&[renamed]).unwrap_err(), ": the answer: no outcome \"yy\""),
        (world(50), " on b: a record has world 50, outside the range from 0 to 49"),
        (world(11), " on b in world 11: two records have this world and entity"),
        (played(&[batch.slice(0, rows - 1)]).unwrap_err(), " on b in world 49: the record is missing"),
    ] {
        let expected = format!("model pairs failed{expected}");
        assert!(reason.starts_with(&expected), "{reason}, and not {expected}");
    }
}

#[test]
fn broken_streams_are_refused() {
    let whole = stream(&[records()]);
    let said = |answer: &[u8], after: &str| printing(DESCRIPTION, answer, after).play(0, WORLDS).unwrap_err();
    let cut = said(&whole[..whole.len() - 200], "exit 4");
    assert!(cut.contains("the program ended with exit status 4"), "{cut}");
    let long = [&[0xFF; 4][..], &[0xF0, 0xFF, 0xFF, 0x7F]].concat();
    assert!(said(&long, "exit 4").contains("an answer of more than"));
    assert!(said(&[0xFF; 64], "exit 4").contains("an answer of more than"));
    let no_marker = [&whole[..8], &[7; 4000]].concat();
    assert!(said(&no_marker, "exit 4").contains("an Arrow stream that cannot be read"));
    let file = said(b"ARROW1\0\0", "exit 4");
    assert!(file.contains("the program printed an Arrow file: an answer is an Arrow stream"), "{file}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damage is refused or changes values, and nothing panics or waits.
    #[test]
    fn damaged_streams_do_no_harm(place in 0usize..3000, byte in any::<u8>()) {
        let mut answer = stream(&[records()]);
        let place = place % answer.len();
        answer[place] = byte;
        if let Ok(played) = printing(DESCRIPTION, &answer, "exit 4").play(0, WORLDS) {
            prop_assert_eq!(played.len(), 2);
        }
    }
}

#[test]
fn codes_are_integers_or_labels() {
    let description =
        r#"{"name": "c", "kinds": {"k": {"c": {"kind": "code", "labels": ["top", "low"]}}}, "entities": ["only"]}"#;
    let played = |codes: ArrayRef| {
        let batch = of(vec![("world", Arc::new(Int32Array::from(vec![0, 1, 2]))), ("c", codes)]);
        printing(description, &stream(&[batch]), "").play(0, 3)
    };
    let words = ["low", "top", "low"];
    let dictionary: DictionaryArray<Int8Type> = words.into_iter().collect();
    for codes in [
        Arc::new(dictionary) as ArrayRef,
        Arc::new(StringArray::from(words.to_vec())),
        Arc::new(LargeStringArray::from(words.to_vec())),
        Arc::new(UInt8Array::from(vec![1, 0, 1])),
    ] {
        assert_eq!(played(codes).unwrap(), [[[1.0, 0.0, 1.0]]]);
    }
    let said = played(Arc::new(StringArray::from(vec!["low", "lw", "top"]))).unwrap_err();
    assert!(said.contains(" on only in world 1: c is \"lw\": it has the labels top, low"), "{said}");
}
