//! `SortedCounts`: counts as a value, handed out and taken in as the buffers of Arrow columns.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::train::polled;
use crate::train::Unit;
use crate::train::sorted::{Cursor, MemoryLimit, Sorted, SortedBuilder, Weight, merge};

/// How many bytes of pretokens a chunk has, give or take one.
const CHUNK_BYTES: usize = 4 << 20;

/// Distinct pretokens in order of bytes, and how often each was seen.
#[pyclass(frozen, module = "hf_bpe._native")]
pub struct SortedCounts {
    sorted: Sorted,
}

impl SortedCounts {
    /// The value for Python.
    pub fn new(sorted: Sorted) -> Self {
        Self { sorted }
    }

    /// The value, which is cheap to copy.
    pub fn sorted(&self) -> Sorted {
        self.sorted.clone()
    }
}

/// What a bound is without its parts: no limit, and the directory of the system.
pub fn bound(max_memory: Option<usize>, temporary_directory: Option<PathBuf>) -> MemoryLimit {
    MemoryLimit {
        memory: max_memory.unwrap_or(usize::MAX),
        directory: temporary_directory.unwrap_or_else(std::env::temp_dir),
    }
}

#[pymethods]
impl SortedCounts {
    /// The sum of several counts, each times a weight: a numerator and a denominator. Rounded, halves up.
    #[staticmethod]
    #[pyo3(signature = (parts, *, max_memory = None, temporary_directory = None))]
    fn sum(
        py: Python<'_>,
        parts: Vec<(Py<Self>, u64, u64)>,
        max_memory: Option<usize>,
        temporary_directory: Option<PathBuf>,
    ) -> PyResult<Self> {
        let weighted = parts.iter().map(|(counts, numerator, denominator)| {
            let weight = Weight::new(*numerator, *denominator)
                .ok_or_else(|| PyValueError::new_err("the denominator of a weight is 0"))?;
            Ok((counts.get().sorted(), weight))
        });
        let weighted = weighted.collect::<PyResult<Vec<_>>>()?;
        let parts: Vec<_> = weighted
            .iter()
            .map(|(counts, weight)| (counts, *weight))
            .collect();
        let bound = bound(max_memory, temporary_directory);
        Ok(Self::new(polled(py, |poll| Sorted::sum(&parts, &bound, poll))?))
    }

    /// How many bytes the distinct pretokens of several counts have, those of more than one once.
    #[staticmethod]
    fn distinct_bytes(py: Python<'_>, parts: Vec<Py<Self>>) -> PyResult<u64> {
        let cursors = parts.iter().map(|part| part.get().sorted.cursor()).collect();
        let mut bytes = 0;
        let mut visit = |pretoken: &[u8], _| {
            bytes += pretoken.len() as u64;
            Ok(())
        };
        polled(py, |poll| merge(cursors, &mut visit, poll))?;
        Ok(bytes)
    }

    fn __len__(&self) -> usize {
        self.sorted.summary().distinct as usize
    }

    /// How many pretokens there are.
    #[getter]
    fn total(&self) -> u128 {
        self.sorted.summary().total
    }

    /// How many bytes the distinct pretokens have.
    #[getter]
    fn text_bytes(&self) -> u64 {
        self.sorted.summary().text_len
    }

    /// Whether they lie in a temporary file.
    #[getter]
    fn in_file(&self) -> bool {
        self.sorted.is_in_file()
    }

    /// How many bytes of text all pretokens stand for, each as often as it was seen: see [`Unit::text_len`].
    #[pyo3(signature = (*, characters))]
    fn corpus_bytes(&self, py: Python<'_>, characters: bool) -> PyResult<u128> {
        let unit = match characters {
            true => Unit::Characters,
            false => Unit::Bytes,
        };
        let mut bytes = 0;
        py.detach(|| {
            self.sorted.for_each(&mut |pretoken, count| {
                bytes += u128::from(unit.text_len(pretoken)) * u128::from(count);
                Ok(())
            })
        })?;
        Ok(bytes)
    }

    /// The pretokens of the highest counts, of equal counts the first in order of bytes.
    fn most_common<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Vec<(Bound<'py, PyBytes>, u64)>> {
        let found = py.detach(|| self.sorted.most_common(number))?;
        let pairs = found.into_iter();
        Ok(pairs
            .map(|(pretoken, count)| (PyBytes::new(py, &pretoken), count))
            .collect())
    }

    /// All entries, some MB at a time.
    fn chunks(&self) -> CountsChunks {
        CountsChunks {
            cursor: Mutex::new(self.sorted.cursor()),
        }
    }
}

/// An iterator of chunks: the bytes of pretokens, where they begin and end as 64-bit numbers, and 64-bit counts.
#[pyclass(frozen, module = "hf_bpe._native")]
pub struct CountsChunks {
    cursor: Mutex<Box<dyn Cursor>>,
}

type Chunk<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl CountsChunks {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Chunk<'py>>> {
        let (mut data, mut offsets, mut counts) = (Vec::new(), 0u64.to_le_bytes().to_vec(), Vec::new());
        py.detach(|| {
            let mut cursor = self
                .cursor
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            while data.len() + counts.len() < CHUNK_BYTES && cursor.advance()? {
                data.extend_from_slice(cursor.pretoken());
                offsets.extend_from_slice(&(data.len() as u64).to_le_bytes());
                counts.extend_from_slice(&cursor.count().to_le_bytes());
            }
            Ok::<_, crate::Error>(())
        })?;
        let bytes = |part: &[u8]| PyBytes::new(py, part);
        Ok((!counts.is_empty()).then(|| (bytes(&data), bytes(&offsets), bytes(&counts))))
    }
}

/// Makes counts of chunks that come in order of bytes.
#[pyclass(frozen, module = "hf_bpe._native")]
pub struct SortedCountsBuilder {
    builder: Mutex<Option<SortedBuilder>>,
}

#[pymethods]
impl SortedCountsBuilder {
    #[new]
    #[pyo3(signature = (*, max_memory = None, temporary_directory = None))]
    fn new(max_memory: Option<usize>, temporary_directory: Option<PathBuf>) -> Self {
        let builder = SortedBuilder::new(bound(max_memory, temporary_directory));
        Self {
            builder: Mutex::new(Some(builder)),
        }
    }

    /// Appends a chunk, as `SortedCounts.chunks` hands it out.
    fn push(
        &self,
        py: Python<'_>,
        data: PyBuffer<u8>,
        offsets: PyBuffer<u8>,
        counts: PyBuffer<u8>,
    ) -> PyResult<()> {
        let (data, offsets, counts) = (data.to_vec(py)?, offsets.to_vec(py)?, counts.to_vec(py)?);
        let (offsets, counts) = (numbers(&offsets), numbers(&counts));
        let mut builder = self
            .builder
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let builder = builder.as_mut().ok_or_else(finished)?;
        py.detach(|| {
            for (ends, count) in offsets.windows(2).zip(counts) {
                let pretoken = data.get(ends[0] as usize..ends[1] as usize);
                let pretoken = pretoken.ok_or_else(|| {
                    crate::Error::Value(format!(
                        "an entry lies outside the data: {} to {}",
                        ends[0], ends[1]
                    ))
                })?;
                builder.push(pretoken, count)?;
            }
            Ok::<_, crate::Error>(())
        })?;
        Ok(())
    }

    /// The counts; nothing can be appended any more.
    fn finish(&self) -> PyResult<SortedCounts> {
        let mut builder = self
            .builder
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let builder = builder.take().ok_or_else(finished)?;
        Ok(SortedCounts::new(builder.finish()?))
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("these counts are finished")
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}
