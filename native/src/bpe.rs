//! The model: merges the symbols of one pretoken, lowest rank first, leftmost on ties.
//!
//! Guarantee: the result equals stock's heap: at each step the pair of lowest rank *now* present is merged,
//! leftmost first. (On tables edited by hand this differs from replaying all merges in order.)

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::byte_alphabet;
use crate::merges::{Merges, Rank};
use crate::vocab::{TokenBytes, TokenId, Vocab};
use crate::{Error, Result};

/// Up to this many symbols a scan for the lowest rank beats a heap: 99 % of pretokens have at most 12 bytes.
/// Longer ones need the heap, since the scan is quadratic and `"a" * 1_000_000` is a legal input.
const SHORT: usize = 32;

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
}

/// One token of a pretoken and how many bytes of it the token covers.
pub type Part = (TokenId, usize);

impl Bpe {
    /// Puts a model together; `byte_level` says that its tokens are written in the byte alphabet.
    pub fn new(vocab: Vocab, merges: Merges, settings: BpeSettings, byte_level: bool) -> Self {
        let bytes = byte_level.then(|| TokenBytes::new(&vocab));
        let symbol = |byte: usize| vocab.id(byte_alphabet::char_of(byte as u8).encode_utf8(&mut [0; 4]));
        let symbols_of_bytes = Box::new(std::array::from_fn(symbol));
        let unk_id = settings.unk_token.as_deref().and_then(|unk| vocab.id(unk));
        Self {
            vocab,
            merges,
            settings,
            bytes,
            symbols_of_bytes,
            unk_id,
            banned: Vec::new(),
        }
    }

    /// The same model without a way to any of `ids`: neither by merging nor as a whole pretoken.
    pub fn without(&self, ids: &[TokenId]) -> Self {
        Self {
            merges: self.merges.without_results(ids),
            banned: ids.to_vec(),
            ..self.clone()
        }
    }

    /// The bytes behind each token, where the vocabulary is byte-level.
    pub fn token_bytes(&self) -> Option<&TokenBytes> {
        self.bytes.as_ref()
    }

    /// Whether each of the 256 bytes is a token.
    pub fn has_all_bytes(&self) -> bool {
        self.symbols_of_bytes.iter().all(Option::is_some)
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

    /// Appends the ids of a pretoken given as raw bytes. Bytes that the vocabulary lacks are skipped, as in stock.
    pub fn encode_bytes(&self, pretoken: &[u8], symbols: &mut Symbols, ids: &mut Vec<TokenId>) {
        if self.settings.ignore_merges
            && let Some(id) = self.whole(pretoken)
        {
            ids.push(id);
            return;
        }
        self.merge_bytes(pretoken, symbols);
        ids.extend(symbols.parts().map(|(id, _)| id));
    }

    /// The same with the number of bytes that each token covers. A skipped byte shortens the sum, as in stock.
    pub fn encode_bytes_parts(&self, pretoken: &[u8], symbols: &mut Symbols, parts: &mut Vec<Part>) {
        if self.settings.ignore_merges
            && let Some(id) = self.whole(pretoken)
        {
            parts.push((id, pretoken.len()));
            return;
        }
        self.merge_bytes(pretoken, symbols);
        parts.extend(symbols.parts());
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

/// The symbols of one pretoken while they are merged: a list linked by position. Reused between pretokens.
#[derive(Default)]
pub struct Symbols {
    list: Vec<Symbol>,
    ranked: Vec<Ranked>,
    heap: BinaryHeap<Reverse<(Rank, u32, TokenId)>>,
}

#[derive(Clone, Copy)]
struct Symbol {
    id: TokenId,
    // Bytes covered; 0 marks a symbol that its left neighbour has swallowed.
    length: u32,
    previous: u32,
    next: u32,
}

const END: u32 = u32::MAX;

/// A pair of neighbours in the scan: when they merge, and into what. Pairs that don't are ranked behind all others.
#[derive(Clone, Copy)]
struct Ranked {
    rank: u64,
    id: TokenId,
}

const NEVER: u64 = u64::MAX;

impl Ranked {
    #[inline]
    fn new(merges: &Merges, left: TokenId, right: TokenId) -> Self {
        match merges.get(left, right) {
            Some(merge) => Self {
                rank: merge.rank.into(),
                id: merge.id,
            },
            None => Self { rank: NEVER, id: 0 },
        }
    }
}

impl Symbols {
    fn clear(&mut self) {
        self.list.clear();
    }

    fn push(&mut self, id: TokenId, length: usize) {
        let position = self.list.len() as u32;
        if let Some(last) = self.list.last_mut() {
            last.next = position;
        }
        self.list.push(Symbol {
            id,
            length: length as u32,
            previous: position.wrapping_sub(1),
            next: END,
        });
    }

    fn parts(&self) -> impl Iterator<Item = Part> {
        let kept = self.list.iter().filter(|symbol| symbol.length != 0);
        kept.map(|symbol| (symbol.id, symbol.length as usize))
    }

    fn merge(&mut self, merges: &Merges) {
        match self.list.len() {
            0 | 1 => {}
            2..=SHORT => self.merge_short(merges),
            _ => self.merge_long(merges),
        }
    }

    /// Scans for the lowest rank again after each merge.
    fn merge_short(&mut self, merges: &Merges) {
        let Self { list, ranked, .. } = self;
        ranked.clear();
        ranked.extend(
            list.windows(2)
                .map(|pair| Ranked::new(merges, pair[0].id, pair[1].id)),
        );
        loop {
            let (mut at, mut lowest) = (0, NEVER);
            for (index, pair) in ranked.iter().enumerate() {
                if pair.rank < lowest {
                    (at, lowest) = (index, pair.rank);
                }
            }
            if lowest == NEVER {
                return;
            }
            let id = ranked[at].id;
            list[at].id = id;
            list[at].length += list[at + 1].length;
            list.remove(at + 1);
            ranked.remove(at);
            if at > 0 {
                ranked[at - 1] = Ranked::new(merges, list[at - 1].id, id);
            }
            if at < ranked.len() {
                ranked[at] = Ranked::new(merges, id, list[at + 1].id);
            }
        }
    }

    /// A heap of the pairs that can merge; entries that a neighbour's merge made stale are dropped when they come up.
    fn merge_long(&mut self, merges: &Merges) {
        let Self { list, heap, .. } = self;
        heap.clear();
        let entry = |list: &[Symbol], at: u32| {
            let symbol = list[at as usize];
            let right = list.get(symbol.next as usize)?;
            let merge = merges.get(symbol.id, right.id)?;
            Some(Reverse((merge.rank, at, merge.id)))
        };
        heap.extend((0..list.len() as u32).filter_map(|at| entry(list, at)));
        while let Some(Reverse((_, at, id))) = heap.pop() {
            let symbol = list[at as usize];
            if symbol.length == 0 || symbol.next == END {
                continue;
            }
            let right = list[symbol.next as usize];
            if merges.get(symbol.id, right.id).is_none_or(|merge| merge.id != id) {
                continue;
            }
            list[symbol.next as usize].length = 0;
            list[at as usize] = Symbol {
                id,
                length: symbol.length + right.length,
                next: right.next,
                ..symbol
            };
            if let Some(after) = list.get_mut(right.next as usize) {
                after.previous = at;
            }
            if symbol.previous != END {
                heap.extend(entry(list, symbol.previous));
            }
            heap.extend(entry(list, at));
        }
    }
}
