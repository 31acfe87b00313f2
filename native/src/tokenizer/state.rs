//! What a thread needs while it encodes, kept for its next text.
//!
//! States are handed out without waiting: a place whose lock is taken is passed by. So threads never queue, and a
//! child that was forked while another thread encoded never meets a lock that nobody will open.

use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::bpe::{Part, Symbols};
use crate::cache::PretokenCache;
use crate::pre_tokenizer::Scratch;
use crate::vocab::TokenId;

/// Buffers, and the memory of pretokens that came before.
#[derive(Default)]
pub struct State {
    pub(super) cache: PretokenCache,
    pub(super) symbols: Symbols,
    pub(super) parts: Vec<Part>,
    pub(super) scratch: Scratch,
    pub(super) prefixed: String,
    pub(super) ids: Vec<TokenId>,
}

/// As many states as threads can make use of.
const PLACES: usize = 64;

/// The states of one tokenizer.
pub(super) struct States {
    places: Box<[Mutex<Option<Box<State>>>]>,
}

impl Default for States {
    fn default() -> Self {
        Self {
            places: (0..PLACES).map(|_| Mutex::default()).collect(),
        }
    }
}

impl States {
    /// Runs `work` with a state that no other thread uses meanwhile.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        match self.places.iter().find_map(try_lock) {
            Some(mut place) => work(place.get_or_insert_default()),
            None => work(&mut State::default()),
        }
    }

    /// How many bytes the caches of those states hold that no thread uses right now.
    pub fn cache_bytes(&self) -> usize {
        let places = self.places.iter().filter_map(try_lock);
        places
            .filter_map(|place| place.as_ref().map(|state| state.cache.bytes()))
            .sum()
    }

    /// Drops every state that no thread uses right now.
    pub fn clear(&self) {
        for mut place in self.places.iter().filter_map(try_lock) {
            *place = None;
        }
    }
}

/// The place, unless another thread has it. One that a panic left behind is started afresh.
fn try_lock(place: &Mutex<Option<Box<State>>>) -> Option<MutexGuard<'_, Option<Box<State>>>> {
    match place.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Poisoned(poisoned)) => {
            let mut guard = poisoned.into_inner();
            *guard = None;
            Some(guard)
        }
    }
}
