//! `Tokenizer`: the pipeline, immutable, shared between threads, pickled by content.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple, PyType};

use super::encoding::PyEncoding;
use super::ids::{SharedInts, id_from, ids_from};
use super::inputs::{Given, read_truncation};
use super::ranks;
use super::text::{Text, string, wrong_type};
use super::within::{GivenPart, positions_of, read_within};
use crate::added_tokens::AddedToken;
use crate::bpe::BpeSettings;
use crate::encoding::Encoding;
use crate::merges::Merges;
use crate::tokenizer::{EncodeOptions, MergeOfIds, Tokenizer};
use crate::tokenizer_json::{Components, MergeTexts, TokenizerFile};
use crate::vocab::{TokenId, Vocab};
use crate::{Error, Result};

/// Texts below this many bytes are encoded without giving the GIL to another thread: handing it over costs more.
const WORTH_RELEASING: usize = 2048;

/// `content, special, normalized, single_word, lstrip, rstrip`.
type Flags = (String, bool, bool, bool, bool, bool);

/// The ids of several texts in a row, and where each text begins and the last one ends.
type FlatIds<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// Ids, and of some of them their places and characters.
type AnchoredIds<'py> = (Bound<'py, PyList>, Vec<(usize, usize, usize)>);

/// How to build a pickled tokenizer: `from_json`, the JSON and the seed for dropout.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Option<u64>));

/// The pipeline that a `tokenizer.json` describes.
#[pyclass(frozen, name = "Tokenizer", module = "hf_bpe._native")]
pub struct PyTokenizer {
    core: Arc<Tokenizer>,
    ints: SharedInts,
}

impl From<Tokenizer> for PyTokenizer {
    fn from(core: Tokenizer) -> Self {
        Self {
            ints: SharedInts::new(core.max_id()),
            core: Arc::new(core),
        }
    }
}

impl PyTokenizer {
    /// The core behind this object.
    pub fn core(&self) -> Arc<Tokenizer> {
        Arc::clone(&self.core)
    }

    fn run<T: Send>(&self, py: Python<'_>, bytes: usize, work: impl FnOnce(&Tokenizer) -> T + Send) -> T {
        let core = &*self.core;
        if bytes < WORTH_RELEASING {
            work(core)
        } else {
            py.detach(|| work(core))
        }
    }

    fn wrap(&self, encoding: Encoding) -> PyEncoding {
        PyEncoding::new(encoding, self.core())
    }
}

fn options(add_special_tokens: bool, split_special_tokens: bool) -> EncodeOptions {
    EncodeOptions {
        add_special_tokens,
        split_special_tokens,
    }
}

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
            added_tokens: serde_json::Value::Null,
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

    fn with_added_tokens(&self, py: Python<'_>, tokens: Vec<Flags>) -> PyResult<(Self, usize)> {
        let tokens = tokens
            .into_iter()
            .map(
                |(content, special, normalized, single_word, lstrip, rstrip)| AddedToken {
                    content,
                    special,
                    normalized,
                    single_word,
                    lstrip,
                    rstrip,
                },
            );
        let tokens = tokens.collect();
        let (core, added) = py.detach(|| self.core.with_added_tokens(tokens))?;
        Ok((core.into(), added))
    }

    fn added_tokens(&self) -> Vec<(TokenId, Flags)> {
        let flags = |token: &AddedToken| {
            let AddedToken {
                content,
                special,
                normalized,
                single_word,
                lstrip,
                rstrip,
            } = token.clone();
            (content, special, normalized, single_word, lstrip, rstrip)
        };
        self.core
            .added_tokens()
            .iter()
            .map(|(id, token)| (id, flags(token)))
            .collect()
    }

    /// The number of characters of the longest added token.
    #[getter]
    fn longest_added_token(&self) -> usize {
        self.core.added_tokens().longest()
    }

    fn warnings(&self) -> Vec<String> {
        self.core.warnings()
    }

    #[getter]
    fn vocab_size(&self) -> usize {
        self.core.bpe().vocab.len()
    }

    #[getter]
    fn max_id(&self) -> i64 {
        self.core.max_id().map_or(-1, i64::from)
    }

    #[getter]
    fn is_byte_level(&self) -> bool {
        self.core.is_byte_level()
    }

    #[getter]
    fn unk_token(&self) -> Option<&str> {
        self.core.bpe().settings.unk_token.as_deref()
    }

    /// The settings of the model by their names in `tokenizer.json`.
    fn model_settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = &self.core.bpe().settings;
        let dict = PyDict::new(py);
        dict.set_item("dropout", self.dropout())?;
        dict.set_item("unk_token", &settings.unk_token)?;
        dict.set_item("continuing_subword_prefix", &settings.continuing_subword_prefix)?;
        dict.set_item("end_of_word_suffix", &settings.end_of_word_suffix)?;
        dict.set_item("fuse_unk", settings.fuse_unk)?;
        dict.set_item("byte_fallback", settings.byte_fallback)?;
        dict.set_item("ignore_merges", settings.ignore_merges)?;
        Ok(dict)
    }

    #[pyo3(signature = (*, with_added_tokens = true))]
    fn get_vocab<'py>(&self, py: Python<'py>, with_added_tokens: bool) -> PyResult<Bound<'py, PyDict>> {
        let vocab = PyDict::new(py);
        for (token, id) in self.core.bpe().vocab.iter() {
            vocab.set_item(token, id)?;
        }
        if with_added_tokens {
            for (id, token) in self.core.added_tokens().iter() {
                vocab.set_item(&token.content, id)?;
            }
        }
        Ok(vocab)
    }

    fn merges(&self) -> Vec<(&str, &str)> {
        let bpe = self.core.bpe();
        let text = |id| bpe.vocab.token(id).unwrap_or_default();
        let pairs = bpe.merges.pairs().into_iter();
        pairs.map(|(left, right)| (text(left), text(right))).collect()
    }

    fn token_to_id(&self, token: &Bound<'_, PyAny>) -> PyResult<Option<TokenId>> {
        Ok(self.core.token_to_id(Text::new(token, "token")?.as_str()))
    }

    fn id_to_token(&self, id: &Bound<'_, PyAny>) -> PyResult<Option<&str>> {
        Ok(self.core.id_to_token(id_from(id)?))
    }

    fn tokens_to_ids(&self, tokens: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Option<TokenId>>> {
        tokens.iter().map(|token| self.token_to_id(token)).collect()
    }

    fn ids_to_tokens(&self, ids: &Bound<'_, PyAny>) -> PyResult<Vec<Option<&str>>> {
        let ids = ids_from(ids)?;
        Ok(ids.into_iter().map(|id| self.core.id_to_token(id)).collect())
    }

    fn get_token_bytes<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let id = id_from(id)?;
        let bytes = self.core.token_bytes(id)?;
        let bytes = bytes.ok_or_else(|| Error::UnknownToken(format!("id {id} has no token")))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[pyo3(signature = (*, pair = false))]
    fn num_special_tokens_to_add(&self, pair: bool) -> usize {
        self.core
            .post_processor()
            .map_or(0, |processor| processor.added_tokens(pair))
    }

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
        let batch = with_texts(py, texts, |texts| self.core.encode_ids_batch(texts, options))?;
        self.ints.lists(py, &batch)
    }

    #[pyo3(signature = (texts, *, add_special_tokens = true, split_special_tokens = false))]
    fn encode_to_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        add_special_tokens: bool,
        split_special_tokens: bool,
    ) -> PyResult<FlatIds<'py>> {
        let options = options(add_special_tokens, split_special_tokens);
        let (ids, offsets) = with_texts(py, texts, |texts| self.core.encode_flat(texts, options))?;
        Ok((PyArray1::from_vec(py, ids), PyArray1::from_vec(py, offsets)))
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
        let batch = with_texts(py, texts, |texts| self.core.encode_ordinary_batch(texts))?;
        self.ints.lists(py, &batch)
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

    fn is_special_token(&self, token: &Bound<'_, PyAny>) -> PyResult<bool> {
        let token = Text::new(token, "token")?;
        let added = self.core.added_tokens().token(token.as_str());
        Ok(added.is_some_and(|token| token.special))
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

    fn clear_cache(&self) {
        self.core.clear_cache();
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let py = slf.py();
        let core = slf.get().core();
        let json = py.detach(|| core.to_json(false));
        let class: Bound<'_, PyType> = slf.get_type();
        let arguments = (PyBytes::new(py, json.as_bytes()), core.dropout_seed());
        Ok((class.getattr("from_json")?, arguments))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else {
            return false;
        };
        let other = other.get();
        Arc::ptr_eq(&self.core, &other.core)
            || (self.core.dropout_seed() == other.core.dropout_seed()
                && py.detach(|| self.core.to_json(false) == other.core.to_json(false)))
    }

    fn __hash__(&self) -> u64 {
        let bpe = self.core.bpe();
        let mut hasher = DefaultHasher::new();
        (bpe.vocab.len(), bpe.merges.len(), self.core.added_tokens().len()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let bpe = self.core.bpe();
        let (tokens, merges, added) = (bpe.vocab.len(), bpe.merges.len(), self.core.added_tokens().len());
        format!("Tokenizer({tokens} tokens, {merges} merges, {added} added tokens)")
    }
}

/// Calls `work` without the GIL on the texts of a list or another sequence.
fn with_texts<T: Send>(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    work: impl FnOnce(&[&str]) -> Result<T> + Send,
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
    let texts = texts.collect::<PyResult<Vec<_>>>()?;
    let texts: Vec<&str> = texts.iter().map(Text::as_str).collect();
    Ok(py.detach(|| work(&texts))?)
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
