//! `NFC`, `NFD`, `NFKC` and `NFKD`.
//!
//! The tables are those of stock (about Unicode 12), by the same crate: U+32FF, newer than they are, stays as it is.
//!
//! Nearly all characters of nearly all texts are [inert](inert): only the stretches between are looked into, and one
//! that changes leaves the rest of a megabyte alone.

mod inert;
#[cfg(test)]
mod tests;

use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::changes::Changes;

/// A Unicode normalization form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

impl Form {
    /// Whether a quick check is sure that `text` is in this form already.
    pub(super) fn surely_keeps(self, text: &str) -> bool {
        text.is_ascii() || self.doubtful(text).all(|range| self.quick_check(&text[range]))
    }

    /// Tells `changes` the new text.
    pub(super) fn rewrite(self, text: &str, changes: &mut impl Changes) {
        let mut done = 0;
        for range in self.doubtful(text) {
            if !self.quick_check(&text[range.clone()]) {
                changes.keep(&text[done..range.start]);
                self.rewrite_whole(&text[range.clone()], changes);
                done = range.end;
            }
        }
        changes.keep(&text[done..]);
    }

    fn quick_check(self, text: &str) -> bool {
        let answer = match self {
            Self::Nfc => is_nfc_quick(text.chars()),
            Self::Nfd => is_nfd_quick(text.chars()),
            Self::Nfkc => is_nfkc_quick(text.chars()),
            Self::Nfkd => is_nfkd_quick(text.chars()),
        };
        answer == IsNormalized::Yes
    }

    fn rewrite_whole(self, text: &str, changes: &mut impl Changes) {
        let push = |(char, change)| changes.push(char, change);
        match self {
            Self::Nfc => text.nfc().for_each(push),
            Self::Nfd => text.nfd().for_each(push),
            Self::Nfkc => text.nfkc().for_each(push),
            Self::Nfkd => text.nfkd().for_each(push),
        }
    }
}
