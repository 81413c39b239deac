//! A measured run, and its distance to a plan.

use crate::catalogue::accelerator::AcceleratorId;
use crate::ground::choice::{Framework, Precision};
use crate::training::plan::Plan;

/// A measured run, by what makes runs alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// The run's id in the table of published runs.
    pub id: &'static str,
    /// The model's name as published.
    pub model: &'static str,
    /// The accelerator.
    pub accelerator: AcceleratorId,
    /// Devices.
    pub devices: u32,
    /// Parameters that a token meets, in billions.
    pub active_billions: f64,
    /// All parameters, in billions.
    pub total_billions: f64,
    /// Tokens of a sequence.
    pub seq_length: u32,
    /// Number format of the matrix products.
    pub precision: Precision,
    /// Framework.
    pub framework: Framework,
    /// ln(measured / predicted) of the step time, under constants that were fitted without the
    /// run's source; whole training runs are in no fit.
    pub log_ratio: f64,
}

impl Anchor {
    /// One of the table: its name, its part, devices and sequence, active and all parameters in
    /// billions, number format and framework, and its error.
    pub(super) const fn new(
        [id, model]: [&'static str; 2],
        accelerator: AcceleratorId,
        [devices, seq_length]: [u32; 2],
        [active_billions, total_billions]: [f64; 2],
        (precision, framework): (Precision, Framework),
        log_ratio: f64,
    ) -> Self {
        Self {
            id,
            model,
            accelerator,
            devices,
            active_billions,
            total_billions,
            seq_length,
            precision,
            framework,
            log_ratio,
        }
    }

    /// Relative error of the predicted speed: predicted / measured - 1.
    #[must_use]
    pub fn speed_error(&self) -> f64 {
        libm::expm1(self.log_ratio)
    }

    /// The distance to a plan.
    ///
    /// A judgement that orders runs and enters no number: the root of the sum of squares of what
    /// differs. One unit are factors of four in active or in all parameters, of eight in devices,
    /// of four in the length of a sequence, other experts or none, another number format, another
    /// framework; another part of the same family is one, another family three.
    #[must_use]
    pub fn distance(&self, plan: &Plan) -> f64 {
        let folds = |one: f64, other: f64, unit: f64| libm::log(one / other) / libm::log(unit);
        let apart = |differs: bool| f64::from(u8::from(differs));
        let billions = |count: u128| count as f64 / 1e9;
        let kernels = |id: AcceleratorId| id.row().kernels.family;
        let part = plan.design().cluster.accelerator;
        let part = if part == self.accelerator {
            0.0
        } else if kernels(part) == kernels(self.accelerator) {
            1.0
        } else {
            3.0
        };
        let has_experts = self.total_billions > 1.2 * self.active_billions;
        let differences = [
            folds(billions(plan.params_active()), self.active_billions, 4.0),
            folds(billions(plan.params_total()), self.total_billions, 4.0),
            folds(plan.deployment.ranks.world as f64, f64::from(self.devices), 8.0),
            folds(plan.batch.seq as f64, f64::from(self.seq_length), 4.0),
            apart(has_experts != plan.has_experts()),
            apart(plan.deployment.precision != self.precision),
            apart(plan.deployment.kernel.framework != self.framework),
            part,
        ];
        libm::sqrt(differences.iter().map(|part| part * part).sum())
    }
}
