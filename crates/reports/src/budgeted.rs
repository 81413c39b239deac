//! A budget as data: what `budget --json` prints and `POST /api/v1/budget` answers.
//!
//! The keys are public names and units stand in them. What isn't known is null, never a guess. An
//! illegal design gives the same object with every metric null and its violations listed.

use model::budget::{
    Assessment, Budget, BudgetMetric, Costed, Gain, Judged, Outcomes, budget_range,
    published_failures, published_storage,
};
use model::design::Design;
use model::file::{self, Extent, Tree};
use model::quality::{CAVEAT, Comparison, Spread};
use model::violation::Violation;
use model::{MODEL_VERSION, link};

use crate::report::{source, violation};

/// The budget of a design, legal or not, beside a baseline.
#[must_use]
pub fn budgeted(design: &Design, baseline: Option<&Design>) -> Tree {
    match Assessment::new(design, baseline) {
        Ok(assessment) => legal(&assessment),
        Err(violations) => refused(design, &violations),
    }
}

fn refused(design: &Design, violations: &[Violation]) -> Tree {
    let nothing = BudgetMetric::ALL.iter().map(|id| (id.metric().name, Tree::Null));
    Tree::map([
        ("design", file::write(design, Extent::Full)),
        ("metrics", Tree::map(nothing)),
        ("ranges", Tree::Map(vec![])),
        ("run", Tree::Null),
        ("spread", Tree::Null),
        ("surface", Tree::Null),
        ("gains", Tree::List(vec![])),
        ("published", Tree::Null),
        ("quality", Tree::Null),
        ("assumed", Tree::List(vec![])),
        ("violations", Tree::List(violations.iter().map(violation).collect())),
        ("warnings", Tree::List(vec![])),
        ("model_version", MODEL_VERSION.into()),
    ])
}

fn legal(assessment: &Assessment) -> Tree {
    let own = &assessment.own;
    let metrics = BudgetMetric::ALL.iter().map(|id| (id.metric().name, open(own.budget.get(*id))));
    Tree::map([
        ("design", file::write(own.plan.design(), Extent::Full)),
        ("metrics", Tree::map(metrics)),
        ("ranges", ranges(own)),
        ("run", run(own)),
        ("spread", own.budget.outcomes.map_or(Tree::Null, |it| spread(own, &it))),
        ("surface", surface(assessment)),
        ("gains", Tree::List(own.budget.gains.iter().map(gain).collect())),
        ("published", published()),
        ("quality", quality(assessment)),
        ("assumed", Tree::list(own.budget.assumed.iter().map(String::as_str))),
        ("violations", Tree::List(vec![])),
        ("warnings", Tree::list(own.budget.warnings.iter().map(String::as_str))),
        ("model_version", MODEL_VERSION.into()),
    ])
}

/// A number, or null where it isn't known.
fn open(value: Option<f64>) -> Tree {
    value.map_or(Tree::Null, Tree::number)
}

fn ranges(own: &Costed) -> Tree {
    let range = |id: &BudgetMetric| {
        let (range, value) = (budget_range(&own.plan, *id)?, own.budget.get(*id)?);
        let ends =
            |factors: [f64; 2]| Tree::List(factors.map(|it| Tree::number(value * it)).to_vec());
        let entries = Tree::map([
            ("range_50", ends(range.half)),
            ("range_90", ends(range.most)),
            ("rows", Tree::Unsigned(range.basis.rows.into())),
            ("sources", Tree::Unsigned(range.basis.sources.into())),
        ]);
        Some((id.metric().name, entries))
    };
    Tree::map(BudgetMetric::ALL.iter().filter_map(range))
}

/// What the numbers rest on, step by step.
fn run(own: &Costed) -> Tree {
    let Budget { checkpoint, recovery, interval, spares, .. } = &own.budget;
    let spares = spares.map_or(Tree::Null, |it| {
        Tree::map([
            ("nodes", Tree::number(it.nodes)),
            ("days_without_repair", Tree::number(it.days)),
            ("longest_repair_hours", Tree::number(it.repair_hours)),
        ])
    });
    Tree::map([
        ("tokens_per_second", Tree::number(own.budget.tokens_per_second)),
        ("device_watts", open(own.budget.watts)),
        ("seconds_between_failures", open(recovery.map(|it| it.between_failures))),
        ("checkpoint_writers", Tree::number(checkpoint.writers)),
        ("snapshot_seconds", Tree::number(checkpoint.snapshot_seconds)),
        ("stall_seconds", open(recovery.map(|it| it.stall))),
        ("write_behind_seconds", open(recovery.map(|it| it.behind))),
        ("checkpoint_interval_seconds", open(*interval)),
        ("young_interval_seconds", open(recovery.map(|it| it.young_interval()))),
        ("daly_interval_seconds", open(recovery.map(|it| it.daly_interval()))),
        ("checkpoint_gb_per_sec_for_99_percent", open(own.budget.rate_for_99)),
        ("spares", spares),
    ])
}

fn spread(own: &Costed, outcomes: &Outcomes) -> Tree {
    let days = |seconds: f64| Tree::number(seconds / 86_400.0);
    let deadline = own.plan.design().run.deadline_days;
    Tree::map([
        ("runs", Tree::Unsigned(model::budget::RUNS)),
        ("days_10", days(outcomes.early)),
        ("days_50", days(outcomes.median)),
        ("days_90", days(outcomes.late)),
        ("days_mean", days(outcomes.mean)),
        ("failures_mean", Tree::number(outcomes.failures)),
        ("share_within_deadline", open(deadline.map(|_| outcomes.in_time))),
    ])
}

fn surface(assessment: &Assessment) -> Tree {
    let surface = &assessment.surface;
    let numbers = |all: &[f64]| Tree::List(all.iter().copied().map(Tree::number).collect());
    let rows = surface.cells.chunks(surface.rates.len());
    let goodput =
        rows.map(|row| Tree::List(row.iter().map(|cell| Tree::number(cell.goodput)).collect()));
    Tree::map([
        ("mtbf_device_hours", numbers(surface.mtbf)),
        ("checkpoint_gb_per_sec", numbers(surface.rates)),
        ("goodput_ratio", Tree::List(goodput.collect())),
    ])
}

fn gain(gain: &Gain) -> Tree {
    Tree::map([
        ("name", gain.name.into()),
        ("title", gain.title.into()),
        ("days", Tree::number(gain.days)),
        ("device_hours", Tree::number(gain.device_hours)),
        ("cost", open(gain.cost)),
    ])
}

/// Published figures that unknown inputs may be taken from.
fn published() -> Tree {
    let failures = published_failures().iter().map(|it| {
        Tree::map([
            ("name", it.name.into()),
            ("title", it.title.into()),
            ("mtbf_device_hours", Tree::number(it.device_hours)),
            ("source", source(it.source)),
        ])
    });
    let storage = published_storage().iter().map(|it| {
        Tree::map([
            ("title", it.title.into()),
            ("checkpoint_gb_per_sec", Tree::number(it.gb_per_sec)),
            ("source", source(it.source)),
        ])
    });
    Tree::map([
        ("failures", Tree::List(failures.collect())),
        ("storage", Tree::List(storage.collect())),
    ])
}

fn quality(assessment: &Assessment) -> Tree {
    let (Some(baseline), Some(judged)) = (&assessment.baseline, &assessment.judged) else {
        return Tree::Null;
    };
    let mut entries = vec![("baseline".to_owned(), link::encode(baseline.plan.design()).into())];
    let Judged { comparison, leverage, advice, relative_time, days_difference } = judged;
    entries.extend(match comparison {
        Ok(comparison) => compared(comparison),
        Err(refusals) => {
            let said = refusals
                .iter()
                .map(|it| Tree::map([("rule", it.name().into()), ("message", it.words().into())]));
            vec![
                ("loss_difference".to_owned(), Tree::Null),
                ("tokens_to_equal_loss".to_owned(), Tree::Null),
                ("refused".to_owned(), Tree::List(said.collect())),
            ]
        }
    });
    let band = [leverage.low, leverage.middle, leverage.high];
    let batches = advice.all().map(|(name, tokens)| (name, Tree::number(tokens)));
    entries.extend([
        ("relative_time_to_equal_loss".to_owned(), open(*relative_time)),
        ("days_less_baseline".to_owned(), open(*days_difference)),
        ("efficiency_leverage".to_owned(), Tree::List(band.map(Tree::number).to_vec())),
        ("batch_tokens_advised".to_owned(), Tree::map(batches)),
        ("caveat".to_owned(), CAVEAT.into()),
    ]);
    Tree::Map(entries)
}

fn compared(comparison: &Comparison) -> Vec<(String, Tree)> {
    let spread = |it: &Spread| {
        Tree::map([
            ("median", Tree::number(it.median)),
            ("min", Tree::number(it.min)),
            ("max", Tree::number(it.max)),
        ])
    };
    let members = comparison.by_member.iter().map(|(it, nats)| (it.name(), Tree::number(*nats)));
    let flags = comparison
        .flags
        .iter()
        .map(|it| Tree::map([("name", it.name().into()), ("message", it.words().into())]));
    vec![
        ("loss_difference".to_owned(), spread(&comparison.loss_difference)),
        ("loss_difference_by_law".to_owned(), Tree::map(members)),
        (
            "tokens_to_equal_loss".to_owned(),
            comparison.tokens_to_equal_loss.as_ref().map_or(Tree::Null, spread),
        ),
        ("tie".to_owned(), Tree::Flag(comparison.is_tie)),
        ("ranked".to_owned(), Tree::Flag(comparison.is_ranked())),
        ("flags".to_owned(), Tree::List(flags.collect())),
        ("refused".to_owned(), Tree::List(vec![])),
    ]
}
