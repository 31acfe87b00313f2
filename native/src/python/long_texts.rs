//! Long texts on their way into a counter, part by part: no copy of the whole is made where the pipeline allows that.
//!
//! Guarantee: the counts are those of the whole text, surrogates included: the two of a pair are never in two parts.

use std::ops::Range;

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PySlice, PyString};

use super::arrow::GivenColumn;
use super::text::Text;
use super::train::Counter;
use crate::train::LongText;
use crate::train::counter::BatchReport;

/// The first half of a pair of surrogates, and the second.
const HIGH: Range<u32> = 0xD800..0xDC00;
const LOW: Range<u32> = 0xDC00..0xE000;

/// How many characters of a long text are read at a time.
pub(super) const PART_SIZE: usize = 1 << 18;
/// A text of so many parts is long: as much as a batch of texts has.
const LONG: usize = 16;

impl Counter {
    /// Whether a text is long, and no copy of it is needed to count it.
    pub(super) fn reads_in_parts(&self, text: &Bound<'_, PyAny>) -> bool {
        !self.between_added_tokens
            && text.cast::<PyString>().is_ok()
            && text.len().is_ok_and(|length| length >= LONG * self.part_size)
            && self.pipeline.prefix_in_parts().is_some()
    }

    /// Counts a long `str` in slices.
    pub(super) fn count_slices(&self, text: &Bound<'_, PyAny>) -> PyResult<BatchReport> {
        let (length, mut start) = (text.len()?, 0);
        self.count_in_parts(text.py(), || {
            if start == length {
                return Ok(None);
            }
            let mut end = (start + self.part_size).min(length);
            if end < length && is_half(text, end - 1, HIGH)? && is_half(text, end, LOW)? {
                end += 1;
            }
            let part = slice(text, start..end)?;
            start = end;
            Ok(Some(part))
        })
    }

    /// Counts a column of one long text, which isn't copied as a whole; none where it is another column, or damaged.
    pub(super) fn count_cell(
        &self,
        data: &Bound<'_, PyAny>,
        column: &GivenColumn,
    ) -> PyResult<Option<BatchReport>> {
        let (py, length) = (data.py(), column.0.item_count());
        if self.between_added_tokens || length < LONG * self.part_size || !is_one_row(py, column)? {
            return Ok(None);
        }
        let Some(mut long) = LongText::new(&self.counts, &self.pipeline, self.part_size)? else {
            return Ok(None);
        };
        let mut start = 0;
        while start < length {
            let end = (start + self.part_size.max(4)).min(length);
            let part = PyBuffer::<u8>::get(&slice(data, start..end)?)?.to_vec(py)?;
            let whole = match std::str::from_utf8(&part) {
                Ok(text) => text,
                // The last character is cut, or the text is damaged: then the whole column says where.
                Err(error) if error.error_len().is_none() && end < length => {
                    std::str::from_utf8(&part[..error.valid_up_to()]).unwrap_or_default()
                }
                Err(_) => return Ok(None),
            };
            py.detach(|| long.push(whole))?;
            py.check_signals()?;
            start += whole.len();
        }
        Ok(Some(py.detach(|| long.finish())?))
    }

    /// Counts a text of which an iterator gives the parts.
    pub(super) fn count_iterated(&self, mut parts: Bound<'_, PyIterator>) -> PyResult<BatchReport> {
        self.count_in_parts(parts.py(), || parts.next().transpose())
    }

    fn count_in_parts<'py>(
        &self,
        py: Python<'py>,
        mut next: impl FnMut() -> PyResult<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<BatchReport> {
        let in_parts = match self.between_added_tokens {
            true => None,
            false => LongText::new(&self.counts, &self.pipeline, self.part_size)?,
        };
        let Some(mut long) = in_parts else {
            let mut whole = String::new();
            while let Some(part) = next()? {
                whole.push_str(Text::new(&part, "a part of a text")?.as_str());
            }
            return self.count_all(py, &[&whole]);
        };
        while let Some(part) = next()? {
            let part = Text::new(&part, "a part of a text")?;
            let text = part.as_str();
            py.detach(|| long.push(text))?;
            py.check_signals()?;
        }
        Ok(py.detach(|| long.finish())?)
    }
}

/// Whether a column is one row, which isn't null and has all of the data.
fn is_one_row(py: Python<'_>, column: &GivenColumn) -> PyResult<bool> {
    let (data, offsets, validity, data_start, first_bit, length, large) = column;
    let width = if *large { 8 } else { 4 };
    if *length != 1 || offsets.item_count() != 2 * width {
        return Ok(false);
    }
    let is_null = |bits: &u8| bits >> (first_bit % 8) & 1 == 0;
    if let Some(validity) = validity
        && validity.to_vec(py)?.get(first_bit / 8).is_none_or(is_null)
    {
        return Ok(false);
    }
    let offset = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    };
    let offsets = offsets.to_vec(py)?;
    let (start, end) = offsets.split_at(width);
    let whole = (*data_start as u64, (data_start + data.item_count()) as u64);
    Ok((offset(start), offset(end)) == whole)
}

/// A part of a `str` or a buffer of bytes.
fn slice<'py>(whole: &Bound<'py, PyAny>, range: Range<usize>) -> PyResult<Bound<'py, PyAny>> {
    whole.get_item(PySlice::new(
        whole.py(),
        range.start as isize,
        range.end as isize,
        1,
    ))
}

/// Whether a half of a pair of surrogates stands at a place of a text.
fn is_half(text: &Bound<'_, PyAny>, at: usize, half: Range<u32>) -> PyResult<bool> {
    let char = text.get_item(at)?;
    let code_point = char.py().import("builtins")?.call_method1("ord", (char,))?;
    Ok(half.contains(&code_point.extract()?))
}
