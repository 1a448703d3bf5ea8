//! Plots: bytes of columns, and time and reads of questions.

use super::questions::Queried;
use super::run::Cdr;
use crate::harness::report::Section;
use crate::harness::report::number::{bytes, ms, short};
use crate::harness::report::plot::{Scale, bars};

/// The variants, in the order of their plot colours.
fn names(cdr: &Cdr) -> Vec<&'static str> {
    cdr.variants.keys().copied().collect()
}

/// Adds the bytes per row of every column, for every layout with columns.
pub(super) fn columns(cdr: &Cdr, section: Section) -> Section {
    let names = names(cdr);
    let columns = cdr.columns.values().next().into_iter().flatten();
    let row = |(place, (column, _)): (usize, &(String, _))| {
        let each = |name: &&str| {
            let (_, of) = cdr.columns.get(name)?.get(place)?;
            Some((of.bytes + of.bloom_bytes) as f64 / cdr.rows.max(1) as f64)
        };
        (column.clone(), names.iter().map(each).collect())
    };
    let rows: Vec<_> = columns.enumerate().map(row).collect();
    let title = "Bytes a row of each column, Bloom filters included (clustered: after clustering)";
    section.plot(title, bars(&rows, &names, Scale::Linear, short))
}

/// Adds time, row groups and bytes of every question.
pub(super) fn questions(cdr: &Cdr, section: Section) -> Section {
    let names = names(cdr);
    let share = |q: &Queried| (q.groups_total > 0).then(|| 100.0 * q.groups_read as f64 / q.groups_total as f64);
    let percent = |v: f64| short(v) + "%";
    let time = by_question(&cdr.queries, &names, |q| Some(q.ms));
    let groups = by_question(&cdr.queries, &names, share);
    let read = by_question(&cdr.queries, &names, |q| Some(q.bytes_read as f64));
    let with_lookups = by_question(&cdr.second_pass.queries, &names, share);
    let shares = |rows: &[_]| bars(rows, &names, Scale::Linear, percent);
    section
        .plot("Time of a question", bars(&time, &names, Scale::Logarithmic, ms))
        .plot("Share of the row groups that a question reads (row has none, and reads all)", shares(&groups))
        .plot("Bytes that a question reads", bars(&read, &names, Scale::Logarithmic, |v| bytes(v as u64)))
        .plot("Share of the row groups that a question reads, with indexes", shares(&with_lookups))
}

/// One row per question, one figure per variant.
fn by_question(
    queries: &[Queried],
    names: &[&str],
    figure: impl Fn(&Queried) -> Option<f64>,
) -> Vec<(String, Vec<Option<f64>>)> {
    let mut rows: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for query in queries {
        if rows.last().is_none_or(|(name, _)| name != query.name) {
            rows.push((query.name.to_owned(), vec![None; names.len()]));
        }
        let place = names.iter().position(|name| *name == query.variant);
        if let (Some((_, row)), Some(place)) = (rows.last_mut(), place) {
            row[place] = figure(query);
        }
    }
    rows
}
