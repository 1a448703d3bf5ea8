//! The report.

use clap::ValueEnum as _;

use super::row::IngestRow;
use super::run::Ingest;
use super::workload::IngestSweep;
use crate::harness::bars::Bar;
use crate::harness::bench::Measured;
use crate::harness::report::number::{bytes, count, ms, or_dash, rate, short};
use crate::harness::report::plot::{Scale, bars, spans};
use crate::harness::report::{Report, Section, Table};

impl Measured for Ingest {
    fn report(&self) -> Report {
        let what = format!(
            "Every case has a server of its own over an empty folder, loaded for {} s from this machine with fresh records of \
             a time, one of 1,000 hosts and three values of two decimals. Processor time of the server is user and system \
             time from its start to its clean end. Stored is what the server counts; all of it was in segments once it had \
             ended, and \"same\" says that this is what it acknowledged.",
            short(self.workload.seconds)
        );
        let sweeps = IngestSweep::value_variants().iter().filter_map(|sweep| {
            let rows: Vec<&IngestRow> = self.rows.iter().filter(|row| row.sweep == *sweep).collect();
            (!rows.is_empty()).then(|| of_sweep(*sweep, &rows))
        });
        Report::new("manyworlds bench ingest", &self.machine, what).with([Bar::section(&self.bars)]).with(sweeps)
    }

    fn faults(&self) -> Vec<String> {
        let lost = self.rows.iter().filter(|row| !row.is_stored());
        let fault = |row: &IngestRow| {
            format!(
                "{}: {} records acknowledged, {} counted by the server, {} in segments",
                row.setting, row.load.acknowledged, row.load.stored, row.in_segments
            )
        };
        lost.map(fault).collect()
    }
}

fn of_sweep(sweep: IngestSweep, rows: &[&IngestRow]) -> Section {
    let speeds = Table::of(rows)
        .column("case", |r| r.setting.clone())
        .column("records", |r| rate(r.load.records_per_s))
        .column("records by server CPU", |r| rate(r.records_per_server_cpu_s))
        .column("p50", |r| ms(r.load.p50_ms))
        .column("p95", |r| ms(r.load.p95_ms))
        .column("p99", |r| ms(r.load.p99_ms))
        .column("429", |r| count(r.load.refused_requests))
        .column("not sent", |r| count(r.load.unsent_requests))
        .column("acknowledged", |r| count(r.load.acknowledged))
        .column("stored", |r| count(r.load.stored))
        .column("held", |r| if r.is_stored() { "same" } else { "DIFFERENT:" });
    let costs = Table::of(rows)
        .column("case", |r| r.setting.clone())
        .column("server CPU s", |r| short(r.server_cpu_s))
        .column("load CPU s", |r| short(r.load.load_cpu_s))
        .column("peak memory", |r| bytes(r.peak_rss_bytes))
        .column("bytes sent", |r| short(r.load.wire_bytes_per_record))
        .column("bytes stored", |r| short(r.bytes_per_record))
        .column("bytes after compaction", |r| or_dash(r.compacted_bytes_per_record.map(short)));
    let speed: Vec<_> = rows.iter().map(|r| (r.setting.clone(), vec![Some(r.records_per_server_cpu_s)])).collect();
    let times: Vec<_> = rows.iter().map(|r| (r.setting.clone(), vec![(r.load.p50_ms, r.load.p99_ms)])).collect();
    let speed = bars(&speed, &["records"], Scale::Linear, |value| count(value.round() as u64));
    let [title, words] = sweep.texts();
    Section::new(title)
        .text(words)
        .table(speeds)
        .table(costs)
        .plot("Records stored for a second of the server's processor time", speed)
        .plot("Requests, from p50 (dot) to p99", spans(&times, &["request"]))
}
