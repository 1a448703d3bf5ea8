//! Compares the tables of numbered rows with the acknowledged requests.

use std::fs::{self, File};

use arrow::array::{Array as _, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::findings::Kind;
use super::front::Campaign;
use super::ledger::Fate;
use super::rows::{self, DATABASE, ROWS, TABLES};
use super::shell::{Ended, Shell};
use crate::error::BenchError;
use crate::ingest::records::Measurement;

/// The stored rows of a request: all rows, distinct numbers, and changed values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stored {
    rows: u64,
    distinct: u64,
    changed: u64,
}

/// Asks with processes while nothing writes.
pub(super) struct Reader<'a> {
    pub(super) campaign: &'a Campaign<'a>,
    pub(super) life: u32,
}

impl Reader<'_> {
    fn shell(&self, words: &[&str]) -> Result<Option<Vec<u8>>, BenchError> {
        let shell = Shell { campaign: self.campaign, life: self.life, actor: "check" };
        match shell.run(words, None, None)? {
            Ended::Well(printed) => Ok(Some(printed)),
            Ended::Killed => Ok(None),
            Ended::Refused(said) => {
                self.find(Kind::Wrong, 1, format!("`{}` was refused: {said}", words.join(" ")));
                Ok(None)
            }
        }
    }

    fn find(&self, kind: Kind, times: u64, what: String) {
        self.campaign.findings.add(kind, self.life, times, what);
    }

    fn sql(&self, statement: &str) -> Result<Vec<Value>, BenchError> {
        let printed = self.shell(&["sql", statement, "--format", "json"])?.unwrap_or_default();
        if printed.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_slice(&printed).map_err(|e| BenchError::Wrong(format!("{statement}: {e}")))
    }

    fn has_table(&self, table: &str) -> Result<bool, BenchError> {
        let (database, name) = table.split_once('.').unwrap_or_default();
        let there = format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = '{database}' AND table_name = '{}'",
            name.trim_matches('"')
        );
        Ok(!self.sql(&there)?.is_empty())
    }

    /// The answer to a statement about one table; empty if the table does not exist.
    pub(super) fn sql_of_table(&self, table: &str, statement: &str) -> Result<Vec<Value>, BenchError> {
        if self.has_table(table)? { self.sql(statement) } else { Ok(Vec::new()) }
    }

    /// Compares requests from `first` on in SQL with the ledger.
    pub(super) fn check(&self, first: u64) -> Result<(), BenchError> {
        for (place, table) in self.campaign.tables.iter().enumerate() {
            self.judge(place, table, first, &self.stored_in_sql(table, first)?);
        }
        Ok(())
    }

    /// The stored requests from `first` on, read in SQL and ordered by number. Adjacent equal requests form one row.
    fn stored_in_sql(&self, table: &Measurement, first: u64) -> Result<Vec<Stored>, BenchError> {
        let name = format!("{DATABASE}.{}", table.name);
        let (row, changed) = (rows::row_in_sql(), rows::is_changed_in_sql(table.fields));
        let statement = format!(
            "WITH numbered AS (SELECT {row} AS r, * FROM {name}), \
             requests AS (SELECT r / {ROWS} AS request, count(*) AS n, count(DISTINCT r) AS d, \
             sum(CASE WHEN {changed} THEN 1 ELSE 0 END) AS bad FROM numbered WHERE r >= {} GROUP BY 1), \
             islands AS (SELECT *, request - {TABLES} * row_number() OVER (PARTITION BY n, d, bad ORDER BY request) AS island \
             FROM requests) \
             SELECT min(request) AS first, max(request) AS last, n, d, bad FROM islands GROUP BY n, d, bad, island",
            first * ROWS
        );
        let mut stored: Vec<Stored> = Vec::new();
        for island in self.sql_of_table(&name, &statement)? {
            let number = |key: &str| island[key].as_u64();
            let (Some(from), Some(to), Some(rows), Some(distinct), Some(changed)) =
                (number("first"), number("last"), number("n"), number("d"), number("bad"))
            else {
                self.find(Kind::Changed, 1, format!("{name} has rows that no client sent: {island}"));
                continue;
            };
            if to >= self.campaign.ledger.len() {
                self.find(Kind::Changed, 1, format!("{name} has requests up to {to}, which no client sent"));
                continue;
            }
            stored.resize(stored.len().max(to as usize + 1), Stored::default());
            for request in (from..=to).step_by(TABLES as usize) {
                stored[request as usize] = Stored { rows, distinct, changed };
            }
        }
        Ok(stored)
    }

    /// Compares every row of an export with the ledger.
    pub(super) fn check_exports(&self) -> Result<u64, BenchError> {
        let mut all = 0;
        for (place, table) in self.campaign.tables.iter().enumerate() {
            let name = format!("{DATABASE}.{}", table.name);
            if !self.has_table(&name)? {
                continue;
            }
            let file = self.campaign.scratch.join("export.parquet");
            let to = file.to_string_lossy();
            if self.shell(&["export", &name, "--to", &to])?.is_none() {
                continue;
            }
            let stored = self.stored_in_export(table, &file)?;
            all += stored.iter().map(|stored| stored.rows).sum::<u64>();
            self.judge(place, table, 0, &stored);
            fs::remove_file(&file).map_err(BenchError::io("remove", &file))?;
        }
        Ok(all)
    }

    fn stored_in_export(&self, table: &Measurement, path: &std::path::Path) -> Result<Vec<Stored>, BenchError> {
        let bad = |source| BenchError::Segment { path: path.to_owned(), source };
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).map_err(BenchError::io("open", path))?)
            .map_err(bad)?;
        let requests = self.campaign.ledger.len() as usize;
        let mut stored = vec![Stored::default(); requests];
        let mut seen = vec![false; requests * ROWS as usize];
        for batch in reader.build().map_err(bad)? {
            let batch = batch.map_err(|source| BenchError::Rows { path: path.to_owned(), source })?;
            let strangers = count(&batch, table, &mut stored, &mut seen)
                .map_err(|source| BenchError::Rows { path: path.to_owned(), source })?;
            if strangers > 0 {
                self.find(Kind::Changed, strangers, format!("{} has {strangers} rows that no client sent", table.name));
            }
        }
        Ok(stored)
    }

    /// Reports differences between a table and the ledger.
    fn judge(&self, place: usize, table: &Measurement, first: u64, stored: &[Stored]) {
        let ledger = &self.campaign.ledger;
        let (removed, gone) = (ledger.removed_below(place), ledger.is_gone_below(place));
        let fates = ledger.fates();
        // Combine requests with the same fault into one finding.
        let mut faults: Vec<(Kind, &'static str, u64, Vec<u64>)> = Vec::new();
        let mut fault = |kind, what, times, request| match faults.iter_mut().find(|fault| fault.1 == what) {
            Some((_, _, all, requests)) => {
                *all += times;
                requests.push(request);
            }
            None => faults.push((kind, what, times, vec![request])),
        };
        let requests = fates.iter().zip(0_u64..).skip(first as usize);
        for (fate, request) in requests.filter(|(_, request)| rows::table_of(*request) == place) {
            let found = stored.get(request as usize).copied().unwrap_or_default();
            if found.changed > 0 {
                fault(Kind::Changed, "rows have other values", found.changed, request);
            }
            if found.rows > found.distinct || found.rows > ROWS {
                fault(Kind::Doubled, "rows are there more than once", 1, request);
            }
            if found.rows > 0 && *fate == Fate::Refused {
                fault(Kind::Doubled, "it was refused, and is there", 1, request);
            }
            if found.rows > 0 && request < gone {
                fault(Kind::Doubled, "it was removed, and is there", 1, request);
            }
            if request < removed || found.distinct >= ROWS {
                continue;
            }
            match fate {
                Fate::Acknowledged => fault(Kind::Lost, "it was acknowledged, and is not there whole", 1, request),
                Fate::Sent if found.rows > 0 => fault(Kind::Wrong, "it is there in part", 1, request),
                _ => {}
            }
        }
        for (kind, what, times, requests) in faults {
            let some: Vec<String> = requests.iter().take(10).map(u64::to_string).collect();
            let (count, some) = (requests.len(), some.join(", "));
            self.find(kind, times, format!("{}, {count} requests: {what}: {some}", table.name));
        }
    }
}

/// Adds a batch's rows to their requests; returns the number of rows that belong to no request.
fn count(
    batch: &RecordBatch,
    table: &Measurement,
    stored: &mut [Stored],
    seen: &mut [bool],
) -> Result<u64, arrow::error::ArrowError> {
    let column = |name: &str, to: &DataType| {
        let found = batch.column_by_name(name);
        let found = found.ok_or_else(|| arrow::error::ArrowError::SchemaError(format!("no column {name}")))?;
        cast(found, to)
    };
    let time = column("time", &DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())))?;
    let time = cast(&time, &DataType::Int64)?;
    let host = column("host", &DataType::Utf8)?;
    let [a, b, c] = table.fields.map(|field| column(field, &DataType::Float64));
    let values = [a?, b?, c?];
    let (time, host) = (time.as_primitive::<Int64Type>(), host.as_string::<i32>());
    let values = values.each_ref().map(AsArray::as_primitive::<Float64Type>);
    let mut strangers = 0;
    for row in 0..batch.num_rows() {
        let number = rows::row_at(time.value(row)).filter(|number| (*number as usize) < seen.len());
        let Some(number) = number.filter(|_| time.is_valid(row)) else {
            strangers += 1;
            continue;
        };
        let of = &mut stored[(number / ROWS) as usize];
        of.rows += 1;
        of.distinct += u64::from(!std::mem::replace(&mut seen[number as usize], true));
        let is_null = host.is_null(row) || values.iter().any(|values| values.is_null(row));
        let is_same = !is_null && rows::is_row(number, host.value(row), [0, 1, 2].map(|at| values[at].value(row)));
        of.changed += u64::from(!is_same);
    }
    Ok(strangers)
}
