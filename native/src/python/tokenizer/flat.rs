//! Texts to flat arrays of ids.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use super::encode::{with_read_texts, with_texts};
use super::{PyTokenizer, options};
use crate::python::arrow::{GivenColumn, OwnedColumn};
use crate::python::text::Text;
use crate::tokenizer::{Bounds, Rules};

/// The ids of several texts in a row, and where each text begins and the last one ends.
type FlatIds<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// The same, and the start and end of each id.
type PlacedIds<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray2<u32>>,
);

/// Ids, bounds with 32 or 64 bits, and one bit a row where a row is null.
type ArrowIds<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyArray1<u8>>>,
);

#[pymethods]
impl PyTokenizer {
    #[pyo3(signature = (texts, *, add_special_tokens = true, split_special_tokens = false))]
    fn encode_to_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        add_special_tokens: bool,
        split_special_tokens: bool,
    ) -> PyResult<FlatIds<'py>> {
        let rules = Rules::Usual(options(add_special_tokens, split_special_tokens));
        let (ids, bounds) = with_texts(py, texts, |texts| self.core.encode_flat(texts, rules))?;
        Ok((PyArray1::from_vec(py, ids), PyArray1::from_vec(py, bounds)))
    }

    /// The offsets count characters of the `str`.
    #[pyo3(signature = (texts, *, add_special_tokens = true, split_special_tokens = false))]
    fn encode_to_numpy_with_offsets<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        add_special_tokens: bool,
        split_special_tokens: bool,
    ) -> PyResult<PlacedIds<'py>> {
        let options = options(add_special_tokens, split_special_tokens);
        with_read_texts(texts, |texts| {
            let plain: Vec<_> = texts.iter().map(Text::as_str).collect();
            let placed = py.detach(|| self.core.encode_flat_placed(&plain, options))?;
            // Made by numpy, which asks the system for large pages where that is worth it: new memory in small ones costs more
            // than the offsets.
            let offsets = PyArray2::<u32>::zeros(py, [placed.ids.len(), 2], false);
            let mut writable = offsets.readwrite();
            let (pairs, _) = writable.as_slice_mut()?.as_chunks_mut();
            py.detach(|| placed.offsets_into(pairs));
            for (text, ends) in texts.iter().zip(placed.bounds.windows(2)) {
                restore(text, &mut pairs[ends[0] as usize..ends[1] as usize]);
            }
            drop(writable);
            let (ids, bounds) = (placed.ids, placed.bounds);
            Ok((
                PyArray1::from_vec(py, ids),
                PyArray1::from_vec(py, bounds),
                offsets,
            ))
        })
    }

    #[pyo3(signature = (columns, *, add_special_tokens = true, split_special_tokens = false))]
    fn encode_arrow<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<GivenColumn>,
        add_special_tokens: bool,
        split_special_tokens: bool,
    ) -> PyResult<ArrowIds<'py>> {
        let rules = Rules::Usual(options(add_special_tokens, split_special_tokens));
        let columns = columns.into_iter().map(|column| OwnedColumn::new(py, column));
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let lists = py.detach(|| {
            let columns: Vec<_> = columns.iter().map(OwnedColumn::strings).collect();
            self.core.encode_columns(&columns, rules)
        })?;
        let bounds = match lists.bounds {
            Bounds::Small(bounds) => PyArray1::from_vec(py, bounds).into_any(),
            Bounds::Large(bounds) => PyArray1::from_vec(py, bounds).into_any(),
        };
        let validity = lists.validity.map(|bits| PyArray1::from_vec(py, bits));
        Ok((PyArray1::from_vec(py, lists.ids), bounds, validity))
    }
}

/// Moves the offsets of one text to places of the `str` that it was read from.
fn restore(text: &Text, offsets: &mut [[u32; 2]]) {
    if !text.moves() {
        return;
    }
    for [start, end] in offsets {
        let mut moved = (*start as usize, *end as usize);
        text.restore(&mut moved);
        (*start, *end) = (moved.0 as u32, moved.1 as u32);
    }
}
