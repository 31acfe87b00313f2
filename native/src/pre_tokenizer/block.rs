//! Sixty-four bytes of a text at once: the class of each as one bit of a mask, so that where pretokens start is a matter
//! of shifts and not of a branch a byte. What the published patterns have in common is here, on top of it.
//!
//! A block begins where a pretoken does, so nothing before it counts. All bytes of a character have the bit of its class. What
//! a block can't tell from its own bytes it leaves to the next block or to the scanner: everything from the first seldom
//! character on (see [`Block::known`]), and what hangs on bytes after its end.

use super::classes::{Classes, LETTER, LOWER, MARK, OTHER, UPPER};
pub(super) use super::lanes::BYTES;
use super::lanes::Lanes;

/// The classes of the bytes before the first seldom character.
pub(super) struct Block {
    /// How many bytes stand before the first character that is not classed here: one that doesn't lie in the block as a
    /// whole; beyond ASCII white space and numbers, which are too long to be counted in bytes, and `ſ`, which may be
    /// the `s` of a contraction.
    pub(super) known: u32,
    /// The bytes of a character but its first.
    continues: u64,
    /// `\p{L}`
    pub(super) letters: u64,
    /// `[\p{Lu}\p{Lt}]`
    pub(super) uppers: u64,
    /// `\p{Ll}`
    pub(super) lowers: u64,
    /// `\p{M}`
    pub(super) marks: u64,
    pub(super) numbers: u64,
    /// U+0020 alone.
    pub(super) spaces: u64,
    /// `[\r\n]`
    pub(super) newlines: u64,
    /// `\s`
    pub(super) white: u64,
    pub(super) apostrophes: u64,
    pub(super) slashes: u64,
    /// `[^\s\p{L}\p{M}\p{N}]`
    pub(super) others: u64,
}

/// Characters that begin here or later may not lie in the block as a whole.
const LAST_LEAD: u32 = BYTES as u32 - 3;

impl Block {
    #[inline(always)]
    pub(super) fn new<L: Lanes>(bytes: &[u8; BYTES], classes: &Classes) -> Self {
        let lanes = L::new(bytes);
        let uppers = lanes.between(b'A', b'Z');
        let lowers = lanes.between(b'a', b'z');
        let letters = uppers | lowers;
        let numbers = lanes.between(b'0', b'9');
        let spaces = lanes.equal(b' ');
        let white = spaces | lanes.between(b'\t', b'\r');
        let beyond = lanes.beyond_ascii();
        let mut block = Self {
            known: BYTES as u32,
            continues: 0,
            letters,
            uppers,
            lowers,
            marks: 0,
            numbers,
            spaces,
            newlines: lanes.equal(b'\n') | lanes.equal(b'\r'),
            white,
            apostrophes: lanes.equal(b'\''),
            slashes: lanes.equal(b'/'),
            others: !(letters | numbers | white | beyond),
        };
        if beyond != 0 {
            block.class_long(lanes, beyond, bytes, classes);
            block.forget_unknown();
        }
        block
    }

    /// Classes the characters beyond ASCII, whose bytes are at `beyond`.
    #[inline(always)]
    fn class_long<L: Lanes>(&mut self, lanes: L, beyond: u64, bytes: &[u8; BYTES], classes: &Classes) {
        let continues = lanes.continues();
        let leads = beyond & !continues;
        self.continues = continues;
        self.known = (leads & !low_bits(LAST_LEAD)).trailing_zeros();
        // U+5000 to U+9FFF and U+B000 to U+CFFF, Chinese and Hangul: letters without case.
        let uncased = lanes.between(0xE5, 0xE9) | lanes.between(0xEB, 0xEC);
        self.letters |= uncased | uncased << 1 | uncased << 2;
        let mut rest = leads & !uncased & low_bits(self.known);
        while rest != 0 {
            let at = rest.trailing_zeros();
            rest &= rest - 1;
            let Some(&four) = bytes[at as usize..].first_chunk() else {
                return;
            };
            let (code_point, length) = decode(u32::from_be_bytes(four));
            let class = classes.of(code_point);
            if class & (LETTER | MARK | OTHER) == 0 || code_point == LONG_S {
                self.known = at;
                return;
            }
            let span = low_bits(length) << at;
            let of = |mask| if class & mask == 0 { 0 } else { span };
            self.letters |= of(LETTER);
            self.uppers |= of(UPPER);
            self.lowers |= of(LOWER);
            self.marks |= of(MARK);
            self.others |= of(OTHER);
        }
    }

    /// Clears what stands after the known bytes.
    #[inline(always)]
    fn forget_unknown(&mut self) {
        let known = low_bits(self.known);
        for mask in [
            &mut self.continues,
            &mut self.letters,
            &mut self.uppers,
            &mut self.lowers,
            &mut self.marks,
            &mut self.numbers,
            &mut self.spaces,
            &mut self.newlines,
            &mut self.white,
            &mut self.apostrophes,
            &mut self.slashes,
            &mut self.others,
        ] {
            *mask &= known;
        }
    }

    /// For the first bit of each of these characters the first bit of the one after it.
    #[inline(always)]
    fn next(&self, characters: u64) -> u64 {
        let after = characters << 1;
        // A carry runs through the bytes that continue the character.
        let carried = self.continues.wrapping_add(after & self.continues);
        (carried | after) & !self.continues
    }

    /// Below which bit starts are sure as far as white space goes: what becomes of it hangs on what follows, so only the
    /// start of a run at the end of the block is.
    #[inline(always)]
    fn sure(&self) -> u32 {
        let from_the_end = self.white.checked_shl(BYTES as u32 - self.known).unwrap_or(0);
        match from_the_end.leading_ones() {
            0 => self.known,
            white => self.known - white + 1,
        }
    }
}

/// `ſ`, which folds to `s`.
const LONG_S: u32 = 0x17F;

/// The character beyond ASCII that these four bytes begin with, and its length.
#[inline(always)]
fn decode(bytes: u32) -> (u32, u32) {
    let bits = |from: u32, mask: u32, to: u32| (bytes >> from & mask) << to;
    if bytes >= 0xF000_0000 {
        let code_point = bits(24, 0x07, 18) | bits(16, 0x3F, 12) | bits(8, 0x3F, 6) | bits(0, 0x3F, 0);
        return (code_point, 4);
    }
    // No branch between two and three bytes, which follow each other too often.
    let three = bits(24, 0x0F, 12) | bits(16, 0x3F, 6) | bits(8, 0x3F, 0);
    let two = bits(24, 0x1F, 6) | bits(16, 0x3F, 0);
    let is_three = bytes >= 0xE000_0000;
    (if is_three { three } else { two }, 2 + u32::from(is_three))
}

/// Where pretokens start in a block.
pub(super) struct Starts {
    /// One bit for each start.
    pub(super) bits: u64,
    /// Only the bits below this one are sure.
    pub(super) sure: u32,
}

impl Starts {
    /// ` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
    #[inline(always)]
    pub(super) fn of_runs(block: &Block) -> Self {
        let others = block.others | block.marks;
        let mut bits = first(block.letters) | first(block.numbers) | first(others) | first(block.white);
        // The last white character before something else stands alone, but for a space, which that takes along.
        let after = !block.white & block.white << 1;
        bits |= after >> 1;
        bits &= !(after & block.spaces << 1);
        Self {
            bits,
            sure: block.sure(),
        }
    }

    /// `[^\r\n\p{L}\p{N}]?LETTER+|\p{N}{1,LIMIT}| ?OTHER+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, given which bytes are letters and
    /// which others; and which starts are those of the third alternative without a space.
    #[inline(always)]
    pub(super) fn of_prefixed_runs<const LIMIT: usize>(
        block: &Block,
        letters: u64,
        others: u64,
    ) -> (Self, u64) {
        // Newlines after symbols belong to them: a carry runs from the first newline to the end of the run.
        let swallowed = block.newlines & !block.newlines.wrapping_add(block.newlines & others << 1);
        let white = block.white & !swallowed;
        let lines = up_to_last_newline(white, block.newlines);
        let tail = white & !lines;
        let after = !white & tail << 1;
        let symbols = first(others) & !(after & block.spaces << 1);
        let letters = first(letters) & !(block.next(symbols) | tail << 1);
        let bits =
            first(lines) | first(tail) | after >> 1 | symbols | letters | groups::<LIMIT>(block.numbers);
        let sure = block.sure();
        (Self { bits, sure }, symbols)
    }

    /// Ends each contraction that starts at a bit of `marks`, given which bytes are letters. `length` gives the length of a
    /// contraction, if there is one.
    #[inline(always)]
    pub(super) fn cut_after_contractions(
        &mut self,
        block: &Block,
        letters: u64,
        mut marks: u64,
        length: impl Fn(u32) -> Option<u32>,
    ) {
        while marks != 0 {
            let at = marks.trailing_zeros();
            marks &= marks - 1;
            if at + MOST_OF_CONTRACTION >= block.known {
                self.sure = self.sure.min(at + 1);
                return;
            }
            if let Some(length) = length(at) {
                self.bits &= !(1 << (at + 1));
                self.bits |= letters & 1 << (at + length);
            }
        }
    }
}

/// An apostrophe and two letters.
pub(super) const MOST_OF_CONTRACTION: u32 = 3;

/// The first bit of each run.
#[inline(always)]
pub(super) fn first(runs: u64) -> u64 {
    runs & !(runs << 1)
}

/// The lowest `count` bits.
#[inline(always)]
pub(super) fn low_bits(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// Each run of white space up to its last newline.
#[inline(always)]
fn up_to_last_newline(white: u64, newlines: u64) -> u64 {
    let lines = white & newlines;
    let blanks = white & !newlines;
    if blanks & lines >> 1 == 0 {
        return lines;
    }
    // Blanks that reach a newline: a carry, downwards, from the newline to the start of the blanks.
    let (blanks, lines_down) = (blanks.reverse_bits(), lines.reverse_bits());
    let reaching = blanks & !blanks.wrapping_add(blanks & lines_down << 1);
    lines | reaching.reverse_bits()
}

/// The starts of groups of up to `LIMIT` numbers.
#[inline(always)]
fn groups<const LIMIT: usize>(numbers: u64) -> u64 {
    match LIMIT {
        1 => numbers,
        3 => {
            let mut starts = first(numbers);
            let fourth = numbers & numbers << 1 & numbers << 2 & numbers << 3;
            let mut next = starts << 3 & fourth;
            while next != 0 {
                starts |= next;
                next = next << 3 & fourth;
            }
            starts
        }
        _ => first(numbers),
    }
}
