//! The common prefix of two texts or keys.

/// Bytes at the start that both share.
pub(crate) fn shared(a: &[u8], b: &[u8]) -> usize {
    const WORD: usize = 8;
    let (words, others) = (a.as_chunks::<WORD>().0, b.as_chunks::<WORD>().0);
    let alike = words.iter().zip(others).take_while(|(a, b)| a == b).count() * WORD;
    alike + a[alike..].iter().zip(&b[alike..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_at_any_byte() {
        let text = *b"a prefix of several words";
        for length in 0..=text.len() {
            assert_eq!(shared(&text, &text[..length]), length);
            assert_eq!(shared(&text[..length], &text), length);
            let mut other = text;
            if let Some(byte) = other.get_mut(length) {
                *byte = b'-';
                assert_eq!(shared(&text, &other), length);
            }
        }
    }
}
