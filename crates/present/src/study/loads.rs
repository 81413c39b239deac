//! Expert load: its imbalance, the planner's effect on it, and the tokens that a capacity drops.

mod aux_loss;
mod maps;

use std::fmt::Write as _;

use maud::{Markup, Render, html};
use model::answer::loads::{Cadence, Report};
use model::design::{Design, KnobId};
use model::ground::choice::{Balance, Planner, PlannerTrigger};
use model::ground::knob::Value;
use model::metric::published::DROP_RATIOS;
use model::routing::capacity;
use model::training::estimate::StepPart;

use super::Width;
use super::figure::Figure;
use crate::charts::{self, Line, Lines};
use crate::format;
use crate::html::design_address;
use crate::insight::numbers::Numbers;

/// The heading.
pub(super) const TITLE: &str = "Expert load";

/// The id of the figure of the imbalance over steps.
const STEPS: &str = "load-steps";

/// Rows that a table of lines has, at most.
const MAX_ROWS: usize = 100;

/// Factors of the drop curve: their number, and the last one; the first is 1.
const FACTORS: (usize, f64) = (21, 3.0);

/// The section with all its figures; a sentence where there is nothing to draw. `compared` are the
/// planner's intervals and triggers with what they cost.
pub(super) fn html(
    numbers: &Numbers,
    report: Option<&Report>,
    compared: &[Cadence],
    width: Width,
) -> Markup {
    html! {
        section.loads aria-labelledby="loads-title" {
            @match report {
                None => (even(numbers)),
                Some(report) => {
                    (summary(numbers, report))
                    div.loads-figures {
                        (steps(numbers, report, width))
                        (cadence(compared, width))
                        @for map in maps::all(report) { (map.html(width)) }
                        (drops(numbers, report, width))
                    }
                }
            }
            (aux_loss::html(numbers))
        }
    }
}

/// Every number of a figure by its id, as CSV, where its table has only some of them.
pub(super) fn cells(numbers: &Numbers, report: &Report, id: &str) -> Option<String> {
    if id == STEPS {
        return Some(steps_csv(numbers, report));
    }
    maps::csv(report, id)
}

/// Placeholder of the study until it is scrolled into view.
pub(super) fn waiting() -> Markup {
    html! {
        section.loads.waiting aria-labelledby="loads-title" {
            div.card.loads-head {
                h2 #loads-title { (TITLE) }
                p { "Computed when scrolled into view" }
            }
            div.loads-figures { div.chart {} }
        }
    }
}

fn head(said: &[impl Render], links: &[Markup]) -> Markup {
    html! {
        div.card.loads-head {
            h2 #loads-title { (TITLE) }
            @for sentence in said { p { (sentence) } }
            p.ways { @for link in links { (link) } }
        }
    }
}

/// A link to the design with other routing.
fn link(numbers: &Numbers, words: &str, set: impl FnOnce(&mut Design)) -> Markup {
    let mut design = numbers.plan.design().clone();
    set(&mut design);
    html! { a href=(design_address(&design)) data-step=(words) class="button way" { (words) } }
}

/// No loads to draw: no experts, even loads, or a trace that isn't here.
fn even(numbers: &Numbers) -> Markup {
    let design = numbers.plan.design();
    if design.transformer.num_moe_experts.is_none() {
        return head(&["The model has no experts."], &[]);
    }
    if design.routing.balance == Balance::Trace {
        return head(&["The loads come from a trace that isn't loaded."], &[]);
    }
    let said = "All experts are assumed to get the same load. Real routing is uneven, and every \
                rank waits for the fullest one.";
    let skewed = |planner: Planner| {
        move |design: &mut Design| {
            design.routing.balance = Balance::Skewed;
            design.routing.planner = planner;
            design.routing.planner_trigger = PlannerTrigger::OnIncrease;
        }
    };
    let links = [
        link(numbers, "Skewed loads", skewed(Planner::None)),
        link(numbers, "Skewed loads and a planner", skewed(Planner::SlidingWindow)),
    ];
    head(&[said], &links)
}

fn summary(numbers: &Numbers, report: &Report) -> Markup {
    let design = numbers.plan.design();
    let outcome = &report.outcome;
    let (before, after) = (outcome.mean_before(report.from), outcome.mean_after(report.from));
    let step = &numbers.estimate.step;
    let cost =
        format::percent(step.part(StepPart::Imbalance) / numbers.estimate.metrics.step_time, 1);
    let bounds = report.bounds();
    let bound = bounds.iter().sum::<f64>() / bounds.len().max(1) as f64;
    let mut said = vec![format!(
        "The fullest of {} ranks gets {} times the mean without a planner; waiting for it takes \
         {cost} of the step.",
        report.first.devices(),
        format::decimals(before, 3),
    )];
    let planned = design.routing.planner != Planner::None;
    if planned {
        said.push(format!(
            "The planner brings it to {} and removes {} of the imbalance; whole experts allow {} \
             at best. It moves experts {} times in {} steps, which takes {} of a step on average.",
            format::decimals(after, 3),
            format::percent(outcome.removed(report.from), 0),
            format::decimals(bound, 3),
            format::whole(outcome.migrations.len() as u64),
            format::whole((report.trace.steps() * report.stride) as u64),
            format::duration(step.part(StepPart::Migration)),
        ));
    }
    if design.training.moe_expert_capacity_factor.is_some() {
        said.push(format!(
            "The capacity drops {} of the token copies. Dropped tokens skip their expert: quality \
             can suffer, which no number here shows.",
            format::percent(numbers.estimate.metrics.token_drop_ratio, 2),
        ));
    }
    if design.transformer.moe_router_group_balanced {
        said.push(
            "The router is grouped: every group of experts gets as many copies of each token, so \
             ranks that hold whole groups are even by construction."
                .to_owned(),
        );
    }
    let other = if planned {
        link(numbers, "Without the planner", |design| {
            // The knob takes that value.
            let none = Value::Text("none".to_owned());
            let _ = design.set(KnobId::planner, &none);
            design.routing.redundant_experts = 0;
        })
    } else {
        link(numbers, "With a planner", |design| {
            design.routing.planner = Planner::SlidingWindow;
            design.routing.planner_trigger = PlannerTrigger::OnIncrease;
        })
    };
    let even = link(numbers, "Even loads", |design| {
        design.routing.balance = Balance::Uniform;
        design.routing.planner = Planner::None;
        design.routing.redundant_experts = 0;
    });
    head(&said, &[other, even])
}

/// A figure of lines.
fn lines_figure(id: &str, title: &str, caption: &str, chart: &Lines, width: Width) -> Markup {
    let rows = charts::lines_table(chart);
    let every = rows.len().div_ceil(MAX_ROWS).max(1);
    let body = rows.iter().skip(1).step_by(every);
    let rows: Vec<Vec<String>> = rows.iter().take(1).chain(body).cloned().collect();
    let below = if every > 1 {
        let said = format!("The table lists one step in {every}");
        maps::save_all(id, &said, "Save every step as CSV")
    } else {
        Markup::default()
    };
    let chart = &width.chart(|width| charts::lines(chart, width));
    Figure { id, title, caption, chart, rows: &rows }.html(&below)
}

/// The imbalance over steps.
fn steps(numbers: &Numbers, report: &Report, width: Width) -> Markup {
    let caption = if plans(numbers) {
        "Mean over the layers; a dotted line is a step at which experts move"
    } else {
        "Mean over the layers"
    };
    let chart = steps_chart(numbers, report);
    lines_figure(STEPS, "Imbalance over steps", caption, &chart, width)
}

/// Whether there is a planner.
fn plans(numbers: &Numbers) -> bool {
    numbers.plan.design().routing.planner != Planner::None
}

fn steps_chart(numbers: &Numbers, report: &Report) -> Lines {
    let outcome = &report.outcome;
    let steps = 0..report.trace.steps();
    let at = |step: usize| (step * report.stride) as f64;
    let line = |name: &str, of: usize| Line {
        name: name.to_owned(),
        points: steps.clone().map(|step| (at(step), outcome.step(step)[of])).collect(),
        is_apart: false,
    };
    let mut lines = vec![line("Initial expert placement", 0)];
    if plans(numbers) {
        lines.push(line("With the planner", 1));
    }
    let mut moves: Vec<usize> = outcome.migrations.iter().map(|one| one.step).collect();
    moves.dedup();
    Lines {
        label: format!(
            "Imbalance over steps, mean of the layers. {} of steps with moves.",
            moves.len()
        ),
        x_title: "Step".to_owned(),
        y_title: "Fullest rank over the mean".to_owned(),
        lines,
        ticks: None,
        places: moves.iter().map(|step| (at(*step), format::decimals(at(*step), 0))).collect(),
        from: 1.0,
        decimals: 3,
    }
}

/// Every step of it, and how many experts move before each.
fn steps_csv(numbers: &Numbers, report: &Report) -> String {
    let chart = steps_chart(numbers, report);
    let mut csv = chart.x_title.clone();
    for line in &chart.lines {
        let _ = write!(csv, ",{}", line.name);
    }
    csv.push_str(",Experts that move\r\n");
    let mut moves = report.outcome.migrations.iter().peekable();
    for step in 0..report.trace.steps() {
        let _ = write!(csv, "{}", step * report.stride);
        for line in &chart.lines {
            let _ = write!(csv, ",{}", line.points[step].1);
        }
        let mut moved = 0;
        while let Some(one) = moves.next_if(|one| one.step == step) {
            moved += one.experts;
        }
        let _ = write!(csv, ",{moved}\r\n");
    }
    csv
}

/// The step against the planner's interval, for each trigger.
fn cadence(all: &[Cadence], width: Width) -> Markup {
    if all.is_empty() {
        return Markup::default();
    }
    let mut triggers: Vec<Option<f64>> = Vec::new();
    for one in all {
        if !triggers.contains(&one.threshold) {
            triggers.push(one.threshold);
        }
    }
    let name = |threshold: &Option<f64>| match threshold {
        Some(threshold) => format!("CoV falls by {}", format::decimals(*threshold, 2)),
        None => "imbalance has risen".to_owned(),
    };
    let own = |threshold: &Option<f64>| {
        let of: Vec<&Cadence> = all.iter().filter(|one| one.threshold == *threshold).collect();
        Line {
            name: name(threshold),
            points: of.iter().map(|one| (place(one.interval), one.step_time.get())).collect(),
            is_apart: false,
        }
    };
    let best = all.iter().min_by(|a, b| a.step_time.get().total_cmp(&b.step_time.get()));
    let caption = best.map_or_else(String::new, |best| {
        format!(
            "A step takes least, {}, with a plan every {}, when {}",
            format::duration(best.step_time),
            format::counted(best.interval, "step", "steps"),
            name(&best.threshold),
        )
    });
    let intervals = all.iter().filter(|one| one.threshold == all[0].threshold);
    let chart = Lines {
        label: format!("Step time over the planner's interval. {caption}."),
        x_title: "Steps between plans".to_owned(),
        y_title: "Step, s, moves included".to_owned(),
        lines: triggers.iter().map(own).collect(),
        ticks: Some(
            intervals.map(|one| (place(one.interval), format::whole(one.interval))).collect(),
        ),
        places: Vec::new(),
        from: f64::MAX,
        decimals: 3,
    };
    lines_figure("load-cadence", "When rebalancing pays off", &caption, &chart, width)
}

/// Places of an axis on which each doubling is as wide as the next.
fn place(interval: u64) -> f64 {
    let whole = interval.max(1).ilog2();
    f64::from(whole) + interval.max(1) as f64 / (1_u64 << whole) as f64 - 1.0
}

/// Tokens dropped by a capacity limit.
fn drops(numbers: &Numbers, report: &Report, width: Width) -> Markup {
    let (points, most) = FACTORS;
    let curve = capacity::drop_curve(&report.sample, most, points);
    let own = numbers.plan.design().training.moe_expert_capacity_factor;
    let found = DROP_RATIOS.map(|published| {
        let factor = capacity::factor_for_drop_ratio(&report.sample, published.value);
        let share = format::in_unit(published.value, published.unit);
        format!("{share} at {}", format::decimals(factor, 2))
    });
    let dropless = format::percent(
        numbers.estimate.step.part(StepPart::Imbalance) / numbers.estimate.metrics.step_time,
        1,
    );
    let kept = match own {
        Some(factor) => format!("this design has {}", format::decimals(factor, 2)),
        None => format!("without one, waiting takes {dropless} of the step"),
    };
    let caption = format!("Drops {}; {kept}", found.join(", "));
    let chart = Lines {
        label: format!("Share of token copies that a capacity drops. {caption}."),
        x_title: "Capacity factor".to_owned(),
        y_title: "Dropped copies, %".to_owned(),
        lines: vec![Line {
            name: "Dropped".to_owned(),
            points: curve.map(|(factor, ratio)| (factor, ratio * 100.0)).collect(),
            is_apart: false,
        }],
        ticks: None,
        places: own.map(|factor| (factor, "this design".to_owned())).into_iter().collect(),
        from: 0.0,
        decimals: 2,
    };
    lines_figure("load-drops", "Tokens dropped by a capacity limit", &caption, &chart, width)
}

#[cfg(test)]
mod tests {
    use model::answer::loads::Replay;
    use model::routing::Trace;

    use testing::page::Page as Html;

    use super::*;

    /// A run of a trace of `steps` steps in which the hot expert changes half-way.
    fn traced(steps: usize) -> (Numbers, Report) {
        let tokens = (0..steps * 2 * 256).map(|at| {
            let hot = if at / 512 < steps / 2 { 0 } else { 9 };
            if at % 256 == hot { 9_000 } else { 1_000 + at as u32 % 7 }
        });
        let trace = Trace::new([steps, 2, 256], tokens.collect()).expect("a trace");
        let query = "?routing.balance=trace&routing.planner=sliding_window\
                     &routing.planner_interval=10&routing.planner_trigger=on_increase";
        let design = model::design::link::decode(query).expect("a link that decodes");
        let mut replay = Replay::new(std::sync::Arc::new(trace));
        let plan = replay.plan(&design).expect("a legal design");
        let report = replay.report(&plan).expect("uneven loads");
        (Numbers::new(plan), report)
    }

    #[test]
    fn a_long_run_has_a_short_table_and_a_file_of_every_step() {
        let (numbers, report) = traced(400);
        let html = steps(&numbers, &report, Width::Of(520)).into_string();
        assert!(html.contains("one step in 5"), "{html}");
        assert_eq!(Html::new(&html).count("tr"), 1 + 80);
        let csv = cells(&numbers, &report, STEPS).expect("the figure's file");
        let rows: Vec<&str> = csv.lines().collect();
        assert_eq!(rows.len(), 1 + 400);
        let moved = |row: &str| row.rsplit(',').next().expect("a cell").parse::<usize>();
        let moved: usize = rows[1..].iter().map(|row| moved(row).expect("a number")).sum();
        let expected: usize = report.outcome.migrations.iter().map(|one| one.experts).sum();
        assert!(expected > 0 && moved == expected, "{moved} of {expected}");
        let [before, after] = report.outcome.step(399);
        assert!(rows[400].starts_with(&format!("399,{before},{after},")), "{}", rows[400]);
        let (numbers, report) = traced(40);
        assert!(!steps(&numbers, &report, Width::Of(520)).into_string().contains("one step in"));
    }
}
