//! The path of nested objects: the field `b` of the object `a` is named `a_b`.

/// The objects around a field.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// Their names, each followed by `_`; then the last requested field's name.
    names: Vec<u8>,
    /// The start of that field's name.
    end: usize,
    /// The start of each object's name.
    starts: Vec<usize>,
}

impl Path {
    pub(super) fn clear(&mut self) {
        self.end = 0;
        self.starts.clear();
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    pub(super) fn depth(&self) -> usize {
        self.starts.len()
    }

    /// The full name of a field in the innermost object.
    pub(super) fn field(&mut self, name: &[u8]) -> &[u8] {
        self.names.truncate(self.end);
        self.names.extend_from_slice(name);
        &self.names
    }

    /// Enters the object of the last requested field.
    pub(super) fn enter(&mut self) {
        self.starts.push(self.end);
        self.names.push(b'_');
        self.end = self.names.len();
    }

    /// Leaves the innermost object; `false` without one.
    pub(super) fn leave(&mut self) -> bool {
        let start = self.starts.pop();
        self.end = start.unwrap_or(0);
        start.is_some()
    }

    /// The last requested field with dots, as in older versions.
    pub(super) fn dotted(&self) -> Vec<u8> {
        let mut dotted = self.names.clone();
        let ends = self.starts.iter().skip(1).chain(self.starts.first().map(|_| &self.end));
        ends.for_each(|end| dotted[end - 1] = b'.');
        dotted
    }

    /// The last requested field.
    pub(super) fn last(&self) -> &[u8] {
        &self.names
    }
}

/// A path to rows, as its user writes it.
pub(super) fn shown(path: &[Box<[u8]>]) -> String {
    path.iter().fold("$".to_owned(), |shown, name| shown + "." + &String::from_utf8_lossy(name))
}
