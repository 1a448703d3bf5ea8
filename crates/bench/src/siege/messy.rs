//! Sends rows of mixed types and names, one per request, and checks their tables.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};
use world::Stream;

use super::check::Reader;
use super::counts::ActionCounts;
use super::findings::Kind;
use super::front::{Front, pick};
use super::writers::{exchange, post, status, words};
use crate::error::BenchError;

const DATABASE: &str = "messy";
const TABLES: [&str; 3] = ["Things", "a.b.c", "größe"];
/// Names that some stores refuse, separated by `|`.
const NAMES: &str = "load|Load|LOAD|userId|userID|user_id|Time|TIME|time_text|a.b.c|A.b.c|a b|a/b|1st|_x|__y|größe|Größe|\
                     GRÖSSE|日本|tag-1|select|order by|load_text|id|ID|iD|x.y|x_y|x/y|100%|$|\"quoted\"|back\\slash|'|\u{1F980}";

fn table_of(number: u64) -> &'static str {
    TABLES[(number % TABLES.len() as u64) as usize]
}

/// Sends row after row until the life is over.
pub(super) fn send(front: &Front<'_>, mut dice: Stream) {
    let campaign = front.campaign;
    let mut connection = None;
    while !front.is_over() {
        let mut row = row(&mut dice);
        let number = {
            let mut rows = campaign.messy.rows();
            row.insert("request".to_owned(), Value::from(rows.len()));
            rows.push(Some((row.clone(), false)));
            rows.len() - 1
        };
        let table = table_of(number as u64).replace('ö', "%C3%B6").replace('ß', "%C3%9F");
        // The first dot separates the database from the table.
        let path = format!("/api/v1/write/json?table={DATABASE}.{table}");
        let reply = exchange(front, &mut connection, &post(&path, "", Value::Object(row).to_string().as_bytes()));
        match status(&reply) {
            Some(204) => {
                if let Some((_, acknowledged)) = &mut campaign.messy.rows()[number] {
                    *acknowledged = true;
                }
                ActionCounts::count(&campaign.actions.messy_rows);
            }
            Some(400 | 429) => campaign.messy.rows()[number] = None,
            Some(503) => {}
            _ => front.find(Kind::Wrong, format!("messy row {number}: {}", words(&reply))),
        }
        front.rest(20 + dice.below(80));
    }
}

fn row(dice: &mut Stream) -> Map<String, Value> {
    let names: Vec<&str> = NAMES.split('|').collect();
    let fields = (0..=dice.below(6)).map(|_| {
        let name = (*pick(dice, &names)).to_owned();
        // Mostly one type per name, so that other values conflict with the column's type.
        let kind = if dice.chance(0.8) { name.len() as u32 % 5 } else { dice.below(5) };
        (name, value(kind, dice))
    });
    fields.collect()
}

fn value(kind: u32, dice: &mut Stream) -> Value {
    match kind {
        0 => Value::from(i64::from(dice.next_u32()) - (1 << 31)),
        1 => Value::from(*pick(dice, &[i64::MAX, i64::MIN, (1 << 53) + 1, -(1 << 53) - 1, 1_234_567_890_123_456_789])),
        2 => {
            // Short numbers, because serde_json reads them back exactly.
            let real = f64::from(dice.next_u32()) / 1e3;
            Number::from_f64(*pick(dice, &[real, -real, 1e22, 0.1])).map_or(Value::Null, Value::Number)
        }
        3 => Value::from(*pick(dice, &["", "a", "NULL", "1.5", "true", "\u{1F980}", "a\nb", "'; DROP TABLE x; --"])),
        _ => Value::Bool(dice.chance(0.5)),
    }
}

/// Compares the rows from number `first` on with the tables; returns how many were compared.
pub(super) fn check(reader: &Reader<'_>, first: u64) -> Result<u64, BenchError> {
    let findings = &reader.campaign.findings;
    let find = |kind, what| findings.add(kind, reader.life, 1, what);
    let mut found: BTreeMap<u64, u64> = BTreeMap::new();
    let sent = reader.campaign.messy.rows().clone();
    for table in TABLES {
        let quoted = format!("{DATABASE}.\"{table}\"");
        for stored in reader.sql_of_table(&quoted, &format!("SELECT * FROM {quoted} WHERE request >= {first}"))? {
            let Some(number) = stored["request"].as_u64().filter(|number| *number < sent.len() as u64) else {
                find(Kind::Changed, format!("{quoted} has a row that no client sent: {stored}"));
                continue;
            };
            *found.entry(number).or_default() += 1;
            let Some((row, _)) = &sent[number as usize] else {
                find(Kind::Doubled, format!("{quoted} has the row {number}, which was refused"));
                continue;
            };
            let values: Vec<&Value> = stored.as_object().into_iter().flat_map(Map::values).collect();
            for (name, value) in row.iter().filter(|(_, value)| !values.iter().any(|stored| is_same(value, stored))) {
                find(Kind::Changed, format!("{quoted}, row {number}: {name} was {value}, the row is {stored}"));
            }
        }
    }
    let mut lost = Vec::new();
    for (number, row) in (0_u64..).zip(&sent).skip(first as usize) {
        let times = found.get(&number).copied().unwrap_or(0);
        let must = row.as_ref().is_some_and(|(_, acknowledged)| *acknowledged);
        if times == 0 && must {
            lost.push(number.to_string());
        }
        if times > 1 {
            find(Kind::Doubled, format!("the row {number} of {} is there {times} times", table_of(number)));
        }
    }
    if !lost.is_empty() {
        let what = format!("{} messy rows: {}", lost.len(), lost[..lost.len().min(10)].join(", "));
        findings.add(Kind::Lost, reader.life, lost.len() as u64, what);
    }
    Ok(sent.len() as u64 - first)
}

/// Whether a stored value equals the sent one, as a value of its type or as text.
fn is_same(sent: &Value, stored: &Value) -> bool {
    if let Value::String(text) = stored {
        return match sent {
            Value::String(sent) => sent == text,
            Value::Number(sent) => *text == sent.to_string() || (sent.is_f64() && text.parse().ok() == sent.as_f64()),
            Value::Bool(sent) => text.parse() == Ok(*sent),
            _ => false,
        };
    }
    match (sent, stored) {
        (Value::Number(sent), Value::Number(stored)) if sent.is_f64() || stored.is_f64() => {
            let is_exact = |number: &Number| number.as_i64().is_none_or(|n| n.unsigned_abs() <= 1 << 53);
            is_exact(sent) && is_exact(stored) && sent.as_f64() == stored.as_f64()
        }
        _ => sent == stored,
    }
}
