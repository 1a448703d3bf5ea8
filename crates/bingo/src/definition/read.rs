//! Reads an event from text.

use model::{DefinitionError, Fault, read_document};
use serde::Deserialize;

use super::{Activity, Event, Player, check};

/// The whole, in messages.
const WHAT: &str = "the event";

/// Reads an event in TOML, or in JSON if the text starts with `{`.
///
/// # Errors
/// If the text is neither, lacks a field or has an unknown one: with line and column. If the event cannot be played:
/// with the place of every fault, such as `rows[3].tiles[0].rules[1]`.
pub fn parse(text: &str) -> Result<Event, DefinitionError> {
    let mut event: Event = read_document(text, WHAT)?;
    shorten(&mut event);
    check::check(&event)?;
    Ok(event)
}

/// The lists of an event that several events may share.
pub(crate) const PART_LISTS: [&str; 2] = ["activities", "players"];

/// A text that holds only these lists.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[serde(default)]
    activities: Vec<Activity>,
    #[serde(default)]
    players: Vec<Player>,
}

/// Checks activities and players as far as they stand alone: an event declares the capabilities.
pub(crate) fn check_part(text: &str) -> Result<(), DefinitionError> {
    let part: Part = read_document(text, WHAT)?;
    check::check_lists(&part.activities, &part.players)
}

/// Keeps twelve digits of every factor. This JSON reader may lose the last of seventeen digits, and a written event
/// must read back as itself.
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

/// Rewrites a user's text in canonical form.
pub(crate) fn read(text: &str) -> Result<String, DefinitionError> {
    let event = parse(text)?;
    serde_json::to_string(&event)
        .map_err(|error| DefinitionError(vec![Fault { place: WHAT.to_owned(), reason: error.to_string() }]))
}
