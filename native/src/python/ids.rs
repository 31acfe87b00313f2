//! Ids as Python lists, and back.

mod list;

use numpy::{Element, PyArray1, PyArrayMethods};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList};

use crate::vocab::TokenId;

/// Lists longer than this are made of shared `int` objects, and so are all lists after this many calls.
const WORTH_SHARING: usize = 64;
const MANY_CALLS: u32 = 256;

/// One Python `int` for each id below a bound, made when a list first holds it. Handing out a shared object costs half of
/// what making one does, and ids are a small set; those of a text lie side by side in memory.
pub struct SharedInts {
    ints: PyOnceLock<Vec<OnceLock<Py<PyInt>>>>,
    bound: usize,
    calls: AtomicU32,
}

impl SharedInts {
    /// For ids up to `max_id`; a vocabulary with huge ids shares the first ones only.
    pub fn new(max_id: Option<TokenId>) -> Self {
        Self {
            ints: PyOnceLock::new(),
            bound: max_id.map_or(0, |id| (id as usize + 1).min(1 << 20)),
            calls: AtomicU32::new(0),
        }
    }

    /// `ids` as a list.
    pub fn list<'py>(&self, py: Python<'py>, ids: &[TokenId]) -> PyResult<Bound<'py, PyList>> {
        match self.ints.get(py) {
            Some(ints) => list(py, ints, ids),
            None if ids.len() <= WORTH_SHARING && self.calls.fetch_add(1, Ordering::Relaxed) < MANY_CALLS => {
                PyList::new(py, ids)
            }
            None => list(py, self.table(py), ids),
        }
    }

    /// The ids between neighbouring `bounds` as lists, in a list.
    pub fn lists<'py>(
        &self,
        py: Python<'py>,
        ids: &[TokenId],
        bounds: &[u64],
    ) -> PyResult<Bound<'py, PyList>> {
        let row = |ends: &[u64]| &ids[ends[0] as usize..ends[1] as usize];
        if ids.len() <= WORTH_SHARING {
            let lists = bounds.windows(2).map(|ends| self.list(py, row(ends)));
            return PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?);
        }
        let ints = self.table(py);
        let lists = bounds.windows(2).map(|ends| list(py, ints, row(ends)));
        PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
    }

    fn table(&self, py: Python<'_>) -> &[OnceLock<Py<PyInt>>] {
        self.ints
            .get_or_init(py, || (0..self.bound).map(|_| OnceLock::new()).collect())
    }
}

fn list<'py>(py: Python<'py>, ints: &[OnceLock<Py<PyInt>>], ids: &[TokenId]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(
        py,
        ids.iter().map(|&id| match ints.get(id as usize) {
            Some(shared) => shared.get_or_init(|| int(py, id)).clone_ref(py),
            None => int(py, id),
        }),
    )
}

fn int(py: Python<'_>, id: TokenId) -> Py<PyInt> {
    let Ok(int) = id.into_pyobject(py);
    int.unbind()
}

/// Reads a sequence of ids.
pub fn ids_from(object: &Bound<'_, PyAny>) -> PyResult<Vec<TokenId>> {
    if let Some(ids) = list::exact_ids(object).or_else(|| ids_of_array(object)) {
        return Ok(ids);
    }
    let items = object.try_iter().map_err(|_| {
        let kind = object
            .get_type()
            .name()
            .map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("ids must be a sequence of int, got {kind}"))
    })?;
    items.map(|item| id_from(&item?)).collect()
}

/// Reads a numpy array of one dimension, if all of it are ids.
fn ids_of_array(object: &Bound<'_, PyAny>) -> Option<Vec<TokenId>> {
    fn read<T: Element + Copy>(object: &Bound<'_, PyAny>) -> Option<Vec<TokenId>>
    where
        TokenId: TryFrom<T>,
    {
        let array = object.cast::<PyArray1<T>>().ok()?.try_readonly().ok()?;
        let ids = array.as_array().into_iter().map(|&id| TokenId::try_from(id).ok());
        ids.collect()
    }
    read::<i64>(object)
        .or_else(|| read::<u32>(object))
        .or_else(|| read::<i32>(object))
        .or_else(|| read::<u16>(object))
        .or_else(|| read::<u64>(object))
}

/// Reads one id.
pub fn id_from(object: &Bound<'_, PyAny>) -> PyResult<TokenId> {
    if let Ok(id) = object.extract::<TokenId>() {
        return Ok(id);
    }
    match object.call_method0("__index__") {
        Ok(number) => Err(PyValueError::new_err(format!(
            "{number} is no id: ids go from 0 to 4294967295"
        ))),
        Err(_) => {
            let kind = object.get_type().name()?.to_string();
            Err(PyTypeError::new_err(format!("an id must be an int, got {kind}")))
        }
    }
}
