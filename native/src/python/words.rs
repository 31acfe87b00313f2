//! Words as the model sees them: for those who choose new tokens themselves.

use std::borrow::Cow;

use pyo3::prelude::*;

use super::tokenizer::PyTokenizer;
use crate::bpe::Symbols;
use crate::merges::Rank;
use crate::pre_tokenizer::Scratch;
use crate::train::chain::{Chains, Link, Plan};
use crate::vocab::TokenId;

/// What is to be done for a word: one of `"known"`, `"chain"`, `"dead"`, `"unspellable"`, `"taken"`; the ids that it is
/// about; the tokens to make.
type PyPlan = (&'static str, Vec<TokenId>, Vec<Link>);

/// The rank and the halves of a merge.
type RankedPair = (Rank, (TokenId, TokenId));

/// The words of a text between its added tokens, each as the vocabulary spells it.
#[pyfunction]
pub fn words_of(py: Python<'_>, tokenizer: &PyTokenizer, text: String) -> PyResult<Vec<String>> {
    let core = tokenizer.core();
    Ok(py.detach(|| {
        let mut words = Vec::new();
        core.words(&text, &mut Scratch::default(), &mut |word| {
            words.push(core.spelling_of_word(word).into_owned())
        })?;
        crate::Result::Ok(words)
    })?)
}

/// Raises unless the tokenizer can have more tokens, and keep the ids that it gives.
#[pyfunction]
pub fn check_extensible(py: Python<'_>, tokenizer: &PyTokenizer) -> PyResult<()> {
    let core = tokenizer.core();
    Ok(py.detach(|| core.check_extensible())?)
}

/// What the model makes of tokens, each as the vocabulary spells it: of its text alone, whatever cuts texts.
#[pyfunction]
pub fn encode_words(
    py: Python<'_>,
    tokenizer: &PyTokenizer,
    words: Vec<String>,
) -> PyResult<Vec<Vec<TokenId>>> {
    let core = tokenizer.core();
    Ok(py.detach(|| {
        let bpe = core.bpe().without_dropout();
        let mut symbols = Symbols::default();
        let encode = |word: &String| core.ids_of_spelling(&bpe, word, &mut symbols);
        words.iter().map(encode).collect::<crate::Result<Vec<_>>>()
    })?)
}

/// Plans chains of merges for words, each as the vocabulary spells it, before the merge of rank `at` or behind all.
#[pyfunction]
#[pyo3(signature = (tokenizer, words, *, first_id, at = None))]
pub fn plan_words(
    py: Python<'_>,
    tokenizer: &PyTokenizer,
    words: Vec<String>,
    first_id: TokenId,
    at: Option<Rank>,
) -> PyResult<Vec<PyPlan>> {
    let core = tokenizer.core();
    Ok(py.detach(|| {
        let mut chains = Chains::new(&core, at, first_id);
        let plan = |token: &String| {
            let Some(word) = core.word_of_token(token) else {
                return Ok(("unspellable", Vec::new(), Vec::new()));
            };
            Ok(match chains.plan(&word, token)? {
                Plan::Known(id) => ("known", vec![id], Vec::new()),
                Plan::Chain(links) => ("chain", Vec::new(), links),
                Plan::Dead(id, parts) => {
                    let ids = std::iter::once(id).chain(parts);
                    ("dead", ids.collect(), Vec::new())
                }
                Plan::Unspellable => ("unspellable", Vec::new(), Vec::new()),
                Plan::Taken(ids) => ("taken", ids, Vec::new()),
            })
        };
        words.iter().map(plan).collect::<crate::Result<Vec<_>>>()
    })?)
}

/// For each word that holds `part` at its byte `start`: the rank and the halves of the first old merge across an end of
/// the part; none where the part is left whole.
#[pyfunction]
pub fn crossing_merges(
    py: Python<'_>,
    tokenizer: &PyTokenizer,
    part: String,
    words: Vec<(Vec<u8>, usize)>,
) -> PyResult<Vec<Option<RankedPair>>> {
    let core = tokenizer.core();
    let length = core
        .word_of_token(&part)
        .map_or(0, |part: Cow<'_, str>| part.len());
    Ok(py.detach(|| {
        let mut chains = Chains::new(&core, None, 0);
        let find = |(word, start): &(Vec<u8>, usize)| {
            let word = String::from_utf8_lossy(word);
            let found = chains.crossing(&word, *start, start + length)?;
            Ok(found.map(|found| (found.rank, found.halves)))
        };
        words.iter().map(find).collect::<crate::Result<Vec<_>>>()
    })?)
}
