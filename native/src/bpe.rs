//! The model: merges the symbols of one pretoken, lowest rank first, leftmost on ties.
//!
//! Guarantee: the result equals stock's heap: at each step the pair of lowest rank *now* present is merged,
//! leftmost first. (On tables edited by hand this differs from replaying all merges in order.)

mod characters;
mod dropout;
mod list;
mod runs;
mod short;
mod symbols;
mod tree;
mod whole_characters;
mod windows;
mod words;

pub use dropout::Dropout;
pub use symbols::Symbols;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use crate::byte_alphabet;
use crate::merges::{AsciiPairs, Merges};
use crate::quoted::Quoted;
use crate::vocab::{TokenBytes, TokenId, Vocab};
use crate::{Error, Result};
use characters::Characters;
use whole_characters::WholeCharacters;
use words::Words;

/// The settings of the model, as `tokenizer.json` names them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BpeSettings {
    /// How often a merge is passed over, from 0 to 1.
    pub dropout: Option<f32>,
    /// Stands for a symbol that the vocabulary lacks.
    pub unk_token: Option<String>,
    /// Put before each symbol of a pretoken but the first.
    pub continuing_subword_prefix: Option<String>,
    /// Put after the last symbol of a pretoken.
    pub end_of_word_suffix: Option<String>,
    /// Whether neighbouring unknown symbols become one.
    pub fuse_unk: bool,
    /// Whether an unknown symbol is spelled in tokens such as `<0x0A>`.
    pub byte_fallback: bool,
    /// Whether a pretoken that is a token needs no merges.
    pub ignore_merges: bool,
}

/// Vocabulary, merges and settings: everything that decides the ids of a pretoken.
#[derive(Clone)]
pub struct Bpe {
    /// The tokens.
    pub vocab: Vocab,
    /// The merges.
    pub merges: Merges,
    /// The settings.
    pub settings: BpeSettings,
    bytes: Option<TokenBytes>,
    symbols_of_bytes: Box<[Option<TokenId>; 256]>,
    characters: Characters,
    words: OnceLock<Option<Words>>,
    unk_id: Option<TokenId>,
    banned: Vec<TokenId>,
    has_all_bytes: bool,
    ascii_pairs: AsciiPairs,
    whole_characters: OnceLock<Arc<WholeCharacters>>,
}

/// One token of a pretoken and how many bytes of it the token covers.
pub type Part = (TokenId, usize);

impl Bpe {
    /// Puts a model together; `byte_level` says that its tokens are written in the byte alphabet.
    pub fn new(vocab: Vocab, merges: Merges, settings: BpeSettings, byte_level: bool) -> Self {
        let bytes = byte_level.then(|| TokenBytes::new(&vocab));
        let symbol = |byte: usize| vocab.id(byte_alphabet::char_of(byte as u8).encode_utf8(&mut [0; 4]));
        let symbols_of_bytes: Box<[_; 256]> = Box::new(std::array::from_fn(symbol));
        let unk_id = settings.unk_token.as_deref().and_then(|unk| vocab.id(unk));
        Self {
            characters: Characters::new(&vocab),
            words: OnceLock::new(),
            has_all_bytes: symbols_of_bytes.iter().all(Option::is_some),
            ascii_pairs: AsciiPairs::new(&merges, &symbols_of_bytes),
            vocab,
            merges,
            settings,
            bytes,
            symbols_of_bytes,
            unk_id,
            banned: Vec::new(),
            whole_characters: OnceLock::new(),
        }
    }

    /// The same model without a way to any of `ids`: neither by merging nor as a whole pretoken.
    pub fn without(&self, ids: &[TokenId]) -> Self {
        let merges = self.merges.without_results(ids);
        Self {
            ascii_pairs: AsciiPairs::new(&merges, &self.symbols_of_bytes),
            merges,
            banned: ids.to_vec(),
            words: OnceLock::new(),
            whole_characters: OnceLock::new(),
            ..self.clone()
        }
    }

    /// The bytes behind each token, where the vocabulary is byte-level.
    pub fn token_bytes(&self) -> Option<&TokenBytes> {
        self.bytes.as_ref()
    }

    /// Whether each of the 256 bytes is a token.
    pub fn has_all_bytes(&self) -> bool {
        self.has_all_bytes
    }

    /// Whether [`Self::encode_bytes`] gives what [`Self::encode_text`] gives on the byte alphabet: no affixes, no
    /// fallback, and no byte that would need `unk_token`.
    pub fn runs_on_bytes(&self) -> bool {
        let settings = &self.settings;
        let affix = |affix: &Option<String>| affix.as_deref().is_some_and(|text| !text.is_empty());
        let complete = self.has_all_bytes();
        self.bytes.is_some()
            && !affix(&settings.continuing_subword_prefix)
            && !affix(&settings.end_of_word_suffix)
            && (complete || (settings.unk_token.is_none() && !settings.byte_fallback))
    }

    /// The rate of dropout, where there is any.
    pub fn dropout(&self) -> Option<f32> {
        self.settings.dropout.filter(|&rate| rate != 0.0)
    }

    /// The same model, which passes over no merge by chance.
    pub fn without_dropout(&self) -> Cow<'_, Self> {
        if self.dropout().is_none() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self {
            settings: BpeSettings {
                dropout: None,
                ..self.settings.clone()
            },
            words: OnceLock::new(),
            ..self.clone()
        })
    }

    /// The token for what the vocabulary lacks, where it has one.
    pub fn unk(&self) -> Option<TokenId> {
        self.unk_id
    }

    /// The tokens that spell one byte, such as `<0x0A>`, where the model makes them.
    pub fn byte_tokens(&self) -> impl Iterator<Item = TokenId> {
        let used = self.settings.byte_fallback;
        self.characters.byte_tokens().filter(move |_| used)
    }

    /// Whether each character that is no token is spelled in byte tokens, and none carries an affix.
    pub fn spells_characters_in_bytes(&self) -> bool {
        let settings = &self.settings;
        let affixes = [&settings.continuing_subword_prefix, &settings.end_of_word_suffix];
        let plain = affixes
            .iter()
            .all(|affix| affix.as_deref().unwrap_or_default().is_empty());
        settings.byte_fallback && self.characters.has_all_bytes() && plain && self.bytes.is_none()
    }

    /// Whether a character that is spelled in byte tokens may become a token, and all else stays: it does not where some
    /// bytes have no token, since an unknown token is written behind bytes that follow it, nor where merges join bytes,
    /// since a character in their place could keep them from joining.
    pub fn takes_new_characters(&self) -> bool {
        let bytes: HashSet<_> = self.byte_tokens().collect();
        let joined = |(left, right, _)| bytes.contains(&left) || bytes.contains(&right);
        self.spells_characters_in_bytes() && !self.merges.iter().any(joined)
    }

    /// The token that `char` alone is before anything merges.
    pub fn character(&self, char: char) -> Option<TokenId> {
        self.characters.id(char)
    }

    /// Whether a pretoken that is a token is taken whole. Stock doesn't ask where merges are dropped.
    fn takes_whole(&self) -> bool {
        self.settings.ignore_merges && self.dropout().is_none()
    }

    /// Appends the ids of a pretoken of text whose symbols are its bytes: what [`Self::encode_bytes`] gives, sooner.
    pub fn encode_pretoken(&self, pretoken: &str, symbols: &mut Symbols, ids: &mut Vec<TokenId>) {
        if self.takes_whole()
            && let Some(id) = self.whole(pretoken.as_bytes())
        {
            ids.push(id);
            return;
        }
        self.merge_pretoken(pretoken, symbols);
        ids.extend_from_slice(symbols.ids());
    }

    /// Appends the ids of a pretoken given as raw bytes. Bytes that the vocabulary lacks are skipped, as in stock.
    pub fn encode_bytes(&self, pretoken: &[u8], symbols: &mut Symbols, ids: &mut Vec<TokenId>) {
        if self.takes_whole()
            && let Some(id) = self.whole(pretoken)
        {
            ids.push(id);
            return;
        }
        self.merge_bytes(pretoken, symbols);
        ids.extend_from_slice(symbols.ids());
    }

    /// [`Self::encode_pretoken`] with the number of bytes that each token covers. A skipped byte shortens the sum, as in
    /// stock.
    pub fn encode_pretoken_parts(&self, pretoken: &str, symbols: &mut Symbols, parts: &mut Vec<Part>) {
        if self.takes_whole()
            && let Some(id) = self.whole(pretoken.as_bytes())
        {
            parts.push((id, pretoken.len()));
            return;
        }
        self.merge_pretoken(pretoken, symbols);
        parts.extend(symbols.parts());
    }

    fn merge_pretoken(&self, pretoken: &str, symbols: &mut Symbols) {
        if pretoken.is_ascii() && self.has_all_bytes {
            let bytes = pretoken.as_bytes();
            symbols.clear();
            symbols.extend(
                bytes
                    .iter()
                    .map(|&byte| self.symbols_of_bytes[byte as usize].unwrap_or(0)),
            );
            return symbols.merge_from(&self.merges, |at, _, _| {
                self.ascii_pairs.rank(bytes[at], bytes[at + 1])
            });
        }
        // Where merges are passed over by chance, or don't go by rank alone, every character begins as bytes; and where some
        // byte is skipped, since what comes before and after is then not what a symbol meets.
        let by_rank = symbols.dropout.is_none() && !self.merges.need_heap() && self.has_all_bytes;
        let whole = by_rank.then(|| self.whole_characters());
        symbols.clear();
        let (mut before, mut end) = (None, 0);
        for char in pretoken.chars() {
            end += char.len_utf8();
            let before = before.replace(char);
            if char.is_ascii() {
                if let Some(id) = self.symbols_of_bytes[char as usize] {
                    symbols.push(id, 1);
                }
                continue;
            }
            if let Some(whole) = whole {
                let after = pretoken.as_bytes().get(end).copied();
                let whole = whole.get(char, before, after, &self.symbols_of_bytes, &self.merges);
                if whole.count() > 0 {
                    whole.parts().for_each(|(id, length)| symbols.push(id, length));
                    continue;
                }
            }
            for &byte in char.encode_utf8(&mut [0; 4]).as_bytes() {
                if let Some(id) = self.symbols_of_bytes[byte as usize] {
                    symbols.push(id, 1);
                }
            }
        }
        symbols.merge(&self.merges);
    }

    fn whole_characters(&self) -> &WholeCharacters {
        self.whole_characters.get_or_init(|| {
            let tokens = self
                .bytes
                .as_ref()
                .expect("only a byte-level model merges pretokens of bytes");
            Arc::new(WholeCharacters::new(tokens, &self.merges))
        })
    }

    fn merge_bytes(&self, pretoken: &[u8], symbols: &mut Symbols) {
        symbols.clear();
        for &byte in pretoken {
            if let Some(id) = self.symbols_of_bytes[byte as usize] {
                symbols.push(id, 1);
            }
        }
        symbols.merge(&self.merges);
    }

    fn whole(&self, pretoken: &[u8]) -> Option<TokenId> {
        let id = self.bytes.as_ref()?.id(pretoken)?;
        (!self.banned.contains(&id)).then_some(id)
    }

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

    /// How a long pretoken may be cut into words that never merge, where that is proven.
    pub fn words(&self) -> Option<&Words> {
        let prove = || Words::new(&self.characters, &self.merges, &self.settings, self.unk_id);
        self.words.get_or_init(prove).as_ref()
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

    /// The same for a pretoken whose symbols are its bytes.
    pub fn unmerged_bytes(&self, pretoken: &[u8], parts: &mut Vec<Part>) {
        let ids = pretoken.iter().map(|&byte| self.symbols_of_bytes[byte as usize]);
        parts.extend(ids.flatten().map(|id| (id, 1)));
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
