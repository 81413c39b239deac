//! Fits the model's constants to published runs, and measures how far they then are off on runs
//! that were kept out.
//!
//! The constants are those of [`model::catalogue::calibration`]. What kernels reach in
//! microbenchmarks comes first and from measured kernels alone ([`kernels`]). Runs then say how
//! much slower they are inside a step, one rate for each family, and what each framework's host
//! costs. That fit minimises the sum over runs of a loss that grows like the square of a small
//! error and like a large error itself, so that a few runs that the model can't describe don't bend
//! it; a source with n runs counts like n^0.9 runs. It moves one constant at a time, up or down,
//! with steps that shrink: no randomness, the same runs give the same constants.

pub mod kernels;

use std::collections::BTreeSet;

use model::catalogue::accelerator::{Accelerator, AcceleratorId};
use model::catalogue::calibration::{
    AMPERE, BLACKWELL, FSDP, HOPPER, Host, InRun, Kernels, MEGATRON, MINDSPEED, ModelKind,
};
use model::ground::choice::{Choice, Framework, Timing};
use model::{Plan, estimate};

use crate::runs::Run;
use crate::{convention, expression, hardware};

/// The constants under fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Rates inside steps of the families Ampere, Hopper and Blackwell; Ascend's rates are those of
    /// steps.
    pub in_run: [InRun; 3],
    /// Host overheads of Megatron, MindSpeed and FSDP.
    pub hosts: [Host; 3],
}

/// The families, in the order of [`Constants::in_run`].
const FAMILIES: [Kernels; 3] = [AMPERE, HOPPER, BLACKWELL];

impl Constants {
    /// The constants that the model holds now.
    #[must_use]
    pub fn current() -> Self {
        Self {
            in_run: FAMILIES.map(|kernels| InRun {
                rate: kernels.in_run,
                flash_attention_2: kernels.flash_attention_2,
                fitted_on: kernels.in_run_fitted_on,
            }),
            hosts: [MEGATRON, MINDSPEED, FSDP],
        }
    }

    /// Start of every fit, so that it doesn't depend on the one before: round numbers.
    ///
    /// Long, shared steps run at about 1 / 1.2 of microbenchmarks.
    #[must_use]
    pub fn start() -> Self {
        let mut start = Self::current();
        for in_run in &mut start.in_run {
            (in_run.rate, in_run.flash_attention_2) = (1.0 / 1.2, 0.5);
        }
        for (host, dispatch_micros) in start.hosts.iter_mut().zip([40.0, 30.0, 20.0]) {
            host.dispatch_micros = dispatch_micros;
            host.launches_per_expert = 0.5;
            host.straggler_sigma = 0.003;
        }
        (start.hosts[0].sync_micros, start.hosts[2].sync_micros) = (300.0, 300.0);
        start
    }
}

/// A constant that the fit may move, and how far.
struct Free {
    name: &'static str,
    get: fn(&mut Constants, usize) -> &mut f64,
    count: usize,
    least: f64,
    most: fn(usize) -> f64,
}

static FREE: &[Free] = &[
    Free {
        name: "rate inside steps",
        get: |constants, index| &mut constants.in_run[index].rate,
        count: 3,
        least: 0.4,
        most: |_| 1.1,
    },
    Free {
        name: "dispatch",
        get: |constants, index| &mut constants.hosts[index].dispatch_micros,
        count: 3,
        least: 1.0,
        most: |_| 100.0,
    },
    Free {
        name: "read-back",
        // MindSpeed's is of the state of the software.
        get: |constants, index| &mut constants.hosts[2 * index].sync_micros,
        count: 2,
        least: 1.0,
        // The host-bound part of a layer before tuning, as Pangu Ultra MoE's follow-up reports.
        most: |_| 2_100.0,
    },
    Free {
        name: "launches per expert",
        get: |constants, _| &mut constants.hosts[0].launches_per_expert,
        count: 1,
        least: 0.01,
        most: |_| 1.0,
    },
    Free {
        name: "FlashAttention-2",
        get: |constants, index| &mut constants.in_run[index].flash_attention_2,
        count: 2,
        least: 0.1,
        most: |_| 1.0,
    },
    Free {
        name: "straggler spread",
        // MindSpeed's runs are too small to tell: it gets Megatron's.
        get: |constants, index| &mut constants.hosts[2 * index].straggler_sigma,
        count: 2,
        least: 0.001,
        most: |_| 0.05,
    },
];

/// A run that is expressed, with what the fit needs of it.
pub struct Case<'a> {
    pub(crate) run: &'a Run,
    plan: Plan,
    /// The plan with the pipeline's times from the closed form, which a fit evaluates thousands of
    /// times.
    quick: Plan,
    /// The simulated step over that of the closed form, with the constants of [`time_simulations`].
    simulated: f64,
    /// Its source.
    pub source: &'a str,
    /// The family of its accelerator.
    pub family: &'static str,
    /// The kind of its model.
    pub kind: ModelKind,
    weight: f64,
}

/// The runs that count towards the targets and are expressed; those whose devices' clock is an
/// input say nothing of their family's rate, and those of models whose layers differ are there to
/// be predicted.
#[must_use]
pub fn cases(runs: &[Run]) -> Vec<Case<'_>> {
    let mut cases = cases_where(runs, hardware::is_candidate);
    cases.retain(|case| case.kind != ModelKind::Mixed);
    weigh(&mut cases);
    cases
}

/// Runs of models whose layers differ, which no constant is fitted on.
#[must_use]
pub fn mixed_runs(runs: &[Run]) -> Vec<Case<'_>> {
    let mut cases = cases_where(runs, hardware::is_candidate);
    cases.retain(|case| case.kind == ModelKind::Mixed);
    cases
}

/// Whether the clock of a run's devices is an input.
pub(crate) fn has_own_clock(plan: &Plan) -> bool {
    plan.design().kernel.sustained_clock.to_bits() != 1.0_f64.to_bits()
}

/// Whole training runs with a layout of their own, which no constant is fitted on.
#[must_use]
pub fn whole_runs(runs: &[Run]) -> Vec<Case<'_>> {
    cases_where(runs, |run| {
        let has_recipe = || {
            let assumed = expression::for_run(run).map(|it| it.assumed).unwrap_or_default();
            assumed.iter().any(|words| words.starts_with(expression::OF_RECIPE))
        };
        run.kind == "production_run" && (run.tier == "A" || has_recipe())
    })
}

fn cases_where(runs: &[Run], keep: fn(&Run) -> bool) -> Vec<Case<'_>> {
    runs.iter()
        .filter(|run| keep(run))
        .filter_map(|run| {
            let plan = expression::for_run(run).ok()?.plan;
            convention::compare(run, &plan, &estimate(&plan))?;
            if has_own_clock(&plan) {
                return None;
            }
            let quick = quick(&plan);
            let design = plan.design();
            Some(Case {
                run,
                quick,
                simulated: 1.0,
                source: &run.source_id,
                family: design.cluster.accelerator.row().kernels.family,
                kind: plan.model_kind(),
                weight: 1.0,
                plan,
            })
        })
        .collect()
}

/// Gives each case the weight of its source's many.
fn weigh(cases: &mut [Case<'_>]) {
    let sources: Vec<String> = cases.iter().map(|case| case.source.to_owned()).collect();
    for case in cases {
        let rows = sources.iter().filter(|source| *source == case.source).count();
        case.weight = (rows as f64).powf(-0.1);
    }
}

/// The plan timed by its closed form. A schedule without one keeps its simulation.
fn quick(plan: &Plan) -> Plan {
    let mut design = plan.design().clone();
    design.schedule.timing = Timing::ClosedForm;
    Plan::new(&design).unwrap_or_else(|_| plan.clone())
}

/// Tells each case how much longer than its closed form its simulated step is with these constants.
pub fn time_simulations(cases: &mut [Case<'_>], constants: &Constants) {
    for case in cases {
        let [simulated, closed] = [&case.plan, &case.quick].map(|plan| {
            let (row, host) = constants.machine_for(plan);
            estimate(&plan.clone().with_constants(row, host)).metrics.step_time.get()
        });
        case.simulated = simulated / closed;
    }
}

impl Case<'_> {
    /// Its design.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The framework whose overheads count.
    #[must_use]
    pub fn framework(&self) -> &'static str {
        self.plan.design().kernel.framework.name()
    }

    /// The error of the step time with the model's own constants, on an accelerator that `change`
    /// makes another one: what a wrong constant does to the predictions.
    #[must_use]
    pub fn time_error_on(&self, change: fn(&mut Accelerator)) -> f64 {
        let (mut row, host) = Constants::current().machine_for(&self.plan);
        change(&mut row);
        let plan = self.plan.clone().with_constants(row, host);
        let comparison = convention::compare(self.run, &plan, &estimate(&plan));
        comparison.map_or(0.0, |comparison| comparison.time_error)
    }
}

impl Constants {
    /// Share of a family's attention that FlashAttention-2 reaches.
    ///
    /// It is written in the instructions of Ampere, which run as fast on a core of Blackwell as on
    /// one of Hopper: one source alone has used it on Blackwell, and says no more.
    #[must_use]
    pub fn flash_attention_2(&self, family: usize) -> f64 {
        let own = |family: usize| self.in_run[family].flash_attention_2;
        if family < 2 {
            return own(family);
        }
        let rate = |part: AcceleratorId| {
            let row = part.row();
            let cores = f64::from(row.num_cores);
            row.bf16_tflops.unwrap_or(row.fp16_tflops) * row.kernels.attention_forward / cores
        };
        // Clocks of 1.98 and 1.85 GHz.
        own(1) * rate(AcceleratorId::H100Sxm80gb) / rate(AcceleratorId::B200) * (1.85 / 1.98)
    }

    /// The accelerator and host of a plan with these constants.
    fn machine_for(&self, plan: &Plan) -> (Accelerator, Host) {
        let mut row = *plan.design().cluster.accelerator.row();
        let family = FAMILIES.iter().position(|set| set.family == row.kernels.family);
        if let Some(family) = family {
            row.kernels.in_run = self.in_run[family].rate;
            row.kernels.flash_attention_2 = self.flash_attention_2(family);
        }
        let host = match plan.design().kernel.framework {
            Framework::Mindspeed => self.hosts[1],
            Framework::Fsdp => self.hosts[2],
            Framework::Megatron | Framework::Deepspeed | Framework::Ideal => self.hosts[0],
        };
        (row, host)
    }

    /// The error of a run's step time with these constants.
    #[must_use]
    pub fn time_error(&self, case: &Case<'_>) -> f64 {
        let (row, host) = self.machine_for(&case.plan);
        let plan = case.plan.clone().with_constants(row, host);
        let comparison = convention::compare(case.run, &plan, &estimate(&plan));
        comparison.map_or(0.0, |comparison| comparison.time_error)
    }

    /// Error of the step time from the closed form, which moves with the constants as the
    /// simulation's does.
    fn quick_error(&self, case: &Case<'_>) -> f64 {
        let (row, host) = self.machine_for(&case.quick);
        let plan = case.quick.clone().with_constants(row, host);
        let comparison = convention::compare(case.run, &plan, &estimate(&plan));
        comparison.map_or(0.0, |comparison| (1.0 + comparison.time_error) * case.simulated - 1.0)
    }

    fn loss(&self, cases: &[&Case<'_>]) -> f64 {
        let runs: f64 =
            cases.iter().map(|case| case.weight * cost(1.0 + self.quick_error(case))).sum();
        let common = self.in_run.iter().map(|it| it.rate.ln()).sum::<f64>() / 3.0;
        let apart: f64 = self.in_run.iter().map(|it| cost(it.rate / common.exp())).sum();
        runs + RUNS_ALIKE * apart
    }
}

/// Cost of a family's rate that is off its maker's common one, in runs that are as far off: one
/// maker's parts lose about the same inside steps.
const RUNS_ALIKE: f64 = 20.0;

/// Cost of a ratio: its logarithm, squared up to a tenth, from there on linear.
fn cost(ratio: f64) -> f64 {
    let off = ratio.ln() / 0.1;
    (1.0 + off * off).sqrt() - 1.0
}

/// Fitted constants that are at a bound: something else is missing there.
#[must_use]
pub fn at_bounds(constants: &Constants) -> Vec<String> {
    let mut constants = constants.clone();
    let mut found = vec![];
    for free in FREE {
        for index in 0..free.count {
            let value = *(free.get)(&mut constants, index);
            if value <= free.least * 1.001 || value >= (free.most)(index) / 1.001 {
                found.push(format!("{} {index}: {value}", free.name));
            }
        }
    }
    found
}

/// The constants that fit these runs best, from a start; the cases are settled.
#[must_use]
pub fn fit(cases: &[&Case<'_>], start: &Constants, rounds: usize) -> Constants {
    let mut best = start.clone();
    for free in FREE {
        for index in 0..free.count {
            let value = (free.get)(&mut best, index);
            *value = value.clamp(free.least, (free.most)(index));
        }
    }
    best.hosts[1].straggler_sigma = best.hosts[0].straggler_sigma;
    let mut loss = best.loss(cases);
    let mut step: f64 = 1.25;
    for _ in 0..rounds {
        let before = loss;
        for free in FREE {
            for index in 0..free.count {
                for factor in [step, 1.0 / step] {
                    let mut next = best.clone();
                    let value = (free.get)(&mut next, index);
                    *value = (*value * factor).clamp(free.least, (free.most)(index));
                    next.hosts[1].straggler_sigma = next.hosts[0].straggler_sigma;
                    let tried = next.loss(cases);
                    if tried < loss {
                        (best, loss) = (next, tried);
                    }
                }
            }
        }
        if before - loss < 1e-3 * before {
            step = step.sqrt();
        }
    }
    best
}

/// Errors of each source's runs with constants that were fitted without that source.
#[must_use]
pub fn held_out<'a>(cases: &'a [Case<'a>], start: &Constants) -> Vec<(&'a Case<'a>, f64)> {
    let sources: BTreeSet<&str> = cases.iter().map(|case| case.source).collect();
    let mut errors = Vec::with_capacity(cases.len());
    for source in sources {
        let (kept, others): (Vec<&Case<'_>>, Vec<&Case<'_>>) =
            cases.iter().partition(|case| case.source == source);
        let constants = fit(&others, start, 16);
        errors.extend(kept.into_iter().map(|case| (case, constants.time_error(case))));
    }
    errors
}

/// The name of a framework whose host constants have this index.
#[must_use]
pub fn framework(index: usize) -> &'static str {
    [Framework::Megatron, Framework::Mindspeed, Framework::Fsdp]
        .get(index)
        .map_or("", |framework| framework.name())
}

/// The family of accelerators whose constants have this name.
#[must_use]
pub fn family(name: &str) -> &'static str {
    let index = ["AMPERE", "HOPPER", "BLACKWELL"].iter().position(|known| *known == name);
    index.map_or("", |index| FAMILIES[index].family)
}
