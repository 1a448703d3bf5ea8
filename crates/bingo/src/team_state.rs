//! One team in one world: its attempts, and their results.

use world::{Seed, Stream, World};

use crate::bits::Bits;
use crate::board::{Board, TeamPlan};
use crate::definition::Roll;
use crate::plan::{MemberPlan, NO_RULE, TilePlan};
use crate::strategy::Live;

/// A time after every event's end.
pub(crate) const NEVER: u32 = u32::MAX;
/// The end of an attempt too long to finish.
const FAR: u32 = u32::MAX - 1;
/// Products of decimals in binary may fall just short: 90 x 0.7 is 62.99... and means 63.
const HAIR: f64 = 1e-9;

/// The purpose of a stream of draws.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
enum Purpose {
    /// Durations of the attempts that the player leads.
    Duration,
    Roll,
    /// Rolls of the groups that the player leads.
    GroupRoll,
    /// Numbers of units for the player or the group.
    Units,
}

const PURPOSES: u32 = 4;

/// A recorded drop or completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Happening {
    pub(crate) second: u32,
    pub(crate) what: What,
    /// The winner; `None` for a group.
    pub(crate) player: Option<u8>,
    pub(crate) activity: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A drop, and the units and the tile that received them; `None` if no tile accepts it.
    Drop { drop: u8, granted: Option<(u32, u8)> },
    /// A tile has all its units.
    Completion { tile: u8 },
}

/// An attempt in progress, stored under its leader.
#[derive(Debug, Clone, Copy, Default)]
struct Attempt {
    rule: u16,
    members: Bits,
}

#[derive(Debug, Clone)]
struct Member {
    /// Index of the current or next span of the schedule.
    span: usize,
    /// The member's rule, chosen at the last change of the board.
    rule: Option<u16>,
    decided: u32,
    draws: [Stream; PURPOSES as usize],
}

/// One team in one world.
pub(crate) struct TeamState<'a> {
    board: &'a Board,
    plan: &'a TeamPlan,
    live: Live,
    units: Vec<u32>,
    row_points: Vec<u32>,
    /// When each row opened and each tile was completed, or [`NEVER`].
    pub(crate) opened: Vec<u32>,
    pub(crate) completed: Vec<u32>,
    pub(crate) points: u32,
    pub(crate) tiles: u32,
    pub(crate) attempts: u32,
    /// Number of changes of the board.
    version: u32,
    members: Vec<Member>,
    /// When each member's led attempt ends, or [`NEVER`].
    ends: Vec<u32>,
    attempting: Vec<Attempt>,
    /// Members who are online and idle, and those of them who lack a partner.
    idle: Bits,
    partnerless: Bits,
    /// The recorded happenings; `None` if not recorded.
    pub(crate) happenings: Option<Vec<Happening>>,
    wants: Vec<(usize, u16)>,
}

impl<'a> TeamState<'a> {
    pub(crate) fn new(board: &'a Board, number: usize, keep_happenings: bool) -> Self {
        let plan = &board.teams[number];
        let members = plan.members.len();
        let draws = std::array::from_fn(|_| Stream::new(Seed(0), World(0), 0, 0));
        Self {
            board,
            plan,
            live: plan.strategy.start(),
            units: vec![0; board.tiles.len()],
            row_points: vec![0; board.rows],
            opened: vec![NEVER; board.rows],
            completed: vec![NEVER; board.tiles.len()],
            points: 0,
            tiles: 0,
            attempts: 0,
            version: 0,
            members: vec![Member { span: 0, rule: None, decided: NEVER, draws }; members],
            ends: vec![NEVER; members],
            attempting: vec![Attempt::default(); members],
            idle: Bits::default(),
            partnerless: Bits::default(),
            happenings: keep_happenings.then(Vec::new),
            wants: Vec::new(),
        }
    }

    /// Starts a world, with all members idle.
    pub(crate) fn reset(&mut self, seed: Seed, world: World) {
        self.live = self.plan.strategy.start();
        self.units.fill(0);
        self.row_points.fill(0);
        self.opened.fill(NEVER);
        self.completed.fill(NEVER);
        (self.points, self.tiles, self.attempts, self.version) = (0, 0, 0, 0);
        for (member, plan) in self.members.iter_mut().zip(&self.plan.members) {
            member.draws = std::array::from_fn(|purpose| Stream::new(seed, world, plan.entity, purpose as u32));
            (member.span, member.rule, member.decided) = (0, None, NEVER);
        }
        self.ends.fill(NEVER);
        (self.idle, self.partnerless) = (Bits::default(), Bits::default());
        if let Some(happenings) = &mut self.happenings {
            happenings.clear();
        }
        self.opened[0] = 0;
        if !self.board.switches.closed_at_start {
            self.open_rows(0);
        }
    }

    /// Starts attempts for all online members.
    pub(crate) fn schedule_all(&mut self, now: u32) {
        let free = |member: &usize| !self.attempting_now().contains(*member);
        let all = (0..self.members.len()).filter(free).collect();
        self.schedule(all, now);
    }

    fn attempting_now(&self) -> Bits {
        let led = self.ends.iter().zip(&self.attempting).filter(|(end, _)| **end != NEVER);
        led.fold(Bits::default(), |all, (_, attempt)| all | attempt.members)
    }

    /// The end and the leader of the next attempt to end; on a tie, the first leader.
    #[inline]
    pub(crate) fn next_end(&self) -> (u32, usize) {
        let mut next = (NEVER, 0);
        for (leader, end) in self.ends.iter().enumerate() {
            if *end < next.0 {
                next = (*end, leader);
            }
        }
        next
    }

    /// The next start of any session after `now`, or [`NEVER`].
    pub(crate) fn next_session(&self, now: u32) -> u32 {
        let next = |(member, plan): (&Member, &MemberPlan)| {
            let spans = &plan.schedule.spans()[member.span..];
            spans.iter().map(|[from, _]| *from).find(|from| *from > now).unwrap_or(NEVER)
        };
        self.members.iter().zip(&self.plan.members).map(next).min().unwrap_or(NEVER)
    }

    /// Schedules members whose session starts now, and those who lack a partner.
    pub(crate) fn start_sessions(&mut self, now: u32) {
        let starts = |member: &usize| {
            let spans = self.plan.members[*member].schedule.spans();
            spans[self.members[*member].span..].iter().any(|[from, _]| *from == now)
        };
        let set: Bits = (0..self.members.len()).filter(starts).collect();
        self.schedule(set | self.partnerless, now);
    }

    /// Ends a leader's attempt. Its players go on, as do others who may now have work.
    pub(crate) fn end_attempt(&mut self, leader: usize, now: u32) {
        let Attempt { rule, members } = self.attempting[leader];
        self.ends[leader] = NEVER;
        self.attempts += 1;
        let furthest = self.live.furthest;
        self.roll(usize::from(rule), members, leader, now);
        let others = match self.board.switches.idle_until_quiet {
            true => Bits::default(),
            false if self.live.furthest > furthest => self.idle,
            false => self.partnerless,
        };
        self.schedule(members | others, now);
    }

    fn roll(&mut self, rule: usize, members: Bits, leader: usize, now: u32) {
        let (board, plan) = (self.board, self.plan);
        let activity = &board.activities[board.rules[rule].activity];
        let size = members.len();
        for (line, rolled) in activity.lines.iter().enumerate() {
            match rolled.roll {
                Roll::Player => {
                    for member in members.iter() {
                        let chances =
                            board.rules[rule].chances(activity, size, plan.members[member].mask_of_rule[rule], line);
                        let draw = self.members[member].draws[Purpose::Roll as usize].next_u32();
                        if let Some(outcome) = chances.outcome(draw) {
                            self.grant(&rolled.grants[outcome], rule, member, Some(member), now);
                        }
                    }
                }
                Roll::Group => {
                    let chances = board.rules[rule].chances(activity, size, self.mask(rule, members), line);
                    let draw = self.members[leader].draws[Purpose::GroupRoll as usize].next_u32();
                    if let Some(outcome) = chances.outcome(draw) {
                        self.grant(&rolled.grants[outcome], rule, leader, None, now);
                    }
                }
            }
        }
    }

    /// The modifiers of a rule that at least one member has.
    fn mask(&self, rule: usize, members: Bits) -> u8 {
        members.iter().fold(0, |mask, member| mask | self.plan.members[member].mask_of_rule[rule])
    }

    /// Applies grants to tiles one by one: each sees the rows that earlier ones opened.
    fn grant(&mut self, grants: &[(u8, [u32; 2])], rule: usize, drawer: usize, winner: Option<usize>, now: u32) {
        for &(drop, [least, most]) in grants {
            let tile = self.plan.strategy.grant(&self.live, usize::from(drop));
            let granted = tile.map(|tile| {
                let more = match most - least {
                    0 => 0,
                    range => self.members[drawer].draws[Purpose::Units as usize].below(range + 1),
                };
                (least + more, tile as u8)
            });
            self.happened(now, rule, winner, What::Drop { drop, granted });
            if let Some((units, tile)) = granted {
                let tile = usize::from(tile);
                self.units[tile] += units;
                if self.units[tile] >= self.board.tiles[tile].count {
                    self.complete(tile, now);
                    self.happened(now, rule, winner, What::Completion { tile: tile as u8 });
                }
            }
        }
    }

    fn happened(&mut self, second: u32, rule: usize, winner: Option<usize>, what: What) {
        if let Some(happenings) = &mut self.happenings {
            let player = winner.map(|member| self.plan.members[member].player as u8);
            happenings.push(Happening { second, what, player, activity: self.board.rules[rule].activity as u8 });
        }
    }

    /// Completes a tile, and opens the rows that it unlocks.
    pub(crate) fn complete(&mut self, tile: usize, now: u32) {
        self.completed[tile] = now;
        self.points += TilePlan::points_of(tile);
        self.tiles += 1;
        self.row_points[TilePlan::row_of(tile)] += TilePlan::points_of(tile);
        self.plan.strategy.complete(&mut self.live, tile);
        self.version += 1;
        self.open_rows(now);
    }

    fn open_rows(&mut self, now: u32) {
        while self.live.furthest + 1 < self.board.rows && self.row_points[self.live.furthest] >= self.board.threshold {
            self.plan.strategy.open(&mut self.live);
            self.opened[self.live.furthest] = now;
            self.version += 1;
        }
    }

    /// The furthest open row, counted from 0.
    pub(crate) fn row(&self) -> u32 {
        self.live.furthest as u32
    }

    /// Starts attempts for idle players, in groups if they choose the same rule.
    fn schedule(&mut self, set: Bits, now: u32) {
        self.idle = without(self.idle, set);
        self.partnerless = without(self.partnerless, set);
        let mut wants = std::mem::take(&mut self.wants);
        wants.clear();
        for member in set.iter() {
            if self.is_online(member, now) {
                match self.decide(member) {
                    Some(rule) => wants.push((member, rule)),
                    None => self.idle.insert(member),
                }
            }
        }
        while let Some(&(first, rule)) = wants.first() {
            let same = wants.iter().filter(|(_, r)| *r == rule).count();
            match self.size(rule, same) {
                Some(size) => {
                    let mut group = Bits::default();
                    let mut left = size;
                    wants.retain(|(member, r)| {
                        let joins = *r == rule && left > 0;
                        if joins {
                            group.insert(*member);
                            left -= 1;
                        }
                        !joins
                    });
                    self.begin(group, first, rule, now);
                }
                None => wants.retain(|(member, r)| {
                    if *r == rule {
                        self.idle.insert(*member);
                        self.partnerless.insert(*member);
                    }
                    *r != rule
                }),
            }
        }
        self.wants = wants;
    }

    /// The group size for a number of players with the same rule; `None` if they are too few.
    fn size(&self, rule: u16, wanting: usize) -> Option<usize> {
        let activity = &self.board.activities[self.board.rules[usize::from(rule)].activity];
        match activity.group {
            Some([least, most])
                if wanting >= 2 && (wanting.min(most) >= least || self.goes_undersized(activity.solo)) =>
            {
                Some(wanting.min(most))
            }
            _ if activity.solo => Some(1),
            Some([..=1, _]) => Some(1),
            _ => None,
        }
    }

    fn goes_undersized(&self, solo: bool) -> bool {
        solo && self.board.switches.undersized_groups
    }

    fn is_online(&mut self, member: usize, now: u32) -> bool {
        let spans = self.plan.members[member].schedule.spans();
        let place = &mut self.members[member].span;
        while spans.get(*place).is_some_and(|[_, to]| *to <= now) {
            *place += 1;
        }
        spans.get(*place).is_some_and(|[from, _]| *from <= now)
    }

    /// The member's rule, chosen again only after a change of the board.
    fn decide(&mut self, member: usize) -> Option<u16> {
        if self.members[member].decided != self.version {
            let tile = self.plan.strategy.work(&self.live, member);
            let rule = tile.map(|tile| self.plan.members[member].rule_of_tile[tile]);
            debug_assert!(rule != Some(NO_RULE), "a tile without a rule for the member");
            self.members[member].rule = rule;
            self.members[member].decided = self.version;
        }
        self.members[member].rule
    }

    /// Starts an attempt that ends before any member's session does. Otherwise its players stay idle, and those with
    /// enough time lack a partner.
    fn begin(&mut self, group: Bits, leader: usize, rule: u16, now: u32) {
        let duration = self.duration(group, leader, usize::from(rule));
        let end = now.saturating_add(duration).min(FAR);
        let leaves = |member: usize| self.plan.members[member].schedule.spans()[self.members[member].span][1];
        let staying: Bits = group.iter().filter(|member| end < leaves(*member)).collect();
        if staying != group {
            self.idle |= group;
            self.partnerless |= staying;
            return;
        }
        self.attempting[leader] = Attempt { rule, members: group };
        self.ends[leader] = end;
    }

    /// Seconds of an attempt: a draw about the activity's time, times the skill of the slowest member and the factors
    /// of the group's size and modifiers; rounded down, at least 1.
    fn duration(&mut self, group: Bits, leader: usize, rule: usize) -> u32 {
        let plan = &self.board.rules[rule];
        let activity = &self.board.activities[plan.activity];
        let draw = match activity.spread {
            0 => 0,
            spread => self.members[leader].draws[Purpose::Duration as usize].below(2 * spread + 1),
        };
        let seconds = (activity.seconds + draw).saturating_sub(activity.spread).max(1);
        let (mut slowest, mut mask, mut size) = (0.0f64, 0, 0);
        for member in group.iter() {
            let member = &self.plan.members[member];
            slowest = slowest.max(member.skill);
            mask |= member.mask_of_rule[rule];
            size += 1;
        }
        let factor = slowest * activity.time_of_size[size] * plan.time_of_mask[usize::from(mask)];
        (f64::from(seconds) * factor + HAIR).floor().clamp(1.0, f64::from(FAR)) as u32
    }
}

fn without(set: Bits, gone: Bits) -> Bits {
    let mut left = set;
    (set & gone).iter().for_each(|member| left.remove(member));
    left
}
