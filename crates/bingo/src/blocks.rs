//! Collects teams' results over many worlds into the columns of blocks.

use model::{EventBlock, EventValues, NULL_I32, NULL_LABEL, OutcomeBlock, Values};
use world::WorldRange;

use crate::team_state::{Happening, What};

/// Rows of outcomes, one per world; [`Self::block`] transposes them into columns.
pub(crate) struct OutcomeRows {
    outcomes: usize,
    rows: Vec<i32>,
    columns: Vec<i32>,
}

/// Worlds per tile. A tile's rows fit in the first-level cache while they become columns.
const TILE: usize = 16;

impl OutcomeRows {
    pub(crate) fn new(outcomes: usize, worlds: usize) -> Self {
        Self { outcomes, rows: Vec::with_capacity(outcomes * worlds), columns: vec![0; outcomes * worlds] }
    }

    pub(crate) fn push(&mut self, row: impl Iterator<Item = i32>) {
        self.rows.extend(row);
    }

    /// The finished block. Every world must have its row.
    pub(crate) fn block(&mut self, entity: usize, range: WorldRange) -> OutcomeBlock<'_> {
        let worlds = range.count();
        assert_eq!(self.rows.len(), worlds * self.outcomes, "one row a world");
        for (tile, rows) in self.rows.chunks(TILE * self.outcomes).enumerate() {
            for outcome in 0..self.outcomes {
                let column = &mut self.columns[outcome * worlds + tile * TILE..];
                let values = rows[outcome..].iter().step_by(self.outcomes);
                column.iter_mut().zip(values).for_each(|(to, value)| *to = *value);
            }
        }
        let columns = self.columns.chunks_exact(worlds).map(Values::I32).collect();
        OutcomeBlock { entity, range, columns }
    }
}

/// The words of the event column `what`, in code order.
pub(crate) const WHATS: [&str; 2] = ["drop", "completion"];

/// Events of one team over many worlds.
#[derive(Default)]
pub(crate) struct EventRows {
    rows: Vec<u32>,
    second: Vec<i32>,
    what: Vec<u8>,
    player: Vec<u8>,
    activity: Vec<u8>,
    drop: Vec<u8>,
    units: Vec<i32>,
    tile: Vec<u8>,
}

impl EventRows {
    /// Appends the events of the next world.
    pub(crate) fn push(&mut self, happenings: &[Happening]) {
        self.rows.push(happenings.len() as u32);
        for happening in happenings {
            let (what, drop, units, tile) = match happening.what {
                What::Drop { drop, granted: Some((units, tile)) } => (0, drop, units as i32, tile),
                What::Drop { drop, granted: None } => (0, drop, NULL_I32, NULL_LABEL),
                What::Completion { tile } => (1, NULL_LABEL, NULL_I32, tile),
            };
            self.second.push(happening.second as i32);
            self.what.push(what);
            self.player.push(happening.player.unwrap_or(NULL_LABEL));
            self.activity.push(happening.activity);
            self.drop.push(drop);
            self.units.push(units);
            self.tile.push(tile);
        }
    }

    /// The finished block, with the columns in the catalogue's order.
    pub(crate) fn block(&self, entity: usize, range: WorldRange) -> EventBlock<'_> {
        let columns = vec![
            EventValues::I32(&self.second),
            EventValues::Label(&self.what),
            EventValues::Label(&self.player),
            EventValues::Label(&self.activity),
            EventValues::Label(&self.drop),
            EventValues::I32(&self.units),
            EventValues::Label(&self.tile),
        ];
        EventBlock { entity, range, rows: &self.rows, columns }
    }
}

/// Reads the tiles completed in each world of a block, world by world.
pub(crate) struct Completions<'a> {
    second: &'a [i32],
    what: &'a [u8],
    tile: &'a [u8],
    at: usize,
}

impl<'a> Completions<'a> {
    /// `places` are the positions of the columns `second`, `what` and `tile` in the block.
    pub(crate) fn new(events: &EventBlock<'a>, places: [usize; 3]) -> Self {
        let [EventValues::I32(second), EventValues::Label(what), EventValues::Label(tile)] =
            places.map(|place| events.columns[place])
        else {
            return Self { second: &[], what: &[], tile: &[], at: 0 };
        };
        Self { second, what, tile, at: 0 }
    }

    /// The completions (second, tile) of the next world, which has `events` events.
    pub(crate) fn next(&mut self, events: u32) -> impl Iterator<Item = (u32, usize)> + use<'a> {
        let rows = self.at..(self.at + events as usize).min(self.second.len());
        self.at = rows.end;
        let (second, what, tile) = (self.second, self.what, self.tile);
        rows.filter(move |row| WHATS[usize::from(what[*row])] == "completion")
            .map(move |row| (second[row] as u32, usize::from(tile[row])))
    }
}
