//! The report.

use super::compared::Row;
use super::peer::{Peer, our_promise};
use super::run::Peers;
use super::work::Work;
use crate::harness::bars::Bar;
use crate::harness::bench::Measured;
use crate::harness::report::number::{bytes, ms, or_dash, short};
use crate::harness::report::{Report, Section, Table};

impl Measured for Peers {
    fn report(&self) -> Report {
        let what = format!(
            "This program and each peer do the same work in turns, {} times unless a table says otherwise. A ratio is the peer's CPU time for the same \
             amount divided by ours: above 1, we are faster. It is the median of the rounds, beside the least and the \
             greatest. Memory and disk are the peer's divided by ours.",
            self.workload.rounds
        );
        let mut report = Report::new("manyworlds bench peers", &self.machine, what);
        if !self.bars.is_empty() {
            report = report.with([Bar::section(&self.bars)]);
        }
        let works = [Work::Ingest, Work::Ask, Work::Calls, Work::Joint, Work::Appends];
        report.with([self.about_peers()]).with(works.into_iter().filter_map(|work| self.about_work(work)))
    }

    fn faults(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Peers {
    fn about_peers(&self) -> Section {
        let mut section = Section::new("Peers");
        if !self.peers.is_empty() {
            let table = Table::of(&self.peers)
                .column("peer", |(peer, _)| peer.name())
                .column("version", |(_, installed)| installed.version.clone());
            section = section.table(table);
        }
        if !self.missing.is_empty() {
            let table = Table::of(&self.missing)
                .column("missing", |missing| missing.peer.name())
                .column("reason", |missing| missing.reason.clone());
            section = section.table(table);
        }
        if !self.failures.is_empty() {
            let table = Table::of(&self.failures)
                .column("failed", |failure| failure.peer.name())
                .column("at", |failure| failure.what.clone())
                .column("reason", |failure| failure.reason.clone());
            section = section.table(table);
        }
        section
    }

    fn about_work(&self, work: Work) -> Option<Section> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.work == work).collect();
        if rows.is_empty() {
            return None;
        }
        let has_start = rows.iter().any(|row| row.theirs.start_ms > 0.0);
        let mut table = Table::of(&rows)
            .column("what", |r| r.what.clone())
            .column("peer", |r| r.peer.name())
            .column("theirs", |r| r.unit.show(r.theirs.figure))
            .column("ours", |r| r.unit.show(r.ours.figure))
            .column("ratio", |r| format!("{}x", short(r.ratio.median)))
            .column("from", |r| short(r.ratio.least))
            .column("to", |r| short(r.ratio.most));
        if has_start {
            table = table
                .column("start", |r| if r.theirs.start_ms > 0.0 { ms(r.theirs.start_ms) } else { "-".to_owned() })
                .column("ratio with start", |r| format!("{}x", short(r.ratio_with_start)));
        }
        let table = table
            .column("their memory", |r| bytes(r.theirs.peak_rss_bytes))
            .column("memory", |r| format!("{}x", short(r.memory_ratio)))
            .column("disk", |r| or_dash(r.disk_ratio.map(|ratio| format!("{}x", short(ratio)))))
            .column("agrees", |r| {
                r.differs.clone().map_or_else(|| "yes".to_owned(), |differs| format!("NO: {differs}"))
            });
        let mut peers: Vec<Peer> = rows.iter().map(|row| row.peer).collect();
        peers.sort_unstable();
        peers.dedup();
        let promises = [("manyworlds", our_promise(work))];
        let promises = promises.into_iter().chain(peers.into_iter().map(|peer| (peer.name(), peer.promise(work))));
        let promises = Table::of(promises).column("", |(name, _)| *name).column("promises", |(_, promise)| *promise);
        let [title, words] = work.texts();
        Some(Section::new(title).text(words).table(table).table(promises))
    }
}
