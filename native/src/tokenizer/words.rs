//! The words that an extension of the vocabulary counts, and what the model makes of each.
//!
//! Guarantee: the words of a text, with what lies between them, give the ids of the text. Words that the model never
//! joins (see `bpe/words.rs`) are counted one by one, so that no new merge joins them either.

use std::borrow::Cow;

use super::{Route, Tokenizer};
use crate::added_tokens::Allowed;
use crate::bpe::{Bpe, Part, Symbols};
use crate::normalizer::Normalized;
use crate::pre_tokenizer::Scratch;
use crate::vocab::TokenId;
use crate::{Result, byte_alphabet};

impl Tokenizer {
    /// Calls `emit` with each word of `text`, in order, as the model sees it. Added tokens are cut out.
    ///
    /// # Errors
    /// What a pattern raises that runs away.
    pub fn words(&self, text: &str, scratch: &mut Scratch, emit: &mut dyn FnMut(&str)) -> Result<()> {
        super::encode::check_length(text)?;
        self.added
            .split_raw(text, Allowed::All, &mut |range, added| match added {
                Some(_) => Ok(()),
                None => self.words_of_segment(&text[range.clone()], range.start, scratch, emit),
            })
    }

    /// The same for a text in which no added token is looked for.
    pub(super) fn words_of_uncut(&self, text: &str, emit: &mut dyn FnMut(&str)) -> Result<()> {
        let pieces = self.pieces(self.normalize_aligned(text, 0)?)?;
        pieces.iter().for_each(|piece| emit(piece.text()));
        Ok(())
    }

    fn words_of_segment(
        &self,
        segment: &str,
        start: usize,
        scratch: &mut Scratch,
        emit: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let normalized = match &self.normalizer {
            Some(normalizer) => normalizer.run(segment)?,
            None => Normalized::Text(segment.into()),
        };
        let Normalized::Text(normalized) = normalized else {
            let aligned = self.normalize_aligned(segment, start)?;
            return self
                .added
                .split_normalized(aligned.text(), Allowed::All, &mut |range, added| {
                    if added.is_none() {
                        let pieces = self.pieces(aligned.slice(range))?;
                        pieces.iter().for_each(|piece| self.words_of(piece.text(), emit));
                    }
                    Ok(())
                });
        };
        let head = self.head(segment, start, matches!(normalized, Cow::Owned(_)))?;
        self.added
            .split_normalized(&normalized, Allowed::All, &mut |range, added| match added {
                Some(_) => Ok(()),
                None => {
                    let head = head.saturating_sub(range.start);
                    self.words_of_plain(&normalized[range], head, scratch, emit)
                }
            })
    }

    fn words_of_plain(
        &self,
        text: &str,
        head: usize,
        scratch: &mut Scratch,
        emit: &mut dyn FnMut(&str),
    ) -> Result<()> {
        match self.route {
            Route::Pieces => self.text_pieces(text, head, scratch, |piece| self.words_of(piece, emit)),
            Route::Bytes { prefix_space } if prefix_space && !text.starts_with(' ') => {
                let prefixed = format!(" {text}");
                self.split_ranges(&prefixed, scratch, |range| emit(&prefixed[range]))
            }
            Route::Bytes { .. } => self.split_ranges(text, scratch, |range| emit(&text[range])),
        }
    }

    fn words_of(&self, piece: &str, emit: &mut dyn FnMut(&str)) {
        match self.bpe.words() {
            Some(words) if self.bpe.whole_text(piece).is_none() => {
                words.ranges(piece).for_each(|range| emit(&piece[range]));
            }
            _ => emit(piece),
        }
    }

    /// The tokens that `bpe` makes of a word, and how many bytes of the word each covers.
    ///
    /// # Errors
    /// As [`Bpe::encode_text`].
    pub fn parts_of_word(
        &self,
        bpe: &Bpe,
        word: &str,
        symbols: &mut Symbols,
        parts: &mut Vec<Part>,
    ) -> Result<()> {
        match self.route {
            Route::Bytes { .. } => {
                bpe.encode_pretoken_parts(word, symbols, parts);
                Ok(())
            }
            Route::Pieces => bpe.encode_text(word, symbols, parts),
        }
    }

    /// The word that the model would have to see to make `token` of it; none where that is part of a character, and no
    /// text spells it.
    pub fn word_of_token<'a>(&self, token: &'a str) -> Option<Cow<'a, str>> {
        match self.route {
            Route::Bytes { .. } => {
                let bytes = byte_alphabet::token_to_bytes(token)?;
                String::from_utf8(bytes).ok().map(Cow::Owned)
            }
            Route::Pieces => {
                let suffix = self.bpe.settings.end_of_word_suffix.as_deref();
                Some(
                    token
                        .strip_suffix(suffix.unwrap_or_default())
                        .unwrap_or(token)
                        .into(),
                )
            }
        }
    }

    /// Whether the pipeline leaves the text of `token` whole: one word, with at most something put before it. What is part
    /// of a character is judged by its characters, not here.
    ///
    /// # Errors
    /// What a pattern raises that runs away.
    pub fn stands_alone(&self, token: &str, scratch: &mut Scratch) -> Result<bool> {
        let Some(word) = self.word_of_token(token) else {
            return Ok(true);
        };
        let Some(text) = self.text_of_word(&word) else {
            return Ok(true);
        };
        let (mut words, mut whole) = (0, false);
        self.words(&text, scratch, &mut |found| {
            words += 1;
            whole = found.ends_with(&*word);
        })?;
        Ok(words == 1 && whole)
    }

    /// The text that a word stands for: `▁` is a space, and what the byte alphabet writes is read back. None where no
    /// text spells the word.
    fn text_of_word<'a>(&self, word: &'a str) -> Option<Cow<'a, str>> {
        match self.route {
            Route::Bytes { .. } => Some(word.into()),
            Route::Pieces if self.is_byte_level() => {
                let bytes = byte_alphabet::token_to_bytes(word)?;
                String::from_utf8(bytes).ok().map(Cow::Owned)
            }
            Route::Pieces => Some(word.replace('▁', " ").into()),
        }
    }

    /// The word as the vocabulary spells it: the way back from [`Self::word_of_token`], but for the end of a word.
    pub fn spelling_of_word<'a>(&self, word: &'a str) -> Cow<'a, str> {
        match self.route {
            Route::Bytes { .. } => byte_alphabet::bytes_to_token(word.as_bytes()).into(),
            Route::Pieces => {
                let suffix = self.bpe.settings.end_of_word_suffix.as_deref();
                match suffix.unwrap_or_default() {
                    "" => word.into(),
                    suffix => format!("{word}{suffix}").into(),
                }
            }
        }
    }

    /// What a word begins as, before anything merges.
    ///
    /// # Errors
    /// As [`Bpe::encode_text`].
    pub fn unmerged(&self, word: &str, symbols: &mut Symbols, parts: &mut Vec<Part>) -> Result<()> {
        match self.route {
            Route::Bytes { .. } => {
                self.bpe.unmerged_bytes(word.as_bytes(), parts);
                Ok(())
            }
            Route::Pieces => self.bpe.unmerged_text(word, symbols, parts),
        }
    }

    /// The ids of a word that is given as the vocabulary spells it; it may be part of a character.
    ///
    /// # Errors
    /// As [`Bpe::encode_text`].
    pub fn ids_of_spelling(&self, bpe: &Bpe, token: &str, symbols: &mut Symbols) -> Result<Vec<TokenId>> {
        let mut ids = Vec::new();
        let bytes = match self.route {
            Route::Bytes { .. } => byte_alphabet::token_to_bytes(token),
            Route::Pieces => None,
        };
        match bytes {
            Some(bytes) => bpe.encode_bytes(&bytes, symbols, &mut ids),
            None => {
                let word = self.word_of_token(token).unwrap_or(token.into());
                let mut parts = Vec::new();
                bpe.encode_text(&word, symbols, &mut parts)?;
                ids.extend(parts.into_iter().map(|(id, _)| id));
            }
        }
        Ok(ids)
    }
}
