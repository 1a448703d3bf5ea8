//! Where a field of nested objects is: the field `b` of the object `a` is named `a_b`.

/// The objects around a field.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// Their names, each followed by `_`; then the name of the field last asked for.
    names: Vec<u8>,
    /// Where that begins.
    end: usize,
    /// Where the name of each object begins.
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

    /// How many objects there are.
    pub(super) fn depth(&self) -> usize {
        self.starts.len()
    }

    /// The whole name of a field in the innermost object.
    pub(super) fn field(&mut self, name: &[u8]) -> &[u8] {
        self.names.truncate(self.end);
        self.names.extend_from_slice(name);
        &self.names
    }

    /// Enters the object that is the field last asked for.
    pub(super) fn enter(&mut self) {
        self.starts.push(self.end);
        self.names.push(b'_');
        self.end = self.names.len();
    }

    /// Leaves the innermost object; `false` where there is none.
    pub(super) fn leave(&mut self) -> bool {
        let start = self.starts.pop();
        self.end = start.unwrap_or(0);
        start.is_some()
    }

    /// The field last asked for, as HTTP once named it: with dots.
    pub(super) fn dotted(&self) -> Vec<u8> {
        let mut dotted = self.names.clone();
        let ends = self.starts.iter().skip(1).chain(self.starts.first().map(|_| &self.end));
        ends.for_each(|end| dotted[end - 1] = b'.');
        dotted
    }

    /// The field last asked for.
    pub(super) fn last(&self) -> &[u8] {
        &self.names
    }
}
