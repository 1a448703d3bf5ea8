//! Every refusal names the place and the reason, and leaves nothing behind.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, TimestampSecondArray, UInt64Array,
};
use arrow::error::ArrowError;
use import::{Form, ImportError, Input, Options};

use crate::support::{batches, import, input, integers, reals, texts};

/// The error of an import, which stores nothing.
async fn refusal_of(inputs: Vec<Input>, options: &Options) -> String {
    let folder = tempfile::tempdir().unwrap();
    let error = import(folder.path(), inputs, options).await.unwrap_err();
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "{error} left something behind");
    error.to_string()
}

async fn refusal(columns: Vec<(&str, ArrayRef)>) -> String {
    refusal_of(vec![input(columns)], &Options::default()).await
}

fn column<A: arrow::array::Array + 'static>(array: A) -> ArrayRef {
    Arc::new(array)
}

#[tokio::test]
async fn missing_values_are_named() {
    let x = || column(Int64Array::from(vec![Some(1), Some(2), None]));
    assert_eq!(refusal(vec![("x", x())]).await, "rows, row 3, column \"x\": the value is missing (NULL)");
    let y = || integers([1, 2, 3]);
    assert_eq!(
        refusal(vec![("world", x()), ("y", y())]).await,
        "rows, row 3, column \"world\": the world is missing (NULL)"
    );
    assert_eq!(
        refusal(vec![("entity", x()), ("y", y())]).await,
        "rows, row 3, column \"entity\": the entity is missing (NULL)"
    );
    let nothing = column(arrow::array::NullArray::new(3));
    assert_eq!(refusal(vec![("x", nothing)]).await, "rows, row 1, column \"x\": the value is missing (NULL)");
    // Rows are counted in each input.
    let two = vec![input(vec![("x", y())]), input(vec![("x", x())])];
    assert!(refusal_of(two, &Options::default()).await.starts_with("rows, row 3,"));
}

#[tokio::test]
async fn empty_texts_are_refused() {
    assert_eq!(
        refusal(vec![("till", texts(["cash", "", "card"]))]).await,
        "outcome \"till\": it holds an empty text: write another one, such as \"none\""
    );
}

#[tokio::test]
async fn values_that_only_some_rows_of_an_entity_lack_are_named() {
    let of = |x: Vec<Option<i64>>, y: Vec<Option<i64>>| {
        let entities = texts(["team-1", "game-1", "team-1", "game-1"]);
        vec![("entity", entities), ("x", column(Int64Array::from(x))), ("y", column(Int64Array::from(y)))]
    };
    let y = || vec![None, Some(1), None, Some(2)];
    let lacking = "the value is missing (NULL), and entity \"team-1\" has values in other rows";
    let in_row = |row: usize| format!("rows, row {row}, column \"x\": {lacking}");
    assert_eq!(refusal(of(vec![Some(1), None, None, None], y())).await, in_row(3));
    assert_eq!(refusal(of(vec![None, None, Some(1), None], y())).await, in_row(1));
    let rows = |x: Vec<Option<i64>>| batches("rows", of(x, y()), 2);
    let said = refusal_of(vec![rows(vec![Some(1), None, None, None])], &Options::default()).await;
    assert_eq!(said, in_row(3));
    let both = of(vec![Some(1), None, Some(1), None], vec![None, Some(1), Some(3), Some(2)]);
    assert_eq!(
        refusal_of(vec![batches("rows", both, 2)], &Options::default()).await,
        "rows, row 3, column \"y\": there is a value, and entity \"team-1\" has none in other rows"
    );
    let none = of(vec![Some(1), None, Some(1), None], vec![None; 4]);
    assert_eq!(refusal(none).await, "rows, row 2, column \"x\": every value of entity \"game-1\" is missing (NULL)");
    let nowhere = vec![("entity", texts(["a"])), ("x", integers([1])), ("y", column(Int64Array::from(vec![None])))];
    assert_eq!(refusal(nowhere).await, "rows: column \"y\" holds nothing but missing values (NULL): leave it out");
    let large = of(vec![Some(1), None, Some(1), None], vec![None, Some(1), None, Some((1 << 53) + 1)]);
    assert!(refusal(large).await.starts_with("rows, row 4, column \"y\": 9007199254740993 is beyond 2^53"));
}

#[tokio::test]
async fn values_without_an_exact_number_are_named() {
    assert_eq!(
        refusal(vec![("x", integers([1, (1 << 53) + 1]))]).await,
        "rows, row 2, column \"x\": 9007199254740993 is beyond 2^53, up to which 64-bit real numbers hold integers"
    );
    assert!(
        refusal(vec![("x", column(UInt64Array::from(vec![u64::MAX])))])
            .await
            .contains("18446744073709551615 is beyond")
    );
    let decimals = Decimal128Array::from(vec![10i128.pow(15)]).with_precision_and_scale(20, 2).unwrap();
    assert_eq!(
        refusal(vec![("x", column(decimals))]).await,
        "rows, row 1, column \"x\": a decimal of more than 15 digits has no exact 64-bit real number"
    );
    let small = Decimal128Array::from(vec![1]).with_precision_and_scale(38, 23).unwrap();
    assert_eq!(
        refusal(vec![("x", column(small))]).await,
        "rows: column \"x\": decimals of scale 23 cannot be imported: give a scale from 0 to 22"
    );
    assert_eq!(
        refusal(vec![("x", column(TimestampSecondArray::from(vec![1])))]).await,
        "rows: column \"x\": a column of Timestamp(s) holds no outcome: give numbers, booleans or texts"
    );
}

#[tokio::test]
async fn worlds_that_are_none_are_named() {
    for (world, shown) in [(-1.0, "-1"), (0.5, "0.5"), (5e9, "5000000000"), (f64::NAN, "NaN")] {
        let said = refusal(vec![("world", reals([0.0, world])), ("x", integers([1, 2]))]).await;
        assert_eq!(said, format!("rows, row 2, column \"world\": {shown} is not a world number: give integers from 0"));
    }
    let said = refusal(vec![("world", texts(["a"])), ("x", integers([1]))]).await;
    assert_eq!(said, "rows: column \"world\": a column of Utf8 names no worlds: give integers from 0");
    let flags = column(BooleanArray::from(vec![true]));
    assert_eq!(
        refusal(vec![("world", flags), ("x", integers([1]))]).await,
        "rows: column \"world\": a column of Boolean names no worlds: give integers from 0"
    );
    assert_eq!(
        refusal(vec![("entity", reals([1.0])), ("x", integers([1]))]).await,
        "rows: column \"entity\": a column of Float64 names no entity: give texts or integers"
    );
}

#[tokio::test]
async fn missing_and_repeated_worlds_are_named() {
    let worlds = |worlds: &[i64]| vec![("world", integers(worlds.to_vec())), ("x", integers(worlds.to_vec()))];
    assert_eq!(refusal(worlds(&[0, 1, 3])).await, "world 2 of entity \"all\" is missing");
    assert_eq!(refusal(worlds(&[3, 1, 2])).await, "the worlds begin at 1, and must begin at 0");
    assert_eq!(
        refusal(worlds(&[0, 1, 2, 1])).await,
        "rows, row 4, column \"world\": world 1 of entity \"all\" is repeated"
    );
    let again = vec![input(worlds(&[0, 1])), input(worlds(&[2, 1]))];
    assert_eq!(
        refusal_of(again, &Options::default()).await,
        "rows, row 2, column \"world\": world 1 of entity \"all\" is repeated"
    );
    let of = |worlds: &[i64], entities: &[&'static str]| {
        let (rows, entities) = (integers(worlds.to_vec()), texts(entities.to_vec()));
        vec![("world", rows), ("entity", entities), ("x", integers(worlds.to_vec()))]
    };
    assert_eq!(refusal(of(&[0, 0, 1], &["a", "b", "b"])).await, "world 1 of entity \"a\" is missing");
    assert_eq!(
        refusal(of(&[0, 0, 1, 0], &["a", "b", "b", "b"])).await,
        "rows, row 4, column \"world\": world 0 of entity \"b\" is repeated"
    );
}

#[tokio::test]
async fn entities_without_an_outcome_are_named() {
    let long = |entities: &[&'static str], outcomes: &[&'static str], worlds: &[i64]| {
        let (entities, outcomes) = (texts(entities.to_vec()), texts(outcomes.to_vec()));
        let values = reals(worlds.iter().map(|w| *w as f64));
        vec![("world", integers(worlds.to_vec())), ("entity", entities), ("outcome", outcomes), ("value", values)]
    };
    assert_eq!(
        refusal(long(&["a", "a", "b"], &["x", "y", "x"], &[0, 0, 0])).await,
        "entity \"b\" has no outcome \"y\""
    );
    assert_eq!(
        refusal(long(&["a", "a", "a"], &["x", "x", "y"], &[0, 1, 0])).await,
        "world 1 of \"y\" of entity \"a\" is missing"
    );
    assert_eq!(
        refusal(long(&["a", "a"], &["x", "x"], &[0, 0])).await,
        "rows, row 2, column \"world\": world 0 of \"x\" of entity \"a\" is repeated"
    );
}

#[tokio::test]
async fn empty_inputs_are_refused() {
    assert_eq!(refusal(vec![("x", integers([]))]).await, "the input has no rows");
    assert_eq!(refusal_of(Vec::new(), &Options::default()).await, "the input has no rows");
    assert_eq!(refusal(vec![("world", integers([0]))]).await, "rows: it has no column of outcomes");
}

#[tokio::test]
async fn names_that_conditions_cannot_hold_are_refused() {
    for name in ["a:b", " ", "tab\t"] {
        let said = refusal(vec![("entity", texts(["one"])), (name, integers([1]))]).await;
        assert_eq!(said, format!("{name:?} cannot name an outcome: use a name without ':' and control characters"));
        let said = refusal(vec![("entity", texts([name])), ("x", integers([1]))]).await;
        assert_eq!(said, format!("{name:?} cannot name an entity: use a name without ':' and control characters"));
    }
    for name in ["world", "entity"] {
        let long = vec![("outcome", texts([name])), ("value", integers([1]))];
        assert!(refusal(long).await.ends_with("control characters, and other than \"world\" and \"entity\""));
    }
}

#[tokio::test]
async fn kinds_that_do_not_hold_the_values_are_refused() {
    let declared =
        |kind: &str| Options { kinds: [("x".to_owned(), kind.parse().unwrap())].into(), ..Options::default() };
    let x = |values: ArrayRef| vec![input(vec![("x", values)])];
    assert_eq!(
        refusal_of(x(integers([0, 1, 2])), &declared("flag")).await,
        "\"x\" of entity \"all\" is 2 in world 2, and cannot be stored as flag"
    );
    assert_eq!(
        refusal_of(x(reals([0.5, 0.25])), &declared("number:10")).await,
        "\"x\" of entity \"all\" is 0.25 in world 1, and cannot be stored as number in steps of 1/10"
    );
    assert_eq!(
        refusal_of(x(reals([0.5, f64::NAN])), &declared("number")).await,
        "\"x\" of entity \"all\" is NaN in world 1, and cannot be stored as number"
    );
    assert_eq!(
        refusal_of(x(texts(["a"])), &declared("real")).await,
        "outcome \"x\": it is a real, and holds texts in rows"
    );
    assert_eq!(
        refusal_of(vec![input(vec![("y", integers([1]))])], &declared("real")).await,
        "outcome \"x\": its kind is declared, and the input has only y"
    );
    let mixed = vec![input(vec![("x", integers([1]))]), input(vec![("x", texts(["a"]))])];
    assert_eq!(
        refusal_of(mixed, &Options::default()).await,
        "outcome \"x\": it holds texts in rows, and numbers before"
    );
    let many: Vec<String> = (0..1001).map(|i| i.to_string()).collect();
    let said = refusal(vec![("x", texts(many.iter().map(String::as_str)))]).await;
    assert_eq!(said, "rows: column \"x\": it holds over 1000 different texts");
}

#[tokio::test]
async fn columns_that_differ_between_inputs_are_refused() {
    let other = vec![input(vec![("x", integers([1]))]), input(vec![("y", integers([1]))])];
    assert_eq!(refusal_of(other, &Options::default()).await, "rows: it lacks column \"x\" of rows");
    let long = Options { form: Some(Form::Long), ..Options::default() };
    assert_eq!(
        refusal_of(vec![input(vec![("x", integers([1]))])], &long).await,
        "rows: the long form needs a column of outcomes and a column of values"
    );
}

#[tokio::test]
async fn unreadable_and_stopped_inputs_are_refused() {
    let broken = |rows: usize| {
        let good = input(vec![("x", reals((0..rows).map(|i| i as f64)))]);
        let schema = good.batches.schema();
        let bad = std::iter::once(Err(ArrowError::ParseError("no number".to_owned())));
        let batches = good.batches.chain(bad).collect::<Vec<_>>();
        let batches = Box::new(arrow::array::RecordBatchIterator::new(batches, schema));
        Input { name: "torn".to_owned(), rows: None, batches }
    };
    assert_eq!(
        refusal_of(vec![broken(5)], &Options::default()).await,
        "cannot read torn: after row 5: Parser error: no number"
    );
    let options = Options::default();
    options.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(refusal_of(vec![input(vec![("x", integers([1]))])], &options).await, "the import was stopped");
}

#[tokio::test]
async fn bad_and_taken_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = || vec![input(vec![("x", Arc::new(Float64Array::from(vec![1.5])) as ArrayRef)])];
    let none = Vec::<Result<Input, ImportError>>::new();
    let disk = Arc::new(disk::RealDisk);
    let bad = import::import(folder.path(), disk, "Bad Name", none, &Options::default()).await.unwrap_err();
    assert!(matches!(bad, ImportError::Name(_)), "{bad}");
    import(folder.path(), rows(), &Options::default()).await.unwrap();
    let taken = import(folder.path(), rows(), &Options::default()).await.unwrap_err();
    assert_eq!(taken.to_string(), "ensemble \"draws\" exists already");
}
