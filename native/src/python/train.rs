//! `Counter`: counts pretokens and learns merges for the Python side.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::arrow::OwnedColumn;
use super::counts::{SortedCounts, bound};
use super::long_texts::PART_SIZE;
use super::text::Text;
use super::tokenizer::PyTokenizer;
use super::trainer_arguments::TrainerArguments;
use crate::parallel;
use crate::tokenizer::Tokenizer;
use crate::train::counter::BatchReport;
use crate::train::{self, BetweenAddedTokens, Cutting, Extension, Learned};
use crate::vocab::TokenId;

/// How often Python is asked for signals and shown the progress while merges are learned.
const REPORT_EVERY: Duration = Duration::from_millis(50);

/// A pretoken as `bytes`, and how often it was seen.
type PretokenCount = (Cow<'static, [u8]>, u64);

/// A token that an extension made: its text, the halves of its merge, and how many tokens it saves.
type NewToken = (String, Option<(TokenId, TokenId)>, u64);

/// The tokens by id, and the merges by rank.
pub(super) type VocabAndMerges = (Vec<String>, Vec<(String, String)>);

/// The bytes of a corpus, its tokens before any merge, and for each merge the vocabulary after it and the tokens saved.
type Growth = (u64, u64, Vec<(u32, u64)>);

/// A table of pretokens and their counts, filled batch by batch.
#[pyclass(frozen, module = "hf_bpe._native")]
pub struct Counter {
    pub(super) counts: train::Counter,
    pub(super) pipeline: Arc<Tokenizer>,
    pub(super) between_added_tokens: bool,
    threads: usize,
    /// How much of a long text is read at a time, in characters.
    pub(super) part_size: usize,
    /// The length from which pretokens are cut.
    #[pyo3(get)]
    max_pretoken_bytes: Option<usize>,
    /// What the last learning gained.
    growth: Mutex<Growth>,
}

#[pymethods]
impl Counter {
    #[new]
    #[pyo3(signature = (
        tokenizer, *, between_added_tokens = false, num_threads = None, max_memory = None, temporary_directory = None,
        max_pretoken_bytes = None, part_size = PART_SIZE,
    ))]
    #[allow(clippy::too_many_arguments)] // keyword-only
    fn new(
        tokenizer: &PyTokenizer,
        between_added_tokens: bool,
        num_threads: Option<usize>,
        max_memory: Option<usize>,
        temporary_directory: Option<PathBuf>,
        max_pretoken_bytes: Option<usize>,
        part_size: usize,
    ) -> PyResult<Self> {
        if num_threads == Some(0) {
            return Err(PyValueError::new_err(
                "num_threads is 0; give at least 1, or None for all cores",
            ));
        }
        Ok(Self {
            counts: train::Counter::new(
                bound(max_memory, temporary_directory),
                max_pretoken_bytes.map(Cutting::new).unwrap_or_default(),
            ),
            pipeline: tokenizer.core(),
            between_added_tokens,
            threads: num_threads.unwrap_or_else(parallel::num_threads),
            part_size: part_size.max(1),
            growth: Mutex::default(),
            max_pretoken_bytes,
        })
    }

    /// Counts texts; returns how many there were, how many were null (none), and their bytes.
    ///
    /// A text of more than sixteen parts is read part by part, where its pretokens allow that.
    fn count(&self, py: Python<'_>, mut texts: Vec<Bound<'_, PyAny>>) -> PyResult<(u64, u64, u64)> {
        let mut long = Vec::new();
        texts.retain(|text| {
            let is_long = self.reads_in_parts(text);
            if is_long {
                long.push(text.clone());
            }
            !is_long
        });
        let mut report = self.count_short(py, &texts)?;
        for text in &long {
            report = report.and(self.count_slices(text)?);
        }
        Ok(told_of(report))
    }

    /// Counts one text that comes in parts, as it would count the whole; returns what `count` returns.
    fn count_parts(&self, parts: &Bound<'_, PyAny>) -> PyResult<(u64, u64, u64)> {
        self.count_iterated(parts.try_iter()?).map(told_of)
    }

    /// Counts rows of an Arrow column of strings, whose buffers are given as bytes; returns what `count` returns.
    ///
    /// A slice brings the part of each buffer that it needs: `data_start` is the offset of the first byte of `data`,
    /// `first_bit` the place of the first row in `validity`.
    #[pyo3(signature = (data, offsets, validity, *, data_start, first_bit, length, large))]
    #[allow(clippy::too_many_arguments)] // the parts of an Arrow array
    fn count_arrow(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        offsets: PyBuffer<u8>,
        validity: Option<PyBuffer<u8>>,
        data_start: usize,
        first_bit: usize,
        length: usize,
        large: bool,
    ) -> PyResult<(u64, u64, u64)> {
        let buffer = PyBuffer::get(data)?;
        let column = (buffer, offsets, validity, data_start, first_bit, length, large);
        if let Some(report) = self.count_cell(data, &column)? {
            return Ok(told_of(report));
        }
        let column = OwnedColumn::new(py, column)?;
        let column = column.strings();
        let report = polled(py, |poll| {
            let pool = parallel::pool(self.threads);
            match self.between_added_tokens {
                true => self
                    .counts
                    .count_arrow(&BetweenAddedTokens(&self.pipeline), column, pool, poll),
                false => self.counts.count_arrow(&*self.pipeline, column, pool, poll),
            }
        })?;
        Ok(told_of(report))
    }

    /// Counts pretokens, given as bytes, that were counted elsewhere.
    fn count_weighted(&self, py: Python<'_>, pretokens: Vec<(Vec<u8>, u64)>) -> PyResult<()> {
        let pretokens = pretokens
            .iter()
            .map(|(pretoken, count)| (pretoken.as_slice(), *count));
        Ok(py.detach(|| self.counts.count_weighted(pretokens))?)
    }

    /// Counts what was counted elsewhere.
    fn count_sorted(&self, py: Python<'_>, counts: &SortedCounts) -> PyResult<()> {
        let counts = counts.sorted();
        polled(py, |poll| self.counts.count_sorted(counts, poll))
    }

    /// What was counted, as a value; the counter begins anew.
    fn take_sorted(&self, py: Python<'_>) -> PyResult<SortedCounts> {
        Ok(SortedCounts::new(polled(py, |poll| {
            self.counts.take_sorted(poll)
        })?))
    }

    /// How many pretokens were longer than allowed, and counted in parts.
    #[getter]
    fn cut_pretokens(&self) -> u64 {
        self.counts.cut_pretokens()
    }

    /// How many bytes of counts went to temporary files.
    #[getter]
    fn spilled_bytes(&self) -> u64 {
        self.counts.spilled_bytes()
    }

    /// The distinct pretokens and their counts, in order of bytes.
    fn counts(&self, py: Python<'_>) -> PyResult<Vec<PretokenCount>> {
        let mut counts = Vec::new();
        py.detach(|| {
            self.counts
                .for_each(|pretoken, count| counts.push((Cow::Owned(pretoken.to_vec()), count)))
        })?;
        counts.sort_unstable();
        Ok(counts)
    }

    /// The pretokens that hold a word, given as the vocabulary spells it; how often each was seen, and at which byte the
    /// word first begins.
    fn containing(&self, py: Python<'_>, token: &str) -> PyResult<Vec<(PretokenCount, usize)>> {
        let Some(part) = self.pipeline.word_of_token(token) else {
            return Ok(Vec::new());
        };
        let part = part.as_bytes();
        let found = py.detach(|| self.counts.containing(part))?;
        let start = |word: &[u8]| memchr::memmem::find(word, part).unwrap_or_default();
        let found = found.into_iter().map(|(word, count)| {
            let at = start(&word);
            ((Cow::Owned(word), count), at)
        });
        Ok(found.collect())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(py.detach(|| self.counts.distinct())?)
    }

    /// How many bytes the distinct pretokens have.
    fn distinct_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(py.detach(|| self.counts.distinct_bytes())?)
    }

    /// Learns a vocabulary; returns its tokens by id, and the merges by rank.
    ///
    /// `characters` says that pretokens are cut into characters, not into bytes. The initial alphabet is all bytes, or
    /// no characters, by default. Counts are gone afterwards unless `keep` is set. `progress` is called with the number
    /// of merges so far and how many it may become, twenty times a second; what it raises comes out.
    #[pyo3(signature = (
        *, vocab_size, min_frequency = 0, max_token_length = None, within_scripts = false, max_digits = None,
        characters = false, initial_alphabet = None, limit_alphabet = None, continuing_subword_prefix = None,
        end_of_word_suffix = None, special_tokens = Vec::new(), reserved_tokens = Vec::new(),
        last_special_tokens = Vec::new(), keep = true, progress = None,
    ))]
    #[allow(clippy::too_many_arguments)] // keyword-only, as the trainer has them
    fn learn(
        &self,
        py: Python<'_>,
        vocab_size: usize,
        min_frequency: u64,
        max_token_length: Option<usize>,
        within_scripts: bool,
        max_digits: Option<usize>,
        characters: bool,
        initial_alphabet: Option<Vec<String>>,
        limit_alphabet: Option<usize>,
        continuing_subword_prefix: Option<String>,
        end_of_word_suffix: Option<String>,
        special_tokens: Vec<String>,
        reserved_tokens: Vec<String>,
        last_special_tokens: Vec<String>,
        keep: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<VocabAndMerges> {
        let arguments = TrainerArguments {
            vocab_size,
            min_frequency,
            max_token_length,
            within_scripts,
            max_digits,
            characters,
            initial_alphabet,
            limit_alphabet,
            continuing_subword_prefix,
            end_of_word_suffix,
            special_tokens,
            reserved_tokens,
            last_special_tokens,
        };
        let settings = arguments.settings();
        let unit = settings.spelling.unit();
        let (bytes, symbols) = py.detach(|| self.counts.text_size(unit))?;
        let mut learned = told(py, progress, |tell| self.counts.learn(&settings, keep, tell))?;
        let growth = (bytes, symbols, std::mem::take(&mut learned.growth));
        *self.growth.lock().unwrap_or_else(PoisonError::into_inner) = growth;
        Ok(texts(learned))
    }

    /// What the last learning gained: see [`Growth`].
    fn growth(&self) -> Growth {
        self.growth.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Learns on from the vocabulary of the tokenizer that cut the texts, between added tokens. Returns the new tokens in
    /// order of their ids, from `first_id` on, and how many tokens the corpus took before and takes now.
    ///
    /// A new token is its text, the two halves of its merge (none for a character), and how many tokens it saves.
    #[pyo3(signature = (
        *, new_tokens, first_id, min_frequency = 0, max_token_length = None, new_characters = true, progress = None,
    ))]
    #[allow(clippy::too_many_arguments)] // keyword-only, as the trainer has them
    fn learn_on(
        &self,
        py: Python<'_>,
        new_tokens: usize,
        first_id: TokenId,
        min_frequency: u64,
        max_token_length: Option<usize>,
        new_characters: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<NewToken>, u64, u64)> {
        let settings = Extension {
            new_tokens,
            first_id,
            min_frequency,
            max_token_length,
            new_characters,
        };
        let learned = told(py, progress, |tell| {
            self.counts.learn_on(&self.pipeline, &settings, tell)
        })?;
        let tokens = learned.tokens.into_iter();
        let tokens = tokens.map(|token| (token.text, token.halves, token.saved));
        Ok((tokens.collect(), learned.before, learned.after))
    }
}

impl Counter {
    fn count_short(&self, py: Python<'_>, texts: &[Bound<'_, PyAny>]) -> PyResult<BatchReport> {
        let texts = texts
            .iter()
            .map(|text| Text::new(text, "a text"))
            .collect::<PyResult<Vec<_>>>()?;
        let texts: Vec<&str> = texts.iter().map(Text::as_str).collect();
        self.count_all(py, &texts)
    }

    /// Counts texts on all threads.
    pub(super) fn count_all(&self, py: Python<'_>, texts: &[&str]) -> PyResult<BatchReport> {
        polled(py, |poll| {
            let pool = parallel::pool(self.threads);
            match self.between_added_tokens {
                true => self
                    .counts
                    .count(&BetweenAddedTokens(&self.pipeline), texts, pool, poll),
                false => self.counts.count(&*self.pipeline, texts, pool, poll),
            }
        })
    }
}

/// Learns without the GIL, and shows the progress twenty times a second; what that raises stops the learning.
pub(super) fn told<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    learn: impl FnOnce(&mut dyn FnMut(usize, usize) -> bool) -> crate::Result<T> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let mut last = Instant::now();
    let learned = py.detach(|| {
        learn(&mut |merges, expected| {
            if last.elapsed() < REPORT_EVERY {
                return true;
            }
            last = Instant::now();
            raised = Python::attach(|py| tell(py, progress.as_ref(), (merges, expected))).err();
            raised.is_none()
        })
    });
    match raised {
        Some(error) => Err(error),
        None => Ok(learned?),
    }
}

/// What Python is told of a batch: texts, nulls and bytes.
fn told_of(report: BatchReport) -> (u64, u64, u64) {
    (report.texts, report.nulls, report.bytes)
}

/// Works without the GIL; what a signal handler raises stops the work and comes out.
pub(super) fn polled<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn FnMut() -> bool) -> crate::Result<T> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let done = py.detach(|| {
        work(&mut || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_none()
        })
    });
    match raised {
        Some(error) => Err(error),
        None => Ok(done?),
    }
}

fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, merges: (usize, usize)) -> PyResult<()> {
    py.check_signals()?;
    match progress {
        Some(progress) => progress.call1(py, merges).map(|_| ()),
        None => Ok(()),
    }
}

pub(super) fn texts(learned: Learned) -> VocabAndMerges {
    let text = |id: u32| learned.vocab[id as usize].clone();
    let merges = learned
        .merges
        .iter()
        .map(|&(left, right)| (text(left), text(right)))
        .collect();
    (learned.vocab, merges)
}
