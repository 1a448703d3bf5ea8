//! Players by roster place, and their shares of a team's carries, targets, starts and returns.

/// Roster places, as in player columns and outcome names.
pub const ROSTER: [&str; 24] = [
    "qb1", "qb2", "rb1", "rb2", "rb3", "rb4", "wr1", "wr2", "wr3", "wr4", "wr5", "wr6", "te1", "te2", "te3", "k", "p",
    "d1", "d2", "d3", "d4", "d5", "d6", "d_other",
];
/// Named players of a team, one for each place of [`ROSTER`] but the last.
pub(crate) const PLAYERS: usize = 23;

/// Roster places of the kicker and of the punter.
pub(crate) const KICKER: u8 = 15;
pub(crate) const PUNTER: u8 = 16;

/// Receivers in the order of their season's target shares, as roster places ([`ROSTER`]): WR1, WR2, TE1, RB1, WR3,
/// RB2, TE2, WR4, RB3, WR5, WR6, TE3, RB4.
const RECEIVERS: [u8; 13] = [6, 7, 12, 2, 8, 3, 13, 9, 4, 10, 11, 14, 5];
const TARGET_SHARES: [f32; 13] =
    [0.248, 0.170, 0.130, 0.110, 0.085, 0.067, 0.053, 0.041, 0.032, 0.024, 0.014, 0.012, 0.010];
/// Runners on designed runs: RB1, RB2, the quarterback, RB3, RB4.
const RUNNERS: [u8; 5] = [2, 3, QUARTERBACK, 4, 5];
const CARRY_SHARES: [f32; 5] = [0.67, 0.19, 0.07, 0.05, 0.02];
/// Stands for today's quarterback.
pub(crate) const QUARTERBACK: u8 = 0;
const BACKUP: u8 = 1;
const BACKUP_STARTS: f32 = 0.03;
/// Receivers and runners who play in every game. The others play in every second game, with twice their share.
pub(crate) const REGULAR_RECEIVERS: usize = 5;
pub(crate) const REGULAR_RUNNERS: usize = 3;
/// Returners of kick-offs (WR4, RB3, WR5) and of punts (WR4, WR5).
const KICK_RETURNS: [(u8, f32); 3] = [(9, 0.55), (4, 0.30), (10, 0.15)];
const PUNT_RETURNS: [(u8, f32); 2] = [(9, 0.75), (10, 0.25)];

/// What players have shares of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// Games started by a quarterback.
    Starts,
    /// Designed runs. The share of the quarterbacks goes to the one who plays.
    Carries,
    /// Passes with a target.
    Targets,
    KickReturns,
    PuntReturns,
}

impl Share {
    pub(crate) const ALL: [Self; 5] =
        [Self::Starts, Self::Carries, Self::Targets, Self::KickReturns, Self::PuntReturns];

    /// The key in league files.
    pub(crate) fn name(self) -> &'static str {
        ["starts", "carries", "targets", "kick_returns", "punt_returns"][self as usize]
    }

    /// The positions that may have a share, as beginnings of roster places.
    pub(crate) fn positions(self) -> &'static [&'static str] {
        match self {
            Self::Starts => &["qb"],
            Self::Carries => &["qb", "rb"],
            Self::Targets => &["rb", "wr", "te"],
            Self::KickReturns | Self::PuntReturns => &["rb", "wr", "te", "d"],
        }
    }

    /// Whether the player of a roster place may have a share.
    pub(crate) fn suits(self, place: usize) -> bool {
        let position = ROSTER[place].trim_end_matches(|c: char| c.is_ascii_digit());
        self.positions().contains(&position)
    }

    /// The shares of teams that state none, by roster place.
    pub(crate) fn usual(self) -> [f32; PLAYERS] {
        let mut shares = [0.0; PLAYERS];
        let mut fill = |places: &[u8], values: &[f32]| {
            for (place, value) in places.iter().zip(values) {
                shares[usize::from(*place)] = *value;
            }
        };
        match self {
            Self::Starts => fill(&[QUARTERBACK, BACKUP], &[1.0 - BACKUP_STARTS, BACKUP_STARTS]),
            Self::Carries => fill(&RUNNERS, &CARRY_SHARES),
            Self::Targets => fill(&RECEIVERS, &TARGET_SHARES),
            Self::KickReturns => KICK_RETURNS.iter().for_each(|(place, value)| fill(&[*place], &[*value])),
            Self::PuntReturns => PUNT_RETURNS.iter().for_each(|(place, value)| fill(&[*place], &[*value])),
        }
        shares
    }
}

/// A team's shares in the form that games use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Roster {
    /// Roster places of the receivers, by descending share of the targets.
    pub(crate) receivers: [u8; 13],
    pub(crate) targets: [f32; 13],
    /// Roster places of the runners, by descending share of the carries; [`QUARTERBACK`] is today's.
    pub(crate) runners: [u8; 5],
    pub(crate) carries: [f32; 5],
    pub(crate) backup_starts: f32,
    /// Shares of kick-off and of punt returns, by roster place.
    pub(crate) returns: [[f32; PLAYERS]; 2],
}

impl Roster {
    /// The roster with these shares, each by roster place.
    pub(crate) fn new(shares: impl Fn(Share) -> [f32; PLAYERS]) -> Self {
        let mut carries = shares(Share::Carries);
        carries[usize::from(QUARTERBACK)] += carries[usize::from(BACKUP)];
        let (receivers, targets) = sorted(RECEIVERS, &shares(Share::Targets));
        let (mut runners, mut carries) = sorted(RUNNERS, &carries);
        // The quarterback plays in every game, however few of the designed runs are his.
        if let Some(place) = runners[REGULAR_RUNNERS..].iter().position(|runner| *runner == QUARTERBACK) {
            let last = REGULAR_RUNNERS - 1;
            runners[last..=REGULAR_RUNNERS + place].rotate_right(1);
            carries[last..=REGULAR_RUNNERS + place].rotate_right(1);
        }
        let returns = [shares(Share::KickReturns), shares(Share::PuntReturns)];
        Self {
            receivers,
            targets,
            runners,
            carries,
            backup_starts: shares(Share::Starts)[usize::from(BACKUP)],
            returns,
        }
    }

    /// The roster of teams that state no shares.
    pub(crate) fn usual() -> Self {
        Self::new(Share::usual)
    }
}

/// Roster places with their shares, by descending share; equal shares keep their order.
fn sorted<const N: usize>(mut places: [u8; N], shares: &[f32; PLAYERS]) -> ([u8; N], [f32; N]) {
    let share = |place: u8| shares[usize::from(place)];
    places.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
    (places, places.map(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_shares_keep_their_order() {
        let usual = Roster::usual();
        assert_eq!((usual.receivers, usual.targets), (RECEIVERS, TARGET_SHARES));
        assert_eq!((usual.runners, usual.carries), (RUNNERS, CARRY_SHARES));
        assert_eq!(usual.backup_starts, BACKUP_STARTS);
        for share in Share::ALL {
            let usual = share.usual();
            assert!((usual.iter().sum::<f32>() - 1.0).abs() < 0.01, "{share:?}");
            assert!((0..PLAYERS).all(|place| usual[place] == 0.0 || share.suits(place)), "{share:?}");
        }
    }

    #[test]
    fn quarterbacks_run_in_every_game() {
        let carries = |place: usize| [0.01, 0.0, 0.5, 0.3, 0.1, 0.09][place];
        let roster = Roster::new(|share| match share {
            Share::Carries => std::array::from_fn(|place| if place < 6 { carries(place) } else { 0.0 }),
            other => other.usual(),
        });
        assert_eq!(roster.runners, [2, 3, QUARTERBACK, 4, 5]);
        assert_eq!(roster.carries, [0.5, 0.3, 0.01, 0.1, 0.09]);
        assert_eq!(ROSTER[usize::from(KICKER)], "k");
        assert_eq!(ROSTER[usize::from(PUNTER)], "p");
    }
}
