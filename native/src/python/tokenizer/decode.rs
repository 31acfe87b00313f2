//! Ids to text and bytes.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::PyTokenizer;
use crate::python::ids::ids_from;
use crate::python::text::{Text, string};

#[pymethods]
impl PyTokenizer {
    #[pyo3(signature = (ids, *, skip_special_tokens = false))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let ids = ids_from(ids)?;
        let utf8 = self.run(py, 4 * ids.len(), |core| {
            core.decode_to_utf8(&ids, skip_special_tokens)
        })?;
        Ok(string(py, &utf8))
    }

    #[pyo3(signature = (batch, *, skip_special_tokens = false))]
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        batch: Vec<Bound<'py, PyAny>>,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let batch = batch.iter().map(ids_from).collect::<PyResult<Vec<_>>>()?;
        let texts = py.detach(|| self.core.decode_batch_to_utf8(&batch, skip_special_tokens))?;
        PyList::new(py, texts.iter().map(|utf8| string(py, utf8)))
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.core.decode_bytes(&ids_from(ids)?)?))
    }

    fn decode_tokens(&self, tokens: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
        let tokens = tokens
            .iter()
            .map(|token| Text::new(token, "token"))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(self.core.decode_tokens(tokens.iter().map(Text::as_str))?)
    }
}
