//! Which split patterns have hand-written scanners, recognised by their exact text.
//!
//! Guarantee: a spelling stands here only if the scanner cuts where stock's regex engine cuts with that very spelling;
//! `tests/pre_tokenizer.rs` compares each one with the engine. Mind that a spelling may mean something else there than in
//! the engine it was written for: Oniguruma reads `{1,3}+` as a repeated `{1,3}`, not as a possessive one.

use std::ops::Range;

use super::scanner::scan;
use super::{cl100k, gpt2, o200k};

/// A split pattern that has a scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Published {
    Gpt2,
    Cl100k,
    Cl100kPossessive,
    Qwen2,
    Qwen35,
    O200k,
    Tekken,
}

/// Every spelling that has a scanner. Most come from `tokenizer.json` files; those with possessive
/// quantifiers come from tiktoken 0.14, whose patterns converters copy.
const SPELLINGS: &[(&str, Published)] = &[
    (gpt2::PATTERN, Published::Gpt2),
    (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        Published::Gpt2,
    ),
    (
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        Published::Gpt2,
    ),
    (
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        Published::Gpt2,
    ),
    (
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|",
            r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
        Published::Cl100k,
    ),
    (
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|",
            r"\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
        Published::Qwen2,
    ),
    (
        concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|",
            r"\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
        Published::Cl100k,
    ),
    (
        concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|",
            r"\s+(?!\S)|\s+",
        ),
        Published::Qwen2,
    ),
    (
        concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|",
            r"\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        ),
        Published::Cl100kPossessive,
    ),
    (
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|",
            r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
        Published::Qwen35,
    ),
    (
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|",
            r"'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|",
            r"'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
        Published::O200k,
    ),
    (
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
        Published::Tekken,
    ),
];

/// The split patterns that have hand-written scanners, in every spelling that is recognised.
pub fn published_patterns() -> impl Iterator<Item = &'static str> {
    SPELLINGS.iter().map(|(spelling, _)| *spelling)
}

impl Published {
    /// The scanner for a pattern, where there is one.
    pub(super) fn recognise(pattern: &str) -> Option<Published> {
        SPELLINGS
            .iter()
            .find(|(spelling, _)| *spelling == pattern)
            .map(|&(_, published)| published)
    }

    /// Calls `emit` for each match, first to last; the matches tile `text`.
    #[inline]
    pub(super) fn scan(self, text: &str, emit: impl FnMut(Range<usize>)) {
        match self {
            Published::Gpt2 => scan::<gpt2::Gpt2>(text, emit),
            Published::Cl100k => scan::<cl100k::Cl100k>(text, emit),
            Published::Cl100kPossessive => scan::<cl100k::Cl100kPossessive>(text, emit),
            Published::Qwen2 => scan::<cl100k::Qwen2>(text, emit),
            Published::Qwen35 => scan::<cl100k::Qwen35>(text, emit),
            Published::O200k => scan::<o200k::O200k>(text, emit),
            Published::Tekken => scan::<o200k::Tekken>(text, emit),
        }
    }
}
