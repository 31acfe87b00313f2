//! What the hand-written scanners share: a text with the class of its characters, runs, white space.
//!
//! Guarantee: every function is linear in the characters that it steps over, and never looks outside the text. A
//! [`Scanner`] answers one question, "where does the pretoken that starts here end"; blocks, which it answers
//! for many pretokens at once, agree with that.

use std::ops::Range;

use super::block::{BYTES, Block, Starts, low_bits};
use super::classes::{Classes, LETTER, Mask, NEWLINE, SPACE};
#[cfg(target_arch = "x86_64")]
use super::lanes::{Avx2, Avx512};
use super::lanes::{Lanes, Portable};
use crate::tier::Tier;

/// A published split pattern as code. Such a pattern matches everywhere, so its matches tile the text.
pub(super) trait Scanner {
    /// The end of the match that starts at `at`, which is a character boundary before the end of the text.
    /// The result is a character boundary after `at`.
    fn end(text: &Text<'_>, at: usize) -> usize;

    /// The starts of matches in a block that begins with one, which `bytes` are. Agrees with [`Scanner::end`].
    fn starts(block: &Block, bytes: &[u8; BYTES]) -> Starts;
}

/// Calls `emit` for each match of `S`, first to last.
#[inline]
pub(super) fn scan<S: Scanner>(text: &str, emit: impl FnMut(Range<usize>)) {
    scan_on::<S>(Tier::best(), text, emit);
}

/// [`scan`] by the instructions of one tier, which this processor must have.
#[inline]
fn scan_on<S: Scanner>(tier: Tier, text: &str, mut emit: impl FnMut(Range<usize>)) {
    let fill = fill_on::<S>(tier);
    let text = Text::new(text);
    let mut ends = Ends::default();
    let mut at = 0;
    while at < text.bytes.len() {
        fill(&text, at, &mut ends);
        for &end in &ends.ends[..ends.count] {
            emit(at..end);
            at = end;
        }
    }
}

/// Matches that are found before they are told: two tight loops instead of one that does everything.
const FILLED: usize = 64;

/// Where matches end, in order.
struct Ends {
    ends: [usize; FILLED + BYTES],
    count: usize,
}

impl Default for Ends {
    fn default() -> Self {
        Self {
            ends: [0; FILLED + BYTES],
            count: 0,
        }
    }
}

/// A function that finds the matches from `at` on: at least one, and as many as it likes.
type Fill = fn(&Text<'_>, at: usize, &mut Ends);

#[allow(unsafe_code)]
fn fill_on<S: Scanner>(tier: Tier) -> Fill {
    match tier {
        Tier::Portable => fill::<S, Portable>,
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => |text, at, ends| {
            // SAFETY: `Tier::all` gives this tier only where the processor has what `fill_avx2` is compiled for.
            unsafe { fill_avx2::<S>(text, at, ends) }
        },
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => |text, at, ends| {
            // SAFETY: as above, for `fill_avx512`.
            unsafe { fill_avx512::<S>(text, at, ends) }
        },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn fill_avx2<S: Scanner>(text: &Text<'_>, at: usize, ends: &mut Ends) {
    fill::<S, Avx2>(text, at, ends);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt")]
fn fill_avx512<S: Scanner>(text: &Text<'_>, at: usize, ends: &mut Ends) {
    fill::<S, Avx512>(text, at, ends);
}

/// Finds matches until their ends fill most of the room, or the text ends. Blocks tell them where they can.
#[inline(always)]
fn fill<S: Scanner, L: Lanes>(text: &Text<'_>, mut at: usize, ends: &mut Ends) {
    ends.count = 0;
    while at < text.bytes.len() && ends.count < FILLED {
        if let Some(bytes) = text.block(at) {
            let starts = S::starts(&Block::new::<L>(bytes, text.classes), bytes);
            let sure = starts.bits & low_bits(starts.sure) & !1;
            if sure != 0 {
                ends.push_all(at, sure);
                at += (u64::BITS - 1 - sure.leading_zeros()) as usize;
                continue;
            }
        }
        let end = S::end(text, at);
        debug_assert!(end > at, "a match holds a character");
        ends.ends[ends.count] = end;
        ends.count += 1;
        at = end;
    }
}

impl Ends {
    /// Takes the matches that end at the bits of `mask`, counted from `at`, where there are fewer than [`FILLED`] yet.
    #[inline(always)]
    fn push_all(&mut self, at: usize, mut mask: u64) {
        let count = mask.count_ones() as usize;
        let Some(room) = self.ends[self.count..].first_chunk_mut::<BYTES>() else {
            return;
        };
        // Some at a time, some of them too many: when to stop is guessed wrong less often.
        for some in room.as_chunks_mut::<4>().0.iter_mut().take(count.div_ceil(4)) {
            for end in some {
                *end = at + mask.trailing_zeros() as usize;
                mask &= mask.wrapping_sub(1);
            }
        }
        self.count += count;
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

    /// The block that begins at `at`, if the text goes on for as long.
    #[inline(always)]
    fn block(&self, at: usize) -> Option<&[u8; BYTES]> {
        self.bytes.get(at..)?.first_chunk()
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
        match ascii_contraction(self.byte(at + 1), self.byte(at + 2)) {
            Some(length) => Some(at + length as usize),
            None if self.bytes[at + 1..].starts_with("ſ".as_bytes()) => Some(at + 3),
            None => None,
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

/// The length of `(?i:'s|'t|'re|'ve|'m|'ll|'d)`, given the two bytes after the apostrophe.
#[inline]
pub(super) fn ascii_contraction(first: u8, second: u8) -> Option<u32> {
    match (first | 0x20, second | 0x20) {
        (b's' | b't' | b'm' | b'd', _) => Some(2),
        (b'r' | b'v', b'e') | (b'l', b'l') => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
