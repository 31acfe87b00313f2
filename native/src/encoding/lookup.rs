//! From tokens to characters, words and sequences, and back.

use std::ops::Range;

use super::Encoding;

impl Encoding {
    /// How many sequences the encoding holds; one where none was declared.
    pub fn n_sequences(&self) -> usize {
        self.sequence_ranges.len().max(1)
    }

    /// The sequence of each token; `None` for those that the post-processor or padding added.
    ///
    /// As stock, only the sequences `0..n_sequences()` are asked for, and one that was never declared is taken to
    /// cover everything: a window of the second text alone says 0.
    pub fn sequence_ids(&self) -> Vec<Option<usize>> {
        let mut sequences = vec![None; self.len()];
        for sequence in 0..self.n_sequences() {
            if let Some(tokens) = sequences.get_mut(self.sequence_range(sequence)) {
                tokens.fill(Some(sequence));
            }
        }
        sequences
    }

    /// The sequence that the token at `token` belongs to.
    ///
    /// As stock, the index just behind the last token still belongs to the only sequence.
    pub fn token_to_sequence(&self, token: usize) -> Option<usize> {
        if token > self.len() {
            return None;
        }
        if self.sequence_ranges.is_empty() {
            return Some(0);
        }
        let found = self
            .sequence_ranges
            .iter()
            .find(|(_, range)| range.contains(&token));
        found.map(|(&sequence, _)| sequence)
    }

    /// The sequence and the characters of the token at `token`.
    pub fn token_to_chars(&self, token: usize) -> Option<(usize, (usize, usize))> {
        Some((self.token_to_sequence(token)?, *self.offsets.get(token)?))
    }

    /// The sequence and the word of the token at `token`.
    pub fn token_to_word(&self, token: usize) -> Option<(usize, u32)> {
        Some((self.token_to_sequence(token)?, (*self.words.get(token)?)?))
    }

    /// The first token of `sequence` that covers the character `char`.
    pub fn char_to_token(&self, char: usize, sequence: usize) -> Option<usize> {
        let range = self.sequence_range(sequence);
        let offsets = self.offsets.get(range.clone())?;
        let covers = |&(start, end): &(usize, usize)| start <= char && char < end;
        offsets.iter().position(covers).map(|at| range.start + at)
    }

    /// The word that covers the character `char` of `sequence`.
    pub fn char_to_word(&self, char: usize, sequence: usize) -> Option<u32> {
        let token = self.char_to_token(char, sequence)?;
        self.token_to_word(token).map(|(_, word)| word)
    }

    /// The tokens of the word `word` of `sequence`, from the first to behind the last.
    ///
    /// As stock, the search ends at the first token of a later word.
    pub fn word_to_tokens(&self, word: u32, sequence: usize) -> Option<(usize, usize)> {
        let range = self.sequence_range(sequence);
        let words = self.words.get(range.clone())?;
        let end = words
            .iter()
            .position(|&other| other > Some(word))
            .unwrap_or(words.len());
        let is_word = |other: &Option<u32>| *other == Some(word);
        let first = words[..end].iter().position(is_word)?;
        let last = words[..end].iter().rposition(is_word)?;
        Some((range.start + first, range.start + last + 1))
    }

    /// The characters of the word `word` of `sequence`.
    pub fn word_to_chars(&self, word: u32, sequence: usize) -> Option<(usize, usize)> {
        let (first, end) = self.word_to_tokens(word, sequence)?;
        Some((self.offsets.get(first)?.0, self.offsets.get(end - 1)?.1))
    }

    fn sequence_range(&self, sequence: usize) -> Range<usize> {
        self.sequence_ranges
            .get(&sequence)
            .cloned()
            .unwrap_or(0..self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[CLS] He llo you [SEP] Hi ! [SEP]`
    fn pair() -> Encoding {
        let mut pair = Encoding::default();
        for (offsets, word) in [
            ((0, 0), None),
            ((0, 2), Some(0)),
            ((2, 5), Some(0)),
            ((6, 9), Some(1)),
            ((0, 0), None),
            ((0, 2), Some(0)),
            ((2, 3), Some(1)),
            ((0, 0), None),
        ] {
            pair.push(7, offsets, word, 0);
        }
        pair.sequence_ranges.insert(0, 1..4);
        pair.sequence_ranges.insert(1, 5..7);
        pair
    }

    #[test]
    fn words_and_characters_belong_to_their_sequence() {
        let pair = pair();

        assert_eq!(pair.word_to_tokens(0, 0), Some((1, 3)));
        assert_eq!(pair.word_to_tokens(1, 0), Some((3, 4)));
        assert_eq!(pair.word_to_tokens(0, 1), Some((5, 6)));
        assert_eq!(pair.word_to_tokens(2, 1), None);
        assert_eq!(pair.word_to_chars(0, 0), Some((0, 5)));
        assert_eq!(pair.word_to_chars(1, 1), Some((2, 3)));
        assert_eq!(pair.char_to_token(2, 0), Some(2));
        assert_eq!(pair.char_to_token(5, 0), None);
        assert_eq!(pair.char_to_token(2, 1), Some(6));
        assert_eq!(pair.char_to_word(7, 0), Some(1));
        assert_eq!(pair.token_to_word(6), Some((1, 1)));
        assert_eq!(pair.token_to_word(4), None);
        assert_eq!(pair.token_to_chars(3), Some((0, (6, 9))));
        assert_eq!(
            pair.sequence_ids(),
            [None, Some(0), Some(0), Some(0), None, Some(1), Some(1), None]
        );
    }

    #[test]
    fn an_index_outside_gives_none() {
        let pair = pair();

        assert_eq!(pair.token_to_sequence(8), None);
        assert_eq!(pair.token_to_sequence(usize::MAX), None);
        assert_eq!(pair.token_to_chars(9), None);
        assert_eq!(pair.token_to_word(9), None);
        assert_eq!(pair.char_to_token(usize::MAX, 0), None);
        assert_eq!(pair.word_to_tokens(u32::MAX, 0), None);
        assert_eq!(Encoding::default().word_to_chars(0, 0), None);
    }

    #[test]
    fn odd_cases_are_those_of_stock() {
        let mut single = pair();
        single.sequence_ranges.clear();

        // Just behind the last token, and a sequence that was never declared: stock 0.23.3 answers.
        assert_eq!(single.token_to_sequence(8), Some(0));
        assert_eq!(single.token_to_sequence(9), None);
        assert_eq!(single.word_to_tokens(0, 5), Some((1, 3)));

        single.sequence_ranges.insert(1, 5..7);
        assert_eq!(single.n_sequences(), 1);
        assert_eq!(single.sequence_ids(), vec![Some(0); 8]);
    }
}
