//! Pretokens that come one by one, from a text that isn't read at once.

use super::{Counter, lock};
use crate::Result;
use crate::train::counts::Counts;
use crate::train::cutting::Cutting;

/// A small table on its way: see [`Counter::uncounted`].
#[derive(Debug)]
pub struct Uncounted(Counts);

impl Counter {
    /// A small table for pretokens that come one by one, to be given back.
    pub fn uncounted(&self) -> Result<Uncounted> {
        Ok(Uncounted(lock(&self.small)?.pop().unwrap_or_default()))
    }

    /// Counts one pretoken, which isn't too long, in a small table.
    pub fn add(&self, uncounted: &mut Uncounted, pretoken: &[u8]) -> Result<()> {
        uncounted.0.add(pretoken, 1);
        match uncounted.0.is_larger_than(self.small_limit) {
            true => self.flush(&mut uncounted.0),
            false => Ok(()),
        }
    }

    /// Takes a small table back: what is in it belongs to the counts from now on.
    pub fn give_back(&self, uncounted: Uncounted) -> Result<()> {
        lock(&self.small)?.push(uncounted.0);
        Ok(())
    }

    /// How long pretokens are cut.
    pub fn cutting(&self) -> &Cutting {
        &self.cutting
    }
}
