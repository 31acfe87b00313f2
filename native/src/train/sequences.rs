//! All distinct words as symbol sequences in one array, merged in place.
//!
//! A word lies between two [`BOUNDARY`] slots. A symbol made of `n` base symbols takes `n` slots: its id in
//! the first, and in the second and the last its length, marked [`INSIDE`], so that both neighbours are found
//! without a search and a position is a whole address. Hence one merge costs the same in a word of three
//! bytes and in a line of a million, where stock copies the rest of the word each time.
//!
//! Words lie in descending order of their counts: equal counts form runs, so a position needs no pointer to
//! its word, and the words that most merges touch share cache lines.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::train::{Alphabet, Words};
use crate::{Error, Result};

const INSIDE: u32 = 1 << 31;
const BOUNDARY: u32 = u32::MAX;

/// A symbol and where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// The id of the symbol.
    pub id: u32,
    /// The slot of its first base symbol.
    pub start: u32,
    /// How many base symbols it consists of.
    pub len: u32,
}

/// The symbols of all words.
pub struct Sequences {
    slots: Vec<u32>,
    /// Where the words of each count begin, ascending.
    run_starts: Vec<u32>,
    /// The count of each run, descending.
    run_counts: Vec<i64>,
    /// The group of each run: see [`Words::for_each_in_groups`].
    run_groups: Vec<u32>,
}

/// What the words of a run share: their count and their group.
type Kind = (u64, u32);

impl Sequences {
    /// Lays out `words`, in any order, as the initial symbols of `alphabet`.
    ///
    /// They are gone through twice: to find how much room the words of each count need, and to put each in its place.
    /// So no list of words has to be made and sorted.
    pub fn new(words: &(impl Words + ?Sized), alphabet: &Alphabet) -> Result<Self> {
        let mut room: HashMap<Kind, usize, FxBuildHasher> = HashMap::default();
        let (mut total, mut pairs) = (0, 0u128);
        words.for_each_in_groups(&mut |word, count, group| {
            if count == 0 {
                return Ok(()); // its characters may be none of the alphabet
            }
            let mut len = 0;
            alphabet.for_each_symbol(word, |_| len += 1);
            if len >= 2 {
                *room.entry((count, group)).or_default() += len + 1;
                total += len + 1;
                pairs += len as u128 * u128::from(count);
            }
            Ok(())
        })?;
        let mut sequences = Self::with_room(total, pairs)?;
        let mut next = sequences.lay_out_runs(room);
        sequences.slots.resize(total + 1, BOUNDARY);
        let slots = &mut sequences.slots;
        words.for_each_in_groups(&mut |word, count, group| {
            // What has one symbol has no pair, and no room: nothing to merge.
            let (mut first, mut len) = (BOUNDARY, 0);
            let Some(at) = next.get_mut(&(count, group)) else {
                return Ok(());
            };
            alphabet.for_each_symbol(word, |id| {
                match len {
                    0 => first = id,
                    _ => slots[*at + len] = id,
                }
                len += 1;
            });
            if len >= 2 {
                slots[*at] = first;
                *at += len + 1;
            }
            Ok(())
        })?;
        Ok(sequences)
    }

    /// Notes where the words of each kind begin, the highest count first, when each needs so much room.
    fn lay_out_runs(
        &mut self,
        room: HashMap<Kind, usize, FxBuildHasher>,
    ) -> HashMap<Kind, usize, FxBuildHasher> {
        let mut kinds: Vec<(Kind, usize)> = room.into_iter().collect();
        kinds.sort_unstable_by_key(|&((count, group), _)| (std::cmp::Reverse(count), group));
        let mut start = self.slots.len();
        let runs = kinds.into_iter().map(|(kind, room)| {
            self.run_starts.push(start as u32);
            self.run_counts.push(kind.0 as i64);
            self.run_groups.push(kind.1);
            start += room;
            (kind, start - room)
        });
        runs.collect()
    }

    /// Lays out words that are symbols already; they have to be in descending order of counts.
    pub fn of_symbols<'a>(words: impl Iterator<Item = (&'a [u32], u64)> + Clone) -> Result<Self> {
        let total: usize = words.clone().map(|(symbols, _)| symbols.len() + 1).sum();
        let pairs: u128 = words
            .clone()
            .map(|(symbols, count)| symbols.len() as u128 * u128::from(count))
            .sum();
        let mut sequences = Self::with_room(total, pairs)?;
        for (symbols, count) in words {
            sequences.push_word(count as i64, |slots| slots.extend_from_slice(symbols));
        }
        Ok(sequences)
    }

    /// An empty layout for so many symbols, with so many of them in the whole corpus.
    fn with_room(total: usize, in_corpus: u128) -> Result<Self> {
        if total >= INSIDE as usize {
            return Err(Error::Value(format!(
                "the distinct pretokens have {total} symbols; training holds at most {INSIDE}. Use a split pattern \
                 that cuts more often, or a part of the corpus."
            )));
        }
        if in_corpus > i64::MAX as u128 {
            return Err(Error::Value(format!(
                "the counts of pretokens add up to {in_corpus} symbols, more than 2^63 - 1"
            )));
        }
        let mut slots = Vec::with_capacity(total + 1);
        slots.push(BOUNDARY);
        Ok(Self {
            slots,
            run_starts: Vec::new(),
            run_counts: Vec::new(),
            run_groups: Vec::new(),
        })
    }

    fn push_word(&mut self, count: i64, push_symbols: impl FnOnce(&mut Vec<u32>)) {
        let start = self.slots.len();
        push_symbols(&mut self.slots);
        if self.slots.len() - start < 2 {
            self.slots.truncate(start); // no pair, nothing to merge
            return;
        }
        self.slots.push(BOUNDARY);
        if self.run_counts.last() != Some(&count) {
            self.run_starts.push(start as u32);
            self.run_counts.push(count);
            self.run_groups.push(0);
        }
    }

    /// Calls `visit` with each pair of neighbours, its position, and the count of its word, in order.
    ///
    /// Only for the initial state, in which each slot is a symbol.
    pub fn initial_pairs(&self, mut visit: impl FnMut((u32, u32), u32, i64) -> Result<()>) -> Result<()> {
        let mut run = 0;
        for (position, pair) in self.slots.windows(2).enumerate() {
            if pair[0] != BOUNDARY && pair[1] != BOUNDARY {
                visit(
                    (pair[0], pair[1]),
                    position as u32,
                    self.count_at(position as u32, &mut run),
                )?;
            }
        }
        Ok(())
    }

    /// The count of the word at `position`.
    ///
    /// `run` says where the search begins: 0 at first, then what the last call left, for ascending positions.
    #[inline]
    pub fn count_at(&self, position: u32, run: &mut usize) -> i64 {
        if self
            .run_starts
            .get(*run + 1)
            .is_some_and(|&next| next <= position)
        {
            *run += self.run_starts[*run..].partition_point(|&start| start <= position) - 1;
        }
        self.run_counts[*run]
    }

    /// The group of the words of a run, as `count_at` left it.
    pub fn group_of(&self, run: usize) -> u32 {
        self.run_groups[run]
    }

    /// The symbols at `position` when they are `left` and `right`: this pair may have gone since it was noted.
    #[inline]
    pub fn pair_at(&self, position: u32, left: u32, right: u32) -> Option<(Symbol, Symbol)> {
        if self.slots[position as usize] != left {
            return None;
        }
        let first = self.symbol_at(position);
        let start = position + first.len;
        (self.slots[start as usize] == right).then(|| (first, self.symbol_at(start)))
    }

    /// The symbol before `symbol` in its word.
    #[inline]
    pub fn before(&self, symbol: Symbol) -> Option<Symbol> {
        match self.slots[symbol.start as usize - 1] {
            BOUNDARY => None,
            marked if marked & INSIDE != 0 => {
                let len = marked & !INSIDE;
                let start = symbol.start - len;
                Some(Symbol {
                    id: self.slots[start as usize],
                    start,
                    len,
                })
            }
            id => Some(Symbol {
                id,
                start: symbol.start - 1,
                len: 1,
            }),
        }
    }

    /// The symbol after `symbol` in its word.
    #[inline]
    pub fn after(&self, symbol: Symbol) -> Option<Symbol> {
        let start = symbol.start + symbol.len;
        (self.slots[start as usize] != BOUNDARY).then(|| self.symbol_at(start))
    }

    /// Makes `first` and the `second` that follows it one symbol with the id `merged`.
    #[inline]
    pub fn merge(&mut self, first: Symbol, second: Symbol, merged: u32) {
        let (start, len) = (first.start as usize, first.len + second.len);
        self.slots[second.start as usize] = INSIDE; // no longer the start of a symbol
        self.slots[start] = merged;
        self.slots[start + 1] = INSIDE | len;
        self.slots[start + len as usize - 1] = INSIDE | len;
    }

    #[inline]
    fn symbol_at(&self, start: u32) -> Symbol {
        let next = self.slots[start as usize + 1];
        let len = if next & INSIDE != 0 && next != BOUNDARY {
            next & !INSIDE
        } else {
            1
        };
        Symbol {
            id: self.slots[start as usize],
            start,
            len,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Settings;

    fn alphabet(words: &[(&[u8], u64)]) -> Alphabet {
        Alphabet::new(&Settings::byte_level(0), words).expect("bytes can be spelled")
    }

    fn sequences(words: &[(&[u8], u64)]) -> Sequences {
        Sequences::new(words, &alphabet(words)).expect("small words fit")
    }

    fn ids(sequences: &Sequences) -> Vec<u32> {
        let mut ids = Vec::new();
        let mut symbol = Some(sequences.symbol_at(1));
        while let Some(now) = symbol {
            ids.push(now.id);
            symbol = sequences.after(now);
        }
        ids
    }

    #[test]
    fn merging_keeps_both_neighbours_in_reach() {
        let mut sequences = sequences(&[(b"abcde", 1)]);
        let [a, b, c, d, e] = ids(&sequences)[..] else {
            panic!("five symbols")
        };

        let (first, second) = sequences.pair_at(2, b, c).expect("bc is there");
        sequences.merge(first, second, 300);
        let (first, second) = sequences.pair_at(2, 300, d).expect("bc d is there");
        sequences.merge(first, second, 301);

        assert_eq!(ids(&sequences), [a, 301, e]);
        assert_eq!(sequences.pair_at(3, c, d), None);
        let last = sequences.symbol_at(5);
        assert_eq!(
            sequences.before(last),
            Some(Symbol {
                id: 301,
                start: 2,
                len: 3
            })
        );
        assert_eq!(sequences.after(last), None);
    }

    #[test]
    fn counts_follow_the_words() {
        let sequences = sequences(&[(b"ab", 9), (b"x", 5), (b"cd", 5), (b"ef", 5), (b"gh", 1)]);

        let mut seen = Vec::new();
        sequences
            .initial_pairs(|_, position, count| {
                seen.push((position, count));
                Ok(())
            })
            .expect("visiting never fails here");

        assert_eq!(seen, [(1, 9), (4, 5), (7, 5), (10, 1)]);
    }

    #[test]
    fn counts_beyond_64_bits_are_refused() {
        let words: [(&[u8], u64); 1] = [(b"ab", u64::MAX)];

        let refused = Sequences::new(words.as_slice(), &alphabet(&words));

        assert!(refused.is_err_and(|error| error.to_string().contains("2^63")));
    }
}
