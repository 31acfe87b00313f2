//! A tokenizer from a file, from tables, or from another tokenizer; and its components.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::PyTokenizer;
use crate::Error;
use crate::bpe::BpeSettings;
use crate::merges::Merges;
use crate::python::ids::id_from;
use crate::python::ranks;
use crate::python::text::Text;
use crate::tokenizer::{MergeOfIds, Tokenizer};
use crate::tokenizer_json::{Components, MergeTexts, TokenizerFile};
use crate::vocab::{TokenId, Vocab};

#[pymethods]
impl PyTokenizer {
    #[staticmethod]
    #[pyo3(signature = (data, dropout_seed = None))]
    fn from_json(py: Python<'_>, data: &Bound<'_, PyAny>, dropout_seed: Option<u64>) -> PyResult<Self> {
        let text;
        let json = match data.cast::<PyBytes>() {
            Ok(bytes) => bytes.as_bytes(),
            Err(_) => {
                text = Text::new(data, "from_json()'s data")?;
                text.as_str().as_bytes()
            }
        };
        let mut core = py.detach(|| Tokenizer::from_json(json))?;
        core.set_dropout_seed(dropout_seed);
        Ok(core.into())
    }

    #[staticmethod]
    #[pyo3(signature = (vocab, merges, components, *, ignore_merges = false, unk_token = None))]
    fn from_vocab_and_merges(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: Vec<(String, String)>,
        components: std::collections::BTreeMap<String, String>,
        ignore_merges: bool,
        unk_token: Option<String>,
    ) -> PyResult<Self> {
        let table = read_vocab(vocab)?;
        let mut texts = MergeTexts::default();
        merges.iter().for_each(|(left, right)| texts.push(left, right));
        let file = TokenizerFile {
            components: read_components(components)?,
            added_tokens: Vec::new(),
            settings: BpeSettings {
                ignore_merges,
                unk_token,
                ..BpeSettings::default()
            },
            vocab: table,
            merges: texts,
        };
        Ok(py.detach(|| Tokenizer::from_file(file))?.into())
    }

    /// Every split of a token is a merge, and special tokens keep the ids that they are given.
    #[staticmethod]
    #[pyo3(signature = (ranks, special_tokens, components, *, ignore_merges = true))]
    fn from_ranks(
        py: Python<'_>,
        ranks: &Bound<'_, PyDict>,
        special_tokens: &Bound<'_, PyDict>,
        components: std::collections::BTreeMap<String, String>,
        ignore_merges: bool,
    ) -> PyResult<Self> {
        let ranks = ranks::read_ranks(ranks)?;
        let special_tokens = ranks::read_special_tokens(special_tokens)?;
        let components = read_components(components)?;
        let core = py.detach(|| Tokenizer::from_ranks(&ranks, special_tokens, components, ignore_merges));
        Ok(core?.into())
    }

    /// The bytes and ids of the model's tokens, without added ones.
    fn ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ranks = PyDict::new(py);
        for (bytes, id) in self.core.ranks()? {
            ranks.set_item(PyBytes::new(py, &bytes), id)?;
        }
        Ok(ranks)
    }

    /// The same pipeline and added tokens around another model.
    fn with_model(
        &self,
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: Vec<(String, String)>,
        ignore_merges: bool,
    ) -> PyResult<Self> {
        let vocab = read_vocab(vocab)?;
        let texts = merges.iter().map(|(left, right)| (left.as_str(), right.as_str()));
        let core = py.detach(|| {
            let merges = Merges::new(&vocab, texts, "")?;
            self.core.with_model(vocab, merges, ignore_merges)
        })?;
        Ok(core.into())
    }

    /// The same tokenizer with more tokens, each with its id, and more merges, by ids, before the one of rank `at`.
    #[pyo3(signature = (tokens, merges, *, at = None))]
    fn extended(
        &self,
        py: Python<'_>,
        tokens: Vec<(String, TokenId)>,
        merges: Vec<MergeOfIds>,
        at: Option<usize>,
    ) -> PyResult<Self> {
        Ok(py.detach(|| self.core.extended(&tokens, &merges, at))?.into())
    }

    /// What tiktoken makes of [`Self::ranks`], in the same pipeline.
    fn as_rank_file(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(py.detach(|| self.core.as_rank_file())?.into())
    }

    /// `"equal"`, `"different"` or `"unproved"`; texts with other ids; tokens that merges don't lead to.
    fn agreement_with_ranks(&self, py: Python<'_>) -> PyResult<ranks::PyAgreement> {
        let found = py.detach(|| self.core.agreement_with_ranks())?;
        Ok(ranks::agreement(py, &found))
    }

    #[pyo3(signature = (*, pretty = true))]
    fn to_json(&self, py: Python<'_>, pretty: bool) -> String {
        py.detach(|| self.core.to_json(pretty))
    }

    fn component(&self, name: &str) -> PyResult<Option<String>> {
        let value = self.core.component(name)?;
        Ok((!value.is_null()).then(|| value.to_string()))
    }

    fn with_component(&self, py: Python<'_>, name: &str, value: Option<&str>) -> PyResult<Self> {
        let value = value.map_or(Ok(serde_json::Value::Null), |text| read_json(name, text))?;
        Ok(py.detach(|| self.core.with_component(name, value))?.into())
    }

    #[pyo3(signature = (seed))]
    fn with_dropout_seed(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<Self> {
        Ok(py.detach(|| self.core.with_dropout_seed(seed))?.into())
    }

    #[getter]
    fn dropout(&self) -> Option<f32> {
        self.core.bpe().dropout()
    }

    #[getter]
    fn dropout_seed(&self) -> Option<u64> {
        self.core.dropout_seed()
    }
}

fn read_vocab(vocab: &Bound<'_, PyDict>) -> PyResult<Vocab> {
    let mut table = Vocab::default();
    for (token, id) in vocab {
        let token = Text::new(&token, "a token of vocab")?;
        table.insert(token.as_str(), id_from(&id)?);
    }
    table.finish();
    Ok(table)
}

fn read_json(name: &str, text: &str) -> PyResult<serde_json::Value> {
    let wrong = |error| Error::TokenizerFile(format!("tokenizer.json: {name} can't be read: {error}"));
    Ok(serde_json::from_str(text).map_err(wrong)?)
}

fn read_components(given: std::collections::BTreeMap<String, String>) -> PyResult<Components> {
    let mut components = Components::default();
    for (name, text) in given {
        let value = read_json(&name, &text)?;
        *components.get_mut(&name)? = value;
    }
    Ok(components)
}
