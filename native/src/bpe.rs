//! The model: merges the symbols of one pretoken, lowest rank first, leftmost on ties.
//!
//! Guarantee: the result equals stock's heap: at each step the pair of lowest rank *now* present is merged,
//! leftmost first. (On tables edited by hand this differs from replaying all merges in order.)

use std::sync::OnceLock;

use crate::byte_alphabet;
use crate::characters::WholeCharacters;
use crate::merges::{AsciiPairs, Merges};
use crate::symbols::{Part, Symbols};
use crate::vocab::{TokenBytes, TokenId, Vocab};
use crate::{Error, Result};

/// The settings of the model, as `tokenizer.json` names them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BpeSettings {
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
    unk_id: Option<TokenId>,
    banned: Vec<TokenId>,
    has_all_bytes: bool,
    ascii_pairs: AsciiPairs,
    whole_characters: OnceLock<WholeCharacters>,
}

impl Bpe {
    /// Puts a model together; `byte_level` says that its tokens are written in the byte alphabet.
    pub fn new(vocab: Vocab, merges: Merges, settings: BpeSettings, byte_level: bool) -> Self {
        let bytes = byte_level.then(|| TokenBytes::new(&vocab));
        let symbol = |byte: usize| vocab.id(byte_alphabet::char_of(byte as u8).encode_utf8(&mut [0; 4]));
        let symbols_of_bytes: Box<[_; 256]> = Box::new(std::array::from_fn(symbol));
        let unk_id = settings.unk_token.as_deref().and_then(|unk| vocab.id(unk));
        Self {
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

    /// Appends the ids of a pretoken of text whose symbols are its bytes: what [`Self::encode_bytes`] gives, sooner.
    pub fn encode_pretoken(&self, pretoken: &str, symbols: &mut Symbols, ids: &mut Vec<TokenId>) {
        if self.settings.ignore_merges
            && let Some(id) = self.whole(pretoken.as_bytes())
        {
            ids.push(id);
            return;
        }
        self.merge_pretoken(pretoken, symbols);
        ids.extend(symbols.ids());
    }

    /// Appends the ids of a pretoken given as raw bytes. Bytes that the vocabulary lacks are skipped, as in stock.
    pub fn encode_bytes(&self, pretoken: &[u8], symbols: &mut Symbols, ids: &mut Vec<TokenId>) {
        if self.settings.ignore_merges
            && let Some(id) = self.whole(pretoken)
        {
            ids.push(id);
            return;
        }
        self.merge_bytes(pretoken, symbols);
        ids.extend(symbols.ids());
    }

    /// [`Self::encode_pretoken`] with the number of bytes that each token covers. A skipped byte shortens the sum, as in
    /// stock.
    pub fn encode_pretoken_parts(&self, pretoken: &str, symbols: &mut Symbols, parts: &mut Vec<Part>) {
        if self.settings.ignore_merges
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
            bytes
                .iter()
                .filter_map(|&byte| self.symbols_of_bytes[byte as usize])
                .for_each(|id| symbols.push(id, 1));
            return symbols.merge_from(&self.merges, |at, _, _| {
                self.ascii_pairs.get(bytes[at], bytes[at + 1])
            });
        }
        let whole = self.whole_characters();
        symbols.clear();
        let mut before = None;
        for char in pretoken.chars() {
            if let Some(id) = whole.get(char, before.replace(char)) {
                symbols.push(id, char.len_utf8());
                continue;
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
            WholeCharacters::new(tokens, &self.symbols_of_bytes, &self.merges)
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
        if self.settings.ignore_merges
            && let Some(id) = self.vocab.id(pretoken)
            && !self.banned.contains(&id)
        {
            parts.push((id, pretoken.len()));
            return Ok(());
        }
        self.split_into_symbols(pretoken, symbols)?;
        symbols.merge(&self.merges);
        parts.extend(symbols.parts());
        Ok(())
    }

    fn split_into_symbols(&self, pretoken: &str, symbols: &mut Symbols) -> Result<()> {
        symbols.clear();
        let prefix = self
            .settings
            .continuing_subword_prefix
            .as_deref()
            .unwrap_or_default();
        let suffix = self.settings.end_of_word_suffix.as_deref().unwrap_or_default();
        let mut unknown: Option<usize> = None;
        let mut spelled = String::new();
        for (start, char) in pretoken.char_indices() {
            let length = char.len_utf8();
            spelled.clear();
            if start > 0 {
                spelled.push_str(prefix);
            }
            spelled.push(char);
            if start + length == pretoken.len() {
                spelled.push_str(suffix);
            }
            if let Some(id) = self.vocab.id(&spelled) {
                self.push_unknown(unknown.take(), symbols)?;
                symbols.push(id, length);
            } else if let Some(bytes) = self.byte_fallback(&spelled) {
                // Stock leaves a waiting unknown token where it is: it comes out after these bytes.
                bytes.into_iter().for_each(|id| symbols.push(id, 1));
            } else if self.settings.unk_token.is_some() {
                if self.settings.fuse_unk {
                    unknown = Some(unknown.unwrap_or(0) + length);
                } else {
                    self.push_unknown(unknown.replace(length), symbols)?;
                }
                self.unk_id()?;
            }
        }
        self.push_unknown(unknown, symbols)
    }

    fn byte_fallback(&self, symbol: &str) -> Option<Vec<TokenId>> {
        let spell = |byte| format!("<0x{byte:02X}>");
        let ids = || symbol.bytes().map(|byte| self.vocab.id(&spell(byte))).collect();
        self.settings.byte_fallback.then(ids).flatten()
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
                "the text holds a character that the vocabulary lacks, and model.unk_token '{unk}', which should \
                 stand for it, is not in the vocabulary either"
            ))
        })
    }
}
