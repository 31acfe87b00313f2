//! Puts encodings one after the other.

use super::Encoding;

impl Encoding {
    /// All `encodings` in a row. With `growing_offsets`, offsets go on where the one before ended.
    pub fn merge(encodings: impl IntoIterator<Item = Encoding>, growing_offsets: bool) -> Encoding {
        let mut encodings = encodings.into_iter();
        let mut merged = encodings.next().unwrap_or_default();
        for encoding in encodings {
            merged.merge_with(encoding, growing_offsets);
        }
        merged
    }

    /// Appends `other`. The windows of both are combined as stock combines them: each of ours with `other` and with
    /// each of its windows, then ourselves with each of its windows. Where both sides have windows, those
    /// combinations carry windows of their own.
    pub fn merge_with(&mut self, other: Encoding, growing_offsets: bool) {
        let overflowing = self.combined_windows(&other, growing_offsets);
        self.append(other, growing_offsets);
        self.overflowing = overflowing;
    }

    fn combined_windows(&self, other: &Encoding, growing_offsets: bool) -> Vec<Encoding> {
        let join = |left: &Encoding, right: &Encoding| {
            let mut joined = left.clone();
            joined.merge_with(right.clone(), growing_offsets);
            joined
        };
        let mut windows = Vec::new();
        for ours in &self.overflowing {
            windows.push(join(ours, other));
            windows.extend(other.overflowing.iter().map(|theirs| join(ours, theirs)));
        }
        windows.extend(other.overflowing.iter().map(|theirs| join(self, theirs)));
        windows
    }

    fn append(&mut self, other: Encoding, growing_offsets: bool) {
        let before = self.len();
        let ranges = other.sequence_ranges.into_iter();
        self.sequence_ranges
            .extend(ranges.map(|(sequence, range)| (sequence, before + range.start..before + range.end)));
        let shift = match self.offsets.last() {
            Some(last) if growing_offsets => last.1,
            _ => 0,
        };
        let offsets = other.offsets.into_iter();
        self.offsets
            .extend(offsets.map(|(start, end)| (start + shift, end + shift)));
        self.ids.extend(other.ids);
        self.type_ids.extend(other.type_ids);
        self.spellings.extend(other.spellings);
        self.words.extend(other.words);
        self.special_tokens_mask.extend(other.special_tokens_mask);
        self.attention_mask.extend(other.attention_mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[u32]) -> Encoding {
        let offsets = (0..ids.len()).map(|at| (at, at + 1)).collect();
        Encoding::from_columns(ids.to_vec(), offsets, vec![None; ids.len()], 0)
    }

    #[test]
    fn offsets_start_again_unless_they_grow() {
        assert_eq!(
            Encoding::merge([ids(&[1, 2]), ids(&[3])], false).offsets,
            [(0, 1), (1, 2), (0, 1)]
        );
        assert_eq!(
            Encoding::merge([ids(&[1, 2]), ids(&[3])], true).offsets,
            [(0, 1), (1, 2), (2, 3)]
        );
        assert_eq!(Encoding::merge([], true), Encoding::default());
    }

    #[test]
    fn every_window_meets_every_window() {
        let mut first = ids(&[1]);
        first.overflowing = vec![ids(&[2])];
        let mut second = ids(&[5]);
        second.overflowing = vec![ids(&[6])];

        let merged = Encoding::merge([first, second], false);

        let windows: Vec<_> = merged
            .overflowing
            .iter()
            .map(|window| window.ids.clone())
            .collect();
        let nested: Vec<_> = merged
            .overflowing
            .iter()
            .map(|window| window.overflowing.len())
            .collect();
        assert_eq!(merged.ids, [1, 5]);
        assert_eq!(windows, [[2, 5], [2, 6], [1, 6]]);
        assert_eq!(nested, [1, 0, 1]);
    }

    #[test]
    fn sequences_move_with_their_tokens() {
        let mut first = ids(&[1, 2]);
        first.set_sequence_id(0);
        let mut second = ids(&[3]);
        second.set_sequence_id(1);

        first.merge_with(second, false);

        assert_eq!(first.sequence_ids(), [Some(0), Some(0), Some(1)]);
    }
}
