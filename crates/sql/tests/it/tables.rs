//! Tables of inserted rows, from this program and other writers.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use disk::{Disk, RealDisk};
use sql::{Engine, Reading};
use table::{Clustering, Curve, Inserter, Layout, TableOptions};

use crate::support::{ask, cells, create, open, plan, play};

/// Rows `first..first + 400`: a growing number, a repeating one, and a text per number, never NULL.
fn batch(first: i64) -> RecordBatch {
    let ids = || first..first + 400;
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(Int64Array::from_iter_values(ids()))),
        ("tower", Arc::new(Int64Array::from_iter_values(ids().map(|i| i % 7)))),
        ("price", Arc::new(Float64Array::from_iter(ids().map(|i| (i % 3 > 0).then_some(i as f64 / 4.0))))),
        ("caller", Arc::new(StringArray::from_iter_values(ids().map(|i| format!("+1-{:05}", i * 7919 % 100_000))))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, name != "caller"))).unwrap()
}

fn options(layout: Layout) -> TableOptions {
    let mut options = TableOptions { group_rows: 100, ..TableOptions::new(layout) };
    if matches!(layout, Layout::Pruned | Layout::Clustered) {
        options.bloom = vec!["caller".to_owned()];
    }
    if layout == Layout::Clustered {
        options.clustering = Some(Clustering { columns: vec!["id".to_owned()], curve: Curve::Hilbert });
    }
    options
}

/// The table `name` of five batches of 400 rows.
async fn insert(data: &Path, name: &str, layout: Layout) {
    let folder = name.parse::<table::TableName>().unwrap().folder(data);
    let schema = batch(0).schema();
    let inserter = Inserter::open_or_create(&folder, Arc::new(RealDisk), &schema, &options(layout)).await.unwrap();
    for first in [0, 400, 800, 1200, 1600] {
        inserter.insert(&[batch(first)]).await.unwrap();
    }
}

const LAYOUTS: [Layout; 3] = [Layout::Column, Layout::Pruned, Layout::Clustered];

async fn stored() -> (Engine, tempfile::TempDir) {
    let data = tempfile::tempdir().unwrap();
    for layout in LAYOUTS {
        insert(data.path(), &format!("calls_{layout}"), layout).await;
    }
    (open(data.path()).await, data)
}

/// The answer, and the data read for it.
async fn read(engine: &Engine, sql: &str) -> (Vec<Vec<String>>, Reading) {
    let mut rows = engine.query(sql).await.unwrap();
    let mut answer = Vec::new();
    while let Some(batch) = rows.next().await {
        answer.extend(cells(&batch.unwrap()));
    }
    (answer, rows.reading())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_layout_gives_the_same_answers() {
    let (engine, _data) = stored().await;
    for (condition, expected) in [
        ("true", ["2000", "1999000", "333166.75", "+1-99870"]),
        ("id >= 100 AND id < 120", ["20", "2190", "383.25", "+1-99819"]),
        ("caller = '+1-07919'", ["1", "1", "0.25", "+1-07919"]),
        ("price IS NULL AND tower = 3", ["96", "96048", "NULL", "+1-99491"]),
    ] {
        let answers = LAYOUTS.map(|layout| {
            format!("SELECT count(*), sum(id), sum(price), max(caller) FROM calls_{layout} WHERE {condition}")
        });
        for sql in answers {
            assert_eq!(read(&engine, &sql).await.0, [expected], "{sql}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn excluded_data_is_not_read() {
    let (engine, _data) = stored().await;
    let reading = async |sql: &str| {
        let r = read(&engine, sql).await.1;
        ((r.segments_read, r.segments_total), (r.groups_read, r.groups_total), r.rows, r.bytes > 0)
    };
    let of = |layout: &str, condition: &str| format!("SELECT sum(price) FROM calls_{layout} WHERE {condition}");
    // Statistics in the log: one of five segments; in the footer: one of its four row groups.
    assert_eq!(reading(&of("pruned", "id BETWEEN 930 AND 939")).await, ((1, 5), (1, 20), 10, true));
    assert_eq!(reading(&of("clustered", "id IN (1, 1999)")).await, ((2, 5), (2, 20), 2, true));
    assert_eq!(reading(&of("pruned", "id < 0")).await, ((0, 5), (0, 20), 0, false));
    assert_eq!(reading(&of("pruned", "tower = 8 OR price < -1")).await, ((0, 5), (0, 20), 0, false));
    // Without statistics, all data is read.
    assert_eq!(reading(&of("column", "id < 0")).await, ((5, 5), (20, 20), 0, true));
    // Bloom filters: the number is between the bounds of every row group, and in at most one.
    let (segments, (present, _), rows, _) = reading(&of("pruned", "caller = '+1-07919'")).await;
    assert_eq!((segments, rows), ((5, 5), 1));
    assert!((1..4).contains(&present), "{present} row groups");
    let absent = reading(&of("pruned", "caller = '+1-07920'")).await.1;
    assert!(absent.0 < 3, "{absent:?}");
    let list = reading(&of("pruned", "caller IN ('+1-07919a', '+1-07919b', '+1-07919c', '+1-07919d')")).await.1;
    assert!(list.0 < 6, "{list:?}");
    // Pages of 20 rows: those of one row group that hold the row.
    let pages = read(&engine, &of("pruned", "id = 935")).await.1;
    assert_eq!((pages.pages_read, pages.pages_total), (1, 5));
}

/// A row without a caller waits in the log, so the table's column is nullable and the files' columns are not.
#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_row_disables_no_filter() {
    let (_, data) = stored().await;
    let folder = "calls_pruned".parse::<table::TableName>().unwrap().folder(data.path());
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![5000]));
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    ingest::append(&folder, &disk, &[RecordBatch::try_from_iter([("id", ids)]).unwrap()]).unwrap();
    let engine = open(data.path()).await;
    let list = "caller IN ('+1-07919', '+1-07919b', '+1-07919c', '+1-07919d')";
    let (rows, reading) = read(&engine, &format!("SELECT id FROM calls_pruned WHERE {list}")).await;
    assert_eq!(rows, [["1"]]);
    assert!(reading.groups_read < 6, "{reading:?}");
    let (rows, _) =
        read(&engine, "SELECT id, caller FROM calls_pruned WHERE caller IS NULL OR id < 2 ORDER BY id").await;
    assert_eq!(rows, [["0", "+1-00000"], ["1", "+1-07919"], ["5000", "NULL"]]);
}

/// Exclusions by secondary indexes alone: layout column has neither statistics nor filters.
#[tokio::test(flavor = "multi_thread")]
async fn secondary_indexes_select_row_groups() {
    let data = tempfile::tempdir().unwrap();
    let folder = "calls".parse::<table::TableName>().unwrap().folder(data.path());
    let lookup = ["id", "tower", "caller"].map(str::to_owned).to_vec();
    let options = TableOptions { lookup, ..options(Layout::Column) };
    let inserter = Inserter::open_or_create(&folder, Arc::new(RealDisk), &batch(0).schema(), &options).await.unwrap();
    for first in [0, 400, 800, 1200, 1600] {
        inserter.insert(&[batch(first)]).await.unwrap();
    }
    let check = async |condition: &str, rows: u64, segments: u64, groups: u64| {
        let engine = open(data.path()).await;
        let sql = format!("SELECT count(*), sum(price) FROM calls WHERE {condition}");
        let (answer, reading) = read(&engine, &sql).await;
        let found = (reading.rows, reading.segments_read, reading.groups_read);
        assert_eq!((answer[0][0].clone(), found), (rows.to_string(), (rows, segments, groups)), "{condition}");
        assert_eq!((reading.segments_total, reading.groups_total), (5, 20), "{condition}");
        assert_eq!(reading.groups_skipped_by_lookup, 20 - groups, "{condition}");
    };
    check("caller = '+1-07919'", 1, 1, 1).await;
    check("caller = '+1-07920'", 0, 0, 0).await;
    check("caller IN ('+1-07919', '+1-07920', '+1-00000')", 2, 1, 1).await;
    check("id BETWEEN 930 AND 1010", 81, 1, 2).await;
    check("1010 >= id AND id > 929", 81, 1, 2).await;
    check("id < 10 OR caller = '+1-07919' OR id >= 1999", 11, 2, 2).await;
    check("id = 5 AND tower = 5", 1, 1, 1).await;
    check("id = 5 AND price > 1000", 0, 1, 1).await;
    check("tower = 8 AND id > 100", 0, 0, 0).await;
    // Conditions that indexes do not support exclude nothing.
    let all = async |condition: &str, rows: u64| {
        let engine = open(data.path()).await;
        let sql = format!("SELECT count(*), sum(price) FROM calls WHERE {condition}");
        let (answer, reading) = read(&engine, &sql).await;
        assert_eq!((answer[0][0].clone(), reading.groups_read), (rows.to_string(), 20), "{condition}");
    };
    all("id <> 5", 1999).await;
    all("id = 5 OR price > 0", 1333).await;
    all("id % 100 = 5", 20).await;
    all("tower = 3", 286).await;
    // With one index missing and one damaged, their segments are read, and answers stay the same.
    let mut lookups: Vec<_> = std::fs::read_dir(folder.join("_lookup")).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(lookups.len(), 5);
    std::fs::remove_file(lookups.pop().unwrap()).unwrap();
    check("caller = '+1-07920'", 0, 1, 4).await;
    std::fs::write(lookups.pop().unwrap(), "short").unwrap();
    check("caller = '+1-07920'", 0, 2, 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn log_alone_counts_rows() {
    let (engine, _data) = stored().await;
    for (sql, expected) in [
        ("SELECT count(*) FROM calls_pruned", "2000"),
        ("SELECT count(price) FROM calls_pruned", "1333"),
        ("SELECT count(*) FROM calls_column", "2000"),
    ] {
        let (answer, reading) = read(&engine, sql).await;
        assert_eq!((answer, reading.bytes), (vec![vec![expected.to_owned()]], 0), "{sql}");
    }
    // With a condition, the log's count is only an upper bound.
    assert_eq!(read(&engine, "SELECT count(*) FROM calls_pruned WHERE id < 450").await.0, [["450"]]);
    assert_eq!(read(&engine, "SELECT id FROM calls_pruned LIMIT 3").await.0.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_found_with_and_without_their_schema() {
    let data = tempfile::tempdir().unwrap();
    let mut store = create(data.path()).await;
    let ensemble = store.register(plan(&dice::PLUGIN, "dice", 1, 20, 10), false).await.unwrap();
    play(&mut store, &dice::PLUGIN, ensemble).await;
    insert(data.path(), "calls", Layout::Pruned).await;
    insert(data.path(), "outcomes", Layout::Column).await;
    let engine = open(data.path()).await;
    for (table, rows) in
        [("calls", "2000"), ("default.calls", "2000"), ("default.outcomes", "2000"), ("outcomes", "180")]
    {
        let counted = ask(&engine, &format!("SELECT count(*) FROM {table}")).await.unwrap();
        assert_eq!(cells(&counted), [[rows]], "{table}");
    }
    let listed = "SELECT table_schema, table_name FROM information_schema.tables
                  WHERE table_schema <> 'information_schema' ORDER BY 1, 2";
    let expected =
        [["default", "calls"], ["default", "outcomes"], ["sim", "ensembles"], ["sim", "events"], ["sim", "outcomes"]];
    assert_eq!(cells(&ask(&engine, listed).await.unwrap()), expected);
    let message = ask(&engine, "SELECT * FROM call").await.unwrap_err().to_string();
    assert_eq!(message, "no table \"call\"; did you mean calls?");
}

#[tokio::test(flavor = "multi_thread")]
async fn arithmetic_errors_take_one_line() {
    let (engine, _data) = stored().await;
    let out = "number out of range: 1 + 9223372036854775807 overflows Int64; cast a side to DECIMAL(38,0) or DOUBLE";
    for layout in LAYOUTS {
        for (value, reason) in [
            ("tower / (id - id)", "division by zero"),
            ("tower % (id - id)", "division by zero"),
            ("CASE WHEN id = 1 THEN id + 9223372036854775807 END", out),
        ] {
            for sql in [
                format!("SELECT {value} FROM calls_{layout}"),
                format!("SELECT count(*) FROM calls_{layout} WHERE {value} = 5"),
            ] {
                let message = ask(&engine, &sql).await.unwrap_err().to_string();
                assert_eq!(message, format!("cannot answer the query: {reason}"), "{sql}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_tables_fail_only_their_queries() {
    let data = tempfile::tempdir().unwrap();
    for name in ["sound", "broken", "torn"] {
        insert(data.path(), name, Layout::Pruned).await;
    }
    let folder = |name: &str| name.parse::<table::TableName>().unwrap().folder(data.path());
    std::fs::write(folder("broken").join("_delta_log/00000000000000000000.json"), "{not json").unwrap();
    std::fs::create_dir(folder("old")).unwrap();
    std::fs::write(folder("old").join("schema.arrow"), "columns").unwrap();
    let segment = std::fs::read_dir(folder("torn")).unwrap().map(|e| e.unwrap().path());
    let segment = segment.filter(|p| p.extension().is_some_and(|e| e == "parquet")).min().unwrap();
    std::fs::write(&segment, "PAR1").unwrap();
    let engine = open(data.path()).await;
    assert_eq!(read(&engine, "SELECT count(*) FROM sound").await.0, [["2000"]]);
    assert_eq!(cells(&ask(&engine, "SHOW TABLES").await.unwrap()).iter().filter(|t| t[1] == "default").count(), 4);
    let message = async |sql: &str| ask(&engine, sql).await.unwrap_err().to_string();
    let broken = message("SELECT count(*) FROM broken").await;
    assert!(broken.starts_with(&format!("cannot open the table {}", folder("broken").display())), "{broken}");
    let old = message("SELECT count(*) FROM old").await;
    assert!(old.contains("an older version wrote it in layout row"), "{old}");
    let torn = message("SELECT sum(id) FROM torn").await;
    assert!(torn.contains(segment.file_name().unwrap().to_str().unwrap()), "{torn}");
}

/// The lines of a log, by another writer, for a table of columns with these names and types.
fn log_of_another(columns: &[(&str, &str)], partition: &[&str]) -> Vec<serde_json::Value> {
    let field =
        |(name, ty): &(&str, &str)| serde_json::json!({"name": name, "type": ty, "nullable": true, "metadata": {}});
    let fields: Vec<_> = columns.iter().map(field).collect();
    let schema = serde_json::json!({"type": "struct", "fields": fields}).to_string();
    vec![
        serde_json::json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
        serde_json::json!({"metaData": {"id": "a", "format": {"provider": "parquet", "options": {}},
            "schemaString": schema, "partitionColumns": partition, "configuration": {}, "createdTime": 0}}),
    ]
}

/// Writes rows into a file of Arrow's writer; returns its size.
fn write_parquet(path: &Path, rows: &RecordBatch) -> u64 {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, rows.schema(), None).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    std::fs::metadata(path).unwrap().len()
}

fn write_log(folder: &Path, log: &[serde_json::Value]) {
    let lines = log.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    std::fs::create_dir_all(folder.join("_delta_log")).unwrap();
    std::fs::write(folder.join("_delta_log/00000000000000000000.json"), lines).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_other_writers_are_read() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("default/Theirs");
    std::fs::create_dir_all(&folder).unwrap();
    let columns = [
        ("day", "date"),
        ("id", "long"),
        ("tower", "long"),
        ("price", "double"),
        ("caller", "string"),
        ("later", "integer"),
    ];
    let mut log = log_of_another(&columns, &["day"]);
    for (day, first) in [("2025-10-01", 0), ("2025-10-02", 400), ("", 800)] {
        let name = format!("part {first}.parquet");
        let size = write_parquet(&folder.join(&name), &batch(first));
        let partition = serde_json::json!({"day": if day.is_empty() { None } else { Some(day) }});
        // The second file has no statistics.
        let stats = (first != 400).then(|| format!("{{\"numRecords\":400,\"minValues\":{{\"id\":{first}}}}}"));
        log.push(serde_json::json!({"add": {"path": name.replace(' ', "%20"), "partitionValues": partition,
            "size": size, "modificationTime": 0, "dataChange": true, "stats": stats}}));
    }
    write_log(&folder, &log);
    let engine = open(data.path()).await;
    let asked = "SELECT day, count(*), sum(id), count(later) FROM \"Theirs\" GROUP BY day ORDER BY day";
    let expected =
        [["2025-10-01", "400", "79800", "0"], ["2025-10-02", "400", "239800", "0"], ["NULL", "400", "399800", "0"]];
    assert_eq!(read(&engine, asked).await.0, expected);
    assert_eq!(read(&engine, "SELECT count(*) FROM \"Theirs\"").await.0, [["1200"]]);
    let (answer, reading) = read(&engine, "SELECT sum(id) FROM \"Theirs\" WHERE day = DATE '2025-10-02'").await;
    assert_eq!((answer[0][0].as_str(), reading.segments_read), ("239800", 1));
    let (answer, reading) = read(&engine, "SELECT max(id), max(day) FROM \"Theirs\" WHERE id < 500").await;
    assert_eq!((answer.concat(), reading.segments_read), (vec!["499".to_owned(), "2025-10-02".to_owned()], 2));
    let null = read(&engine, "SELECT min(id) FROM \"Theirs\" WHERE day IS NULL").await;
    assert_eq!((null.0[0][0].as_str(), null.1.segments_read, null.1.groups_total), ("800", 1, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn nan_of_other_writers_is_greater_than_all_numbers() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("default/theirs");
    std::fs::create_dir_all(&folder).unwrap();
    let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::NAN, 2.0]));
    let rows = RecordBatch::try_from_iter_with_nullable([("x", x, true)]).unwrap();
    let size = write_parquet(&folder.join("part.parquet"), &rows);
    let mut log = log_of_another(&[("x", "double")], &[]);
    log.push(serde_json::json!({"add": {"path": "part.parquet", "partitionValues": {}, "size": size,
        "modificationTime": 0, "dataChange": true,
        "stats": "{\"numRecords\":3,\"minValues\":{\"x\":1},\"maxValues\":{\"x\":2}}"}}));
    write_log(&folder, &log);
    let engine = open(data.path()).await;
    for (sql, expected) in [
        ("SELECT count(*) FROM theirs WHERE x > 5", "1"),
        ("SELECT count(*) FROM theirs WHERE x < 5", "2"),
        ("SELECT x FROM theirs ORDER BY x DESC LIMIT 1", "NaN"),
    ] {
        assert_eq!(read(&engine, sql).await.0, [[expected]], "{sql}");
    }
}
