//! The grid that a search goes through: degrees of parallelism and micro-batches that rules allow,
//! and for each of them chunks, schedules and pairs.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::strategy::RECOMPUTATION;
use crate::design::{Design, KnobId, KnobSet, Layout, Parallel, Positions};
use crate::ground::choice::{Choice, Method, ShardingStrategy, Timing};
use crate::ground::knob::Value;
use crate::layer::architecture::Pattern;
use crate::layer::layout;
use crate::rules;
use crate::rules::vocabulary::{self, STRATEGY, Vocabulary, can_shard, layers_told_by};
use crate::schedule::{Form, Placement};
use crate::search::find::query::Query;
use crate::search::proposal;
use crate::training::plan::Plan;

/// The largest TP that is looked at.
const MAX_TP: u64 = 64;

/// The most stages that are looked at.
const MAX_STAGES: u64 = 256;

/// Values of a degree that are looked at, at most: of more, powers of two and three times these.
const MAX_VALUES: usize = 32;

/// The fewest tokens of a sequence that CP leaves a rank.
const MIN_CP_TOKENS: u64 = 1_024;

/// The most sequences of a micro-batch that are looked at.
const MAX_MICRO_BATCH: u64 = 256;

/// The rule that TP x PP x CP divides the world.
const WORLD_RULE: &str = "world_size_is_a_multiple_of_tp_pp_cp";

/// The rule that EP x ETP x PP does.
const EXPERT_RULE: &str = "expert_grid_divides_the_world";

/// Degrees of parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Degrees {
    pub(super) tp: u64,
    pub(super) pp: u64,
    pub(super) cp: u64,
    pub(super) ep: u64,
    pub(super) etp: u64,
}

/// Cut of the stages, schedule and overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) chunks: u64,
    pub(super) method: Method,
    /// Whether an expert exchange runs beside another micro-batch's compute.
    pub(super) pairs: bool,
    /// Whether the all-to-all goes through the node first.
    pub(super) hierarchical: bool,
}

/// A place of the grid: degrees with a micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) degrees: Degrees,
    pub(super) micro_batch: u64,
}

/// Cut of the layers into chunks, as the framework's options express it; without either it is an
/// even cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cut {
    layout: Option<Layout>,
    noops: Positions,
}

impl Cut {
    pub(super) fn apply(&self, parallel: &mut Parallel) {
        parallel.pipeline_model_parallel_layout.clone_from(&self.layout);
        parallel.noop_layers.clone_from(&self.noops);
    }
}

/// Space of a search, with everything that all of its designs share.
#[derive(Debug)]
pub(super) struct Space {
    /// The design with what is freed at its neutral value, timed by closed forms.
    pub(super) base: Design,
    pub(super) free: KnobSet,
    /// The design at hand.
    pub(super) at_hand: Design,
    /// Strategy values that the framework's arguments can express.
    pub(super) words: Vocabulary,
    /// The cut of this many stages with this many chunks each.
    cuts: BTreeMap<(u64, u64, bool), Cut>,
}

impl Space {
    pub(super) fn new(query: &Query) -> Self {
        let free = freed(&query.keep);
        Self {
            base: neutral(&query.design, &free),
            free,
            at_hand: query.design.clone(),
            words: query.words(),
            cuts: BTreeMap::new(),
        }
    }

    /// Space with the layout of every place.
    pub(super) fn laid_out(query: &Query) -> Self {
        let mut space = Self::new(query);
        space.lay_out(None);
        let sizes = space.micro_batches();
        let first = |degrees| Some(Place { degrees, micro_batch: *sizes.first()? });
        let places: Vec<Place> = space.degrees(1).0.into_iter().filter_map(first).collect();
        if let Some(plan) = space.any_plan(&places) {
            space.lay_out(Some(&plan));
        }
        space
    }

    /// Chooses the layouts: those that balance the stages by the lengths of parts in a plan, even
    /// ones while there is none.
    fn lay_out(&mut self, plan: Option<&Plan>) {
        self.lay_out_each(plan, &self.stages());
    }

    /// Chooses the layouts for the stages of these places alone.
    pub(super) fn lay_out_stages(&mut self, plan: Option<&Plan>, places: &[Place]) {
        let mut stages: Vec<u64> = places.iter().map(|place| place.degrees.pp).collect();
        stages.sort_unstable();
        stages.dedup();
        self.lay_out_each(plan, &stages);
    }

    fn lay_out_each(&mut self, plan: Option<&Plan>, stages: &[u64]) {
        for pp in stages.iter().copied() {
            for Variant { chunks, method, .. } in self.variants(pp) {
                let key = (pp, chunks, is_folded(method));
                if plan.is_some() || !self.cuts.contains_key(&key) {
                    self.lay_out_one(plan, pp, chunks, method);
                }
            }
        }
    }

    pub(super) fn lay_out_one(&mut self, plan: Option<&Plan>, pp: u64, each: u64, method: Method) {
        if self.is_free(KnobId::pipeline_model_parallel_layout) {
            let cut = self.cut_of(plan, pp, each, method).unwrap_or_default();
            self.cuts.insert((pp, each, is_folded(method)), cut);
        }
    }

    /// Whether this many stages with this many chunks are cut already.
    pub(super) fn has_cut(&self, pp: u64, each: u64, method: Method) -> bool {
        self.cuts.contains_key(&(pp, each, is_folded(method)))
    }

    /// Cuts a design's layers for its stages and chunks.
    pub(super) fn cut(&self, design: &mut Design) {
        let (parallel, method) = (&mut design.parallel, design.schedule.method);
        let (pp, each) =
            (parallel.pipeline_model_parallel_size, parallel.virtual_pipeline_model_parallel_size);
        match self.cuts.get(&(pp, each, is_folded(method))) {
            Some(cut) => cut.apply(parallel),
            None => Cut::default().apply(parallel),
        }
    }

    /// The cut of this many stages; `None` if layers spread evenly without one.
    fn cut_of(&self, plan: Option<&Plan>, pp: u64, each: u64, method: Method) -> Option<Cut> {
        if pp == 1 {
            return None;
        }
        let mut design = self.base.clone();
        design.parallel.pipeline_model_parallel_size = pp;
        design.parallel.virtual_pipeline_model_parallel_size = each;
        let spreads = layout::slots(&self.base).is_multiple_of(pp * each);
        let text = match plan {
            Some(plan) => proposal::quick_layout(plan, method, pp, each, self.words.ends())?,
            None if spreads => return None,
            None => layout::text::even_layout(&design, self.words.ends())?,
        };
        let stages = |design: &Design| {
            layout::stages(design, &layout::chunks_of(design, &Pattern::new(design)))
        };
        let own = spreads.then(|| stages(&design));
        design.schedule.method = method;
        vocabulary::cut(&mut design, text)?;
        if own.is_some_and(|own| own == stages(&design)) {
            return None;
        }
        let parallel = design.parallel;
        Some(Cut { layout: parallel.pipeline_model_parallel_layout, noops: parallel.noop_layers })
    }

    /// The plan of some legal design at one of these places.
    pub(super) fn any_plan(&self, places: &[Place]) -> Option<Plan> {
        places.iter().find_map(|place| {
            let variants = self.variants(place.degrees.pp);
            let (legal, _) = self.legal_variants(*place, &variants, 1);
            Plan::new(&self.design(*place, *legal.first()?)).ok()
        })
    }

    /// A design with the strategy of another model's, in the layout that suits this one's.
    pub(super) fn transplanted(&self, other: &Design) -> Design {
        let mut design = self.base.clone();
        for knob in self.free.iter() {
            // What one design takes is in bounds for another.
            let _ = design.set(knob, &other.get(knob));
        }
        if self.is_free(KnobId::pipeline_model_parallel_layout) {
            self.cut(&mut design);
        }
        design
    }

    /// Whether a place is one of the grid's: what it divides by it divides.
    pub(super) fn has(&self, place: Place) -> bool {
        let Place { degrees: Degrees { tp, pp, cp, ep, etp }, micro_batch } = place;
        let (world, experts) =
            (self.base.cluster.num_devices, self.base.transformer.num_moe_experts);
        let experts = experts.unwrap_or(1);
        let (batch, slots) = (self.base.training.global_batch_size, layout::slots(&self.base));
        world.is_multiple_of(tp * pp * cp)
            && world.is_multiple_of(ep * etp * pp)
            && experts.is_multiple_of(ep)
            && batch.is_multiple_of(micro_batch)
            && pp <= slots
    }

    /// Whether a design has what is kept, and the framework can express all else.
    pub(super) fn keeps(&self, design: &Design) -> bool {
        let kept = STRATEGY.without(&self.free);
        (kept.is_empty() || !self.at_hand.differences(design).meets(&kept))
            && self.words.says_all(design, &self.free)
            && !(self.words.is_released() && rules::is_cautioned(design))
    }

    /// Whether the framework can express a design's value of a knob.
    pub(super) fn can_say(&self, design: &Design, knob: KnobId) -> bool {
        self.words.says(design, knob)
    }

    /// Whole layers of a stage by which the numbers differ that the framework can express.
    pub(super) fn step_of_layers(&self, design: &Design) -> u64 {
        if self.words.is_any() { 1 } else { layers_told_by(design) }
    }

    pub(super) fn is_free(&self, knob: KnobId) -> bool {
        self.free.has(knob)
    }

    /// The values of a degree: those given where it is free, its own where it is kept.
    pub(super) fn values(
        &self,
        knob: KnobId,
        own: u64,
        free: impl Iterator<Item = u64>,
    ) -> Vec<u64> {
        if self.is_free(knob) { free.collect() } else { Vec::from([own]) }
    }

    /// Values of a degree of parallelism, thinned out where there are many.
    fn degree(&self, knob: KnobId, own: u64, free: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut values = self.values(knob, own, free);
        if values.len() > MAX_VALUES {
            let is_round = |value: u64| {
                value.is_power_of_two()
                    || (value.is_multiple_of(3) && (value / 3).is_power_of_two())
            };
            values.retain(|value| is_round(*value) || *value == own);
        }
        values
    }

    fn stages(&self) -> Vec<u64> {
        let most = layout::slots(&self.base).min(MAX_STAGES);
        let own = self.at_hand.parallel.pipeline_model_parallel_size;
        self.degree(KnobId::pipeline_model_parallel_size, own, self.divisors(most))
    }

    /// Divisors of the world size, up to a bound.
    fn divisors(&self, most: u64) -> impl Iterator<Item = u64> + use<> {
        let world = self.base.cluster.num_devices;
        (1..=most.min(world)).filter(move |number| world.is_multiple_of(*number))
    }

    /// Every set of degrees that divides the world; and how many combinations don't, with each of
    /// this many micro-batches, by the rule that they break.
    pub(super) fn degrees(&self, micro_batches: usize) -> (Vec<Degrees>, Vec<(&'static str, u64)>) {
        let (own, base) = (&self.at_hand.parallel, &self.base);
        let tps = self.degree(
            KnobId::tensor_model_parallel_size,
            own.tensor_model_parallel_size,
            self.divisors(MAX_TP),
        );
        let longest = (base.training.seq_length / MIN_CP_TOKENS).max(1);
        let cps = self.degree(
            KnobId::context_parallel_size,
            own.context_parallel_size,
            self.divisors(longest),
        );
        let experts = base.transformer.num_moe_experts;
        let world = base.cluster.num_devices;
        let divides = |ep: &u64| experts.is_none_or(|experts| experts.is_multiple_of(*ep));
        let eps = self.degree(
            KnobId::expert_model_parallel_size,
            own.expert_model_parallel_size,
            (1..=experts.unwrap_or(1).min(world)).filter(divides),
        );
        let (mut all, mut dense, mut sparse) = (Vec::new(), 0, 0);
        for pp in self.stages() {
            let each = (self.variants(pp).len() * micro_batches) as u64;
            for tp in &tps {
                let etps: &[u64] = if experts.is_some() && *tp > 1 { &[1, *tp] } else { &[1] };
                let etps = self.values(
                    KnobId::expert_tensor_parallel_size,
                    own.expert_tensor_parallel_size,
                    etps.iter().copied(),
                );
                for cp in &cps {
                    if !world.is_multiple_of(tp * pp * cp) {
                        dense += each * (eps.len() * etps.len()) as u64;
                        continue;
                    }
                    for (ep, etp) in
                        eps.iter().flat_map(|ep| etps.iter().map(move |etp| (*ep, *etp)))
                    {
                        if world.is_multiple_of(ep * etp * pp) {
                            all.push(Degrees { tp: *tp, pp, cp: *cp, ep, etp });
                        } else {
                            sparse += each;
                        }
                    }
                }
            }
        }
        (all, Vec::from([(WORLD_RULE, dense), (EXPERT_RULE, sparse)]))
    }

    /// Sizes of a micro-batch, ascending.
    pub(super) fn micro_batches(&self) -> Vec<u64> {
        let own = self.at_hand.training.micro_batch_size;
        let batch = self.base.training.global_batch_size;
        let sizes = 1..=MAX_MICRO_BATCH;
        let mut sizes = self.values(
            KnobId::micro_batch_size,
            own,
            sizes.chain([own]).filter(|size| batch.is_multiple_of(*size)),
        );
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Whether the framework has what this flag turns on.
    pub(super) fn ships(&self, knob: KnobId) -> bool {
        self.words.has_overlap(&self.base, knob)
    }

    /// The design at a place, with everything hidden that usually can be, and no memory saved.
    pub(super) fn design(&self, place: Place, variant: Variant) -> Design {
        let mut design = self.base.clone();
        self.place(&mut design, place, variant);
        design
    }

    /// Moves a design to a place.
    pub(super) fn place(&self, design: &mut Design, place: Place, variant: Variant) {
        let Place { degrees, micro_batch } = place;
        let parallel = &mut design.parallel;
        parallel.tensor_model_parallel_size = degrees.tp;
        parallel.pipeline_model_parallel_size = degrees.pp;
        parallel.context_parallel_size = degrees.cp;
        parallel.expert_model_parallel_size = degrees.ep;
        parallel.expert_tensor_parallel_size = degrees.etp;
        parallel.virtual_pipeline_model_parallel_size = variant.chunks;
        if self.is_free(KnobId::sequence_parallel) {
            parallel.sequence_parallel = degrees.tp > 1;
        }
        if self.is_free(KnobId::pipeline_model_parallel_layout) {
            let key = (degrees.pp, variant.chunks, is_folded(variant.method));
            self.cuts.get(&key).unwrap_or(&Cut::default()).apply(parallel);
        }
        design.training.micro_batch_size = micro_batch;
        design.schedule.method = variant.method;
        self.hide(design, variant);
    }

    /// Turns on what usually hides communication.
    fn hide(&self, design: &mut Design, variant: Variant) {
        let experts = design.transformer.has_experts();
        let shared = design.transformer.moe_shared_expert_intermediate_size.is_some();
        let spreads = design.parallel.expert_model_parallel_size > 1;
        let shards = design.parallel.data_parallel_sharding_strategy != ShardingStrategy::NoShard;
        let runs_pairs = Form::of(variant.method).runs_pairs;
        let blocked = design.kernel.launch_blocking;
        let wanted = [
            (KnobId::overlap_grad_reduce, true),
            (KnobId::overlap_param_gather, shards),
            (KnobId::overlap_p2p_comm, design.parallel.pipeline_model_parallel_size > 1),
            (KnobId::tp_comm_overlap, design.parallel.sequence_parallel),
            (
                KnobId::moe_shared_expert_overlap,
                experts && shared && spreads && !variant.pairs && !runs_pairs,
            ),
            (KnobId::overlap_moe_expert_parallel_comm, variant.pairs),
            (KnobId::delay_wgrad_compute, (variant.pairs && spreads) || runs_pairs),
        ];
        for (knob, wanted) in wanted {
            if self.is_free(knob) {
                // Whatever else a flag needs is checked by the rules.
                let on = wanted && !blocked && self.ships_in(design, knob);
                let _ = design.set(knob, &Value::Flag(on));
            }
        }
        design.schedule.moe_hierarchical_alltoallv = variant.hierarchical;
    }

    /// Takes back what saves memory in a design.
    pub(super) fn save_nothing(&self, design: &mut Design) {
        let savers = RECOMPUTATION.and(&[
            KnobId::moe_zero_memory,
            KnobId::swap_modules,
            KnobId::cpu_offloading_num_layers,
            KnobId::data_parallel_sharding_strategy,
        ]);
        for knob in savers.iter() {
            // The base's own values are in bounds.
            let _ = design.set(knob, &self.base.get(knob));
        }
    }

    /// Whether the framework shares out these states, for a design of the space.
    pub(super) fn shards(&self, design: &Design, strategy: ShardingStrategy) -> bool {
        self.words.can_shard(design, strategy)
    }

    /// Whether the framework has what this flag turns on, for a design of the space.
    pub(super) fn ships_in(&self, design: &Design, knob: KnobId) -> bool {
        self.words.has_overlap(design, knob)
    }
}

/// Whether a schedule's chunks lie otherwise than round the stages.
pub(super) fn is_folded(method: Method) -> bool {
    Form::of(method).placement != Placement::Cyclic
}

/// The design with every freed knob at its neutral value, timed by closed forms.
fn neutral(design: &Design, free: &KnobSet) -> Design {
    let mut base = design.clone();
    let has_formula = !matches!(design.schedule.method, Method::VHalf | Method::VMin);
    let closed = has_formula || free.has(KnobId::method);
    base.schedule.timing = if closed { Timing::ClosedForm } else { Timing::Simulated };
    let plain = Design::neutral(design.preset);
    for knob in free.iter() {
        // Neutral values are in bounds.
        let _ = base.set(knob, &plain.get(knob));
    }
    let sharding = KnobId::data_parallel_sharding_strategy;
    let has = |strategy: &&ShardingStrategy| can_shard(&base, **strategy);
    if free.has(sharding) && !has(&&base.parallel.data_parallel_sharding_strategy) {
        // FSDP is all of it.
        let first = ShardingStrategy::ALL.iter().rev().find(has);
        base.parallel.data_parallel_sharding_strategy =
            first.copied().unwrap_or(ShardingStrategy::Optim);
    }
    base
}

/// Knobs that say one thing together: who keeps one keeps all.
const TOGETHER: &[KnobSet] =
    &[RECOMPUTATION, KnobSet::of(&[KnobId::pipeline_model_parallel_layout, KnobId::noop_layers])];

/// The knobs that are freed where these are kept.
fn freed(keep: &KnobSet) -> KnobSet {
    let groups = TOGETHER.iter().filter(|group| group.meets(keep));
    groups.fold(STRATEGY.without(keep), |free, group| free.without(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_divide_the_world_is_told_by_rules_that_there_are() {
        for name in [WORLD_RULE, EXPERT_RULE] {
            assert!(rules::rules().iter().any(|rule| rule.name == name), "{name}");
        }
    }
}
