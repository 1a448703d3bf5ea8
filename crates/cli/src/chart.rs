//! Bars and columns in block characters.

/// Blocks filled by eighths, from empty to full.
const ACROSS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const UP: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar of `width` characters, filled to `share`.
pub(crate) fn bar(share: f64, width: usize) -> String {
    blocks(eighths(share, width))
}

/// A bar of a length in eighths of a character.
pub(crate) fn blocks(eighths: usize) -> String {
    let mut bar: String = std::iter::repeat_n(ACROSS[8], eighths / 8).collect();
    if !eighths.is_multiple_of(8) {
        bar.push(ACROSS[eighths % 8]);
    }
    bar
}

fn eighths(share: f64, blocks: usize) -> usize {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * blocks as f64 * 8.0).round() as usize;
    // A nonzero share stays visible.
    if share > 0.0 { eighths.max(1) } else { 0 }
}

/// One column per value, scaled to `most`; a missing value leaves a gap. Returns `rows` lines from the top.
pub(crate) fn columns(values: &[Option<f64>], most: f64, rows: usize) -> Vec<String> {
    let height = |value: &Option<f64>| value.map_or(0, |v| eighths(if most > 0.0 { v / most } else { 0.0 }, rows));
    let heights: Vec<usize> = values.iter().map(height).collect();
    let line = |row: usize| heights.iter().map(|h| UP[h.saturating_sub(row * 8).min(8)]).collect();
    (0..rows).rev().map(line).collect()
}

/// Reduces to at most `width` values: each is the maximum of adjacent ones.
pub(crate) fn fit(values: &[Option<f64>], width: usize) -> Vec<Option<f64>> {
    let each = values.len().div_ceil(width.max(1)).max(1);
    values.chunks(each).map(|chunk| chunk.iter().flatten().copied().reduce(f64::max)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!([bar(1.0, 2), bar(0.5, 2), bar(0.25, 1), bar(0.0, 4)], ["██", "█", "▎", ""]);
        assert_eq!([bar(1e-9, 8), bar(f64::NAN, 8), bar(7.0, 1)], ["▏", "", "█"]);
    }

    #[test]
    fn columns_are_as_high_as_their_share() {
        assert_eq!(columns(&[Some(4.0), Some(2.0), None, Some(1.0)], 4.0, 2), ["█   ", "██ ▄"]);
        assert_eq!(fit(&[Some(1.0), Some(3.0), None, None, Some(2.0)], 3), [Some(3.0), None, Some(2.0)]);
    }
}
