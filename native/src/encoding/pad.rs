//! Fills an encoding, and the windows behind it, up to a length.

use std::collections::TryReserveError;
use std::sync::Arc;

use super::{Encoding, Side};
use crate::{Error, Result};

impl Encoding {
    /// Pads this encoding and all its windows to `target` tokens; longer ones stay as they are.
    ///
    /// Padding has the offsets (0, 0), no word, counts as special, and its attention mask is 0.
    pub fn pad(
        &mut self,
        target: usize,
        pad_id: u32,
        pad_type_id: u32,
        pad_token: &Arc<str>,
        side: Side,
    ) -> Result<()> {
        for window in &mut self.overflowing {
            window.pad(target, pad_id, pad_type_id, pad_token, side)?;
        }
        let Some(missing @ 1..) = target.checked_sub(self.len()) else {
            return Ok(());
        };
        self.reserve(missing)
            .map_err(|_| Error::Value(format!("no memory to pad an encoding to {target} tokens")))?;
        let at = match side {
            Side::Left => 0,
            Side::Right => self.len(),
        };
        fill(&mut self.ids, at, missing, pad_id);
        fill(&mut self.type_ids, at, missing, pad_type_id);
        fill(&mut self.spellings, at, missing, Some(pad_token.clone()));
        fill(&mut self.words, at, missing, None);
        fill(&mut self.offsets, at, missing, (0, 0));
        fill(&mut self.special_tokens_mask, at, missing, 1);
        fill(&mut self.attention_mask, at, missing, 0);
        if side == Side::Left {
            for range in self.sequence_ranges.values_mut() {
                *range = range.start + missing..range.end + missing;
            }
        }
        Ok(())
    }

    fn reserve(&mut self, more: usize) -> std::result::Result<(), TryReserveError> {
        self.ids.try_reserve_exact(more)?;
        self.type_ids.try_reserve_exact(more)?;
        self.spellings.try_reserve_exact(more)?;
        self.words.try_reserve_exact(more)?;
        self.offsets.try_reserve_exact(more)?;
        self.special_tokens_mask.try_reserve_exact(more)?;
        self.attention_mask.try_reserve_exact(more)
    }
}

fn fill<T: Clone>(column: &mut Vec<T>, at: usize, count: usize, value: T) {
    column.splice(at..at, std::iter::repeat_n(value, count));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Encoding {
        let mut two = Encoding::from_columns(vec![5, 6], vec![(0, 1), (1, 2)], vec![Some(0), Some(1)], 0);
        two.set_sequence_id(0);
        two
    }

    #[test]
    fn padding_goes_to_the_side_asked_for() {
        let (mut left, mut right) = (two(), two());

        left.pad(4, 9, 3, &"[PAD]".into(), Side::Left).unwrap();
        right.pad(4, 9, 3, &"[PAD]".into(), Side::Right).unwrap();

        assert_eq!(left.ids, [9, 9, 5, 6]);
        assert_eq!(left.type_ids, [3, 3, 0, 0]);
        assert_eq!(left.offsets, [(0, 0), (0, 0), (0, 1), (1, 2)]);
        assert_eq!(left.sequence_ids(), [None, None, Some(0), Some(0)]);
        assert_eq!(right.ids, [5, 6, 9, 9]);
        assert_eq!(right.words, [Some(0), Some(1), None, None]);
        assert_eq!(right.special_tokens_mask, [0, 0, 1, 1]);
        assert_eq!(right.attention_mask, [1, 1, 0, 0]);
        assert_eq!(right.spellings[2].as_deref(), Some("[PAD]"));
    }

    #[test]
    fn windows_are_padded_and_long_ones_stay() {
        let mut encoding = two();
        encoding.overflowing = vec![Encoding::default()];

        encoding.pad(1, 9, 0, &"[PAD]".into(), Side::Right).unwrap();

        assert_eq!(encoding.ids, [5, 6]);
        assert_eq!(encoding.overflowing[0].ids, [9]);
    }

    #[test]
    fn a_length_beyond_memory_is_an_error() {
        let error = two()
            .pad(usize::MAX, 9, 0, &"[PAD]".into(), Side::Left)
            .unwrap_err();

        assert!(error.to_string().contains(&usize::MAX.to_string()));
    }
}
