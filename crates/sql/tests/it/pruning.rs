//! Statistics and secondary indexes never exclude a matching row: every layout answers random conditions like the
//! inserted batches in memory, where nothing is skipped.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray as _, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Int64Type, Schema};
use arrow::util::display::array_value_to_string;
use datafusion::common::DFSchema;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::prelude::SessionContext;
use disk::RealDisk;
use proptest::prelude::*;
use table::{Clustering, Curve, Inserter, Layout, TableOptions};

use crate::support::{ask, cells, open};

/// Every layout by name, also with secondary indexes on every column but the id. The indexed clustered
/// table is clustered, so its segments are rewritten.
const TABLES: [(&str, Layout, bool); 6] = [
    ("column", Layout::Column, false),
    ("pruned", Layout::Pruned, false),
    ("clustered", Layout::Clustered, false),
    ("column_found", Layout::Column, true),
    ("pruned_found", Layout::Pruned, true),
    ("clustered_found", Layout::Clustered, true),
];

/// The values that a row's columns are made from.
pub(crate) type Row = (Option<i64>, Option<f64>, Option<String>);

/// Rows of one batch: close to each other, so that statistics can exclude some, with `wild` outliers.
pub(crate) fn rows(wild: bool) -> impl Strategy<Value = Vec<Row>> {
    (-40i64..40).prop_flat_map(move |base| {
        prop::collection::vec((integer(base, wild), real(base, wild), text(base, wild)), 1..60)
    })
}

fn integer(base: i64, wild: bool) -> impl Strategy<Value = Option<i64>> {
    let odd = u32::from(wild);
    prop_oneof![
        1 => Just(None),
        20 => (base..base + 6).prop_map(Some),
        odd => Just(Some(i64::MIN)),
        odd => Just(Some(i64::MAX)),
        odd => any::<i64>().prop_map(Some),
    ]
}

fn real(base: i64, wild: bool) -> impl Strategy<Value = Option<f64>> {
    let odd = u32::from(wild);
    prop_oneof![
        1 => Just(None),
        20 => (base..base + 6).prop_map(|n| Some(n as f64 / 4.0)),
        2 => Just(Some(0.0)),
        2 => Just(Some(-0.0)),
        odd => Just(Some(f64::NAN)),
        odd => Just(Some(-f64::NAN)),
        odd => Just(Some(f64::INFINITY)),
        odd => Just(Some(f64::NEG_INFINITY)),
        odd => any::<f64>().prop_map(Some),
    ]
}

/// Some texts have a common prefix longer than the one that statistics keep, and characters without a successor.
fn text(base: i64, wild: bool) -> impl Strategy<Value = Option<String>> {
    let odd = u32::from(wild);
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(String::new())),
        10 => (base..base + 6).prop_map(|n| Some(format!("w{:03}", n + 100))),
        3 => (base..base + 6, 0usize..3).prop_map(|(n, z)| Some(format!("{}{:03}{}", "é".repeat(40), n + 100, "z".repeat(z)))),
        odd => "\u{10FFFF}{1,70}".prop_map(Some),
        odd => ".{0,70}".prop_map(Some),
    ]
}

/// The columns of the rows: every stored type.
fn columns(rows: &[Row], first_id: i64) -> Vec<(&'static str, ArrayRef)> {
    let n = || rows.iter().map(|r| r.0);
    let x = || rows.iter().map(|r| r.1);
    let s = || rows.iter().map(|r| r.2.as_deref());
    let decimal = |values: Vec<Option<i128>>, precision, scale| -> ArrayRef {
        Arc::new(Decimal128Array::from_iter(values).with_precision_and_scale(precision, scale).unwrap())
    };
    vec![
        ("id", Arc::new(Int64Array::from_iter_values((first_id..).take(rows.len())))),
        ("bit", Arc::new(BooleanArray::from_iter(n().map(|v| v.map(|v| v & 4 == 4))))),
        ("i8", Arc::new(Int8Array::from_iter(n().map(|v| v.map(|v| v as i8))))),
        ("i16", Arc::new(Int16Array::from_iter(n().map(|v| v.map(|v| v as i16))))),
        ("i32", Arc::new(Int32Array::from_iter(n().map(|v| v.map(|v| v as i32))))),
        ("i64", Arc::new(Int64Array::from_iter(n()))),
        ("f32", Arc::new(Float32Array::from_iter(x().map(|v| v.map(|v| v as f32))))),
        ("f64", Arc::new(Float64Array::from_iter(x()))),
        ("day", Arc::new(Date32Array::from_iter(n().map(|v| v.map(|v| v as i32))))),
        (
            "time",
            Arc::new(
                TimestampMicrosecondArray::from_iter(n().map(|v| v.map(|v| v.wrapping_mul(1_001))))
                    .with_timezone("UTC"),
            ),
        ),
        ("d7", decimal(n().map(|v| v.map(|v| i128::from(v % 9_999_999))).collect(), 7, 2)),
        ("d30", decimal(n().map(|v| v.map(|v| i128::from(v) * 1_000_000_007)).collect(), 30, 6)),
        ("word", Arc::new(StringArray::from_iter(s()))),
        ("bytes", Arc::new(BinaryArray::from_iter(s().map(|v| v.map(str::as_bytes))))),
    ]
}

pub(crate) fn batch(rows: &[Row], first_id: i64) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns(rows, first_id).into_iter().map(|(n, c)| (n, c, true))).unwrap()
}

/// Batches with consecutive ids.
pub(crate) fn numbered(batches: &[Vec<Row>]) -> Vec<RecordBatch> {
    let mut first_id = 0;
    let number = |rows: &Vec<Row>| {
        let batch = batch(rows, first_id);
        first_id += rows.len() as i64;
        batch
    };
    batches.iter().map(number).collect()
}

/// A condition with values of existing rows.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Compare { column: usize, operator: &'static str, row: usize },
    Between { column: usize, rows: (usize, usize) },
    In { column: usize, rows: Vec<usize> },
    IsNull { column: usize, not: bool },
    Not(Box<Condition>),
    Both(Box<Condition>, &'static str, Box<Condition>),
}

pub(crate) fn condition() -> impl Strategy<Value = Condition> {
    let column = || 1..14usize;
    let row = any::<u16>().prop_map(usize::from);
    let operator = prop::sample::select(vec!["=", "=", "<>", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        6 => (column(), operator, row.clone()).prop_map(|(column, operator, row)| Condition::Compare { column, operator, row }),
        2 => (column(), (row.clone(), row.clone())).prop_map(|(column, rows)| Condition::Between { column, rows }),
        2 => (column(), prop::collection::vec(row, 1..5)).prop_map(|(column, rows)| Condition::In { column, rows }),
        1 => (column(), any::<bool>()).prop_map(|(column, not)| Condition::IsNull { column, not }),
    ];
    leaf.prop_recursive(2, 3, 2, |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|c| Condition::Not(Box::new(c))),
            2 => (inner.clone(), prop::sample::select(vec!["AND", "OR"]), inner)
                .prop_map(|(a, word, b)| Condition::Both(Box::new(a), word, Box::new(b))),
        ]
    })
}

impl Condition {
    pub(crate) fn sql(&self, all: &RecordBatch) -> String {
        let schema = all.schema();
        let name = |column: &usize| schema.field(*column).name().clone();
        let value = |column: &usize, row: &usize| literal(all.column(*column), row % all.num_rows());
        match self {
            Self::Compare { column, operator, row } => format!("{} {operator} {}", name(column), value(column, row)),
            Self::Between { column, rows: (a, b) } => {
                format!("{} BETWEEN {} AND {}", name(column), value(column, a), value(column, b))
            }
            Self::In { column, rows } => {
                let values: Vec<String> = rows.iter().map(|row| value(column, row)).collect();
                if schema.field(*column).data_type().is_floating() {
                    // DataFusion's IN distinguishes 0 and -0; its = and statistics do not.
                    let equal = values.iter().map(|value| format!("{} = {value}", name(column)));
                    return equal.collect::<Vec<_>>().join(" OR ");
                }
                format!("{} IN ({})", name(column), values.join(", "))
            }
            Self::IsNull { column, not } => format!("{} IS {}NULL", name(column), if *not { "NOT " } else { "" }),
            Self::Not(inner) => format!("NOT ({})", inner.sql(all)),
            Self::Both(a, word, b) => format!("({}) {word} ({})", a.sql(all), b.sql(all)),
        }
    }

    /// Its value for every row. DataFusion evaluates each part alone, because its simplifier misreads NULL where parts
    /// meet (see `sql`'s `exact::nulls`).
    pub(crate) fn of_rows(&self, all: &RecordBatch) -> BooleanArray {
        match self {
            Self::Not(inner) => compute::not(&inner.of_rows(all)).unwrap(),
            Self::Both(a, "AND", b) => compute::and_kleene(&a.of_rows(all), &b.of_rows(all)).unwrap(),
            Self::Both(a, _, b) => compute::or_kleene(&a.of_rows(all), &b.of_rows(all)).unwrap(),
            _ => {
                let session = SessionContext::new();
                let schema = DFSchema::try_from(all.schema()).unwrap();
                let simplifier =
                    ExprSimplifier::new(SimplifyContext::builder().with_schema(Arc::new(schema.clone())).build());
                let part = session.parse_sql_expr(&self.sql(all), &schema).unwrap();
                let part = simplifier.simplify(simplifier.coerce(part, &schema).unwrap()).unwrap();
                let part = session.create_physical_expr(part, &schema).unwrap();
                let values = part.evaluate(&without_signs(all)).unwrap();
                values.into_array(all.num_rows()).unwrap().as_boolean().clone()
            }
        }
    }
}

/// A literal of exactly this value and type.
fn literal(column: &ArrayRef, row: usize) -> String {
    let ty = column.data_type();
    if column.is_null(row) {
        return format!("arrow_cast(NULL, '{ty}')");
    }
    let text = |column: &dyn Array| array_value_to_string(column, row).unwrap();
    let as_integer = |width: DataType| text(&compute::cast(column, &width).unwrap());
    match ty {
        DataType::Binary => format!("X'{}'", text(column)),
        DataType::Utf8 => format!("'{}'", text(column).replace('\'', "''")),
        DataType::Date32 => format!("arrow_cast(arrow_cast('{}', 'Int32'), 'Date32')", as_integer(DataType::Int32)),
        DataType::Timestamp(..) => {
            let micros = as_integer(DataType::Int64);
            format!("arrow_cast(arrow_cast('{micros}', 'Int64'), 'Timestamp(Microsecond, Some(\"UTC\"))')")
        }
        DataType::Float64 | DataType::Float32 => {
            let number = compute::cast(column, &DataType::Float64).unwrap();
            let number = number.as_primitive::<Float64Type>().value(row);
            // DataFusion alone would distinguish -0 and 0.
            format!("arrow_cast('{:?}', '{ty}')", number + 0.0)
        }
        _ => format!("arrow_cast('{}', '{ty}')", text(column)),
    }
}

pub(crate) fn options(layout: Layout, group_rows: usize) -> TableOptions {
    let mut options = TableOptions { group_rows, ..TableOptions::new(layout) };
    if matches!(layout, Layout::Pruned | Layout::Clustered) {
        let bloom = ["i8", "i16", "i32", "i64", "day", "time", "d7", "d30", "word", "bytes"];
        options.bloom = bloom.map(str::to_owned).to_vec();
    }
    if layout == Layout::Clustered {
        options.clustering = Some(Clustering { columns: vec!["i64".to_owned()], curve: Curve::Lexical });
    }
    options
}

pub(crate) async fn insert(data: &Path, table: (&str, Layout, bool), group_rows: usize, batches: &[RecordBatch]) {
    let (name, layout, has_lookups) = table;
    let folder = name.parse::<table::TableName>().unwrap().folder(data);
    let mut options = options(layout, group_rows);
    let schema = &batches[0].schema();
    if has_lookups {
        options.lookup = schema.fields().iter().skip(1).map(|f| f.name().clone()).collect();
    }
    let inserter = Inserter::open_or_create(&folder, Arc::new(RealDisk), schema, &options).await.unwrap();
    for batch in batches {
        inserter.insert(std::slice::from_ref(batch)).await.unwrap();
    }
    if has_lookups && layout == Layout::Clustered {
        table::cluster::cluster(&folder, Arc::new(RealDisk), table::cluster::ClusterOptions::default()).await.unwrap();
    }
}

/// The rows without the signs of zero and NaN, because DataFusion alone would compare them.
fn without_signs(rows: &RecordBatch) -> RecordBatch {
    let columns = rows.columns().iter().map(|column| -> ArrayRef {
        match column.data_type() {
            DataType::Float64 => {
                let plain = |v: f64| if v.is_nan() { f64::NAN } else { v + 0.0 };
                Arc::new(column.as_primitive::<Float64Type>().unary::<_, Float64Type>(plain))
            }
            DataType::Float32 => {
                let plain = |v: f32| if v.is_nan() { f32::NAN } else { v + 0.0 };
                Arc::new(column.as_primitive::<Float32Type>().unary::<_, Float32Type>(plain))
            }
            _ => column.clone(),
        }
    });
    RecordBatch::try_new(rows.schema(), columns.collect()).unwrap()
}

/// Count, sum of ids and sum of squared ids of the rows that a mask keeps, as SQL would print them.
pub(crate) fn kept(all: &RecordBatch, keeps: impl Fn(usize) -> bool) -> Vec<Vec<String>> {
    let ids = all.column_by_name("id").unwrap().as_primitive::<Int64Type>().values();
    let ids: Vec<i64> = ids.iter().enumerate().filter(|(row, _)| keeps(*row)).map(|(_, id)| *id).collect();
    let sum = |of: &dyn Fn(i64) -> i64| match ids.as_slice() {
        [] => "NULL".to_owned(),
        ids => ids.iter().map(|id| of(*id)).sum::<i64>().to_string(),
    };
    vec![vec![ids.len().to_string(), sum(&|id| id), sum(&|id| id * id)]]
}

/// Runs every condition on every table and on the batches. Returns the first difference, or the numbers of row groups
/// skipped in `pruned` and in `column_found`.
async fn compare(batches: Vec<RecordBatch>, conditions: Vec<Condition>, group_rows: usize) -> Result<[u64; 2], String> {
    let data = tempfile::tempdir().unwrap();
    let schema = batches[0].schema();
    for table in TABLES {
        insert(data.path(), table, group_rows, &batches).await;
    }
    let engine = open(data.path()).await;
    let all = compute::concat_batches(&schema, &batches).unwrap();
    let mut skipped = [0; 2];
    for condition in conditions {
        let matches = condition.of_rows(&all);
        let expected = kept(&all, |row| matches.is_valid(row) && matches.value(row));
        let condition = condition.sql(&all);
        let of = |table: &str| format!("SELECT count(*), sum(id), sum(id * id) FROM {table} WHERE {condition}");
        for (table, ..) in TABLES {
            let sql = of(table);
            let answer = ask(&engine, &sql).await.map_err(|e| format!("{sql}: {e}"))?;
            if cells(&answer) != expected {
                return Err(format!("{sql}: {:?}, not {expected:?}", cells(&answer)));
            }
        }
        for (table, skipped) in ["pruned", "column_found"].iter().zip(&mut skipped) {
            let mut rows = engine.query(&of(table)).await.unwrap();
            while let Some(batch) = rows.next().await {
                batch.unwrap();
            }
            let reading = rows.reading();
            *skipped += reading.groups_total - reading.groups_read;
        }
    }
    Ok(skipped)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn matching_rows_are_never_excluded(
        batches in prop::collection::vec(prop_oneof![3 => rows(false), 1 => rows(true)], 1..5),
        conditions in prop::collection::vec(condition(), 1..16),
        group_rows in 1usize..40,
    ) {
        let batches = numbered(&batches);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let compared = runtime.block_on(compare(batches, conditions, group_rows));
        prop_assert!(compared.is_ok(), "{}", compared.unwrap_err());
    }
}

/// Ensures that the property above is not vacuous: most distant batches are skipped.
#[tokio::test(flavor = "multi_thread")]
async fn distant_batches_are_mostly_skipped() {
    let rows = |base: i64| -> Vec<Row> {
        (0..60).map(|i| (Some(base + i), Some((base + i) as f64), Some(format!("w{:05}", base + i)))).collect()
    };
    let batches: Vec<RecordBatch> = (0..4).map(|i| batch(&rows(i * 1000), i * 60)).collect();
    let schema: &Schema = &batches[0].schema();
    let columns = schema.fields().iter().map(|f: &Arc<Field>| f.name().as_str()).collect::<Vec<_>>();
    // Each column but the id, the narrowest ones and those without bounds; row 100 is in the second batch.
    let exact = ["i32", "i64", "f32", "f64", "day", "time", "d7", "d30", "word", "bytes"];
    for column in exact.map(|name| columns.iter().position(|c| *c == name).unwrap()) {
        let condition = Condition::Compare { column, operator: "=", row: 100 };
        let [by_statistics, by_lookup] = compare(batches.clone(), vec![condition], 10).await.unwrap();
        assert!(by_statistics >= 22, "{}: {by_statistics} of 24 row groups skipped", columns[column]);
        assert!(by_lookup >= 22, "{}: {by_lookup} of 24 row groups skipped by secondary indexes", columns[column]);
    }
}

/// A filter from the extremes of one column does not drop rows that another column needs.
#[tokio::test(flavor = "multi_thread")]
async fn extremes_of_several_columns_see_all_rows() {
    let of_one = |n: i64| vec![(Some(n), Some(if n == 20 { f64::NAN } else { n as f64 }), None)];
    let batches: Vec<RecordBatch> = (1..=40).map(|n| batch(&of_one(n), n)).collect();
    let data = tempfile::tempdir().unwrap();
    insert(data.path(), ("pruned", Layout::Pruned, false), 10, &batches).await;
    let engine = open(data.path()).await;
    let sql = "SELECT min(i64), max(i64 + 1), min(i32), max(i32), max(f64), max(id), min(f64) FROM pruned";
    assert_eq!(cells(&ask(&engine, sql).await.unwrap()), [["1", "41", "1", "40", "NaN", "40", "1.0"]]);
}
