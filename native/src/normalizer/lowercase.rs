//! `Lowercase`: each character by itself, so a final sigma is an ordinary one.

use super::changes::{Changes, spread};

/// Whether `text` has no character with another lower case.
pub(super) fn keeps(text: &str) -> bool {
    text.chars().all(|char| match char.is_ascii() {
        true => !char.is_ascii_uppercase(),
        false => char.to_lowercase().eq([char]),
    })
}

/// Tells `changes` the lower case of `text`.
pub(super) fn rewrite(text: &str, changes: &mut impl Changes) {
    for char in text.chars() {
        match char.is_ascii() {
            true => changes.push(char.to_ascii_lowercase(), 0),
            false => spread(char.to_lowercase(), changes),
        }
    }
}
