//! Composed patterns against the stock library's regex engine.

mod random;
mod recognised;
mod sets;

use std::ops::Range;

use super::Composed;
use crate::pattern::{Finder, Pattern};

/// A text in ranges, each with whether it is a match.
type Found = Vec<(Range<usize>, bool)>;

fn recognise(pattern: &str) -> Option<Composed> {
    Composed::recognise("split pattern", pattern)
}

fn found(composed: &Composed, text: &str) -> Found {
    let mut found = Vec::new();
    composed
        .find(text, |range, is_match| found.push((range, is_match)))
        .unwrap();
    found
}

/// What the engine finds, with the text between; nothing where it takes too long.
fn found_by_engine(engine: &Finder, text: &str) -> Option<Found> {
    let mut found = Vec::new();
    engine
        .find(text, |range, is_match| found.push((range, is_match)))
        .ok()?;
    Some(found)
}

fn engine(pattern: &str) -> Finder {
    Finder::new("split pattern", &Pattern::Regex(pattern.to_owned()))
        .unwrap_or_else(|error| panic!("{pattern}: {error}"))
}

/// Compares a pattern that is recognised with the engine.
fn check(composed: &Composed, engine: &Finder, text: &str) {
    if let Some(expected) = found_by_engine(engine, text) {
        assert!(
            found(composed, text) == expected,
            "{:?} by {}: {:?} {expected:?}",
            shortened(text),
            composed.pattern,
            found(composed, text)
        );
    }
}

/// Compares a pattern whose automaton gives up after `again` bytes with the engine.
fn check_hand_over(composed: &Composed, engine: &Finder, text: &str, again: usize) {
    if let Some(expected) = found_by_engine(engine, text) {
        let mut found = Vec::new();
        composed
            .find_within(text, again, |range, is_match| found.push((range, is_match)))
            .unwrap();
        assert_eq!(found, expected, "{text:?} by {} within {again}", composed.pattern);
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(50).collect()
}
