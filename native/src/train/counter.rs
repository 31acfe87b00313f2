//! Counts the pretokens of a corpus, batch by batch, on all threads.
//!
//! Guarantee: the counts are those of the multiset of texts, whatever the batches, the threads and the memory allowed;
//! memory grows with the distinct pretokens up to the bound that was set, not with threads or text.
//!
//! Each running task counts into a small table that fits the cache of its core, where most pretokens of a text
//! are found again. Full tables are emptied into the shared one, which is cut into shards by hash so that
//! threads seldom wait for each other. A shared table that is too large is sorted and goes to a temporary file: see
//! [`Spill`].

mod one_by_one;
mod tasks;
#[cfg(test)]
mod tests;

pub use one_by_one::Uncounted;

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use rayon::ThreadPool;

use crate::tokenizer::Tokenizer;
use crate::train::counts::{Counts, hash};
use crate::train::cutting::Cutting;
use crate::train::sorted::{MemoryLimit, Sorted};
use crate::train::spill::Spill;
use crate::train::{
    ArrowStrings, Extended, Extension, Learned, Pretokenize, Settings, Unit, Words, learn, learn_on,
};
use crate::{Error, Result};

const SHARDS: usize = 64;
/// A small table is emptied when it takes this much memory, or a part of the bound.
const SMALL_TABLE: usize = 1 << 20;
/// Counts pretokens.
#[derive(Debug)]
pub struct Counter {
    shards: Vec<Mutex<Counts>>,
    small: Mutex<Vec<Counts>>,
    small_limit: usize,
    spill: Spill,
    cutting: Cutting,
    /// How many tasks a round has: what took about [`ROUND`] so far, as patterns differ a thousandfold in speed.
    round: AtomicUsize,
}

/// What a batch held.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct BatchReport {
    /// Texts counted.
    pub texts: u64,
    /// Rows that were null.
    pub nulls: u64,
    /// Bytes of text counted.
    pub bytes: u64,
}

impl BatchReport {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            texts: self.texts + other.texts,
            nulls: self.nulls + other.nulls,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl Default for Counter {
    /// Without a bound on memory or on the length of pretokens.
    fn default() -> Self {
        let memory = usize::MAX;
        let directory = std::env::temp_dir();
        Self::new(MemoryLimit { memory, directory }, Cutting::default())
    }
}

impl Counter {
    /// A counter that takes no more memory than `bound` says, and counts long pretokens in parts.
    pub fn new(bound: MemoryLimit, cutting: Cutting) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            small: Mutex::default(),
            small_limit: (bound.memory / 32).clamp(1 << 16, SMALL_TABLE),
            spill: Spill::new(bound),
            cutting,
            round: AtomicUsize::new(1),
        }
    }

    /// Counts the pretokens of `texts`, on the threads of `pool` or, without one, on this thread.
    ///
    /// `poll` is called on this thread, several times a second, and returns whether to go on. A text is never
    /// left halfway.
    ///
    /// # Errors
    /// What `pretokenize` reports, and [`Error::Interrupted`] when `poll` returned false; the counts are then
    /// partial and of no use.
    pub fn count<P: Pretokenize>(
        &self,
        pretokenize: &P,
        texts: &[&str],
        pool: Option<&ThreadPool>,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<BatchReport> {
        self.count_rows(pretokenize, texts.len(), &|row| Ok(Some(texts[row])), pool, poll)
    }

    /// Counts the pretokens of an Arrow column; null rows are skipped.
    ///
    /// # Errors
    /// As [`Counter::count`], and [`Error::Value`] for a damaged column, which names the row.
    pub fn count_arrow<P: Pretokenize>(
        &self,
        pretokenize: &P,
        column: ArrowStrings<'_>,
        pool: Option<&ThreadPool>,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<BatchReport> {
        self.count_rows(pretokenize, column.len, &|row| column.get(row), pool, poll)
    }

    /// Counts pretokens that were counted elsewhere.
    pub fn count_weighted<'a>(&self, pretokens: impl IntoIterator<Item = (&'a [u8], u64)>) -> Result<()> {
        let mut small = lock(&self.small)?.pop().unwrap_or_default();
        for (pretoken, count) in pretokens {
            small.add(pretoken, count);
            if small.is_larger_than(self.small_limit) {
                self.flush(&mut small)?;
            }
        }
        lock(&self.small)?.push(small);
        Ok(())
    }

    /// Counts what was counted elsewhere, without a copy of it where nothing else is counted.
    pub fn count_sorted(&self, counts: Sorted, poll: &mut dyn FnMut() -> bool) -> Result<()> {
        self.spill.add(counts, poll)
    }

    /// How many distinct pretokens there are.
    pub fn distinct(&self) -> Result<usize> {
        self.settle(&mut || true)?;
        match self.spill.len()? {
            Some(distinct) => Ok(distinct as usize),
            None => self.shards.iter().map(|shard| Ok(lock(shard)?.len())).sum(),
        }
    }

    /// Calls `visit` with every distinct pretoken and its count, in no particular order.
    pub fn for_each(&self, mut visit: impl FnMut(&[u8], u64)) -> Result<()> {
        Words::for_each(self, &mut |pretoken, count| {
            visit(pretoken, count);
            Ok(())
        })
    }

    /// How many bytes of text all pretokens stand for, and how many symbols they have when they are cut into units.
    pub fn text_size(&self, unit: Unit) -> Result<(u64, u64)> {
        let (mut bytes, mut symbols) = (0u64, 0u64);
        self.for_each(|pretoken, count| {
            bytes = bytes.saturating_add(unit.text_len(pretoken).saturating_mul(count));
            symbols = symbols.saturating_add(unit.symbols(pretoken).saturating_mul(count));
        })?;
        Ok((bytes, symbols))
    }

    /// How many bytes the distinct pretokens have.
    pub fn distinct_bytes(&self) -> Result<u64> {
        let mut bytes = 0;
        self.for_each(|pretoken, _| bytes += pretoken.len() as u64)?;
        Ok(bytes)
    }

    /// How many pretokens were longer than allowed, and counted in parts.
    pub fn cut_pretokens(&self) -> u64 {
        self.cutting.cut()
    }

    /// How many bytes of pretokens went to temporary files.
    pub fn spilled_bytes(&self) -> u64 {
        self.spill.written()
    }

    /// What was counted, as a value; the counter begins anew.
    pub fn take_sorted(&self, poll: &mut dyn FnMut() -> bool) -> Result<Sorted> {
        self.flush_all()?;
        self.spill.take_sorted(&self.shards, poll)
    }

    /// Learns a vocabulary from what was counted: see [`learn`]. Nothing is counted any more, so that the memory is
    /// free while merges are learned, unless it is to be kept.
    pub fn learn(
        &self,
        settings: &Settings,
        keep: bool,
        progress: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Learned> {
        if keep {
            return learn(self, settings, progress);
        }
        if !self.spill.is_empty()? {
            return learn(self.take_sorted(&mut || progress(0, 0))?, settings, progress);
        }
        self.flush_all()?;
        lock(&self.small)?.clear();
        learn(self.spill.take_tables(&self.shards)?, settings, progress)
    }

    /// The pretokens that hold `part`, and how often each was seen, in order of bytes.
    pub fn containing(&self, part: &[u8]) -> Result<Vec<(Vec<u8>, u64)>> {
        let finder = memchr::memmem::Finder::new(part);
        let mut found = Vec::new();
        self.for_each(|pretoken, count| {
            if finder.find(pretoken).is_some() {
                found.push((pretoken.to_vec(), count));
            }
        })?;
        found.sort_unstable();
        Ok(found)
    }

    /// Learns on from the vocabulary of `tokenizer`: see [`learn_on`].
    pub fn learn_on(
        &self,
        tokenizer: &Tokenizer,
        settings: &Extension,
        progress: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Extended> {
        let mut all = Counts::default();
        self.for_each(|pretoken, count| all.add(pretoken, count))?;
        let words: Vec<_> = all.iter().collect();
        learn_on(&words, tokenizer, settings, progress)
    }

    /// Adds up what lies in several tables and files.
    fn settle(&self, poll: &mut dyn FnMut() -> bool) -> Result<()> {
        self.flush_all()?;
        self.spill.settle(&self.shards, poll)
    }

    /// Empties `small` into the shards.
    fn flush(&self, small: &mut Counts) -> Result<()> {
        let mut by_shard: Vec<Vec<(u32, u64)>> = vec![Vec::new(); SHARDS];
        for (at, (pretoken, _)) in small.iter().enumerate() {
            let hashed = hash(pretoken);
            by_shard[shard_of(hashed)].push((at as u32, hashed));
        }
        for (shard, entries) in self.shards.iter().zip(by_shard) {
            let mut shard = lock(shard)?;
            let before = shard.memory();
            for (at, hashed) in entries {
                let (pretoken, count) = small.get(at as usize);
                shard.add_hashed(pretoken, hashed, count);
            }
            self.spill.note_growth(before, shard.memory());
        }
        small.clear();
        self.spill.relieve(&self.shards)
    }

    fn flush_all(&self) -> Result<()> {
        for small in lock(&self.small)?.iter_mut() {
            self.flush(small)?;
        }
        Ok(())
    }
}

/// The shard of a pretoken: by bits that the table inside the shard does not use first.
fn shard_of(hashed: u64) -> usize {
    (hashed >> 40) as usize % SHARDS
}

impl Words for Counter {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        self.settle(&mut || true)?;
        if self.spill.visit(visit)? {
            return Ok(());
        }
        for shard in &self.shards {
            for (pretoken, count) in lock(shard)?.iter() {
                visit(pretoken, count)?;
            }
        }
        Ok(())
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> Result<std::sync::MutexGuard<'_, T>> {
    mutex
        .lock()
        .map_err(|_| Error::Value("a thread died while counting; the counts are partial".to_owned()))
}
