//! The words of a corpus in the tokens of an old vocabulary, from where merging goes on.
//!
//! Tokens that no new merge may touch end a word here: the unknown token, tokens that spell a byte (`<0x0A>`), and
//! special tokens. A character that is spelled in byte tokens may become a token itself: it is laid out as a head and a
//! tail, which pair with each other alone (see [`Heads`]), and their pair counts how often the character occurs.

use std::borrow::Cow;
use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::bpe::{Bpe, Part, Symbols};
use crate::tokenizer::Tokenizer;
use crate::train::pairs::Heads;
use crate::vocab::TokenId;
use crate::{Error, Result};

/// Before they are numbered, heads are this and the code point; below it are tokens.
const HEAD: u32 = 1 << 30;
/// The tail behind a head, before it is numbered.
const TAIL: u32 = HEAD - 1;

/// Words as rows of symbols; a symbol is a number below that of any new token.
pub struct OldWords {
    symbols: Vec<u32>,
    /// The end of each word in `symbols`, and how often it was seen.
    words: Vec<(usize, u64)>,
    ids: Vec<TokenId>,
    chars: Vec<char>,
    /// How many tokens the corpus takes.
    pub tokens: u64,
}

impl OldWords {
    /// Cuts `words` into the tokens of `tokenizer`, as it would encode them.
    ///
    /// # Errors
    /// [`Error::UnknownToken`] as in encoding; [`Error::Value`] for more tokens than fit in 64 bits.
    pub fn new(words: &[(&[u8], u64)], tokenizer: &Tokenizer, new_characters: bool) -> Result<Self> {
        let mut cutter = Cutter::new(tokenizer, new_characters);
        for &(word, count) in words {
            let word = std::str::from_utf8(word)
                .map_err(|_| Error::Value(format!("the pretoken {word:?} is not UTF-8")))?;
            cutter.push(word, count)?;
        }
        let chars: BTreeSet<char> = std::mem::take(&mut cutter.chars).into_iter().collect();
        let Cutter {
            mut words,
            mut symbols,
            numbers,
            tokens,
            ..
        } = cutter;
        let mut ids = vec![0; numbers.len()];
        numbers
            .iter()
            .for_each(|(&id, &number)| ids[number as usize] = id);
        // Ties go to the lowest ids, so numbers have to be in their order.
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.sort_unstable_by_key(|&number| ids[number as usize]);
        let mut place = vec![0; ids.len()];
        (0..)
            .zip(&order)
            .for_each(|(at, &number)| place[number as usize] = at);
        ids.sort_unstable();
        let first_head = ids.len() as u32;
        let heads: HashMap<u32, u32> = chars.iter().map(|&char| char as u32).zip(first_head..).collect();
        for symbol in &mut symbols {
            *symbol = match *symbol {
                TAIL => first_head + heads.len() as u32,
                head if head >= HEAD => heads[&(head - HEAD)],
                number => place[number as usize],
            };
        }
        words.shrink_to_fit();
        Ok(Self {
            symbols,
            words,
            ids,
            chars: chars.into_iter().collect(),
            tokens,
        })
    }

    /// The words and their counts, the most frequent first.
    pub fn by_count(&self) -> Vec<(&[u32], u64)> {
        let starts = std::iter::once(0).chain(self.words.iter().map(|&(end, _)| end));
        let mut words: Vec<_> = starts
            .zip(&self.words)
            .map(|(start, &(end, count))| (&self.symbols[start..end], count))
            .collect();
        words.sort_unstable_by_key(|&(_, count)| std::cmp::Reverse(count));
        words
    }

    /// The heads of characters that may become tokens.
    pub fn heads(&self) -> Heads {
        let first = self.ids.len() as u32;
        let tail = first + self.chars.len() as u32;
        Heads {
            heads: first..tail,
            tail,
        }
    }

    /// The number of the first new token.
    pub fn first_new(&self) -> u32 {
        (self.ids.len() + self.chars.len() + 1) as u32
    }

    /// The old token behind a number.
    pub fn id(&self, number: u32) -> Option<TokenId> {
        self.ids.get(number as usize).copied()
    }

    /// The character behind the number of a head.
    pub fn char(&self, head: u32) -> Option<char> {
        self.chars
            .get((head as usize).checked_sub(self.ids.len())?)
            .copied()
    }
}

struct Cutter<'a> {
    tokenizer: &'a Tokenizer,
    bpe: Cow<'a, Bpe>,
    new_characters: bool,
    walls: HashSet<TokenId, FxBuildHasher>,
    numbers: HashMap<TokenId, u32, FxBuildHasher>,
    chars: HashSet<char, FxBuildHasher>,
    merging: Symbols,
    parts: Vec<Part>,
    symbols: Vec<u32>,
    words: Vec<(usize, u64)>,
    tokens: u64,
}

impl<'a> Cutter<'a> {
    fn new(tokenizer: &'a Tokenizer, new_characters: bool) -> Self {
        let bpe = tokenizer.bpe().without_dropout();
        let bytes: HashSet<_> = bpe.byte_tokens().collect();
        let specials = tokenizer.added_tokens().iter();
        let specials = specials.filter_map(|(id, token)| token.special.then_some(id));
        Self {
            new_characters: new_characters && bpe.takes_new_characters(),
            walls: bytes.into_iter().chain(specials).chain(bpe.unk()).collect(),
            tokenizer,
            bpe,
            numbers: HashMap::default(),
            chars: HashSet::default(),
            merging: Symbols::default(),
            parts: Vec::new(),
            symbols: Vec::new(),
            words: Vec::new(),
            tokens: 0,
        }
    }

    fn push(&mut self, word: &str, count: u64) -> Result<()> {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        self.tokenizer
            .parts_of_word(&self.bpe, word, &mut self.merging, &mut parts)?;
        let tokens = (parts.len() as u64)
            .checked_mul(count)
            .and_then(|more| self.tokens.checked_add(more));
        self.tokens =
            tokens.ok_or_else(|| Error::Value("the corpus takes more than 2^64 - 1 tokens".to_owned()))?;
        let (mut at, mut rest) = (0, parts.as_slice());
        while let Some((&(id, length), behind)) = rest.split_first() {
            rest = behind;
            if !self.walls.contains(&id) {
                let next = self.numbers.len() as u32;
                self.symbols.push(*self.numbers.entry(id).or_insert(next));
                at += length;
                continue;
            }
            match self.unspelled(word, at) {
                Some(char) => {
                    self.chars.insert(char);
                    self.symbols.extend([HEAD + char as u32, TAIL]);
                    rest = &rest[char.len_utf8() - 1..];
                    at += char.len_utf8();
                }
                None => {
                    self.end_word(count);
                    at += length;
                }
            }
        }
        self.end_word(count);
        self.parts = parts;
        Ok(())
    }

    /// The character of `word` at `at`, where it is spelled in byte tokens and may become a token.
    fn unspelled(&self, word: &str, at: usize) -> Option<char> {
        let char = word.get(at..)?.chars().next()?;
        // One of a single byte would save nothing.
        (self.new_characters && char.len_utf8() > 1 && self.bpe.character(char).is_none()).then_some(char)
    }

    /// Ends the word, unless it has no pair.
    fn end_word(&mut self, count: u64) {
        let start = self.words.last().map_or(0, |&(end, _)| end);
        if self.symbols.len() - start < 2 || count == 0 {
            self.symbols.truncate(start);
        } else {
            self.words.push((self.symbols.len(), count));
        }
    }
}
