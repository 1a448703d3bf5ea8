//! Names as small numbers, and their order.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use hashbrown::HashMap;

/// Distinct texts, numbered in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Names {
    ids: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    pub(crate) fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.ids.insert(name.to_owned(), id);
        self.names.push(name.to_owned());
        id
    }

    pub(crate) fn get(&self, id: u32) -> &str {
        &self.names[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The numbers of some names, in the order of the names.
    pub(crate) fn sorted(&self, ids: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut ids: Vec<u32> = ids.into_iter().collect();
        ids.sort_unstable_by(|a, b| natural(self.get(*a), self.get(*b)));
        ids.dedup();
        ids
    }

    /// The number of the text in each row; `None` if the column holds no texts. No row may be NULL.
    pub(crate) fn of_column(&mut self, column: &ArrayRef) -> Result<Option<Vec<u32>>, ArrowError> {
        Ok(Some(match column.data_type() {
            DataType::Dictionary(_, of) if is_text(of) => {
                let dictionary = column.as_any_dictionary();
                // A dictionary may hold texts that no row has: they get no number.
                let values = cast(dictionary.values(), &DataType::Utf8)?;
                let values = values.as_string::<i32>();
                let mut known = vec![None; values.len()];
                let keys = if column.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
                keys.into_iter().map(|key| *known[key].get_or_insert_with(|| self.id(values.value(key)))).collect()
            }
            DataType::Utf8 => self.of_texts(column.as_string()),
            of if is_text(of) => self.of_texts(cast(column, &DataType::Utf8)?.as_string()),
            _ => return Ok(None),
        }))
    }

    fn of_texts(&mut self, texts: &StringArray) -> Vec<u32> {
        let mut last: Option<(&str, u32)> = None;
        let mut id_of = |text| match last {
            Some((before, id)) if before == text => id,
            _ => last.insert((text, self.id(text))).1,
        };
        (0..texts.len()).map(|row| id_of(texts.value(row))).collect()
    }
}

pub(crate) fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Orders names with the numbers in them: `game-2` before `game-10`.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a, b);
    loop {
        let ((text_a, rest_a), (text_b, rest_b)) = (text_and_rest(x), text_and_rest(y));
        let (number_a, after_a) = number_and_rest(rest_a);
        let (number_b, after_b) = number_and_rest(rest_b);
        let by_number = number_a.len().cmp(&number_b.len()).then_with(|| number_a.cmp(number_b));
        match text_a.cmp(text_b).then(by_number) {
            Ordering::Equal if after_a.len() == x.len() || after_b.len() == y.len() => break,
            Ordering::Equal => (x, y) = (after_a, after_b),
            unequal => return unequal,
        }
    }
    x.cmp(y).then_with(|| a.cmp(b))
}

fn text_and_rest(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The leading digits without leading zeros, and the rest.
fn number_and_rest(text: &str) -> (&str, &str) {
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    (digits.trim_start_matches('0'), rest)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{DictionaryArray, StringViewArray};
    use arrow::datatypes::Int8Type;

    use super::*;

    #[test]
    fn numbers_in_names_are_ordered_by_value() {
        let ordered =
            ["", "7", "a", "game", "game-2", "game-002b", "game-10", "game-10-1", "game-10-02", "games", "z9"];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(natural(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        assert_eq!(natural("x01", "x1"), Ordering::Less);
    }

    #[test]
    fn text_columns_of_every_type_get_equal_numbers() {
        let texts = ["b", "a", "a", "b", "c"];
        let dictionary: DictionaryArray<Int8Type> = texts.into_iter().collect();
        let view = StringViewArray::from_iter_values(texts);
        let mut names = Names::default();
        let columns: [ArrayRef; 4] = [
            Arc::new(dictionary),
            Arc::new(StringArray::from_iter_values(texts)),
            cast(&view, &DataType::LargeUtf8).unwrap(),
            Arc::new(view),
        ];
        for column in columns {
            assert_eq!(names.of_column(&column).unwrap(), Some(vec![0, 1, 1, 0, 2]), "{}", column.data_type());
        }
        assert_eq!(names.sorted([0, 2, 1]), [1, 0, 2]);
    }
}
