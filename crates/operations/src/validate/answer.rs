//! Reports on what was measured, by its kind.

use model::design::file::Tree;
use reports::typed::Said;
use schemars::JsonSchema;
use serde::Serialize;
use validation::report::kernels::KernelValidation;
use validation::report::serving::ServingValidation;
use validation::report::{Target, Validation};

use crate::numbers::tree;
use crate::provenance::WithProvenance;

/// Report on what was measured, by its kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Validated {
    /// Runs of training.
    Training(WithProvenance<Validation>),
    /// Runs of serving.
    Serving(WithProvenance<ServingValidation>),
    /// Single kernels.
    Kernels(WithProvenance<KernelValidation>),
}

impl Said for Validated {
    fn said(self) -> Tree {
        tree(&self)
    }
}

impl Validated {
    /// What was aimed at, and what was reached.
    pub(super) fn targets(&self) -> &[Target] {
        match self {
            Self::Training(it) => &it.report.summary.targets,
            Self::Serving(it) => &it.report.targets,
            Self::Kernels(it) => &it.report.targets,
        }
    }
}
