//! The report.

use super::insert::VariantFigures;
use super::plots;
use super::questions::Queried;
use super::run::Cdr;
use crate::harness::bars::Grade;
use crate::harness::bench::Measured;
use crate::harness::report::number::{bytes, count, ms, or_dash, rate, short};
use crate::harness::report::plot::{Series, lines};
use crate::harness::report::{Report, Section, Table};

impl Measured for Cdr {
    fn report(&self) -> Report {
        let what = format!(
            "{} call records in {} batches, which span a day; {} of values. Every variant got the same records, made \
             before its clock started; content hash {}. Peak memory {}.",
            count(self.rows),
            count(self.workload.batches as u64),
            bytes(self.raw_bytes),
            self.content_hash,
            bytes(self.peak_rss_bytes)
        );
        let sections = [gates, advice, inserts, checkpoints, clustering, queries, lookups, phases];
        Report::new("manyworlds bench cdr", &self.machine, what).with(sections.map(|section| section(self)))
    }

    fn faults(&self) -> Vec<String> {
        let failed = self.gates.iter().filter(|g| g.status == Grade::Fail);
        failed.map(|g| format!("FAIL {}: {} ({})", g.name, g.value, g.detail)).collect()
    }
}

fn gates(cdr: &Cdr) -> Section {
    let table = Table::of(&cdr.gates)
        .column("gate", |g| g.name.clone())
        .column("status", |g| g.status)
        .column("value", |g| short(g.value))
        .column("limit", |g| short(g.limit))
        .column("in words", |g| g.detail.clone());
    Section::new("Gates").table(table)
}

fn advice(cdr: &Cdr) -> Section {
    let words = "From the first million rows. Span: how much of all values, by rank, 10,000 neighbouring rows cover.";
    let table = Table::of(&cdr.advice)
        .column("column", |a| a.column.clone())
        .column("distinct", |a| count(a.distinct as u64))
        .column("span", |a| short(a.span * 100.0) + "%")
        .column("Bloom filter", |a| a.bloom.to_string())
        .column("statistics", |a| a.statistics.to_string())
        .column("clustering", |a| a.cluster.to_string());
    Section::new("Advice").text(words).table(table)
}

fn inserts(cdr: &Cdr) -> Section {
    let words = "Every insert is durable when it is counted: file, folder and log are synced. Rows by CPU are rows a \
                 second of processor time.";
    let table = Table::of(&cdr.variants)
        .column("layout", |(name, _)| **name)
        .column("on disk", |(_, f)| bytes(f.bytes))
        .column("bytes a row", |(_, f)| short(f.bytes as f64 / f.rows.max(1) as f64))
        .column("times smaller", |(_, f)| short(cdr.raw_bytes as f64 / f.bytes.max(1) as f64))
        .column("rows", |(_, f)| rate(f.rows_per_s))
        .column("rows by CPU", |(_, f)| rate(f.rows_per_cpu_s))
        .column("batch p50", |(_, f)| ms(f.p50_batch_ms))
        .column("batch p99", |(_, f)| ms(f.p99_batch_ms))
        .column("worst batch", |(_, f)| ms(f.worst_batch_ms))
        .column("slowest batch", |(_, f)| rate(f.worst_rows_per_s));
    let points = |f: &VariantFigures| f.rows_per_s_by_batch.iter().map(|(n, rate)| (*n as f64, rate / 1e6)).collect();
    let series: Vec<Series> = cdr.variants.iter().map(|(name, f)| Series { name, points: points(f) }).collect();
    let speed = lines(&series, &[], "rows of a batch");
    let section = Section::new("Inserting").text(words).table(table);
    plots::columns(cdr, section.plot("Million rows a second, by rows of a batch", speed))
}

fn checkpoints(cdr: &Cdr) -> Section {
    let rows = cdr.variants.iter().flat_map(|(name, f)| f.checkpoints.iter().map(move |c| (*name, c)));
    let table = Table::of(rows)
        .column("layout", |(name, _)| *name)
        .column("batches", |(_, c)| count(c.batches as u64))
        .column("rows", |(_, c)| count(c.rows))
        .column("on disk", |(_, c)| bytes(c.bytes))
        .column("bytes a row", |(_, c)| short(c.bytes as f64 / c.rows.max(1) as f64));
    Section::new("Checkpoints").table(table)
}

fn clustering(cdr: &Cdr) -> Section {
    let words =
        "From reading the first row to the commit. Depth: row groups that a question for one key reads, on average.";
    let table = Table::of([&cdr.clustering])
        .column("rows", |c| rate(c.rows_per_s))
        .column("rows by CPU", |c| rate(c.rows_per_cpu_s))
        .column("before", |c| bytes(c.bytes_before))
        .column("after", |c| bytes(c.bytes_after))
        .column("ratio", |c| short(c.bytes_after as f64 / c.bytes_before.max(1) as f64))
        .column("depth before", |c| short(c.depth_before))
        .column("depth after", |c| short(c.depth_after))
        .column("segments", |c| format!("{} to {}", c.segments.0, c.segments.1))
        .column("put aside", |c| bytes(c.spilled_bytes));
    Section::new("Clustering").text(words).table(table)
}

fn share(q: &Queried) -> String {
    match q.groups_total {
        0 => "-".to_owned(),
        total => format!("{} of {} ({}%)", q.groups_read, total, short(100.0 * q.groups_read as f64 / total as f64)),
    }
}

fn queries(cdr: &Cdr) -> Section {
    let words = "Every answer equals the count made from the records. Times are the median of three (slow answers: of one), \
                 files in the system's memory.";
    let table = Table::of(&cdr.queries)
        .column("question", |q| q.name)
        .column("layout", |q| q.variant)
        .column("time", |q| ms(q.ms))
        .column("first time", |q| ms(q.first_ms))
        .column("read", |q| bytes(q.bytes_read))
        .column("row groups", |q| share(q))
        .column("rows", |q| count(q.rows));
    plots::questions(cdr, Section::new("Asking").text(words).table(table))
}

fn lookups(cdr: &Cdr) -> Section {
    let pass = &cdr.second_pass;
    let words = format!(
        "The same records again, into tables with secondary indexes on {}. The Avro files (row) have none: their \
         figures show how much the machine alone changes. After clustering, the indexes of layout clustered take {}. \
         Clustering moved {} by processor time with them, and {} without.",
        pass.lookup.join(", "),
        bytes(pass.lookup_bytes.get("clustered").copied().unwrap_or(0)),
        rate(pass.clustering.rows_per_cpu_s),
        rate(cdr.clustering.rows_per_cpu_s),
    );
    let variants = pass.variants.iter().map(|(name, f)| (*name, f, cdr.variants.get(name), pass.slowdown.get(name)));
    let inserts = Table::of(variants)
        .column("layout", |(name, ..)| *name)
        .column("indexes", |(_, f, ..)| bytes(f.lookup_bytes))
        .column("bytes a row", |(_, f, ..)| short(f.lookup_bytes as f64 / f.rows.max(1) as f64))
        .column("rows", |(_, f, ..)| rate(f.rows_per_s))
        .column("rows by CPU", |(_, f, ..)| rate(f.rows_per_cpu_s))
        .column("times slower", |(.., slower)| or_dash(slower.map(|s| short(s.wall))))
        .column("by CPU", |(.., slower)| or_dash(slower.map(|s| short(s.cpu))))
        .column("batch p99", |(_, f, ..)| ms(f.p99_batch_ms))
        .column("worst without", |(_, _, before, _)| or_dash(before.map(|b| ms(b.worst_batch_ms))))
        .column("worst batch", |(_, f, ..)| ms(f.worst_batch_ms))
        .column("times", |(.., slower)| or_dash(slower.map(|s| short(s.worst_batch))));
    let before = |q: &Queried| cdr.queries.iter().find(|b| (b.name, b.variant) == (q.name, q.variant));
    let asked = Table::of(pass.queries.iter().map(|q| (q, before(q))))
        .column("question", |(q, _)| q.name)
        .column("layout", |(q, _)| q.variant)
        .column("row groups without", |(_, before)| or_dash(before.map(share)))
        .column("with", |(q, _)| share(q))
        .column("time without", |(_, before)| or_dash(before.map(|b| ms(b.ms))))
        .column("with", |(q, _)| ms(q.ms))
        .column("read without", |(_, before)| or_dash(before.map(|b| bytes(b.bytes_read))))
        .column("with", |(q, _)| bytes(q.bytes_read));
    let why = "A condition that is known only once the question runs, as that of Q1, cannot be looked up; the same with \
               its time written out (hour) can.";
    Section::new("Look-ups").text(words).table(inserts).table(asked).text(why)
}

fn phases(cdr: &Cdr) -> Section {
    let number = |n: Option<u8>| or_dash(n.map(|n| n.to_string()));
    let words = "Numbered as in the public benchmark, in the order in which they ran, all repeats together.";
    let table = Table::of(&cdr.phases)
        .column("number", |p| number(p.number))
        .column("phase", |p| p.name)
        .column("pass", |p| number(p.pass))
        .column("wall s", |p| short(p.wall_s))
        .column("CPU s", |p| short(p.cpu_s));
    Section::new("Phases").text(words).table(table)
}
