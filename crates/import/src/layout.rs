//! What the columns of an input are for.

use std::collections::BTreeSet;

use arrow::datatypes::Schema;

use crate::error::{ImportError, Result};
use crate::options::{Form, Options};

/// The columns of an input, by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) form: Form,
    pub(crate) world: Option<usize>,
    pub(crate) entity: Option<usize>,
    /// Of the long form.
    pub(crate) outcome: Option<usize>,
    /// The columns of values: of each outcome, in the order of the first input, or one in the long form.
    pub(crate) values: Vec<usize>,
    /// Entity and outcome of each column of values, if their names are `ENTITY:OUTCOME`; else empty.
    pub(crate) pairs: Vec<(String, String)>,
    /// The names of all columns.
    pub(crate) names: Vec<String>,
}

impl Layout {
    pub(crate) fn of(schema: &Schema, options: &Options, input: &str) -> Result<Self> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let refused = |reason: String| ImportError::Columns { input: input.to_owned(), reason };
        let refuse = |reason: String| Err(refused(reason));
        let mut distinct = BTreeSet::new();
        if let Some(twice) = names.iter().find(|name| !distinct.insert(name.as_str())) {
            return refuse(format!("two columns have the name {twice:?}"));
        }
        let find = |given: &Option<String>, default: &str| {
            let found = names.iter().position(|name| name == given.as_deref().unwrap_or(default));
            match (found, given) {
                (None, Some(name)) => Err(refused(format!("no column {name:?}; it has {}", names.join(", ")))),
                (found, _) => Ok(found),
            }
        };
        let columns = &options.columns;
        let world = find(&columns.world, "world")?;
        let entity = find(&columns.entity, "entity")?;
        let (outcome, value) = match options.form {
            Some(Form::Wide) => (None, None),
            _ => (find(&columns.outcome, "outcome")?, find(&columns.value, "value")?),
        };
        let (form, outcome, values) = match (outcome, value) {
            (Some(outcome), Some(value)) => (Form::Long, Some(outcome), vec![value]),
            _ if options.form == Some(Form::Long) => {
                return refuse("the long form needs a column of outcomes and a column of values".to_owned());
            }
            _ => (Form::Wide, None, (0..names.len()).filter(|i| Some(*i) != world && Some(*i) != entity).collect()),
        };
        let known = |i: usize| [world, entity, outcome].contains(&Some(i)) || values.contains(&i);
        if let Some(other) = (0..names.len()).find(|i| !known(*i)) {
            return refuse(format!(
                "column {:?} is neither world, entity, outcome nor value, and the long form has no others",
                names[other]
            ));
        }
        if values.is_empty() {
            return refuse("it has no column of outcomes".to_owned());
        }
        let by_name = form == Form::Wide && entity.is_none() && values.iter().any(|i| names[*i].contains(':'));
        let pairs = if by_name { pairs(values.iter().map(|i| &names[*i])).map_err(refused)? } else { Vec::new() };
        Ok(Self { form, world, entity, outcome, values, pairs, names })
    }

    /// Checks that another input has the same columns, and puts its columns of values in the order of this one.
    pub(crate) fn check(&self, first: &str, mut other: Self, input: &str) -> Result<Self> {
        let lacks = |one: &Self, another: &Self| {
            let name = one.names.iter().find(|name| !another.names.contains(name));
            name.cloned()
        };
        let refuse = |reason: String| Err(ImportError::Columns { input: input.to_owned(), reason });
        if let Some(name) = lacks(self, &other) {
            return refuse(format!("it lacks column {name:?} of {first}"));
        }
        if let Some(name) = lacks(&other, self) {
            return refuse(format!("it has column {name:?}, which {first} lacks"));
        }
        let place = |column: usize| self.values.iter().position(|of| self.names[*of] == other.names[column]);
        let mut values = other.values.clone();
        values.sort_by_key(|column| place(*column));
        other.values = values;
        Ok(other)
    }
}

/// Entity and outcome of columns that are named `ENTITY:OUTCOME`.
fn pairs<'n>(names: impl Iterator<Item = &'n String>) -> std::result::Result<Vec<(String, String)>, String> {
    let split = |name: &String| match name.split_once(':') {
        Some((entity, outcome)) => Ok((entity.to_owned(), outcome.to_owned())),
        None => {
            Err(format!("column {name:?} names no entity: write ENTITY:OUTCOME in all columns of outcomes or in none"))
        }
    };
    names.map(split).collect()
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field};

    use super::*;
    use crate::options::ColumnNames;

    fn layout(names: &[&str], options: &Options) -> std::result::Result<Layout, String> {
        let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::Float64, true)).collect();
        Layout::of(&Schema::new(fields), options, "a.csv").map_err(|error| error.to_string())
    }

    #[test]
    fn the_form_follows_the_columns() {
        let of = |names: &[&str]| {
            let layout = layout(names, &Options::default()).unwrap();
            (layout.form, layout.world, layout.entity, layout.outcome, layout.values)
        };
        assert_eq!(of(&["b", "a"]), (Form::Wide, None, None, None, vec![0, 1]));
        assert_eq!(of(&["a", "world", "b", "entity"]), (Form::Wide, Some(1), Some(3), None, vec![0, 2]));
        assert_eq!(of(&["value", "outcome", "world"]), (Form::Long, Some(2), None, Some(1), vec![0]));
        // Without values, `outcome` is the name of an outcome.
        assert_eq!(of(&["world", "outcome"]), (Form::Wide, Some(0), None, None, vec![1]));
    }

    #[test]
    fn columns_may_name_entity_and_outcome() {
        let of = |names: &[&str]| layout(names, &Options::default());
        let found = of(&["b:x", "world", "a:x:y"]).unwrap();
        let pair = |entity: &str, outcome: &str| (entity.to_owned(), outcome.to_owned());
        assert_eq!((found.form, found.pairs), (Form::Wide, vec![pair("b", "x"), pair("a", "x:y")]));
        assert_eq!(of(&["entity", "a:x"]).unwrap().pairs, []);
        assert_eq!(of(&["outcome", "value"]).unwrap().pairs, []);
        let mixed = "a.csv: column \"x\" names no entity: write ENTITY:OUTCOME in all columns of outcomes or in none";
        assert_eq!(of(&["a:x", "x"]).unwrap_err(), mixed);
    }

    #[test]
    fn names_and_form_can_be_chosen() {
        let columns = ColumnNames { world: Some("draw".to_owned()), ..ColumnNames::default() };
        let chosen = Options { columns, form: Some(Form::Wide), ..Options::default() };
        let found = layout(&["value", "outcome", "draw", "world"], &chosen).unwrap();
        assert_eq!((found.form, found.world, found.values), (Form::Wide, Some(2), vec![0, 1, 3]));
        assert_eq!(layout(&["a"], &chosen).unwrap_err(), "a.csv: no column \"draw\"; it has a");
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        let said = |names: &[&str]| layout(names, &Options::default()).unwrap_err();
        assert_eq!(said(&["a", "b", "a"]), "a.csv: two columns have the name \"a\"");
        assert_eq!(said(&["world", "entity"]), "a.csv: it has no column of outcomes");
        assert_eq!(
            said(&["world", "outcome", "value", "weight"]),
            "a.csv: column \"weight\" is neither world, entity, outcome nor value, and the long form has no others"
        );
        let first = layout(&["world", "a", "b"], &Options::default()).unwrap();
        let check = |names: &[&str]| {
            let other = layout(names, &Options::default()).unwrap();
            first.check("a.csv", other, "b.csv").map_err(|error| error.to_string())
        };
        assert_eq!(check(&["b", "a", "world"]).unwrap().values, [1, 0]);
        assert_eq!(check(&["b", "world"]).unwrap_err(), "b.csv: it lacks column \"a\" of a.csv");
        assert_eq!(check(&["a", "b", "c", "world"]).unwrap_err(), "b.csv: it has column \"c\", which a.csv lacks");
    }
}
