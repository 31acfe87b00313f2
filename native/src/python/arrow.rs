//! Columns of strings in Arrow's layout, read from Python's buffers.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::arrow::{ArrowStrings, Offsets};

/// `data, offsets, validity, data_start, first_bit, length, large`.
pub type GivenColumn = (
    PyBuffer<u8>,
    PyBuffer<u8>,
    Option<PyBuffer<u8>>,
    usize,
    usize,
    usize,
    bool,
);

/// A copy of a column, since its owner may change a buffer while the GIL is released: a hundredth of the time to encode
/// it.
pub struct OwnedColumn {
    data: Vec<u8>,
    offsets: Vec<u8>,
    validity: Option<Vec<u8>>,
    data_start: usize,
    first_bit: usize,
    length: usize,
    large: bool,
}

impl OwnedColumn {
    /// Copies a column.
    pub fn new(py: Python<'_>, given: GivenColumn) -> PyResult<Self> {
        let (data, offsets, validity, data_start, first_bit, length, large) = given;
        Ok(Self {
            data: data.to_vec(py)?,
            offsets: offsets.to_vec(py)?,
            validity: validity.map(|bits| bits.to_vec(py)).transpose()?,
            data_start,
            first_bit,
            length,
            large,
        })
    }

    /// Its rows.
    pub fn strings(&self) -> ArrowStrings<'_> {
        ArrowStrings {
            data: &self.data,
            data_start: self.data_start,
            offsets: if self.large {
                Offsets::Large(&self.offsets)
            } else {
                Offsets::Small(&self.offsets)
            },
            validity: self.validity.as_deref(),
            first_bit: self.first_bit,
            len: self.length,
        }
    }
}
