//! Pretokens whose symbols are characters: affixes, unknown characters, and bytes in their place.

use super::{Bpe, Part, Symbols};
use crate::quoted::Quoted;
use crate::vocab::TokenId;
use crate::{Error, Result};

impl Bpe {
    /// Appends the tokens of a pretoken given as text, character by character.
    ///
    /// # Errors
    /// [`Error::UnknownToken`] where `unk_token` is needed and the vocabulary lacks it.
    pub fn encode_text(&self, pretoken: &str, symbols: &mut Symbols, parts: &mut Vec<Part>) -> Result<()> {
        if let Some(id) = self.whole_text(pretoken) {
            parts.push((id, pretoken.len()));
            return Ok(());
        }
        self.merge_text(pretoken, symbols)?;
        parts.extend(symbols.parts());
        Ok(())
    }

    /// The token that a pretoken is without any merge, where the model takes such tokens.
    pub fn whole_text(&self, pretoken: &str) -> Option<TokenId> {
        let id = self.takes_whole().then(|| self.vocab.id(pretoken)).flatten()?;
        (!self.banned.contains(&id)).then_some(id)
    }

    /// Appends the ids of a pretoken, or of a word of one, that isn't taken whole.
    ///
    /// # Errors
    /// As [`Self::encode_text`].
    pub fn encode_word(&self, word: &str, symbols: &mut Symbols, ids: &mut Vec<TokenId>) -> Result<()> {
        self.merge_text(word, symbols)?;
        ids.extend_from_slice(symbols.ids());
        Ok(())
    }

    /// Appends the symbols of a pretoken before anything merges.
    ///
    /// # Errors
    /// As [`Self::encode_text`].
    pub fn unmerged_text(&self, pretoken: &str, symbols: &mut Symbols, parts: &mut Vec<Part>) -> Result<()> {
        self.split_into_symbols(pretoken, symbols)?;
        parts.extend(symbols.parts());
        Ok(())
    }

    fn merge_text(&self, pretoken: &str, symbols: &mut Symbols) -> Result<()> {
        self.split_into_symbols(pretoken, symbols)?;
        symbols.merge(&self.merges);
        Ok(())
    }

    fn split_into_symbols(&self, pretoken: &str, symbols: &mut Symbols) -> Result<()> {
        symbols.clear();
        let settings = &self.settings;
        let prefix = settings.continuing_subword_prefix.as_deref().unwrap_or_default();
        let suffix = settings.end_of_word_suffix.as_deref().unwrap_or_default();
        let plain = prefix.is_empty() && suffix.is_empty();
        let mut unknown: Option<usize> = None;
        let mut spelled = String::new();
        for (start, char) in pretoken.char_indices() {
            let length = char.len_utf8();
            let known = if plain {
                self.characters.id(char)
            } else {
                spell(&mut spelled, char, (start > 0).then_some(prefix));
                if start + length == pretoken.len() {
                    spelled.push_str(suffix);
                }
                self.vocab.id(&spelled)
            };
            if let Some(id) = known {
                self.push_unknown(unknown.take(), symbols)?;
                symbols.push(id, length);
                continue;
            }
            if plain {
                spell(&mut spelled, char, None);
            }
            if settings.byte_fallback
                && let Some(bytes) = self.characters.bytes_of(&spelled)
            {
                // Stock leaves a waiting unknown token where it is: it comes out after these bytes.
                bytes.for_each(|id| symbols.push(id, 1));
            } else if settings.unk_token.is_some() {
                if settings.fuse_unk {
                    unknown = Some(unknown.unwrap_or(0) + length);
                } else {
                    self.push_unknown(unknown.replace(length), symbols)?;
                }
                self.unk_id()?;
            }
        }
        self.push_unknown(unknown, symbols)
    }

    fn push_unknown(&self, length: Option<usize>, symbols: &mut Symbols) -> Result<()> {
        if let Some(length) = length {
            symbols.push(self.unk_id()?, length);
        }
        Ok(())
    }

    fn unk_id(&self) -> Result<TokenId> {
        self.unk_id.ok_or_else(|| {
            let unk = self.settings.unk_token.as_deref().unwrap_or_default();
            Error::UnknownToken(format!(
                "the text holds a character that the vocabulary lacks, and model.unk_token {}, which should \
                 stand for it, is not in the vocabulary either",
                Quoted(unk)
            ))
        })
    }
}

fn spell(spelled: &mut String, char: char, prefix: Option<&str>) {
    spelled.clear();
    spelled.push_str(prefix.unwrap_or_default());
    spelled.push(char);
}
