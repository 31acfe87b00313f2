//! What single characters match: every set that has a name.

use super::super::properties::NAMES;
use super::{check, engine, recognise};

/// Every character once.
fn all_characters() -> String {
    (0..0x11_0000).filter_map(char::from_u32).collect()
}

#[test]
fn named_sets_hold_the_characters_that_they_hold_in_the_engine() {
    let text = all_characters();
    let properties = NAMES.iter().map(|name| format!(r"\p{{{name}}}+"));
    let negated = [r"\P{L}+", r"\p{^N}+", r"\P{^Han}+"].map(str::to_owned);
    let shorthands = ["s", "S", "d", "D", "w", "W"];
    let outside = shorthands.map(|letter| format!(r"\{letter}+"));
    let inside = shorthands.map(|letter| format!(r"[\{letter}]+"));
    let others = [r"[^\w]+", r"[\W_]+", r"[^\s\d]+", ".+"].map(str::to_owned);
    for pattern in properties
        .chain(negated)
        .chain(outside)
        .chain(inside)
        .chain(others)
    {
        let composed = recognise(&pattern).unwrap_or_else(|| panic!("{pattern}"));
        let engine = engine(&pattern);
        check(&composed, &engine, &text);
    }
}

#[test]
fn letters_and_signs_in_any_case_match_what_they_match_in_the_engine() {
    let text = all_characters();
    for char in (0..0x80).filter_map(char::from_u32).chain("’‘“。、¿".chars()) {
        let pattern = format!("(?i:{})", regex::escape(&char.to_string()));
        let Some(composed) = recognise(&pattern) else {
            assert!(char.is_ascii_control() || "&-~#".contains(char), "{char:?}");
            continue;
        };
        let engine = engine(&pattern);
        check(&composed, &engine, &text);
    }
}

/// Two letters may be one character in another case: `ß`, `ﬁ`.
#[test]
fn pairs_of_letters_in_any_case_match_what_they_match_in_the_engine() {
    let text: String = all_characters()
        .chars()
        .filter(|char| !char.is_ascii())
        .flat_map(|char| [char, '.'])
        .collect();
    let mut refused = Vec::new();
    for first in 'a'..='z' {
        for second in 'a'..='z' {
            let pattern = format!("(?i:{first}{second})");
            let Some(composed) = recognise(&pattern) else {
                refused.push(format!("{first}{second}"));
                continue;
            };
            let engine = engine(&pattern);
            check(&composed, &engine, &text);
        }
    }
    assert_eq!(refused, ["ff", "fi", "fl", "ss", "st"]);
}

#[test]
fn escaped_signs_stand_for_themselves_as_in_the_engine() {
    let text = (0..0x250).filter_map(char::from_u32).collect::<String>();
    for char in (0..0x80).filter_map(char::from_u32) {
        for pattern in [
            format!("\\{char}"),
            format!("[\\{char}]"),
            format!("[{char}]"),
            char.to_string(),
        ] {
            if let Some(composed) = recognise(&pattern) {
                let engine = engine(&pattern);
                check(&composed, &engine, &text);
            }
        }
    }
}
