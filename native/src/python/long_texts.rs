//! Long texts on their way into a counter, part by part: no copy of the whole is made where the pipeline allows that.
//!
//! Guarantee: the counts are those of the whole text, surrogates included: the two of a pair are never in two parts.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::{PyIterator, PySlice, PyString};

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
            let part = text.get_item(PySlice::new(text.py(), start as isize, end as isize, 1))?;
            start = end;
            Ok(Some(part))
        })
    }

    /// Counts a text of which an iterator gives the parts.
    pub(super) fn count_iterated(&self, mut parts: Bound<'_, PyIterator>) -> PyResult<BatchReport> {
        self.count_in_parts(parts.py().clone(), || parts.next().transpose())
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

/// Whether a half of a pair of surrogates stands at a place of a text.
fn is_half(text: &Bound<'_, PyAny>, at: usize, half: Range<u32>) -> PyResult<bool> {
    let char = text.get_item(at)?;
    let code_point = char.py().import("builtins")?.call_method1("ord", (char,))?;
    Ok(half.contains(&code_point.extract()?))
}
