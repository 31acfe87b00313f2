//! Words of several sources: each has a count for every source, and merges are learned from the weighted sum.
//!
//! Guarantee: merges are those of one table that holds the weighted sum; which source uses what is counted exactly while
//! merging. That takes 8 bytes for each source and each *different* row of counts, not for each word or pair: words of
//! equal rows lie side by side, and a pair is counted by source where it is asked for.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::train::merging::Merging;
use crate::train::quotas::Quotas;
use crate::train::sorted::{Cursor, Sorted};
use crate::train::{Alphabet, Words};
use crate::{Error, Result};

/// Distinct words and the row of counts that each has.
pub struct SourcedWords {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    groups: Vec<u32>,
    /// The weighted sum of each row.
    sums: Vec<u64>,
}

/// The different rows of counts, and what an occurrence in each source weighs.
#[derive(Debug, Clone, Default)]
pub struct SourceCounts {
    weights: Vec<u64>,
    rows: Vec<u64>,
}

impl SourceCounts {
    fn row(&self, group: u32) -> &[u64] {
        &self.rows[group as usize * self.weights.len()..][..self.weights.len()]
    }

    /// Adds the counts of a group.
    pub fn add(&self, group: u32, counts: &mut [u64]) {
        for (sum, count) in counts.iter_mut().zip(self.row(group)) {
            *sum += count;
        }
    }

    /// The source with the most weighted counts, of equals the first.
    pub fn most(&self, counts: &[u64]) -> usize {
        let weighted = |source: usize| u128::from(counts[source]) * u128::from(self.weights[source]);
        (1..counts.len()).fold(0, |best, next| {
            if weighted(next) > weighted(best) {
                next
            } else {
                best
            }
        })
    }

    /// How often a pair would be merged in each source.
    pub fn of_pair(&self, words: &Merging, positions: &[u32], pair: (u32, u32)) -> Vec<u64> {
        let mut counts = vec![0; self.weights.len()];
        words.visit_groups(positions, pair, |group| self.add(group, &mut counts));
        counts
    }
}

impl SourcedWords {
    /// The words of `parts`, each a source, an occurrence in which counts as often as its weight says.
    ///
    /// # Errors
    /// [`Error::Value`] when a weighted count has more than 64 bits; [`Error::Interrupted`] when `poll` returned false.
    pub fn new(parts: &[(Sorted, u64)], poll: &mut dyn FnMut() -> bool) -> Result<(Self, SourceCounts)> {
        let mut words = Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            groups: Vec::new(),
            sums: Vec::new(),
        };
        let weights: Vec<u64> = parts.iter().map(|&(_, weight)| weight).collect();
        let mut counts = SourceCounts {
            weights,
            rows: Vec::new(),
        };
        let mut known: HashMap<Vec<u64>, u32, FxBuildHasher> = HashMap::default();
        let mut cursors: Vec<Option<Box<dyn Cursor>>> = Vec::new();
        for (part, _) in parts {
            cursors.push(advanced(part.cursor())?);
        }
        let mut row = vec![0; parts.len()];
        while let Some(word) = first(&cursors) {
            row.fill(0);
            let start = words.bytes.len();
            words.bytes.extend_from_slice(word);
            words.ends.push(words.bytes.len());
            for (count, cursor) in row.iter_mut().zip(&mut cursors) {
                if let Some(here) = cursor.take_if(|here| here.pretoken() == &words.bytes[start..]) {
                    *count = here.count();
                    *cursor = advanced(here)?;
                }
            }
            let group = match known.get(&row) {
                Some(&group) => group,
                None => {
                    let group = words.sums.len() as u32;
                    words.sums.push(weighted_sum(&row, &counts.weights)?);
                    counts.rows.extend_from_slice(&row);
                    known.insert(row.clone(), group);
                    group
                }
            };
            words.groups.push(group);
            if words.groups.len().is_multiple_of(1 << 16) && !poll() {
                return Err(Error::Interrupted);
            }
        }
        Ok((words, counts))
    }

    /// How many distinct words there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn advanced(mut cursor: Box<dyn Cursor>) -> Result<Option<Box<dyn Cursor>>> {
    Ok(cursor.advance()?.then_some(cursor))
}

fn first(cursors: &[Option<Box<dyn Cursor>>]) -> Option<&[u8]> {
    cursors.iter().flatten().map(|cursor| cursor.pretoken()).min()
}

fn weighted_sum(row: &[u64], weights: &[u64]) -> Result<u64> {
    let products = row.iter().zip(weights);
    let sum: u128 = products
        .map(|(&count, &weight)| u128::from(count) * u128::from(weight))
        .sum();
    u64::try_from(sum).map_err(|_| Error::Value(format!("a weighted count is {sum}, more than 64 bits hold")))
}

impl Words for SourcedWords {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        self.for_each_in_groups(&mut |word, count, _| visit(word, count))
    }

    fn for_each_in_groups(&self, visit: &mut super::VisitInGroups<'_>) -> Result<()> {
        let mut start = 0;
        for (&end, &group) in self.ends.iter().zip(&self.groups) {
            visit(&self.bytes[start..end], self.sums[group as usize], group)?;
            start = end;
        }
        Ok(())
    }
}

/// A share of the tokens that will be learned, at least so many of which one source is to use most.
///
/// Method: merges are learned as ever while all quotas can still be met by what follows; from the point where they can
/// no longer wait, the best pair is taken of those that a source uses most whose quota isn't met. So the tokens given up
/// are the least frequent ones. The two phases are those of the hybrid form of parity-aware BPE (Foroutan et al. 2025,
/// arXiv 2508.04796), where the source that compresses worst chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Which source.
    pub source: usize,
    /// The share: numerator and denominator.
    pub share: (u64, u64),
}

/// Which source uses what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceUse {
    /// How many symbols the words of each source have before the first merge.
    pub symbols: Vec<u64>,
    /// How many tokens they have after the last.
    pub tokens: Vec<u64>,
    /// Each learned token, the source that used it most when it was made, and how often each did.
    pub learned: Vec<(u32, usize, Vec<u64>)>,
    /// How many tokens are missing to the quota of each source.
    pub missing: Vec<usize>,
}

/// What is counted by source while merges are learned.
pub(super) struct Uses {
    counts: SourceCounts,
    quotas: Quotas,
    found: SourceUse,
}

impl Uses {
    pub(super) fn new(counts: SourceCounts) -> Self {
        let found = SourceUse {
            symbols: vec![0; counts.weights.len()],
            ..SourceUse::default()
        };
        Self {
            quotas: Quotas::new(counts.weights.len(), &[], 0),
            counts,
            found,
        }
    }

    /// Counts the symbols before the first merge.
    pub(super) fn count_symbols(&mut self, words: &impl Words, alphabet: &Alphabet) -> Result<()> {
        words.for_each_in_groups(&mut |word, _, group| {
            let mut len = 0;
            alphabet.for_each_symbol(word, |_| len += 1);
            for (sum, count) in self.found.symbols.iter_mut().zip(self.counts.row(group)) {
                *sum += len * count;
            }
            Ok(())
        })?;
        self.found.tokens = self.found.symbols.clone();
        Ok(())
    }

    pub(super) fn set_quotas(&mut self, quotas: &[Quota], room: usize) {
        self.quotas = Quotas::new(self.counts.weights.len(), quotas, room);
    }

    /// Takes out the best pair that the quotas allow while there is `room` for so many tokens.
    pub(super) fn pop(&mut self, words: &mut Merging, room: usize) -> Option<((u32, u32), Vec<u32>)> {
        match self.quotas.are_set() {
            true => self.quotas.pop(words, &self.counts, room),
            false => words.pairs.pop(),
        }
    }

    /// Notes what a merge that is about to be made does in each source, and whether it makes a new token.
    pub(super) fn merge(
        &mut self,
        words: &Merging,
        positions: &[u32],
        pair: (u32, u32),
        token: u32,
        is_new: bool,
    ) {
        let counts = self.counts.of_pair(words, positions, pair);
        for (tokens, count) in self.found.tokens.iter_mut().zip(&counts) {
            *tokens -= count;
        }
        let most = self.counts.most(&counts);
        if is_new {
            self.quotas.met(most);
        }
        self.found.learned.push((token, most, counts));
    }

    pub(super) fn finish(mut self) -> SourceUse {
        self.found.missing = self.quotas.missing();
        self.found
    }
}
