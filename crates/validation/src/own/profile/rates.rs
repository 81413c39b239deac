//! From operator times to rates.
//!
//! With shapes a rate is the one with which the model's kernels of these shapes take as long as the
//! measured ones: losses by tile, wave and depth stay the model's. Without shapes it is what the
//! design's own work of a class takes in a step over what was measured.

use model::answer::microbench::{Burst, CausalAttention};
use model::answer::roofline::{Direction, Operator, Unit};
use model::design::Design;
use model::{Plan, estimate, roofline};

use super::{Class, Profile, Shape, Sum};
use crate::own::constant::{CONSTANTS, COUNT, Constant};

/// Microseconds from which on a kernel tells of its rate: below, launches and latencies count.
const LARGE_US: f64 = 50.0;

/// Time of the shapes that a rate rests on, at least, in microseconds.
const MIN_SHAPES_MICROS: f64 = 1_000.0;

/// Standard deviation of a rate's logarithm, at least: clocks differ from step to step.
const MIN_DEVIATION: f64 = 0.02;

/// Standard deviation without shapes: only their names say which kernels belong to a class.
const WITHOUT_SHAPES: f64 = 0.1;

/// Largest relative distance of the number of calls from whole steps.
const MAX_OFF: f64 = 0.02;

/// A rate that a profile gives, and the standard deviation of its logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) value: f64,
    pub(crate) deviation: f64,
}

/// The rates of a profile, in the order of the constants, and what it doesn't tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    pub(crate) values: [Option<Rate>; COUNT],
    pub(crate) remarks: Vec<String>,
}

/// Places of constants.
const GEMM: usize = 1;
const GROUPED: usize = 2;
const FORWARD: usize = 3;
const BACKWARD: usize = 4;
const VECTOR: usize = 5;

/// The constants that a profile may give, each with its class; grouped products are relative to
/// others, which come first.
const GIVEN: [(usize, Class, &str); 5] = [
    (GEMM, Class::Product, "matrix products"),
    (GROUPED, Class::Grouped, "grouped matrix products"),
    (FORWARD, Class::AttentionForward, "attention, forward"),
    (BACKWARD, Class::AttentionBackward, "attention, backward"),
    (VECTOR, Class::Vector, "element-wise kernels"),
];

/// The rates of a profile of this design; `is_own` says that the design is the profiled run's, so
/// that its work is known where shapes aren't.
pub(crate) fn rates(profile: &Profile, design: &Design, is_own: bool) -> Result<Rates, String> {
    let mut design = design.clone();
    let mut rates = Rates::default();
    let mut work: Option<Result<Work, String>> = None;
    for (index, class, words) in GIVEN {
        let constant = &CONSTANTS[index];
        let Some(all) = profile.classes.get(&class).filter(|all| all.micros >= MIN_SHAPES_MICROS)
        else {
            continue;
        };
        let shaped = by_shapes(profile, &design, constant, class)?;
        let found = match shaped {
            Some(rate) => Ok(rate),
            None if !is_own => Err("no shapes, and the run's design isn't given".to_owned()),
            None => {
                let work = work.get_or_insert_with(|| Work::of(profile, &design));
                let work = work.as_ref().map_err(Clone::clone);
                work.and_then(|work| work.rate(*all, &design, constant, class))
            }
        };
        match found {
            Ok(rate) => {
                *(constant.own)(&mut design.kernel) = Some(rate.value);
                rates.values[index] = Some(rate);
            }
            Err(why) => rates.remarks.push(format!("{words}: {why}")),
        }
    }
    Ok(rates)
}

fn plan_of(design: &Design) -> Result<Plan, String> {
    Plan::new(design).map_err(|broken| {
        broken.first().map_or_else(String::new, |it| format!("the design: {}", it.message))
    })
}

/// Seconds that a kernel of a shape takes; `None` if the shape is of another class.
fn seconds(burst: &Burst, shape: &Shape, class: Class, design: &Design) -> Option<f64> {
    let of = |number: u64| number as f64;
    let attention = |sequences: u64, tokens: u64, heads: u64, width: u64, is_backward: bool| {
        let attention = CausalAttention {
            sequences: of(sequences),
            tokens: of(tokens),
            heads: of(heads),
            qk_dim: of(width),
            v_dim: of(width),
        };
        if is_backward { burst.attention_backward(&attention) } else { burst.attention(&attention) }
    };
    let is = |is_backward: bool| {
        class == if is_backward { Class::AttentionBackward } else { Class::AttentionForward }
    };
    let seconds = match (*shape, class) {
        (Shape::Product { m, k, n, count }, Class::Product) => {
            burst.product([of(m), of(k), of(n)]) * of(count)
        }
        (Shape::Grouped { rows, k, n, experts }, Class::Grouped) => {
            burst.grouped_product([of(rows) / of(experts), of(k), of(n)], of(experts))
        }
        (Shape::Attention { sequences, tokens, heads, width, is_backward }, _)
            if is(is_backward) =>
        {
            attention(sequences, tokens, heads, width, is_backward)
        }
        // Sequences are longer than they are many; heads are as wide as the design's.
        (Shape::Flat { first, second, width, is_backward }, _) if is(is_backward) => {
            let head = head_width(design);
            let heads = width.checked_div(head).filter(|heads| *heads > 0 && width % head == 0)?;
            attention(first.min(second), first.max(second), heads, head, is_backward)
        }
        (Shape::Moved { bytes }, Class::Vector) => burst.elementwise(of(bytes), 1.0),
        _ => return None,
    };
    Some(seconds.get())
}

/// Width of a head's queries.
fn head_width(design: &Design) -> u64 {
    let transformer = &design.transformer;
    let own = transformer.hidden_size / transformer.num_attention_heads.max(1);
    transformer.kv_channels.unwrap_or(own).max(1)
}

/// The rate with which the shapes of a class take as long as was measured; `None` if there aren't
/// enough of them.
fn by_shapes(
    profile: &Profile,
    design: &Design,
    constant: &Constant,
    class: Class,
) -> Result<Option<Rate>, String> {
    let large: Vec<(&Shape, &Sum)> =
        profile.shapes.iter().filter(|(_, sum)| sum.micros >= LARGE_US * sum.calls).collect();
    let ratios = |value: f64| -> Result<Vec<(f64, f64)>, String> {
        let mut design = design.clone();
        *(constant.own)(&mut design.kernel) = Some(value);
        let burst = Burst::in_step(&plan_of(&design)?);
        let one = |(shape, sum): &(&Shape, &Sum)| {
            let predicted = seconds(&burst, shape, class, &design)? * 1e6 * sum.calls;
            Some(((predicted / sum.micros).ln(), sum.micros))
        };
        Ok(large.iter().filter_map(one).collect())
    };
    let off = |ratios: &[(f64, f64)]| {
        let all: f64 = ratios.iter().map(|it| it.1).sum();
        (all, ratios.iter().map(|(ratio, weight)| ratio.exp() * weight).sum::<f64>() / all)
    };
    let start = ratios(constant.bounds()[1])?;
    if start.is_empty() || off(&start).0 < MIN_SHAPES_MICROS {
        return Ok(None);
    }
    // Times fall as the rate rises.
    let [mut low, mut high] = constant.bounds();
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if off(&ratios(middle)?).1 > 1.0 { low = middle } else { high = middle }
    }
    let value = (low * high).sqrt();
    let last = ratios(value)?;
    let (all, _) = off(&last);
    let variance: f64 =
        last.iter().map(|(ratio, weight)| weight * ratio * ratio).sum::<f64>() / all;
    let deviation = (variance / last.len() as f64).sqrt().max(MIN_DEVIATION);
    Ok(Some(Rate { value, deviation }))
}

/// Predicted work of a design in a step, by class.
struct Work {
    steps: f64,
    /// Seconds of a step as predicted.
    seconds: [f64; COUNT],
}

impl Work {
    /// The steps of a profile are those that it marks, or as many as backward attentions make up.
    fn of(profile: &Profile, design: &Design) -> Result<Self, String> {
        if design.memory.recompute_granularity != model::ground::choice::RecomputeGranularity::None
        {
            return Err("the design recomputes, and without shapes what is done again can't be \
                        told apart: record shapes"
                .to_owned());
        }
        let plan = plan_of(design)?;
        let operators = roofline(&plan, &estimate(&plan).communication).operators;
        let calls: f64 = operators
            .iter()
            .filter(|it| class_of(it) == Some(Class::AttentionBackward))
            .map(|it| it.calls)
            .sum();
        let counted = profile.classes.get(&Class::AttentionBackward).map_or(0.0, |it| it.calls);
        let marked = profile.steps.len() as f64;
        let steps = if marked > 0.0 { marked } else { (counted / calls).round() };
        let is_whole = (counted / calls - steps).abs() <= MAX_OFF * steps;
        if steps < 1.0 || !steps.is_finite() || !is_whole {
            return Err(format!(
                "{counted} backward attentions don't make whole steps of this design, which has \
                 {calls} in each"
            ));
        }
        let mut seconds = [0.0; COUNT];
        for (index, class, _) in GIVEN {
            let own = operators.iter().filter(|it| class_of(it) == Some(class));
            seconds[index] = own.map(|it| it.step_seconds().get()).sum();
        }
        Ok(Self { steps, seconds })
    }

    fn rate(
        &self,
        measured: Sum,
        design: &Design,
        constant: &Constant,
        class: Class,
    ) -> Result<Rate, String> {
        let place = GIVEN.iter().find(|it| it.1 == class).map_or(0, |it| it.0);
        let predicted = self.seconds[place] * 1e6 * self.steps;
        if predicted <= 0.0 {
            return Err("the design has none of them".to_owned());
        }
        let value = (constant.in_effect)(&plan_of(design)?.rates_in_effect());
        let [least, most] = constant.bounds();
        let value = (value * predicted / measured.micros).clamp(least, most);
        Ok(Rate { value, deviation: WITHOUT_SHAPES })
    }
}

/// The class of an operator's kernels.
fn class_of(operator: &Operator) -> Option<Class> {
    Some(match (operator.unit, operator.name, operator.direction) {
        (Unit::Vector, ..) => Class::Vector,
        (Unit::Cube, "Core attention", Direction::Forward) => Class::AttentionForward,
        (Unit::Cube, "Core attention", Direction::Backward) => Class::AttentionBackward,
        (Unit::Cube, "Experts", _) => Class::Grouped,
        (Unit::Cube, ..) => Class::Product,
    })
}
