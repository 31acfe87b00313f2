//! One walk of an automaton over a text, from match to match.

use std::ops::Range;

use super::alphabet::Alphabet;
use super::automaton::{Automaton, BACK, CUT, Entry, MARK, ROW, SKIP, START};

/// A walk over a text.
pub(super) struct Walk<'a> {
    text: &'a [u8],
    /// Up to where matches and the text between them are told.
    told: usize,
    /// Where the match that is looked for starts.
    start: usize,
    /// Where it may end; nothing is marked where this isn't behind the start.
    mark: usize,
    /// How many bytes may still be read again.
    again: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(text: &'a str, again: usize) -> Self {
        Self {
            text: text.as_bytes(),
            told: 0,
            start: 0,
            mark: 0,
            again,
        }
    }

    /// The text before the match that is looked for, and behind the one told last.
    pub(super) fn gap(&self) -> Range<usize> {
        self.told..self.start
    }

    /// Tells the matches and the text between them; `false` where too much would have to be read again.
    #[inline]
    pub(super) fn run(
        &mut self,
        alphabet: &Alphabet,
        automaton: &Automaton,
        tell: &mut impl FnMut(Range<usize>, bool),
    ) -> bool {
        let mut at = 0;
        let mut state = START;
        loop {
            let (class, length) = alphabet.class(self.text, at);
            let entry = automaton.entries[state as usize + usize::from(class)];
            if entry <= ROW {
                state = entry;
                at += length;
                continue;
            }
            if entry & BACK != 0 {
                if !self.back(at, tell) {
                    return false;
                }
                (at, state) = (self.start, START);
                continue;
            }
            self.note(entry, at, length, tell);
            if length == 0 {
                break;
            }
            state = entry & ROW;
            at += length;
        }
        self.tell_gap(tell);
        true
    }

    /// Does what `entry` asks for before the character of `length` bytes at `at`.
    #[inline(always)]
    fn note(&mut self, entry: Entry, at: usize, length: usize, tell: &mut impl FnMut(Range<usize>, bool)) {
        if entry & MARK != 0 {
            self.mark = at;
        }
        if entry & CUT != 0 {
            self.tell_match(at, tell);
        }
        if entry & SKIP != 0 {
            self.start = at + length;
        }
    }

    /// Ends the match at the mark, or looks for one that starts a character later. What was read up to `at` is read again.
    #[inline]
    fn back(&mut self, at: usize, tell: &mut impl FnMut(Range<usize>, bool)) -> bool {
        if self.mark > self.start {
            self.tell_match(self.mark, tell);
        } else {
            self.start += 1;
            while self.text.get(self.start).is_some_and(|&byte| byte & 0xC0 == 0x80) {
                self.start += 1;
            }
        }
        match self.again.checked_sub(at - self.start) {
            Some(again) => {
                self.again = again;
                true
            }
            None => false,
        }
    }

    #[inline(always)]
    fn tell_match(&mut self, end: usize, tell: &mut impl FnMut(Range<usize>, bool)) {
        self.tell_gap(tell);
        tell(self.start..end, true);
        self.start = end;
        self.told = end;
    }

    #[inline(always)]
    fn tell_gap(&mut self, tell: &mut impl FnMut(Range<usize>, bool)) {
        if self.told < self.start {
            tell(self.told..self.start, false);
            self.told = self.start;
        }
    }
}
