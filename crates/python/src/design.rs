//! A design in Python: it never changes, so that it can be a key and be shared by threads.

use std::hash::{DefaultHasher, Hash, Hasher};

use interchange::Format;
use model::design::KnobId;
use model::design::file::{self, Extent, Tree, json};
use model::ground::knob::{KnobError, Value};
use model::serving::ServingPlan;
use model::{Plan, design::link};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyType};

use crate::python_tree::{from_python, to_python};
use crate::refusal::{illegal, invalid, refused};

/// A design: every knob of model, cluster, parallelism, schedule, memory and routing.
#[pyclass(frozen, eq, module = "moescape")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Design {
    pub(crate) inner: model::design::Design,
}

impl From<model::design::Design> for Design {
    fn from(inner: model::design::Design) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Design {
    /// The design of a preset, unchanged; `moescape.presets()` lists them.
    #[classmethod]
    fn from_preset(class: &Bound<'_, PyType>, preset: &str) -> PyResult<Self> {
        let design = model::design::Design::from_preset(preset);
        design.map(Self::from).map_err(|error| invalid(class.py(), &[error]))
    }

    /// The design of a design file, JSON.
    #[classmethod]
    fn from_json(class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        json::read(text).map(Self::from).map_err(|errors| invalid(class.py(), &errors))
    }

    /// The design of a design file, TOML.
    #[classmethod]
    fn from_toml(class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        let design = interchange::read_design(Format::Design, text);
        design.map(Self::from).map_err(|faults| {
            let error = |fault: &interchange::Fault| KnobError {
                rule: "not_a_design",
                knob: fault.key.clone(),
                detail: fault.to_string(),
                nearest: vec![],
            };
            invalid(class.py(), &faults.iter().map(error).collect::<Vec<_>>())
        })
    }

    /// The design of a mapping with the keys of a design file.
    #[classmethod]
    fn from_dict(class: &Bound<'_, PyType>, content: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let tree = from_python(content.as_any())?;
        file::read(&tree).map(Self::from).map_err(|errors| invalid(class.py(), &errors))
    }

    /// The design of a link: an address, or what stands behind its question mark.
    #[classmethod]
    fn from_link(class: &Bound<'_, PyType>, link: &str) -> PyResult<Self> {
        link::of_address(link).map(Self::from).map_err(|errors| invalid(class.py(), &errors))
    }

    /// The same design with these knobs set, by id or short name.
    #[pyo3(signature = (knobs = None, /, **named))]
    fn set(
        &self,
        py: Python<'_>,
        knobs: Option<&Bound<'_, PyMapping>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut design = self.inner.clone();
        let mut errors = Vec::new();
        let named = named.map(|named| named.as_mapping());
        for settings in [knobs, named].into_iter().flatten() {
            for item in settings.items()?.iter() {
                let (name, value): (String, Bound<'_, PyAny>) = item.extract()?;
                let value = from_python(&value)?;
                errors.extend(set_one(&mut design, &name, &value).err());
            }
        }
        if errors.is_empty() { Ok(design.into()) } else { Err(invalid(py, &errors)) }
    }

    /// The value of a knob, by id or short name; `None` where it is unset.
    fn __getitem__<'py>(&self, py: Python<'py>, knob: &str) -> PyResult<Bound<'py, PyAny>> {
        let id = KnobId::find(knob).map_err(|error| invalid(py, &[error]))?;
        let value = Some(self.inner.get(id)).filter(|value| *value != Value::None);
        to_python(py, &Tree::from(value.as_ref().map(Tree::from)))
    }

    /// The id of the preset that it starts from.
    #[getter]
    fn preset(&self) -> &'static str {
        self.inner.preset.id
    }

    /// The knobs that differ from the preset, with their values.
    fn changed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let changed = self.inner.changed().into_iter();
        to_python(py, &Tree::map(changed.map(|id| (id.id(), Tree::from(&self.inner.get(id))))))
    }

    /// Every rule that it breaks in training or serving; none of a legal design.
    #[pyo3(signature = (regime = "training"))]
    fn violations<'py>(&self, py: Python<'py>, regime: &str) -> PyResult<Bound<'py, PyAny>> {
        let broken = match regime {
            "training" => Plan::new(&self.inner).err(),
            "serving" => ServingPlan::new(&self.inner).err(),
            _ => {
                let detail = format!("a regime is `training` or `serving`, not `{regime}`");
                return Err(refused(py, "unknown_choice", detail));
            }
        };
        illegal(py, &broken.unwrap_or_default()).value(py).getattr("violations")
    }

    /// Its link below a server's address.
    #[pyo3(signature = (base = ""))]
    fn link(&self, base: &str) -> String {
        format!("{}/?{}", base.trim_end_matches('/'), link::encode(&self.inner))
    }

    /// The design file: what differs from the preset, or every knob.
    #[pyo3(signature = (*, full = false))]
    fn to_json(&self, full: bool) -> String {
        json::write(&self.inner, extent(full))
    }

    /// The same as a dictionary.
    #[pyo3(signature = (*, full = false))]
    fn to_dict<'py>(&self, py: Python<'py>, full: bool) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &file::write(&self.inner, extent(full)))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        link::encode(&self.inner).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("Design.from_link({:?})", self.link(""))
    }

    /// Pickled as its link: processes exchange designs.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let class = PyType::new::<Self>(py);
        Ok((class.getattr("from_link")?, (self.link(""),)))
    }
}

const fn extent(full: bool) -> Extent {
    if full { Extent::Full } else { Extent::Changed }
}

/// Sets a knob from what stands for its value in Python.
fn set_one(design: &mut model::design::Design, name: &str, value: &Tree) -> Result<(), KnobError> {
    let knob = KnobId::find(name.trim())?;
    let text = text(value).ok_or_else(|| KnobError {
        rule: "wrong_type",
        knob: knob.id(),
        detail: format!("{} takes no dict, and no list in a list", knob.id()),
        nearest: vec![],
    })?;
    design.set_text(knob, &text)
}

/// A value as links spell it.
fn text(value: &Tree) -> Option<String> {
    Some(match value {
        Tree::Null => "none".to_owned(),
        Tree::Flag(flag) => flag.to_string(),
        Tree::Unsigned(number) => number.to_string(),
        Tree::Negative(number) => number.to_string(),
        Tree::Real(number) => number.to_string(),
        Tree::Text(text) => text.clone(),
        Tree::List(values) if values.is_empty() => "none".to_owned(),
        Tree::List(values) => {
            let is_scalar = |value: &Tree| !matches!(value, Tree::List(_) | Tree::Map(_));
            let texts = values.iter().map(|value| is_scalar(value).then(|| text(value)).flatten());
            texts.collect::<Option<Vec<_>>>()?.join(",")
        }
        Tree::Map(_) => return None,
    })
}
