//! Statistics of outcomes as a table.

use ensemble::KnownOutcome;

use crate::output::{Table, count, known_to, number};

/// Outcomes shown per entity; the other formats have all.
const SHOWN: usize = 5;

/// The statistics of the first outcomes of each entity; `None` without any.
pub(crate) fn table(outcomes: &[KnownOutcome]) -> Option<Table> {
    let mut table = Table::new(["outcome", "worlds", "mean", "± 95%", "deviation", "5%", "50%", "95%"]);
    let (mut entity, mut shown) = ("", 0);
    for known in outcomes {
        if entity != known.entity {
            (entity, shown) = (&known.entity, 0);
        }
        shown += 1;
        if shown <= SHOWN {
            let [low, middle, high] = known.quantiles.map(|q| q.map(number).unwrap_or_default());
            let reach = known.ci_half_width.map(|half| known_to(half, half)).unwrap_or_default();
            let name = format!("{}:{}", known.entity, known.outcome);
            let width = known.ci.map_or(0.0, |ci| ci.high - ci.low);
            let (mean, deviation) = (known_to(known.mean, width), known_to(known.stddev, known.stddev));
            table.push([name, count(known.worlds), mean, reach, deviation, low, middle, high]);
        }
    }
    (!outcomes.is_empty()).then_some(table)
}
