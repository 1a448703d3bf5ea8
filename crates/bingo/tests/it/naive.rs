//! The event played a second time, by whoever read its description and not the model: slowly, plainly, with other random
//! numbers, and whatever is asked for worked out anew each time. For events that start on Monday at midnight in UTC.

use bingo::definition::{Activity, Day, Event, Outcome, Player, Roll, Rule, StrategyKey, Units};

/// Random numbers: splitmix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From `least` to `most`, both included.
    fn between(&mut self, least: u32, most: u32) -> u32 {
        least + (self.next() % u64::from(most - least + 1)) as u32
    }
}

/// A rule by row, tile and place.
type Work = (usize, usize, usize);

pub(crate) struct Side<'a> {
    event: &'a Event,
    /// Whether the reference's rules are played.
    theirs: bool,
    strategy: StrategyKey,
    players: Vec<&'a Player>,
    units: Vec<[u32; 4]>,
    pub(crate) done: Vec<[Option<u32>; 4]>,
    pub(crate) opened: Vec<u32>,
    pub(crate) attempts: u32,
    /// Attempts under way: end, work, players.
    busy: Vec<(u32, Work, Vec<usize>)>,
    /// Players who lack a partner.
    lonely: Vec<usize>,
}

impl<'a> Side<'a> {
    pub(crate) fn new(event: &'a Event, team: usize, theirs: bool) -> Self {
        let team = &event.teams[team];
        let rows = event.rows.len();
        let players = event.players.iter().filter(|p| team.players.contains(&p.name)).collect();
        Self {
            event,
            theirs,
            strategy: team.strategy,
            players,
            units: vec![[0; 4]; rows],
            done: vec![[None; 4]; rows],
            opened: vec![0],
            attempts: 0,
            busy: Vec::new(),
            lonely: Vec::new(),
        }
    }

    pub(crate) fn points(&self) -> u32 {
        (0..self.done.len()).map(|row| self.row_points(row)).sum()
    }

    fn row_points(&self, row: usize) -> u32 {
        (0..4).filter(|i| self.done[row][*i].is_some()).map(|i| self.event.rows[row].tiles[i].points).sum()
    }

    fn rule(&self, (row, tile, rule): Work) -> &'a Rule {
        &self.event.rows[row].tiles[tile].rules[rule]
    }

    fn activity(&self, work: Work) -> &'a Activity {
        self.event.activities.iter().find(|a| a.key == self.rule(work).activity).unwrap()
    }

    fn open_tiles(&self) -> Vec<(usize, usize)> {
        let all = (0..self.opened.len()).flat_map(|row| (0..4).map(move |tile| (row, tile)));
        all.filter(|(row, tile)| self.done[*row][*tile].is_none()).collect()
    }

    /// When the session ends in which a player is at `now`.
    fn online_until(&self, player: usize, now: u32) -> Option<u32> {
        if self.players[player].sessions.is_empty() {
            return Some(u32::MAX);
        }
        let covers = |time: u32| {
            let spans = sessions(self.players[player]).into_iter();
            spans.filter(|[from, to]| *from <= i64::from(time) && i64::from(time) < *to).map(|[_, to]| to as u32).max()
        };
        let mut until = covers(now)?;
        while let Some(later) = covers(until) {
            until = later;
        }
        Some(until)
    }

    fn next_session(&self, now: u32) -> u32 {
        let all = self.players.iter().flat_map(|p| sessions(p)).map(|[from, _]| from);
        all.filter(|from| *from > i64::from(now)).min().map_or(u32::MAX, |from| from as u32)
    }

    fn can(&self, player: usize, (row, tile): (usize, usize)) -> Option<Work> {
        let usable = |rule: &Rule| rule.needs.iter().all(|need| self.players[player].capabilities.contains(need));
        let place = self.event.rows[row].tiles[tile].rules.iter().position(usable)?;
        Some((row, tile, place))
    }

    fn estimate(&self, (row, tile): (usize, usize)) -> f64 {
        let tile_of = &self.event.rows[row].tiles[tile];
        let of_rule = |place: usize| {
            let (rule, activity) = (self.rule((row, tile, place)), self.activity((row, tile, place)));
            let mut expected = 0.0;
            for line in &activity.lines {
                for (outcome, chance) in line.outcomes.iter().zip(self.chances(&line.outcomes, rule, 1.0)) {
                    for grant in outcome.grants.iter().filter(|g| rule.drops.contains(&g.drop)) {
                        let [least, most] = bounds(grant.units);
                        expected += chance * f64::from(least + most) / 2.0;
                    }
                }
            }
            let longest = activity.lines.iter().map(|l| l.seconds).max().unwrap();
            (f64::from(tile_of.count) / expected - 1e-9).ceil() * f64::from(longest)
        };
        (0..tile_of.rules.len()).map(of_rule).fold(f64::INFINITY, f64::min)
    }

    /// The first of tiles by what a strategy looks at: each number the less the better, then the key.
    fn best(&self, tiles: &[(usize, usize)], by: impl Fn((usize, usize)) -> [f64; 2]) -> Option<(usize, usize)> {
        let points = |(row, tile): (usize, usize)| f64::from(self.event.rows[row].tiles[tile].points);
        let key = |(row, tile): (usize, usize)| &self.event.rows[row].tiles[tile].key;
        let rank = |tile: (usize, usize)| [-points(tile), by(tile)[0], by(tile)[1]];
        let less = |a: &(usize, usize), b: &(usize, usize)| {
            rank(*a).partial_cmp(&rank(*b)).unwrap().then_with(|| key(*a).cmp(key(*b)))
        };
        tiles.iter().copied().min_by(|a, b| less(a, b))
    }

    /// Tiles of the furthest row that reach the points, done soonest together.
    fn aim(&self) -> Vec<(usize, usize)> {
        let row = self.opened.len() - 1;
        let mut best = (f64::INFINITY, String::new(), Vec::new());
        for mask in 1..16u32 {
            let tiles: Vec<(usize, usize)> = (0..4).filter(|i| mask & (1 << i) != 0).map(|i| (row, i)).collect();
            let points: u32 = tiles.iter().map(|(r, i)| self.event.rows[*r].tiles[*i].points).sum();
            let seconds: f64 = tiles.iter().map(|t| self.estimate(*t)).sum();
            let mut keys: Vec<&str> = tiles.iter().map(|(r, i)| self.event.rows[*r].tiles[*i].key.as_str()).collect();
            keys.sort_unstable();
            let keys = keys.join(",");
            let better = best.2.is_empty() || seconds < best.0 || (seconds == best.0 && keys < best.1);
            if points >= self.event.opening_points && better {
                best = (seconds, keys, tiles);
            }
        }
        best.2
    }

    fn choose(&self, player: usize) -> Option<Work> {
        let mut tiles = self.open_tiles();
        tiles.retain(|tile| self.can(player, *tile).is_some());
        let furthest = self.opened.len() - 1;
        let tile = if self.strategy == StrategyKey::Greedy {
            self.best(&tiles, |t| [self.estimate(t), 0.0])
        } else {
            let aim = self.aim();
            let aimed: Vec<_> = tiles.iter().copied().filter(|t| aim.contains(t)).collect();
            let there: Vec<_> = tiles.iter().copied().filter(|t| t.0 == furthest).collect();
            let further = |t: (usize, usize)| [-(t.0 as f64), 0.0];
            self.best(&aimed, further).or(self.best(&there, further)).or(self.best(&tiles, further))
        };
        self.can(player, tile?)
    }

    fn taker(&self, drop: &String) -> Option<(usize, usize)> {
        let mut tiles = self.open_tiles();
        tiles.retain(|(row, tile)| self.event.rows[*row].tiles[*tile].rules.iter().any(|r| r.drops.contains(drop)));
        if self.strategy == StrategyKey::Greedy {
            return self.best(&tiles, |t| [self.estimate(t), 0.0]);
        }
        let there: Vec<_> = tiles.iter().copied().filter(|t| t.0 + 1 == self.opened.len()).collect();
        self.best(&there, |_| [0.0; 2]).or(self.best(&tiles, |t| [t.0 as f64, 0.0]))
    }

    fn has(&self, players: &[usize], capability: &String) -> bool {
        players.iter().any(|p| self.players[*p].capabilities.contains(capability))
    }

    fn duration(&self, dice: &mut Dice, players: &[usize], work: Work) -> u32 {
        let activity = self.activity(work);
        let seconds = activity.lines.iter().map(|l| l.seconds).max().unwrap();
        let spread = activity.lines.iter().map(|l| l.spread).max().unwrap();
        let drawn = (i64::from(seconds) - i64::from(spread) + i64::from(dice.between(0, 2 * spread))).max(1);
        let mut time = drawn as f64;
        time *= players.iter().map(|p| self.players[*p].skill).fold(0.0, f64::max);
        let size = players.len() as u32;
        time *= activity.bands.iter().find(|b| b.min <= size && size <= b.max).map_or(1.0, |b| b.time);
        for modifier in &self.rule(work).modifiers {
            if self.has(players, &modifier.capability) {
                time *= modifier.time.unwrap_or(1.0);
            }
        }
        ((time + 1e-9).floor() as u32).max(1)
    }

    /// The chance of each outcome.
    fn chances(&self, outcomes: &[Outcome], rule: &Rule, factor: f64) -> Vec<f64> {
        let fractions = outcomes.iter().map(|o| {
            let (upper, lower) = o.chance.split_once('/').unwrap_or((o.chance.as_str(), "1"));
            (upper.parse::<f64>().unwrap(), lower.parse::<f64>().unwrap())
        });
        let accepted = |i: usize| outcomes[i].grants.iter().any(|g| rule.drops.contains(&g.drop));
        let mut chances: Vec<f64> =
            fractions.map(|(upper, lower)| if self.theirs { upper } else { upper / lower }).collect();
        if self.theirs {
            let plain = chances.clone();
            for (i, weight) in chances.iter_mut().enumerate().filter(|(i, _)| accepted(*i) && factor != 1.0) {
                *weight = (plain[i] * factor).round_ties_even();
            }
            let weights = if chances.iter().sum::<f64>() == 0.0 { plain } else { chances };
            let sum: f64 = weights.iter().sum();
            return weights.iter().map(|w| w / sum).collect();
        }
        let wanted: f64 = (0..chances.len()).filter(|i| accepted(*i)).map(|i| chances[i]).sum();
        if wanted > 0.0 {
            let now = (wanted * factor).min(1.0);
            for (i, chance) in chances.iter_mut().enumerate() {
                *chance *= if accepted(i) { now / wanted } else { (1.0 - now) / (1.0 - wanted) };
            }
        }
        chances
    }

    fn roll(&mut self, dice: &mut Dice, players: &[usize], group: usize, work: Work, outcomes: &[Outcome], now: u32) {
        let size = group as u32;
        let bands = &self.activity(work).bands;
        let mut factor = bands.iter().find(|b| b.min <= size && size <= b.max).map_or(1.0, |b| b.chance);
        for modifier in &self.rule(work).modifiers {
            if self.has(players, &modifier.capability) {
                factor *= modifier.chance.unwrap_or(1.0);
            }
        }
        let mut draw = dice.uniform();
        for (outcome, chance) in outcomes.iter().zip(self.chances(outcomes, self.rule(work), factor)) {
            draw -= chance;
            if draw < 0.0 {
                outcome.grants.iter().for_each(|grant| self.give(dice, &grant.drop, bounds(grant.units), now));
                return;
            }
        }
    }

    fn give(&mut self, dice: &mut Dice, drop: &String, [least, most]: [u32; 2], now: u32) {
        let Some((row, tile)) = self.taker(drop) else { return };
        self.units[row][tile] += dice.between(least, most);
        if self.units[row][tile] >= self.event.rows[row].tiles[tile].count {
            self.done[row][tile] = Some(now);
            let last = self.opened.len() - 1;
            if self.row_points(last) >= self.event.opening_points && last + 1 < self.event.rows.len() {
                self.opened.push(now);
            }
        }
    }

    fn is_busy(&self, player: usize) -> bool {
        self.busy.iter().any(|(_, _, players)| players.contains(&player))
    }

    pub(crate) fn schedule_all(&mut self, dice: &mut Dice, now: u32) {
        self.schedule(dice, (0..self.players.len()).collect(), now);
    }

    fn schedule(&mut self, dice: &mut Dice, mut set: Vec<usize>, now: u32) {
        set.sort_unstable();
        set.dedup();
        self.lonely.retain(|p| !set.contains(p));
        set.retain(|p| !self.is_busy(*p) && self.online_until(*p, now).is_some());
        let mut wants: Vec<(usize, Work)> = set.iter().filter_map(|p| Some((*p, self.choose(*p)?))).collect();
        while let Some((first, work)) = wants.first().copied() {
            let same: Vec<usize> = wants.iter().filter(|w| w.1 == work).map(|w| w.0).collect();
            let activity = self.activity(work);
            let sizes = activity.group.map(|g| (g.min.unwrap_or(1) as usize, g.max.unwrap_or(u32::MAX) as usize));
            let group = match sizes {
                Some((min, max)) if same.len() >= 2 => {
                    let size = same.len().min(max);
                    (size >= min || (self.theirs && activity.solo)).then(|| same[..size].to_vec())
                }
                _ => None,
            };
            let alone = activity.solo || sizes.is_some_and(|(min, _)| min <= 1);
            if let Some(group) = group.or(alone.then(|| vec![first])) {
                wants.retain(|w| !group.contains(&w.0));
                self.begin(dice, group, work, now);
            } else {
                wants.retain(|w| w.1 != work);
                self.lonely.extend(same);
            }
        }
    }

    fn begin(&mut self, dice: &mut Dice, group: Vec<usize>, work: Work, now: u32) {
        let end = now + self.duration(dice, &group, work);
        let stay = |p: &usize| end < self.online_until(*p, now).unwrap();
        if group.iter().all(stay) {
            self.busy.push((end, work, group));
        } else {
            let stayers: Vec<usize> = group.iter().copied().filter(stay).collect();
            self.lonely.extend(stayers);
        }
    }

    pub(crate) fn next_end(&self) -> Option<(u32, usize)> {
        self.busy.iter().map(|(end, _, players)| (*end, players[0])).min()
    }

    fn end_next(&mut self, dice: &mut Dice) {
        let next = self.next_end().unwrap();
        let place = self.busy.iter().position(|(end, _, players)| (*end, players[0]) == next).unwrap();
        let (now, work, players) = self.busy.remove(place);
        self.attempts += 1;
        let rows = self.opened.len();
        for line in &self.activity(work).lines {
            match line.roll {
                Roll::Group => self.roll(dice, &players, players.len(), work, &line.outcomes, now),
                Roll::Player => {
                    for player in &players {
                        self.roll(dice, &[*player], players.len(), work, &line.outcomes, now);
                    }
                }
            }
        }
        let mut set = players;
        if !self.theirs {
            set.extend(&self.lonely);
            if self.opened.len() > rows {
                set.extend(0..self.players.len());
            }
        }
        self.schedule(dice, set, now);
    }
}

fn bounds(units: Units) -> [u32; 2] {
    match units {
        Units::Fixed(n) => [n; 2],
        Units::Between(bounds) => bounds,
    }
}

/// Seconds of a player's sessions, this week and the one before.
fn sessions(player: &Player) -> Vec<[i64; 2]> {
    let days = [Day::Monday, Day::Tuesday, Day::Wednesday, Day::Thursday, Day::Friday, Day::Saturday, Day::Sunday];
    let mut all = Vec::new();
    for session in &player.sessions {
        let day = days.iter().position(|d| *d == session.day).unwrap() as i64;
        let (hour, minute) = session.at.split_once(':').unwrap();
        let from = day * 86400 + hour.parse::<i64>().unwrap() * 3600 + minute.parse::<i64>().unwrap() * 60;
        let span = [from, from + i64::from(session.minutes) * 60];
        all.extend([span, span.map(|s| s - 7 * 86400)]);
    }
    all
}

/// A world of an event by our rules: each team on its own.
pub(crate) fn ours<'a>(event: &'a Event, dice: &mut Dice, duration: u32) -> Vec<Side<'a>> {
    let team = |team| {
        let mut side = Side::new(event, team, false);
        side.schedule_all(dice, 0);
        let mut now = 0;
        loop {
            let end = side.next_end().map_or(u32::MAX, |(end, _)| end);
            let session = side.next_session(now);
            if end.min(session) > duration {
                return side;
            }
            if end <= session {
                side.end_next(dice);
                // Sessions that start at this second are still to come.
                now = end.min(session - 1).max(now);
            } else {
                now = session;
                let starts = |p: &usize| sessions(side.players[*p]).iter().any(|[from, _]| *from == i64::from(now));
                let mut set: Vec<usize> = (0..side.players.len()).filter(starts).collect();
                set.extend(&side.lonely);
                side.schedule(dice, set, now);
            }
        }
    };
    (0..event.teams.len()).map(team).collect()
}

/// A world by the reference's rules: all teams on one clock, and idle players are looked at when nobody does anything.
pub(crate) fn theirs<'a>(event: &'a Event, dice: &mut Dice, duration: u32) -> Vec<Side<'a>> {
    let mut sides: Vec<Side<'a>> = (0..event.teams.len()).map(|team| Side::new(event, team, true)).collect();
    let mut now = 0;
    loop {
        sides.iter_mut().for_each(|side| side.schedule_all(dice, now));
        while let Some((end, team)) = sides.iter().enumerate().filter_map(|(n, s)| Some((s.next_end()?.0, n))).min() {
            if end > duration {
                return sides;
            }
            now = end;
            sides[team].end_next(dice);
        }
        now = sides.iter().map(|side| side.next_session(now)).min().unwrap();
        if now > duration {
            return sides;
        }
    }
}
