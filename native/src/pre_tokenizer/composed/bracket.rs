//! Reads a character class in brackets: `[^\s\p{L}\p{N}]`, `[一-龥]`, `[\p{L}&&[^\p{Han}]]`.
//!
//! Guarantee: as in `parser`; a hyphen that is neither a range's nor first or last, POSIX classes and empty classes are refused.

use super::node::{Set, letter_bit, range};
use super::parser::{Escape, Parser};

/// The set of a class whose `[` has been read, and the letters in it that stand for any case.
pub(super) fn read(parser: &mut Parser<'_>) -> Option<(Set, u32)> {
    parser.enter()?;
    let negated = parser.eat("^");
    // What a negated class in any case leaves out is fine print.
    if negated && parser.folds {
        return None;
    }
    let mut letters = 0;
    let mut set = union(parser, &mut letters)?;
    while parser.eat("&&") {
        if parser.folds {
            return None;
        }
        set.intersect(&union(parser, &mut letters)?);
    }
    if !parser.eat("]") {
        return None;
    }
    parser.leave();
    if negated {
        set.negate();
    }
    (!set.ranges().is_empty()).then_some((set, letters))
}

/// Everything up to a `]` or an `&&`: at least one item.
fn union(parser: &mut Parser<'_>, letters: &mut u32) -> Option<Set> {
    let mut set = Set::empty();
    let mut is_first = true;
    while !at_end(parser) {
        set.union(&item(parser, letters, is_first)?);
        is_first = false;
    }
    (!is_first).then_some(set)
}

fn at_end(parser: &Parser<'_>) -> bool {
    parser.peek().is_none_or(|next| next == ']') || parser.starts_with("&&")
}

fn item(parser: &mut Parser<'_>, letters: &mut u32, is_first: bool) -> Option<Set> {
    let first = match parser.next()? {
        '[' if parser.folds || parser.peek() == Some(':') => return None,
        '[' => return read(parser).map(|(set, _)| set),
        '\\' => match parser.escape(true)? {
            Escape::Set(_) if parser.folds || parser.peek() == Some('-') => return None,
            Escape::Set(set) => return Some(set),
            Escape::Char(char) => char,
        },
        '-' if !is_first && parser.peek() != Some(']') => return None,
        char => char,
    };
    if !parser.starts_with("-") || parser.starts_with("-]") {
        *letters |= if parser.folds { letter_bit(first) } else { 0 };
        return parser.char_set(first);
    }
    parser.next();
    let last = match parser.next()? {
        '[' | ']' | '-' | '&' => return None,
        '\\' => match parser.escape(true)? {
            Escape::Char(char) => char,
            Escape::Set(_) => return None,
        },
        char => char,
    };
    // After a range, a hyphen is fine print unless it is last.
    let refused = parser.folds || first > last || (parser.starts_with("-") && !parser.starts_with("-]"));
    (!refused).then(|| range(first, last))
}
