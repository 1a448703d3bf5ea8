//! Today's players and their shares of the ball.

use crate::roster::{PLAYERS, QUARTERBACK, REGULAR_RECEIVERS, REGULAR_RUNNERS, Roster};
use crate::tables::Tables;
use world::Stream;

/// Tacklers: six named defenders, then all others.
const TACKLE_CUMULATIVE: [f32; 6] = [0.13, 0.24, 0.34, 0.43, 0.51, 0.58];
const FIRST_DEFENDER: u8 = 17;

/// A side's players in one game.
#[derive(Debug, Clone)]
pub(super) struct Lineup<'a> {
    roster: &'a Roster,
    /// Roster place of the quarterback.
    pub(super) quarterback: u8,
    targets: [f32; 13],
    carries: [f32; 5],
}

impl<'a> Lineup<'a> {
    pub(super) fn draw(tables: &Tables, roster: &'a Roster, random: &mut Stream) -> Self {
        let mut bytes = [0u8; 20];
        for chunk in bytes.chunks_exact_mut(4) {
            chunk.copy_from_slice(&random.next_u32().to_le_bytes());
        }
        let (target_bytes, carry_bytes) = bytes.split_at(13);
        Self {
            roster,
            quarterback: u8::from(random.chance(roster.backup_starts)),
            targets: cumulative(&tables.target_factor, &roster.targets, REGULAR_RECEIVERS, target_bytes),
            carries: cumulative(&tables.carry_factor, &roster.carries, REGULAR_RUNNERS, carry_bytes),
        }
    }

    /// The target of a pass.
    #[inline]
    pub(super) fn receiver(&self, random: &mut Stream) -> u8 {
        self.roster.receivers[pick(&self.targets, random)]
    }

    /// The runner of a designed run.
    #[inline]
    pub(super) fn runner(&self, random: &mut Stream) -> u8 {
        match self.roster.runners[pick(&self.carries, random)] {
            QUARTERBACK => self.quarterback,
            back => back,
        }
    }
}

/// The roster place that a uniform draw chooses by shares.
pub(super) fn chosen(shares: &[f32; PLAYERS], uniform: f32) -> u8 {
    let mut rest = uniform * shares.iter().sum::<f32>();
    let taken = shares.iter().position(|share| {
        rest -= share;
        rest < 0.0
    });
    // Rounding may leave a rest: it belongs to the last player with a share.
    taken.or_else(|| shares.iter().rposition(|share| *share > 0.0)).unwrap_or_default() as u8
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

#[inline(always)]
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
