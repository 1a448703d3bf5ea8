//! Checks a model's blocks against its catalogue before they are written.

use model::{
    Catalogue, EventBlock, EventColumn, EventKind, EventValues, OutOfRange, OutcomeBlock, OutcomeKind, Values,
};
use world::World;

/// The error says what is wrong with a block.
type Checked = Result<(), String>;

/// Checks that a block has a column of the right kind and length for each outcome of its entity, and that flags are 0
/// or 1.
///
/// # Errors
/// What is wrong, for people.
pub fn check_outcomes(catalogue: &Catalogue, block: &OutcomeBlock<'_>) -> Result<(), String> {
    let entity = name_of(catalogue, block.entity)?;
    let outcomes = &catalogue.kind_of(block.entity).outcomes;
    if block.columns.len() != outcomes.len() {
        return Err(format!("{entity} has {} outcomes, and the model gave {}", outcomes.len(), block.columns.len()));
    }
    for (outcome, values) in outcomes.iter().zip(&block.columns) {
        let (name, worlds) = (&outcome.name, block.range.count());
        if values.len() != worlds {
            return Err(format!("{name} of {entity} has {} values for {worlds} worlds", values.len()));
        }
        if (outcome.kind == OutcomeKind::Real) != matches!(values, Values::F64(_)) {
            return Err(format!("{name} of {entity} is declared {:?}, and has other values", outcome.kind));
        }
        let outside = match values {
            _ if outcome.kind != OutcomeKind::Flag => None,
            Values::I16(v) => no_flag(v),
            Values::I32(v) => no_flag(v),
            Values::F64(_) => None,
        };
        if let Some((place, value)) = outside {
            let world = World(block.range.first().0 + place as u32);
            let wrong = OutOfRange { entity: entity.to_owned(), column: name.clone(), world, value, min: 0, max: 1 };
            return Err(wrong.to_string());
        }
    }
    Ok(())
}

/// The first value that is neither 0 nor 1, with its place.
fn no_flag<T: Copy + Into<i64>>(values: &[T]) -> Option<(usize, i64)> {
    let is_flag = |value: &T| (0..=1).contains(&(*value).into());
    // All at once first, which takes no branches.
    if values.iter().fold(true, |all, value| all & is_flag(value)) {
        return None;
    }
    values.iter().position(|value| !is_flag(value)).map(|place| (place, values[place].into()))
}

/// Checks that a block has a column of the right kind and length for each event column, and that codes have words.
///
/// # Errors
/// What is wrong, for people.
pub fn check_events(catalogue: &Catalogue, block: &EventBlock<'_>) -> Result<(), String> {
    let entity = name_of(catalogue, block.entity)?;
    let rows: usize = block.rows.iter().map(|&rows| rows as usize).sum();
    if block.columns.len() != catalogue.events.len() || block.rows.len() != block.range.count() {
        return Err(format!("the events of {entity} have other columns or worlds than were declared"));
    }
    for (column, values) in catalogue.events.iter().zip(&block.columns) {
        let name = &column.name;
        if values.len() != rows {
            return Err(format!("{name} of {entity} has {} values for {rows} events", values.len()));
        }
        let EventKind::Label(words) = &column.kind else {
            let fits = matches!(
                (&column.kind, values),
                (EventKind::I8, EventValues::I8(_))
                    | (EventKind::I16, EventValues::I16(_))
                    | (EventKind::I32, EventValues::I32(_))
                    | (EventKind::F64, EventValues::F64 { .. })
            );
            if fits {
                check_nulls(entity, column, values, block)?;
                continue;
            }
            return Err(format!("{name} of {entity} is declared {:?}, and has other values", column.kind));
        };
        let EventValues::Label(codes) = values else {
            return Err(format!("{name} of {entity} is declared to hold words, and has other values"));
        };
        if let Some(row) = no_word(codes, words.len(), column.nullable) {
            let wrong = OutOfRange {
                entity: entity.to_owned(),
                column: name.clone(),
                world: world_of(block, row),
                value: i64::from(codes[row]),
                min: 0,
                max: words.len() as i64 - 1,
            };
            return Err(wrong.to_string());
        }
    }
    Ok(())
}

/// The row of the first code that stands for none of `words` words, and not for NULL if the column is nullable.
fn no_word(codes: &[u8], words: usize, nullable: bool) -> Option<usize> {
    // The code of NULL is the greatest, so that it becomes the least.
    let shift = u8::from(nullable);
    let fits = |code: u8| usize::from(code.wrapping_add(shift)) < words + usize::from(nullable);
    // All at once first, which takes no branches.
    let greatest = codes.iter().fold(0, |greatest, code| code.wrapping_add(shift).max(greatest));
    if fits(greatest.wrapping_sub(shift)) {
        return None;
    }
    codes.iter().position(|code| !fits(*code))
}

/// Checks that a column of real numbers says of each row whether it is NULL, and has NULL only if it may.
fn check_nulls(entity: &str, column: &EventColumn, values: &EventValues<'_>, block: &EventBlock<'_>) -> Checked {
    let EventValues::F64 { values, valid: Some(valid) } = values else { return Ok(()) };
    let name = &column.name;
    if valid.len() != values.len() {
        return Err(format!(
            "{name} of {entity} has {} values, and says of {} whether they are NULL",
            values.len(),
            valid.len()
        ));
    }
    match valid.iter().position(|valid| !valid) {
        Some(row) if !column.nullable => Err(format!(
            "{name} of {entity} is NULL in world {}, and is declared to have a value",
            world_of(block, row)
        )),
        _ => Ok(()),
    }
}

/// Checks that each entity of the catalogue has outcomes once, and events at most once.
pub(crate) fn check_entities(catalogue: &Catalogue, outcomes: &[usize], events: &[usize]) -> Checked {
    let mut given = vec![(0u32, 0u32); catalogue.entities.len()];
    outcomes.iter().for_each(|&entity| given[entity].0 += 1);
    events.iter().for_each(|&entity| given[entity].1 += 1);
    for (entity, given) in catalogue.entities.iter().zip(given) {
        match given {
            (0, _) => return Err(format!("the model gave no outcomes of {}", entity.name)),
            (2.., _) => return Err(format!("the model gave outcomes of {} twice", entity.name)),
            (_, 2..) => return Err(format!("the model gave events of {} twice", entity.name)),
            _ => {}
        }
    }
    Ok(())
}

fn name_of(catalogue: &Catalogue, entity: usize) -> Result<&str, String> {
    let found = catalogue.entities.get(entity).map(|entity| entity.name.as_str());
    found.ok_or_else(|| format!("the model gave entity {entity}, and declares {}", catalogue.entities.len()))
}

fn world_of(block: &EventBlock<'_>, row: usize) -> World {
    let mut end = 0;
    let ended = |&&rows: &&u32| {
        end += rows as usize;
        end <= row
    };
    World(block.range.first().0 + block.rows.iter().take_while(ended).count() as u32)
}

#[cfg(test)]
mod tests {
    use model::{Entity, EntityKind, NULL_LABEL, Outcome};
    use world::WorldRange;

    use super::*;

    fn catalogue() -> Catalogue {
        let outcome = |name: &str, kind| Outcome::new(name, "", kind);
        let column = |name: &str, kind, nullable| EventColumn { nullable, ..EventColumn::new(name, kind) };
        let words = || EventKind::Label(vec!["run".to_owned(), "pass".to_owned()]);
        Catalogue {
            kinds: vec![EntityKind {
                name: "game".to_owned(),
                outcomes: vec![outcome("points", OutcomeKind::Number), outcome("won", OutcomeKind::Flag)],
            }],
            entities: vec![Entity::new("game-1", 0)],
            events: vec![
                column("kind", words(), false),
                column("foul", words(), true),
                column("down", EventKind::I8, false),
            ],
        }
    }

    #[test]
    fn codes_without_a_word_are_found() {
        let codes = |last: u8| [vec![0; 100], vec![last]].concat();
        for words in [0, 1, 2, 200, 254, 255] {
            for last in 0..=u8::MAX {
                let known = usize::from(last) < words;
                let found =
                    |nullable| no_word(&codes(last)[usize::from(words == 0) * 100..], words, nullable).is_some();
                assert_eq!(found(false), !known, "{last} of {words} words");
                assert_eq!(found(true), !known && last != NULL_LABEL, "{last} of {words} words, or NULL");
            }
        }
        assert_eq!(no_word(&[0, NULL_LABEL, 3, 4], 3, true), Some(2));
    }

    #[test]
    fn outcomes_outside_their_declaration_are_named() {
        let check = |columns: Vec<Values<'_>>| {
            let range = WorldRange::new(World(40), 3).unwrap();
            check_outcomes(&catalogue(), &OutcomeBlock { entity: 0, range, columns })
        };
        assert_eq!(check(vec![Values::I16(&[7, -3, 200]), Values::I32(&[0, 1, 1])]), Ok(()));
        let said = |columns| check(columns).unwrap_err();
        assert_eq!(
            said(vec![Values::I16(&[7, 0, 0]), Values::I16(&[0, 1, 2])]),
            "won of game-1 is 2 in world 42: must be from 0 to 1"
        );
        assert_eq!(said(vec![Values::I16(&[7, 0, 0])]), "game-1 has 2 outcomes, and the model gave 1");
        assert_eq!(
            said(vec![Values::I16(&[7]), Values::I16(&[0, 1, 0])]),
            "points of game-1 has 1 values for 3 worlds"
        );
        let real = said(vec![Values::F64(&[7.0; 3]), Values::I16(&[0, 1, 0])]);
        assert_eq!(real, "points of game-1 is declared Number, and has other values");
    }

    #[test]
    fn event_codes_without_a_word_are_named() {
        let check = |columns: Vec<EventValues<'_>>| {
            let range = WorldRange::new(World(7), 3).unwrap();
            check_events(&catalogue(), &EventBlock { entity: 0, range, rows: &[2, 0, 1], columns })
        };
        let downs = EventValues::I8(&[1, 2, 3]);
        let fouls = EventValues::Label(&[NULL_LABEL, 0, 1]);
        assert_eq!(check(vec![EventValues::Label(&[0, 1, 1]), fouls, downs]), Ok(()));
        let said = |columns| check(columns).unwrap_err();
        assert_eq!(
            said(vec![EventValues::Label(&[0, 1, 2]), fouls, downs]),
            "kind of game-1 is 2 in world 9: must be from 0 to 1"
        );
        assert_eq!(
            said(vec![EventValues::Label(&[0, NULL_LABEL, 1]), fouls, downs]),
            "kind of game-1 is 255 in world 7: must be from 0 to 1"
        );
        assert_eq!(
            said(vec![EventValues::Label(&[0, 1, 1]), fouls, EventValues::I16(&[1, 2, 3])]),
            "down of game-1 is declared I8, and has other values"
        );
        assert_eq!(said(vec![downs]), "the events of game-1 have other columns or worlds than were declared");
    }
}
