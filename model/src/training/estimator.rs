//! Estimates of many designs, one after the other: what a design has in common with the one before
//! it is kept.
//!
//! Nothing here is a formula. A [`Plan`] and each part of an estimate is a function of a design;
//! this says for each of them which knobs it doesn't read, and makes it anew when any other knob
//! differs. A knob that no list names changes everything, so that a new one can't be forgotten; a
//! test holds thousands of estimates of neighbouring designs against estimates from scratch.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::design::violation::Violation;
use crate::design::{Design, KnobId, KnobSet};
use crate::ground::choice::RecomputeGranularity;
use crate::ground::knob::Reach;
use crate::ground::units::Seconds;
use crate::routing::Effect;
use crate::rules::{self, Rule};
use crate::training::estimate::{Estimate, Metrics, StepPart};
use crate::training::layer_key::LayerKey;
use crate::training::load_imbalance;
use crate::training::pair::LayerPairs;
use crate::training::plan::Plan;
use crate::training::shapes::Shapes;
use crate::training::step::{Frame, Layers, Simulator, Spans, Step, is_near_limit, of_spans};

/// Knobs that change neither a size of a plan nor what single layers cost and save.
const BEYOND_LAYERS: KnobSet = KnobSet::reaching(Reach::Spans);

/// Knobs of [`BEYOND_LAYERS`] that change the work of stages other than their copies to host
/// memory.
const OF_SPANS: KnobSet = BEYOND_LAYERS.without(&KnobSet::of(&[KnobId::swap_modules]));

/// Knobs of [`OF_SPANS`] where recomputation isn't selective: then nothing reads its modules.
const OF_WHOLE_SPANS: KnobSet = OF_SPANS.without(&KnobSet::of(&[KnobId::recompute_modules]));

/// Knobs that reach single layers by no other way than what a [`LayerKey`] holds.
const BY_SIZE: KnobSet = KnobSet::reaching(Reach::Sizes);

/// Spans of the same layers that are kept.
const MAX_SPANS: usize = 16;

/// Layers that are kept: about 7 KiB each.
const MAX_LAYERS: usize = 1_024;

/// Estimates designs one after the other.
///
/// What it says of a design is what [`crate::estimate()`] says of its [`Plan`], to the bit,
/// whatever came before. It is fast where designs differ from the one before in a few knobs, and
/// fastest where these are about what is recomputed, swapped or hidden.
#[derive(Debug, Default)]
pub struct Estimator {
    known: Known,
    buffers: Buffers,
}

/// The last legal design's plan, and what others have in common with it.
#[derive(Debug, Default)]
struct Known {
    plan: Option<Plan>,
    /// Memory and exchanges of the plan's stages.
    frame: Option<Arc<Frame>>,
    /// Layers of designs that differ from the last one in nothing but knobs of [`BY_SIZE`], and in
    /// what reaches no layer.
    layers: KnownLayers,
    /// Pairs of layers of the same designs.
    pairs: LayerPairs,
    /// Spans of the plan's layers, by the design that each was made for; the last one used is the
    /// last.
    spans: Vec<KeptSpans>,
    /// Knobs in which the designs of these spans differ, at most.
    spanned: KnobSet,
    /// Shapes of designs that differ from the last one in nothing but knobs of [`BY_SIZE`] and of
    /// [`BEYOND_LAYERS`].
    shapes: Shapes,
}

/// Layers by what tells them apart.
#[derive(Debug, Default)]
struct KnownLayers {
    each: BTreeMap<LayerKey, Loaded<Layers>>,
    /// Of those that only experts tell apart the first: experts alone are others in the rest.
    first: BTreeMap<LayerKey, Layers>,
}

/// Steps that the metrics of the last design were made of, with room for the next.
#[derive(Debug, Default)]
struct Buffers {
    /// Step of the fullest rank, where loads are uneven.
    fullest: Step,
    /// Step of the mean rank.
    step: Step,
    simulator: Simulator,
}

/// Spans with the design that they were made for: kilobytes that change places by their address.
#[derive(Debug)]
struct KeptSpans(Box<(Arc<Design>, Loaded<Spans>)>);

/// Something under a plan's own loads, and under even ones where its own aren't.
#[derive(Debug)]
struct Loaded<T> {
    own: T,
    even: Option<T>,
}

impl Estimator {
    /// One that has seen no design.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The metrics of a design.
    ///
    /// # Errors
    /// The first rule that the design breaks, in the order of [`rules::rules`].
    pub fn metrics(&mut self, design: &Design) -> Result<Metrics, &'static Rule> {
        let differences = self.differences(design);
        // The plan's own design is legal: a rule that reads what is the same holds here too.
        match rules::first_broken(design, &differences) {
            Some(rule) => Err(rule),
            None => Ok(self.metrics_with(design, &differences)),
        }
    }

    /// The metrics of a legal design that differs in none but these knobs from the last one that
    /// got any: [`Self::metrics`] for those who checked the rules and know what they moved.
    pub fn metrics_of_legal(&mut self, design: &Design, moved: &KnobSet) -> Metrics {
        // The accelerator moves the framework along.
        let mut moved = *moved;
        if moved.has(KnobId::accelerator) {
            moved.insert(KnobId::framework);
        }
        let differences = match &self.known.plan {
            Some(plan) if is_of_same_preset(plan.design(), design) => {
                plan.design().differences_in(design, &moved)
            }
            Some(_) | None => KnobSet::of(KnobId::ALL),
        };
        self.metrics_with(design, &differences)
    }

    /// The metrics of a legal design that differs in these knobs from the last one.
    fn metrics_with(&mut self, design: &Design, differences: &KnobSet) -> Metrics {
        let (plan, spans) = self.known.turn_to(design, differences);
        self.buffers.metrics(plan, spans)
    }

    /// The time of the kernels alone in a step of the design that was last asked for its metrics:
    /// matrix products, attention and vector work of the mean device, without what it waits for,
    /// what runs beside them and what is done twice.
    ///
    /// No schedule, overlap or saver of memory at the same degrees and micro-batch has less of it.
    pub(crate) fn kernels(&self) -> Seconds {
        [StepPart::Ideal, StepPart::Kernels, StepPart::Vector]
            .map(|part| self.buffers.step.time.part(part))
            .into_iter()
            .sum()
    }

    /// The plan of a design and all that the model says of it.
    ///
    /// # Errors
    /// Every rule that the design breaks; one whose trace isn't at hand among them.
    pub fn estimate(&mut self, design: &Design) -> Result<(Plan, Estimate), Vec<Violation>> {
        let differences = self.differences(design);
        if rules::first_broken(design, &differences).is_some() {
            return Err(rules::violations(design));
        }
        let (plan, estimate) = self.estimate_legal(design, &differences);
        Ok((plan.clone(), estimate))
    }

    /// [`Self::estimate`] of a legal design that differs in these knobs from the last one.
    fn estimate_legal(&mut self, design: &Design, differences: &KnobSet) -> (&Plan, Estimate) {
        let simulator = &mut self.buffers.simulator;
        let (plan, Loaded { own, even }) = self.known.turn_to(design, differences);
        let pipelines = simulator.pipelines(plan, own, even.as_ref());
        let estimate = of_spans(plan, own, even.as_ref(), pipelines);
        (plan, estimate)
    }

    /// Whether the design that was last asked for its metrics, and got these, is near the limit of
    /// memory by a closed form, see [`crate::training::memory::is_near_limit`].
    #[must_use]
    pub fn is_near_limit(&self, metrics: &Metrics) -> bool {
        let Known { plan, spans, .. } = &self.known;
        let (Some(plan), Some(spans)) = (plan, spans.last()) else { return false };
        let Loaded { own, even } = &spans.0.1;
        let Buffers { step, fullest, .. } = &self.buffers;
        let steps = match even {
            Some(even) => [(own, fullest), (even, step)],
            None => [(own, step); 2],
        };
        is_near_limit(plan, metrics, steps)
    }

    /// The knobs in which a design differs from the last one.
    fn differences(&self, design: &Design) -> KnobSet {
        match &self.known.plan {
            Some(plan) if is_of_same_preset(plan.design(), design) => {
                plan.design().differences(design)
            }
            Some(_) | None => KnobSet::of(KnobId::ALL),
        }
    }
}

impl Known {
    /// The plan of a legal design that differs in these knobs from the last one, and its spans.
    fn turn_to(&mut self, design: &Design, differences: &KnobSet) -> (&mut Plan, &Loaded<Spans>) {
        let Self { plan, frame, layers, pairs, spans, spanned, shapes } = self;
        let mut own = None;
        if differences.without(&BEYOND_LAYERS).is_empty() {
            plan.iter_mut().for_each(|plan| plan.follow(design, differences));
        } else {
            if !differences.without(&BEYOND_LAYERS).without(&BY_SIZE).is_empty() {
                layers.clear();
                pairs.clear();
                shapes.clear();
            }
            spans.clear();
            *spanned = KnobSet::EMPTY;
            *frame = None;
            own = plan.take().map(|plan| plan.turned_to(design, differences));
        }
        if differences.has(KnobId::recompute_num_layers) {
            // The plan's spans are others.
            *frame = None;
        }
        let plan = plan.get_or_insert_with(|| {
            let own = own.unwrap_or_else(|| Arc::new(design.clone()));
            Plan::checked(own, Effect::of(design), shapes)
        });
        let frame = frame.get_or_insert_with(|| Arc::new(Frame::new(plan)));
        let had_any = !spans.is_empty();
        if had_any {
            *spanned = spanned.with(differences);
        }
        if !had_any || differences.meets(&OF_SPANS) {
            turn_spans(plan, frame, layers, pairs, (spans, spanned));
        }
        (plan, &spans[spans.len() - 1].0.1)
    }
}

/// Whether both designs say what they are by the same preset.
fn is_of_same_preset(one: &Design, other: &Design) -> bool {
    core::ptr::eq(one.preset, other.preset)
}

impl Buffers {
    /// The metrics of a plan.
    fn metrics(&mut self, plan: &Plan, spans: &Loaded<Spans>) -> Metrics {
        let Self { fullest, step, simulator } = self;
        let [own, of_even] = simulator.pipelines(plan, &spans.own, spans.even.as_ref());
        let Some(even) = &spans.even else {
            step.take(plan, &spans.own, own);
            return step.metrics(plan, &spans.own);
        };
        fullest.take(plan, &spans.own, own);
        step.take(plan, even, of_even);
        let mut metrics = step.metrics(plan, even);
        let fullest = fullest.fullest(plan, &spans.own);
        load_imbalance::wait_for(&fullest, &mut step.time, &mut metrics);
        metrics
    }
}

/// Puts the spans of a plan last: known ones of a design that differs in nothing that they depend
/// on, or new ones. The designs of the known ones differ in these knobs at most.
fn turn_spans(
    plan: &mut Plan,
    frame: &Arc<Frame>,
    layers: &mut KnownLayers,
    pairs: &mut LayerPairs,
    (known, differ): (&mut Vec<KeptSpans>, &KnobSet),
) {
    let is_same = |known: &KeptSpans| has_same_spans(plan.design(), &known.0.0, differ);
    match known.iter().rposition(is_same) {
        Some(place) => known[place..].rotate_left(1),
        None => {
            if known.len() >= MAX_SPANS {
                known.remove(0);
            }
            let layers = layers.of(plan);
            let spans = new_spans(plan, frame, layers, pairs);
            known.push(KeptSpans(Box::new((plan.shared_design().clone(), spans))));
        }
    }
}

impl KnownLayers {
    fn clear(&mut self) {
        self.each.clear();
        self.first.clear();
    }

    /// The layers of a plan, kept or new.
    fn of(&mut self, plan: &mut Plan) -> &Loaded<Layers> {
        let key = LayerKey::new(plan);
        if self.each.len() >= MAX_LAYERS && !self.each.contains_key(&key) {
            self.clear();
        }
        let Self { each, first } = self;
        each.entry(key).or_insert_with(|| {
            let own = match first.entry(key.without_experts()) {
                Entry::Occupied(known) => known.get().under(plan),
                Entry::Vacant(place) => place.insert(Layers::new(plan)).clone(),
            };
            let even = plan.while_even(|even| own.under(even));
            Loaded { own, even }
        })
    }
}

fn new_spans(
    plan: &mut Plan,
    frame: &Arc<Frame>,
    layers: &Loaded<Layers>,
    pairs: &mut LayerPairs,
) -> Loaded<Spans> {
    let mut own = Spans::new(plan, &layers.own, frame.clone(), pairs);
    let even = layers.even.as_ref();
    let mut even = even.and_then(|layers| plan.while_even(|even| own.under(even, layers, pairs)));
    even.as_mut().unwrap_or(&mut own).add_up_traffic(plan);
    Loaded { own, even }
}

/// Whether designs with the same layers, which differ in these knobs at most, have the same spans.
fn has_same_spans(one: &Design, other: &Design, differ: &KnobSet) -> bool {
    let selective = one.memory.recompute_granularity == RecomputeGranularity::Selective;
    let reach = if selective { &OF_SPANS } else { &OF_WHOLE_SPANS };
    one.agrees(other, &differ.both(reach))
}
