//! Reports of the crate `validation` with where they come from.

use model::design::file::Tree;
use present::words::provenance::Provenance;
use reports::typed::Said;
use schemars::JsonSchema;
use serde::Serialize;

use crate::numbers::tree;

/// A report, and behind it where it comes from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "{R}")]
pub struct WithProvenance<R> {
    /// The report.
    #[serde(flatten)]
    pub report: R,
    #[schemars(with = "reports::provenance::Provenance")]
    provenance: Tree,
}

impl<R> WithProvenance<R> {
    /// A report from here.
    pub fn new(report: R, from: &Provenance) -> Self {
        Self { report, provenance: from.tree() }
    }
}

impl<R: Serialize> Said for WithProvenance<R> {
    fn said(self) -> Tree {
        tree(&self)
    }
}
