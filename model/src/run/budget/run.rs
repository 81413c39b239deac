//! The budget of a plan.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::checkpoint::{Checkpoint, Writing};
use super::recovery::{Ratios, Recovery};
use super::simulation::{Outcomes, outcomes};
use crate::catalogue::memory_state::MemoryState;
use crate::design::{Design, KnobId, Run};
use crate::ground::knob::Value;
use crate::ground::units::Seconds;
use crate::metric::published::POWER_USAGE_EFFECTIVENESS;
use crate::metric::{Basis, BudgetMetrics, MetricId};
use crate::training::estimate::Metrics;
use crate::training::estimator::Estimator;
use crate::training::plan::Plan;
use crate::training::range::{Range, range};

/// Goodput below which a run is said not to move.
const MIN_GOODPUT: f64 = 1e-6;

/// The seed of the played runs: the same budget gives the same spread everywhere.
const SEED: u64 = 0x6275_6467;

/// Batches of the warm-up, as parts of the whole one.
const RAMP_PARTS: u64 = 4;

/// Batches that are tried from a part of the whole one on, until one is legal.
const RAMP_TRIES: u64 = 64;

/// Budget of one run: time, checkpoints, failures, power and cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Training alone; none without tokens.
    pub training: Option<Seconds>,
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Recovery from failures; `None` if failures or the rate of checkpoints aren't known.
    pub recovery: Option<Recovery>,
    /// Training between two checkpoints, as it is taken.
    pub interval: Option<Seconds>,
    /// Shares of the wall clock.
    pub ratios: Option<Ratios>,
    /// Outcomes of equal runs.
    pub outcomes: Option<Outcomes>,
    /// Tokens a second with the whole batch.
    pub tokens_per_second: f64,
    /// Power of a device, where it is known.
    pub watts: Option<f64>,
    /// Gains of more speed, of faster checkpoints and of the other way to write them.
    pub gains: Vec<Gain>,
    /// The least rate of checkpoints with which saving and losing take 1 % of the run, GB/s.
    pub rate_for_99: Option<f64>,
    /// Spare nodes and the time until they are used up.
    pub spares: Option<Spares>,
    /// Assumptions made for values that the design doesn't give.
    pub assumed: Vec<String>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
    /// Inputs of the time of training alone; `None` without tokens.
    pub(super) paced: Option<Paced>,
    prices: Prices,
}

/// The tokens of a run by how fast they are trained on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Paced {
    /// Tokens of the batch's warm-up.
    pub(super) warm_up_tokens: f64,
    /// Time that they take.
    pub(super) warm_up: Seconds,
    /// Tokens with the whole batch.
    pub(super) tokens: f64,
}

/// Factors that turn days into device hours, energy and cost.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prices {
    devices: f64,
    spares: f64,
    price: Option<f64>,
    pue: f64,
}

/// Gain of a change over the whole run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// The public name.
    pub name: &'static str,
    /// The change, for people.
    pub title: &'static str,
    /// Days less.
    pub days: f64,
    /// Device-hours less.
    pub device_hours: f64,
    /// Money less, where a price is known.
    pub cost: Option<f64>,
}

/// Spare nodes and the time until they are used up: each failure takes a node out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spares {
    /// Nodes that stand by.
    pub nodes: f64,
    /// Days after which they are used up where none is repaired, the mean.
    pub days: f64,
    /// The longest repair, in hours, at which one is there for a failure 99 times of 100.
    pub repair_hours: f64,
}

impl Budget {
    /// The value of a metric; `None` if something isn't known.
    #[must_use]
    pub fn get(&self, metric: MetricId) -> Option<f64> {
        VALUES.get(metric).and_then(|value| value(self))
    }

    /// Hours of all devices, spare ones among them.
    fn device_hours(&self) -> Option<f64> {
        Some(self.days()? * 24.0 * (self.prices.devices + self.prices.spares))
    }

    /// Days of the run; of training alone where goodput isn't known.
    fn days(&self) -> Option<f64> {
        let goodput = self.ratios.map_or(1.0, |it| it.goodput);
        (goodput >= MIN_GOODPUT).then_some((self.training? / goodput).to_days())
    }

    /// Whether failures and checkpoints are counted.
    #[must_use]
    pub const fn knows_goodput(&self) -> bool {
        self.ratios.is_some()
    }
}

/// Formula of each metric.
const VALUES: BudgetMetrics<fn(&Budget) -> Option<f64>> = BudgetMetrics {
    days_to_train: Budget::days,
    training_days: |of| of.training.map(Seconds::to_days),
    device_hours: Budget::device_hours,
    cost: |of| Some(of.device_hours()? * of.prices.price?),
    energy_kwh: |of| Some(of.device_hours()? * of.watts? * of.prices.pue / 1e3),
    goodput_ratio: |of| of.ratios.map(|ratios| ratios.goodput),
    checkpoint_stall_ratio: |of| of.ratios.map(|ratios| ratios.stall),
    lost_work_ratio: |of| of.ratios.map(|ratios| ratios.lost),
    restart_ratio: |of| of.ratios.map(|ratios| ratios.restart),
    failures_expected: |of| Some(Seconds::days(of.days()?) / of.recovery?.between_failures),
    checkpoint_bytes: |of| Some(of.checkpoint.bytes.get()),
    checkpoint_seconds: |of| of.recovery.map(|recovery| (recovery.stall + recovery.behind).get()),
    optimal_checkpoint_interval_seconds: |of| {
        of.recovery.map(|recovery| recovery.best_interval().get())
    },
};

/// The budget of a plan with these metrics.
#[must_use]
pub fn budget(plan: &Plan, metrics: &Metrics) -> Budget {
    let mut own = plain(plan, metrics);
    let run = &plan.design().run;
    if let (Some(recovery), Some(training), Some(interval)) =
        (own.recovery, own.training, own.interval)
    {
        let limit = run.deadline_days.map(Seconds::days);
        own.outcomes = outcomes(&recovery, training, interval, limit, SEED);
    }
    own.gains = gains(plan, metrics, &own);
    own.rate_for_99 = own.recovery.and_then(|it| rate_for(&it, own.checkpoint, run, 0.99));
    own.spares = own.recovery.and_then(|it| spares(plan.design(), &it));
    own.assumed = assumed(plan.design(), &own);
    own
}

/// The budget without what is played or compared.
#[must_use]
pub fn plain(plan: &Plan, metrics: &Metrics) -> Budget {
    let (design, run) = (plan.design(), &plan.design().run);
    let mut warnings = Vec::new();
    let checkpoint = Checkpoint::new(plan);
    let devices = design.cluster.num_devices as f64;
    let recovery =
        run.mtbf_device_hours.zip(checkpoint.writing(run)).map(|(hours, writing)| Recovery {
            between_failures: Seconds::new(hours * 3_600.0 / devices),
            stall: writing.stall,
            behind: writing.behind,
            restart: Seconds::new(run.restart_seconds),
            least_interval: metrics.step_time,
        });
    let interval = recovery.map(|it| {
        let asked = run.checkpoint_interval_seconds.map(Seconds::new);
        let asked = asked.unwrap_or_else(|| it.best_interval());
        let taken = asked.max(it.shortest_interval());
        if taken > asked {
            warnings.push(format!(
                "a checkpoint every {:.0} s is more often than a step or the last one's writing \
                 allows: taken as {:.0} s",
                asked.get(),
                taken.get()
            ));
        }
        taken
    });
    let ratios = recovery.zip(interval).map(|(it, interval)| it.ratios(interval));
    if ratios.is_some_and(|it| it.goodput < MIN_GOODPUT) {
        warnings.push("failures come faster than the run can recover: it never ends".into());
    }
    let likely = 100.0 * metrics.fit_probability;
    match metrics.memory_state() {
        MemoryState::Fits => {}
        MemoryState::Tight => {
            warnings.push(format!("memory is tight: {likely:.0} % likely to fit"));
        }
        MemoryState::Unlikely => {
            warnings.push(format!("memory is unlikely to be enough: {likely:.0} % likely to fit"));
        }
        MemoryState::DoesNotFit => {
            warnings.push(format!("the design does not fit its memory: {likely:.0} % likely to"));
        }
    }
    let paced = run.train_tokens.map(|tokens| {
        let warm_up_tokens = run.ramp.unwrap_or(0.0).min(tokens);
        let warm_up = ramped(plan, warm_up_tokens, &mut warnings);
        Paced { warm_up_tokens, warm_up, tokens: tokens - warm_up_tokens }
    });
    let training = paced.map(|it| {
        let whole = Seconds::new(it.tokens / metrics.tokens_per_second);
        it.warm_up + whole
    });
    Budget {
        training,
        checkpoint,
        recovery,
        interval,
        ratios,
        outcomes: None,
        tokens_per_second: metrics.tokens_per_second,
        watts: run
            .device_watts
            .or_else(|| design.cluster.accelerator.row().rated_watts.map(|(watts, _)| watts)),
        gains: Vec::new(),
        rate_for_99: None,
        spares: None,
        assumed: Vec::new(),
        warnings,
        paced,
        prices: Prices {
            devices,
            spares: run.spare_devices as f64,
            price: run.price_per_device_hour,
            pue: run.pue.unwrap_or(1.0),
        },
    }
}

/// Time of the tokens in which the batch grows from a quarter to three quarters, a third of them
/// with each: smaller batches have fewer micro-batches and so more bubble.
fn ramped(plan: &Plan, tokens: f64, warnings: &mut Vec<String>) -> Seconds {
    if tokens <= 0.0 {
        return Seconds::ZERO;
    }
    let mut estimator = Estimator::new();
    let batch = plan.design().training.global_batch_size;
    let unit = plan.design().training.micro_batch_size * plan.data_parallel_size();
    let rate = |part: u64| {
        let first = (batch * part / RAMP_PARTS / unit).max(1);
        let tried = (first..first + RAMP_TRIES).map(|count| count * unit);
        tried.take_while(|size| *size <= batch).find_map(|size| {
            let mut design = plan.design().clone();
            design.set(KnobId::global_batch_size, &Value::Integer(size)).ok()?;
            estimator.metrics(&design).ok().map(|it| it.tokens_per_second)
        })
    };
    let rates: Option<Vec<f64>> = (1..RAMP_PARTS).map(rate).collect();
    let Some(rates) = rates else {
        warnings.push("no smaller batch is legal: the warm-up is counted at the whole one".into());
        let mut estimator = Estimator::new();
        let whole = estimator.metrics(plan.design()).map_or(1.0, |it| it.tokens_per_second);
        return Seconds::new(tokens / whole);
    };
    let part = |rate: &f64| Seconds::new(tokens / (RAMP_PARTS - 1) as f64 / rate);
    rates.iter().map(part).sum()
}

fn with(plan: &Plan, metrics: &Metrics, change: impl FnOnce(&mut Design)) -> Option<f64> {
    let mut design = plan.design().clone();
    change(&mut design);
    // None of these knobs is of the layout: what was legal is.
    let other = Plan::new(&design).ok()?;
    plain(&other, metrics).days()
}

/// Gains of a point of MFU, of twice the rate of checkpoints and of the other way to write them.
fn gains(plan: &Plan, metrics: &Metrics, own: &Budget) -> Vec<Gain> {
    let Some(days) = own.days() else { return Vec::new() };
    let gain = |name, title, other: Option<f64>| {
        let less = days - other?;
        let device_hours = less * 24.0 * (own.prices.devices + own.prices.spares);
        let cost = own.prices.price.map(|price| price * device_hours);
        Some(Gain { name, title, days: less, device_hours, cost })
    };
    let point = days * metrics.mfu / (metrics.mfu + 0.01);
    let mut gains: Vec<Gain> =
        gain("mfu_point", "One point of MFU more", Some(point)).into_iter().collect();
    if let Some(rate) = plan.design().run.checkpoint_gb_per_sec.filter(|_| own.knows_goodput()) {
        let twice = with(plan, metrics, |it| it.run.checkpoint_gb_per_sec = Some(2.0 * rate));
        gains.extend(gain("checkpoint_rate", "Checkpoints written twice as fast", twice));
        let is_async = plan.design().run.checkpoint_async;
        let other = with(plan, metrics, |it| it.run.checkpoint_async = !is_async);
        let title = if is_async {
            "Checkpoints that stop the training"
        } else {
            "Checkpoints written behind the training"
        };
        gains.extend(gain("checkpoint_async", title, other));
        let restart = plan.design().run.restart_seconds;
        let half = with(plan, metrics, |it| it.run.restart_seconds = restart / 2.0);
        gains.extend(gain("restart", "Restarts in half the time", half));
    }
    gains
}

/// The least rate of checkpoints, in GB/s, with which goodput at the best interval is this share of
/// what it is without checkpoints; by halving, as goodput grows with the rate. `None` if none of
/// up to 10^6 GB/s does.
fn rate_for(recovery: &Recovery, checkpoint: Checkpoint, run: &Run, share: f64) -> Option<f64> {
    let most = libm::exp(-(recovery.restart / recovery.between_failures)) * share;
    let goodput = |rate: f64| {
        let checkpoint_async = run.checkpoint_async;
        let run = Run { checkpoint_gb_per_sec: Some(rate), checkpoint_async, ..Run::default() };
        let Writing { stall, behind } = checkpoint.writing(&run).unwrap_or_default();
        let other = Recovery { stall, behind, ..*recovery };
        other.ratios(other.best_interval()).goodput
    };
    let [mut low, mut high] = [libm::log(1e-3), libm::log(1e6)];
    if goodput(1e6) < most {
        return None;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if goodput(libm::exp(middle)) < most { low = middle } else { high = middle }
    }
    Some(libm::exp(high))
}

/// Spare nodes of a design and the time until they are used up; `None` without a whole node.
fn spares(design: &Design, recovery: &Recovery) -> Option<Spares> {
    let row = design.cluster.accelerator.row();
    let node = design.cluster.devices_per_node.unwrap_or(row.devices_per_node).max(1) as f64;
    let nodes = libm::floor(design.run.spare_devices as f64 / node);
    (nodes >= 1.0).then(|| Spares {
        nodes,
        days: (recovery.between_failures * nodes).to_days(),
        repair_hours: in_repair(nodes) * recovery.between_failures.get() / 3_600.0,
    })
}

/// The largest mean of nodes in repair of which at most this many are in repair with 99 %, by
/// Poisson's distribution.
fn in_repair(nodes: f64) -> f64 {
    let covered = |mean: f64| {
        let (mut term, mut sum, mut count) = (libm::exp(-mean), 0.0, 0.0);
        // One fewer than there are: the next failure needs one.
        while count < nodes {
            sum += term;
            count += 1.0;
            term *= mean / count;
        }
        sum
    };
    let [mut low, mut high] = [0.0, nodes.min(700.0)];
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if covered(middle) >= 0.99 { low = middle } else { high = middle }
    }
    low
}

fn assumed(design: &Design, own: &Budget) -> Vec<String> {
    let run = &design.run;
    let mut all = Vec::new();
    if run.train_tokens.is_none() {
        all.push(
            "how many tokens are trained on isn't said: days, money and energy stay open".into(),
        );
    }
    if own.recovery.is_none() {
        all.push(
            "failures or the rate of checkpoints aren't known: days are those of training alone, a \
             floor"
                .into(),
        );
    } else if run.restart_seconds.to_bits() == 900.0_f64.to_bits() {
        all.push("a restart takes 15 minutes, MegaScale's bound".into());
    }
    if run.device_watts.is_none() {
        match design.cluster.accelerator.row().rated_watts {
            Some((watts, source)) => all.push(format!(
                "a device draws its rated {watts:.0} W ({}); hosts and network are left out",
                source.title
            )),
            None => all.push("no power is published for this device: energy stays open".into()),
        }
    }
    if run.pue.is_none() {
        let [low, high] =
            POWER_USAGE_EFFECTIVENESS.map(|published| 100.0 * (published.value - 1.0));
        all.push(format!(
            "energy is that of the machines; a facility adds {low:.0} % (Google's fleet, 2024) to \
             {high:.0} % (Uptime Institute's survey, 2024)"
        ));
    }
    if run.spare_devices > 0 {
        all.push("spare devices are paid for and draw power as the others do".into());
    }
    all
}

/// The range of a metric of a budget, as factors: where it follows the step's time, its own.
#[must_use]
pub(crate) fn budget_range(plan: &Plan, metric: MetricId) -> Option<Range> {
    match metric.metric().basis {
        Basis::Time => range(plan, MetricId::step_time_seconds),
        Basis::Rate | Basis::Memory | Basis::Verdict | Basis::Exact | Basis::Derived => None,
    }
}
