//! The split pattern of cl100k and the family around it: Llama 3, Qwen 2, 2.5, 3 and 3.5.
//!
//! Guarantee: cuts where stock's engine cuts with
//!
//! ```text
//! (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?LETTER+|NUMBERS| ?[^\sLETTER\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! where the members of the family differ in what a letter is (with or without marks) and in how many numbers stay
//! together. tiktoken's newer spelling differs once more: white space at the end of the text stays whole.

use super::block::{BYTES, Block, Starts};
use super::classes::{LETTER, MARK, Mask, NEWLINE, NUMBER, OTHER, SPACE};
use super::scanner::{Scanner, Text, ascii_contraction};

/// cl100k in its first spelling, and Llama 3: up to three numbers.
pub(super) type Cl100k = Family<LETTER, 3, false>;
/// Qwen 2, 2.5 and 3: each number alone.
pub(super) type Qwen2 = Family<LETTER, 1, false>;
/// Qwen 3.5: marks are letters.
pub(super) type Qwen35 = Family<{ LETTER | MARK }, 1, false>;
/// tiktoken's newer spelling of cl100k as *Oniguruma* reads it: `{1,3}+` repeats, so any count of numbers.
pub(super) type Cl100kPossessive = Family<LETTER, { usize::MAX }, true>;

/// The pattern as code.
pub(super) struct Family<const WORD: Mask, const NUMBERS: usize, const WHOLE_TAIL: bool>;

impl<const WORD: Mask, const NUMBERS: usize, const WHOLE_TAIL: bool> Scanner
    for Family<WORD, NUMBERS, WHOLE_TAIL>
{
    #[inline(always)]
    fn end(text: &Text<'_>, at: usize) -> usize {
        let (class, length) = text.class(at);
        if class & WORD != 0 {
            return text.run(at + length, WORD);
        }
        if class & NUMBER != 0 {
            return text.numbers::<NUMBERS>(at, length);
        }
        if text.byte(at) == b'\''
            && let Some(end) = text.folded_contraction(at)
        {
            return end;
        }
        if class & NEWLINE == 0
            && let Some(end) = text.letters_after(at, length, WORD)
        {
            return end;
        }
        Self::symbols(text, at, class).unwrap_or_else(|| Self::space(text, at))
    }

    #[inline(always)]
    fn starts(block: &Block, bytes: &[u8; BYTES]) -> Starts {
        let (letters, others) = if WORD & MARK != 0 {
            (block.letters | block.marks, block.others)
        } else {
            (block.letters, block.others | block.marks)
        };
        let (mut starts, symbols) = Starts::of_prefixed_runs::<NUMBERS>(block, letters, others);
        starts.cut_after_contractions(block, letters, block.apostrophes & symbols, |at| {
            let at = at as usize;
            ascii_contraction(bytes[at + 1], bytes[at + 2])
        });
        starts
    }
}

impl<const WORD: Mask, const NUMBERS: usize, const WHOLE_TAIL: bool> Family<WORD, NUMBERS, WHOLE_TAIL> {
    const SYMBOL: Mask = (OTHER | MARK) & !WORD;

    /// ` ?[^\sLETTER\p{N}]+[\r\n]*`
    #[inline(always)]
    fn symbols(text: &Text<'_>, at: usize, class: Mask) -> Option<usize> {
        let start = if text.byte(at) == b' ' { at + 1 } else { at };
        if start == at && class & SPACE != 0 {
            return None;
        }
        let end = text.run(start, Self::SYMBOL);
        (end > start).then(|| text.run(end, NEWLINE))
    }

    /// `\s*[\r\n]+|\s+(?!\S)|\s+`
    #[inline]
    fn space(text: &Text<'_>, at: usize) -> usize {
        let space = text.space(at);
        if WHOLE_TAIL && text.ends(space.end) {
            return space.end;
        }
        space.newline_end.unwrap_or_else(|| text.leave_last(at, &space))
    }
}
