//! Counts as a value: distinct pretokens in order of bytes, in memory while they are few, else in a temporary file.
//!
//! Guarantee: whatever their number, no more than the bound that was set is in memory, and reading them front to
//! back gives the same entries wherever they lie.

mod merging;
mod run;
mod weight;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::sync::Arc;

pub use merging::merge;
pub use run::{Run, RunReader, RunWriter};
pub use weight::{Weight, Weighted};

use crate::{Error, Result};

/// How much of a file one reader holds in memory.
const READ_BUFFER: usize = 1 << 16;

/// A walk over pretokens in order of bytes.
pub trait Cursor: Send {
    /// Goes to the next pretoken, at first to the first one; false behind the last.
    fn advance(&mut self) -> Result<bool>;
    /// The pretoken here.
    fn pretoken(&self) -> &[u8];
    /// How often it was seen.
    fn count(&self) -> u64;
}

/// How much memory counts may take, and where the rest goes.
#[derive(Debug, Clone)]
pub struct MemoryLimit {
    /// Bytes.
    pub memory: usize,
    /// The directory of temporary files.
    pub directory: PathBuf,
}

/// Distinct pretokens and their counts, in order of bytes.
#[derive(Debug, Clone)]
pub struct Sorted {
    body: Body,
    summary: Summary,
}

/// What all pretokens are together.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// How many distinct ones there are.
    pub distinct: u64,
    /// How many bytes the distinct ones have.
    pub text_len: u64,
    /// How many there are.
    pub total: u128,
}

#[derive(Debug, Clone)]
enum Body {
    Memory(Arc<Packed>),
    File(Arc<Run>),
}

/// Entries one after another.
#[derive(Debug, Default)]
struct Packed {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    counts: Vec<u64>,
}

impl Packed {
    fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// The memory of `entries` entries that have `bytes` bytes.
    fn size(bytes: usize, entries: usize) -> usize {
        bytes + 16 * entries
    }
}

impl Sorted {
    /// A walk from the front.
    pub fn cursor(&self) -> Box<dyn Cursor> {
        self.cursor_of(READ_BUFFER)
    }

    fn cursor_of(&self, buffer: usize) -> Box<dyn Cursor> {
        match &self.body {
            Body::Memory(packed) => Box::new(PackedCursor {
                packed: Arc::clone(packed),
                next: 0,
            }),
            Body::File(run) => Box::new(run.reader(buffer)),
        }
    }

    /// Calls `visit` with each pretoken and its count, in order of bytes.
    pub fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        let mut cursor = self.cursor();
        while cursor.advance()? {
            visit(cursor.pretoken(), cursor.count())?;
        }
        Ok(())
    }

    /// What all pretokens are together.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Whether the entries lie in a temporary file.
    pub fn is_in_file(&self) -> bool {
        matches!(self.body, Body::File(_))
    }

    /// The `number` pretokens of the highest counts, of equal counts the first in order of bytes.
    pub fn most_common(&self, number: usize) -> Result<Vec<(Vec<u8>, u64)>> {
        let mut best: BinaryHeap<(Reverse<u64>, Vec<u8>)> = BinaryHeap::new();
        self.for_each(&mut |pretoken, count| {
            // Those that come later in order of bytes have to be more.
            let is_better = best.peek().is_none_or(|(Reverse(least), _)| count > *least);
            if best.len() < number {
                best.push((Reverse(count), pretoken.to_vec()));
            } else if is_better && number > 0 {
                best.pop();
                best.push((Reverse(count), pretoken.to_vec()));
            }
            Ok(())
        })?;
        let best = best.into_sorted_vec().into_iter();
        Ok(best.map(|(Reverse(count), pretoken)| (pretoken, count)).collect())
    }

    /// The sum of counts, each times its weight; pretokens of which nothing is left are dropped.
    ///
    /// # Errors
    /// As [`merge`].
    pub fn sum(
        parts: &[(&Self, Weight)],
        bound: &MemoryLimit,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<Self> {
        let buffer = (bound.memory / 4 / parts.len().max(1)).clamp(1 << 12, READ_BUFFER);
        let cursors = parts.iter().map(|&(part, weight)| -> Box<dyn Cursor> {
            Box::new(Weighted::new(part.cursor_of(buffer), weight))
        });
        let mut sum = SortedBuilder::new(bound.clone());
        merge(
            cursors.collect(),
            &mut |pretoken, count| sum.push(pretoken, count),
            poll,
        )?;
        sum.finish()
    }
}

struct PackedCursor {
    packed: Arc<Packed>,
    /// One more than the entry here.
    next: usize,
}

impl Cursor for PackedCursor {
    fn advance(&mut self) -> Result<bool> {
        self.next += 1;
        Ok(self.next <= self.packed.ends.len())
    }

    fn pretoken(&self) -> &[u8] {
        self.packed.get(self.next - 1)
    }

    fn count(&self) -> u64 {
        self.packed.counts[self.next - 1]
    }
}

/// Takes pretokens in order of bytes, and moves to a temporary file when they are more than the bound allows.
#[derive(Debug)]
pub struct SortedBuilder {
    bound: MemoryLimit,
    packed: Packed,
    writer: Option<RunWriter>,
    summary: Summary,
}

impl SortedBuilder {
    /// An empty list.
    pub fn new(bound: MemoryLimit) -> Self {
        Self {
            bound,
            packed: Packed::default(),
            writer: None,
            summary: Summary::default(),
        }
    }

    /// Appends a pretoken.
    ///
    /// # Errors
    /// [`Error::Value`] when it doesn't come after the last one, or was never seen; [`Error::Storage`].
    pub fn push(&mut self, pretoken: &[u8], count: u64) -> Result<()> {
        self.check(pretoken, count)?;
        self.summary.distinct += 1;
        self.summary.text_len += pretoken.len() as u64;
        self.summary.total += u128::from(count);
        if let Some(writer) = &mut self.writer {
            return writer.push(pretoken, count);
        }
        let Packed { bytes, ends, counts } = &mut self.packed;
        bytes.extend_from_slice(pretoken);
        ends.push(bytes.len());
        counts.push(count);
        // Growing doubles a vector, and holds the old one meanwhile.
        if 3 * Packed::size(bytes.len(), ends.len()) > self.bound.memory {
            self.move_to_file()?;
        }
        Ok(())
    }

    fn check(&self, pretoken: &[u8], count: u64) -> Result<()> {
        let last = match (&self.writer, self.packed.ends.len()) {
            (Some(writer), _) => writer.last(),
            (None, 0) => &[],
            (None, entries) => self.packed.get(entries - 1),
        };
        if self.summary.distinct > 0 && pretoken <= last {
            return Err(Error::Value(format!(
                "entry {} doesn't come after the one before it in order of bytes",
                self.summary.distinct
            )));
        }
        if count == 0 {
            return Err(Error::Value(format!(
                "entry {} has the count 0",
                self.summary.distinct
            )));
        }
        Ok(())
    }

    fn move_to_file(&mut self) -> Result<()> {
        let packed = std::mem::take(&mut self.packed);
        let mut writer = RunWriter::new(&self.bound.directory)?;
        for at in 0..packed.ends.len() {
            writer.push(packed.get(at), packed.counts[at])?;
        }
        self.writer = Some(writer);
        Ok(())
    }

    /// The list.
    pub fn finish(mut self) -> Result<Sorted> {
        let body = match self.writer {
            Some(writer) => Body::File(writer.finish()?),
            None => {
                self.packed.bytes.shrink_to_fit();
                self.packed.ends.shrink_to_fit();
                self.packed.counts.shrink_to_fit();
                Body::Memory(Arc::new(self.packed))
            }
        };
        Ok(Sorted {
            body,
            summary: self.summary,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(memory: usize) -> MemoryLimit {
        MemoryLimit {
            memory,
            directory: std::env::temp_dir(),
        }
    }

    fn sorted(entries: &[(&str, u64)], memory: usize) -> Sorted {
        let mut builder = SortedBuilder::new(bound(memory));
        for (pretoken, count) in entries {
            builder.push(pretoken.as_bytes(), *count).expect("sorted");
        }
        builder.finish().expect("there is room")
    }

    fn entries(sorted: &Sorted) -> Vec<(String, u64)> {
        let mut entries = Vec::new();
        sorted
            .for_each(&mut |pretoken, count| {
                entries.push((String::from_utf8_lossy(pretoken).into_owned(), count));
                Ok(())
            })
            .expect("the file is whole");
        entries
    }

    #[test]
    fn sums_are_the_same_in_memory_and_on_disk() {
        for memory in [0, 100, 1 << 20] {
            let a = sorted(&[("", 3), ("a", 1), ("ab", 2), ("b", 1 << 40)], memory);
            let b = sorted(&[("ab", 5), ("abc", 1)], memory);
            assert_eq!(a.is_in_file(), memory < 1 << 20);

            let parts = [
                (&a, Weight::ONE),
                (&b, Weight::ONE),
                (&a, Weight::new(1, 2).expect("half")),
            ];
            let sum = Sorted::sum(&parts, &bound(memory), &mut || true).expect("there is room");

            let expected = [
                ("", 3 + 2),
                ("a", 1 + 1),
                ("ab", 2 + 5 + 1),
                ("abc", 1),
                ("b", 3 << 39),
            ];
            assert_eq!(
                entries(&sum),
                expected.map(|(text, count)| (text.to_owned(), count))
            );
            assert_eq!(sum.summary().distinct, 5);
            assert_eq!(sum.summary().text_len, 7);
            assert_eq!(sum.summary().total, 5 + 2 + 8 + 1 + (3 << 39));
        }
    }

    #[test]
    fn the_most_common_of_equals_are_the_first() {
        let counts = sorted(&[("a", 2), ("b", 5), ("c", 2), ("d", 5), ("e", 1)], 1 << 20);
        let texts = |number| {
            let common = counts.most_common(number).expect("in memory");
            common.into_iter().map(|(text, _)| text).collect::<Vec<_>>()
        };

        assert_eq!(texts(3), [b"b", b"d", b"a"]);
        assert_eq!(texts(0), Vec::<Vec<u8>>::new());
        assert_eq!(texts(9), [b"b", b"d", b"a", b"c", b"e"]);
    }

    #[test]
    fn disorder_and_nothing_are_refused() {
        for memory in [0, 1 << 20] {
            let mut builder = SortedBuilder::new(bound(memory));
            builder.push(b"", 1).expect("the first");
            builder.push(b"b", 1).expect("the second");

            for (pretoken, count, told) in [
                ("a", 1, "entry 2 doesn't"),
                ("b", 1, "entry 2 doesn't"),
                ("c", 0, "count 0"),
            ] {
                let refused = builder.push(pretoken.as_bytes(), count);
                assert!(refused.is_err_and(|error| error.to_string().contains(told)));
            }
        }
    }

    #[test]
    fn a_sum_beyond_64_bits_is_refused() {
        let a = sorted(&[("a", u64::MAX)], 1 << 20);

        let refused = Sorted::sum(&[(&a, Weight::ONE), (&a, Weight::ONE)], &bound(0), &mut || true);

        assert!(refused.is_err_and(|error| error.to_string().contains("2^64")));
    }
}
