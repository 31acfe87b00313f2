//! Learning from counts of several sources.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::counts::SortedCounts;
use super::train::{VocabAndMerges, texts, told};
use super::trainer_arguments::TrainerArguments;
use crate::train::{Quota, SourceUse, SourcedWords, learn_from_sources as learn};

/// Learned tokens, the source that uses each most, and the uses by source.
type TokenUses = Vec<(u32, usize, Vec<u64>)>;

/// How many distinct pretokens there are; symbols and tokens by source; who uses which token; how many tokens are
/// missing to each quota; for each merge the vocabulary after it, and how many tokens it saves all sources together.
///
/// All are counted in the sources as they are, whatever they weigh.
type Use = (usize, Vec<u64>, Vec<u64>, TokenUses, Vec<usize>, Vec<(u32, u64)>);

/// Learns a vocabulary from counts of several sources, in each of which an occurrence counts as often as its weight
/// says.
///
/// A quota is a source and a share of the learned tokens: a numerator and a denominator. `settings` are the arguments
/// of `Counter.learn`, and so is `progress`.
#[pyfunction]
#[pyo3(signature = (parts, *, quotas, settings, progress = None))]
pub fn learn_from_sources(
    py: Python<'_>,
    parts: Vec<(Py<SortedCounts>, u64)>,
    quotas: Vec<(usize, u64, u64)>,
    settings: TrainerArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<(VocabAndMerges, Use)> {
    let sources = parts.len();
    if quotas
        .iter()
        .any(|&(source, _, denominator)| source >= sources || denominator == 0)
    {
        return Err(PyValueError::new_err("a quota is of no source, or no share"));
    }
    let quotas: Vec<Quota> = quotas
        .into_iter()
        .map(|(source, numerator, denominator)| Quota {
            source,
            share: (numerator, denominator),
        })
        .collect();
    let parts = parts
        .iter()
        .map(|(counts, weight)| (counts.get().sorted(), *weight));
    let parts: Vec<_> = parts.collect();
    let settings = settings.settings();
    let (distinct, learned, found) = told(py, progress, move |tell| {
        let (words, counts) = SourcedWords::new(&parts, &mut || tell(0, 0))?;
        drop(parts);
        let distinct = words.len();
        let (learned, found) = learn(words, counts, &quotas, &settings, tell)?;
        Ok((distinct, learned, found))
    })?;
    let SourceUse {
        symbols,
        tokens,
        learned: used,
        missing,
    } = found;
    let sizes = learned.growth.iter().map(|&(size, _)| size);
    let saved = used.iter().map(|(_, _, counts)| counts.iter().sum());
    let growth = sizes.zip(saved).collect();
    Ok((texts(learned), (distinct, symbols, tokens, used, missing, growth)))
}
