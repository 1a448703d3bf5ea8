//! Parses the times and numbers of an event.

use std::time::Duration;

use chrono::{DateTime, LocalResult, NaiveDateTime, NaiveTime, TimeZone as _, Timelike as _, Utc};
use chrono_tz::Tz;

/// The whole seconds of a duration such as `24h`, `9days`, `1h 30m`.
pub(crate) fn duration_s(text: &str) -> Result<u32, String> {
    const MAX: Duration = Duration::from_hours(366 * 24);
    let duration =
        humantime::parse_duration(text).map_err(|_| format!("invalid duration {text:?}: write 24h or 9days"))?;
    if duration < Duration::from_secs(1) || duration > MAX || duration.subsec_nanos() > 0 {
        return Err(format!("is {text}: must be whole seconds, from 1s to 366days"));
    }
    Ok(duration.as_secs() as u32)
}

pub(crate) fn zone(name: &str) -> Result<Tz, String> {
    name.parse().map_err(|_| format!("unknown time zone {name:?}: write a name such as America/New_York"))
}

/// The moment of a local time in a zone.
pub(crate) fn start(text: &str, zone: Tz) -> Result<DateTime<Utc>, String> {
    let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"];
    let local = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let local = local.ok_or_else(|| format!("invalid time {text:?}: write 2026-01-10T08:00"))?;
    match zone.from_local_datetime(&local) {
        LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => Ok(time.to_utc()),
        LocalResult::None => Err(format!("the clocks of {zone} skip {text}: choose another time")),
    }
}

/// Minutes after midnight of a time such as `18:30`.
pub(crate) fn minute(text: &str) -> Result<u32, String> {
    let time = NaiveTime::parse_from_str(text, "%H:%M").map_err(|_| format!("invalid time {text:?}: write 18:30"))?;
    Ok(time.hour() * 60 + time.minute())
}

/// Numerator and denominator of a fraction, or of 1.
pub(crate) fn chance(text: &str) -> Result<[u32; 2], String> {
    let wrong = || format!("invalid chance {text:?}: write a fraction above 0 and at most 1, such as 1/128");
    let (upper, lower) = text.split_once('/').unwrap_or((text, "1"));
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
    let fraction = [number(upper)?, number(lower)?];
    if fraction[0] == 0 || fraction[0] > fraction[1] { Err(wrong()) } else { Ok(fraction) }
}
