//! How much memory the caches of one process may take together, and what of it falls to each.
//!
//! Guarantee: all caches have the same share, however many tokenizers and threads there are. A cache that held more than its
//! share when another one joined it forgets what it knows before the next text.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Names the limit in MB, where it is not to be 64.
const VARIABLE: &str = "HF_BPE_CACHE_MB";
const MB: usize = 1 << 20;
const USUAL_LIMIT: usize = 64 * MB;

static PROCESS: LazyLock<Budget> = LazyLock::new(|| {
    let asked = std::env::var(VARIABLE).ok();
    Budget::new(limit_from(asked.as_deref()))
});

/// A limit, and how many caches share it.
pub(super) struct Budget {
    limit: AtomicUsize,
    caches: AtomicUsize,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit: AtomicUsize::new(limit),
            caches: AtomicUsize::new(0),
        }
    }

    pub(super) fn claim(&'static self) -> Claim {
        self.caches.fetch_add(1, Ordering::Relaxed);
        Claim(self)
    }
}

/// What a setting in MB says; what is no number is passed over.
fn limit_from(asked: Option<&str>) -> usize {
    let megabytes = asked.and_then(|asked| asked.trim().parse::<usize>().ok());
    megabytes.map_or(USUAL_LIMIT, |megabytes| megabytes.saturating_mul(MB))
}

/// How many bytes the pretoken caches of this process may take together.
pub fn limit() -> usize {
    PROCESS.limit.load(Ordering::Relaxed)
}

/// Sets [`limit`]. Caches that hold more than their share forget what they know before their next text. Each keeps room for a
/// few hundred pretokens, however little the limit leaves it.
pub fn set_limit(bytes: usize) {
    PROCESS.limit.store(bytes, Ordering::Relaxed);
}

/// One cache's claim to a share, for as long as it lives.
pub(super) struct Claim(&'static Budget);

impl Default for Claim {
    fn default() -> Self {
        PROCESS.claim()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.caches.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Claim {
    /// How many bytes fall to each cache right now.
    #[inline]
    pub(super) fn share(&self) -> usize {
        let caches = self.0.caches.load(Ordering::Relaxed);
        self.0.limit.load(Ordering::Relaxed) / caches.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_of_megabytes() {
        assert_eq!(limit_from(None), 64 << 20);
        assert_eq!(limit_from(Some(" 8 ")), 8 << 20);
        assert_eq!(limit_from(Some("0")), 0);
        assert_eq!(limit_from(Some("much")), 64 << 20);
        assert_eq!(limit_from(Some("99999999999999999")), usize::MAX);
    }

    #[test]
    fn every_cache_has_the_same_share_and_gives_it_back() {
        let budget: &'static Budget = Box::leak(Box::new(Budget::new(1000)));
        let first = budget.claim();
        assert_eq!(first.share(), 1000);

        let others: Vec<_> = (0..3).map(|_| budget.claim()).collect();
        assert_eq!((first.share(), others[2].share()), (250, 250));

        drop(others);
        assert_eq!(first.share(), 1000);
    }
}
