//! Random streams, cut anywhere, give what a plain reading of their rules gives.

use std::collections::{BTreeMap, BTreeSet};

use chrono::DateTime;
use decode::{Limits, RowFormat, RowReader, RowRules, overflow_name};
use proptest::prelude::*;
use rmpv::Value;

use crate::load::packed;
use crate::plain::{NOW, cell, is_small, is_whole};

/// A value as an input has it.
#[derive(Debug, Clone)]
enum Node {
    Null,
    Int(i64),
    Huge(u64),
    Float(f64),
    Bool(bool),
    Text(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// A record of a stream: a row, or something else that is well written.
type Doc = Node;

impl Node {
    /// As JSON writes it, without spaces.
    fn json(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Int(v) => v.to_string(),
            Self::Huge(v) => v.to_string(),
            Self::Float(v) => format!("{v:?}"),
            Self::Bool(v) => v.to_string(),
            Self::Text(v) => serde_json::to_string(v).unwrap(),
            Self::Array(v) => format!("[{}]", v.iter().map(Self::json).collect::<Vec<_>>().join(",")),
            Self::Object(v) => {
                let members = v.iter().map(|(k, v)| format!("{}:{}", serde_json::to_string(k).unwrap(), v.json()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
        }
    }

    fn messagepack(&self) -> Value {
        match self {
            Self::Null => Value::Nil,
            Self::Int(v) => (*v).into(),
            Self::Huge(v) => (*v).into(),
            Self::Float(v) => (*v).into(),
            Self::Bool(v) => (*v).into(),
            Self::Text(v) => v.as_str().into(),
            Self::Array(v) => Value::Array(v.iter().map(Self::messagepack).collect()),
            Self::Object(v) => Value::Map(v.iter().map(|(k, v)| (k.as_str().into(), v.messagepack())).collect()),
        }
    }

    /// As an overflow column has it.
    fn text(&self) -> String {
        match self {
            Self::Text(v) => v.clone(),
            _ => self.json(),
        }
    }
}

/// A column's type and, in a cell, its value as the tests show it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Int,
    Float,
    Bool,
    Text,
    Time,
    Set,
}

#[derive(Debug, Default, Clone, PartialEq)]
struct Outcome {
    /// Cells by column and row, shown; what is not there is NULL.
    cells: BTreeMap<(String, usize), String>,
    rows: usize,
    refused: Vec<usize>,
    /// Rows and the first one's position, by column and overflow.
    overflows: BTreeMap<(String, String), (usize, usize)>,
}

/// A plain reading of the rules.
#[derive(Debug, Default, Clone)]
struct Plain {
    kinds: BTreeMap<String, Kind>,
    /// Columns with integers past 2^53.
    large: BTreeSet<String>,
    outcome: Outcome,
}

fn rfc3339(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_micros())
}

fn flatten(prefix: &str, members: &[(String, Node)], fields: &mut Vec<(String, Node)>) {
    for (name, node) in members {
        let name = format!("{prefix}{name}");
        match node {
            Node::Object(members) => flatten(&(name + "_"), members, fields),
            node => fields.push((name, node.clone())),
        }
    }
}

impl Plain {
    /// Takes a row, or says that it is none.
    fn row(&mut self, doc: &Doc, position: usize) -> Option<()> {
        let Node::Object(members) = doc else { return None };
        if members.is_empty() {
            return None;
        }
        let mut fields = Vec::new();
        flatten("", members, &mut fields);
        for (at, (name, _)) in fields.iter().enumerate() {
            if fields[..at].iter().any(|(before, _)| before == name) {
                return None;
            }
        }
        let mut row: BTreeMap<String, String> = BTreeMap::new();
        let mut strays = Vec::new();
        let mut time = NOW;
        for (name, node) in &fields {
            if matches!(node, Node::Null) {
                continue;
            }
            if name == "time" {
                match node {
                    Node::Int(v) => time = *v,
                    Node::Text(v) if rfc3339(v).is_some() => time = rfc3339(v).unwrap(),
                    _ => strays.push((name, node.text())),
                }
                continue;
            }
            match self.fit(name, node) {
                Some(shown) => drop(row.insert(name.clone(), shown)),
                None => strays.push((name, node.text())),
            }
        }
        let strayed: Vec<&String> = strays.iter().map(|(name, _)| *name).collect();
        for (name, text) in &strays {
            let overflow = overflow_name(name, |overflow| {
                let other = self.kinds.get(overflow).is_some_and(|kind| *kind != Kind::Text);
                other || row.contains_key(overflow) || strayed.iter().any(|stray| *stray == overflow)
            });
            self.kinds.insert(overflow.clone(), Kind::Text);
            row.insert(overflow.clone(), format!("{text:?}"));
            self.outcome.overflows.entry(((*name).clone(), overflow)).or_insert((0, position)).0 += 1;
        }
        let at = self.outcome.rows;
        self.outcome.rows += 1;
        self.outcome.cells.insert(("time".to_owned(), at), format!("@{time}"));
        self.outcome.cells.extend(row.into_iter().map(|(name, shown)| ((name, at), shown)));
        Some(())
    }

    /// What the column shows of a value that it holds.
    fn fit(&mut self, name: &str, node: &Node) -> Option<String> {
        let kind = self.kinds.get(name).copied();
        let (is, shown) = match node {
            Node::Int(v) => (Kind::Int, v.to_string()),
            Node::Huge(v) if format!("{:.0}", *v as f64) == v.to_string() => (Kind::Float, format!("{:?}", *v as f64)),
            Node::Float(v) => (Kind::Float, format!("{v:?}")),
            Node::Bool(v) => (Kind::Bool, v.to_string()),
            Node::Text(v) => match rfc3339(v).filter(|_| kind != Some(Kind::Text)) {
                Some(micros) => (Kind::Time, format!("@{micros}")),
                None => (Kind::Text, format!("{v:?}")),
            },
            Node::Array(v) if v.iter().all(|v| !matches!(v, Node::Array(_) | Node::Object(_))) => {
                let mut texts: Vec<String> = v.iter().map(Node::text).collect();
                texts.sort();
                texts.dedup();
                (Kind::Set, format!("{texts:?}"))
            }
            Node::Array(_) => (Kind::Text, format!("{:?}", node.json())),
            _ => return None,
        };
        let is_small = matches!(node, Node::Int(v) if is_small(*v));
        let becomes = match (kind, is) {
            (None, is) => is,
            (Some(Kind::Int), Kind::Float) if self.large.contains(name) => {
                return shown.parse::<f64>().ok().filter(|v| is_whole(*v)).map(|v| (v as i64).to_string());
            }
            (Some(Kind::Float), Kind::Int) if !is_small => return None,
            (Some(Kind::Int), Kind::Float) | (Some(Kind::Float), Kind::Int) => Kind::Float,
            (Some(kind), is) if kind == is => kind,
            _ => return None,
        };
        if is == Kind::Int && !is_small {
            self.large.insert(name.to_owned());
        }
        self.kinds.insert(name.to_owned(), becomes);
        Some(shown)
    }

    fn read(docs: &[(usize, Doc)]) -> Outcome {
        let mut plain = Self::default();
        for (position, doc) in docs {
            let before = plain.clone();
            if plain.row(doc, *position).is_none() {
                plain = before;
                plain.outcome.refused.push(*position);
            }
        }
        // Integers of a column that is of floats in the end.
        let Self { kinds, mut outcome, .. } = plain;
        widen(&mut outcome, |name| kinds.get(name) == Some(&Kind::Float));
        outcome
    }
}

/// Shows the integers of a column of floats as floats.
fn widen(outcome: &mut Outcome, is_float: impl Fn(&str) -> bool) {
    for ((name, _), shown) in &mut outcome.cells {
        if is_float(name)
            && let Ok(value) = shown.parse::<i64>()
        {
            *shown = format!("{:?}", value as f64);
        }
    }
}

/// Reads a stream whose bytes come in chunks of these sizes, in turns, each by up to `pieces` threads.
fn read(format: RowFormat, bytes: &[u8], sizes: &[usize], pieces: usize) -> (Outcome, Vec<Vec<u8>>) {
    let mut reader = RowReader::new(format, &RowRules::default(), &Limits::default()).unwrap();
    let mut outcome = Outcome::default();
    let mut set_aside = Vec::new();
    let mut floats = Vec::new();
    let (mut at, mut end) = (0, 0);
    for size in sizes.iter().cycle() {
        end = bytes.len().min(end + size);
        for rows in reader.read_all(&bytes[at..end], end == bytes.len(), NOW, pieces) {
            let rows = rows.unwrap();
            if let Some(batch) = &rows.batch {
                for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                    column.to_data().validate_full().unwrap();
                    if field.data_type() == &arrow::datatypes::DataType::Float64 {
                        floats.push(field.name().clone());
                    }
                    for row in (0..batch.num_rows()).filter(|row| column.is_valid(*row)) {
                        outcome.cells.insert((field.name().clone(), outcome.rows + row), cell(column, row));
                    }
                }
                outcome.rows += batch.num_rows();
            }
            for refused in rows.refused {
                outcome.refused.push(refused.position);
                set_aside.push(bytes[at..][refused.bytes].to_vec());
            }
            for overflow in rows.overflows {
                let key = (overflow.name, overflow.overflow);
                outcome.overflows.entry(key).or_insert((0, overflow.position)).0 += overflow.rows;
            }
            at += rows.taken;
        }
        if at == bytes.len() {
            break;
        }
    }
    widen(&mut outcome, |name| floats.iter().any(|float| float == name));
    (outcome, set_aside)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,3}",
        "[ -~]{1,8}",
        "[a\"\\\\,\n\tä€😀]{1,6}",
        Just("2024-01-02T03:04:05.25+02:00".to_owned()),
        Just("2024-02-30T03:04:05Z".to_owned()),
        Just("2024-01-02".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = Node> {
    prop_oneof![
        2 => Just(Node::Null),
        6 => any::<i64>().prop_map(Node::Int),
        1 => (1u64 << 63..=u64::MAX).prop_map(Node::Huge),
        1 => Just(Node::Huge(1 << 63)),
        4 => any::<f64>().prop_filter("JSON has none", |v| v.is_finite()).prop_map(Node::Float),
        2 => any::<bool>().prop_map(Node::Bool),
        6 => text().prop_map(Node::Text),
    ]
}

fn node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        8 => scalar(),
        2 => prop::collection::vec(scalar(), 0..4).prop_map(Node::Array),
        2 => prop::collection::vec(text().prop_map(Node::Text), 0..4).prop_map(Node::Array),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(Node::Array),
            2 => prop::collection::vec((name(), inner), 0..3).prop_map(Node::Object),
        ]
    })
}

/// Few names, so that types, overflows and flattened names meet.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "a_text", "a_text_text", "b_a", "text", "d\"ö", "e1", "e2", "e3", "e4", "e5"])
        .prop_map(str::to_owned)
}

fn doc() -> impl Strategy<Value = Doc> {
    let time = prop_oneof![
        (10_000_000_000_000i64..9_999_999_999_999_999).prop_map(Node::Int),
        text()
            .prop_filter("a number or a date is as good here", |v| v.parse::<f64>().is_err() && v != "2024-01-02")
            .prop_map(Node::Text),
        Just(Node::Null),
    ];
    let members = prop::collection::vec((name(), node()), 0..6);
    let row = (prop::option::of(time), members).prop_map(|(time, mut members)| {
        members.extend(time.map(|time| ("time".to_owned(), time)));
        Node::Object(members)
    });
    prop_oneof![20 => row, 1 => scalar()]
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1usize..40, 1usize..2000], 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn json_rows_are_as_the_rules_say(
        docs in prop::collection::vec(doc(), 1..30), sizes in sizes(), pieces in 1usize..6, ended: bool
    ) {
        let lines: Vec<String> = docs.iter().map(Node::json).collect();
        for line in &lines {
            prop_assert!(serde_json::from_str::<serde_json::Value>(line).is_ok());
        }
        let bytes = lines.join("\n") + if ended { "\n" } else { "" };
        let docs: Vec<(usize, Doc)> = docs.into_iter().enumerate().map(|(at, doc)| (at + 1, doc)).collect();
        let expected = Plain::read(&docs);
        for sizes in [&sizes[..], &[usize::MAX >> 1]] {
            let (found, set_aside) = read(RowFormat::Json, bytes.as_bytes(), sizes, pieces);
            prop_assert_eq!(&found, &expected);
            for (position, raw) in found.refused.iter().zip(set_aside) {
                prop_assert_eq!(lines[position - 1].as_bytes(), raw);
            }
        }
    }

    #[test]
    fn messagepack_rows_are_as_the_rules_say(
        docs in prop::collection::vec(doc(), 1..30), array in 0usize..30, sizes in sizes()
    ) {
        // Some of them in one array.
        let array = array.min(docs.len());
        let mut bytes = packed(&Value::Array(docs[..array].iter().map(Node::messagepack).collect()));
        bytes.extend(docs[array..].iter().flat_map(|doc| packed(&doc.messagepack())));
        let docs: Vec<(usize, Doc)> = docs.into_iter().enumerate().collect();
        let expected = Plain::read(&docs);
        for sizes in [&sizes[..], &[usize::MAX >> 1]] {
            let (found, set_aside) = read(RowFormat::MessagePack, &bytes, sizes, 2);
            prop_assert_eq!(&found, &expected);
            for (position, raw) in found.refused.iter().zip(set_aside) {
                prop_assert_eq!(packed(&docs[*position].1.messagepack()), raw);
            }
        }
    }

    #[test]
    fn where_a_stream_is_cut_does_not_matter(
        text in "([a-c0-9,.\"\n\r{}:\\[\\] é-]|\"a\":|true|null|\n\\{\"a\":1\\}\n|1,x\n){0,80}",
        sizes in sizes(),
        pieces in 1usize..6,
    ) {
        for (format, text) in [(RowFormat::Json, text.clone()), (RowFormat::Csv, format!("a,b\n{text}"))] {
            let whole = read(format, text.as_bytes(), &[usize::MAX >> 1], 1);
            for sizes in [&sizes[..], &[usize::MAX >> 1]] {
                prop_assert_eq!(&read(format, text.as_bytes(), sizes, pieces), &whole);
            }
        }
        let bytes = [&text.as_bytes()[..text.len() / 2], b"\x93\x81\xa1a\x01\x80", text.as_bytes()].concat();
        let (found, aside) = read(RowFormat::MessagePack, &bytes, &sizes, 1);
        let (whole, whole_aside) = read(RowFormat::MessagePack, &bytes, &[usize::MAX >> 1], 1);
        // What follows the first break is refused piece by piece.
        prop_assert_eq!((found.cells, aside.concat()), (whole.cells, whole_aside.concat()));
    }
}
