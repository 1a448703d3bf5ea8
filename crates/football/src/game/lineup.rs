//! Today's players and their shares of the ball.

use crate::tables::Tables;
use world::Stream;

/// Receivers in the order of their season's target shares, as roster places (`play::ROSTER`): WR1, WR2, TE1, RB1, WR3,
/// RB2, TE2, WR4, RB3, WR5, WR6, TE3, RB4.
const RECEIVERS: [u8; 13] = [6, 7, 12, 2, 8, 3, 13, 9, 4, 10, 11, 14, 5];
const TARGET_SHARES: [f32; 13] =
    [0.248, 0.170, 0.130, 0.110, 0.085, 0.067, 0.053, 0.041, 0.032, 0.024, 0.014, 0.012, 0.010];
/// Receivers and runners who play in every game. The others play in every second game, with twice their share.
const REGULAR_RECEIVERS: usize = 5;
const REGULAR_RUNNERS: usize = 3;
/// Runners on designed runs: RB1, RB2, the quarterback, RB3, RB4.
const RUNNERS: [u8; 5] = [2, 3, QUARTERBACK, 4, 5];
const CARRY_SHARES: [f32; 5] = [0.67, 0.19, 0.07, 0.05, 0.02];
/// Stands for today's quarterback.
const QUARTERBACK: u8 = 0;
/// Tacklers: six named defenders, then all others.
const TACKLE_CUMULATIVE: [f32; 6] = [0.13, 0.24, 0.34, 0.43, 0.51, 0.58];
const FIRST_DEFENDER: u8 = 17;
const BACKUP_STARTS: f32 = 0.03;

/// A side's players in one game.
#[derive(Debug, Clone)]
pub(super) struct Lineup {
    /// Roster place of the quarterback.
    pub(super) quarterback: u8,
    targets: [f32; 13],
    carries: [f32; 5],
}

impl Lineup {
    pub(super) fn draw(tables: &Tables, random: &mut Stream) -> Self {
        let mut bytes = [0u8; 20];
        for chunk in bytes.chunks_exact_mut(4) {
            chunk.copy_from_slice(&random.next_u32().to_le_bytes());
        }
        let (target_bytes, carry_bytes) = bytes.split_at(13);
        Self {
            quarterback: u8::from(random.chance(BACKUP_STARTS)),
            targets: cumulative(&tables.target_factor, &TARGET_SHARES, REGULAR_RECEIVERS, target_bytes),
            carries: cumulative(&tables.carry_factor, &CARRY_SHARES, REGULAR_RUNNERS, carry_bytes),
        }
    }

    /// The target of a pass.
    #[inline]
    pub(super) fn receiver(&self, random: &mut Stream) -> u8 {
        RECEIVERS[pick(&self.targets, random)]
    }

    /// The runner of a designed run.
    #[inline]
    pub(super) fn runner(&self, random: &mut Stream) -> u8 {
        match RUNNERS[pick(&self.carries, random)] {
            QUARTERBACK => self.quarterback,
            back => back,
        }
    }
}

/// Cumulative shares, each spread by its own random factor.
fn cumulative<const N: usize>(factors: &[f32; 256], shares: &[f32; N], regulars: usize, bytes: &[u8]) -> [f32; N] {
    let mut total = 0.0;
    std::array::from_fn(|i| {
        let plays = if i < regulars { 1.0 } else { 2.0 * f32::from(bytes[i] & 1) };
        total += plays * shares[i] * factors[usize::from(bytes[i])];
        total
    })
}

#[inline]
fn pick<const N: usize>(cumulative: &[f32; N], random: &mut Stream) -> usize {
    let x = random.uniform() * cumulative[N - 1];
    // Counting has no branch to mispredict.
    cumulative[..N - 1].iter().filter(|&&c| x >= c).count()
}

/// The roster place of a tackler, interceptor or defender of a pass.
#[inline]
pub(super) fn defender(random: &mut Stream) -> u8 {
    defender_at(random.uniform())
}

/// [`defender`] from a uniform draw.
#[inline]
pub(super) fn defender_at(x: f32) -> u8 {
    let place = TACKLE_CUMULATIVE.iter().filter(|&&c| x >= c).count();
    FIRST_DEFENDER + place as u8
}

/// 0 for a back, 1 for a wide receiver, 2 for a tight end.
#[inline]
pub(super) fn position(receiver: u8) -> usize {
    match receiver {
        ..=5 => 0,
        6..=11 => 1,
        _ => 2,
    }
}
