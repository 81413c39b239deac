//! What one step of each knob does to a design: nothing is extrapolated, each step is a design
//! that is estimated.

use model::design::{Design, KnobId};
use model::ground::knob::{Kind, Role, Section, Value};
use model::training::estimate::Metrics;
use model::{Plan, estimate, legal_values, steps};

use crate::choices::choices;

/// Real numbers are moved by this share of their value.
const STEP: f64 = 0.1;

choices! {
    /// Knobs of one kind of decision.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Group {
        /// Its name in what is chosen.
        name: &'static str,
        /// Its name for people.
        label: &'static str;
        /// Strategy of the run: nothing of it changes what is trained.
        Strategy = "strategy", "How it runs";
        /// The machine.
        Machine = "machine", "The machine";
        /// The model, its batch, its routing.
        Model = "model", "What is trained";
    }
}

impl Group {
    /// The one of that name, else the usual one.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|group| group.name() == name).unwrap_or(Self::Strategy)
    }

    /// The group of a knob; `None` for those whose step tells nothing.
    fn of(knob: KnobId) -> Option<Self> {
        if knob.knob().has(Role::NoLever) {
            return None;
        }
        if matches!(knob, KnobId::micro_batch_size | KnobId::optimizer) {
            return Some(Self::Strategy);
        }
        Some(match knob.knob().section {
            Section::Parallel | Section::Schedule | Section::Memory | Section::Kernel => {
                Self::Strategy
            }
            Section::Cluster => Self::Machine,
            Section::Transformer | Section::Training | Section::Routing => Self::Model,
            Section::Serving | Section::Run => return None,
        })
    }
}

/// A step of a knob.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The value after it.
    pub value: Value,
    /// The design after it.
    pub design: Design,
    /// Its numbers.
    pub metrics: Metrics,
}

/// A knob with the steps that are legal.
#[derive(Clone, Debug, PartialEq)]
pub struct Lever {
    /// The knob.
    pub knob: KnobId,
    /// Its value now; of an override that isn't set, the accelerator's.
    pub now: Value,
    /// One step below and one above, as the registry has it; of names and flags all others.
    pub steps: Vec<Step>,
}

/// Every knob of a group that has a legal step, in registry order.
#[must_use]
pub fn levers(plan: &Plan, group: Group) -> Vec<Lever> {
    let knobs = KnobId::ALL.iter().copied();
    let offered = knobs.filter(|knob| knob.knob().not_offered.is_none());
    let own = offered.filter(|knob| Group::of(*knob) == Some(group));
    own.map(|knob| lever(plan, knob)).filter(|lever| !lever.steps.is_empty()).collect()
}

fn lever(plan: &Plan, knob: KnobId) -> Lever {
    let design = plan.design();
    let mut now = design.get(knob);
    if now == Value::None {
        let count = || usual_count(design, knob).map(Value::Integer);
        now = usual(design, knob).map(Value::Real).or_else(count).unwrap_or(Value::None);
    }
    let steps = next_values(design, knob, &now).into_iter();
    let steps = steps.filter_map(|value| step(plan, knob, value)).collect();
    Lever { knob, now, steps }
}

fn step(plan: &Plan, knob: KnobId, value: Value) -> Option<Step> {
    let mut design = plan.design().clone();
    design.set(knob, &value).ok()?;
    let metrics = estimate(&plan.variant(&design).ok()?).metrics;
    Some(Step { value, design, metrics })
}

/// Value that an override replaces.
pub(crate) fn usual(design: &Design, knob: KnobId) -> Option<f64> {
    let row = design.cluster.accelerator.row();
    let usual = [
        (KnobId::hbm_usable_gib, row.hbm_usable_gib),
        (KnobId::peak_bf16_tflops, row.bf16_tflops?),
        (KnobId::intra_node_gb_per_sec, row.intra_node_gb_per_sec),
        (KnobId::inter_node_gb_per_sec, row.inter_node_gb_per_sec),
        (KnobId::host_gb_per_sec, row.host_gb_per_sec),
        (KnobId::host_memory_gib, row.host_memory_gib),
    ];
    usual.into_iter().find(|(id, _)| *id == knob).map(|(_, value)| value)
}

/// Whole number that an unset knob implies; `None` if unset means that there is no such thing.
fn usual_count(design: &Design, knob: KnobId) -> Option<u64> {
    let row = design.cluster.accelerator.row();
    let node = design.cluster.devices_per_node.unwrap_or(row.devices_per_node);
    let stages = design.parallel.pipeline_model_parallel_size;
    let usual = [
        (KnobId::devices_per_node, row.devices_per_node),
        (KnobId::scale_up_domain_size, row.scale_up_domain_size),
        (KnobId::nics_per_node, node),
        (KnobId::microbatch_group_size_per_vp_stage, stages),
    ];
    usual.into_iter().find(|(id, _)| *id == knob).map(|(_, value)| value)
}

/// The values one step from the present one.
pub(crate) fn next_values(design: &Design, knob: KnobId, now: &Value) -> Vec<Value> {
    if let (Kind::Real(low, high) | Kind::OptionalReal(low, high), Value::Real(number)) =
        (knob.knob().kind, now)
    {
        let moved = [1.0 - STEP, 1.0 + STEP].map(|factor| rounded(number * factor));
        let legal = moved.into_iter().filter(|value| (low..=high).contains(value));
        return legal.filter(|value| value.total_cmp(number).is_ne()).map(Value::Real).collect();
    }
    if matches!(knob.knob().kind, Kind::Integer(..) | Kind::OptionalInteger(..)) {
        let now =
            if let Value::Integer(now) = now { Some(*now) } else { usual_count(design, knob) };
        let numbers = now.map_or_else(Vec::new, |now| steps(design, knob, now));
        return numbers.into_iter().map(Value::Integer).collect();
    }
    legal_values(design, knob).into_iter().filter(|value| value != now).collect()
}

/// To four digits: a link needn't say more of a step.
pub(crate) fn rounded(number: f64) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powi(3 - number.abs().log10().floor() as i32);
    (number * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use model::ground::knob::Grain;

    use super::*;
    use crate::insight::numbers::Numbers;

    #[test]
    fn every_step_is_the_estimate_of_that_design_and_differs_in_one_knob() {
        let plan = Numbers::of_link("").plan;
        for group in Group::ALL {
            let levers = levers(&plan, group);
            assert!(levers.len() > 4, "{group:?}");
            for lever in levers {
                for step in lever.steps {
                    let mut design = plan.design().clone();
                    design.set(lever.knob, &step.value).expect("in bounds");
                    assert_eq!(design, step.design);
                    let alone = estimate(&Plan::new(&design).expect("legal")).metrics;
                    assert_eq!(alone, step.metrics, "{:?}", lever.knob);
                }
            }
        }
    }

    #[test]
    fn no_step_of_a_whole_number_is_one_that_nobody_would_take() {
        for query in ["", "preset=deepseek-v3-2k-h800", "preset=qwen3-8b"] {
            let plan = Numbers::of_link(query).plan;
            for lever in Group::ALL.into_iter().flat_map(|group| levers(&plan, group)) {
                let Value::Integer(now) = lever.now else { continue };
                for step in &lever.steps {
                    let Value::Integer(then) = step.value else { continue };
                    let knob = lever.knob;
                    let is_taken = match knob.knob().grain {
                        Grain::Unit => true,
                        Grain::Factor => then % now == 0 || now % then == 0,
                        Grain::Multiple(of) => then % of == 0,
                    };
                    assert!(is_taken, "{} {now} -> {then}", knob.id());
                }
            }
        }
        let padding = levers(&Numbers::of_link("").plan, Group::Strategy);
        let padding = padding.iter().find(|it| it.knob == KnobId::padded_base_length);
        let values = padding.map(|it| it.steps.iter().map(|step| step.value.to_string()).collect());
        assert_eq!(values, Some(vec!["128".to_owned(), "256".to_owned()]));
    }

    #[test]
    fn a_rate_that_is_not_set_moves_around_the_accelerators() {
        let levers = levers(&Numbers::of_link("").plan, Group::Machine);
        let network = levers.iter().find(|it| it.knob == KnobId::inter_node_gb_per_sec);
        let network = network.expect("the network is a lever");
        let Value::Real(now) = network.now else { panic!("{:?}", network.now) };
        let values: Vec<&Value> = network.steps.iter().map(|step| &step.value).collect();
        assert_eq!(values, [&Value::Real(rounded(now * 0.9)), &Value::Real(rounded(now * 1.1))]);
        assert!(network.steps[0].metrics.mfu < network.steps[1].metrics.mfu);
    }

    #[test]
    fn steps_are_rounded_to_four_digits() {
        let rounded = [18_754.9, 0.012_346_9, 0.0].map(|it| rounded(it).to_string());
        assert_eq!(rounded, ["18750", "0.01235", "0"]);
    }
}
