//! Ids back to text and bytes.

use std::borrow::Cow;

use super::Tokenizer;
use super::decode_table::DecodeTable;
use crate::decoder::{self, Decoder, Piece, byte_fallback};
use crate::parallel;
use crate::vocab::{TokenBytes, TokenId};
use crate::{Error, Result};

impl Tokenizer {
    /// The text of `ids`. An id without a token gives nothing, as in stock.
    ///
    /// # Errors
    /// [`Error::SplitPattern`]: a regex of the decoder ran into its limits.
    pub fn decode(&self, ids: &[TokenId], skip_special_tokens: bool) -> Result<String> {
        let bytes = self.decode_to_utf8(ids, skip_special_tokens)?;
        Ok(decoder::text_of(bytes))
    }

    /// The bytes that [`Tokenizer::decode`] reads as a text. They are UTF-8 but for characters that are cut.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn decode_to_utf8(&self, ids: &[TokenId], skip_special_tokens: bool) -> Result<Vec<u8>> {
        if let Some(table) = self.decode_table() {
            return Ok(table.decode(ids, |id, bytes| {
                if let Some(piece) = self.piece(id, skip_special_tokens) {
                    piece.extend(bytes);
                }
            }));
        }
        let pieces = ids.iter().filter_map(|&id| self.piece(id, skip_special_tokens));
        decoder::decode(self.decoder.as_ref(), pieces).map(String::into_bytes)
    }

    /// The bytes by id, made when they are first needed. A vocabulary with huge ids has the first ones only.
    fn decode_table(&self) -> Option<&DecodeTable> {
        self.decoder.as_ref().filter(|decoder| decoder.is_byte_level())?;
        let make = || {
            let ids = self.max_id().map_or(0, |id| (id as usize).saturating_add(1));
            let bound = ids.min(4 * (self.bpe.vocab.len() + self.added.len()));
            let tokens = self.bpe.token_bytes().into_iter().flat_map(TokenBytes::iter);
            let doubles = self.bpe.vocab.doubles().map(|(_, id)| id);
            DecodeTable::new(bound, tokens, doubles.chain(self.added.iter().map(|(id, _)| id)))
        };
        Some(self.decode_table.get_or_init(make))
    }

    /// The text of each list of ids, on all cores.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn decode_batch(&self, batch: &[Vec<TokenId>], skip_special_tokens: bool) -> Result<Vec<String>> {
        let texts = self.decode_batch_to_utf8(batch, skip_special_tokens)?;
        Ok(texts.into_iter().map(decoder::text_of).collect())
    }

    /// [`Tokenizer::decode_to_utf8`] of each list of ids, on all cores.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn decode_batch_to_utf8(
        &self,
        batch: &[Vec<TokenId>],
        skip_special_tokens: bool,
    ) -> Result<Vec<Vec<u8>>> {
        let sizes: Vec<_> = batch.iter().map(|ids| 4 * ids.len()).collect();
        let decode = |ids: &Vec<TokenId>| self.decode_to_utf8(ids, skip_special_tokens);
        let parts = parallel::map_parts(&sizes, |part| batch[part].iter().map(decode).collect::<Vec<_>>());
        parts.into_iter().flatten().collect()
    }

    /// The bytes of `ids`, one after the other.
    ///
    /// # Errors
    /// [`Error::UnknownToken`] names an id without a token; else as [`Tokenizer::decode`].
    pub fn decode_bytes(&self, ids: &[TokenId]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(4 * ids.len());
        for &id in ids {
            let unknown = || Error::UnknownToken(format!("id {id} has no token"));
            bytes.extend_from_slice(&self.token_bytes(id)?.ok_or_else(unknown)?);
        }
        Ok(bytes)
    }

    /// The bytes that `id` stands for: in a byte-level vocabulary those of the byte alphabet, and of an added token its
    /// text; else what the decoder makes of the token in the middle of a text, with `<0x0A>` being a byte.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn token_bytes(&self, id: TokenId) -> Result<Option<Cow<'_, [u8]>>> {
        if let Some(table) = self.bpe.token_bytes() {
            if let Some(token) = self.added.get(id) {
                return Ok(Some(Cow::Borrowed(token.content.as_bytes())));
            }
            if let Some(bytes) = table.bytes(id) {
                return Ok(Some(Cow::Borrowed(bytes)));
            }
        }
        let Some(piece) = self.piece(id, false) else {
            return Ok(None);
        };
        if let Piece::Token(token) = piece
            && self.bpe.settings.byte_fallback
            && let Some(byte) = byte_fallback::byte_of(token)
        {
            return Ok(Some(Cow::Owned(vec![byte])));
        }
        Ok(Some(match &self.decoder {
            Some(decoder) => decoder.token_bytes(piece)?,
            None => Cow::Borrowed(piece.text().as_bytes()),
        }))
    }

    /// The text that these tokens, given as the vocabulary writes them, stand for.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn decode_tokens<'a>(&self, tokens: impl IntoIterator<Item = &'a str>) -> Result<String> {
        let pieces = tokens.into_iter().map(|token| match self.added.id(token) {
            Some(_) => Piece::Text(token),
            None => Piece::Token(token),
        });
        decoder::decode(self.decoder.as_ref(), pieces)
    }

    /// What the decoder gets for `id`; nothing for an unknown id or a special token that is skipped.
    pub fn piece(&self, id: TokenId, skip_special_tokens: bool) -> Option<Piece<'_>> {
        if let Some(text) = self.added.spelling(id) {
            return (!skip_special_tokens || !self.added.is_special(text)).then_some(Piece::Text(text));
        }
        // Bytes save the decoder a walk through the alphabet; other decoders read texts.
        if self.decoder.as_ref().is_some_and(Decoder::reads_bytes)
            && let Some(bytes) = self.bpe.token_bytes().and_then(|table| table.bytes(id))
        {
            return Some(Piece::Bytes(bytes));
        }
        self.bpe.vocab.token(id).map(Piece::Token)
    }
}
