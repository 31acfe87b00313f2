//! A column of strings in Arrow's layout, read where it lies.
//!
//! Guarantee: every offset is checked against the data, and every row is valid UTF-8, before it is handed
//! out: a damaged column is an error that names the row, never a panic.

use crate::{Error, Result};

/// The offsets of a column: 32-bit in `string`, 64-bit in `large_string`, little-endian.
#[derive(Debug, Clone, Copy)]
pub enum Offsets<'a> {
    /// Of a `string` column.
    Small(&'a [u8]),
    /// Of a `large_string` column.
    Large(&'a [u8]),
}

impl Offsets<'_> {
    /// How many rows the offsets tell of, which a damaged column says another number of.
    pub fn rows(&self) -> usize {
        let offsets = match self {
            Self::Small(bytes) => bytes.len() / 4,
            Self::Large(bytes) => bytes.len() / 8,
        };
        offsets.saturating_sub(1)
    }

    /// The offset at `index`, unless it is missing or negative.
    pub fn get(&self, index: usize) -> Option<usize> {
        match self {
            Self::Small(bytes) => {
                let at = index.checked_mul(4)?;
                let four = bytes.get(at..at.checked_add(4)?)?;
                usize::try_from(i32::from_le_bytes(four.try_into().ok()?)).ok()
            }
            Self::Large(bytes) => {
                let at = index.checked_mul(8)?;
                let eight = bytes.get(at..at.checked_add(8)?)?;
                usize::try_from(i64::from_le_bytes(eight.try_into().ok()?)).ok()
            }
        }
    }
}

/// The rows of an Arrow array of strings, or of a slice of one.
#[derive(Debug, Clone, Copy)]
pub struct ArrowStrings<'a> {
    /// The bytes of the rows.
    pub data: &'a [u8],
    /// The offset that the first byte of `data` has: a slice need not bring the data of the rows before it.
    pub data_start: usize,
    /// One offset a row and one more.
    pub offsets: Offsets<'a>,
    /// One bit a row, lowest first, 0 for null; none when no row is null.
    pub validity: Option<&'a [u8]>,
    /// The bit of the first row, as a slice may begin inside a byte.
    pub first_bit: usize,
    /// The number of rows.
    pub len: usize,
}

impl<'a> ArrowStrings<'a> {
    /// Row `index`, or none where it is null.
    pub fn get(&self, index: usize) -> Result<Option<&'a str>> {
        let damaged = |what: &str| Error::Value(format!("row {index} of the Arrow column {what}"));
        if let Some(validity) = self.validity {
            let bit = self.first_bit.saturating_add(index);
            let byte = validity.get(bit / 8);
            let byte = byte.ok_or_else(|| damaged("has no validity bit"))?;
            if byte >> (bit % 8) & 1 == 0 {
                return Ok(None);
            }
        }
        let ends = self
            .offsets
            .get(index)
            .zip(self.offsets.get(index.saturating_add(1)));
        let (start, end) = ends.ok_or_else(|| damaged("has no valid offsets"))?;
        let range = start
            .checked_sub(self.data_start)
            .zip(end.checked_sub(self.data_start));
        let bytes = range.and_then(|(start, end)| self.data.get(start..end));
        let bytes =
            bytes.ok_or_else(|| damaged(&format!("points outside its data, to bytes {start} to {end}")))?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(damaged(&format!(
                "is not valid UTF-8 at byte {}",
                error.valid_up_to()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(offsets: &[i32]) -> Vec<u8> {
        offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect()
    }

    fn column<'a>(data: &'a [u8], offsets: &'a [u8], len: usize) -> ArrowStrings<'a> {
        let offsets = Offsets::Small(offsets);
        ArrowStrings {
            data,
            data_start: 0,
            offsets,
            validity: None,
            first_bit: 0,
            len,
        }
    }

    fn message(result: Result<Option<&str>>) -> String {
        result.expect_err("damaged").to_string()
    }

    #[test]
    fn offsets_know_their_number_of_rows() {
        assert_eq!(Offsets::Small(&small(&[0, 1, 2])).rows(), 2);
        assert_eq!(Offsets::Large(&[0; 23]).rows(), 1);
        assert_eq!(Offsets::Small(&[]).rows(), 0);
    }

    #[test]
    fn a_slice_sees_its_rows_and_nulls() {
        let offsets: Vec<u8> = [1i64, 1, 3]
            .iter()
            .flat_map(|offset| offset.to_le_bytes())
            .collect();
        let strings = ArrowStrings {
            offsets: Offsets::Large(&offsets),
            validity: Some(&[0b101]),
            first_bit: 1,
            ..column("aé".as_bytes(), &[], 2)
        };

        assert_eq!(strings.get(0), Ok(None));
        assert_eq!(strings.get(1), Ok(Some("é")));
    }

    #[test]
    fn data_may_begin_later() {
        let offsets = small(&[5, 6, 8]);
        let strings = ArrowStrings {
            data_start: 5,
            ..column(b"abc", &offsets, 2)
        };

        assert_eq!(strings.get(0), Ok(Some("a")));
        assert_eq!(strings.get(1), Ok(Some("bc")));
    }

    #[test]
    fn damage_names_the_row() {
        let offsets = small(&[0, 2, 1, -1, 9, 10]);
        let strings = column(b"a\xff", &offsets, 6);

        assert_eq!(
            message(strings.get(0)),
            "row 0 of the Arrow column is not valid UTF-8 at byte 1"
        );
        assert!(message(strings.get(1)).contains("points outside its data, to bytes 2 to 1"));
        assert!(message(strings.get(2)).contains("has no valid offsets"));
        assert!(message(strings.get(4)).contains("points outside its data, to bytes 9 to 10"));
        assert!(message(strings.get(5)).contains("has no valid offsets"));
        assert!(message(strings.get(usize::MAX)).contains("has no valid offsets"));
        let late = ArrowStrings {
            data_start: 1,
            ..strings
        };
        assert!(message(late.get(0)).contains("points outside its data, to bytes 0 to 2"));
        let short = ArrowStrings {
            validity: Some(&[]),
            ..strings
        };
        assert!(message(short.get(0)).contains("has no validity bit"));
    }
}
