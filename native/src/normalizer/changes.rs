//! Where a step tells the characters of the new text: one description of a step serves both ways to run it.

use crate::normalized::Change;

/// Takes the characters of a new text and what became of the old ones, in the terms of [`Change`].
pub(super) trait Changes {
    /// Takes the next character.
    fn push(&mut self, char: char, change: isize);

    /// Takes characters that stay what and where they are.
    fn keep(&mut self, text: &str);
}

impl Changes for Vec<Change> {
    fn push(&mut self, char: char, change: isize) {
        Vec::push(self, (char, change));
    }

    fn keep(&mut self, text: &str) {
        self.extend(text.chars().map(|char| (char, 0)));
    }
}

/// The new text alone, and whether any of its characters stands for other than one old one.
pub(super) struct NewText {
    pub(super) text: String,
    pub(super) moves: bool,
}

impl NewText {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            moves: false,
        }
    }
}

impl Changes for NewText {
    fn push(&mut self, char: char, change: isize) {
        self.text.push(char);
        self.moves |= change != 0;
    }

    fn keep(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// Tells `changes` the characters of `text` that `keep` wants; returns how many are dropped at the start.
pub(super) fn filter(text: &str, keep: impl Fn(char) -> bool, changes: &mut impl Changes) -> usize {
    let mut kept = None;
    let mut dropped = 0;
    let mut skip = 0;
    for char in text.chars() {
        if !keep(char) {
            dropped += 1;
            continue;
        }
        match kept.replace(char) {
            Some(before) => changes.push(before, -dropped),
            None => skip = dropped.unsigned_abs(),
        }
        dropped = 0;
    }
    if let Some(last) = kept {
        changes.push(last, -dropped);
    }
    skip
}

/// Tells `changes` the characters that stand for one old character: the first replaces it, the others are inserted.
pub(super) fn spread(chars: impl IntoIterator<Item = char>, changes: &mut impl Changes) {
    for (at, char) in chars.into_iter().enumerate() {
        changes.push(char, isize::from(at > 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_characters_are_counted_with_the_one_before_them() {
        let mut changes = Vec::new();

        let skip = filter("--a-b--", |char| char != '-', &mut changes);

        assert_eq!((skip, changes), (2, vec![('a', -1), ('b', -2)]));
    }

    #[test]
    fn a_text_of_dropped_characters_leaves_nothing() {
        let mut changes = Vec::new();

        assert_eq!(filter("--", |char| char != '-', &mut changes), 0);
        assert_eq!(changes, []);
    }
}
