//! The model: merges the symbols of one pretoken, lowest rank first, leftmost on ties.
//!
//! Guarantee: the result equals stock's heap: at each step the pair of lowest rank *now* present is merged,
//! leftmost first. (On tables edited by hand this differs from replaying all merges in order.)

mod bytes;
mod characters;
mod dropout;
mod list;
mod runs;
mod short;
mod symbols;
mod text;
mod tree;
mod whole_characters;
mod whole_tokens;
mod windows;
mod words;

pub use dropout::Dropout;
pub use symbols::Symbols;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use crate::byte_alphabet;
use crate::merges::{AsciiPairs, Merges};
use crate::vocab::{TokenBytes, TokenId, Vocab};
use characters::Characters;
use whole_characters::WholeCharacters;
use whole_tokens::WholeTokens;
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
    // Where pretokens are taken whole.
    whole_tokens: Option<Arc<WholeTokens>>,
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
        let whole = settings.ignore_merges;
        let unk_id = settings.unk_token.as_deref().and_then(|unk| vocab.id(unk));
        Self {
            characters: Characters::new(&vocab),
            words: OnceLock::new(),
            has_all_bytes: symbols_of_bytes.iter().all(Option::is_some),
            ascii_pairs: AsciiPairs::new(&merges, &symbols_of_bytes),
            whole_tokens: whole
                .then(|| bytes.as_ref().map(WholeTokens::new))
                .flatten()
                .map(Arc::new),
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

    /// How a long pretoken may be cut into words that never merge, where that is proven.
    pub fn words(&self) -> Option<&Words> {
        let prove = || Words::new(&self.characters, &self.merges, &self.settings, self.unk_id);
        self.words.get_or_init(prove).as_ref()
    }
}
