//! Names behind words: label columns whose words are places among an entity's members.

use serde::{Deserialize, Serialize};

use crate::EventValues;

/// Whose members the words of a label column stand for. The entity of the events has members that are entities, such as
/// a game its two teams. Another label column chooses one of these, and word `i` is its member `i`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MembersOf {
    /// The label column that chooses.
    pub column: String,
    /// For each code of that column, a place among the entity's members.
    pub places: Vec<usize>,
}

/// The names behind the words of a column, for the events of one entity.
#[derive(Debug, Clone)]
pub struct MemberNames<'a> {
    /// Index of the column that chooses.
    pub chooser: usize,
    /// The names for each code of the column that chooses.
    pub(crate) names: Vec<&'a [String]>,
}

impl<'a> MemberNames<'a> {
    /// The name in a row of the column, with the values of the column that chooses; `None` if either is NULL or the
    /// word has no name.
    pub fn name(&self, column: EventValues<'_>, chooser: EventValues<'_>, row: usize) -> Option<&'a str> {
        let names = self.names.get(usize::try_from(chooser.number(row)?).ok()?)?;
        names.get(usize::try_from(column.number(row)?).ok()?).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalogue, Entity, EventColumn, EventKind, NULL_LABEL};

    #[test]
    fn words_have_names_of_the_chosen_member() {
        let entity = |name: &str, members: &[&str]| Entity {
            name: name.into(),
            kind: 0,
            title: String::new(),
            members: members.iter().map(|&m| m.into()).collect(),
        };
        let column = |name: &str, words: &[&str], members| EventColumn {
            nullable: true,
            members,
            ..EventColumn::new(name, EventKind::Label(words.iter().map(|&w| w.into()).collect()))
        };
        let of = |places: &[usize]| Some(MembersOf { column: "side".into(), places: places.to_vec() });
        let catalogue = Catalogue {
            kinds: Vec::new(),
            entities: vec![entity("a", &["Ann", "Abe"]), entity("b", &["Bob"]), entity("match", &["a", "b"])],
            events: vec![
                column("side", &["left", "right"], None),
                column("server", &["first", "second"], of(&[0, 1])),
                column("receiver", &["first", "second"], of(&[1, 0])),
            ],
        };
        assert!(catalogue.member_names(2, 0).is_none());
        let side = EventValues::Label(&[0, 0, 1, 1, NULL_LABEL]);
        let word = EventValues::Label(&[0, 1, 0, 1, 0]);
        let names = |column: usize| -> Vec<Option<&str>> {
            let names = catalogue.member_names(2, column).unwrap();
            (0..5).map(|row| names.name(word, side, row)).collect()
        };
        assert_eq!(names(1), [Some("Ann"), Some("Abe"), Some("Bob"), None, None]);
        assert_eq!(names(2), [Some("Bob"), None, Some("Ann"), Some("Abe"), None]);
        // An entity without members has no names.
        assert_eq!(catalogue.member_names(0, 1).unwrap().name(word, side, 0), None);
        let text = serde_json::to_string(&catalogue.events).unwrap();
        assert_eq!(serde_json::from_str::<Vec<EventColumn>>(&text).unwrap(), catalogue.events);
        assert_eq!(text.matches("members").count(), 2, "columns without names store nothing: {text}");
    }
}
