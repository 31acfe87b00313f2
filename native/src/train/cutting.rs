//! Pretokens that are too long, cut into parts.
//!
//! Guarantee: parts are cut between characters, are as long as allowed, and make up the pretoken. A pretoken that
//! isn't UTF-8 is cut between bytes.

use std::sync::atomic::{AtomicU64, Ordering};

/// How long pretokens may be, and how many were longer.
#[derive(Debug)]
pub struct Cutting {
    longest: usize,
    cut: AtomicU64,
}

impl Default for Cutting {
    /// Of any length.
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl Cutting {
    /// Pretokens of at most `longest` bytes, or of one character.
    pub fn new(longest: usize) -> Self {
        let cut = AtomicU64::new(0);
        Self { longest, cut }
    }

    /// Calls `visit` with `pretoken`, or with its parts in order.
    #[inline]
    pub fn parts(&self, pretoken: &[u8], visit: &mut dyn FnMut(&[u8])) {
        if pretoken.len() <= self.longest {
            return visit(pretoken);
        }
        self.cut.fetch_add(1, Ordering::Relaxed);
        let mut rest = pretoken;
        while rest.len() > self.longest {
            let (part, after) = rest.split_at(end_of_part(rest, self.longest));
            visit(part);
            rest = after;
        }
        if !rest.is_empty() {
            visit(rest);
        }
    }

    /// Takes the next `bytes` of a pretoken that comes bit by bit, and calls `visit` with the parts that are sure by now.
    pub fn extend(&self, open: &mut OpenPretoken, bytes: &[u8], visit: &mut dyn FnMut(&[u8])) {
        open.rest.extend_from_slice(bytes);
        let mut start = 0;
        while open.rest.len() - start > self.longest {
            if !open.is_cut {
                open.is_cut = true;
                self.cut.fetch_add(1, Ordering::Relaxed);
            }
            let rest = &open.rest[start..];
            let end = end_of_part(rest, self.longest);
            visit(&rest[..end]);
            start += end;
        }
        open.rest.drain(..start);
    }

    /// Calls `visit` with the last part of a pretoken that came bit by bit.
    pub fn finish(&self, open: OpenPretoken, visit: &mut dyn FnMut(&[u8])) {
        if !(open.is_cut && open.rest.is_empty()) {
            visit(&open.rest);
        }
    }

    /// How many pretokens were cut.
    pub fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }
}

/// What is left of a pretoken that comes bit by bit: at most as much as one part has.
#[derive(Debug, Default)]
pub struct OpenPretoken {
    rest: Vec<u8>,
    is_cut: bool,
}

/// The last border of characters in `rest` up to `longest`, or the first one behind.
fn end_of_part(rest: &[u8], longest: usize) -> usize {
    let is_border = |&at: &usize| rest.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
    // A character has four bytes: what has more of the same kind isn't UTF-8.
    let before = (longest.saturating_sub(3).max(1)..=longest).rev().find(is_border);
    let behind = || (longest.max(1)..=4).find(is_border);
    before.or_else(behind).unwrap_or(longest.max(1)).min(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &[u8], longest: usize) -> (Vec<Vec<u8>>, u64) {
        let (cutting, mut parts) = (Cutting::new(longest), Vec::new());
        cutting.parts(text, &mut |part| parts.push(part.to_vec()));
        (parts, cutting.cut())
    }

    #[test]
    fn parts_are_cut_between_characters() {
        assert_eq!(parts(b"abcd", 4), (vec![b"abcd".to_vec()], 0));
        assert_eq!(
            parts("aé語b".as_bytes(), 4).0,
            ["aé", "語b"].map(|part| part.as_bytes().to_vec())
        );
        assert_eq!(parts("語語".as_bytes(), 1), (vec!["語".into(), "語".into()], 1));
        assert_eq!(
            parts("🙂🙂a".as_bytes(), 0).0,
            ["🙂", "🙂", "a"].map(|part| part.as_bytes().to_vec())
        );
        assert_eq!(parts(b"", 0), (vec![vec![]], 0));
    }

    #[test]
    fn a_pretoken_that_comes_bit_by_bit_has_the_same_parts() {
        for text in ["", "abcdefgh", "aé語b🙂🙂a", "語語語語", "é"] {
            for (longest, size) in (0..12).flat_map(|longest| (1..9).map(move |size| (longest, size))) {
                let (cutting, mut found) = (Cutting::new(longest), Vec::new());
                let mut open = OpenPretoken::default();
                // In bits of whole characters, as a text comes.
                let chars: Vec<char> = text.chars().collect();
                for bit in chars.chunks(size) {
                    let bit: String = bit.iter().collect();
                    cutting.extend(&mut open, bit.as_bytes(), &mut |part| found.push(part.to_vec()));
                }
                cutting.finish(open, &mut |part| found.push(part.to_vec()));
                assert_eq!(
                    (found, cutting.cut()),
                    parts(text.as_bytes(), longest),
                    "{text:?} {longest} {size}"
                );
            }
        }
    }

    #[test]
    fn parts_of_any_bytes_are_as_long_as_allowed() {
        for longest in 1..12 {
            let (found, cut) = parts(&[0x80; 50], longest);
            assert_eq!((found.concat().len(), cut), (50, 1));
            assert!(
                found
                    .iter()
                    .all(|part| !part.is_empty() && part.len() <= longest.max(4))
            );
        }
    }
}
