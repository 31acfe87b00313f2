//! Cuts encodings to a length and keeps the rest as windows behind them.
//!
//! Guarantee: the windows are those of stock's `truncate_encodings`. Where stock panics (a stride that never gets
//! ahead) or wraps around (less room than the special tokens need), there is an error with both numbers.

use std::ops::Range;

use crate::encoding::{Encoding, Side};
use crate::{Error, Result};

/// Which text of a pair is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strategy {
    /// The longer one first, then both alike.
    #[default]
    LongestFirst,
    /// Only the first.
    OnlyFirst,
    /// Only the second.
    OnlySecond,
}

/// How long an encoding may get, and what happens to the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Truncation {
    /// The most tokens of a window, special tokens included.
    pub max_length: usize,
    /// How many tokens a window repeats of the one before.
    pub stride: usize,
    /// Which text of a pair is cut.
    pub strategy: Strategy,
    /// The end that is cut off first.
    pub side: Side,
}

impl Truncation {
    /// What is left for text when `special_tokens` are to be added to each window.
    ///
    /// Stock wraps around to a window of about 2^64 when `max_length` is too small even for the special tokens.
    pub fn without_special_tokens(self, special_tokens: usize) -> Result<Truncation> {
        let Some(max_length) = self.max_length.checked_sub(special_tokens) else {
            return Err(Error::Value(format!(
                "max_length is {}, but {special_tokens} special tokens are added; \
                 raise max_length or pass add_special_tokens=False",
                self.max_length
            )));
        };
        Ok(Truncation { max_length, ..self })
    }

    /// Refuses a stride that is longer than the room for one text, however short the text is.
    ///
    /// Stock does so when truncation is switched on. A stride just as long as that is refused only when a text is
    /// cut: stock takes short texts then.
    pub fn check_stride(self, special_tokens: usize) -> Result<()> {
        match self.max_length.checked_sub(special_tokens) {
            Some(room) if room < self.stride => Err(stride_error(self.stride, room)),
            _ => Ok(()),
        }
    }
}

fn stride_error(stride: usize, room: usize) -> Error {
    Error::Value(format!(
        "stride is {stride}, but truncation leaves windows of {room} tokens (max_length without special tokens, \
         and its share of a pair); stride must be less"
    ))
}

/// Cuts `first` and `second` so that together they have at most `truncation.max_length` tokens.
pub fn truncate_pair(
    mut first: Encoding,
    mut second: Option<Encoding>,
    truncation: &Truncation,
) -> Result<(Encoding, Option<Encoding>)> {
    let &Truncation {
        max_length,
        stride,
        side,
        ..
    } = truncation;
    let second_len = second.as_ref().map_or(0, Encoding::len);
    if max_length > 0 && first.len() + second_len <= max_length {
        return Ok((first, second));
    }
    let (first_target, second_target) = targets(first.len(), second.as_ref().map(Encoding::len), truncation)?;
    first.truncate(first_target, stride, side)?;
    if let Some(second) = &mut second {
        second.truncate(second_target, stride, side)?;
    }
    Ok((first, second))
}

/// The lengths that a text of `first` tokens and maybe one of `second` are cut to.
fn targets(first: usize, second: Option<usize>, truncation: &Truncation) -> Result<(usize, usize)> {
    let max_length = truncation.max_length;
    if max_length == 0 {
        return Ok((0, 0));
    }
    let excess = first + second.unwrap_or(0) - max_length;
    match (truncation.strategy, second) {
        (Strategy::LongestFirst, None) => Ok((max_length, 0)),
        (Strategy::LongestFirst, Some(second)) => Ok(longest_first(first, second, max_length)),
        (Strategy::OnlyFirst, _) => Ok((shortened(first, excess)?, second.unwrap_or(0))),
        (Strategy::OnlySecond, Some(second)) => Ok((first, shortened(second, excess)?)),
        (Strategy::OnlySecond, None) => Err(Error::Value(
            "Truncation error: Second sequence not provided".to_owned(),
        )),
    }
}

/// The shorter text stays whole where the longer one can give all; else both get half, the longer one the odd token.
fn longest_first(first: usize, second: usize, max_length: usize) -> (usize, usize) {
    let short = first.min(second);
    let (short, long) = match max_length.checked_sub(short) {
        Some(rest) if rest >= short => (short, rest),
        _ => (max_length / 2, max_length - max_length / 2),
    };
    if first > second {
        (long, short)
    } else {
        (short, long)
    }
}

fn shortened(len: usize, excess: usize) -> Result<usize> {
    match len.checked_sub(excess) {
        None | Some(0) => Err(Error::Value(
            "Truncation error: Sequence to truncate too short to respect the provided max_length".to_owned(),
        )),
        Some(left) => Ok(left),
    }
}

impl Encoding {
    /// Keeps `max_len` tokens; the rest becomes windows of that length, each repeating `stride` tokens of the one
    /// before. Cutting loses where sequences lie, as in stock.
    pub fn truncate(&mut self, max_len: usize, stride: usize, side: Side) -> Result<()> {
        if self.len() <= max_len {
            return Ok(());
        }
        if max_len == 0 {
            let whole = std::mem::take(self);
            self.overflowing.push(whole);
            return Ok(());
        }
        if stride >= max_len {
            return Err(stride_error(stride, max_len));
        }
        let mut windows =
            windows(self.len(), max_len, max_len - stride, side).map(|range| self.window(range));
        // There is a first window: an encoding longer than `max_len` isn't empty.
        let mut first = windows.next().unwrap_or_default();
        first.overflowing = windows.collect();
        *self = first;
        Ok(())
    }
}

/// The windows over `len` tokens, the first one at the side that is kept, up to the first that reaches the other end.
fn windows(len: usize, size: usize, step: usize, side: Side) -> impl Iterator<Item = Range<usize>> {
    let count = 1 + (len - size).div_ceil(step);
    (0..count).map(move |index| match side {
        Side::Right => index * step..len.min(index * step + size),
        Side::Left => {
            let end = len - index * step;
            end.saturating_sub(size)..end
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(len: u32) -> Encoding {
        let offsets = (0..len as usize).map(|at| (at, at + 1)).collect();
        Encoding::from_columns((0..len).collect(), offsets, vec![None; len as usize], 0)
    }

    fn cut(len: u32, max_len: usize, stride: usize, side: Side) -> Vec<Vec<u32>> {
        let mut encoding = ids(len);
        encoding.truncate(max_len, stride, side).unwrap();
        let windows = std::mem::take(&mut encoding.overflowing);
        [encoding]
            .into_iter()
            .chain(windows)
            .map(|window| window.ids)
            .collect()
    }

    fn lengths(first: u32, second: u32, max_length: usize) -> (usize, usize) {
        let truncation = Truncation {
            max_length,
            ..Truncation::default()
        };
        let (first, second) = truncate_pair(ids(first), Some(ids(second)), &truncation).unwrap();
        (first.len(), second.unwrap().len())
    }

    #[test]
    fn windows_step_by_their_length_minus_the_stride() {
        assert_eq!(cut(5, 4, 2, Side::Right), [vec![0, 1, 2, 3], vec![2, 3, 4]]);
        assert_eq!(cut(5, 2, 0, Side::Right), [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(cut(5, 2, 0, Side::Left), [vec![3, 4], vec![1, 2], vec![0]]);
        assert_eq!(cut(5, 4, 3, Side::Left), [vec![1, 2, 3, 4], vec![0, 1, 2, 3]]);
        assert_eq!(cut(3, 3, 9, Side::Left), [vec![0, 1, 2]]);
        assert_eq!(cut(2, 0, 9, Side::Right), [vec![], vec![0, 1]]);
    }

    #[test]
    fn the_longer_text_is_cut_first() {
        assert_eq!(lengths(2, 8, 7), (2, 5));
        assert_eq!(lengths(8, 2, 7), (5, 2));
        assert_eq!(lengths(8, 8, 7), (3, 4));
        assert_eq!(lengths(8, 4, 7), (4, 3));
        assert_eq!(lengths(9, 9, 1), (0, 1));
        assert_eq!(lengths(3, 3, 0), (0, 0));
    }

    #[test]
    fn a_stride_that_never_gets_ahead_names_both_numbers() {
        let error = ids(5).truncate(2, 3, Side::Right).unwrap_err().to_string();

        assert!(
            error.contains("stride is 3") && error.contains("windows of 2 tokens"),
            "{error}"
        );
    }

    #[test]
    fn too_little_room_for_special_tokens_names_both_numbers() {
        let truncation = Truncation {
            max_length: 1,
            ..Truncation::default()
        };

        let error = truncation.without_special_tokens(2).unwrap_err().to_string();

        assert!(error.contains("max_length is 1, but 2 special tokens"), "{error}");
        assert_eq!(truncation.without_special_tokens(1).unwrap().max_length, 0);
    }

    #[test]
    fn a_text_that_cannot_give_enough_is_refused_in_the_words_of_stock() {
        let cut = |strategy, second| {
            let truncation = Truncation {
                max_length: 2,
                strategy,
                ..Truncation::default()
            };
            truncate_pair(ids(2), second, &truncation)
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };

        let too_short = "Truncation error: Sequence to truncate too short to respect the provided max_length";
        assert_eq!(cut(Strategy::OnlyFirst, Some(ids(2))), too_short);
        assert_eq!(cut(Strategy::OnlySecond, Some(ids(1))), too_short);
        let truncation = Truncation {
            max_length: 1,
            strategy: Strategy::OnlySecond,
            ..Truncation::default()
        };
        assert_eq!(
            truncate_pair(ids(2), None, &truncation).unwrap_err().to_string(),
            "Truncation error: Second sequence not provided"
        );
    }
}
