//! The members of one set in progress.

/// Concatenated texts; sorted and distinct after [`Members::sort`].
#[derive(Debug, Default, PartialEq)]
pub(super) struct Members {
    bytes: Vec<u8>,
    /// The span of each member, in the order of the set.
    spans: Vec<(u32, u32)>,
    /// Whether the members are stored in set order without gaps.
    in_order: bool,
}

impl Members {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, text: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.spans.push((start, self.bytes.len() as u32));
    }

    /// Makes a set of the pushed texts.
    #[inline]
    pub(super) fn sort(&mut self) {
        let bytes = &self.bytes;
        let text = |&(start, end): &(u32, u32)| &bytes[start as usize..end as usize];
        self.in_order = self.spans.windows(2).all(|pair| text(&pair[0]) < text(&pair[1]));
        if !self.in_order {
            self.spans.sort_unstable_by(|a, b| text(a).cmp(text(b)));
            self.spans.dedup_by(|a, b| text(a) == text(b));
        }
    }

    /// Appends the members to concatenated texts.
    #[inline]
    pub(super) fn append(&self, offsets: &mut Vec<i32>, bytes: &mut Vec<u8>) {
        if self.in_order {
            let base = bytes.len() as i32;
            bytes.extend_from_slice(&self.bytes);
            offsets.extend(self.spans.iter().map(|(_, end)| base + *end as i32));
            return;
        }
        for &(start, end) in &self.spans {
            bytes.extend_from_slice(&self.bytes[start as usize..end as usize]);
            offsets.push(bytes.len() as i32);
        }
    }

    /// Bytes of all pushed texts.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}
