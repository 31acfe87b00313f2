//! Bytes that come in parts, as text.
//!
//! Guarantee: what all parts and the flush return is, put together, [`String::from_utf8_lossy`] of all bytes, wherever they
//! are cut. Each byte is looked at once, but for the at most three of a character that isn't complete yet.

/// Turns bytes that come in parts into text; bytes that can never become a character become U+FFFD, as in
/// [`String::from_utf8_lossy`].
#[derive(Debug, Clone, Default)]
pub struct Utf8Stream {
    /// The start of a character whose other bytes haven't come yet.
    tail: Vec<u8>,
}

impl Utf8Stream {
    /// Appends to `text` all that is certain after `bytes`.
    pub fn push(&mut self, bytes: &[u8], text: &mut String) {
        let rest = self.finish_tail(bytes, text);
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            if chunks.peek().is_none() && is_incomplete(chunk.invalid()) {
                self.tail.extend_from_slice(chunk.invalid());
            } else if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    /// Ends the text: a character that stayed incomplete becomes U+FFFD.
    pub fn flush(&mut self, text: &mut String) {
        if !self.tail.is_empty() {
            self.tail.clear();
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// Adds bytes to the tail until it is a character or can't become one; returns the bytes that are left.
    fn finish_tail<'a>(&mut self, mut bytes: &'a [u8], text: &mut String) -> &'a [u8] {
        while let (false, Some((&next, rest))) = (self.tail.is_empty(), bytes.split_first()) {
            self.tail.push(next);
            match std::str::from_utf8(&self.tail) {
                Ok(char) => text.push_str(char),
                Err(error) if error.error_len().is_none() => {
                    bytes = rest;
                    continue;
                }
                // The byte doesn't belong to the tail: it may begin something of its own.
                Err(_) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.tail.clear();
                    return bytes;
                }
            }
            self.tail.clear();
            bytes = rest;
        }
        bytes
    }
}

/// Whether `bytes`, which begin no valid character, may still become one.
fn is_incomplete(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small steps of a linear congruential generator: the same cases in every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((self.0 >> 33) as usize) % limit
        }
    }

    fn in_parts(parts: &[&[u8]]) -> Vec<String> {
        let mut stream = Utf8Stream::default();
        let mut texts: Vec<String> = Vec::new();
        for part in parts {
            let mut text = String::new();
            stream.push(part, &mut text);
            texts.push(text);
        }
        let mut rest = String::new();
        stream.flush(&mut rest);
        texts.push(rest);
        texts
    }

    #[test]
    fn a_character_comes_out_with_its_last_byte() {
        let emoji = "😀".as_bytes();

        assert_eq!(
            in_parts(&[&emoji[..1], &emoji[1..2], &emoji[2..3], &emoji[3..]]),
            ["", "", "", "😀", ""]
        );
        assert_eq!(in_parts(&[&emoji[..3], b" a"]), ["", "\u{fffd} a", ""]);
        assert_eq!(in_parts(&[b"\xff", b" a"]), ["\u{fffd}", " a", ""]);
        assert_eq!(in_parts(&[&emoji[..2]]), ["", "\u{fffd}"]);
        assert_eq!(
            in_parts(&[b"", b"\xe2", b"", b"\xe2\xad", b"\xa2x"]),
            ["", "", "", "\u{fffd}", "⭢x", ""]
        );
    }

    #[test]
    fn parts_of_any_bytes_make_the_whole() {
        // Bytes that begin, continue and break characters at every place, then any.
        let telling = b"a \x80\x9f\xa0\xbf\xc0\xc2\xdf\xe0\xe2\xed\xef\xf0\xf1\xf4\xf5\xff";
        let mut random = Random(42);
        for case in 0..20_000 {
            let bytes: Vec<u8> = (0..random.below(12))
                .map(|_| match case % 4 {
                    0 => random.below(256) as u8,
                    _ => telling[random.below(telling.len())],
                })
                .collect();
            let mut parts: Vec<&[u8]> = Vec::new();
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (part, later) = rest.split_at(random.below(rest.len() + 1));
                parts.push(part);
                rest = later;
            }

            assert_eq!(
                in_parts(&parts).concat(),
                String::from_utf8_lossy(&bytes),
                "{parts:x?}"
            );
        }
    }

    #[test]
    fn nothing_certain_is_held_back() {
        let text = "a é ⭢ 😀 \u{10ffff}";
        let mut stream = Utf8Stream::default();
        let mut out = String::new();

        for (at, byte) in text.bytes().enumerate() {
            stream.push(&[byte], &mut out);
            let whole = (0..=at + 1)
                .rev()
                .find(|&end| text.is_char_boundary(end))
                .unwrap();
            assert_eq!(out, text[..whole]);
        }
    }
}
