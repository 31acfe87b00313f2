//! The names in `\p{…}` that are known.
//!
//! Guarantee: each one means the same characters to Oniguruma 6.9.10 and to the crate `regex-syntax`, which both hold Unicode
//! 16; a test compares all of them, code point by code point.

use regex_syntax::hir::{Class, HirKind};

use super::node::{Set, complement, range};

/// General categories and scripts, as both spell them.
#[rustfmt::skip]
pub(super) const NAMES: &[&str] = &[
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No",
    "P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs",
    "C", "Cc", "Cf", "Cn", "Co",
    "Letter", "Mark", "Number", "Punctuation", "Symbol", "Separator", "Alphabetic", "Emoji", "White_Space",
    "Arabic", "Armenian", "Bengali", "Bopomofo", "Common", "Cyrillic", "Devanagari", "Ethiopic", "Georgian",
    "Greek", "Gujarati", "Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Inherited", "Kannada",
    "Katakana", "Khmer", "Lao", "Latin", "Malayalam", "Mongolian", "Myanmar", "Oriya", "Sinhala", "Tamil",
    "Telugu", "Thai", "Tibetan", "Yi",
];

/// The characters of `\p{name}`.
pub(super) fn property(name: &str) -> Option<Set> {
    NAMES.contains(&name).then(|| class(&format!(r"\p{{{name}}}")))
}

/// The characters of `\s`, `\d` or `\w`, or of their opposites by the capital letter.
///
/// Up to U+00FF the engine has a second table for `\w`, which counts these numbers as well; it reads that outside of
/// brackets only.
pub(super) fn shorthand(letter: char, in_brackets: bool) -> Option<Set> {
    let set = match letter.to_ascii_lowercase() {
        's' => class(r"\s"),
        'd' => class(r"\d"),
        // `regex-syntax` counts joiners as well.
        'w' if in_brackets => class(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]"),
        'w' => class(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾]"),
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() {
        complement(&set)
    } else {
        set
    })
}

/// The forms of a letter in any case: the small one, the capital, and what else folds to it.
pub(super) fn folded(letter: char) -> Set {
    let mut set = range(letter.to_ascii_lowercase(), letter.to_ascii_lowercase());
    let capital = letter.to_ascii_uppercase();
    set.union(&range(capital, capital));
    match letter.to_ascii_lowercase() {
        's' => set.union(&range('ſ', 'ſ')),
        'k' => set.union(&range('\u{212A}', '\u{212A}')),
        _ => {}
    }
    set
}

fn class(pattern: &str) -> Set {
    let hir = regex_syntax::parse(pattern).expect("the names above are known");
    let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
        unreachable!("the classes above hold more than one character");
    };
    class.clone()
}
