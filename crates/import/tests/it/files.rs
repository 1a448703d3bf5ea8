//! Files of every format hold the same values.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::csv::WriterBuilder;
use arrow::ipc::writer::{FileWriter, StreamWriter};
use disk::RealDisk;
use import::{ColumnNames, ImportError, Input, Options, Report, files};
use parquet::arrow::ArrowWriter;

use crate::support::{input, reals, texts};

const WORLDS: usize = 4;
const MARGINS: [f64; 8] = [1.0, -2.0, 3.5, 0.0, 7.0, -3.0, 14.5, 10.0];
const WON: [bool; 8] = [true, false, true, false, true, false, true, true];

/// Two entities in every world, beside each other.
fn batch() -> RecordBatch {
    let Input { batches, .. } = input(vec![
        ("world", reals((0..WORLDS * 2).map(|row| (row / 2) as f64))),
        ("entity", texts((0..WORLDS * 2).map(|row| ["game-007", "game-10"][row % 2]))),
        ("margin", reals(MARGINS)),
        ("won", Arc::new(BooleanArray::from(WON.to_vec()))),
    ]);
    let schema = batches.schema();
    concat_batches(&schema, &batches.map(Result::unwrap).collect::<Vec<_>>()).unwrap()
}

async fn import(data: &Path, files: &[PathBuf], options: &Options) -> Result<Report, ImportError> {
    import::import(data, Arc::new(RealDisk), "draws", files::open(files, options), options).await
}

/// A `.npy` file as `NumPy` writes it.
fn npy(descr: &str, shape: &str, is_fortran: bool, data: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    header.extend(std::iter::repeat_n(' ', 63 - (10 + header.len()) % 64));
    header.push('\n');
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// A `.npz` file as `NumPy` writes it: stored or deflated, with 64-bit sizes in the local headers.
fn npz(arrays: &[(&str, Vec<u8>)], is_deflated: bool) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in arrays {
        let mut checksum = flate2::Crc::new();
        checksum.update(bytes);
        let mut deflated = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        deflated.write_all(bytes).unwrap();
        let stored = if is_deflated { deflated.finish().unwrap() } else { bytes.clone() };
        let (name, at) = (format!("{name}.npy"), archive.len() as u32);
        let method = if is_deflated { 8u16 } else { 0 };
        let sizes = [(stored.len() as u32).to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
        let start = [&45u16.to_le_bytes()[..], &[0; 2], &method.to_le_bytes(), &[0; 4], &checksum.sum().to_le_bytes()];
        let large = [&[1u8, 0, 16, 0][..], &(bytes.len() as u64).to_le_bytes(), &(stored.len() as u64).to_le_bytes()];
        let names = [(name.len() as u16).to_le_bytes(), [20, 0]].concat();
        archive.extend(
            [b"PK\x03\x04", &start.concat()[..], &[0xFF; 8], &names, name.as_bytes(), &large.concat()].concat(),
        );
        archive.extend(&stored);
        let names = [&(name.len() as u16).to_le_bytes()[..], &[0; 12], &at.to_le_bytes()].concat();
        directory.extend([b"PK\x01\x02", &[45, 0][..], &start.concat(), &sizes, &names, name.as_bytes()].concat());
    }
    let count = (arrays.len() as u16).to_le_bytes();
    let (size, at) = ((directory.len() as u32).to_le_bytes(), (archive.len() as u32).to_le_bytes());
    [&archive[..], &directory, b"PK\x05\x06", &[0; 4], &count, &count, &size, &at, &[0; 2]].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// The values as arrays over worlds and entities.
fn arrays(is_fortran: bool) -> Vec<(&'static str, Vec<u8>)> {
    let places = (0..WORLDS * 2).map(|i| if is_fortran { i % WORLDS * 2 + i / WORLDS } else { i });
    let margins: Vec<u8> = places.clone().flat_map(|i| MARGINS[i].to_le_bytes()).collect();
    let won: Vec<u8> = places.map(|i| u8::from(WON[i])).collect();
    let names = "game-007game-10\0".chars().flat_map(|c| (c as u32).to_le_bytes()).collect::<Vec<u8>>();
    vec![
        ("margin", npy("<f8", "(4, 2)", is_fortran, &margins)),
        ("won", npy("|b1", "(4, 2)", is_fortran, &won)),
        ("entity", npy("<U8", "(2,)", false, &names)),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_every_format_have_the_same_hash() {
    let folder = tempfile::tempdir().unwrap();
    let (batch, path) = (batch(), |name: &str| folder.path().join(name));
    let file = |name: &str| File::create(path(name)).unwrap();
    let mut parquet = ArrowWriter::try_new(file("a.parquet"), batch.schema(), None).unwrap();
    parquet.write(&batch).unwrap();
    parquet.close().unwrap();
    let mut arrow = FileWriter::try_new(file("a.arrow"), &batch.schema()).unwrap();
    arrow.write(&batch).unwrap();
    arrow.finish().unwrap();
    let mut stream = StreamWriter::try_new(file("a.arrows"), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    stream.finish().unwrap();
    WriterBuilder::new().with_header(true).build(file("a.csv")).write(&batch).unwrap();
    let text = std::fs::read_to_string(path("a.csv")).unwrap();
    std::fs::write(path("marked.csv"), format!("\u{feff}{text}")).unwrap();
    for (name, is_fortran, is_deflated) in
        [("c.npz", false, false), ("f.npz", true, false), ("small.npz", false, true), ("both.npz", true, true)]
    {
        std::fs::write(path(name), npz(&arrays(is_fortran), is_deflated)).unwrap();
    }
    for (name, bytes) in arrays(false) {
        std::fs::write(path(&format!("{name}.npy")), &bytes).unwrap();
        std::fs::write(path(&format!("{name}.npy.gz")), gzip(&bytes)).unwrap();
    }
    std::fs::write(path("a.csv.gz"), gzip(format!("\u{feff}{text}").as_bytes())).unwrap();
    std::fs::write(path("a.csv.zst"), zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
    std::fs::write(path("a.arrows.gz"), gzip(&std::fs::read(path("a.arrows")).unwrap())).unwrap();
    let parts = |end: &str| ["margin", "won", "entity"].map(|name| path(&format!("{name}.npy{end}"))).to_vec();
    let single = ["a.parquet", "a.arrow", "a.arrows", "a.csv", "marked.csv", "c.npz", "f.npz", "small.npz", "both.npz"];
    let single = single.into_iter().chain(["a.csv.gz", "a.csv.zst", "a.arrows.gz"]);
    let all = single.map(|name| vec![path(name)]).chain([parts(""), parts(".gz")]);
    let mut reports = Vec::new();
    for (number, files) in all.enumerate() {
        let data = path(&format!("data-{number}"));
        reports.push(import(&data, &files, &Options::default()).await.unwrap());
    }
    for report in &reports {
        assert_eq!(report, &Report { bytes: report.bytes, ..reports[0].clone() });
    }
    assert_eq!(reports[0].entities, ["game-007", "game-10"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_digits_stay_texts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("wide.csv"), "entity,x\n007,1\n7,2\n1e3,3\n").unwrap();
    std::fs::write(path("long.csv"), "who,what,value\n007,010,1\n7,010,2\n1e3,010,3\n").unwrap();
    let wide = import(&path("a"), &[path("wide.csv")], &Options::default()).await.unwrap();
    assert_eq!(wide.entities, ["1e3", "007", "7"]);
    let (entity, outcome) = (Some("who".to_owned()), Some("what".to_owned()));
    let columns = ColumnNames { entity, outcome, ..ColumnNames::default() };
    let long = import(&path("b"), &[path("long.csv")], &Options { columns, ..Options::default() }).await.unwrap();
    assert_eq!((&long.entities, long.outcomes[0].name.as_str()), (&wide.entities, "010"));
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_of_files_are_found_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, text) in [
        ("a.csv", "world,wait,cost\n0,1,50\n1,2,60\n"),
        ("b.csv", "cost,wait,world\n70,3,2\n80,4,3\n"),
        ("whole.csv", "world,wait,cost\n0,1,50\n1,2,60\n2,3,70\n3,4,80\n"),
    ] {
        std::fs::write(path(name), text).unwrap();
    }
    let parts = import(&path("parts"), &[path("a.csv"), path("b.csv")], &Options::default()).await.unwrap();
    let whole = import(&path("whole"), &[path("whole.csv")], &Options::default()).await.unwrap();
    assert_eq!(parts.hash, whole.hash);
}

#[tokio::test(flavor = "multi_thread")]
async fn quotes_that_close_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    std::fs::write(&file, "x,of\n1,\"a \"\"b\"\"\"\n2,\"c\nd\"\n3,e\"\n").unwrap();
    let report = import(&folder.path().join("data"), &[file], &Options::default()).await.unwrap();
    let texts = report.outcomes.iter().find(|outcome| outcome.name == "of").unwrap();
    assert_eq!((report.worlds, &texts.labels[..]), (3, &["a \"b\"", "c\nd", "e\""].map(str::to_owned)[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn arrays_over_worlds_are_outcomes_of_one_entity() {
    let folder = tempfile::tempdir().unwrap();
    let x = folder.path().join("x.npy");
    std::fs::write(&x, npy("<i2", "(3,)", false, &[1, 0, 2, 0, 3, 0])).unwrap();
    let alone = import(&folder.path().join("a"), std::slice::from_ref(&x), &Options::default()).await.unwrap();
    assert_eq!((alone.worlds, &alone.entities[..], alone.outcomes[0].name.as_str()), (3, &["all".to_owned()][..], "x"));
    let plain = folder.path().join("entities.npy");
    std::fs::write(&plain, npy("<i2", "(1, 3)", false, &[1, 0, 2, 0, 3, 0])).unwrap();
    let plain = import(&folder.path().join("b"), &[plain], &Options::default()).await.unwrap();
    assert_eq!(plain.entities, ["entity-0", "entity-1", "entity-2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let check = async |name: &str, bytes: &[u8], expected: &str| {
        std::fs::write(path(name), bytes).unwrap();
        let data = path("data");
        let said = import(&data, &[path(name)], &Options::default()).await.unwrap_err().to_string();
        assert_eq!(said.replace(&format!("{}/", folder.path().display()), ""), expected, "{name}");
        assert!(!data.exists(), "{name} left something behind");
    };
    let said = import(&path("data"), &[path("none.csv")], &Options::default()).await.unwrap_err().to_string();
    assert!(said.ends_with("none.csv: No such file or directory (os error 2)"), "{said}");
    check("empty.csv", b"", "empty.csv: it has no column of outcomes").await;
    check("header.csv", b"x,y\n", "the input has no rows").await;
    check("gap.csv", b"x,y\n1,2\n3,\n", "gap.csv, row 2, column \"y\": the value is missing (NULL)").await;
    check("twice.csv", b"x,x\n1,2\n", "twice.csv: two columns have the name \"x\"").await;
    std::fs::write(path("short.csv"), b"x,y\n1,2\n3\n").unwrap();
    let said = import(&path("data"), &[path("short.csv")], &Options::default()).await.unwrap_err().to_string();
    assert!(said.contains("short.csv: ") && said.contains("line 3"), "{said}");
    std::fs::write(path("torn.parquet"), b"PAR1 and no more").unwrap();
    let said = import(&path("data"), &[path("torn.parquet")], &Options::default()).await.unwrap_err().to_string();
    assert!(said.starts_with("cannot read ") && said.contains("torn.parquet: "), "{said}");
    for (name, text, line) in [("empty.csv", "x\n1.5\n\n2.5\n", 3), ("later.csv", "x\r\n1\r\n\r\n\r\n2", 3)] {
        let said = format!("cannot read {name}: line {line} is empty: write its value, or remove the line");
        check(name, text.as_bytes(), &said).await;
    }
    let unclosed = |line: usize| format!("the quote that opens on line {line} is never closed");
    for (name, text, line) in [
        ("last.csv", "x,y\n1,2\n3,\"4\n", 3),
        ("first.csv", "x,y\r\n1,\"2\r\n3,4\r\n", 2),
        ("header.csv", "x,\"y\n1,2\n", 1),
        ("doubled.csv", "x,y\n1,\"2\n\"\"\"\n3,\"\"\"4\n5,6", 4),
        ("only.csv", "x,y\n1,2\n3,\"", 3),
    ] {
        check(name, text.as_bytes(), &format!("cannot read {name}: {}", unclosed(line))).await;
        check(&format!("{name}.gz"), &gzip(text.as_bytes()), &format!("cannot read {name}.gz: {}", unclosed(line)))
            .await;
    }
    check("cut.csv.gz", &gzip(b"x,y\n1,2\n")[..20], "cannot read cut.csv.gz: the gzip data ends early: it is cut off")
        .await;
    for (name, text) in
        [("lines.json", &b"{\"world\": 1, \"x\": 2}\n"[..]), ("array.json", b"[{\"x\": 2}]"), ("x.csv", b"{\n}")]
    {
        check(name, text, &format!("cannot read {name}: it holds JSON: give Parquet, CSV, Arrow or NumPy files")).await;
    }
    let packed = gzip(b"PAR1 and more");
    let message = "cannot read a.parquet.gz: it is a Parquet file that gzip compressed once more: decompress it first";
    check("a.parquet.gz", &packed, message).await;
    let zipped = npz(&arrays(false), false);
    let mut changed = zipped.clone();
    let place = changed.windows(8).position(|eight| eight == 3.5f64.to_le_bytes()).unwrap();
    changed[place] ^= 1;
    check("changed.npz", &changed, "cannot read changed.npz: array \"margin\" is damaged: its checksum differs").await;
    let message = "cannot read cut.npz: the archive has no directory, or a damaged one";
    check("cut.npz", &zipped[..zipped.len() - 30], message).await;
    let other = [("a", npy("<f8", "(2,)", false, &[0; 16])), ("b", npy("<f8", "(1,)", false, &[0; 8]))];
    check("shapes.npz", &npz(&other, false), "shapes.npz: array \"b\" has shape [1], and \"a\" has [2]").await;
    let deep = [("a", npy("<f8", "(1, 1, 1)", false, &[0; 8]))];
    check("deep.npz", &npz(&deep, false), "deep.npz: array \"a\" has 3 axes: give (worlds) or (worlds, entities)")
        .await;
    let complex = [("a", npy("<c16", "(1,)", false, &[0; 16]))];
    let message = "cannot read complex.npz: array \"a\": elements of type <c16 cannot be imported: give numbers of at most \
                   64 bits, booleans or texts";
    check("complex.npz", &npz(&complex, false), message).await;
}
