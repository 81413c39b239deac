//! A measured run as a fit asks for it.

use core::ops::Deref;

use model::design::{Design, KnobId};
use model::ground::choice::Timing;
use model::training::estimate::Estimate;
use model::{Plan, design::link, estimate};

use super::constant::{CONSTANTS, COUNT};
use crate::convention::{self, Comparison};
use crate::refusal::Refusal;
use crate::runs::Run;
use crate::{expression, score};

/// Runs of one fit, at most.
pub const MAX_RUNS: usize = 100;

/// Values of the constants, each in the unit of its knob; what is none stays as the design has it.
pub(crate) type Values = [Option<f64>; COUNT];

/// A run with its design.
#[derive(Clone, Debug)]
pub struct Case {
    /// The measured run.
    pub run: Run,
    /// Assumptions made.
    pub assumed: Vec<String>,
    /// Relative spread of single steps around their median; zero where the run is one number.
    pub spread: f64,
    /// Number of steps behind the measured value; zero if unknown.
    pub steps: usize,
    /// Constants that a profile has measured.
    known: Values,
    plan: Plan,
    quick: Plan,
}

/// A run that can't be predicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its id.
    pub id: String,
    /// Reason.
    pub reason: String,
}

/// Runs as cases, and those that can't be predicted with the reason; each knob of `settings` is set
/// in all of them.
#[must_use]
pub fn cases(runs: &[Run], settings: &[(KnobId, String)]) -> (Vec<Case>, Vec<Refused>) {
    let (mut cases, mut refused) = (vec![], vec![]);
    for run in runs {
        let made = expression::contradicted(runs, run)
            .and_then(|()| score::expressed(run))
            .map_err(|refusal: Refusal| refusal.to_string())
            .and_then(|expressed| {
                let design = expressed.plan.design().clone();
                Case::new(run.clone(), design, expressed.assumed, settings)
            });
        match made {
            Ok(case) => cases.push(case),
            Err(reason) => refused.push(Refused { id: run.id.clone(), reason }),
        }
    }
    (cases, refused)
}

impl Case {
    /// A run of this design.
    ///
    /// # Errors
    /// A setting that its knob doesn't take, a design that breaks rules, or a run without a metric
    /// of its step.
    pub fn new(
        run: Run,
        mut design: Design,
        assumed: Vec<String>,
        settings: &[(KnobId, String)],
    ) -> Result<Self, String> {
        for (knob, value) in settings {
            design.set_text(*knob, value).map_err(|error| error.to_string())?;
        }
        let plan = Plan::new(&design).map_err(|violations| {
            let messages = violations.iter().map(|violation| violation.message.deref());
            format!("the layout breaks a rule: {}", messages.collect::<Vec<_>>().join("; "))
        })?;
        if convention::compare(&run, &plan, &estimate(&plan)).is_none() {
            return Err("it has no step time, throughput, TFLOPS or MFU".to_owned());
        }
        design.schedule.timing = Timing::ClosedForm;
        let quick = Plan::new(&design).unwrap_or_else(|_| plan.clone());
        Ok(Self { run, assumed, spread: 0.0, steps: 0, known: [None; COUNT], plan, quick })
    }

    /// Its design.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Key of the design: equal for equal designs.
    pub(crate) fn key(&self) -> String {
        link::encode(self.plan.design())
    }

    /// Takes the constants that a profile has measured as known, except those that the design sets.
    pub(crate) fn know(&mut self, known: &Values) {
        for (index, value) in known.iter().enumerate() {
            self.known[index] = value.filter(|_| !self.design_sets(index));
        }
    }

    /// Whether this constant is given, by the design itself or by a profile.
    pub(crate) fn sets(&self, constant: usize) -> bool {
        self.known[constant].is_some() || self.design_sets(constant)
    }

    fn design_sets(&self, constant: usize) -> bool {
        (CONSTANTS[constant].own)(&mut self.plan.design().kernel.clone()).is_some()
    }

    /// The design with these values.
    pub(crate) fn design(plan: &Plan, values: &Values) -> Design {
        let mut design = plan.design().clone();
        for (constant, value) in CONSTANTS.iter().zip(values) {
            if value.is_some() {
                *(constant.own)(&mut design.kernel) = *value;
            }
        }
        design
    }

    /// The values with what is known beside them.
    fn all(&self, values: &Values) -> Values {
        core::array::from_fn(|index| values[index].or(self.known[index]))
    }

    /// The prediction with nothing but what the design sets, with its estimate.
    pub(crate) fn bare(&self) -> Option<(Comparison, Estimate)> {
        let estimate = estimate(&self.plan);
        Some((convention::compare(&self.run, &self.plan, &estimate)?, estimate))
    }

    /// The prediction with these values, with its estimate.
    pub(crate) fn predicted(&self, values: &Values) -> Option<(Comparison, Estimate)> {
        let plan = Plan::new(&Self::design(&self.plan, &self.all(values))).ok()?;
        let estimate = estimate(&plan);
        Some((convention::compare(&self.run, &plan, &estimate)?, estimate))
    }

    /// ln(predicted / measured) of the step time with these values.
    pub(crate) fn log_ratio(&self, values: &Values) -> f64 {
        let found = self.predicted(values);
        found.map_or(0.0, |(comparison, _)| (1.0 + comparison.time_error).ln())
    }

    /// ln of the closed form's step time with these values: moves as the simulation's does.
    pub(crate) fn quick_log_time(&self, values: &Values) -> f64 {
        let plan = Plan::new(&Self::design(&self.quick, &self.all(values))).ok();
        plan.map_or(0.0, |plan| estimate(&plan).metrics.step_time.get().ln())
    }
}
