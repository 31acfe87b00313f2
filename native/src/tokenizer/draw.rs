//! Where the random numbers of a call come from, for models with dropout.
//!
//! A seeded tokenizer is a function: ids depend on the seed, the text and its place in a batch, never on threads or
//! on what was encoded before. Without a seed each call draws a new one from the system, so that neither a second call
//! nor a forked worker repeats the first.

use super::Tokenizer;
use crate::bpe::{Dropout, Symbols};

/// The rate of dropout and the seed of a call or of a text; nothing for a model without dropout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw(Option<(f32, u64)>);

impl Tokenizer {
    /// The draw of one call.
    pub(super) fn draw(&self) -> Draw {
        let seed = || self.dropout_seed.unwrap_or_else(new_seed);
        Draw(self.bpe.dropout().map(|rate| (rate, seed())))
    }
}

impl Draw {
    /// Whether there is anything to draw: then no result may be remembered.
    pub fn is_random(self) -> bool {
        self.0.is_some()
    }

    /// The draw for the text at place `index` of a batch, or of a part of it.
    pub fn at(self, index: usize) -> Self {
        Self(self.0.map(|(rate, seed)| (rate, mix(seed ^ mix(index as u64)))))
    }

    /// Makes `symbols` merge by the numbers of this draw for `text`.
    pub fn begin(self, text: &[u8], symbols: &mut Symbols) {
        symbols.dropout = self.0.map(|(rate, seed)| {
            let hash = text.iter().fold(seed, |hash, &byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
            Dropout::new(rate, mix(hash))
        });
    }
}

fn new_seed() -> u64 {
    getrandom::u64().unwrap_or_else(|_| fastrand::u64(..))
}

/// Spreads every bit over the whole number (the finalizer of SplitMix64), so that seeds 1 and 2 have nothing in common.
fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
