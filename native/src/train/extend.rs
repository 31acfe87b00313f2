//! Learns on from an old vocabulary: words begin as the tokens that it makes of them, and new merges follow its own.
//!
//! Guarantee: on any text, the new tokens are the old ones, some neighbours joined. The old merges come first and don't
//! know the new tokens, so they do what they did; what new merges then join, they join. For this to hold, and for every
//! new token to be made of its own text, three rules decide which pair becomes a token:
//!
//! - It spells a text that no token has, old or new: so no old token is made in a new way, no special token of ordinary
//!   text, and each new token by one merge alone.
//! - It isn't what a text may begin as before anything merges: a character with its affixes, or `<0x0A>`.
//! - The pipeline leaves its text whole, as far as it is one: the split pattern doesn't cut it.
//!
//! Pairs are counted, and ties decided, as in [`learn`](crate::train::learn).

use hashbrown::HashSet;

use crate::pre_tokenizer::Scratch;
use crate::tokenizer::Tokenizer;
use crate::train::merging::Merging;
use crate::train::old_words::OldWords;
use crate::train::pairs::Pairs;
use crate::train::sequences::Sequences;
use crate::vocab::TokenId;
use crate::{Error, Result};

/// What to learn.
#[derive(Debug, Clone)]
pub struct Extension {
    /// How many tokens to make at most.
    pub new_tokens: usize,
    /// The id of the first of them; the others follow.
    pub first_id: TokenId,
    /// The count below which a pair is never merged; 0 and 1 mean the same.
    pub min_frequency: u64,
    /// New tokens are shorter than this, in bytes or characters.
    pub max_token_length: Option<usize>,
    /// Whether characters that the old vocabulary spells in byte tokens may become tokens.
    pub new_characters: bool,
}

/// A token that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// As the vocabulary spells it.
    pub text: String,
    /// The two halves of its merge; none for a character, which needs no merge.
    pub halves: Option<(TokenId, TokenId)>,
    /// How many tokens fewer the corpus took when it was made.
    pub saved: u64,
}

/// What was learned, in the order of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extended {
    /// The tokens.
    pub tokens: Vec<NewToken>,
    /// How many tokens of the old vocabulary the corpus takes.
    pub before: u64,
    /// How many it takes now.
    pub after: u64,
}

/// How many occurrences are handled between two calls of `progress`: a few milliseconds of work.
const POLL_EVERY: usize = 1 << 16;

/// Learns from `words`, as [`Tokenizer::words`] cuts them, and how often each was seen, in any order.
///
/// `progress` gets the number of tokens so far and how many it may become, and returns whether to go on.
///
/// # Errors
/// [`Error::Interrupted`] when `progress` returned false; [`Error::Value`] when the words are too many to hold, or ids
/// run out; what encoding a word raises.
pub fn learn_on(
    words: &[(&[u8], u64)],
    tokenizer: &Tokenizer,
    settings: &Extension,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Extended> {
    let last = settings.new_tokens.saturating_sub(1);
    if u32::try_from(last)
        .ok()
        .and_then(|last| settings.first_id.checked_add(last))
        .is_none()
    {
        let (new, first) = (settings.new_tokens, settings.first_id);
        return Err(Error::Value(format!(
            "{new} new tokens from id {first} on are more than there are ids: the last one is {}",
            TokenId::MAX
        )));
    }
    let old = OldWords::new(words, tokenizer, settings.new_characters)?;
    let mut learner = Learner::new(&old, tokenizer, settings, progress)?;
    while learner.made.len() < settings.new_tokens && learner.step()? {}
    let saved: u64 = learner.made.iter().map(|token| token.saved).sum();
    Ok(Extended {
        tokens: learner.made,
        before: old.tokens,
        after: old.tokens.saturating_sub(saved),
    })
}

struct Learner<'a> {
    old: &'a OldWords,
    tokenizer: &'a Tokenizer,
    settings: &'a Extension,
    words: Merging,
    made: Vec<NewToken>,
    texts: HashSet<String>,
    scratch: Scratch,
    progress: &'a mut dyn FnMut(usize, usize) -> bool,
    until_poll: usize,
}

impl<'a> Learner<'a> {
    fn new(
        old: &'a OldWords,
        tokenizer: &'a Tokenizer,
        settings: &'a Extension,
        progress: &'a mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Self> {
        let sequences = Sequences::of_symbols(old.by_count().iter().copied())?;
        let min_count = i64::try_from(settings.min_frequency).unwrap_or(i64::MAX).max(1);
        let mut poll = || match progress(0, settings.new_tokens) {
            true => Ok(()),
            false => Err(Error::Interrupted),
        };
        let pairs = Pairs::new(&sequences, min_count, false, old.heads(), &mut poll)?;
        Ok(Self {
            words: Merging::new(sequences, pairs, usize::MAX),
            old,
            tokenizer,
            settings,
            made: Vec::new(),
            texts: HashSet::new(),
            scratch: Scratch::default(),
            progress,
            until_poll: POLL_EVERY,
        })
    }

    /// Makes a token of the best pair, if it may be one; false when no pair is left.
    fn step(&mut self) -> Result<bool> {
        let Some((pair, positions)) = self.words.pairs.pop() else {
            return Ok(false);
        };
        self.poll(8)?; // popping and naming cost about as much as a few occurrences
        let Some(text) = self.text(pair) else {
            return Ok(true);
        };
        if !self.may_be_token(&text)? {
            return Ok(true);
        }
        let merged = self.old.first_new() + self.made.len() as u32;
        let mut times = 0;
        for chunk in positions.chunks(POLL_EVERY) {
            self.poll(chunk.len())?;
            times += self.words.merge_at(chunk, pair, merged);
        }
        self.words.update_pairs(pair, merged);
        let bytes = self.old.char(pair.0).map_or(2, char::len_utf8);
        self.texts.insert(text.clone());
        self.made.push(NewToken {
            text,
            halves: self.id(pair.0).zip(self.id(pair.1)),
            saved: times as u64 * (bytes as u64 - 1),
        });
        Ok(true)
    }

    /// What the pair spells; none where the right half lacks the prefix that every right half has.
    fn text(&self, (left, right): (u32, u32)) -> Option<String> {
        if let Some(char) = self.old.char(left) {
            return Some(char.into());
        }
        let settings = &self.tokenizer.bpe().settings;
        let prefix = settings.continuing_subword_prefix.as_deref().unwrap_or_default();
        Some([self.spelled(left)?, self.spelled(right)?.strip_prefix(prefix)?].concat())
    }

    fn spelled(&self, number: u32) -> Option<&str> {
        match self.old.id(number) {
            Some(id) => self.tokenizer.bpe().vocab.token(id),
            None => self.new_token(number).map(|token| token.text.as_str()),
        }
    }

    fn new_token(&self, number: u32) -> Option<&NewToken> {
        let at = number.checked_sub(self.old.first_new())?;
        self.made.get(at as usize)
    }

    /// The id of an old or a new token; none of a head or a tail.
    fn id(&self, number: u32) -> Option<TokenId> {
        let new = || {
            let at = number.checked_sub(self.old.first_new())?;
            Some(self.settings.first_id + at)
        };
        self.old.id(number).or_else(new)
    }

    fn may_be_token(&mut self, text: &str) -> Result<bool> {
        let units = text.chars().count();
        if self.settings.max_token_length.is_some_and(|limit| units >= limit)
            || (units > 1 && self.tokenizer.is_symbol(text))
            || self.tokenizer.token_to_id(text).is_some()
            || self.texts.contains(text)
        {
            return Ok(false);
        }
        self.tokenizer.stands_alone(text, &mut self.scratch)
    }

    fn poll(&mut self, work: usize) -> Result<()> {
        if let Some(left) = self.until_poll.checked_sub(work) {
            self.until_poll = left;
            return Ok(());
        }
        self.until_poll = POLL_EVERY;
        match (self.progress)(self.made.len(), self.settings.new_tokens) {
            true => Ok(()),
            false => Err(Error::Interrupted),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tokenizer(vocab: &[&str], merges: &[(&str, &str)], settings: Value) -> Tokenizer {
        let vocab: serde_json::Map<_, _> = (0..)
            .zip(vocab)
            .map(|(id, &token)| (token.into(), json!(id)))
            .collect();
        let mut model = json!({"type": "BPE", "vocab": vocab, "merges": merges});
        for (name, value) in settings.as_object().expect("settings are an object") {
            model[name] = value.clone();
        }
        let file = json!({"model": model}).to_string();
        Tokenizer::from_json(file.as_bytes()).expect("the file is whole")
    }

    fn extension(new_tokens: usize, first_id: TokenId) -> Extension {
        Extension {
            new_tokens,
            first_id,
            min_frequency: 2,
            max_token_length: None,
            new_characters: true,
        }
    }

    fn learned(words: &[(&str, u64)], tokenizer: &Tokenizer, settings: &Extension) -> Extended {
        let words: Vec<_> = words
            .iter()
            .map(|&(word, count)| (word.as_bytes(), count))
            .collect();
        learn_on(&words, tokenizer, settings, &mut |_, _| true).expect("nothing interrupts")
    }

    fn texts(extended: &Extended) -> Vec<&str> {
        extended.tokens.iter().map(|token| token.text.as_str()).collect()
    }

    #[test]
    fn merging_goes_on_from_the_old_tokens() {
        let old = tokenizer(&["a", "b", "c", "bc"], &[("b", "c")], json!({}));

        let extended = learned(&[("abc", 5), ("ab", 3)], &old, &extension(10, 100));

        assert_eq!(texts(&extended), ["abc", "ab"]);
        assert_eq!(extended.tokens[0].halves, Some((0, 3)));
        assert_eq!((extended.before, extended.after), (16, 8));
    }

    #[test]
    fn new_tokens_are_halves_of_later_ones_by_their_ids() {
        let old = tokenizer(&["a", "b", "c"], &[], json!({}));

        let extended = learned(&[("abc", 2), ("ab", 2)], &old, &extension(2, 7));

        assert_eq!(texts(&extended), ["ab", "abc"]);
        assert_eq!(extended.tokens[1].halves, Some((7, 2)));
    }

    #[test]
    fn a_text_that_is_a_token_is_not_made_again() {
        let old = tokenizer(&["a", "b", "c", "ab"], &[], json!({}));

        let extended = learned(&[("abc", 9)], &old, &extension(10, 4));

        assert_eq!(texts(&extended), ["bc", "abc"]);
    }

    #[test]
    fn characters_that_are_spelled_in_bytes_compete_with_pairs() {
        let bytes: Vec<String> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
        let mut vocab: Vec<&str> = bytes.iter().map(String::as_str).collect();
        vocab.extend(["a", "b"]);
        let old = tokenizer(&vocab, &[], json!({"byte_fallback": true}));
        let words = [("語a", 5), ("ab", 4), ("鳥", 3), ("\n\n", 9)];

        let extended = learned(&words, &old, &extension(10, 258));
        let without = Extension {
            new_characters: false,
            ..extension(10, 258)
        };

        assert_eq!(texts(&extended), ["語", "語a", "ab", "鳥"]);
        assert_eq!(extended.tokens[0].halves, None);
        assert_eq!(extended.tokens[0].saved, 10);
        assert_eq!(extended.before - extended.after, 10 + 5 + 4 + 6);
        assert_eq!(texts(&learned(&words, &old, &without)), ["ab"]);
    }

    #[test]
    fn unknown_tokens_are_no_part_of_new_ones() {
        let old = tokenizer(&["a", "<unk>"], &[], json!({"unk_token": "<unk>"}));

        assert_eq!(texts(&learned(&[("xaxaax", 9)], &old, &extension(10, 2))), ["aa"]);
    }

    #[test]
    fn ids_that_run_out_are_an_error() {
        let old = tokenizer(&["a"], &[], json!({}));

        let refused = learn_on(&[], &old, &extension(2, TokenId::MAX), &mut |_, _| true);

        assert!(refused.is_err_and(|error| error.to_string().contains("more than there are ids")));
    }

    #[test]
    fn interrupting_is_an_error() {
        let old = tokenizer(&["a", "b"], &[], json!({}));
        let word = "ab".repeat(1 << 16);

        let interrupted = learn_on(&[(word.as_bytes(), 1)], &old, &extension(9, 2), &mut |_, _| false);

        assert_eq!(interrupted, Err(Error::Interrupted));
    }
}
