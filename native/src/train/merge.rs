//! Learns merges from counted words: the loop that makes a BPE vocabulary.
//!
//! Guarantee: the same vocabulary, ids and merges as the stock `BpeTrainer` (tokenizers 0.23.3), rule by rule:
//! the most frequent pair first, overlapping occurrences counted (`aaa` holds `a a` twice) but merged from
//! left to right; ties go to the smallest (left id, right id); a token whose text exists already, as a special
//! token for instance, keeps that id. `hf_bpe/reference.py` says the same in forty lines that recount
//! everything, and the tests hold the two and stock together.
//!
//! One difference is on purpose: when a corpus spells an affix (`##` or `</w>` as ordinary text), two pairs can make
//! the same token, and a pair can come back after it was merged. Stock then counts the occurrences it had before
//! once more, and draws lots among equals; here what is there is counted.

use hashbrown::HashSet;

use crate::byte_alphabet::char_of;
use crate::train::merging::Merging;
use crate::train::pairs::{Heads, Pairs};
use crate::train::sequences::Sequences;
use crate::train::sources::{Quota, SourceCounts, SourceUse, Uses};
use crate::train::spelling::{Spelling, Unit};
use crate::train::{Alphabet, TokenRules, Words};
use crate::{Error, Result};

/// What to learn.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many tokens to end with, special tokens and alphabet included.
    pub vocab_size: usize,
    /// The count below which a pair is never merged; 0 and 1 mean the same.
    pub min_frequency: u64,
    /// A pair that holds a merged token is only merged when the result is *shorter* than this, in units.
    pub max_token_length: Option<usize>,
    /// What tokens may hold.
    pub rules: TokenRules,
    /// What words are cut into.
    pub spelling: Spelling,
    /// How many characters get an id: initial ones, then the most frequent, of equals the lowest.
    pub limit_alphabet: Option<usize>,
    /// Characters that get an id whether or not they are seen.
    pub initial_alphabet: Vec<char>,
    /// Tokens with the first ids.
    pub special_tokens: Vec<String>,
    /// Tokens with the ids after those, which no merge makes.
    pub reserved_tokens: Vec<String>,
    /// Tokens with the last ids, for those of them that were not learned.
    pub last_special_tokens: Vec<String>,
}

impl Settings {
    /// All 256 bytes as the alphabet, no special tokens, every pair allowed.
    pub fn byte_level(vocab_size: usize) -> Self {
        Self {
            spelling: Spelling::new(Unit::Bytes, "", ""),
            initial_alphabet: (0..=255).map(char_of).collect(),
            ..Self::characters(vocab_size)
        }
    }

    /// The characters that are seen as the alphabet, no special tokens, every pair allowed.
    pub fn characters(vocab_size: usize) -> Self {
        Self {
            vocab_size,
            min_frequency: 0,
            max_token_length: None,
            rules: TokenRules::default(),
            spelling: Spelling::new(Unit::Characters, "", ""),
            limit_alphabet: None,
            initial_alphabet: Vec::new(),
            special_tokens: Vec::new(),
            reserved_tokens: Vec::new(),
            last_special_tokens: Vec::new(),
        }
    }
}

/// A vocabulary and its merges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// The tokens in the order of their ids; those of bytes are written in the byte alphabet.
    pub vocab: Vec<String>,
    /// The merges, as pairs of ids, in order of rank.
    pub merges: Vec<(u32, u32)>,
    /// For each merge that was made, how many tokens there were after it, and how many it saves the corpus.
    pub growth: Vec<(u32, u64)>,
}

/// Learns from `words` and how often each was seen, in any order; they are given back as soon as they are laid out.
///
/// The vocabulary is larger than asked for when special tokens and alphabet alone are, and smaller when no pair
/// is left: the caller can see both and say so. `progress` gets the number of merges so far and how many it may
/// become, every few milliseconds, and returns whether to go on.
///
/// # Errors
/// [`Error::Interrupted`] when `progress` returned false; [`Error::Value`] when the words are too many to hold, or
/// are to be cut into characters and are not UTF-8.
pub fn learn(
    words: impl Words,
    settings: &Settings,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Learned> {
    let vocab = Alphabet::new(settings, &words)?;
    let mut learner = Learner::new(words, vocab, settings, progress)?;
    while learner.room() > 0 && learner.step()? {}
    Ok(learner.finish())
}

/// Learns from words of several sources, as [`learn`] does from their weighted sum, and says which source uses what.
///
/// A quota that the merges would meet anyway changes none of them: see [`Quota`].
///
/// # Errors
/// As [`learn`].
pub fn learn_from_sources(
    words: impl Words,
    counts: SourceCounts,
    quotas: &[Quota],
    settings: &Settings,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<(Learned, SourceUse)> {
    let mut uses = Uses::new(counts);
    let vocab = Alphabet::new(settings, &words)?;
    uses.count_symbols(&words, &vocab)?;
    let mut learner = Learner::new(words, vocab, settings, progress)?;
    uses.set_quotas(quotas, learner.room());
    learner.uses = Some(uses);
    while learner.room() > 0 && learner.step()? {}
    let uses = learner.uses.take().map(Uses::finish).unwrap_or_default();
    Ok((learner.finish(), uses))
}

/// How many occurrences are handled between two calls of `progress`: a few milliseconds of work.
const POLL_EVERY: usize = 1 << 16;

struct Learner<'a> {
    vocab: Alphabet,
    merges: Vec<(u32, u32)>,
    growth: Vec<(u32, u64)>,
    words: Merging,
    /// Which source uses what, where words come from several.
    uses: Option<Uses>,
    /// Special tokens that will follow the vocabulary and are not in it yet.
    last: HashSet<&'a str>,
    settings: &'a Settings,
    progress: &'a mut dyn FnMut(usize, usize) -> bool,
    until_poll: usize,
}

impl<'a> Learner<'a> {
    fn new(
        words: impl Words,
        vocab: Alphabet,
        settings: &'a Settings,
        progress: &'a mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Self> {
        let last = settings.last_special_tokens.iter().map(String::as_str);
        let last: HashSet<&str> = last.filter(|token| !vocab.contains(token)).collect();
        let sequences = Sequences::new(&words, &vocab)?;
        drop(words); // their memory is free before that of the pairs is needed
        let room = settings.vocab_size.saturating_sub(vocab.len() + last.len());
        let min_count = i64::try_from(settings.min_frequency).unwrap_or(i64::MAX).max(1);
        let mut poll = || {
            if progress(0, room) {
                Ok(())
            } else {
                Err(Error::Interrupted)
            }
        };
        let pairs = Pairs::new(
            &sequences,
            min_count,
            vocab.is_ambiguous(),
            Heads::default(),
            &mut poll,
        )?;
        let limit = settings.max_token_length.unwrap_or(usize::MAX);
        Ok(Self {
            last,
            vocab,
            merges: Vec::new(),
            growth: Vec::new(),
            words: Merging::new(sequences, pairs, limit),
            uses: None,
            settings,
            progress,
            until_poll: POLL_EVERY,
        })
    }

    /// How many tokens are still to be made.
    fn room(&self) -> usize {
        let taken = self.vocab.len() + self.last.len();
        self.settings.vocab_size.saturating_sub(taken)
    }

    /// Merges the best pair; false when none is left.
    fn step(&mut self) -> Result<bool> {
        let room = self.room();
        let best = match &mut self.uses {
            Some(uses) => uses.pop(&mut self.words, room),
            None => self.words.pairs.pop(),
        };
        let Some(((left, right), positions)) = best else {
            return Ok(false);
        };
        self.poll(8)?; // popping and naming cost about as much as a few occurrences
        let text = self.vocab.joined(left, right);
        if self.vocab.is_reserved(&text) || !self.settings.rules.allow(&text, &self.settings.spelling) {
            return Ok(true);
        }
        let merged = self.vocab.token(&text);
        self.last.remove(text.as_str());
        self.merges.push((left, right));
        let is_new = self.room() < room;
        if let Some(uses) = &mut self.uses {
            uses.merge(&self.words, &positions, (left, right), merged, is_new);
        }
        let mut saved = 0;
        for chunk in positions.chunks(POLL_EVERY) {
            self.poll(chunk.len())?;
            saved += self.words.merge_at(chunk, (left, right), merged);
        }
        let size = self.vocab.len() + self.last.len();
        self.growth.push((size as u32, saved.unsigned_abs()));
        self.words.update_pairs((left, right), merged);
        Ok(true)
    }

    fn poll(&mut self, work: usize) -> Result<()> {
        if let Some(left) = self.until_poll.checked_sub(work) {
            self.until_poll = left;
            return Ok(());
        }
        self.until_poll = POLL_EVERY;
        let done = self.merges.len();
        let expected = done + self.room();
        if (self.progress)(done, expected) {
            Ok(())
        } else {
            Err(Error::Interrupted)
        }
    }

    fn finish(mut self) -> Learned {
        for token in &self.settings.last_special_tokens {
            self.vocab.token(token);
        }
        let mut merges = self.merges;
        if self.words.pairs.come_back() {
            keep_last(&mut merges);
        }
        Learned {
            vocab: self.vocab.into_tokens(),
            merges,
            growth: self.growth,
        }
    }
}

/// Of a pair that was merged more than once only the last rank counts.
fn keep_last(merges: &mut Vec<(u32, u32)>) {
    let mut seen = HashSet::new();
    merges.reverse();
    merges.retain(|&pair| seen.insert(pair));
    merges.reverse();
}

#[cfg(test)]
mod tests;
