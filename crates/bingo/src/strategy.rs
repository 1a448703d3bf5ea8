//! A team's strategy: a player's next work, and the tile that receives a drop.
//!
//! A strategy tries tiles in a fixed order, so each choice is the first tile of a set. Sets of tiles are stored as sets
//! of positions in these orders.

use crate::bits::Bits;
use crate::definition::{ROW_TILES, StrategyKey, Team};
use crate::plan::{MemberPlan, NO_RULE, TilePlan};

/// Tiles in order.
pub(crate) struct Order {
    tiles: Vec<u8>,
    places: Vec<u8>,
}

impl Order {
    /// Sorts all tiles; `compare` says which of two comes first.
    fn new(tiles: usize, compare: impl Fn(usize, usize) -> std::cmp::Ordering) -> Self {
        let mut all: Vec<usize> = (0..tiles).collect();
        all.sort_by(|a, b| compare(*a, *b));
        let mut places = vec![0; tiles];
        all.iter().enumerate().for_each(|(place, tile)| places[*tile] = place as u8);
        Self { tiles: all.into_iter().map(|tile| tile as u8).collect(), places }
    }

    fn set(&self, tiles: impl Iterator<Item = usize>) -> Bits {
        tiles.map(|tile| usize::from(self.places[tile])).collect()
    }

    fn first(&self, places: Bits) -> Option<usize> {
        places.first().map(|place| usize::from(self.tiles[place]))
    }
}

/// The orders in which tiles are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Look {
    /// For a choice of work.
    Work,
    /// For a grant of units.
    Grant,
    /// For both, in `combo_unlocking` once all rows are open.
    Late,
}

const LOOKS: usize = 3;

/// Sets of tiles, one by positions in each order.
type Sets = [Bits; LOOKS];

/// A team's choices, prepared for its board and players.
pub(crate) struct Strategy {
    key: StrategyKey,
    orders: [Order; LOOKS],
    /// For each row its tiles, and those that the team aims at.
    rows: Vec<Sets>,
    aims: Vec<Bits>,
    /// For each drop, the tiles that accept it.
    accepts: Vec<Sets>,
    /// For each member, the tiles that it can work for.
    open_to: Vec<Sets>,
    /// For each position of the late order, the other tiles that share an activity with it, and the rank of its
    /// estimated time, shortest first.
    sharing: Vec<Bits>,
    soon: Vec<u16>,
}

/// Tiles that are incomplete and in an open row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    sets: Sets,
    /// The furthest open row.
    pub(crate) furthest: usize,
}

/// The parts of a board that strategies read.
pub(crate) struct Terrain<'a> {
    pub(crate) tiles: &'a [TilePlan],
    /// Estimated seconds of each tile.
    pub(crate) estimates: &'a [f64],
    /// Number of drops.
    pub(crate) drops: usize,
    /// Points of a row that open the next one.
    pub(crate) threshold: u32,
}

impl Strategy {
    pub(crate) fn new(board: &Terrain<'_>, team: &Team, members: &[MemberPlan]) -> Self {
        let orders = orders(board, team.strategy);
        let sets = |tiles: &dyn Fn(usize) -> bool| -> Sets {
            std::array::from_fn(|look| orders[look].set((0..board.tiles.len()).filter(|tile| tiles(*tile))))
        };
        let late = &orders[Look::Late as usize];
        let shared = |tile: usize| {
            let activities = board.tiles[tile].activities;
            let shares =
                move |other: &usize| *other != tile && !(board.tiles[*other].activities & activities).is_empty();
            late.set((0..board.tiles.len()).filter(shares))
        };
        let mut soonest: Vec<usize> = (0..board.tiles.len()).collect();
        soonest.sort_by(|a, b| by_estimate(board, *a, *b));
        let soon = |tile: usize| soonest.iter().position(|t| *t == tile).unwrap_or_default() as u16;
        let in_late_order = || late.tiles.iter().map(|tile| usize::from(*tile));
        let rows = board.tiles.len() / ROW_TILES;
        Self {
            key: team.strategy,
            rows: (0..rows).map(|row| sets(&|tile| TilePlan::row_of(tile) == row)).collect(),
            aims: (0..rows).map(|row| orders[Look::Work as usize].set(aim(board, team, row).into_iter())).collect(),
            accepts: (0..board.drops).map(|drop| sets(&|tile| board.tiles[tile].accepts.contains(drop))).collect(),
            open_to: members.iter().map(|m| sets(&|tile| m.rule_of_tile[tile] != NO_RULE)).collect(),
            sharing: in_late_order().map(shared).collect(),
            soon: in_late_order().map(soon).collect(),
            orders,
        }
    }

    /// The tiles at the start, with only the first row open.
    pub(crate) fn start(&self) -> Live {
        Live { sets: self.rows[0], furthest: 0 }
    }

    /// Opens the next row.
    pub(crate) fn open(&self, live: &mut Live) {
        live.furthest += 1;
        live.sets.iter_mut().zip(&self.rows[live.furthest]).for_each(|(set, row)| *set |= *row);
    }

    pub(crate) fn complete(&self, live: &mut Live, tile: usize) {
        live.sets.iter_mut().zip(&self.orders).for_each(|(set, order)| set.remove(usize::from(order.places[tile])));
    }

    fn is_late(&self, live: &Live) -> bool {
        self.key == StrategyKey::ComboUnlocking && live.furthest + 1 == self.rows.len()
    }

    /// The tile that a member works for.
    pub(crate) fn work(&self, live: &Live, member: usize) -> Option<usize> {
        if self.is_late(live) {
            return self.late_work(live.sets[Look::Late as usize], self.open_to[member][Look::Late as usize]);
        }
        let work = Look::Work as usize;
        let open = live.sets[work] & self.open_to[member][work];
        let order = &self.orders[work];
        match self.key {
            StrategyKey::Greedy => order.first(open),
            StrategyKey::RowUnlocking | StrategyKey::ComboUnlocking => order
                .first(open & self.aims[live.furthest])
                .or_else(|| order.first(open & self.rows[live.furthest][work]))
                .or_else(|| order.first(open)),
        }
    }

    /// The tile with the most points and tiles that share its activities; on a tie, the shortest time.
    fn late_work(&self, live: Bits, open_to: Bits) -> Option<usize> {
        let late = &self.orders[Look::Late as usize];
        let worth = |place: usize| {
            let points = TilePlan::points_of(usize::from(late.tiles[place])) as usize;
            (points + (self.sharing[place] & live).len(), std::cmp::Reverse(self.soon[place]))
        };
        (live & open_to).iter().max_by_key(|place| worth(*place)).map(|place| usize::from(late.tiles[place]))
    }

    /// The tile that receives a drop.
    #[inline]
    pub(crate) fn grant(&self, live: &Live, drop: usize) -> Option<usize> {
        let look = if self.is_late(live) { Look::Late } else { Look::Grant } as usize;
        let (order, open) = (&self.orders[look], live.sets[look] & self.accepts[drop][look]);
        if self.key == StrategyKey::Greedy || look == Look::Late as usize {
            return order.first(open);
        }
        order.first(open & self.rows[live.furthest][look]).or_else(|| order.first(open))
    }
}

fn by_estimate(board: &Terrain<'_>, a: usize, b: usize) -> std::cmp::Ordering {
    board.estimates[a].total_cmp(&board.estimates[b]).then_with(|| board.tiles[a].key.cmp(&board.tiles[b].key))
}

fn orders(board: &Terrain<'_>, key: StrategyKey) -> [Order; LOOKS] {
    let by_points = |a: usize, b: usize| TilePlan::points_of(b).cmp(&TilePlan::points_of(a));
    let by_key = |a: usize, b: usize| board.tiles[a].key.cmp(&board.tiles[b].key);
    let order = |compare: &dyn Fn(usize, usize) -> std::cmp::Ordering| Order::new(board.tiles.len(), compare);
    let soonest = || order(&|a, b| by_points(a, b).then_with(|| by_estimate(board, a, b)));
    match key {
        StrategyKey::Greedy => [soonest(), soonest(), soonest()],
        StrategyKey::RowUnlocking | StrategyKey::ComboUnlocking => {
            let furthest = |a: usize, b: usize| TilePlan::row_of(b).cmp(&TilePlan::row_of(a));
            let nearest = |a: usize, b: usize| TilePlan::row_of(a).cmp(&TilePlan::row_of(b));
            [
                order(&|a, b| by_points(a, b).then(furthest(a, b)).then_with(|| by_key(a, b))),
                order(&|a, b| by_points(a, b).then(nearest(a, b)).then_with(|| by_key(a, b))),
                soonest(),
            ]
        }
    }
}

/// The tiles of a row to aim at: of all subsets with enough points the one with the shortest estimated time; on a tie,
/// the first keys.
fn aim(board: &Terrain<'_>, team: &Team, row: usize) -> Vec<usize> {
    let points = team.parameters.aim_points.unwrap_or(board.threshold);
    let first = row * ROW_TILES;
    let weight = team.parameters.sharing_weight.unwrap_or(1.0);
    let seems = |tile: usize| match team.strategy {
        StrategyKey::ComboUnlocking => {
            let activities = board.tiles[tile].activities;
            let closed = (first + ROW_TILES)..board.tiles.len();
            let serves = closed.filter(|other| !(board.tiles[*other].activities & activities).is_empty()).count();
            board.estimates[tile] * (1.0 + weight * serves as f64)
        }
        StrategyKey::Greedy | StrategyKey::RowUnlocking => board.estimates[tile],
    };
    let subsets = (0..1usize << ROW_TILES)
        .map(|mask| -> Vec<usize> { (0..ROW_TILES).filter(|i| mask >> i & 1 == 1).map(|i| first + i).collect() });
    let keys = |tiles: &[usize]| {
        let mut keys: Vec<&str> = tiles.iter().map(|tile| board.tiles[*tile].key.as_str()).collect();
        keys.sort_unstable();
        keys.join(",")
    };
    let reaching = subsets.filter(|tiles| tiles.iter().map(|t| TilePlan::points_of(*t)).sum::<u32>() >= points);
    let seconds = |tiles: &[usize]| tiles.iter().map(|tile| seems(*tile)).sum::<f64>();
    let best = reaching.min_by(|a, b| seconds(a).total_cmp(&seconds(b)).then_with(|| keys(a).cmp(&keys(b))));
    best.unwrap_or_default()
}
