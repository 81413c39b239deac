//! A trace at hand for one design after the other: what the next has in common with the last is
//! kept, and none of it is approximated.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::report::{
    Cadence, Report, cadences, compared, floats, is_planned, move_cost, sample, tokens,
};
use crate::design::Design;
use crate::design::violation::Violation;
use crate::ground::choice::Balance;
use crate::routing::inputs::{Inputs, Loads};
use crate::routing::{Effect, Outcome, Trace};
use crate::training::plan::Plan;

/// A trace, and what the last designs made of it.
pub struct Replay {
    trace: Arc<Trace>,
    /// Tokens of every layer's experts in the whole run.
    tokens: Vec<u64>,
    /// Loads that no planner changes, by what they depend on.
    loads: Option<(LoadsOf, Loads)>,
    /// The planner's run, by all that it depends on; where a capacity drops nothing.
    run: Option<(Inputs, Outcome)>,
    /// Effects of the intervals and triggers that are compared, by those of the first of them.
    effects: Option<(Inputs, Vec<Effect>)>,
    /// Costs of these intervals and triggers, by the first design of them.
    cadences: Option<(Design, Vec<Cadence>)>,
}

/// Devices and capacity.
type LoadsOf = (u64, Option<f64>);

impl core::fmt::Debug for Replay {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Replay").field("trace", &self.trace).finish_non_exhaustive()
    }
}

impl Replay {
    /// Takes a trace.
    #[must_use]
    pub fn new(trace: Arc<Trace>) -> Self {
        let tokens = tokens(&trace, 0..trace.steps());
        Self { trace, tokens, loads: None, run: None, effects: None, cadences: None }
    }

    /// As [`Plan::with_trace`].
    ///
    /// # Errors
    /// Every rule that the design breaks, or that the trace isn't the one which it names or is of
    /// other experts.
    pub fn plan(&mut self, design: &Design) -> Result<Plan, Vec<Violation>> {
        if design.routing.balance != Balance::Trace {
            return Plan::new(design);
        }
        Plan::admitting(design, &self.trace)?;
        let (trace, loads, outcome) = self.run(design);
        Plan::with_effect(design, Effect::of_run(design, trace, loads, outcome))
    }

    /// As [`Report::of`], for a plan of this trace.
    #[must_use]
    pub fn report(&mut self, plan: &Plan) -> Option<Report> {
        let design = plan.design();
        if design.routing.balance != Balance::Trace {
            return Report::of(plan, None);
        }
        let planner = Inputs::new(design).planner(1);
        let cost = move_cost(plan);
        let (_, loads, outcome) = self.run(design);
        let outcome = if loads.are_whole() {
            outcome.clone().at_cost(&cost)
        } else {
            planner.run(&self.trace, &cost)
        };
        let (trace, all) = (Arc::clone(&self.trace), &self.tokens);
        Report::new(Arc::clone(&trace), 1, &planner, outcome, |from| {
            let early = tokens(&trace, 0..from);
            floats(&all.iter().zip(early).map(|(all, early)| all - early).collect::<Vec<_>>())
        })
    }

    /// As [`cadences`], for a plan of this trace.
    pub fn cadences(&mut self, plan: &Plan) -> &[Cadence] {
        let design = plan.design();
        let key = compared(design).next().map(|(_, first)| first).filter(|_| is_planned(design));
        let Some(key) = key else { return &[] };
        if design.routing.balance != Balance::Trace {
            let all = cadences(plan, None);
            return &self.cadences.insert((key, all)).1;
        }
        if self.cadences.as_ref().is_none_or(|(of, _)| *of != key) {
            let effects = self.effects(&key);
            let plans =
                compared(design).zip(effects).filter_map(|((threshold, design), effect)| {
                    let plan = Plan::with_effect(&design, *effect).ok()?;
                    Some(Cadence::of(&plan, threshold))
                });
            let all = plans.collect();
            self.cadences = Some((key, all));
        }
        self.cadences.as_ref().map_or(&[], |(_, all)| all)
    }

    /// Effects of the trace on the designs that are compared with this one.
    fn effects(&mut self, design: &Design) -> &[Effect] {
        let inputs = Inputs::new(design);
        if self.effects.as_ref().is_none_or(|(of, _)| *of != inputs) {
            let all = sample(&self.trace, self.trace.steps()).map_or_else(Vec::new, |trace| {
                let loads = Loads::new(&inputs, &trace);
                let effect = |design: &Design| Effect::of_loads(design, &trace, &loads);
                compared(design).map(|(_, design)| effect(&design)).collect()
            });
            self.effects = Some((inputs, all));
        }
        self.effects.as_ref().map_or(&[], |(_, all)| all)
    }

    /// Planner's run on the trace.
    fn run(&mut self, design: &Design) -> (&Trace, &Loads, &Outcome) {
        let inputs = Inputs::new(design);
        let of = inputs.of_loads();
        let kept = self.loads.take().filter(|(kept, _)| *kept == of);
        let (_, loads) =
            self.loads.insert(kept.unwrap_or_else(|| (of, Loads::new(&inputs, &self.trace))));
        let kept = self.run.take().filter(|(kept, _)| *kept == inputs);
        let (_, outcome) = self.run.insert(kept.unwrap_or_else(|| {
            let outcome = loads.run(&self.trace, &inputs.planner(1));
            (inputs, outcome)
        }));
        (&self.trace, loads, outcome)
    }
}
