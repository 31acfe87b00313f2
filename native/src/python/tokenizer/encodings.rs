//! Texts and pairs to whole encodings, with offsets and masks.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{PyTokenizer, options};
use crate::encoding::Encoding;
use crate::python::encoding::PyEncoding;
use crate::python::inputs::{Given, read_truncation};

impl PyTokenizer {
    fn wrap(&self, encoding: Encoding) -> PyEncoding {
        PyEncoding::new(encoding, self.core())
    }
}

#[pymethods]
impl PyTokenizer {
    #[pyo3(signature = (
        text, pair = None, *, add_special_tokens = true, split_special_tokens = false, truncation = None
    ))]
    fn encode(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        pair: Option<&Bound<'_, PyAny>>,
        add_special_tokens: bool,
        split_special_tokens: bool,
        truncation: Option<(usize, usize, String, String)>,
    ) -> PyResult<PyEncoding> {
        let options = options(add_special_tokens, split_special_tokens);
        let truncation = truncation.map(read_truncation).transpose()?;
        let given = Given::new(text, pair)?;
        let encoding = {
            let (first, second) = given.input();
            self.run(py, given.size(), |core| {
                core.encode(&first, second.as_ref(), options, truncation.as_ref())
            })?
        };
        Ok(self.wrap(given.restore(encoding)))
    }

    #[pyo3(signature = (inputs, *, add_special_tokens = true, split_special_tokens = false, truncation = None))]
    fn encode_batch(
        &self,
        py: Python<'_>,
        inputs: Vec<Bound<'_, PyAny>>,
        add_special_tokens: bool,
        split_special_tokens: bool,
        truncation: Option<(usize, usize, String, String)>,
    ) -> PyResult<Vec<PyEncoding>> {
        let options = options(add_special_tokens, split_special_tokens);
        let truncation = truncation.map(read_truncation).transpose()?;
        let parts = inputs.iter().map(split_pair).collect::<PyResult<Vec<_>>>()?;
        let given = parts
            .iter()
            .map(|(text, pair)| Given::new(text, pair.as_ref()))
            .collect::<PyResult<Vec<_>>>()?;
        let borrowed: Vec<_> = given.iter().map(Given::input).collect();
        let encodings = py.detach(|| self.core.encode_batch(&borrowed, options, truncation.as_ref()))?;
        let restored = given
            .iter()
            .zip(encodings)
            .map(|(given, encoding)| given.restore(encoding));
        Ok(restored.map(|encoding| self.wrap(encoding)).collect())
    }

    #[pyo3(signature = (text, pair = None, *, add_special_tokens = false, split_special_tokens = false))]
    fn tokenize(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        pair: Option<&Bound<'_, PyAny>>,
        add_special_tokens: bool,
        split_special_tokens: bool,
    ) -> PyResult<Vec<String>> {
        let encoding = self.encode(py, text, pair, add_special_tokens, split_special_tokens, None)?;
        Ok(encoding.token_texts())
    }
}

/// An input of a batch: a text, a list of words, or a tuple of two of these.
fn split_pair<'py>(input: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
    match input.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => Ok((pair.get_item(0)?, Some(pair.get_item(1)?))),
        Ok(other) => Err(PyValueError::new_err(format!(
            "an input of a batch is a str, a list of words or a pair of these, got a tuple of {}",
            other.len()
        ))),
        Err(_) => Ok((input.clone(), None)),
    }
}
