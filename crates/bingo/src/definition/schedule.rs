//! When a player is online.

use chrono::{DateTime, Datelike as _, Days, LocalResult, NaiveDateTime, NaiveTime, TimeDelta, TimeZone as _, Utc};
use chrono_tz::Tz;

use super::value::{duration_s, minute, start, zone};
use super::{Event, Player, Session};

/// Spans of seconds from the event's start, sorted and disjoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schedule {
    spans: Vec<[u32; 2]>,
    overlaps: bool,
}

/// No end: players without sessions are always online.
pub(crate) const FOREVER: u32 = u32::MAX;

impl Schedule {
    /// A player's weekly sessions during an event, in local time of the event's zone. Adjacent sessions are merged.
    pub(crate) fn of(event: &Event, player: &Player) -> Self {
        if player.sessions.is_empty() {
            return Self { spans: vec![[0, FOREVER]], overlaps: false };
        }
        let mut all: Vec<[u32; 2]> = Vec::new();
        let known = (duration_s(&event.duration), zone(&event.zone));
        if let (Ok(duration), Ok(zone)) = known
            && let Ok(start) = start(&event.start, zone)
        {
            let first = start.with_timezone(&zone).date_naive() - Days::new(1);
            let days = u64::from(duration) / 86_400 + 3;
            for day in (0..days).map(|n| first + Days::new(n)) {
                let today = player.sessions.iter().filter(|s| s.day as u32 == day.weekday().num_days_from_monday());
                all.extend(today.filter_map(|session| span(session, day.and_time(NaiveTime::MIN), zone, start)));
            }
        }
        all.retain(|[from, _]| *from <= duration_s(&event.duration).unwrap_or(0));
        all.sort_unstable();
        let mut schedule = Self { spans: Vec::new(), overlaps: false };
        for [from, to] in all {
            match schedule.spans.last_mut() {
                Some(last) if from <= last[1] => {
                    schedule.overlaps |= from < last[1];
                    last[1] = last[1].max(to);
                }
                _ => schedule.spans.push([from, to]),
            }
        }
        schedule
    }

    /// The spans, each from its first second to one past its last.
    pub(crate) fn spans(&self) -> &[[u32; 2]] {
        &self.spans
    }

    /// Seconds of an event during which the player is online.
    pub(crate) fn online_s(&self, duration: u32) -> u64 {
        self.spans.iter().map(|[from, to]| u64::from((*to).min(duration).saturating_sub(*from))).sum()
    }

    pub(crate) fn overlaps(&self) -> bool {
        self.overlaps
    }
}

/// The span of a session on the day that starts at `midnight`, in seconds after `start`; `None` if it ends by `start`.
fn span(session: &Session, midnight: NaiveDateTime, zone: Tz, start: DateTime<Utc>) -> Option<[u32; 2]> {
    let local = midnight + TimeDelta::minutes(i64::from(minute(&session.at).ok()?));
    // A local time that a clock change skips becomes the moment of the change.
    let begins = (0..=180).find_map(|late| match zone.from_local_datetime(&(local + TimeDelta::minutes(late))) {
        LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => Some(time.to_utc()),
        LocalResult::None => None,
    })?;
    let from = (begins - start).num_seconds();
    let to = from + i64::from(session.minutes) * 60;
    (to > 0).then(|| [from.max(0) as u32, to as u32])
}
