//! Sixty-four bytes of a text at once: the class of each as one bit of a mask, so that where pretokens start is a matter
//! of shifts and not of a branch a byte. What the published patterns have in common is here, on top of it.
//!
//! A block begins where a pretoken does, so nothing before it counts. What it can't tell from its own bytes it leaves
//! to the next block or to the scanner: everything from the first byte beyond ASCII on, and what hangs on bytes
//! after its end.

use wide::{CmpEq, CmpGt, i8x16};

/// Bytes in a block.
pub(super) const BYTES: usize = 64;
const QUARTER: usize = 16;

/// The classes of the ASCII bytes before the first byte beyond ASCII, the lowest bit for the first byte.
pub(super) struct Block {
    /// How many bytes stand before the first one beyond ASCII.
    pub(super) known: u32,
    pub(super) letters: u64,
    pub(super) uppers: u64,
    pub(super) numbers: u64,
    /// U+0020 alone.
    pub(super) spaces: u64,
    /// `[\r\n]`
    pub(super) newlines: u64,
    /// `\s`
    pub(super) white: u64,
    pub(super) apostrophes: u64,
    pub(super) slashes: u64,
    /// `[^\s\p{L}\p{N}]`
    pub(super) others: u64,
}

impl Block {
    #[inline]
    pub(super) fn new(bytes: &[u8; BYTES]) -> Self {
        let quarters: [i8x16; BYTES / QUARTER] = std::array::from_fn(|quarter| {
            i8x16::new(std::array::from_fn(|at| bytes[QUARTER * quarter + at] as i8))
        });
        let is = |byte: u8| mask(quarters.map(|quarter| quarter.cmp_eq(i8x16::splat(byte as i8))));
        // As signed numbers, bytes beyond ASCII are below all others.
        let between = |low: u8, high: u8| {
            let (below, above) = (i8x16::splat(low as i8 - 1), i8x16::splat(high as i8 + 1));
            mask(quarters.map(|quarter| quarter.cmp_gt(below) & above.cmp_gt(quarter)))
        };
        let known = mask(quarters).trailing_zeros();
        let ascii = low_bits(known);
        let uppers = between(b'A', b'Z');
        let letters = (uppers | between(b'a', b'z')) & ascii;
        let numbers = between(b'0', b'9') & ascii;
        let spaces = is(b' ') & ascii;
        let white = spaces | between(b'\t', b'\r') & ascii;
        Self {
            known,
            letters,
            uppers: uppers & ascii,
            numbers,
            spaces,
            newlines: (is(b'\n') | is(b'\r')) & ascii,
            white,
            apostrophes: is(b'\'') & ascii,
            slashes: is(b'/') & ascii,
            others: ascii & !(letters | numbers | white),
        }
    }

    /// Below which bit starts are sure as far as white space goes: what becomes of it hangs on what follows, so only the
    /// start of a run at the end of the block is.
    #[inline]
    fn sure(&self) -> u32 {
        let from_the_end = self.white.checked_shl(BYTES as u32 - self.known).unwrap_or(0);
        match from_the_end.leading_ones() {
            0 => self.known,
            white => self.known - white + 1,
        }
    }
}

/// The highest bit of each byte.
#[inline]
fn mask(quarters: [i8x16; BYTES / QUARTER]) -> u64 {
    let bits = quarters.map(|quarter| u64::from(quarter.move_mask() as u16));
    bits[0] | bits[1] << QUARTER | bits[2] << (2 * QUARTER) | bits[3] << (3 * QUARTER)
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
    #[inline]
    pub(super) fn of_runs(block: &Block) -> Self {
        let mut bits = first(block.letters) | first(block.numbers) | first(block.others) | first(block.white);
        // The last white character before something else stands alone, but for a space, which that takes along.
        let after = !block.white & block.white << 1;
        bits |= after >> 1;
        bits &= !(after & block.spaces << 1);
        Self {
            bits,
            sure: block.sure(),
        }
    }

    /// `[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,LIMIT}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`; and which starts are
    /// those of the third alternative without a space.
    #[inline]
    pub(super) fn of_prefixed_runs<const LIMIT: usize>(block: &Block) -> (Self, u64) {
        // Newlines after symbols belong to them: a carry runs from the first newline to the end of the run.
        let swallowed = block.newlines & !block.newlines.wrapping_add(block.newlines & block.others << 1);
        let white = block.white & !swallowed;
        let lines = up_to_last_newline(white, block.newlines);
        let tail = white & !lines;
        let after = !white & tail << 1;
        let symbols = first(block.others) & !(after & block.spaces << 1);
        let letters = first(block.letters) & !((symbols | tail) << 1);
        let bits =
            first(lines) | first(tail) | after >> 1 | symbols | letters | groups::<LIMIT>(block.numbers);
        let sure = block.sure();
        (Self { bits, sure }, symbols)
    }

    /// Ends each contraction that starts at a bit of `marks`. `end` gives the length of a contraction, if there is one.
    #[inline]
    pub(super) fn cut_after_contractions(
        &mut self,
        block: &Block,
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
                self.bits |= block.letters & 1 << (at + length);
            }
        }
    }
}

/// An apostrophe and two letters.
pub(super) const MOST_OF_CONTRACTION: u32 = 3;

/// The first bit of each run.
#[inline]
pub(super) fn first(runs: u64) -> u64 {
    runs & !(runs << 1)
}

/// The lowest `count` bits.
#[inline]
pub(super) fn low_bits(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// Each run of white space up to its last newline.
#[inline]
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
#[inline]
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
