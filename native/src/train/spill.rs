//! What happens to counts that are too many for memory: sorted, they go to temporary files, and are added up later.
//!
//! Guarantee: tables take at most the memory of the bound, counted with what they keep free: a third of it may be
//! filled, and another third sorted and written while counting goes on. What the files hold and what memory holds
//! add up exactly.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::Result;
use crate::train::Words;
use crate::train::counter::lock;
use crate::train::counts::Counts;
use crate::train::sorted::{Cursor, MemoryLimit, Run, RunWriter, Sorted, SortedBuilder, Weight, merge};

/// How many files become one larger one, so that few are open and each is read with a large buffer.
const FAN_IN: usize = 32;
const READ_BUFFER: usize = 1 << 16;

/// The files of one counter, and the size of the tables in memory.
#[derive(Debug)]
pub struct Spill {
    bound: MemoryLimit,
    /// How much memory the tables take.
    held: AtomicUsize,
    /// How many bytes of files were written.
    written: AtomicU64,
    files: Mutex<Files>,
}

#[derive(Debug, Default)]
struct Files {
    /// Files by how often they were merged.
    levels: Vec<Vec<Arc<Run>>>,
    /// All that was counted, once it is settled.
    settled: Option<Sorted>,
}

impl Files {
    fn is_empty(&self) -> bool {
        self.settled.is_none() && self.levels.iter().all(Vec::is_empty)
    }

    fn is_settled(&self) -> bool {
        self.settled.is_some() && self.levels.iter().all(Vec::is_empty)
    }
}

impl Spill {
    /// No files.
    pub fn new(bound: MemoryLimit) -> Self {
        Self {
            bound,
            held: AtomicUsize::new(0),
            written: AtomicU64::new(0),
            files: Mutex::default(),
        }
    }

    /// Notes that a table grew.
    pub fn note_growth(&self, before: usize, now: usize) {
        self.held.fetch_add(now.saturating_sub(before), Ordering::Relaxed);
    }

    /// How many bytes of files were written.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Whether all counts are in memory.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(lock(&self.files)?.is_empty())
    }

    /// Writes the tables to a file when they are too large. Other threads go on with empty tables meanwhile, and wait
    /// here once those are full, too.
    pub fn relieve(&self, tables: &[Mutex<Counts>]) -> Result<()> {
        if self.is_full() {
            let mut files = lock(&self.files)?;
            if self.is_full() {
                self.write(tables, &mut files)?;
            }
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.held.load(Ordering::Relaxed) > self.bound.memory / 3
    }

    /// The tables, which are empty afterwards.
    pub fn take_tables(&self, tables: &[Mutex<Counts>]) -> Result<Vec<Counts>> {
        let take = |table: &Mutex<Counts>| {
            let taken = std::mem::take(&mut *lock(table)?);
            self.held.fetch_sub(taken.memory(), Ordering::Relaxed);
            Ok(taken)
        };
        tables.iter().map(take).collect()
    }

    fn write(&self, tables: &[Mutex<Counts>], files: &mut Files) -> Result<()> {
        let tables = self.take_tables(tables)?;
        let mut writer = RunWriter::new(&self.bound.directory)?;
        let cursors = tables.into_iter().map(TableCursor::boxed).collect();
        merge(
            cursors,
            &mut |pretoken, count| writer.push(pretoken, count),
            &mut || true,
        )?;
        self.keep(writer.finish()?, 0, files)
    }

    /// Puts a file to those that were merged `level` times, and merges them when they are many.
    fn keep(&self, run: Arc<Run>, level: usize, files: &mut Files) -> Result<()> {
        self.written.fetch_add(run.len(), Ordering::Relaxed);
        if files.levels.len() <= level {
            files.levels.push(Vec::new());
        }
        files.levels[level].push(run);
        if files.levels[level].len() < FAN_IN {
            return Ok(());
        }
        let runs = std::mem::take(&mut files.levels[level]);
        let mut writer = RunWriter::new(&self.bound.directory)?;
        let cursors = readers(&runs, &self.bound);
        merge(
            cursors,
            &mut |pretoken, count| writer.push(pretoken, count),
            &mut || true,
        )?;
        self.keep(writer.finish()?, level + 1, files)
    }

    /// Adds up the files and the tables when there are files: then all is in one place.
    pub fn settle(&self, tables: &[Mutex<Counts>], poll: &mut dyn FnMut() -> bool) -> Result<()> {
        let mut files = lock(&self.files)?;
        if files.is_empty() || (files.is_settled() && self.held.load(Ordering::Relaxed) == 0) {
            return Ok(());
        }
        let settled = self.add_up(tables, &mut files, poll)?;
        files.settled = Some(settled);
        Ok(())
    }

    /// All that was counted; nothing is left.
    pub fn take_sorted(&self, tables: &[Mutex<Counts>], poll: &mut dyn FnMut() -> bool) -> Result<Sorted> {
        let mut files = lock(&self.files)?;
        if files.is_settled()
            && self.held.load(Ordering::Relaxed) == 0
            && let Some(settled) = files.settled.take()
        {
            return Ok(settled);
        }
        self.add_up(tables, &mut files, poll)
    }

    /// Adds what was counted elsewhere.
    pub fn add(&self, counts: Sorted, poll: &mut dyn FnMut() -> bool) -> Result<()> {
        let mut files = lock(&self.files)?;
        files.settled = Some(match files.settled.take() {
            None => counts,
            Some(before) => Sorted::sum(
                &[(&before, Weight::ONE), (&counts, Weight::ONE)],
                &self.bound,
                poll,
            )?,
        });
        Ok(())
    }

    fn add_up(
        &self,
        tables: &[Mutex<Counts>],
        files: &mut Files,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<Sorted> {
        let tables = self.take_tables(tables)?;
        let runs: Vec<Arc<Run>> = std::mem::take(&mut files.levels).into_iter().flatten().collect();
        let before = files.settled.take();
        let mut cursors = readers(&runs, &self.bound);
        cursors.extend(before.iter().map(Sorted::cursor));
        cursors.extend(tables.into_iter().map(TableCursor::boxed));
        let mut sum = SortedBuilder::new(self.bound.clone());
        merge(cursors, &mut |pretoken, count| sum.push(pretoken, count), poll)?;
        sum.finish()
    }

    /// Calls `visit` with all that was counted, and returns whether it is here: when it has been settled.
    pub fn visit(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<bool> {
        match &lock(&self.files)?.settled {
            Some(settled) => settled.for_each(visit).map(|()| true),
            None => Ok(false),
        }
    }

    /// How many distinct pretokens there are, when they are here.
    pub fn len(&self) -> Result<Option<u64>> {
        let files = lock(&self.files)?;
        Ok(files.settled.as_ref().map(|settled| settled.summary().distinct))
    }
}

fn readers(runs: &[Arc<Run>], bound: &MemoryLimit) -> Vec<Box<dyn Cursor>> {
    let buffer = (bound.memory / 4 / runs.len().max(1)).clamp(1 << 12, READ_BUFFER);
    let readers = runs
        .iter()
        .map(|run| -> Box<dyn Cursor> { Box::new(run.reader(buffer)) });
    readers.collect()
}

impl Words for Vec<Counts> {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        let mut all = self.iter().flat_map(Counts::iter);
        all.try_for_each(|(pretoken, count)| visit(pretoken, count))
    }
}

impl Words for Sorted {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        Sorted::for_each(self, visit)
    }
}

/// A walk over a table, which is gone at its end.
struct TableCursor {
    table: Counts,
    order: std::vec::IntoIter<u32>,
    at: usize,
}

impl TableCursor {
    fn boxed(table: Counts) -> Box<dyn Cursor> {
        let order = table.order().into_iter();
        Box::new(Self { table, order, at: 0 })
    }
}

impl Cursor for TableCursor {
    fn advance(&mut self) -> Result<bool> {
        let next = self.order.next();
        self.at = next.unwrap_or_default() as usize;
        Ok(next.is_some())
    }

    fn pretoken(&self) -> &[u8] {
        self.table.get(self.at).0
    }

    fn count(&self) -> u64 {
        self.table.get(self.at).1
    }
}
