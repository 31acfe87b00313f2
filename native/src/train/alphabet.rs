//! The initial symbols: which characters get ids, and which symbols a word starts as.
//!
//! Guarantee: ids as stock gives them, and by code point where stock draws lots. Special tokens first, then
//! reserved ones, then the characters (seen ones and initial ones) by code point, then symbols with an affix, by
//! code points. Byte-level vocabularies write a byte as a stand-in character, so the order is that of the
//! stand-ins: a space is `Ġ` (U+0120) and comes after all visible ASCII.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::train::spelling::Spelling;
use crate::train::{Settings, Words};
use crate::{Error, Result};

const NO_ID: u32 = u32::MAX;

/// The tokens there are before the first merge, and the way from words to their ids.
#[derive(Debug)]
pub struct Alphabet {
    tokens: Vec<String>,
    ids: HashMap<String, u32, FxBuildHasher>,
    reserved: HashSet<u32, FxBuildHasher>,
    spelling: Spelling,
    /// The ids of symbols, a table for each form; see [`Alphabet::slot`].
    id_of_symbol: Vec<u32>,
    /// One more than the largest character.
    chars: usize,
}

impl Alphabet {
    /// Numbers the tokens that `settings` ask for and the symbols of `words`.
    ///
    /// A repeated special token counts once. A character that is a special token keeps that lower id, which
    /// also decides ties between pairs, as in stock.
    ///
    /// # Errors
    /// [`Error::Value`] when a word is to be cut into characters and is not UTF-8.
    pub fn new(settings: &Settings, words: &(impl Words + ?Sized)) -> Result<Self> {
        let mut alphabet = Self {
            tokens: Vec::new(),
            ids: HashMap::default(),
            reserved: HashSet::default(),
            spelling: settings.spelling.clone(),
            id_of_symbol: Vec::new(),
            chars: 0,
        };
        for token in &settings.special_tokens {
            alphabet.token(token);
        }
        for token in &settings.reserved_tokens {
            let id = alphabet.token(token);
            alphabet.reserved.insert(id);
        }
        let counts = count_chars(words, settings)?;
        alphabet.chars = counts.len();
        for char in kept_chars(&counts, settings) {
            alphabet.token(char.encode_utf8(&mut [0; 4]));
        }
        alphabet.number_symbols(words)?;
        Ok(alphabet)
    }

    /// Fills the table of symbols, and gives ids to those with an affix, of characters that have an id.
    fn number_symbols(&mut self, words: &(impl Words + ?Sized)) -> Result<()> {
        let spelling = self.spelling.clone();
        let mut seen = vec![false; self.chars * spelling.forms()];
        words.for_each(&mut |word, count| {
            if count > 0 {
                spelling.for_each(word, |char, form| seen[form * self.chars + char as usize] = true);
            }
            Ok(())
        })?;
        let seen_forms = (0..seen.len()).filter(|&slot| seen[slot]).filter_map(|slot| {
            let char = char::from_u32((slot % self.chars) as u32)?;
            let known = self.contains(char.encode_utf8(&mut [0; 4]));
            known.then(|| (spelling.symbol(char, slot / self.chars), slot))
        });
        let symbols: BTreeSet<(String, usize)> = seen_forms.collect();
        self.id_of_symbol = vec![NO_ID; seen.len()];
        for (symbol, slot) in symbols {
            self.id_of_symbol[slot] = self.token(&symbol);
        }
        Ok(())
    }

    /// The id of `token`, which is given the next one unless it has one.
    pub fn token(&mut self, token: &str) -> u32 {
        if let Some(&id) = self.ids.get(token) {
            return id;
        }
        let id = self.tokens.len() as u32;
        self.tokens.push(token.to_owned());
        self.ids.insert(token.to_owned(), id);
        id
    }

    /// Whether `token` has an id.
    pub fn contains(&self, token: &str) -> bool {
        self.ids.contains_key(token)
    }

    /// Whether `token` is one that no merge may make.
    pub fn is_reserved(&self, token: &str) -> bool {
        !self.reserved.is_empty() && self.ids.get(token).is_some_and(|id| self.reserved.contains(id))
    }

    /// The token that `left` and `right` make: the prefix between them is dropped.
    pub fn joined(&self, left: u32, right: u32) -> String {
        let [left, right] = [left, right].map(|id| self.tokens[id as usize].as_str());
        [left, right.strip_prefix(self.spelling.prefix()).unwrap_or(right)].concat()
    }

    /// Whether two pairs of different symbols might make the same token: when an affix can be spelled by others.
    pub fn is_ambiguous(&self) -> bool {
        let (prefix, suffix) = (self.spelling.prefix(), self.spelling.suffix());
        let spells = |affix: &str, other: &str| {
            !affix.is_empty()
                && affix
                    .chars()
                    .all(|char| other.contains(char) || self.contains(char.encode_utf8(&mut [0; 4])))
        };
        spells(prefix, suffix) || spells(suffix, prefix)
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are no tokens at all.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Calls `visit` with the ids that `word` consists of before the first merge: the one place that decides this.
    ///
    /// A character without an id is skipped and its neighbours become adjacent, as in stock.
    #[inline]
    pub fn for_each_symbol(&self, word: &[u8], mut visit: impl FnMut(u32)) {
        self.spelling.for_each(word, |char, form| {
            let id = self.id_of_symbol[form * self.chars + char as usize];
            if id != NO_ID {
                visit(id);
            }
        });
    }

    /// All tokens, in the order of their ids.
    pub fn into_tokens(self) -> Vec<String> {
        self.tokens
    }
}

/// How often each character was seen, by code point; an initial one counts as more often than any other.
fn count_chars(words: &(impl Words + ?Sized), settings: &Settings) -> Result<Vec<u64>> {
    let mut counts: Vec<u64> = Vec::new();
    let mut add = |char: char, count: u64| {
        let at = char as usize;
        if counts.len() <= at {
            counts.resize(at + 1, 0);
        }
        counts[at] = counts[at].saturating_add(count);
    };
    words.for_each(&mut |word, count| {
        if count > 0 && !settings.spelling.can_spell(word) {
            return Err(Error::Value(format!("the pretoken {word:?} is not UTF-8")));
        }
        if count > 0 {
            settings.spelling.for_each(word, |char, _| add(char, count));
        }
        Ok(())
    })?;
    for &char in &settings.initial_alphabet {
        add(char, u64::MAX);
    }
    Ok(counts)
}

/// The characters that get an id, by code point: the most frequent ones, and of equals the lowest.
fn kept_chars(counts: &[u64], settings: &Settings) -> BTreeSet<char> {
    let seen = (0u32..).zip(counts).filter(|&(_, &count)| count > 0);
    let mut chars: Vec<(Reverse<u64>, char)> = seen
        .filter_map(|(code, &count)| Some((Reverse(count), char::from_u32(code)?)))
        .collect();
    chars.sort_unstable();
    chars.truncate(settings.limit_alphabet.unwrap_or(usize::MAX));
    chars.into_iter().map(|(_, char)| char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::spelling::Unit;

    fn characters(special_tokens: &[&str]) -> Settings {
        Settings {
            special_tokens: special_tokens.iter().map(|&token| token.to_owned()).collect(),
            ..Settings::characters(0)
        }
    }

    fn symbols(alphabet: &Alphabet, word: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        alphabet.for_each_symbol(word.as_bytes(), |id| ids.push(id));
        ids
    }

    #[test]
    fn special_tokens_come_first_and_a_character_among_them_keeps_its_id() {
        let settings = Settings {
            spelling: Spelling::new(Unit::Bytes, "", ""),
            initial_alphabet: vec!['c'],
            ..characters(&["<s>", "b", "<s>"])
        };

        let alphabet =
            Alphabet::new(&settings, [(b"ba ".as_slice(), 1)].as_slice()).expect("bytes can be spelled");

        assert_eq!(symbols(&alphabet, "abx "), [2, 1, 4]);
        assert_eq!(alphabet.into_tokens(), ["<s>", "b", "a", "c", "Ġ"]);
    }

    #[test]
    fn a_limit_keeps_initial_then_frequent_then_low_characters() {
        let settings = Settings {
            initial_alphabet: vec!['z'],
            limit_alphabet: Some(3),
            ..characters(&["<s>"])
        };

        let words: [(&[u8], u64); 2] = [("好a🙂b".as_bytes(), 2), ("好".as_bytes(), 1)];
        let alphabet = Alphabet::new(&settings, words.as_slice()).expect("the words are UTF-8");

        assert_eq!(symbols(&alphabet, "🙂好ba"), [3, 1]);
        assert_eq!(alphabet.into_tokens(), ["<s>", "a", "z", "好"]);
    }

    #[test]
    fn symbols_with_an_affix_follow_all_characters() {
        let settings = Settings {
            spelling: Spelling::new(Unit::Characters, "##", "</w>"),
            ..characters(&["##b"])
        };

        let alphabet = Alphabet::new(&settings, [(b"abc".as_slice(), 1), (b"a", 1)].as_slice())
            .expect("the words are UTF-8");

        assert_eq!(symbols(&alphabet, "abc"), [1, 0, 4]);
        assert_eq!(symbols(&alphabet, "a"), [5]);
        assert_eq!(alphabet.joined(1, 4), "ac</w>");
        assert!(!alphabet.is_ambiguous());
        assert_eq!(alphabet.into_tokens(), ["##b", "a", "b", "c", "##c</w>", "a</w>"]);
    }

    #[test]
    fn words_that_are_no_text_have_no_characters() {
        let refused = Alphabet::new(&characters(&[]), [(b"a\xff".as_slice(), 1)].as_slice());

        assert!(refused.is_err_and(|error| error.to_string().contains("not UTF-8")));
    }
}
