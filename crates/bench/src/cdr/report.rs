//! The report: as Markdown, and as one HTML page with plots.

use table::Advice;

use super::gates::Gate;
use super::insert::VariantFigures;
use super::pass::Clustering;
use super::phases::Phase;
use super::plots;
use super::questions::Queried;
use super::run::Cdr;
use crate::harness::report::number::{bytes, count, ms, rate, short};
use crate::harness::report::plot::{Series, lines};
use crate::harness::report::{Block, Section, Table, html as page, markdown as text, on_machine};

/// The report as Markdown with aligned tables.
pub fn markdown(cdr: &Cdr) -> String {
    text::render(&sections(cdr))
}

pub fn html(cdr: &Cdr) -> String {
    page::render(&sections(cdr))
}

fn sections(cdr: &Cdr) -> Vec<Section> {
    vec![
        head(cdr),
        gates(&cdr.gates),
        advice(&cdr.advice),
        inserts(cdr),
        checkpoints(cdr),
        clustering(&cdr.clustering),
        queries(cdr),
        lookups(cdr),
        phases(&cdr.phases),
    ]
}

fn head(cdr: &Cdr) -> Section {
    let what = format!(
        "{} call records in {} batches, which span a day; {} of values. Every variant got the same records, made \
         before its clock started; content hash {}. Peak memory {}.",
        count(cdr.rows),
        count(cdr.workload.batches as u64),
        bytes(cdr.raw_bytes),
        cdr.content_hash,
        bytes(cdr.peak_rss_bytes)
    );
    let blocks = vec![Block::Text(on_machine(&cdr.machine)), Block::Text(what)];
    Section { title: "manyworlds bench cdr", blocks }
}

fn gates(gates: &[Gate]) -> Section {
    let row = |g: &Gate| [g.name.clone(), g.status.word().to_owned(), short(g.value), short(g.limit), g.detail.clone()];
    let header = ["gate", "status", "value", "limit", "in words"];
    Section { title: "Gates", blocks: vec![Table::block(header, gates.iter().map(row))] }
}

fn advice(advice: &[Advice]) -> Section {
    let row = |a: &Advice| {
        [
            a.column.clone(),
            count(a.distinct as u64),
            short(a.span * 100.0) + "%",
            a.bloom.to_string(),
            a.statistics.to_string(),
            a.cluster.to_string(),
        ]
    };
    let header = ["column", "distinct", "span", "Bloom filter", "statistics", "clustering"];
    let words = "From the first million rows. Span: how much of all values, by rank, 10,000 neighbouring rows cover.";
    let table = Table::block(header, advice.iter().map(row));
    Section { title: "Advice", blocks: vec![Block::Text(words.to_owned()), table] }
}

fn inserts(cdr: &Cdr) -> Section {
    let row = |(name, f): (&&'static str, &VariantFigures)| {
        [
            (*name).to_owned(),
            bytes(f.bytes),
            short(f.bytes as f64 / f.rows.max(1) as f64),
            short(cdr.raw_bytes as f64 / f.bytes.max(1) as f64),
            rate(f.rows_per_s),
            rate(f.rows_per_cpu_s),
            ms(f.p50_batch_ms),
            ms(f.p99_batch_ms),
            ms(f.worst_batch_ms),
            rate(f.worst_rows_per_s),
        ]
    };
    let header = [
        "layout",
        "on disk",
        "bytes a row",
        "times smaller",
        "rows",
        "rows by CPU",
        "batch p50",
        "batch p99",
        "worst batch",
        "slowest batch",
    ];
    let points = |f: &VariantFigures| f.rows_per_s_by_batch.iter().map(|(n, rate)| (*n as f64, rate / 1e6)).collect();
    let series: Vec<Series> = cdr.variants.iter().map(|(name, f)| Series { name, points: points(f) }).collect();
    let words = "Every insert is durable when it is counted: file, folder and log are synced. Rows by CPU are rows a \
                 second of processor time.";
    let blocks = vec![
        Block::Text(words.to_owned()),
        Table::block(header, cdr.variants.iter().map(row)),
        Block::Plot { title: "Million rows a second, by rows of a batch", svg: lines(&series, &[], "rows of a batch") },
    ];
    let blocks = blocks.into_iter().chain([plots::columns(cdr)]).collect();
    Section { title: "Inserting", blocks }
}

fn checkpoints(cdr: &Cdr) -> Section {
    let rows = cdr.variants.iter().flat_map(|(name, f)| {
        f.checkpoints.iter().map(|c| {
            let each = c.bytes as f64 / c.rows.max(1) as f64;
            [(*name).to_owned(), count(c.batches as u64), count(c.rows), bytes(c.bytes), short(each)]
        })
    });
    let header = ["layout", "batches", "rows", "on disk", "bytes a row"];
    Section { title: "Checkpoints", blocks: vec![Table::block(header, rows)] }
}

fn clustering(of: &Clustering) -> Section {
    let row = [
        rate(of.rows_per_s),
        rate(of.rows_per_cpu_s),
        bytes(of.bytes_before),
        bytes(of.bytes_after),
        short(of.bytes_after as f64 / of.bytes_before.max(1) as f64),
        short(of.depth_before),
        short(of.depth_after),
        format!("{} to {}", of.segments.0, of.segments.1),
        bytes(of.spilled_bytes),
    ];
    let header =
        ["rows", "rows by CPU", "before", "after", "ratio", "depth before", "depth after", "segments", "put aside"];
    let words =
        "From reading the first row to the commit. Depth: row groups that a question for one key reads, on average.";
    Section { title: "Clustering", blocks: vec![Block::Text(words.to_owned()), Table::block(header, [row])] }
}

fn share(q: &Queried) -> String {
    match q.groups_total {
        0 => "-".to_owned(),
        total => format!("{} of {} ({}%)", q.groups_read, total, short(100.0 * q.groups_read as f64 / total as f64)),
    }
}

fn queries(cdr: &Cdr) -> Section {
    let row = |q: &Queried| {
        [
            q.name.to_owned(),
            q.variant.to_owned(),
            ms(q.ms),
            ms(q.first_ms),
            bytes(q.bytes_read),
            share(q),
            count(q.rows),
        ]
    };
    let header = ["question", "layout", "time", "first time", "read", "row groups", "rows"];
    let words = "Every answer equals the count made from the records. Times are the median of three (slow answers: of one), files in the \
                 system's memory.";
    let mut blocks = vec![Block::Text(words.to_owned()), Table::block(header, cdr.queries.iter().map(row))];
    blocks.extend(plots::questions(cdr));
    Section { title: "Asking", blocks }
}

fn lookups(cdr: &Cdr) -> Section {
    let pass = &cdr.second_pass;
    let insert = |(name, f): (&&'static str, &VariantFigures)| {
        let before = cdr.variants.get(name);
        let slower = pass.slowdown.get(name);
        let figure = |of: Option<f64>| of.map_or_else(|| "-".to_owned(), short);
        [
            (*name).to_owned(),
            bytes(f.lookup_bytes),
            short(f.lookup_bytes as f64 / f.rows.max(1) as f64),
            rate(f.rows_per_s),
            rate(f.rows_per_cpu_s),
            figure(slower.map(|s| s.wall)),
            figure(slower.map(|s| s.cpu)),
            ms(f.p99_batch_ms),
            before.map_or_else(|| "-".to_owned(), |b| ms(b.worst_batch_ms)),
            ms(f.worst_batch_ms),
            figure(slower.map(|s| s.worst_batch)),
        ]
    };
    let header = [
        "layout",
        "look-ups",
        "bytes a row",
        "rows",
        "rows by CPU",
        "times slower",
        "by CPU",
        "batch p99",
        "worst without",
        "worst batch",
        "times",
    ];
    let question = |q: &Queried| {
        let before = cdr.queries.iter().find(|b| (b.name, b.variant) == (q.name, q.variant));
        let of_before = |say: fn(&Queried) -> String| before.map_or_else(|| "-".to_owned(), say);
        [
            q.name.to_owned(),
            q.variant.to_owned(),
            of_before(share),
            share(q),
            of_before(|b| ms(b.ms)),
            ms(q.ms),
            of_before(|b| bytes(b.bytes_read)),
            bytes(q.bytes_read),
        ]
    };
    let asked = ["question", "layout", "row groups without", "with", "time without", "with", "read without", "with"];
    let words = format!(
        "The same records again, into tables with look-ups on {}. Row (Avro files) has no look-ups: its figures tell how \
         much of a difference is the machine's. After clustering, the look-ups of layout clustered take {}; clustering with \
         them moved {} by processor time, without {}.",
        pass.lookup.join(", "),
        bytes(pass.lookup_bytes.get("clustered").copied().unwrap_or(0)),
        rate(pass.clustering.rows_per_cpu_s),
        rate(cdr.clustering.rows_per_cpu_s),
    );
    let why = "A condition that is known only once the question runs, as that of Q1, cannot be looked up; the same with \
               its time written out (hour) can.";
    let blocks = vec![
        Block::Text(words),
        Table::block(header, pass.variants.iter().map(insert)),
        Table::block(asked, pass.queries.iter().map(question)),
        Block::Text(why.to_owned()),
    ];
    Section { title: "Look-ups", blocks }
}

fn phases(phases: &[Phase]) -> Section {
    let number = |n: Option<u8>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let row = |p: &Phase| [number(p.number), p.name.to_owned(), number(p.pass), short(p.wall_s), short(p.cpu_s)];
    let words = "Numbered as in the public benchmark, in the order in which they ran, all repeats together.";
    let table = Table::block(["number", "phase", "pass", "wall s", "CPU s"], phases.iter().map(row));
    Section { title: "Phases", blocks: vec![Block::Text(words.to_owned()), table] }
}
