//! The same design on other accelerators, and whether the best strategy is the same there.

use model::catalogue::accelerator::AcceleratorId;
use model::design::violation::Nearest;
use model::design::{Design, KnobId, KnobSet};
use model::ground::choice::{Balance, Choice, Software};
use model::ground::knob::{Role, Value};
use model::training::estimate::{Estimate, Metrics};
use model::{Estimator, Plan, estimate};

use crate::choices::choices;
use crate::insight::sensitivity::next_values;

/// The accelerators beside the design's own, in their order.
pub fn platforms() -> impl Iterator<Item = AcceleratorId> {
    AcceleratorId::ALL.iter().copied().filter(|id| id.row().is_platform)
}

choices! {
    /// Keep fixed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Keep {
        /// Its name in what is chosen.
        name: &'static str,
        /// Its name for people.
        label: &'static str;
        /// The number of devices.
        Devices = "devices", "Number of devices";
        /// The peak FLOP/s of all devices, to the nearest legal number of them.
        Peak = "peak", "Total peak of all devices";
    }
}

impl Keep {
    /// The one of that name, else the usual one.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|keep| keep.name() == name).unwrap_or(Self::Devices)
    }
}

/// Result of a design on an accelerator.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It runs, or would run if it fitted.
    Runs(Box<(Plan, Estimate)>),
    /// It breaks a rule there: the first one, with the ways out that the model knows.
    Refused(String, Vec<Nearest>),
}

/// A design on an accelerator.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The accelerator.
    pub accelerator: AcceleratorId,
    /// Whether it is the design's own accelerator.
    pub is_own: bool,
    /// The design there.
    pub design: Design,
    /// Switches that the framework there refuses, and that are off for it.
    pub switched_off: Vec<KnobId>,
    /// Result there.
    pub outcome: Outcome,
}

/// The design on its own accelerator and on each of [`platforms`].
#[must_use]
pub fn rows(plan: &Plan, keep: Keep) -> Vec<Row> {
    let own = plan.design().cluster.accelerator;
    let mut all: Vec<_> = platforms().collect();
    if !all.contains(&own) {
        all.insert(0, own);
    }
    all.into_iter().map(|accelerator| row(plan, accelerator, keep)).collect()
}

fn row(plan: &Plan, accelerator: AcceleratorId, keep: Keep) -> Row {
    let is_own = accelerator == plan.design().cluster.accelerator;
    let design =
        if is_own { plan.design().clone() } else { moved(plan.design(), accelerator, keep) };
    let outcome = match plan.variant(&design) {
        Ok(plan) => {
            let estimate = estimate(&plan);
            Outcome::Runs(Box::new((plan, estimate)))
        }
        Err(violations) => {
            let first = violations.into_iter().next();
            let (message, ways) = first.map(|it| (it.message, it.nearest)).unwrap_or_default();
            Outcome::Refused(message, ways)
        }
    };
    let is_off = |id: &KnobId| plan.design().get(*id) != design.get(*id);
    let switched_off = switches().filter(is_off).collect();
    Row { accelerator, is_own, design, switched_off, outcome }
}

/// Switches that only hide time: a design that loses one trains the same.
fn switches() -> impl Iterator<Item = KnobId> {
    KnobSet::with_role(Role::Overlap).iter().chain([KnobId::delay_wgrad_compute])
}

/// Turns off the switches that the rules of a framework refuse.
fn switch_off(design: &mut Design) {
    // One may need the other, so each is tried twice.
    for switch in switches().chain(switches()) {
        let on = Value::Flag(true);
        if design.get(switch) != on {
            continue;
        }
        let Err(broken) = Plan::new(design) else { return };
        let mut without = design.clone();
        let _ = without.set(switch, &Value::Flag(false));
        let left = Plan::new(&without).err().map_or(0, |left| left.len());
        if left < broken.len() {
            *design = without;
        }
    }
}

/// A design with another accelerator's machine: all that describes the machine is the
/// accelerator's own, all else stays but switches that the framework there refuses.
#[must_use]
pub fn moved(own: &Design, accelerator: AcceleratorId, keep: Keep) -> Design {
    let mut design = own.clone();
    for knob in KnobSet::with_role(Role::Machine).iter() {
        // Each of them can be left to the accelerator.
        let _ = design.set(knob, &Value::None);
    }
    let name = AcceleratorId::NAMES[accelerator.index()];
    let _ = design.set(KnobId::accelerator, &Value::Text(name.to_owned()));
    // A dated state is of one maker's software.
    if !design.kernel.software.is_of(&accelerator.row().kernels) {
        design.kernel.software = Software::Calibrated;
    }
    if design.kernel.framework != own.kernel.framework {
        switch_off(&mut design);
    }
    if keep == Keep::Peak
        && let Some(count) = equal_peak(own, &design)
    {
        let _ = design.set(KnobId::num_devices, &Value::Integer(count));
    }
    design
}

/// The legal number of devices whose peak is nearest, as a factor, to that of another design.
fn equal_peak(own: &Design, moved: &Design) -> Option<u64> {
    let wanted = own.cluster.num_devices as f64 * model::peak_flops(own)?.get()
        / model::peak_flops(moved)?.get();
    let off = |count: u64| (count as f64 / wanted).ln().abs();
    let counts = model::search::solve::values(moved, KnobId::num_devices);
    let counts = counts
        .into_iter()
        .filter_map(|value| if let Value::Integer(count) = value { Some(count) } else { None });
    counts.min_by(|one, other| off(*one).total_cmp(&off(*other)))
}

/// A change of the strategy, or none.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The knob and its value; none for the design as it is.
    pub change: Option<(KnobId, Value)>,
}

/// Comparison of strategies on the accelerators.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The strategies.
    pub variants: Vec<Variant>,
    /// Metrics of each strategy, per accelerator; `None` where it breaks a rule.
    pub columns: Vec<Column>,
}

/// The strategies on an accelerator.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The accelerator.
    pub accelerator: AcceleratorId,
    /// In the order of the variants.
    pub metrics: Vec<Option<(Design, Metrics)>>,
}

/// Knobs whose neighbours are compared.
const STRATEGY: [KnobId; 7] = [
    KnobId::tensor_model_parallel_size,
    KnobId::pipeline_model_parallel_size,
    KnobId::virtual_pipeline_model_parallel_size,
    KnobId::expert_model_parallel_size,
    KnobId::context_parallel_size,
    KnobId::micro_batch_size,
    KnobId::recompute_granularity,
];

/// The design and its neighbours of the strategy, one step of one knob each, on the accelerators
/// of these rows.
#[must_use]
pub fn ranking(plan: &Plan, rows: &[Row]) -> Ranking {
    let design = plan.design();
    let mut variants = vec![Variant { change: None }];
    for knob in STRATEGY {
        let values = next_values(design, knob, &design.get(knob)).into_iter();
        variants.extend(values.map(|value| Variant { change: Some((knob, value)) }));
    }
    // One estimator for each strategy: its load imbalance is the same on every accelerator.
    let mut estimators: Vec<Estimator> = variants.iter().map(|_| Estimator::new()).collect();
    let columns: Vec<Column> = rows
        .iter()
        .map(|row| Column {
            accelerator: row.accelerator,
            metrics: variants
                .iter()
                .zip(&mut estimators)
                .map(|(variant, estimator)| variant.on(plan, &row.design, estimator))
                .collect(),
        })
        .collect();
    // What breaks a rule everywhere is no strategy.
    let runs: Vec<bool> = (0..variants.len())
        .map(|index| columns.iter().any(|column| column.metrics[index].is_some()))
        .collect();
    let kept = |index: usize| runs[index];
    let columns = columns
        .into_iter()
        .map(|column| Column {
            metrics: only(column.metrics, kept),
            accelerator: column.accelerator,
        })
        .collect();
    Ranking { variants: only(variants, kept), columns }
}

fn only<T>(list: Vec<T>, kept: impl Fn(usize) -> bool) -> Vec<T> {
    list.into_iter().enumerate().filter(|(index, _)| kept(*index)).map(|(_, item)| item).collect()
}

impl Variant {
    fn on(
        &self,
        plan: &Plan,
        design: &Design,
        estimator: &mut Estimator,
    ) -> Option<(Design, Metrics)> {
        let mut design = design.clone();
        if let Some((knob, value)) = &self.change {
            design.set(*knob, value).ok()?;
        }
        let metrics = if design.routing.balance == Balance::Trace {
            estimate(&plan.variant(&design).ok()?).metrics
        } else {
            estimator.metrics(&design).ok()?
        };
        Some((design, metrics))
    }
}

impl Column {
    /// Index of the fastest strategy that fits; `None` if none does.
    #[must_use]
    pub fn best(&self) -> Option<usize> {
        let fits = |index: &usize| self.speed(*index).is_some();
        (0..self.metrics.len())
            .filter(fits)
            .reduce(|best, other| if self.speed(other) > self.speed(best) { other } else { best })
    }

    /// The place of a strategy among those that fit, from 1; none for one that doesn't.
    #[must_use]
    pub fn place(&self, index: usize) -> Option<usize> {
        let own = self.speed(index)?;
        let faster = (0..self.metrics.len()).filter(|other| self.speed(*other) > Some(own));
        Some(1 + faster.count())
    }

    /// Tokens per second and device of a strategy that fits.
    #[must_use]
    pub fn speed(&self, index: usize) -> Option<f64> {
        let (_, metrics) = self.metrics.get(index)?.as_ref()?;
        metrics.fits.then_some(metrics.tokens_per_second_per_device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::numbers::Numbers;

    #[test]
    fn every_row_is_the_estimate_of_its_design_and_one_is_the_designs_own() {
        let plan = Numbers::of_link("").plan;
        for keep in Keep::ALL {
            let rows = rows(&plan, keep);
            assert_eq!(rows.iter().filter(|row| row.is_own).count(), 1);
            for row in &rows {
                assert_eq!(row.design.cluster.accelerator, row.accelerator);
                let Outcome::Runs(run) = &row.outcome else { panic!("{row:?}") };
                let alone = Plan::new(&row.design).expect("legal");
                assert_eq!(run.1, estimate(&alone), "{:?}", row.accelerator);
                if row.is_own {
                    assert_eq!(row.design, *plan.design());
                }
            }
        }
    }

    #[test]
    fn the_peak_of_all_devices_is_kept_as_nearly_as_whole_replicas_allow() {
        let plan = Numbers::of_link("").plan;
        let whole = |design: &Design| {
            design.cluster.num_devices as f64 * model::peak_flops(design).expect("a peak").get()
        };
        for row in rows(&plan, Keep::Peak) {
            let ratio = whole(&row.design) / whole(plan.design());
            assert!((0.66..1.5).contains(&ratio), "{:?}: {ratio}", row.accelerator);
        }
        for row in rows(&plan, Keep::Devices) {
            assert_eq!(row.design.cluster.num_devices, plan.design().cluster.num_devices);
        }
    }

    #[test]
    fn what_another_accelerator_lacks_is_refused_with_a_way_out() {
        let query = "?cluster.accelerator=h800-sxm-80gb&training.precision=fp8_blockwise";
        let rows = rows(&Numbers::of_link(query).plan, Keep::Devices);
        let ascend = rows.iter().find(|row| row.accelerator == AcceleratorId::Ascend910b3);
        let Some(Row { outcome: Outcome::Refused(message, ways), .. }) = ascend else {
            panic!("{ascend:?}")
        };
        assert!(!message.is_empty() && !ways.is_empty(), "{message} {ways:?}");
    }

    #[test]
    fn a_switch_that_the_framework_there_refuses_goes_off_and_is_told() {
        let own = Numbers::of_link(
            "?v=1&preset=deepseek-v3-512-910c&overlap_moe_expert_parallel_comm=true",
        )
        .plan;
        let overlap = KnobId::overlap_moe_expert_parallel_comm;
        for row in rows(&own, Keep::Devices) {
            assert!(matches!(row.outcome, Outcome::Runs(_)), "{row:?}");
            let follows = row.design.kernel.framework != own.design().kernel.framework;
            let expected: &[KnobId] = if follows { &[overlap] } else { &[] };
            assert_eq!(row.switched_off, expected, "{:?}", row.accelerator);
            assert_eq!(row.design.get(overlap), Value::Flag(!follows));
        }
    }

    #[test]
    fn places_follow_from_speed_among_those_that_fit() {
        let plan = Numbers::of_link("").plan;
        let rows = rows(&plan, Keep::Devices);
        let ranking = ranking(&plan, &rows);
        assert!(ranking.variants.len() > 6, "{:?}", ranking.variants);
        for (column, row) in ranking.columns.iter().zip(&rows) {
            let Outcome::Runs(run) = &row.outcome else { continue };
            let (_, own) = column.metrics[0].as_ref().expect("the design itself runs");
            assert_eq!(*own, run.1.metrics);
            if let Some(best) = column.best() {
                assert_eq!(column.place(best), Some(1));
            }
            for index in 0..ranking.variants.len() {
                let fits = column.metrics[index].as_ref().is_some_and(|(_, it)| it.fits);
                assert_eq!(column.place(index).is_some(), fits);
            }
        }
    }
}
