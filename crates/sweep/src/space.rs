//! A space of designs: every design of a spec by a number.
//!
//! An index is a number of mixed radix, one digit for each knob that varies. Knobs that rules tie
//! together have the leading coordinates, so that one broken rule skips a whole block of indices.
//! Which designs are taken, and in which order, is a function of the place alone: places are what a
//! sweep is cut into.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::design::{Design, KnobId, KnobSet, LayerFreq};
use model::ground::choice::{Balance, Timing};
use model::ground::knob::{KnobError, Value};
use model::metric::Regime;
use model::rules::{Rule, rules};
use model::search::find::STRATEGY;
use model::{design::link, serving};

use crate::bench::Bench;
use crate::checks::{Check, Level, Test, Verdict};
use crate::digest::mix;
use crate::order::{first_round, permuted, stratum};
use crate::spec::{Axis, Sampling, Spec, Subject, Tie, TieRule, number, sources};

/// A space could not be numbered.
pub type SpaceError = KnobError;

/// Knobs that load imbalance depends on: their coordinates lead, as the loads take long to
/// generate.
const LOADS: &[KnobId] = &[
    KnobId::balance,
    KnobId::skew,
    KnobId::planner,
    KnobId::planner_trigger,
    KnobId::planner_window,
    KnobId::planner_interval,
    KnobId::planner_threshold,
    KnobId::redundant_experts,
    KnobId::expert_model_parallel_size,
    KnobId::num_moe_experts,
    KnobId::moe_router_topk,
    KnobId::moe_router_num_groups,
    KnobId::moe_router_group_balanced,
    KnobId::num_layers,
    KnobId::moe_layer_freq,
    KnobId::moe_expert_capacity_factor,
    KnobId::moe_pad_expert_input_to_capacity,
];

/// The knobs that rules on sizes read: their coordinates come next, so that one broken rule skips a
/// whole block of indices.
const SIZES: &[KnobId] = &[
    KnobId::num_devices,
    KnobId::devices_per_node,
    KnobId::accelerator,
    KnobId::tensor_model_parallel_size,
    KnobId::pipeline_model_parallel_size,
    KnobId::virtual_pipeline_model_parallel_size,
    KnobId::context_parallel_size,
    KnobId::expert_model_parallel_size,
    KnobId::expert_tensor_parallel_size,
    KnobId::sequence_parallel,
    KnobId::noop_layers,
    KnobId::pipeline_model_parallel_layout,
    KnobId::num_layers,
    KnobId::mtp_num_layers,
    KnobId::hidden_size,
    KnobId::ffn_hidden_size,
    KnobId::num_attention_heads,
    KnobId::num_query_groups,
    KnobId::kv_channels,
    KnobId::multi_latent_attention,
    KnobId::num_moe_experts,
    KnobId::moe_layer_freq,
    KnobId::moe_router_topk,
    KnobId::moe_ffn_hidden_size,
    KnobId::moe_shared_expert_intermediate_size,
    KnobId::vocab_size,
    KnobId::seq_length,
    KnobId::global_batch_size,
    KnobId::micro_batch_size,
    KnobId::method,
    KnobId::microbatch_group_size_per_vp_stage,
    KnobId::delay_wgrad_compute,
    KnobId::overlap_moe_expert_parallel_comm,
    KnobId::recompute_granularity,
    KnobId::recompute_modules,
    KnobId::recompute_num_layers,
];

/// A spec whose designs are numbered.
#[derive(Clone, Debug)]
pub struct Space {
    spec: Spec,
    axes: Vec<Axis>,
    /// Indices that share the coordinates up to and with an axis.
    blocks: Vec<u64>,
    size: u64,
    /// Checks of a point, by the last axis that each reads.
    checks: Vec<Check>,
    /// Levels of these checks, with the verdicts that are known.
    levels: Arc<[Level]>,
    /// For each axis the number of levels that read axes in front of it alone.
    levels_before: Vec<usize>,
    /// The axes that each tie follows from.
    tie_axes: Vec<Vec<usize>>,
    /// Whether it asks for runs.
    asks_run: bool,
    bench: Bench,
    /// Links of designs with strategies that were found.
    found: Arc<BTreeMap<u64, String>>,
}

impl Space {
    /// Numbers the designs of a spec.
    ///
    /// # Errors
    /// More designs than a sweep can have.
    pub fn new(spec: Spec) -> Result<Self, SpaceError> {
        let raw = spec.axes.iter().try_fold(1_u128, |product, axis| {
            product.checked_mul(axis.values.len() as u128).filter(|product| *product < 1 << 100)
        });
        let size = raw.and_then(|raw| u64::try_from(raw).ok()).filter(|size| *size < 1 << 62);
        let size = size.ok_or_else(|| too_many(&spec, "2^62"))?;
        if spec.sampling == Sampling::Grid && size > Spec::MAX_POINTS {
            return Err(too_many(&spec, &Spec::MAX_POINTS.to_string()));
        }
        let mut axes = spec.axes.clone();
        let uneven = can_be_uneven(&spec);
        axes.sort_by_key(|axis| rank(axis.knob, uneven));
        let mut blocks = vec![1; axes.len()];
        for place in (1..axes.len()).rev() {
            blocks[place - 1] = blocks[place] * axes[place].values.len() as u64;
        }
        let asks_run = spec.asks_run();
        let mut space = Self {
            spec,
            axes,
            blocks,
            size,
            checks: vec![],
            levels: Arc::default(),
            levels_before: vec![],
            tie_axes: vec![],
            asks_run,
            bench: Bench::default(),
            found: Arc::default(),
        };
        space.checks = space.all_checks();
        space.levels = Level::all(&space.checks, &space.axes).into();
        let before = |place| space.levels.partition_point(|level| level.axes <= place);
        space.levels_before = (0..space.axes.len()).map(before).collect();
        space.tie_axes = space.spec.ties.iter().map(|tie| space.axes_of(&[tie.knob])).collect();
        Ok(space)
    }

    /// The spec.
    #[must_use]
    pub const fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The knobs that vary, those with the leading coordinates first.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Designs of the space, taken or not, legal or not.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Designs that are taken: places run from 0 to this.
    #[must_use]
    pub fn num_points(&self) -> u64 {
        match self.spec.sampling {
            Sampling::Grid => self.size,
            Sampling::Random { count, .. } | Sampling::Refine { count, .. } => count.min(self.size),
            Sampling::LatinHypercube { count, .. } => count,
        }
    }

    /// The index of the design at a place. For a sweep that refines, where that isn't known
    /// beforehand, of the random order that it begins with; [`crate::Rounds`] knows the rest.
    #[must_use]
    pub fn index(&self, place: u64) -> u64 {
        match self.spec.sampling {
            Sampling::Grid => place,
            Sampling::Random { seed, .. } | Sampling::Refine { seed, .. } => {
                permuted(place, self.size, seed)
            }
            Sampling::LatinHypercube { count, seed } => {
                let coordinates = self.axes.iter().zip(&self.blocks).enumerate();
                coordinates
                    .map(|(axis, (values, block))| {
                        let radix = values.axis_radix();
                        stratum(place, count, radix, mix(seed ^ mix(axis as u64))) * block
                    })
                    .sum()
            }
        }
    }

    /// The design of an index, legal or not; with the strategy that was found for it, where that is
    /// known.
    #[must_use]
    pub fn design(&self, index: u64) -> Design {
        if let Some(found) = self.found.get(&index).and_then(|link| link::decode(link).ok()) {
            return found;
        }
        let mut point = Point::new(self);
        point.go_to(index);
        point.settle();
        point.design
    }

    /// Gives a design another value of a knob, and what follows from it.
    pub(crate) fn vary(&self, design: &mut Design, knob: KnobId, value: &Value) {
        design.put(knob, value);
        for tie in &self.spec.ties {
            follow(design, tie);
        }
    }

    pub(crate) const fn asks_run(&self) -> bool {
        self.asks_run
    }

    pub(crate) const fn bench(&self) -> &Bench {
        &self.bench
    }

    /// The space with the links of these designs, whose strategies were found: [`Self::design`]
    /// then has them.
    pub(crate) fn knowing(&self, found: BTreeMap<u64, String>) -> Self {
        Self { found: Arc::new(found), ..self.clone() }
    }

    /// The space with every design simulated; `None` if its timing varies.
    #[must_use]
    pub fn simulated(&self) -> Option<Self> {
        let varies = self.axes.iter().any(|axis| axis.knob == KnobId::timing);
        let mut space = (!varies).then(|| self.clone())?;
        space.spec.base.schedule.timing = Timing::Simulated;
        // What is known of the other base may not hold of this one.
        space.levels = Level::all(&space.checks, &space.axes).into();
        space.bench = Bench::default();
        Some(space)
    }

    /// Places whose designs don't depend on results: all but those of a sweep that refines.
    #[must_use]
    pub fn random_places(&self) -> u64 {
        match self.spec.sampling {
            Sampling::Refine { .. } => first_round(self.num_points()),
            Sampling::Grid | Sampling::Random { .. } | Sampling::LatinHypercube { .. } => {
                self.num_points()
            }
        }
    }

    /// The coordinates of an index: for each axis the digit, how many values there are, and the
    /// indices that a step of it is worth.
    pub(crate) fn coordinates(&self, index: u64) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.axes.iter().zip(&self.blocks).map(move |(axis, block)| {
            (index / block % axis.axis_radix(), axis.axis_radix(), *block)
        })
    }

    /// The value that the axis at a place has at an index.
    pub(crate) fn value(&self, place: usize, index: u64) -> &Value {
        let values = &self.axes[place].values;
        &values[(index / self.blocks[place] % values.len() as u64) as usize]
    }

    /// Whether every design is taken, in the order of indices.
    pub(crate) fn is_grid(&self) -> bool {
        self.spec.sampling == Sampling::Grid
    }

    /// Every check, with how far it reaches. Among those that reach equally far, ties come first:
    /// what reads a tied knob finds its value there.
    fn all_checks(&self) -> Vec<Check> {
        let ties = self.spec.ties.iter().enumerate().map(|(place, tie)| {
            self.check("tie_has_a_value".into(), &sources(tie), Test::Tie(place))
        });
        let divisors = self.axes.iter().filter_map(|axis| {
            let test = Test::Divides(axis.knob, axis.divides?);
            let name = "value_is_a_divisor".into();
            Some(self.check(name, &[axis.knob, axis.divides?], test))
        });
        let constraints = self.spec.constraints.iter().filter_map(|constraint| {
            let Subject::Knob(knob) = constraint.subject else { return None };
            let name = format!("constraint: {}", constraint.text);
            Some(self.check(name, &[knob], Test::Constraint(constraint.clone())))
        });
        // Rules that a found strategy may mend aren't checked on the one at hand.
        let freed = self.spec.find.map_or(KnobSet::EMPTY, |it| STRATEGY.without(&it.keep));
        let rules = rules_of(self.spec.regime()).into_iter();
        let rules = rules.filter(move |rule| !rule.reads.meets(&freed)).map(|rule| {
            let reads: Vec<KnobId> = rule.reads.iter().collect();
            self.check(rule.name.to_owned(), &reads, Test::Rule(rule))
        });
        let all = ties.chain(divisors).chain(constraints).chain(rules);
        let mut all: Vec<Check> = all.collect();
        all.sort_by_key(|check| std::cmp::Reverse(check.block));
        all
    }

    fn check(&self, name: String, reads: &[KnobId], test: Test) -> Check {
        let axes = self.axes_of(reads);
        let block = axes.last().map_or(self.size, |last| self.blocks[*last]);
        Check { name, block, axes, test }
    }

    /// The axes that the values of these knobs depend on, in order.
    fn axes_of(&self, knobs: &[KnobId]) -> Vec<usize> {
        let mut axes: Vec<usize> = vec![];
        for knob in knobs {
            match self.spec.ties.iter().find(|tie| tie.knob == *knob) {
                Some(tie) => axes.extend(self.axes_of(&sources(tie))),
                None => axes.extend(self.axes.iter().position(|axis| axis.knob == *knob)),
            }
        }
        axes.sort_unstable();
        axes.dedup();
        axes
    }
}

impl Axis {
    /// Number of its values.
    fn axis_radix(&self) -> u64 {
        self.values.len() as u64
    }
}

/// The rules that designs of a regime keep.
fn rules_of(regime: Regime) -> Vec<&'static Rule> {
    match regime {
        Regime::Serving => serving::rules::rules().map(|(rule, _)| rule).collect(),
        Regime::Model | Regime::Training | Regime::Budget | Regime::Quality => {
            rules().iter().collect()
        }
    }
}

/// Position of a knob's digit: generated loads first, then sizes, then the rest.
///
/// The meaning of an index follows from this, so that a sweep that was written down goes on only as
/// long as it stays.
fn rank(knob: KnobId, uneven: bool) -> u8 {
    if uneven && LOADS.contains(&knob) {
        return 0;
    }
    if SIZES.contains(&knob) { 1 } else { 2 }
}

/// Whether loads can be generated for any design of the space.
fn can_be_uneven(spec: &Spec) -> bool {
    spec.axes.iter().any(|axis| axis.knob == KnobId::balance)
        || spec.base.routing.balance != Balance::Uniform
}

fn too_many(spec: &Spec, most: &str) -> KnobError {
    let lengths: Vec<String> = spec.axes.iter().map(|axis| axis.values.len().to_string()).collect();
    KnobError {
        rule: "too_many_points",
        knob: "space".into(),
        detail: format!(
            "{} designs are more than {most}: take fewer values, or a sample by `sampling`",
            lengths.join(" x ")
        ),
        nearest: vec![],
    }
}

/// A design that moves through a space. What a move changes is set when a check reads it, as most
/// designs of most spaces fail one of the first checks.
pub(crate) struct Point<'a> {
    space: &'a Space,
    /// The design; all of it is that of the index once no check fails, or it is [`Self::settle`]d.
    pub(crate) design: Design,
    /// The digits that are set.
    pub(crate) coordinates: Vec<usize>,
    /// The digits of the index.
    digits: Vec<usize>,
    /// The index; `None` before the first move.
    index: Option<u64>,
    /// Number of leading axes that are set to the digits of the index.
    settled: usize,
    ties: Vec<Tied>,
    /// Number of leading levels whose checks are known to hold here.
    holds: usize,
    /// Knobs that were moved since the last evaluation; all before the first.
    pub(crate) moved: KnobSet,
}

/// State of a tie at a point.
#[derive(Clone, Copy)]
struct Tied {
    has_value: bool,
    /// An axis that it may depend on has moved since.
    is_stale: bool,
}

impl<'a> Point<'a> {
    pub(crate) fn new(space: &'a Space) -> Self {
        let mut design = space.spec.base.clone();
        let ties = space.spec.ties.iter().zip(&space.tie_axes).map(|(tie, axes)| {
            let is_stale = !axes.is_empty();
            Tied { has_value: is_stale || follow(&mut design, tie), is_stale }
        });
        let ties = ties.collect();
        // No digit is set yet: the first move sets them all.
        let coordinates = vec![usize::MAX; space.axes.len()];
        let (digits, moved) = (coordinates.clone(), KnobSet::of(KnobId::ALL));
        Self { space, design, coordinates, digits, index: None, settled: 0, ties, holds: 0, moved }
    }

    /// Moves to an index.
    pub(crate) fn go_to(&mut self, index: u64) {
        let before = self.index.replace(index);
        // In random order hardly two neighbours share leading digits.
        let before = before.filter(|_| self.space.is_grid());
        let (mut prefix, mut known, mut first) = (index, before, self.digits.len());
        for (place, axis) in self.space.axes.iter().enumerate().rev() {
            if known == Some(prefix) {
                break;
            }
            let radix = axis.axis_radix();
            let digit = (prefix % radix) as usize;
            (prefix, known) = (prefix / radix, known.map(|known| known / radix));
            if self.digits[place] != digit {
                self.digits[place] = digit;
                first = place;
            }
        }
        self.settled = self.settled.min(first);
        // What reads none of the axes that moved is as it was.
        let before = self.space.levels_before.get(first);
        self.holds = before.map_or(self.holds, |before| self.holds.min(*before));
    }

    /// Sets all axes to the index.
    fn settle(&mut self) {
        self.settle_to(self.space.axes.len());
    }

    /// Sets at least this many leading axes to the index, and what follows from them alone.
    fn settle_to(&mut self, axes: usize) {
        for place in self.settled..axes {
            let digit = self.digits[place];
            if self.coordinates[place] != digit {
                self.coordinates[place] = digit;
                let axis = &self.space.axes[place];
                // Every value of an axis is in its knob's bounds: the reader of specs saw to it.
                self.design.put(axis.knob, &axis.values[digit]);
                self.moved.insert(axis.knob);
                for (tied, axes) in self.ties.iter_mut().zip(&self.space.tie_axes) {
                    tied.is_stale |= axes.contains(&place);
                }
            }
            self.follow_ties(place);
        }
        self.settled = self.settled.max(axes);
    }

    /// Gives the knobs their values that are tied to axes up to this one.
    fn follow_ties(&mut self, place: usize) {
        let ties = self.space.spec.ties.iter().zip(&self.space.tie_axes);
        for ((tie, axes), tied) in ties.zip(&mut self.ties) {
            if tied.is_stale && axes.last() == Some(&place) {
                let has_value = follow(&mut self.design, tie);
                *tied = Tied { has_value, is_stale: false };
                self.moved.insert(tie.knob);
            }
        }
    }

    /// The first check that the design fails; if none does, all of it is set.
    pub(crate) fn failed(&mut self) -> Option<&'a Check> {
        let space = self.space;
        for level in &space.levels[self.holds..] {
            if let Some(place) = self.failed_of(level) {
                return space.checks.get(place);
            }
            self.holds += 1;
        }
        self.settle();
        None
    }

    /// The first check of a level that the design fails.
    fn failed_of(&mut self, level: &Level) -> Verdict {
        let mut first: Verdict = None;
        for group in &level.groups {
            // What comes behind a check that fails isn't made.
            if first.is_some_and(|first| group.checks.iter().all(|check| first < *check)) {
                break;
            }
            let failed = group.verdict(&self.digits).unwrap_or_else(|| {
                self.settle_to(level.axes);
                let mut checks = group.checks.iter().copied();
                let failed = checks.find(|check| self.fails(&self.space.checks[*check]));
                group.learn(&self.digits, failed);
                failed
            });
            first = first.into_iter().chain(failed).min();
        }
        first
    }

    fn fails(&self, check: &Check) -> bool {
        match &check.test {
            Test::Tie(place) => !self.ties[*place].has_value,
            Test::Divides(knob, of) => match (self.design.get(*knob), self.design.get(*of)) {
                (Value::Integer(part), Value::Integer(whole)) => !whole.is_multiple_of(part.max(1)),
                _ => true,
            },
            Test::Constraint(constraint) => {
                let Subject::Knob(knob) = constraint.subject else { return false };
                !number(&self.design.get(knob)).is_some_and(|value| constraint.holds(value))
            }
            Test::Rule(rule) => rule.is_broken(&self.design),
        }
    }
}

/// Gives a tied knob its value; false where it has none.
fn follow(design: &mut Design, tie: &Tie) -> bool {
    match tie.rule {
        TieRule::Ratio { of, times, over } => {
            let Value::Integer(number) = design.get(of) else { return false };
            let product = number.saturating_mul(times);
            product.is_multiple_of(over)
                && design.set(tie.knob, &Value::Integer(product / over)).is_ok()
        }
        TieRule::DenseLayers(dense) => {
            let Some(moe) = design.transformer.num_layers.checked_sub(dense) else { return false };
            let runs = [(false, dense), (true, moe)];
            let runs = runs.into_iter().filter(|(_, count)| *count > 0).collect();
            design.transformer.moe_layer_freq = LayerFreq::Runs(runs);
            true
        }
        TieRule::FillChunks => {
            let layers = design.transformer.num_layers + design.transformer.mtp_num_layers;
            let parallel = &mut design.parallel;
            let chunks = (parallel.pipeline_model_parallel_size
                * parallel.virtual_pipeline_model_parallel_size)
                .max(1);
            let slots = layers.next_multiple_of(chunks);
            let per_chunk = slots / chunks;
            let positions = &mut parallel.noop_layers.0;
            positions.clear();
            let added = slots - layers;
            positions.extend((chunks - added..chunks).map(|chunk| (chunk + 1) * per_chunk - 1));
            true
        }
    }
}
