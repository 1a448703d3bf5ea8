//! Dictionaries of texts, and indices into them.

/// Texts, contiguous in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dictionary {
    bytes: String,
    ends: Vec<usize>,
}

impl Dictionary {
    pub fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn get(&self, place: usize) -> &str {
        let from = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.bytes[from..self.ends[place]]
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }

    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

/// Indices into a dictionary, in the narrowest type that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

/// Runs `$body` with `$codes` bound to the vector inside, of any width.
#[macro_export]
macro_rules! with_codes {
    ($value:expr, $codes:ident => $body:expr) => {
        match $value {
            $crate::Codes::U8($codes) => $body,
            $crate::Codes::U16($codes) => $body,
            $crate::Codes::U32($codes) => $body,
        }
    };
}

impl Codes {
    /// Stores indices below `space`.
    pub fn of(codes: impl IntoIterator<Item = u32>, space: usize) -> Self {
        let codes = codes.into_iter();
        if space <= 1 << 8 {
            Self::U8(codes.map(|c| c as u8).collect())
        } else if space <= 1 << 16 {
            Self::U16(codes.map(|c| c as u16).collect())
        } else {
            Self::U32(codes.collect())
        }
    }

    pub fn len(&self) -> usize {
        with_codes!(self, codes => codes.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn into_wide(self) -> Vec<u32> {
        match self {
            Self::U8(codes) => codes.into_iter().map(u32::from).collect(),
            Self::U16(codes) => codes.into_iter().map(u32::from).collect(),
            Self::U32(codes) => codes,
        }
    }

    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        fn take<T: Copy>(codes: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&row| codes[row as usize]).collect()
        }
        match self {
            Self::U8(codes) => Self::U8(take(codes, rows)),
            Self::U16(codes) => Self::U16(take(codes, rows)),
            Self::U32(codes) => Self::U32(take(codes, rows)),
        }
    }

    pub fn get(&self, row: usize) -> u32 {
        match self {
            Self::U8(codes) => codes[row].into(),
            Self::U16(codes) => codes[row].into(),
            Self::U32(codes) => codes[row],
        }
    }
}
