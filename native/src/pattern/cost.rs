//! What a regular expression can cost, judged by its form; never what it matches.
//!
//! Guarantee: a wrong judgement costs time, never a match. The judge reads the pattern as the crate `regex-syntax` does, which is
//! close enough to Oniguruma for this.

use regex_syntax::hir::{Hir, HirKind};

/// Counts above this are as good as unbounded.
const FEW: u32 = 100;

/// Whether a search for `pattern` surely takes time linear in the text that it passes over.
///
/// It does where each alternative has at most one unbounded repeat, at its very end: nothing can fail after that repeat,
/// so what it stepped over belongs to the match. ` *\n` isn't of this form: on a run of spaces without a newline each
/// space is a place to start from, and each start steps over the rest of the run.
pub(super) fn is_linear(pattern: &str) -> bool {
    regex_syntax::parse(pattern).is_ok_and(|hir| repeats_at_the_end(&hir))
}

/// Whether a search for `pattern` equals tries at one place after the other.
///
/// Not so with `\G`, which asks where the search started, with the control verbs `(*…)`, and with options such as `(?L)`,
/// longest match.
pub(super) fn is_local(pattern: &str) -> bool {
    let known_options = |group: &str| {
        let end = group.find([':', ')']).unwrap_or(group.len());
        !group.starts_with(|first: char| first == '-' || first.is_ascii_alphabetic())
            || group[..end].chars().all(|option| "imxs-".contains(option))
    };
    !pattern.contains(r"\G")
        && !pattern.contains("(*")
        && !pattern.contains("(?{")
        && pattern.split("(?").skip(1).all(known_options)
}

fn repeats_at_the_end(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repeat) if repeat.max.is_none() => repeat.min <= FEW && is_bounded(&repeat.sub),
        HirKind::Capture(capture) => repeats_at_the_end(&capture.sub),
        HirKind::Alternation(alternatives) => alternatives.iter().all(repeats_at_the_end),
        HirKind::Concat(parts) => match parts.split_last() {
            Some((last, before)) => before.iter().all(is_bounded) && repeats_at_the_end(last),
            None => true,
        },
        _ => is_bounded(hir),
    }
}

fn is_bounded(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => true,
        HirKind::Repetition(repeat) => repeat.max.is_some_and(|max| max <= FEW) && is_bounded(&repeat.sub),
        HirKind::Capture(capture) => is_bounded(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(is_bounded),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_linear, is_local};

    #[test]
    fn patterns_of_real_tokenizers_are_judged_by_their_last_repeat() {
        for pattern in [
            r"\p{N}{1,3}",
            "[一-龥぀-ゟ゠-ヿ]+",
            r"\n+",
            r" ?\p{L}+|\d",
            "(a|b)*",
            "",
        ] {
            assert!(is_linear(pattern), "{pattern}");
        }
        for pattern in [
            r" *\n",
            r"\s+(?!\S)",
            "(?>a+)b",
            "(a+)+",
            "(a+)*",
            "a++",
            "a{1000}b",
            "(?=a*b)a",
            "a*b*",
        ] {
            assert!(!is_linear(pattern), "{pattern}");
        }
    }

    #[test]
    fn what_looks_at_the_start_of_the_search_is_not_local() {
        for pattern in [r"\Ga", "a(*SKIP)", "(?L)a|ab", "(?iL:a)", "(?{x})a", "(?i-L)a"] {
            assert!(!is_local(pattern), "{pattern}");
        }
        for pattern in [
            "(?i:'s)|a",
            "(?i)a",
            "(?:a)",
            "(?<=a)b",
            "(?!a)",
            "(?<name>a)",
            "(?-i:a)",
            "(?>a)",
        ] {
            assert!(is_local(pattern), "{pattern}");
        }
    }
}
