//! Warnings about steps that look for what an earlier `ByteLevel` has hidden.
//!
//! After a `ByteLevel` a text is written in the byte alphabet: a space is `Ġ`, `é` is `Ã©`, and only printable ASCII still is what
//! it was. Stock runs the steps in that order without a word, and so does this crate; but it says so.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::{SplitPattern, Step};

/// What the byte alphabet leaves as it is.
const SHOWN: std::ops::RangeInclusive<char> = '!'..='~';

/// The warnings about `steps`, each with its kind and its JSON path.
pub(super) fn warnings(steps: &[(Step, String)]) -> Vec<String> {
    let byte_level = steps
        .iter()
        .position(|(step, _)| matches!(step, Step::ByteLevel(_)));
    let after = byte_level.map_or(steps.len(), |first| first + 1);
    let hidden = |(step, path): &(Step, String)| {
        looks_for_hidden(step).map(|kind| {
            format!(
                "{path}: this '{kind}' comes after a 'ByteLevel', so it sees the byte alphabet, where a space is 'Ġ' and \
                 'é' is 'Ã©'; put it before the 'ByteLevel' to cut the text itself"
            )
        })
    };
    steps[after..].iter().filter_map(hidden).collect()
}

/// The kind of `step`, if it cuts a text otherwise than the byte alphabet's spelling of it.
fn looks_for_hidden(step: &Step) -> Option<&'static str> {
    match step {
        Step::Split(split) if !is_shown(split.pattern()) => Some("Split"),
        Step::CharDelimiterSplit(step) if !SHOWN.contains(&step.delimiter) => Some("CharDelimiterSplit"),
        Step::Metaspace(_) => Some("Metaspace"),
        Step::Whitespace => Some("Whitespace"),
        Step::WhitespaceSplit => Some("WhitespaceSplit"),
        Step::BertPreTokenizer => Some("BertPreTokenizer"),
        Step::UnicodeScripts => Some("UnicodeScripts"),
        _ => None,
    }
}

/// Whether `pattern` speaks of printable ASCII only, such as `[0-9]{3}`; unsure is no.
fn is_shown(pattern: &SplitPattern) -> bool {
    match pattern {
        SplitPattern::String(text) => text.chars().all(|char| SHOWN.contains(&char)),
        SplitPattern::Regex(regex) => regex_syntax::parse(regex).is_ok_and(|hir| names_only_shown(&hir)),
    }
}

fn names_only_shown(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty => true,
        HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.iter().all(|&byte| SHOWN.contains(&char::from(byte))),
        HirKind::Class(Class::Unicode(class)) => class
            .ranges()
            .iter()
            .all(|range| SHOWN.contains(&range.start()) && SHOWN.contains(&range.end())),
        HirKind::Class(Class::Bytes(_)) => false,
        HirKind::Repetition(repeat) => names_only_shown(&repeat.sub),
        HirKind::Capture(capture) => names_only_shown(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(names_only_shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regex(pattern: &str) -> bool {
        is_shown(&SplitPattern::Regex(pattern.to_owned()))
    }

    #[test]
    fn printable_ascii_is_the_same_in_the_byte_alphabet() {
        assert!(regex("[0-9][0-9][0-9]") && regex("a|(b+)") && regex("~"));
        assert!(is_shown(&SplitPattern::String("a-b".to_owned())));
    }

    #[test]
    fn all_else_is_hidden() {
        for pattern in [r"\s+", "é", "[^a]", ".", " a", r"\p{L}", r"\bx", "(?!a)b", r"\d"] {
            assert!(!regex(pattern), "{pattern}");
        }
        assert!(!is_shown(&SplitPattern::String("a b".to_owned())));
    }
}
