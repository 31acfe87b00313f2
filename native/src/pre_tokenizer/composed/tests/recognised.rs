//! Which patterns are composed of known parts, and what becomes of them on long texts.

use std::time::{Duration, Instant};

use super::{check, engine, recognise};
use crate::pre_tokenizer::published_patterns;

/// Patterns that people use, or would: other numbers, other letters, no contractions, and those of other families.
const RECOGNISED: &[&str] = &[
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
];

#[test]
fn published_patterns_are_recognised_and_find_the_same() {
    let text = "It's a DÉJÀ-VU  of 12345\n\n\tthe 漢字かな e\u{301}!?\r\n 'LL ſ'ſ  ";
    for pattern in published_patterns() {
        let composed = recognise(pattern).unwrap_or_else(|| panic!("{pattern}"));
        let engine = engine(pattern);
        check(&composed, &engine, text);
    }
}
