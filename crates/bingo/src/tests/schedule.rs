//! When players are there.

use crate::definition::schedule::{FOREVER, Schedule};
use crate::definition::{Day, Event, Player, Session};

use super::support::*;

const HOUR: u32 = 3600;

fn spans_at(zone: &str, start: &str, duration: &str, sessions: &[Session]) -> Vec<[u32; 2]> {
    let ann = Player { sessions: sessions.to_vec(), ..player("ann") };
    let event = digging(solo("dig", 60, "ore"), 1, &[ann]);
    let event = Event { zone: zone.to_owned(), start: start.to_owned(), duration: duration.to_owned(), ..event };
    Schedule::of(&event, &event.players[0]).spans().to_vec()
}

/// From Monday midnight in UTC.
fn spans(duration: &str, sessions: &[Session]) -> Vec<[u32; 2]> {
    spans_at("UTC", "2026-01-05T00:00", duration, sessions)
}

#[test]
fn players_without_sessions_are_always_there() {
    assert_eq!(spans("9days", &[]), [[0, FOREVER]]);
}

#[test]
fn sessions_come_every_week_on_their_day() {
    let week = 7 * 24 * HOUR;
    let monday = session(Day::Monday, "18:30", 90);
    let first = [18 * HOUR + 1800, 20 * HOUR];
    assert_eq!(spans("9days", std::slice::from_ref(&monday)), [first, first.map(|s| s + week)]);
    let days = [Day::Monday, Day::Tuesday, Day::Wednesday, Day::Thursday, Day::Friday, Day::Saturday, Day::Sunday];
    let all: Vec<Session> = days.iter().map(|day| session(*day, "00:00", 1)).collect();
    let expected: Vec<[u32; 2]> = (0..=7).map(|d| [d * 24 * HOUR, d * 24 * HOUR + 60]).collect();
    assert_eq!(spans("7days", &all), expected);
    assert_eq!(spans("1h", &[session(Day::Sunday, "12:00", 60)]), [[0; 2]; 0], "never during the event");
}

#[test]
fn a_session_may_go_past_midnight_and_have_begun_before_the_event() {
    assert_eq!(spans("2days", &[session(Day::Monday, "23:00", 180)]), [[23 * HOUR, 26 * HOUR]]);
    assert_eq!(spans("2days", &[session(Day::Sunday, "23:00", 180)]), [[0, 2 * HOUR]]);
    assert_eq!(spans("2days", &[session(Day::Sunday, "23:00", 60)]), [[0; 2]; 0], "over as the event starts");
    assert_eq!(spans("2days", &[session(Day::Sunday, "00:01", 1440)]), [[0, 60]]);
}

#[test]
fn the_last_day_of_an_event_that_starts_late_has_its_sessions() {
    let sessions = [session(Day::Tuesday, "23:00", 30)];
    assert_eq!(spans_at("UTC", "2026-01-05T23:30", "24h", &sessions), [[23 * HOUR + 1800, 24 * HOUR]]);
    let after_midnight = [session(Day::Wednesday, "00:00", 30)];
    assert_eq!(spans_at("UTC", "2026-01-05T23:30", "25h", &after_midnight), [[24 * HOUR + 1800, 25 * HOUR]]);
}

#[test]
fn sessions_that_touch_or_overlap_are_one() {
    let monday = |at: &str, minutes| session(Day::Monday, at, minutes);
    let schedule = |sessions: &[Session]| {
        let ann = Player { sessions: sessions.to_vec(), ..player("ann") };
        let event = Event { duration: "1day".to_owned(), ..digging(solo("dig", 60, "ore"), 1, &[ann]) };
        let schedule = Schedule::of(&event, &event.players[0]);
        (schedule.spans().to_vec(), schedule.overlaps(), schedule.online_s(24 * HOUR))
    };
    assert_eq!(schedule(&[monday("02:00", 60), monday("01:00", 60)]), (vec![[HOUR, 3 * HOUR]], false, 7200));
    assert_eq!(schedule(&[monday("01:00", 90), monday("02:00", 60)]), (vec![[HOUR, 3 * HOUR]], true, 7200));
    assert_eq!(schedule(&[monday("01:00", 240), monday("02:00", 60)]), (vec![[HOUR, 5 * HOUR]], true, 4 * 3600));
    let apart = vec![[HOUR, 2 * HOUR], [2 * HOUR + 60, 2 * HOUR + 120]];
    assert_eq!(schedule(&[monday("01:00", 60), monday("02:01", 1)]), (apart, false, 3660));
    assert_eq!(schedule(&[monday("23:00", 120)]).2, 3600, "what is past the end does not count");
}

#[test]
fn the_start_of_an_event_decides_who_is_there() {
    let evening = [session(Day::Monday, "20:00", 60)];
    let at = |start: &str| spans_at("UTC", start, "24h", &evening);
    assert_eq!(at("2026-01-05T00:00"), [[20 * HOUR, 21 * HOUR]]);
    assert_eq!(at("2026-01-05T19:59:30"), [[30, HOUR + 30]]);
    assert_eq!(at("2026-01-05T20:30"), [[0, 1800]]);
    assert_eq!(at("2026-01-06T00:00"), [[0; 2]; 0]);
}

#[test]
fn sessions_are_told_by_the_clocks_of_the_zone() {
    let evening = [session(Day::Monday, "20:00", 60)];
    let at = |zone: &str| spans_at(zone, "2026-01-05T18:00", "24h", &evening);
    assert_eq!(at("UTC"), [[2 * HOUR, 3 * HOUR]]);
    assert_eq!(at("Asia/Kolkata"), [[2 * HOUR, 3 * HOUR]], "the start is told by the same clocks");
}

/// New York's clocks went from 2:00 to 3:00 on Sunday 8 March 2026.
#[test]
fn sessions_follow_clocks_that_are_put_forward() {
    let at = |sessions: &[Session]| spans_at("America/New_York", "2026-03-07T12:00", "2days", sessions);
    let evenings = [session(Day::Saturday, "18:00", 60), session(Day::Sunday, "18:00", 60)];
    assert_eq!(at(&evenings), [[6 * HOUR, 7 * HOUR], [29 * HOUR, 30 * HOUR]], "23 hours lie between");
    assert_eq!(
        at(&[session(Day::Sunday, "01:30", 60)]),
        [[13 * HOUR + 1800, 14 * HOUR + 1800]],
        "a session keeps its length"
    );
    assert_eq!(at(&[session(Day::Sunday, "02:30", 60)]), [[14 * HOUR, 15 * HOUR]], "2:30 is when it becomes 3:00");
    assert_eq!(at(&[session(Day::Sunday, "03:00", 60)]), [[14 * HOUR, 15 * HOUR]]);
}

/// They went from 2:00 back to 1:00 on Sunday 1 November 2026.
#[test]
fn sessions_follow_clocks_that_are_put_back() {
    let at = |sessions: &[Session]| spans_at("America/New_York", "2026-10-31T12:00", "2days", sessions);
    let evenings = [session(Day::Saturday, "18:00", 60), session(Day::Sunday, "18:00", 60)];
    assert_eq!(at(&evenings), [[6 * HOUR, 7 * HOUR], [31 * HOUR, 32 * HOUR]], "25 hours lie between");
    assert_eq!(
        at(&[session(Day::Sunday, "01:30", 60)]),
        [[13 * HOUR + 1800, 14 * HOUR + 1800]],
        "the first 1:30 of two"
    );
    assert_eq!(at(&[session(Day::Sunday, "02:00", 60)]), [[15 * HOUR, 16 * HOUR]]);
}

/// An event may start while the clocks of its zone show a time for the second time: it is the first that is meant.
#[test]
fn a_start_that_clocks_show_twice_is_the_first() {
    let noon = [session(Day::Sunday, "12:00", 60)];
    let at = |start: &str| spans_at("America/New_York", start, "1day", &noon);
    assert_eq!(at("2026-11-01T01:30"), [[11 * HOUR + 1800, 12 * HOUR + 1800]]);
}

#[test]
fn attempts_begin_within_sessions_and_end_before_them() {
    let during = |seconds| {
        let ann = Player { sessions: vec![session(Day::Monday, "00:10", 2)], ..player("ann") };
        told(&digging(solo("dig", seconds, "ore"), 9, &[ann])).wins()
    };
    assert_eq!(during(59), ["659 ann", "718 ann"]);
    assert_eq!(during(60), ["660 ann"], "the second would end with the session");
    assert_eq!(during(119), ["719 ann"]);
    assert_eq!(during(120), [""; 0]);
}

#[test]
fn nobody_tries_shorter_work_than_what_does_not_fit() {
    let (activities, row) = own("a", [10, 10, 10, 200]);
    let ann = Player { sessions: vec![session(Day::Monday, "00:00", 3)], ..player("ann") };
    assert_eq!(told(&event(&activities, &[row], &[ann])).completions(), [""; 0]);
}
