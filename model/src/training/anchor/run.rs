//! A measured run, and its distance to a plan.

use alloc::boxed::Box;
use alloc::vec::Vec;

use once_cell::race::OnceBox;

use crate::catalogue::accelerator::AcceleratorId;
use crate::ground::choice::{Choice as _, Framework, Precision};
use crate::ground::decimal;
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
    /// Tokens of a sequence.
    pub seq_length: u32,
    /// Parameters that a token meets, in billions.
    pub active_billions: f64,
    /// All parameters, in billions.
    pub total_billions: f64,
    /// Number format of the matrix products.
    pub precision: Precision,
    /// Framework.
    pub framework: Framework,
    /// ln(measured / predicted) of the step time, under constants that were fitted without the
    /// run's source; whole training runs are in no fit.
    pub log_ratio: f64,
}

/// Measured runs, one of each source, model, accelerator and number format, each the one whose
/// error is in the middle of its like: the fields of [`Anchor`], in their order. Written by
/// `cargo xtask calibrate`.
static TABLE: &str = include_str!("table.tsv");

impl Anchor {
    /// The table's.
    #[must_use]
    pub fn all() -> &'static [Self] {
        static ALL: OnceBox<Vec<Anchor>> = OnceBox::new();
        ALL.get_or_init(|| Box::new(TABLE.lines().filter_map(Self::read).collect()))
    }

    /// The run of a line.
    fn read(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let mut field = || fields.next();
        Some(Self {
            id: field()?,
            model: field()?,
            accelerator: AcceleratorId::from_name(field()?)?,
            devices: field()?.parse().ok()?,
            seq_length: field()?.parse().ok()?,
            active_billions: decimal::parse(field()?)?,
            total_billions: decimal::parse(field()?)?,
            precision: Precision::from_name(field()?)?,
            framework: Framework::from_name(field()?)?,
            log_ratio: decimal::parse(field()?)?,
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_run() {
        assert_eq!(Anchor::all().len(), TABLE.lines().count());
    }
}
