//! Work on all cores, safe across `fork`.
//!
//! A thread pool doesn't survive a fork: its threads stay behind in the parent. So the pool is remembered together
//! with the process that started it, and a child never waits for a lock that was held while it was forked.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Below this many bytes a batch is not worth waking threads for.
const WORTH_THREADS: usize = 32 * 1024;
/// Parts per thread, so that a thread that got short work takes more.
const PARTS: usize = 4;

static HOME: AtomicU32 = AtomicU32::new(0);
static WORKER: AtomicBool = AtomicBool::new(false);
static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

struct Pool {
    process: u32,
    threads: usize,
    pool: ThreadPool,
}

/// Notes which process this is; a process that was forked from it runs on one thread unless told otherwise.
pub fn set_home_process() {
    HOME.store(std::process::id(), Ordering::Relaxed);
}

/// Says that this process is one of several workers, each of which should use one thread.
pub fn set_worker_process() {
    WORKER.store(true, Ordering::Relaxed);
}

/// The number of threads that a batch may use: `RAYON_NUM_THREADS`, else every core, else one where
/// `TOKENIZERS_PARALLELISM` is off, or where it is not set and this is a worker process.
pub fn num_threads() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS")
        .ok()
        .and_then(|value| value.parse().ok());
    let asked = asked.filter(|&threads: &usize| threads > 0);
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
    match std::env::var("TOKENIZERS_PARALLELISM") {
        Ok(value) if is_off(&value) => 1,
        Ok(_) => asked.unwrap_or_else(cores),
        Err(_) => asked.unwrap_or_else(|| if is_worker() { 1 } else { cores() }),
    }
}

fn is_off(value: &str) -> bool {
    matches!(
        value.to_ascii_lowercase().as_str(),
        "" | "off" | "false" | "f" | "no" | "n" | "0"
    )
}

fn is_worker() -> bool {
    let home = HOME.load(Ordering::Relaxed);
    WORKER.load(Ordering::Relaxed) || (home != 0 && home != std::process::id())
}

/// The pool of this process with `threads` threads, or `None` for work on the calling thread alone.
pub fn pool(threads: usize) -> Option<&'static ThreadPool> {
    if threads <= 1 {
        return None;
    }
    let process = std::process::id();
    let current = POOL.load(Ordering::Acquire);
    if let Some(pool) = borrow(current)
        && pool.process == process
        && pool.threads == threads
    {
        return Some(&pool.pool);
    }
    // A pool that is replaced is leaked: after a fork its threads don't exist, and joining them would hang.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("hf_bpe-{index}"))
        .build()
        .ok()?;
    let made = Box::leak(Box::new(Pool {
        process,
        threads,
        pool,
    }));
    POOL.store(made, Ordering::Release);
    Some(&made.pool)
}

#[allow(unsafe_code)]
fn borrow(pool: *mut Pool) -> Option<&'static Pool> {
    // SAFETY: the pointer is null or was leaked from a box by `pool`, and nothing frees or changes what it points to.
    unsafe { pool.as_ref() }
}

/// Runs `work` on ranges of `0..sizes.len()` that hold about equally many bytes, and returns the results in order.
/// On one thread, or for little work, that is one range.
pub fn map_parts<T: Send>(sizes: &[usize], work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let bytes: usize = sizes.iter().sum();
    let threads = if bytes < WORTH_THREADS || sizes.len() < 2 {
        1
    } else {
        num_threads()
    };
    match pool(threads) {
        None => vec![work(0..sizes.len())],
        Some(pool) => {
            let parts = parts(sizes, bytes.div_ceil(threads * PARTS));
            pool.install(|| parts.into_par_iter().map(&work).collect())
        }
    }
}

/// All parts in one row, copied on all cores where there are several: for a large batch the copy is a tenth of the work.
pub fn concat(mut parts: Vec<Vec<u32>>) -> Vec<u32> {
    if parts.len() <= 1 {
        return parts.pop().unwrap_or_default();
    }
    // Zeroed memory comes untouched from the system, so that the threads share the cost of its pages.
    let mut row = vec![0; parts.iter().map(Vec::len).sum()];
    let mut places = Vec::with_capacity(parts.len());
    let mut rest = row.as_mut_slice();
    for part in parts {
        let (place, behind) = rest.split_at_mut(part.len());
        places.push((place, part));
        rest = behind;
    }
    let copy = |(place, part): (&mut [u32], Vec<u32>)| place.copy_from_slice(&part);
    match pool(num_threads()) {
        Some(pool) => pool.install(|| places.into_par_iter().for_each(copy)),
        None => places.into_iter().for_each(copy),
    }
    row
}

fn parts(sizes: &[usize], target: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut filled) = (0, 0);
    for (at, size) in sizes.iter().enumerate() {
        filled += size;
        if filled >= target {
            parts.push(start..at + 1);
            (start, filled) = (at + 1, 0);
        }
    }
    if start < sizes.len() {
        parts.push(start..sizes.len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_everything_once() {
        let sizes = [5, 0, 100, 3, 3, 3, 90, 1];

        let parts = parts(&sizes, 20);

        let covered: Vec<_> = parts.into_iter().flatten().collect();
        assert_eq!(covered, (0..sizes.len()).collect::<Vec<_>>());
    }

    #[test]
    fn parts_are_put_in_a_row_in_order() {
        let parts = vec![vec![1, 2], vec![], vec![3], (4..1000).collect()];

        assert_eq!(concat(parts), (1..1000).collect::<Vec<_>>());
        assert_eq!(concat(vec![vec![7]]), [7]);
        assert_eq!(concat(vec![]), [0; 0]);
    }

    #[test]
    fn results_come_in_order() {
        let sizes = [10_000; 100];

        let starts = map_parts(&sizes, |part| part.start);

        assert!(starts.is_sorted() && starts[0] == 0);
    }
}
