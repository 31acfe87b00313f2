//! The seam: converts types, releases the GIL, maps errors. No algorithm lives here.

mod arrow;
mod compiled;
mod counts;
mod decode_stream;
mod encoding;
mod errors;
mod ids;
mod inputs;
mod long_texts;
mod ranks;
mod sources;
mod text;
mod tokenizer;
mod train;
mod trainer_arguments;
mod within;
mod words;

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    crate::parallel::set_home_process();
    module.add_class::<tokenizer::PyTokenizer>()?;
    module.add_class::<encoding::PyEncoding>()?;
    module.add_class::<decode_stream::PyDecodeStream>()?;
    module.add_class::<train::Counter>()?;
    module.add_class::<counts::SortedCounts>()?;
    module.add_class::<counts::SortedCountsBuilder>()?;
    module.add_class::<counts::CountsChunks>()?;
    module.add_function(wrap_pyfunction!(encoding::rebuild_encoding, module)?)?;
    module.add_function(wrap_pyfunction!(set_worker_process, module)?)?;
    module.add_function(wrap_pyfunction!(words::words_of, module)?)?;
    module.add_function(wrap_pyfunction!(words::encode_words, module)?)?;
    module.add_function(wrap_pyfunction!(words::check_extensible, module)?)?;
    module.add_function(wrap_pyfunction!(words::plan_words, module)?)?;
    module.add_function(wrap_pyfunction!(words::crossing_merges, module)?)?;
    module.add_function(wrap_pyfunction!(sources::learn_from_sources, module)?)?;
    module.add_function(wrap_pyfunction!(compiled::digest_of_file, module)?)?;
    module.add_function(wrap_pyfunction!(compiled::compile_json, module)?)?;
    module.add_function(wrap_pyfunction!(compiled::load_compiled, module)?)?;
    module.add_function(wrap_pyfunction!(num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(cache_limit, module)?)?;
    module.add_function(wrap_pyfunction!(set_cache_limit, module)?)?;
    module.add_function(wrap_pyfunction!(supported_components, module)?)?;
    module.add_function(wrap_pyfunction!(unicode_versions, module)?)?;
    Ok(())
}

/// Says that this process is one of several workers, each of which should use one thread.
#[pyfunction]
fn set_worker_process() {
    crate::parallel::set_worker_process();
}

/// The number of threads that a batch may use.
#[pyfunction]
fn num_threads() -> usize {
    crate::parallel::num_threads()
}

/// How many bytes the pretoken caches of this process may take together.
#[pyfunction]
fn cache_limit() -> usize {
    crate::cache::limit()
}

/// Sets how many bytes the pretoken caches of this process may take together.
#[pyfunction]
fn set_cache_limit(bytes: usize) {
    crate::cache::set_limit(bytes);
}

/// The kinds of components that can run, by the part of a `tokenizer.json` that holds them.
#[pyfunction]
fn supported_components(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let parts = PyDict::new(py);
    for (part, kinds) in crate::tokenizer_json::supported_components() {
        parts.set_item(part, kinds)?;
    }
    Ok(parts)
}

/// The versions of Unicode that normalizers and split patterns follow.
#[pyfunction]
fn unicode_versions(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let versions = PyDict::new(py);
    versions.set_item("normalizer", crate::normalizer::UNICODE_VERSION)?;
    versions.set_item("pre_tokenizer", crate::pre_tokenizer::UNICODE_VERSION)?;
    Ok(versions)
}
