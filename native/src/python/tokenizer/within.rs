//! Texts whose parts say which added tokens may be found in them.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::PyTokenizer;
use crate::python::text::Text;
use crate::python::within::{GivenPart, positions_of, read_within};

/// Ids, and of some of them their places and characters.
type AnchoredIds<'py> = (Bound<'py, PyList>, Vec<(usize, usize, usize)>);

#[pymethods]
impl PyTokenizer {
    /// Ids, and of each added token that the text as given spells its place among them and its characters.
    #[pyo3(signature = (text, parts, lists = Vec::new(), *, start = 0))]
    fn encode_within<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        parts: Vec<GivenPart>,
        lists: Vec<Vec<String>>,
        start: usize,
    ) -> PyResult<AnchoredIds<'py>> {
        let text = Text::new(text, "text")?;
        let within = read_within(&self.core, &text, &parts, &lists, start)?;
        let (ids, anchors) = self.run(py, text.as_str().len(), |core| {
            core.encode_within(text.as_str(), &within)
        })?;
        let positions = positions_of(&text, anchors.iter().map(|anchor| &anchor.range));
        let anchors = anchors.iter().zip(positions);
        let anchors = anchors.map(|(anchor, (start, end))| (anchor.token, start, end));
        Ok((self.ints.list(py, &ids)?, anchors.collect()))
    }

    /// Ids, and the starts and ends of their offsets in turn.
    #[pyo3(signature = (text, parts, lists = Vec::new(), *, start = 0))]
    fn align_within<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        parts: Vec<GivenPart>,
        lists: Vec<Vec<String>>,
        start: usize,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyArray1<i64>>)> {
        let text = Text::new(text, "text")?;
        let within = read_within(&self.core, &text, &parts, &lists, start)?;
        let mut encoding = self.run(py, text.as_str().len(), |core| {
            core.align_within(text.as_str(), &within)
        })?;
        encoding
            .offsets
            .iter_mut()
            .for_each(|offsets| text.restore(offsets));
        let flat = encoding
            .offsets
            .iter()
            .flat_map(|&(start, end)| [start as i64, end as i64]);
        let offsets = PyArray1::from_vec(py, flat.collect());
        Ok((self.ints.list(py, &encoding.ids)?, offsets))
    }

    /// The characters and the content of each added token that the text spells and no part without a list holds.
    #[pyo3(signature = (text, parts = Vec::new()))]
    fn find_added_tokens(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        parts: Vec<GivenPart>,
    ) -> PyResult<Vec<(usize, usize, &str)>> {
        let text = Text::new(text, "text")?;
        let parts: Vec<_> = parts.into_iter().filter(|part| part.2.is_none()).collect();
        let within = read_within(&self.core, &text, &parts, &[], 0)?;
        let found = self.run(py, text.as_str().len(), |core| {
            core.added_tokens_outside(text.as_str(), &within)
        })?;
        let positions = positions_of(&text, found.iter().map(|(range, _)| range));
        let tokens = found.iter().zip(positions);
        let added = self.core.added_tokens();
        let tokens = tokens.map(|((_, id), (start, end))| {
            let content = added.get(*id).map_or("", |token| token.content.as_str());
            (start, end, content)
        });
        Ok(tokens.collect())
    }

    #[pyo3(signature = (text, disallowed, allowed = Vec::new()))]
    fn find_special_token(
        &self,
        text: &Bound<'_, PyAny>,
        disallowed: Option<Vec<String>>,
        mut allowed: Vec<String>,
    ) -> PyResult<Option<String>> {
        let text = Text::new(text, "text")?;
        let added = self.core.added_tokens();
        let found = match disallowed {
            Some(contents) => added.find_contents(text.as_str(), contents)?,
            None => {
                allowed.sort_unstable();
                added.find_special_but(text.as_str(), &allowed)?
            }
        };
        Ok(found)
    }
}
