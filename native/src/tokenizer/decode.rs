//! Ids back to text and bytes.

use super::Tokenizer;
use crate::decoder::{self, Piece};
use crate::parallel;
use crate::vocab::TokenId;
use crate::{Error, Result};

impl Tokenizer {
    /// The text of `ids`. An id without a token gives nothing, as in stock.
    pub fn decode(&self, ids: &[TokenId], skip_special_tokens: bool) -> String {
        let pieces = ids.iter().filter_map(|&id| self.piece(id, skip_special_tokens));
        decoder::decode(self.decoder.as_ref(), pieces)
    }

    /// The text of each list of ids, on all cores.
    pub fn decode_batch(&self, batch: &[Vec<TokenId>], skip_special_tokens: bool) -> Vec<String> {
        let sizes: Vec<_> = batch.iter().map(|ids| 4 * ids.len()).collect();
        let decode = |ids: &Vec<TokenId>| self.decode(ids, skip_special_tokens);
        let parts = parallel::map_parts(&sizes, |part| batch[part].iter().map(decode).collect::<Vec<_>>());
        parts.into_iter().flatten().collect()
    }

    /// The bytes of `ids`, one after the other.
    ///
    /// # Errors
    /// [`Error::UnknownToken`] names an id without a token.
    pub fn decode_bytes(&self, ids: &[TokenId]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(4 * ids.len());
        for &id in ids {
            let unknown = || Error::UnknownToken(format!("id {id} has no token"));
            bytes.extend_from_slice(self.token_bytes(id).ok_or_else(unknown)?);
        }
        Ok(bytes)
    }

    /// The text that these tokens, given as the vocabulary writes them, stand for.
    pub fn decode_tokens<'a>(&self, tokens: impl IntoIterator<Item = &'a str>) -> String {
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
        if let Some(bytes) = self.bpe.token_bytes().and_then(|table| table.bytes(id)) {
            return Some(Piece::Bytes(bytes));
        }
        self.bpe.vocab.token(id).map(Piece::Token)
    }
}
