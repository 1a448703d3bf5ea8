//! Chooses the segments of a clustering run.
//!
//! Each run writes segments that do not overlap with each other, and tags them. Later runs only rewrite untagged
//! segments. Each run adds to the cost of a question; if there are too many runs, the next one merges the smallest.

use std::collections::BTreeMap;

use crate::layout::Clustering;
use crate::log::Segment;

pub(crate) const RUNS_MAX: usize = 8;

const KEY: &str = "manyworlds.cluster";
const RUN: &str = "manyworlds.run";

/// The tags of a new run's segments.
pub(crate) fn marks(clustering: &Clustering) -> BTreeMap<String, String> {
    let run = uuid::Uuid::new_v4().simple().to_string();
    [(KEY.to_owned(), key(clustering)), (RUN.to_owned(), run)].into()
}

fn key(clustering: &Clustering) -> String {
    format!("{}({})", clustering.curve, clustering.columns.join(","))
}

/// The segments to rewrite, in their order.
pub(crate) fn choose(segments: Vec<Segment>, clustering: &Clustering, all: bool) -> Vec<Segment> {
    if all {
        return segments;
    }
    let key = key(clustering);
    let mut runs: BTreeMap<String, u64> = BTreeMap::new();
    let run_of = |s: &Segment| s.tags.get(RUN).filter(|_| s.tags.get(KEY) == Some(&key)).cloned();
    let mut unmarked = false;
    for segment in &segments {
        match run_of(segment) {
            Some(run) => *runs.entry(run).or_default() += segment.rows,
            None => unmarked = true,
        }
    }
    let mut smallest_last: Vec<(u64, String)> = runs.into_iter().map(|(run, rows)| (rows, run)).collect();
    smallest_last.sort_unstable_by(|a, b| b.cmp(a));
    let taken = if smallest_last.len() + usize::from(unmarked) > RUNS_MAX {
        smallest_last.split_off(RUNS_MAX / 2)
    } else {
        Vec::new()
    };
    let is_taken = |run: &String| taken.iter().any(|(_, taken)| taken == run);
    segments.into_iter().filter(|s| run_of(s).is_none_or(|run| is_taken(&run))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Curve;

    fn segment(path: &str, rows: u64, tags: BTreeMap<String, String>) -> Segment {
        Segment { path: path.to_owned(), bytes: 1, rows, partition: [].into(), columns: [].into(), tags }
    }

    #[test]
    fn unclustered_segments_come_first_then_small_runs() {
        let clustering = Clustering { columns: vec!["a".to_owned()], curve: Curve::Hilbert };
        let other = Clustering { columns: vec!["b".to_owned()], ..clustering.clone() };
        let paths = |s: Vec<Segment>| s.into_iter().map(|s| s.path).collect::<Vec<_>>();
        let mut segments = vec![segment("new", 1, [].into()), segment("other", 1, marks(&other))];
        for run in 1..RUNS_MAX as u64 {
            segments.push(segment(&format!("run {run}"), run, marks(&clustering)));
        }
        assert_eq!(paths(choose(segments.clone(), &clustering, false)), ["new", "other"]);
        assert_eq!(choose(segments.clone(), &clustering, true), segments);
        segments.push(segment("run 8", 8, marks(&clustering)));
        let taken = ["new", "other", "run 1", "run 2", "run 3", "run 4"];
        assert_eq!(paths(choose(segments.clone(), &clustering, false)), taken);
        assert!(choose(segments.split_off(2), &clustering, false).is_empty());
    }
}
