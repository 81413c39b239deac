//! Which fixed knobs rule out most, where a sweep has found nothing: each is let vary over its
//! usual values, and it is counted what that lets through.

use std::sync::atomic::AtomicBool;

use model::design::KnobId;
use model::ground::choice::{Choice, KvDtype, Method, ShardingStrategy, WeightDtype};
use model::ground::knob::{Section, Value};
use model::metric::Regime;
use serde::{Deserialize, Serialize};

use crate::evaluate::outcomes;
use crate::outcome::Outcome;
use crate::space::Space;
use crate::spec::{Axis, Sampling, Spec};

/// Maximum number of designs that are looked at for one set of knobs: all if there are no more,
/// otherwise a random sample of that size.
const MAX_DESIGNS: u64 = 8_192;

/// Knobs that are freed together, at most.
const MAX_KNOBS: usize = 3;

/// Maximum number of sets of knobs that are reported.
const MAX_TOLD: usize = 5;

/// Knobs that are let vary and what that lets through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relaxation {
    /// The knobs, by their ids.
    pub knobs: Vec<String>,
    /// Designs of the space with these knobs varied.
    pub designs: u64,
    /// Number of designs looked at: all of them, or a random sample.
    pub tried: u64,
    /// Number of these that break no rule.
    pub legal: u64,
    /// Number of these that keep all constraints, too; by closed forms where the sweep is by them.
    pub feasible: u64,
}

/// The values that a knob usually takes.
#[derive(Clone, Copy)]
enum Usual {
    /// Off and on.
    Flags,
    /// Powers of two from 1 to this.
    Powers(u64),
    /// Names of choices.
    Names(&'static [&'static str]),
    /// Nothing, or one of these alone.
    OneOf(&'static [&'static str]),
}

/// Knobs that people vary when a strategy doesn't work, in the order in which they would.
const KNOBS: [(KnobId, Usual); 18] = [
    (KnobId::sequence_parallel, Usual::Flags),
    (KnobId::recompute_granularity, Usual::Names(&["none", "full"])),
    (KnobId::tensor_model_parallel_size, Usual::Powers(16)),
    (KnobId::pipeline_model_parallel_size, Usual::Powers(64)),
    (KnobId::expert_model_parallel_size, Usual::Powers(64)),
    (KnobId::context_parallel_size, Usual::Powers(8)),
    (KnobId::virtual_pipeline_model_parallel_size, Usual::Powers(4)),
    (KnobId::micro_batch_size, Usual::Powers(4)),
    (KnobId::data_parallel_sharding_strategy, Usual::Names(ShardingStrategy::NAMES)),
    (KnobId::swap_modules, Usual::OneOf(&["activations", "optimizer"])),
    (KnobId::method, Usual::Names(Method::NAMES)),
    (KnobId::tensor_parallel_size, Usual::Powers(64)),
    (KnobId::data_parallel_size, Usual::Powers(256)),
    (KnobId::moe_expert_parallel_size, Usual::Powers(256)),
    (KnobId::moe_tensor_parallel_size, Usual::Powers(16)),
    (KnobId::pipeline_parallel_size, Usual::Powers(8)),
    (KnobId::weight_dtype, Usual::Names(WeightDtype::NAMES)),
    (KnobId::kv_cache_dtype, Usual::Names(KvDtype::NAMES)),
];

/// The values that a knob usually takes, that of the sweep's design among them; none of a knob
/// that isn't freed.
#[must_use]
pub fn usual_values(space: &Space, knob: KnobId) -> Vec<Value> {
    let Some((_, usual)) = KNOBS.iter().find(|(known, _)| *known == knob) else { return vec![] };
    let text = |name: &&str| Value::Text((*name).to_owned());
    let mut values: Vec<Value> = match usual {
        Usual::Flags => vec![Value::Flag(false), Value::Flag(true)],
        Usual::Powers(most) => (0..=most.ilog2()).map(|two| Value::Integer(1 << two)).collect(),
        Usual::Names(names) => names.iter().map(text).collect(),
        Usual::OneOf(names) => {
            let sets = names.iter().map(|name| Value::List(vec![text(name)]));
            std::iter::once(Value::None).chain(sets).collect()
        }
    };
    let fixed = space.spec().base.get(knob);
    if !values.contains(&fixed) {
        values.insert(0, fixed);
    }
    values
}

/// Designs that freeing each fixed knob would let through, the most first. Where no single knob
/// lets any design keep all constraints, the most promising ones are freed together.
pub(crate) fn relaxations(space: &Space) -> Vec<Relaxation> {
    let spec = space.spec();
    let is_serving = spec.regime() == Regime::Serving;
    let is_fixed = |knob: &KnobId| {
        let varies = spec.axes.iter().any(|axis| axis.knob == *knob);
        let is_read = (knob.knob().section == Section::Serving) == is_serving;
        is_read && !varies && spec.ties.iter().all(|tie| tie.knob != *knob)
    };
    let fixed: Vec<KnobId> = KNOBS.iter().map(|(knob, _)| *knob).filter(is_fixed).collect();
    let least = counted(space, &[]).map_or((0, 0), |all| (all.feasible, all.legal));
    let mut told = Vec::new();
    let mut together: Vec<KnobId> = vec![];
    for _ in 0..MAX_KNOBS {
        let others = fixed.iter().filter(|knob| !together.contains(knob));
        let tried = others.filter_map(|knob| {
            let mut knobs = together.clone();
            knobs.push(*knob);
            Some((counted(space, &knobs)?, *knob))
        });
        let mut found: Vec<(Relaxation, KnobId)> =
            tried.filter(|(freed, _)| (freed.feasible, freed.legal) > least).collect();
        // Of equals the one that people would free first.
        found.sort_by(|(one, _), (other, _)| {
            let rank = |it: &Relaxation| (it.feasible, it.legal);
            rank(other).cmp(&rank(one))
        });
        let Some((best, knob)) = found.first().cloned() else { break };
        together.push(knob);
        told.extend(found.into_iter().map(|(freed, _)| freed));
        if best.feasible > 0 {
            break;
        }
    }
    told.sort_by(|one, other| {
        let rank = |it: &Relaxation| (it.feasible, it.legal);
        rank(other).cmp(&rank(one)).then(one.knobs.len().cmp(&other.knobs.len()))
    });
    let any_helps = told.iter().any(|freed| freed.feasible > 0);
    told.retain(|freed| freed.feasible > 0 || !any_helps);
    told.truncate(MAX_TOLD);
    told
}

/// Looks at the designs with these knobs varied as well; `None` if one has no usual values.
fn counted(space: &Space, knobs: &[KnobId]) -> Option<Relaxation> {
    let mut spec: Spec = space.spec().clone();
    for knob in knobs {
        let values = usual_values(space, *knob);
        if values.len() < 2 {
            return None;
        }
        spec.axes.push(Axis { knob: *knob, values, divides: None });
    }
    spec.axes.sort_by_key(|axis| axis.knob);
    let size = spec.axes.iter().map(|axis| axis.values.len() as u128).product::<u128>();
    spec.sampling = if size <= u128::from(MAX_DESIGNS) {
        Sampling::Grid
    } else {
        Sampling::Random { count: MAX_DESIGNS, seed: 1 }
    };
    let sampled = Space::new(spec).ok()?;
    let mut counted = Relaxation {
        knobs: knobs.iter().map(|knob| knob.id()).collect(),
        designs: sampled.size(),
        tried: sampled.num_points(),
        legal: 0,
        feasible: 0,
    };
    outcomes(&sampled, 0..sampled.num_points(), &AtomicBool::new(false), |outcome| {
        if let Outcome::Legal { broken, .. } = outcome {
            counted.legal += 1;
            counted.feasible += u64::from(broken.is_none());
        }
    });
    Some(counted)
}
