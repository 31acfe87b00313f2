//! A pattern as a tree of known parts.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// A set of characters.
pub(super) type Set = ClassUnicode;

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// One character of a set. `folded` has a bit for each letter a to z that stands for itself in any case.
    One { set: Set, folded: u32 },
    /// No character: what follows is one of the set, or the end of the text if `or_end`.
    Look { set: Set, or_end: bool },
    /// Parts in a row.
    Row(Vec<Node>),
    /// Alternatives; the first that leads to a match wins.
    Any(Vec<Node>),
    /// At least `min` and at most `max` of a part, as many as possible if `greedy`.
    Repeat {
        part: Box<Node>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
}

/// The set of the characters from `first` to `last`.
pub(super) fn range(first: char, last: char) -> Set {
    Set::new([ClassUnicodeRange::new(first, last)])
}

/// All characters but those of `set`.
pub(super) fn complement(set: &Set) -> Set {
    let mut set = set.clone();
    set.negate();
    set
}

impl Node {
    /// One character of a set.
    pub(super) fn one(set: Set) -> Self {
        Self::One { set, folded: 0 }
    }

    /// `(?!…)` of one character of a set.
    pub(super) fn not_followed_by(set: &Set) -> Self {
        Self::Look {
            set: complement(set),
            or_end: true,
        }
    }

    /// Whether this matches the empty text.
    pub(super) fn is_nullable(&self) -> bool {
        match self {
            Self::One { .. } => false,
            Self::Look { .. } => true,
            Self::Row(parts) => parts.iter().all(Self::is_nullable),
            Self::Any(parts) => parts.iter().any(Self::is_nullable),
            Self::Repeat { part, min, .. } => *min == 0 || part.is_nullable(),
        }
    }

    /// What a look ahead for this asks of the next character: its set, and whether the end of the text will do.
    pub(super) fn as_look(&self) -> Option<(Set, bool)> {
        match self {
            Self::One { set, folded: 0 } => Some((set.clone(), false)),
            Self::Look { set, or_end } => Some((set.clone(), *or_end)),
            Self::Any(parts) => parts
                .iter()
                .try_fold((Set::empty(), false), |(mut set, end), part| {
                    let (more, or_end) = part.as_look()?;
                    set.union(&more);
                    Some((set, end || or_end))
                }),
            Self::Repeat { part, min: 1, .. } => part.as_look(),
            _ => None,
        }
    }

    /// The set of this, if it is one character whatever the text: `[ab]`, `(?:a|b)`.
    pub(super) fn as_set(&self) -> Option<Set> {
        match self {
            Self::One { set, folded: 0 } => Some(set.clone()),
            Self::Any(parts) => parts.iter().try_fold(Set::empty(), |mut set, part| {
                set.union(&part.as_set()?);
                Some(set)
            }),
            _ => None,
        }
    }

    /// Whether two letters in any case may stand side by side that *one* character stands for as well: `ß` for `ss`, `ﬁ` for `fi`.
    ///
    /// The engine finds that character, too, so such patterns aren't for an automaton that steps from letter to letter.
    pub(super) fn folds_pairs(&self) -> bool {
        match self {
            Self::One { .. } | Self::Look { .. } => false,
            Self::Any(parts) => parts.iter().any(Self::folds_pairs),
            Self::Repeat { part, .. } => part.folds_pairs() || makes_pair(part.edge(true), part.edge(false)),
            Self::Row(parts) => {
                let mut before = 0;
                parts.iter().any(|part| {
                    let pair = part.folds_pairs() || makes_pair(before, part.edge(false));
                    let kept = if part.is_nullable() { before } else { 0 };
                    before = kept | part.edge(true);
                    pair
                })
            }
        }
    }

    /// The folded letters that this may begin with, or end with if `last`.
    fn edge(&self, last: bool) -> u32 {
        match self {
            Self::One { folded, .. } => *folded,
            Self::Look { .. } => 0,
            Self::Any(parts) => parts.iter().fold(0, |letters, part| letters | part.edge(last)),
            Self::Repeat { part, .. } => part.edge(last),
            Self::Row(parts) => {
                let mut letters = 0;
                let mut index = 0..parts.len();
                while let Some(at) = if last { index.next_back() } else { index.next() } {
                    letters |= parts[at].edge(last);
                    if !parts[at].is_nullable() {
                        break;
                    }
                }
                letters
            }
        }
    }
}

/// The bit of a letter, small or capital; none for any other character.
pub(super) fn letter_bit(char: char) -> u32 {
    if char.is_ascii_alphabetic() {
        1 << (char.to_ascii_lowercase() as u32 - 'a' as u32)
    } else {
        0
    }
}

/// Whether a letter of `first` and one of `second` are a full case folding: `ss`, `st`, `ff`, `fi` or `fl`.
fn makes_pair(first: u32, second: u32) -> bool {
    [('s', "st"), ('f', "fil")].iter().any(|&(one, others)| {
        first & letter_bit(one) != 0 && others.chars().any(|other| second & letter_bit(other) != 0)
    })
}
