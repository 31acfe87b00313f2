//! Texts to ids: as lists, and their number.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::{PyTokenizer, options};
use crate::Result;
use crate::python::ids::ids_from;
use crate::python::text::{Text, wrong_type};
use crate::tokenizer::Rules;

#[pymethods]
impl PyTokenizer {
    #[pyo3(signature = (ids, pair_ids = None))]
    fn with_special_tokens<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        pair_ids: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyList>, Vec<u32>, Vec<u32>)> {
        let pair_ids = pair_ids.map(ids_from).transpose()?;
        let encoding = self.core.with_special_tokens(ids_from(ids)?, pair_ids)?;
        let ids = self.ints.list(py, &encoding.ids)?;
        Ok((ids, encoding.type_ids, encoding.special_tokens_mask))
    }

    #[pyo3(signature = (text, pair = None, *, add_special_tokens = true, split_special_tokens = false))]
    fn encode_ids<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        pair: Option<&Bound<'py, PyAny>>,
        add_special_tokens: bool,
        split_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = options(add_special_tokens, split_special_tokens);
        let text = Text::new(text, "text")?;
        let text = text.as_str();
        let Some(pair) = pair else {
            let ids = self.run(py, text.len(), |core| core.encode_ids(text, options))?;
            return self.ints.list(py, &ids);
        };
        let pair = Text::new(pair, "pair")?;
        let pair = pair.as_str();
        let encoding = self.run(py, text.len() + pair.len(), |core| {
            core.encode(&text.into(), Some(&pair.into()), options, None)
        })?;
        self.ints.list(py, &encoding.ids)
    }

    #[pyo3(signature = (texts, *, add_special_tokens = true, split_special_tokens = false))]
    fn encode_ids_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        add_special_tokens: bool,
        split_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = options(add_special_tokens, split_special_tokens);
        let (ids, bounds) = with_texts(py, texts, |texts| {
            self.core.encode_flat(texts, Rules::Usual(options))
        })?;
        self.ints.lists(py, &ids, &bounds)
    }

    #[pyo3(signature = (text, *, add_special_tokens = true, split_special_tokens = false))]
    fn count_tokens(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        add_special_tokens: bool,
        split_special_tokens: bool,
    ) -> PyResult<u64> {
        let rules = Rules::Usual(options(add_special_tokens, split_special_tokens));
        let text = Text::new(text, "text")?;
        let text = text.as_str();
        let counts = self.run(py, text.len(), |core| core.count_tokens(&[text], rules))?;
        Ok(counts[0])
    }

    #[pyo3(signature = (texts, *, add_special_tokens = true, split_special_tokens = false))]
    fn count_tokens_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        add_special_tokens: bool,
        split_special_tokens: bool,
    ) -> PyResult<Vec<u64>> {
        let rules = Rules::Usual(options(add_special_tokens, split_special_tokens));
        with_texts(py, texts, |texts| self.core.count_tokens(texts, rules))
    }

    /// The bytes at which a long text may be cut, at least `size` apart, without a change of ids.
    fn cut_places(&self, text: &Bound<'_, PyAny>, size: usize) -> PyResult<Vec<usize>> {
        Ok(self.core.cut_places(Text::new(text, "text")?.as_str(), size))
    }

    fn encode_ordinary<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = Text::new(text, "text")?;
        let text = text.as_str();
        let ids = self.run(py, text.len(), |core| core.encode_ordinary(text))?;
        self.ints.list(py, &ids)
    }

    fn encode_ordinary_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (ids, bounds) = with_texts(py, texts, |texts| self.core.encode_flat(texts, Rules::Ordinary))?;
        self.ints.lists(py, &ids, &bounds)
    }

    #[pyo3(signature = (text, allowed))]
    fn encode_with_special_tokens<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        allowed: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = Text::new(text, "text")?;
        let text = text.as_str();
        let ids = self.run(py, text.len(), |core| {
            core.encode_with_special_tokens(text, allowed.as_deref())
        })?;
        self.ints.list(py, &ids)
    }

    fn encode_bytes<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let data: std::borrow::Cow<[u8]> = data.extract().map_err(|_| {
            let kind = data
                .get_type()
                .name()
                .map_or_else(|_| "?".to_owned(), |name| name.to_string());
            pyo3::exceptions::PyTypeError::new_err(format!("encode_bytes() takes bytes, got {kind}"))
        })?;
        let ids = self.run(py, data.len(), |core| core.encode_bytes(&data))?;
        self.ints.list(py, &ids)
    }
}

/// Calls `work` without the GIL on the texts of a list or another sequence.
pub(super) fn with_texts<T: Send>(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    work: impl FnOnce(&[&str]) -> Result<T> + Send,
) -> PyResult<T> {
    with_read_texts(texts, |texts| {
        let texts: Vec<&str> = texts.iter().map(Text::as_str).collect();
        Ok(py.detach(|| work(&texts))?)
    })
}

/// Calls `work` on the texts of a list or another sequence.
pub(super) fn with_read_texts<T>(
    texts: &Bound<'_, PyAny>,
    work: impl FnOnce(&[Text]) -> PyResult<T>,
) -> PyResult<T> {
    if texts.is_instance_of::<PyString>() {
        return Err(pyo3::exceptions::PyTypeError::new_err(
            "texts must be a list of str, got one str: put it into a list",
        ));
    }
    let items = texts
        .try_iter()
        .map_err(|_| wrong_type(texts, "texts, each of them,"))?;
    let items = items.collect::<PyResult<Vec<_>>>()?;
    let name = |at: usize| format!("texts[{at}]");
    let texts = items
        .iter()
        .enumerate()
        .map(|(at, item)| Text::new_named(item, || name(at)));
    work(&texts.collect::<PyResult<Vec<_>>>()?)
}
