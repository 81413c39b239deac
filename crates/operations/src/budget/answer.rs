//! A budget as data.

use model::design::Design;
use model::design::violation::Violation;
use model::ground::units::Seconds;
use model::metric::published::{CHECKPOINT_RATES, FAILURE_INTERVALS, TRAIN_TOKENS};
use model::metric::{MetricId, Regime};
use model::run::budget::{Assessment, Budget, Costed, Judged, Outcomes};
use model::run::quality::{CAVEAT, Comparison};
use model::{MODEL_VERSION, design::link};
use reports::report::{BrokenRule, Published, broken, published as source};
use reports::typed::{DesignFile, May, Named, answers};

answers! {
    /// Budget of a design's run.
    #[cfg_attr(feature = "schema", schemars(rename = "Budget"))]
    struct Budgeted {
        design: DesignFile,
        /// Every metric of a budget by its id: a number, or null where something isn't known.
        metrics: Named<Option<f64>>,
        /// By metric that follows the step's time where half and nine of ten runs lie, and what
        /// that rests on.
        ranges: Named<BudgetRange>,
        /// What the numbers rest on: times of checkpoints, intervals, spare nodes.
        run: Option<RunBehind>,
        /// How equal runs end that are played failure by failure; null where failures or
        /// checkpoints aren't known.
        spread: Option<SpreadOfRuns>,
        /// Goodput over failures and storage.
        surface: Option<GoodputSurface>,
        /// What changes are worth over the run.
        gains: Vec<Gain>,
        /// Published failures and storage that unknown inputs may be taken from.
        published: Option<PublishedInputs>,
        /// What published laws of loss say beside the baseline, with the caveat that stands beside
        /// every value; null without a baseline or without tokens.
        quality: Option<Quality>,
        /// What was taken where nothing was said.
        assumed: Vec<String>,
        violations: Vec<BrokenRule>,
        warnings: Vec<String>,
        model_version: &'static str,
    }

    /// Where true values lie, and what that rests on.
    struct BudgetRange {
        range_50: [f64; 2],
        range_90: [f64; 2],
        /// Published runs that it rests on.
        rows: u32,
        /// Sources of these.
        sources: u32,
    }

    /// What the numbers of a run rest on; null where it isn't known.
    struct RunBehind {
        tokens_per_second: f64,
        device_watts: Option<f64>,
        seconds_between_failures: Option<f64>,
        checkpoint_writers: f64,
        snapshot_seconds: f64,
        stall_seconds: Option<f64>,
        write_behind_seconds: Option<f64>,
        checkpoint_interval_seconds: Option<f64>,
        young_interval_seconds: Option<f64>,
        daly_interval_seconds: Option<f64>,
        checkpoint_gb_per_sec_for_99_percent: Option<f64>,
        spares: Option<SpareNodes>,
    }

    /// Spare nodes and what they bear.
    struct SpareNodes {
        nodes: f64,
        days_without_repair: f64,
        longest_repair_hours: f64,
    }

    /// How equal runs end that are played failure by failure.
    struct SpreadOfRuns {
        /// How many were played.
        runs: u64,
        days_10: f64,
        days_50: f64,
        days_90: f64,
        days_mean: f64,
        failures_mean: f64,
        /// Null without a deadline.
        share_within_deadline: Option<f64>,
    }

    /// Goodput: a row for each of the device-hours between failures, a column for each rate.
    struct GoodputSurface {
        mtbf_device_hours: Vec<f64>,
        checkpoint_gb_per_sec: Vec<f64>,
        goodput_ratio: Vec<Vec<f64>>,
    }

    /// What a change is worth over the run.
    struct Gain {
        name: &'static str,
        title: &'static str,
        days: f64,
        device_hours: f64,
        cost: Option<f64>,
    }

    /// Published figures that unknown inputs may be taken from.
    struct PublishedInputs {
        tokens: Vec<PublishedTokens>,
        failures: Vec<PublishedFailures>,
        storage: Vec<PublishedStorage>,
    }

    /// How many tokens a model was trained on.
    struct PublishedTokens {
        name: &'static str,
        title: &'static str,
        train_tokens: f64,
        source: Published,
    }

    /// How often devices of a cluster fail.
    struct PublishedFailures {
        name: &'static str,
        title: &'static str,
        mtbf_device_hours: f64,
        source: Published,
    }

    /// How fast a cluster writes checkpoints.
    struct PublishedStorage {
        title: &'static str,
        checkpoint_gb_per_sec: f64,
        source: Published,
    }

    /// What published laws of loss say of a design beside its baseline.
    struct Quality {
        /// The query of the baseline's link.
        baseline: String,
        /// In nats; null where it is refused.
        loss_difference: Option<Spread>,
        /// By law, in nats.
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        loss_difference_by_law: May<Named<f64>>,
        /// Tokens with which it is as good as the baseline; null where none are.
        tokens_to_equal_loss: Option<Spread>,
        /// Whether the laws don't tell them apart.
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        tie: May<bool>,
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        ranked: May<bool>,
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        flags: May<Vec<Flag>>,
        /// Why the laws can't say.
        refused: Vec<Refusal>,
        relative_time_to_equal_loss: Option<f64>,
        days_less_baseline: Option<f64>,
        /// Low, middle and high.
        efficiency_leverage: [f64; 3],
        /// By law.
        batch_tokens_advised: Named<f64>,
        caveat: &'static str,
    }

    /// Over the laws.
    struct Spread {
        median: f64,
        min: f64,
        max: f64,
    }

    /// What to know of a comparison.
    struct Flag {
        name: &'static str,
        message: String,
    }

    /// Why the laws can't say.
    struct Refusal {
        rule: &'static str,
        message: String,
    }
}

/// Budget of a design that breaks rules.
pub(super) fn refused(design: &Design, violations: &[Violation]) -> Budgeted {
    Budgeted {
        design: DesignFile::of(design),
        metrics: Named::of(MetricId::of(Regime::Budget).map(|id| (id.metric().name, None))),
        ranges: Named::none(),
        run: None,
        spread: None,
        surface: None,
        gains: vec![],
        published: None,
        quality: None,
        assumed: vec![],
        violations: violations.iter().map(broken).collect(),
        warnings: vec![],
        model_version: MODEL_VERSION,
    }
}

/// Budget of a design beside its baseline.
pub(super) fn legal(assessment: &Assessment) -> Budgeted {
    let own = &assessment.own;
    let metrics = MetricId::of(Regime::Budget).map(|id| (id.metric().name, own.budget.get(id)));
    Budgeted {
        design: DesignFile::of(own.plan.design()),
        metrics: Named::of(metrics),
        ranges: ranges(own),
        run: Some(run(own)),
        spread: own.budget.outcomes.map(|it| spread(own, &it)),
        surface: Some(surface(assessment)),
        gains: own.budget.gains.iter().map(gain).collect(),
        published: Some(published()),
        quality: quality(assessment),
        assumed: own.budget.assumed.clone(),
        violations: vec![],
        warnings: own.budget.warnings.clone(),
        model_version: MODEL_VERSION,
    }
}

fn ranges(own: &Costed) -> Named<BudgetRange> {
    let answer = own.answer();
    let range = |id: MetricId| {
        let (range, value) = (answer.range(id)?, answer.number(id)?);
        let ends = |factors: [f64; 2]| factors.map(|it| value * it);
        let range = BudgetRange {
            range_50: ends(range.half),
            range_90: ends(range.most),
            rows: range.basis.rows,
            sources: range.basis.sources,
        };
        Some((id.metric().name, range))
    };
    Named::of(MetricId::of(Regime::Budget).filter_map(range))
}

/// Inputs and intermediate numbers of a run's budget, step by step.
fn run(own: &Costed) -> RunBehind {
    let Budget { checkpoint, recovery, interval, spares, .. } = &own.budget;
    RunBehind {
        tokens_per_second: own.budget.tokens_per_second,
        device_watts: own.budget.watts,
        seconds_between_failures: recovery.map(|it| it.between_failures.get()),
        checkpoint_writers: checkpoint.writers,
        snapshot_seconds: checkpoint.snapshot.get(),
        stall_seconds: recovery.map(|it| it.stall.get()),
        write_behind_seconds: recovery.map(|it| it.behind.get()),
        checkpoint_interval_seconds: interval.map(Seconds::get),
        young_interval_seconds: recovery.map(|it| it.young_interval().get()),
        daly_interval_seconds: recovery.map(|it| it.daly_interval().get()),
        checkpoint_gb_per_sec_for_99_percent: own.budget.rate_for_99,
        spares: spares.map(|it| SpareNodes {
            nodes: it.nodes,
            days_without_repair: it.days,
            longest_repair_hours: it.repair_hours,
        }),
    }
}

fn spread(own: &Costed, outcomes: &Outcomes) -> SpreadOfRuns {
    let deadline = own.plan.design().run.deadline_days;
    SpreadOfRuns {
        runs: model::run::budget::SIMULATED_RUNS,
        days_10: outcomes.early.to_days(),
        days_50: outcomes.median.to_days(),
        days_90: outcomes.late.to_days(),
        days_mean: outcomes.mean.to_days(),
        failures_mean: outcomes.failures,
        share_within_deadline: deadline.map(|_| outcomes.in_time),
    }
}

fn surface(assessment: &Assessment) -> GoodputSurface {
    let surface = &assessment.surface;
    let rows = surface.cells.chunks(surface.rates.len());
    GoodputSurface {
        mtbf_device_hours: surface.mtbf.to_vec(),
        checkpoint_gb_per_sec: surface.rates.to_vec(),
        goodput_ratio: rows.map(|row| row.iter().map(|cell| cell.goodput).collect()).collect(),
    }
}

fn gain(gain: &model::run::budget::Gain) -> Gain {
    Gain {
        name: gain.name,
        title: gain.title,
        days: gain.days,
        device_hours: gain.device_hours,
        cost: gain.cost,
    }
}

/// Published figures that unknown inputs may be taken from.
fn published() -> PublishedInputs {
    let tokens = TRAIN_TOKENS.iter().map(|it| PublishedTokens {
        name: it.name,
        title: it.title,
        train_tokens: it.figure.value,
        source: source(it.figure.source),
    });
    let failures = FAILURE_INTERVALS.iter().map(|it| PublishedFailures {
        name: it.name,
        title: it.title,
        mtbf_device_hours: it.figure.value,
        source: source(it.figure.source),
    });
    let storage = CHECKPOINT_RATES.iter().map(|it| PublishedStorage {
        title: it.title,
        checkpoint_gb_per_sec: it.figure.value / 1e9,
        source: source(it.figure.source),
    });
    PublishedInputs {
        tokens: tokens.collect(),
        failures: failures.collect(),
        storage: storage.collect(),
    }
}

fn quality(assessment: &Assessment) -> Option<Quality> {
    let (baseline, judged) = (assessment.baseline.as_ref()?, assessment.judged.as_ref()?);
    let Judged { comparison, leverage, advice, relative_time, days_difference } = judged;
    let refused = comparison.as_ref().err().into_iter().flatten();
    let refused = refused.map(|it| Refusal { rule: it.name(), message: it.words().to_string() });
    let told = comparison.as_ref().ok();
    Some(Quality {
        baseline: link::encode(baseline.plan.design()),
        loss_difference: told.map(|it| over(&it.loss_difference)),
        loss_difference_by_law: May(told.map(by_law)),
        tokens_to_equal_loss: told.and_then(|it| it.tokens_to_equal_loss.as_ref()).map(over),
        tie: May(told.map(|it| it.is_tie)),
        ranked: May(told.map(Comparison::is_ranked)),
        flags: May(told.map(flags)),
        refused: refused.collect(),
        relative_time_to_equal_loss: *relative_time,
        days_less_baseline: *days_difference,
        efficiency_leverage: [leverage.low, leverage.middle, leverage.high],
        batch_tokens_advised: Named::of(advice.all()),
        caveat: CAVEAT,
    })
}

fn over(spread: &model::run::quality::Spread) -> Spread {
    Spread { median: spread.median, min: spread.min, max: spread.max }
}

fn by_law(comparison: &Comparison) -> Named<f64> {
    Named::of(comparison.by_member.iter().map(|it| (it.member.name(), it.difference())))
}

fn flags(comparison: &Comparison) -> Vec<Flag> {
    let flags = comparison.flags.iter();
    flags.map(|it| Flag { name: it.name(), message: it.words().to_string() }).collect()
}
