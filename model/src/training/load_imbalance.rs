//! Load imbalance in a plan and in its estimate.
//!
//! Every MoE layer waits for the fullest rank of each expert-parallel group, in its experts and in
//! its exchange. An estimate under load imbalance is therefore two: one with the rows of the
//! fullest rank, whose time and memory count, and one in which every rank gets the same, which says
//! where the time of the mean rank goes. What lies between them is the imbalance.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::design::violation::Violation;
use crate::design::{Design, KnobId};
use crate::ground::choice::{AuxLoss, Balance, ModelPart, Planner, ShardingStrategy};
use crate::ground::units::{Bytes, Seconds};
use crate::routing::aux_loss::Scope;
use crate::routing::{Effect, Inputs, Trace};
use crate::rules;
use crate::training::estimate::{Estimate, Metrics, StageMemory, StepPart, StepTime};
use crate::training::memory::Occupancy;
use crate::training::plan::Plan;
use crate::training::shapes::Shapes;

/// The rule that a plan of traced loads is made from the trace.
const TRACE_RULE: &str = "trace_is_at_hand";

impl Plan {
    /// The plan of a design whose routing has these step loads, computed before: by
    /// [`Effect::of`], by [`Effect::traced`], or for another design with the same routing, experts
    /// and EP. What its own micro-batches add is computed here.
    ///
    /// # Errors
    /// Every rule that the design breaks, but not that its trace isn't at hand.
    pub fn with_effect(design: &Design, effect: Effect) -> Result<Self, Vec<Violation>> {
        let violations = if design.routing.balance == Balance::Trace {
            let mut untraced = design.clone();
            untraced.routing.balance = Balance::Uniform;
            rules::violations(&untraced)
        } else {
            rules::violations(design)
        };
        if !violations.is_empty() {
            return Err(violations);
        }
        let effect = effect.in_micro_batches(design);
        Ok(Self::checked(Arc::new(design.clone()), effect, &mut Shapes::default()))
    }

    /// The plan of a design with recorded loads.
    ///
    /// # Errors
    /// Every rule that the design breaks, or that the trace isn't the one which it names or is of
    /// other experts.
    pub fn with_trace(design: &Design, trace: &Trace) -> Result<Self, Vec<Violation>> {
        if design.routing.balance != Balance::Trace {
            return Self::new(design);
        }
        Self::admitting(design, trace)?;
        let effect = Effect::traced(design, trace);
        Ok(Self::checked(Arc::new(design.clone()), effect, &mut Shapes::default()))
    }

    /// The plan of a design that a trace suits, without what that does to it.
    pub(crate) fn admitting(design: &Design, trace: &Trace) -> Result<Self, Vec<Violation>> {
        let wrong = |message| {
            let knobs = &[KnobId::trace, KnobId::num_moe_experts];
            Err(vec![Violation { rule: TRACE_RULE, knobs, message, nearest: Vec::new() }])
        };
        let plan = Self::with_effect(design, Effect::UNIFORM)?;
        if trace.experts() as u64 != plan.experts() {
            let (found, experts) = (trace.experts(), plan.experts());
            return wrong(format!("the trace has {found} experts, the model has {experts}"));
        }
        if let Some(name) = &design.routing.trace
            && *name != trace.content_hash()
        {
            return wrong(format!("the trace at hand is {}, not {name}", trace.content_hash()));
        }
        Ok(plan)
    }

    /// The plan of another design with this one's uneven loads, where nothing that they depend on
    /// differs; else its own.
    ///
    /// # Errors
    /// Every rule that the design breaks.
    pub fn variant(&self, design: &Design) -> Result<Self, Vec<Violation>> {
        if Inputs::new(design) == Inputs::new(self.design()) {
            Self::with_effect(design, self.effect)
        } else {
            Self::new(design)
        }
    }

    /// Effect of the load imbalance on this plan.
    #[must_use]
    pub const fn effect(&self) -> &Effect {
        &self.effect
    }

    /// Do all ranks of an expert-parallel group get the same?
    pub(crate) fn is_even(&self) -> bool {
        self.effect == self.effect.even()
    }

    /// The plan in which every rank gets the same of what a capacity lets through.
    pub(crate) fn evened(&self) -> Self {
        let mut even = self.clone();
        even.effect = self.effect.even();
        even
    }

    /// Result of `say` for the plan while every rank gets the same; `None` where each does anyway.
    pub(crate) fn while_even<T>(&mut self, say: impl FnOnce(&Self) -> T) -> Option<T> {
        if self.is_even() {
            return None;
        }
        let own = self.effect;
        self.effect = own.even();
        let said = say(self);
        self.effect = own;
        Some(said)
    }

    /// Tokens that the auxiliary loss looks at, and what it exchanges.
    #[must_use]
    pub fn aux_loss_scope(&self) -> Scope {
        let moe = self.architecture.moe();
        self.scope_of(moe.map_or(AuxLoss::None, |moe| moe.aux_loss))
    }

    /// Tokens that any auxiliary loss would look at, to compare them.
    #[must_use]
    pub fn scope_of(&self, loss: AuxLoss) -> Scope {
        let moe = self.architecture.moe();
        moe.map_or_else(Scope::default, |moe| moe.scope(loss, &self.deployment, &self.rows()))
    }

    /// Routed experts of a layer; zero in a dense model.
    pub(crate) fn experts(&self) -> u64 {
        self.architecture.moe().map_or(0, |moe| moe.experts)
    }

    /// Bytes that a rank sends to move one expert of one layer: weights whole, main copy and
    /// moments as they are shared out.
    ///
    /// # Source
    /// MindSpeed, `moe_expert_load_balance_placeemnt.md`.
    pub(crate) fn moved_expert_bytes(&self) -> Bytes {
        let width = self.architecture.moe().map_or(0, |moe| moe.width);
        let matrices = self.deployment.backbone.mlp_matrix_params(width) as f64;
        let params = matrices / self.deployment.ranks.etp as f64;
        let is_shared = self.sharding.shards(ShardingStrategy::Optim);
        let shards = if is_shared { self.sharding.expert_ranks } else { 1.0 };
        let is_trained = self.deployment.tuning.trains(ModelPart::Experts);
        let states = if is_trained { self.optimizer.per_param / shards } else { 0.0 };
        Bytes::new(params * (self.deployment.element_bytes() + states))
    }

    /// Time of a step for moving experts, its mean over the steps: the layers of a stage move
    /// theirs one after the other, the stages at once.
    pub(crate) fn migration_time(&self) -> Seconds {
        if self.effect.moved <= 0.0 {
            return Seconds::ZERO;
        }
        let layers = (self.architecture.moe_layers() + self.architecture.mtp.layers) as f64
            / self.deployment.ranks.pp as f64;
        let bytes = self.effect.moved * layers * self.moved_expert_bytes().get();
        Seconds::new(self.deployment.expert_exchange_seconds(bytes))
    }
}

/// Step on the fullest rank: its time, peak memory and fit, and the imbalance of its loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fullest {
    pub(crate) time: Seconds,
    pub(crate) memory_peak: Bytes,
    pub(crate) fits: bool,
    pub(crate) fit_probability: f64,
    /// Time of a step for moving experts.
    pub(crate) migration: Seconds,
    pub(crate) imbalance: f64,
}

/// Makes the step and the metrics of the mean rank those under load imbalance: with what the
/// fullest rank takes longer, with what moving experts takes, and holds.
pub(crate) fn wait_for(fullest: &Fullest, step: &mut StepTime, metrics: &mut Metrics) {
    let even_time = step.total();
    let waited = Seconds::new((fullest.time.get() - even_time.get()).max(0.0));
    step.parts[StepPart::Imbalance as usize] = waited;
    step.parts[StepPart::Migration as usize] = fullest.migration;
    let total = step.total();
    let share = even_time / total;
    metrics.step_time = total;
    metrics.mfu *= share;
    metrics.hfu *= share;
    metrics.tokens_per_second *= share;
    metrics.tokens_per_second_per_device *= share;
    metrics.model_tflops_per_device *= share;
    metrics.memory_peak = metrics.memory_peak.max(fullest.memory_peak);
    metrics.fits = metrics.fits && fullest.fits;
    metrics.fit_probability = metrics.fit_probability.min(fullest.fit_probability);
    metrics.imbalance_ratio = fullest.imbalance;
}

/// Memory of a stage under load imbalance: of the fullest rank, except where its longer tasks come
/// to be simulated in an order that holds a little less than the mean rank's.
pub(crate) fn fuller(own: StageMemory, even: StageMemory) -> StageMemory {
    if own.peak() < even.peak() { even } else { own }
}

/// The estimate under load imbalance: that of the mean rank with the step of the fullest one, and
/// with what each of its stages holds.
pub(crate) fn combine(
    fullest: &Fullest,
    stages: impl Iterator<Item = Occupancy>,
    mut estimate: Estimate,
) -> Estimate {
    wait_for(fullest, &mut estimate.step, &mut estimate.metrics);
    for (stage, own) in estimate.stages.iter_mut().zip(stages) {
        if fuller(own.device, stage.memory) == own.device {
            stage.memory = own.device;
            stage.host_memory = own.host;
            stage.peak_in_flight = own.in_flight;
            stage.fullest = own.fullest;
        }
    }
    estimate
}

/// Warning for the reader about a plan's loads.
pub(crate) fn warning(plan: &Plan) -> Option<String> {
    let routing = &plan.design().routing;
    match routing.balance {
        _ if !plan.has_experts() => None,
        Balance::Uniform if routing.planner != Planner::None => Some(String::from(
            "every expert is taken to get the same load: the planner has nothing to do",
        )),
        Balance::Uniform => Some(String::from("every expert is taken to get the same load")),
        Balance::Skewed => Some(String::from(
            "loads are generated; how micro-batches vary around their step rests on one measured \
             run",
        )),
        Balance::Trace => Some(String::from(
            "how micro-batches vary around the loads that the trace gives their step rests on one \
             measured run",
        )),
    }
}
