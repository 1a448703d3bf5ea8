//! What a column chunk has beside its values.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extras {
    /// Statistics of the chunk and its pages.
    pub(crate) statistics: bool,
    pub(crate) bloom: bool,
    pub(crate) page_rows: usize,
    /// Pages of times end with an hour where they can.
    pub(crate) by_hour: bool,
    /// Pages end before they hold values of more bytes, or with the first.
    pub(crate) page_bytes: usize,
}
