//! Columns of strings to a column of lists of ids: rows are read where they lie, and no row becomes an object of its own.
//!
//! Guarantee: the ids of the rows are those of the texts in [`Tokenizer::encode_flat`]; a null stays null. A damaged
//! column is an error that names the row.

use super::{Rules, Tokenizer};
use crate::arrow::ArrowStrings;
use crate::vocab::TokenId;
use crate::{Error, Result};

/// A column of lists in Arrow's layout.
#[derive(Debug, PartialEq, Eq)]
pub struct Lists {
    /// The ids of all rows.
    pub ids: Vec<TokenId>,
    /// Where each row begins, and where the last one ends.
    pub bounds: Bounds,
    /// One bit a row, lowest first, 0 for null; none when no row is null.
    pub validity: Option<Vec<u8>>,
}

/// The offsets of a column of lists.
#[derive(Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Of a `list` column.
    Small(Vec<i32>),
    /// Of a `large_list` column.
    Large(Vec<i64>),
}

impl Bounds {
    /// 32-bit offsets if none is above `limit`.
    fn new(bounds: &[u64], limit: u64) -> Self {
        if bounds.last().is_none_or(|&last| last <= limit) {
            return Self::Small(bounds.iter().map(|&bound| bound as i32).collect());
        }
        Self::Large(bounds.iter().map(|&bound| bound as i64).collect())
    }
}

impl Tokenizer {
    /// The ids of each row of `columns`, as if they were one column.
    pub fn encode_columns(&self, columns: &[ArrowStrings], rules: Rules) -> Result<Lists> {
        let mut texts = Vec::new();
        let mut nulls = Vec::new();
        let mut row = 0;
        for column in columns {
            // Not as many as a damaged column says.
            texts.reserve(column.len.min(column.offsets.rows()));
            for at in 0..column.len {
                match column.get(at).map_err(|error| in_whole(error, at, row))? {
                    Some(text) => texts.push(text),
                    None => nulls.push(row),
                }
                row += 1;
            }
        }
        let (ids, bounds) = self.encode_flat(&texts, rules)?;
        let bounds = with_nulls(bounds, &nulls);
        Ok(Lists {
            ids,
            bounds: Bounds::new(&bounds, i32::MAX as u64),
            validity: (!nulls.is_empty()).then(|| validity(row, &nulls)),
        })
    }
}

/// The error of row `at` of a column, with the row's number in all columns.
fn in_whole(error: Error, at: usize, row: usize) -> Error {
    match error {
        Error::Value(text) if at != row => {
            Error::Value(text.replacen(&format!("row {at} "), &format!("row {row} "), 1))
        }
        other => other,
    }
}

/// The bounds of all rows, given those of rows that aren't null: a null has no ids.
fn with_nulls(bounds: Vec<u64>, nulls: &[usize]) -> Vec<u64> {
    if nulls.is_empty() {
        return bounds;
    }
    let rows = bounds.len() - 1 + nulls.len();
    let mut nulls = nulls.iter().copied().peekable();
    let mut ends = bounds.into_iter();
    let mut last = ends.next().unwrap_or(0);
    let mut all = Vec::with_capacity(rows + 1);
    all.push(last);
    for row in 0..rows {
        if nulls.next_if_eq(&row).is_none() {
            last = ends.next().unwrap_or(last);
        }
        all.push(last);
    }
    all
}

fn validity(rows: usize, nulls: &[usize]) -> Vec<u8> {
    let mut bits = vec![0xFF; rows.div_ceil(8)];
    nulls.iter().for_each(|row| bits[row / 8] &= !(1 << (row % 8)));
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_stand_between_the_rows_without_ids() {
        assert_eq!(with_nulls(vec![0, 2, 2, 5], &[]), [0, 2, 2, 5]);
        assert_eq!(with_nulls(vec![0, 2, 5], &[0, 2, 3]), [0, 0, 2, 2, 2, 5]);
        assert_eq!(with_nulls(vec![0], &[0]), [0, 0]);
        assert_eq!(validity(9, &[0, 8]), [0b1111_1110, 0b1111_1110]);
    }

    #[test]
    fn bounds_have_64_bits_only_where_32_are_too_few() {
        assert_eq!(Bounds::new(&[0, 7], 7), Bounds::Small(vec![0, 7]));
        assert_eq!(Bounds::new(&[0, 8], 7), Bounds::Large(vec![0, 8]));
    }
}
