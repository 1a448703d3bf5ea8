//! How large a body and its parts may be.

/// Limits on a body. An item over a limit is refused, or the body if no single item is at fault.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a body as sent.
    pub body_bytes_max: usize,
    /// Bytes of a decompressed body, and of all texts of an Arrow stream.
    pub expanded_bytes_max: usize,
    /// Maximum growth of a compressed body beyond 1 MiB, as a multiple of its size.
    pub ratio_max: usize,
    /// Tables per body.
    pub tables_max: usize,
    /// Columns per table, without `time`.
    pub columns_max: usize,
    /// Values of all tables of a body, including NULLs: rows times columns. A value takes about 8 bytes.
    pub cells_max: usize,
    /// Levels of a JSON object, including the line's own.
    pub depth_max: usize,
    /// Bytes of a table's name.
    pub table_bytes_max: usize,
    /// Bytes of a column's name.
    pub name_bytes_max: usize,
    pub text_bytes_max: usize,
    /// Refused items to report one by one; the others are counted.
    pub refused_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 32 << 20,
            expanded_bytes_max: 128 << 20,
            ratio_max: 100,
            tables_max: 1_000,
            columns_max: 1_000,
            cells_max: 16 << 20,
            depth_max: 8,
            table_bytes_max: 128,
            name_bytes_max: 256,
            text_bytes_max: 1 << 20,
            refused_max: 100,
        }
    }
}
