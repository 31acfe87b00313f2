//! The split pattern of o200k (GPT-4o, gpt-oss, Llama 4) and of Mistral's tekken, which cut words at a change of case.
//!
//! Guarantee: cuts where stock's engine cuts with
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?U*L+C?|[^\r\n\p{L}\p{N}]?U+L*C?|NUMBERS| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! where `U` is `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, `L` is `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`, and `C` are the contractions in
//! any case, which tekken doesn't have. A character of both `U` and `L` is called shared here.

use super::block::{BYTES, Block, MOST_OF_CONTRACTION, Starts, low_bits};
use super::classes::{LOWER, MARK, Mask, NEWLINE, NUMBER, OTHER, SPACE, UNCASED, UPPER};
use super::scanner::{Scanner, Text, ascii_contraction};

/// o200k: up to three numbers, contractions belong to the word before.
pub(super) type O200k = Family<3, true>;
/// tekken: each number alone, no contractions.
pub(super) type Tekken = Family<1, false>;

const SHARED: Mask = UNCASED | MARK;

/// The pattern as code.
pub(super) struct Family<const NUMBERS: usize, const CONTRACTIONS: bool>;

impl<const NUMBERS: usize, const CONTRACTIONS: bool> Scanner for Family<NUMBERS, CONTRACTIONS> {
    #[inline(always)]
    fn end(text: &Text<'_>, at: usize) -> usize {
        let (class, length) = text.class(at);
        if class & NUMBER != 0 {
            return text.numbers::<NUMBERS>(at, length);
        }
        if class & NEWLINE == 0
            && let Some(end) = word(text, at, class, length)
        {
            return if CONTRACTIONS {
                after_contraction(text, end)
            } else {
                end
            };
        }
        symbols(text, at, class).unwrap_or_else(|| {
            let space = text.space(at);
            space.newline_end.unwrap_or_else(|| text.leave_last(at, &space))
        })
    }

    #[inline(always)]
    fn starts(block: &Block, bytes: &[u8; BYTES]) -> Starts {
        let letters = block.letters | block.marks;
        let (mut starts, symbols) = Starts::of_prefixed_runs::<NUMBERS>(block, letters, block.others);
        starts.bits |= block.uppers & block.lowers << 1;
        // What becomes of a capital after a shared character hangs on what follows, and what becomes of a mark after a symbol
        // on what stands before that.
        let shared = letters & !(block.uppers | block.lowers);
        let unsure = block.uppers & shared << 1 | block.marks & block.others << 1;
        starts.sure = starts.sure.min(unsure.trailing_zeros());
        // A slash after newlines after symbols belongs to the symbols as well: seldom, so left to the scanner.
        let slashes = block.newlines & block.slashes >> 1;
        starts.sure = starts.sure.min(slashes.trailing_zeros());
        if CONTRACTIONS {
            join_contractions(
                &mut starts,
                block,
                letters,
                block.apostrophes & symbols & letters << 1,
                bytes,
            );
        }
        starts
    }
}

/// Adds each contraction at a bit of `marks` to the word before it, unless that is a contraction itself.
#[inline]
fn join_contractions(starts: &mut Starts, block: &Block, letters: u64, mut marks: u64, bytes: &[u8; BYTES]) {
    let mut end = 0;
    while marks != 0 {
        let at = marks.trailing_zeros();
        marks &= marks - 1;
        if at == end {
            continue;
        }
        if at + MOST_OF_CONTRACTION >= block.known {
            starts.sure = starts.sure.min(at);
            return;
        }
        if let Some(length) = ascii_contraction(bytes[at as usize + 1], bytes[at as usize + 2]) {
            end = at + length;
            starts.bits &= !(low_bits(end) & !low_bits(at));
            starts.bits |= letters & 1 << end;
        }
    }
}

/// The end of the word at `at`, whose first character has `class` and `length`.
///
/// The first alternative with the leading character as a prefix wins over the same without it, and either over the
/// second alternative. They differ where the leading character is a mark, which is both a prefix and a letter.
#[inline(always)]
fn word(text: &Text<'_>, at: usize, class: Mask, length: usize) -> Option<usize> {
    if class & (UPPER | LOWER | UNCASED) != 0 {
        let cased = Cased::new(text, at);
        return Some(cased.lower_end(text).unwrap_or(cased.upper_end));
    }
    let start = at + length;
    let cased = Cased::new(text, start);
    if let Some(end) = cased.lower_end(text) {
        return Some(end);
    }
    if class & MARK != 0 {
        // Nothing after the mark can end `U*L+`, so without a prefix it ends with the mark itself.
        return Some(start);
    }
    (cased.upper_end > start).then_some(cased.upper_end)
}

/// What `U*` can take at one place.
struct Cased {
    /// Where the longest `U*` ends.
    upper_end: usize,
    /// Where its last shared character ends: the one place where `L+` can start after going back.
    shared_end: Option<usize>,
}

impl Cased {
    #[inline(always)]
    fn new(text: &Text<'_>, start: usize) -> Self {
        let mut cased = Self {
            upper_end: start,
            shared_end: None,
        };
        loop {
            let (class, length) = text.class(cased.upper_end);
            if class & (UPPER | SHARED) == 0 {
                return cased;
            }
            cased.upper_end += length;
            if class & SHARED != 0 {
                cased.shared_end = Some(cased.upper_end);
            }
        }
    }

    /// The end of `U*L+`.
    ///
    /// Where no `\p{Ll}` follows the capitals, `U*` gives back until `L+` can take one shared character; what comes
    /// after the last of these is all capitals, so `L+` stops behind it.
    #[inline(always)]
    fn lower_end(&self, text: &Text<'_>) -> Option<usize> {
        let end = text.run(self.upper_end, LOWER | SHARED);
        if end > self.upper_end {
            Some(end)
        } else {
            self.shared_end
        }
    }
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
#[inline(always)]
fn after_contraction(text: &Text<'_>, at: usize) -> usize {
    if text.byte(at) != b'\'' {
        return at;
    }
    text.folded_contraction(at).unwrap_or(at)
}

/// ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
#[inline(always)]
fn symbols(text: &Text<'_>, at: usize, class: Mask) -> Option<usize> {
    let start = if text.byte(at) == b' ' { at + 1 } else { at };
    if start == at && class & SPACE != 0 {
        return None;
    }
    let mut end = text.run(start, OTHER | MARK);
    if end == start {
        return None;
    }
    while matches!(text.byte(end), b'\r' | b'\n' | b'/') {
        end += 1;
    }
    Some(end)
}
