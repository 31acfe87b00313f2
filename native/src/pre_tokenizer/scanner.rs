//! What the hand-written scanners share: a text with the class of its characters, runs, white space.
//!
//! Guarantee: every function is linear in the characters that it steps over, and never looks outside the text. A
//! [`Scanner`] answers one question, "where does the pretoken that starts here end", so a faster way to walk
//! over many pretokens only has to agree with it.

use std::ops::Range;

use super::classes::{Classes, LETTER, Mask, NEWLINE, SPACE};

/// A published split pattern as code. Such a pattern matches everywhere, so its matches tile the text.
pub(super) trait Scanner {
    /// The end of the match that starts at `at`, which is a character boundary before the end of the text.
    /// The result is a character boundary after `at`.
    fn end(text: &Text<'_>, at: usize) -> usize;
}

/// Calls `emit` for each match of `S`, first to last.
#[inline]
pub(super) fn scan<S: Scanner>(text: &str, mut emit: impl FnMut(Range<usize>)) {
    let text = Text::new(text);
    let mut at = 0;
    while at < text.bytes.len() {
        let end = S::end(&text, at);
        debug_assert!(end > at, "a match holds a character");
        emit(at..end);
        at = end;
    }
}

/// A text under a scanner.
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    classes: &'static Classes,
}

impl<'a> Text<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            classes: Classes::get(),
        }
    }

    /// The byte at `at`; 0 past the end, which no pattern names.
    #[inline(always)]
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The class and the length of the character at `at`; no class and no length past the end.
    #[inline(always)]
    pub(super) fn class(&self, at: usize) -> (Mask, usize) {
        match self.bytes.get(at) {
            None => (0, 0),
            Some(&byte) if byte < 0x80 => (self.classes.of_byte(byte), 1),
            Some(&lead) => self.class_of_long(at, lead),
        }
    }

    /// [`Text::class`] where `lead` begins a character of two to four bytes.
    #[inline]
    fn class_of_long(&self, at: usize, lead: u8) -> (Mask, usize) {
        let rest = |index: usize| u32::from(self.byte(at + index) & 0x3F);
        let lead = u32::from(lead);
        let (code_point, length) = match lead {
            0..0xE0 => ((lead & 0x1F) << 6 | rest(1), 2),
            0xE0..0xF0 => ((lead & 0x0F) << 12 | rest(1) << 6 | rest(2), 3),
            _ => ((lead & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3), 4),
        };
        (self.classes.of(code_point), length)
    }

    /// The end of the run of characters in `mask` that starts at `at`; `at` where there is none.
    #[inline(always)]
    pub(super) fn run(&self, mut at: usize, mask: Mask) -> usize {
        loop {
            let byte = self.byte(at);
            if self.classes.of_byte(byte) & mask != 0 && at < self.bytes.len() {
                at += 1;
            } else if byte < 0x80 {
                return at;
            } else {
                let (class, length) = self.class_of_long(at, byte);
                if class & mask == 0 {
                    return at;
                }
                at += length;
            }
        }
    }

    /// The end of `\p{N}{1,LIMIT}`, given that a number of `length` bytes stands at `at`.
    #[inline(always)]
    pub(super) fn numbers<const LIMIT: usize>(&self, at: usize, length: usize) -> usize {
        let mut end = at + length;
        let mut count = 1;
        while count < LIMIT {
            let (class, length) = self.class(end);
            if class & super::classes::NUMBER == 0 {
                break;
            }
            end += length;
            count += 1;
        }
        end
    }

    /// The white space that starts at `at`.
    #[inline]
    pub(super) fn space(&self, at: usize) -> Space {
        let mut space = Space {
            end: at,
            last: at,
            newline_end: None,
        };
        loop {
            let (class, length) = self.class(space.end);
            if class & SPACE == 0 {
                return space;
            }
            space.last = space.end;
            space.end += length;
            if class & NEWLINE != 0 {
                space.newline_end = Some(space.end);
            }
        }
    }

    /// The end of `\s+(?!\S)|\s+`: all but the last character where something follows and more than one is there.
    #[inline]
    pub(super) fn leave_last(&self, at: usize, space: &Space) -> usize {
        if space.end < self.bytes.len() && space.last > at {
            space.last
        } else {
            space.end
        }
    }

    /// Whether the text ends at `at`.
    #[inline(always)]
    pub(super) fn ends(&self, at: usize) -> bool {
        at >= self.bytes.len()
    }

    /// The end of `(?i:'s|'t|'re|'ve|'m|'ll|'d)`, given that an apostrophe stands at `at`.
    ///
    /// As in Oniguruma, `ſ` (U+017F) is an `s` here; no other character beyond ASCII folds to one of these letters.
    #[inline]
    pub(super) fn folded_contraction(&self, at: usize) -> Option<usize> {
        let second = || self.byte(at + 2) | 0x20;
        match self.byte(at + 1) | 0x20 {
            b's' | b't' | b'm' | b'd' => Some(at + 2),
            b'r' | b'v' if second() == b'e' => Some(at + 3),
            b'l' if second() == b'l' => Some(at + 3),
            _ if self.bytes[at + 1..].starts_with("ſ".as_bytes()) => Some(at + 3),
            _ => None,
        }
    }

    /// The end of the letters after one character of `length` bytes at `at`, where there are any.
    #[inline(always)]
    pub(super) fn letters_after(&self, at: usize, length: usize, letter: Mask) -> Option<usize> {
        debug_assert!(letter & LETTER != 0);
        let end = self.run(at + length, letter);
        (end > at + length).then_some(end)
    }
}

/// A maximal run of white space.
pub(super) struct Space {
    /// Where the run ends.
    pub(super) end: usize,
    /// Where its last character starts.
    pub(super) last: usize,
    /// Where its last `\r` or `\n` ends.
    pub(super) newline_end: Option<usize>,
}
