//! From text to an event, and from its texts to numbers.

use std::time::Duration;

use chrono::{DateTime, LocalResult, NaiveDateTime, NaiveTime, TimeZone as _, Utc};
use chrono_tz::Tz;
use model::{DefinitionError, Fault};

use super::{Event, check};

/// Reads an event in TOML, or in JSON where the text begins as an object does.
///
/// # Errors
/// Where the text is neither, lacks something or has something else: with the line and the column. Where it is no event
/// that can be played: with every place that is wrong, as `rows[3].tiles[0].rules[1]`.
pub fn parse(text: &str) -> Result<Event, DefinitionError> {
    let mut event: Event = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|e| {
            let reason = e.to_string();
            let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
            one(format!("line {}, column {}", e.line(), e.column()), reason.to_owned())
        })?
    } else {
        toml::from_str(text).map_err(|e| one(place_in(text, e.span()), e.message().replace('\n', " ")))?
    };
    shorten(&mut event);
    check::check(&event)?;
    Ok(event)
}

/// Keeps twelve digits of every factor: JSON, as it is read here, may lose the last of seventeen, and what is written once
/// must read as itself.
fn shorten(event: &mut Event) {
    let of_bands = event.activities.iter_mut().flat_map(|a| &mut a.bands).flat_map(|b| [&mut b.time, &mut b.chance]);
    let of_players = event.players.iter_mut().map(|player| &mut player.skill);
    let rules = event.rows.iter_mut().flat_map(|row| &mut row.tiles).flat_map(|tile| &mut tile.rules);
    let of_modifiers = rules.flat_map(|r| &mut r.modifiers).flat_map(|m| m.time.iter_mut().chain(&mut m.chance));
    let of_teams = event.teams.iter_mut().flat_map(|team| &mut team.parameters.sharing_weight);
    for factor in of_bands.chain(of_players).chain(of_modifiers).chain(of_teams) {
        *factor = format!("{factor:.11e}").parse().unwrap_or(*factor);
    }
}

/// Reads what a user wrote into the one text that means the same.
pub(crate) fn read(text: &str) -> Result<String, DefinitionError> {
    let event = parse(text)?;
    serde_json::to_string(&event).map_err(|e| one("the event".to_owned(), e.to_string()))
}

fn one(place: String, reason: String) -> DefinitionError {
    DefinitionError(vec![Fault { place, reason }])
}

fn place_in(text: &str, span: Option<std::ops::Range<usize>>) -> String {
    let Some(before) = span.and_then(|span| text.get(..span.start)) else {
        return "the event".to_owned();
    };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}")
}

/// The whole seconds of a text as `24h`, `9days`, `1h 30m`.
pub(crate) fn duration_s(text: &str) -> Result<u32, String> {
    const MAX: Duration = Duration::from_hours(366 * 24);
    let duration =
        humantime::parse_duration(text).map_err(|_| format!("{text:?} is no duration: write 24h, or 9days"))?;
    if duration < Duration::from_secs(1) || duration > MAX || duration.subsec_nanos() > 0 {
        return Err(format!("an event lasts whole seconds, one at least and 366 days at most, and not {text}"));
    }
    Ok(duration.as_secs() as u32)
}

/// A time zone by its name.
pub(crate) fn zone(name: &str) -> Result<Tz, String> {
    name.parse().map_err(|_| format!("there is no time zone {name:?}: name one as America/New_York"))
}

/// The moment that the clocks of a zone show so.
pub(crate) fn start(text: &str, zone: Tz) -> Result<DateTime<Utc>, String> {
    let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"];
    let local = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let local = local.ok_or_else(|| format!("{text:?} is no time: write 2026-01-10T08:00"))?;
    match zone.from_local_datetime(&local) {
        LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => Ok(time.to_utc()),
        LocalResult::None => Err(format!("the clocks of {zone} never show {text}: they are put forward past it")),
    }
}

/// Minutes after midnight of a text as `18:30`.
pub(crate) fn minute(text: &str) -> Result<u32, String> {
    use chrono::Timelike as _;
    let time = NaiveTime::parse_from_str(text, "%H:%M").map_err(|_| format!("{text:?} is no time: write 18:30"))?;
    Ok(time.hour() * 60 + time.minute())
}

/// The two numbers of a fraction, or of 1.
pub(crate) fn chance(text: &str) -> Result<[u32; 2], String> {
    let wrong = || format!("{text:?} is no chance: write a fraction above 0 that is 1 at most, as 1/128");
    let (upper, lower) = text.split_once('/').unwrap_or((text, "1"));
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
    let fraction = [number(upper)?, number(lower)?];
    if fraction[0] == 0 || fraction[0] > fraction[1] { Err(wrong()) } else { Ok(fraction) }
}
