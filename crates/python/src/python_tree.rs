//! Trees as Python's own values, and back.

use model::design::file::Tree;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString};

/// Lists and maps in each other, at most: what contains itself has no end.
const MAX_DEPTH: usize = 16;

/// Characters of a value that an error shows.
const SHOWN: usize = 80;

/// A tree as `None`, `bool`, `int`, `float`, `str`, `list` and `dict`.
pub(crate) fn to_python<'py>(py: Python<'py>, tree: &Tree) -> PyResult<Bound<'py, PyAny>> {
    Ok(match tree {
        Tree::Null => py.None().into_bound(py),
        Tree::Flag(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Tree::Unsigned(number) => number.into_pyobject(py)?.into_any(),
        Tree::Negative(number) => number.into_pyobject(py)?.into_any(),
        Tree::Real(number) => PyFloat::new(py, *number).into_any(),
        Tree::Text(text) => PyString::new(py, text).into_any(),
        Tree::List(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(to_python(py, value)?)?;
            }
            list.into_any()
        }
        Tree::Map(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// A value of Python as a tree: numbers of other libraries count as the number that they are.
///
/// # Errors
/// `TypeError` of what no design file holds, `ValueError` of what is too large or too deep.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Tree> {
    tree_below(value, 0)
}

fn tree_below(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Tree> {
    if depth > MAX_DEPTH {
        let sentence = format!("values are at most {MAX_DEPTH} levels deep");
        return Err(PyValueError::new_err(sentence));
    }
    if value.is_none() {
        return Ok(Tree::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Tree::Flag(flag.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Tree::Text(text.extract()?));
    }
    if let Ok(map) = value.cast::<PyMapping>() {
        let mut entries = Vec::new();
        for item in map.items()?.iter() {
            let (key, inner): (String, Bound<'_, PyAny>) = item.extract()?;
            entries.push((key, tree_below(&inner, depth + 1)?));
        }
        return Ok(Tree::Map(entries));
    }
    if let Ok(list) = value.cast::<PySequence>() {
        let values = list.try_iter()?.map(|inner| tree_below(&inner?, depth + 1));
        return Ok(Tree::List(values.collect::<PyResult<_>>()?));
    }
    number(value)
}

fn number(value: &Bound<'_, PyAny>) -> PyResult<Tree> {
    if let Ok(whole) = value.extract::<u64>() {
        return Ok(Tree::Unsigned(whole));
    }
    if let Ok(whole) = value.extract::<i64>() {
        return Ok(Tree::Negative(whole));
    }
    let shown: String = value.repr()?.to_string().chars().take(SHOWN).collect();
    if value.is_instance_of::<PyInt>() {
        return Err(PyValueError::new_err(format!("{shown} has more than 64 bits")));
    }
    value.extract::<f64>().map(Tree::Real).map_err(|_| {
        PyTypeError::new_err(format!(
            "{shown} is no value of a design: a bool, a number, a str, None, a list or a dict is"
        ))
    })
}
