//! The report: as Markdown, and as one HTML page with plots.

use super::bars::IngestBar;
use super::row::IngestRow;
use super::run::Ingest;
use super::workload::IngestSweep;
use crate::harness::report::number::{bytes, count, ms, rate, short};
use crate::harness::report::plot::{Scale, bars, spans};
use crate::harness::report::{Block, Section, Table, html as page, markdown as text, on_machine};

/// The report as Markdown with aligned tables.
pub fn markdown(ingest: &Ingest) -> String {
    text::render(&sections(ingest))
}

pub fn html(ingest: &Ingest) -> String {
    page::render(&sections(ingest))
}

fn sections(ingest: &Ingest) -> Vec<Section> {
    let mut sections = vec![head(ingest), of_bars(&ingest.bars)];
    sections.extend(IngestSweep::ALL.into_iter().filter_map(|sweep| {
        let rows: Vec<&IngestRow> = ingest.rows.iter().filter(|row| row.sweep == sweep).collect();
        (!rows.is_empty()).then(|| of_sweep(sweep, &rows))
    }));
    sections
}

fn head(ingest: &Ingest) -> Section {
    let what = format!(
        "Every case has a server of its own over an empty folder, loaded for {} s from this machine with fresh records of \
         a time, one of 1,000 hosts and three values of two decimals. Processor time of the server is user and system \
         time from its start to its clean end. Stored is what the server counts; all of it was in segments once it had \
         ended, and \"same\" says that this is what it acknowledged.",
        short(ingest.workload.seconds)
    );
    Section {
        title: "manyworlds bench ingest",
        blocks: vec![Block::Text(on_machine(&ingest.machine)), Block::Text(what)],
    }
}

fn of_bars(bars: &[IngestBar]) -> Section {
    let verdict = |met: Option<bool>| match met {
        None => "-",
        Some(true) => "met",
        Some(false) => "missed",
    };
    let row = |bar: &IngestBar| {
        [
            bar.what.to_owned(),
            bar.unit.to_owned(),
            short(bar.reference),
            short(bar.bar),
            short(bar.aim),
            bar.measured.map_or_else(|| "-".to_owned(), short),
            verdict(bar.met).to_owned(),
        ]
    };
    let header = ["what", "unit", "reference", "bar", "aim", "measured", "verdict"];
    Section { title: "Bars", blocks: vec![Table::block(header, bars.iter().map(row))] }
}

fn of_sweep(sweep: IngestSweep, rows: &[&IngestRow]) -> Section {
    let speed: Vec<_> =
        rows.iter().map(|row| (row.setting.clone(), vec![Some(row.records_per_server_cpu_s)])).collect();
    let times: Vec<_> = rows.iter().map(|row| (row.setting.clone(), vec![(row.p50_ms, row.p99_ms)])).collect();
    let blocks = vec![
        Block::Text(sweep.words().to_owned()),
        speeds(rows),
        costs(rows),
        Block::Plot {
            title: "Records stored for a second of the server's processor time",
            svg: bars(&speed, &["records"], Scale::Linear, |value| count(value.round() as u64)),
        },
        Block::Plot { title: "Requests, from p50 (dot) to p99", svg: spans(&times, &["request"]) },
    ];
    Section { title: sweep.title(), blocks }
}

fn speeds(rows: &[&IngestRow]) -> Block {
    let row = |row: &&IngestRow| {
        [
            row.setting.clone(),
            rate(row.records_per_s),
            rate(row.records_per_server_cpu_s),
            ms(row.p50_ms),
            ms(row.p95_ms),
            ms(row.p99_ms),
            count(row.refused_requests),
            count(row.unsent_requests),
            count(row.acknowledged),
            count(row.stored),
            if row.is_stored() { "same" } else { "DIFFERENT:" }.to_owned(),
        ]
    };
    let header = [
        "case",
        "records",
        "records by server CPU",
        "p50",
        "p95",
        "p99",
        "429",
        "not sent",
        "acknowledged",
        "stored",
        "held",
    ];
    Table::block(header, rows.iter().map(row))
}

fn costs(rows: &[&IngestRow]) -> Block {
    let row = |row: &&IngestRow| {
        [
            row.setting.clone(),
            short(row.server_cpu_s),
            short(row.load_cpu_s),
            bytes(row.peak_rss_bytes),
            short(row.wire_bytes_per_record),
            short(row.bytes_per_record),
            row.compacted_bytes_per_record.map_or_else(|| "-".to_owned(), short),
        ]
    };
    let header =
        ["case", "server CPU s", "load CPU s", "peak memory", "bytes sent", "bytes stored", "bytes after compaction"];
    Table::block(header, rows.iter().map(row))
}
