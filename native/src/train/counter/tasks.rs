//! A batch in tasks, and tasks in rounds, on all threads.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rayon::prelude::*;

use super::{BatchReport, Counter, lock};
use crate::train::Pretokenize;
use crate::train::counts::Counts;
use crate::{Error, Result};

/// How many bytes of text a task takes before another thread may take over.
pub(super) const TASK_BYTES: usize = 1 << 17;
/// How long the tasks between two calls of `poll` should take, give or take a factor of two.
pub(super) const ROUND: Duration = Duration::from_millis(100);

impl Counter {
    pub(super) fn count_rows<'t, P: Pretokenize>(
        &self,
        pretokenize: &P,
        rows: usize,
        row: &(dyn Fn(usize) -> Result<Option<&'t str>> + Sync),
        pool: Option<&ThreadPool>,
        poll: &mut dyn FnMut() -> bool,
    ) -> Result<BatchReport> {
        let tasks = tasks(rows, row);
        let threads = pool.map_or(1, ThreadPool::current_num_threads);
        let mut rest = tasks.as_slice();
        let mut report = BatchReport::default();
        while !rest.is_empty() {
            let round = self.round.load(Ordering::Relaxed).max(threads);
            let (now, later) = rest.split_at(round.min(rest.len()));
            let started = Instant::now();
            report = report.and(self.count_tasks(pretokenize, now, row, pool)?);
            self.pace(round, now.len(), started.elapsed());
            if !later.is_empty() && !poll() {
                return Err(Error::Interrupted);
            }
            rest = later;
        }
        Ok(report)
    }

    fn count_tasks<'t, P: Pretokenize>(
        &self,
        pretokenize: &P,
        tasks: &[Range<usize>],
        row: &(dyn Fn(usize) -> Result<Option<&'t str>> + Sync),
        pool: Option<&ThreadPool>,
    ) -> Result<BatchReport> {
        let count = |task: &Range<usize>| self.count_task(pretokenize, task.clone(), row);
        match pool {
            None => tasks
                .iter()
                .try_fold(BatchReport::default(), |sum, task| Ok(sum.and(count(task)?))),
            Some(pool) => pool.install(|| {
                tasks
                    .par_iter()
                    .map(count)
                    .try_reduce(BatchReport::default, |a, b| Ok(a.and(b)))
            }),
        }
    }

    /// Makes the next round longer or shorter by what `tasks` of the `round` tasks of this one took.
    fn pace(&self, round: usize, tasks: usize, took: Duration) {
        let next = if took > ROUND {
            round / 2
        } else if tasks == round && took < ROUND / 4 {
            round.saturating_mul(2)
        } else {
            round
        };
        self.round.store(next.max(1), Ordering::Relaxed);
    }

    fn count_task<'t, P: Pretokenize>(
        &self,
        pretokenize: &P,
        rows: Range<usize>,
        row: &(dyn Fn(usize) -> Result<Option<&'t str>> + Sync),
    ) -> Result<BatchReport> {
        let mut small = lock(&self.small)?.pop().unwrap_or_default();
        let mut report = BatchReport::default();
        for index in rows {
            let Some(text) = row(index)? else {
                report.nulls += 1;
                continue;
            };
            report.texts += 1;
            report.bytes += text.len() as u64;
            self.count_text(pretokenize, text, &mut small)?;
        }
        lock(&self.small)?.push(small);
        Ok(report)
    }

    fn count_text<P: Pretokenize>(&self, pretokenize: &P, text: &str, small: &mut Counts) -> Result<()> {
        let mut flushed = Ok(());
        pretokenize.pretokens(text, &mut |pretoken| {
            self.cutting.parts(pretoken, &mut |part| {
                small.add(part, 1);
                if small.is_larger_than(self.small_limit) && flushed.is_ok() {
                    flushed = self.flush(small);
                }
            });
        })?;
        flushed
    }
}

/// Cuts rows into ranges of about [`TASK_BYTES`] bytes of text.
fn tasks<'t>(rows: usize, row: &dyn Fn(usize) -> Result<Option<&'t str>>) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for index in 0..rows {
        // A damaged row is reported by the task that counts it.
        bytes += row(index).ok().flatten().map_or(0, str::len);
        if bytes >= TASK_BYTES || index + 1 == rows {
            tasks.push(start..index + 1);
            (start, bytes) = (index + 1, 0);
        }
    }
    tasks
}
