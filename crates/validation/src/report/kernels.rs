//! What validation says of single kernels: measured times beside the model's.

use serde::{Deserialize, Serialize};

use super::Target;

/// A kernel's measured time beside the model's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "MeasuredKernel"))]
pub struct Measured {
    /// The table that it is from.
    pub table: String,
    /// `gemm`, `attention`, `mla`, `grouped`, `cast`, `collective` or `deepep`.
    pub kind: String,
    /// The accelerator's name, such as `h100-sxm-80gb`.
    pub part: String,
    /// The number format of its operands: `bf16`, `fp8`, `fp8_block`, `nvfp4`.
    pub precision: String,
    /// Its sizes, in words; the same shape has the same words on every part.
    pub shape: String,
    /// Measured, in microseconds.
    pub measured_us: f64,
    /// Predicted with the levels of microbenchmarks, in microseconds.
    pub predicted_us: f64,
    /// Whether it is of the half that no constant was fitted on.
    pub is_held_out: bool,
}

/// Kernels of one kind on one part at one precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelGroup {
    /// The kind, as in [`Measured::kind`].
    pub kind: String,
    /// The accelerator's name.
    pub part: String,
    /// The precision.
    pub precision: String,
    /// Shapes compared, both halves.
    pub shapes: usize,
    /// Median of measured over predicted, both halves: above one the model is too fast.
    pub level: f64,
    /// Shapes held out.
    pub held_out: usize,
    /// Median of the absolute error on the shapes held out, after one factor for the kind on all
    /// parts of the family.
    pub median: f64,
    /// 90th percentile of the same.
    pub p90: f64,
}

/// Matrix products of one part beside those of another: the median over large shapes that both
/// have of how many times as fast the first is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartRatio {
    /// The two parts' names.
    pub parts: [String; 2],
    /// The precision.
    pub precision: String,
    /// Shapes compared.
    pub shapes: usize,
    /// Measured.
    pub measured: f64,
    /// Predicted.
    pub predicted: f64,
}

/// Every measured kernel with its prediction, and how well they agree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelValidation {
    /// One row for each kernel.
    pub measured: Vec<Measured>,
    /// Groups by kind, part and precision.
    pub groups: Vec<KernelGroup>,
    /// Parts of a family beside each other.
    pub ratios: Vec<PartRatio>,
    /// Targets, each with the value reached.
    pub targets: Vec<Target>,
    /// The version of the model that predicted.
    pub model_version: String,
}
