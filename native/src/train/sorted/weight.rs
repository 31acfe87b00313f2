//! Counts times a weight that is a fraction.

use crate::train::sorted::Cursor;
use crate::{Error, Result};

/// A number that counts are multiplied by: results are rounded to the nearest whole number, halves up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    numerator: u64,
    denominator: u64,
}

impl Weight {
    /// Leaves counts as they are.
    pub const ONE: Self = Self {
        numerator: 1,
        denominator: 1,
    };

    /// The fraction, unless its denominator is 0.
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        (denominator > 0).then_some(Self {
            numerator,
            denominator,
        })
    }

    /// `count` times this, rounded.
    ///
    /// # Errors
    /// [`Error::Value`] when 64 bits don't hold it.
    pub fn times(self, count: u64) -> Result<u64> {
        let (numerator, denominator) = (u128::from(self.numerator), u128::from(self.denominator));
        // Below 2^128: (2^64 - 1)^2 + 2^63 is.
        let product = (numerator * u128::from(count) + denominator / 2) / denominator;
        // With an odd denominator no half exists, and adding its rounded half rounds to the nearest all the same.
        u64::try_from(product).map_err(|_| {
            Error::Value(format!(
                "the count {count} times the weight {}/{} is more than 2^64 - 1",
                self.numerator, self.denominator
            ))
        })
    }
}

/// A walk whose counts are multiplied by a weight; entries that come to 0 are left out.
pub struct Weighted {
    inner: Box<dyn Cursor>,
    weight: Weight,
    count: u64,
}

impl Weighted {
    /// The walk `inner`, times `weight`.
    pub fn new(inner: Box<dyn Cursor>, weight: Weight) -> Self {
        Self {
            inner,
            weight,
            count: 0,
        }
    }
}

impl Cursor for Weighted {
    fn advance(&mut self) -> Result<bool> {
        while self.inner.advance()? {
            self.count = self.weight.times(self.inner.count())?;
            if self.count > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn pretoken(&self) -> &[u8] {
        self.inner.pretoken()
    }

    fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_up_and_the_rest_to_the_nearest() {
        let times = |numerator, denominator, count| {
            Weight::new(numerator, denominator)
                .expect("a fraction")
                .times(count)
        };

        assert_eq!(
            [1, 2, 3, 5].map(|count| times(1, 2, count)),
            [Ok(1), Ok(1), Ok(2), Ok(3)]
        );
        assert_eq!(
            [1, 2, 4, 5].map(|count| times(1, 3, count)),
            [Ok(0), Ok(1), Ok(1), Ok(2)]
        );
        assert_eq!(times(0, 1, 9), Ok(0));
        assert_eq!(times(u64::MAX, u64::MAX, u64::MAX), Ok(u64::MAX));
        assert!(times(2, 1, 1 << 63).is_err_and(|error| error.to_string().contains("2/1 is more")));
        assert_eq!(Weight::new(1, 0), None);
    }
}
