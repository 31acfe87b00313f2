//! A text on its way through the pipeline, with the place in the original that each byte came from.
//!
//! Guarantee: after the same steps, text and alignments equal those of stock's `NormalizedString`, odd corners
//! included; offsets hang on them.

use std::ops::Range;

/// A text and, for each of its bytes, the bytes of the original it stands for.
///
/// Alignments are absolute positions in the original, whatever piece of it this text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalizedText {
    text: String,
    alignments: Vec<(usize, usize)>,
    original: Range<usize>,
}

/// A character of the new text and what became of the old: 0 replaces one character, 1 is inserted,
/// -n replaces one and removes the n after it.
pub type Change = (char, isize);

impl NormalizedText {
    /// `text`, which starts at byte `start` of the original.
    pub fn new(text: &str, start: usize) -> Self {
        let mut alignments = Vec::with_capacity(text.len());
        for (at, char) in text.char_indices() {
            let span = (start + at, start + at + char.len_utf8());
            alignments.extend(std::iter::repeat_n(span, char.len_utf8()));
        }
        Self {
            text: text.to_owned(),
            alignments,
            original: start..start + text.len(),
        }
    }

    /// The text as it is now.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the original of this text starts.
    pub fn original_start(&self) -> usize {
        self.original.start
    }

    /// The text alone.
    pub fn into_text(self) -> String {
        self.text
    }

    /// How many bytes at the start of this text came from the very start of the original.
    pub fn head(&self) -> usize {
        let first = self.alignments.iter().take_while(|(start, _)| *start == 0);
        first.count()
    }

    /// The bytes of the original that `range` of the text came from.
    pub fn original_range(&self, range: Range<usize>) -> Range<usize> {
        if range.is_empty() {
            // As stock: an empty range is carried over as it is.
            return self.original.start + range.start..self.original.start + range.end;
        }
        match self.alignments.get(range.clone()) {
            Some([first, .., last]) => first.0..last.1,
            Some([only]) => only.0..only.1,
            _ => range,
        }
    }

    /// Each character of the text: its bytes, and the bytes of the original that it stands for.
    pub fn characters(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        self.text.char_indices().map(|(at, char)| {
            let end = at + char.len_utf8();
            (at..end, self.alignments[at].0..self.alignments[end - 1].1)
        })
    }

    /// The part `range` of the text.
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            text: self.text[range.clone()].to_owned(),
            alignments: self.alignments[range.clone()].to_vec(),
            original: self.original_range(range),
        }
    }

    /// Rewrites the whole text; `skip` characters at its start are dropped first.
    ///
    /// Stock rewrites [`Self::range_of_original`] only, even where `changes` are those of the whole text: what stands
    /// before it is doubled, or, where the changes need more characters than are there, stock panics. The first is
    /// done likewise, instead of the second the whole text is rewritten.
    pub fn transform(&mut self, changes: impl IntoIterator<Item = Change>, skip: usize) {
        let range = self.range_of_original();
        if range.start == 0 {
            return self.transform_range(range, changes, skip);
        }
        let changes: Vec<_> = changes.into_iter().collect();
        let start = if self.fits(range.clone(), &changes, skip) {
            range.start
        } else {
            0
        };
        self.transform_range(start..range.end, changes, skip);
    }

    /// Whether each of `changes` that replaces a character finds one.
    fn fits(&self, range: Range<usize>, changes: &[Change], skip: usize) -> bool {
        let mut left = self.text[range].chars().count().saturating_sub(skip);
        for &(_, change) in changes {
            if change <= 0 {
                if left == 0 {
                    return false;
                }
                left = left.saturating_sub(1 + change.unsigned_abs());
            }
        }
        true
    }

    /// Puts `content` in the place of each of `matches`, which ascend. Its characters share the place of the last
    /// byte that it replaces, or of the byte before an empty match.
    pub fn replace(&mut self, matches: &[Range<usize>], content: &str) {
        let mut text = String::with_capacity(self.text.len());
        let mut alignments = Vec::with_capacity(self.alignments.len());
        let mut done = 0;
        for found in matches {
            text.push_str(&self.text[done..found.start]);
            text.push_str(content);
            alignments.extend_from_slice(&self.alignments[done..found.start]);
            alignments.extend(std::iter::repeat_n(self.alignment(found.end, 1), content.len()));
            done = found.end;
        }
        text.push_str(&self.text[done..]);
        alignments.extend_from_slice(&self.alignments[done..]);
        self.text = text;
        self.alignments = alignments;
    }

    /// Rewrites `range` of the text.
    pub fn transform_range(
        &mut self,
        range: Range<usize>,
        changes: impl IntoIterator<Item = Change>,
        skip: usize,
    ) {
        let mut old = self.text[range.clone()].chars();
        let skipped: usize = old.by_ref().take(skip).map(char::len_utf8).sum();
        let mut at = range.start + skipped;
        let mut text = String::with_capacity(range.len());
        let mut alignments = Vec::with_capacity(range.len());
        for (char, change) in changes {
            let span = self.alignment(at, change);
            if change <= 0 {
                let replaced = old.by_ref().take(1 + change.unsigned_abs());
                at += replaced.map(char::len_utf8).sum::<usize>();
            }
            text.push(char);
            alignments.extend(std::iter::repeat_n(span, char.len_utf8()));
        }
        self.alignments.splice(range.clone(), alignments);
        self.text.replace_range(range, &text);
    }

    /// What the new character at `at` stands for: an inserted one shares the place of the one before it.
    fn alignment(&self, at: usize, change: isize) -> (usize, usize) {
        let start = self.original.start;
        if change > 0 {
            return if at == 0 {
                (start, start)
            } else {
                self.alignments[at - 1]
            };
        }
        let end = self
            .alignments
            .last()
            .map_or((start, start), |last| (last.1, last.1));
        self.alignments.get(at).copied().unwrap_or(end)
    }

    /// Puts `prefix` before the first character, if there is one, and lets it share that character's place.
    pub fn prepend(&mut self, prefix: &str) {
        let Some(first) = self.text.chars().next() else {
            return;
        };
        let inserted = prefix
            .chars()
            .enumerate()
            .map(|(at, char)| (char, isize::from(at != 0)));
        self.transform_range(0..first.len_utf8(), inserted.chain([(first, 1)]), 0);
    }

    /// The text that covers the whole original, as stock finds it: bytes at the start that stand for nothing of the
    /// original are not counted in.
    fn range_of_original(&self) -> Range<usize> {
        if self.original.is_empty() {
            return 0..0;
        }
        let start = self.alignments.iter().position(|(start, end)| start != end);
        match start {
            Some(start) => start..self.text.len(),
            None => self.text.len()..self.text.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prepended_space_shares_the_place_of_the_first_character() {
        let mut text = NormalizedText::new("éa", 3);

        text.prepend(" ");

        assert_eq!(text.text(), " éa");
        assert_eq!(text.original_range(0..1), 3..5);
        assert_eq!((text.original_start(), text.head()), (3, 0));
        assert_eq!(text.original_range(1..4), 3..6);
    }

    #[test]
    fn a_replacement_shares_the_place_of_the_last_byte_replaced() {
        let mut text = NormalizedText::new("abécd", 2);

        text.replace(&[0..0, 1..4, 4..4], "xy");

        assert_eq!(text.text(), "xyaxyxycd");
        assert_eq!(text.original_range(0..2), 2..2);
        assert_eq!(text.original_range(2..3), 2..3);
        assert_eq!(text.original_range(3..4), 4..6);
        assert_eq!(text.original_range(5..7), 4..6);
        assert_eq!(text.original_range(7..9), 6..8);
    }

    #[test]
    fn what_stands_for_nothing_is_doubled_where_stock_doubles_it() {
        let mut text = NormalizedText::new("ab", 0);

        text.replace(std::slice::from_ref(&(0..0)), "x");
        text.transform([('x', 0), ('b', -1)], 0);

        assert_eq!(text.text(), "xxb");
        assert_eq!(text.original_range(1..3), 0..2);
    }

    #[test]
    fn what_stands_for_nothing_is_rewritten_where_stock_panics() {
        let mut text = NormalizedText::new("ab", 0);

        text.replace(std::slice::from_ref(&(0..0)), "x");
        text.transform([('X', 0), ('A', 0), ('B', 0)], 0);

        assert_eq!(text.text(), "XAB");
        assert_eq!(text.original_range(1..3), 0..2);
    }

    #[test]
    fn removed_characters_leave_a_gap() {
        let mut text = NormalizedText::new("abcd", 0);

        assert_eq!((text.original_start(), text.head()), (0, 1));
        text.transform([('b', -1), ('d', 0)], 1);

        assert_eq!((text.original_start(), text.head()), (0, 0));
        assert_eq!(text.text(), "bd");
        assert_eq!(text.original_range(0..2), 1..4);
        assert_eq!(text.slice(1..2).original_range(0..1), 3..4);
    }
}
