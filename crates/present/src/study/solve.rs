//! One knob moves until a target is reached; every value that was tried is listed below.

use maud::{Markup, html};
use model::design::KnobId;
use model::ground::decimal;
use model::ground::knob::Kind;
use model::metric::MetricId;
use model::search::solve::{Solution, Target, Tried, Wish};

use super::options::{Options, select};
use crate::format::{self, short_label};
use crate::html::way;
use crate::insight::memory_state;
use crate::insight::numbers::Numbers;
use crate::words::name::spelled;

/// The heading.
pub(super) const TITLE: &str = "Solve for one knob";

/// The knob that moves as the study is opened.
const USUAL: KnobId = KnobId::micro_batch_size;

/// Targets to choose from.
const TARGETS: [(&str, &str); 3] =
    [("fits", "Fits in memory"), ("mfu", "MFU at least"), ("step", "Step time at most")];

/// The chosen target, and its number as it was written.
struct TargetInput {
    name: &'static str,
    target: Target,
    /// In percent or seconds.
    number: String,
}

/// The section.
pub(super) fn html(numbers: &Numbers, options: Options<'_>) -> Markup {
    let design = numbers.plan.design();
    let knob = knobs().find(|knob| knob.id() == options.get("knob")).unwrap_or(USUAL);
    let asked = asked(numbers, options);
    let solution = model::solve(&numbers.plan, knob, asked.target, Wish::of(knob));
    let knobs = knobs().map(|it| (it.id(), it.knob().label.to_owned()));
    let targets = TARGETS.map(|(name, label)| (name.to_owned(), label.to_owned()));
    html! {
        section.card.levers #solve aria-labelledby="solve-title" {
            h2 #solve-title { (TITLE) }
            p.muted {
                "Tries every legal value of the knob with everything else fixed. The result always \
                 has to fit in memory."
            }
            div.options {
                (select(("knob", "Knob to vary"), &knob.id(), knobs))
                (select(("target", "so that it"), asked.name, targets.into_iter()))
                // Another target has a box of its own: what was typed into one stays in it.
                @match asked.name {
                    "mfu" => span { (number(&asked, "%")) },
                    "step" => (number(&asked, "s")),
                    _ => {}
                }
            }
            p.lever-now { (short_label(knob)) " now: " (spelled(&design.get(knob))) }
            (answer(&solution))
            (tried(numbers, &solution))
        }
    }
}

/// The box of a target's number.
fn number(asked: &TargetInput, unit: &str) -> Markup {
    html! {
        label.option {
            span.visually-hidden { "Target, " }
            input type="number" min="0" step="any" data-option=(asked.name) value=(asked.number);
            " " (unit)
        }
    }
}

/// Knobs that have a list of legal values.
fn knobs() -> impl Iterator<Item = KnobId> {
    KnobId::ALL.iter().copied().filter(|id| {
        let knob = id.knob();
        let is_listed = matches!(knob.kind, Kind::Integer(..) | Kind::Choice(_) | Kind::Flag);
        knob.not_offered.is_none() && is_listed && knob.primary && *id != KnobId::accelerator
    })
}

fn asked(numbers: &Numbers, options: Options<'_>) -> TargetInput {
    let metrics = &numbers.estimate.metrics;
    let chosen = |name: &str, usual: String| {
        let text = options.get(name);
        let number = decimal::parse(text).filter(|it| it.is_finite() && *it >= 0.0);
        number.map_or(usual, |_| text.to_owned())
    };
    let value = |text: &str| decimal::parse(text).unwrap_or(0.0);
    match options.get("target") {
        "mfu" => {
            let number = chosen("mfu", format!("{:.1}", metrics.mfu * 100.0));
            let target = Target::AtLeast(MetricId::mfu, value(&number) / 100.0);
            TargetInput { name: "mfu", target, number }
        }
        "step" => {
            let number = chosen("step", format!("{:.3}", metrics.step_time.get()));
            let target = Target::AtMost(MetricId::step_time_seconds, value(&number));
            TargetInput { name: "step", target, number }
        }
        _ => TargetInput { name: "fits", target: Target::Fits, number: String::new() },
    }
}

/// Short text of a value's results.
fn gives(tried: &Tried) -> String {
    let metrics = &tried.metrics;
    let fits = memory_state::aside(metrics.memory_state());
    format!(
        "MFU {}, step {}, {}{fits}",
        format::percent(metrics.mfu, 1),
        format::duration(metrics.step_time),
        format::memory(metrics.memory_peak),
    )
}

fn link(solution: &Solution, tried: &Tried, class: &str) -> Markup {
    let name = format!("{} {}", short_label(solution.knob), spelled(&tried.value));
    way(&tried.design, &name, class, &name, &gives(tried))
}

fn answer(solution: &Solution) -> Markup {
    let of = format::counted(solution.tried.len() as u64, "legal value", "legal values");
    let reached = solution.tried.iter().filter(|tried| tried.reached).count();
    html! {
        p.ways role="status" {
            @if let Some(found) = solution.found() {
                (format::whole(reached as u64)) " of " (of) " reach it; the "
                (solution.wish.name()) ": "
                (link(solution, found, "button way best"))
            } @else if let Some(nearest) = solution.nearest() {
                "None of " (of) " reaches it; the best is "
                (link(solution, nearest, "button way"))
            }
        }
    }
}

/// Every value, in order.
fn tried(numbers: &Numbers, solution: &Solution) -> Markup {
    let now = numbers.plan.design().get(solution.knob);
    html! {
        details {
            summary { "Every value" }
            ul.ways {
                @for tried in &solution.tried {
                    @let (class, verdict) = match tried.reached {
                        true => ("button way on", "reaches it"),
                        false => ("button way", "does not"),
                    };
                    li {
                        (link(solution, tried, class)) " "
                        span.muted { (verdict) @if tried.value == now { " now" } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    #[test]
    fn what_can_not_be_reached_says_so_and_names_the_best() {
        let options = Options("target=mfu&mfu=99&knob=training.micro_batch_size");
        let html = html(&Numbers::of_link(""), options).into_string();
        let html = Html::new(&html);
        assert!(html.says("reaches it; the best is"), "{}", html.words());
        assert!(html.has("input[value='99']"));
    }

    #[test]
    fn the_largest_micro_batch_that_fits_is_a_link() {
        let html = html(&Numbers::of_link(""), Options("")).into_string();
        let html = Html::new(&html);
        let largest = html.text("p a[href^='/?']");
        assert!(html.says(&format!("reach it; the largest: {largest}")), "{}", html.words());
    }

    #[test]
    fn a_target_that_is_no_number_is_as_usual() {
        for junk in ["abc", "-3", "NaN", "inf", ""] {
            let options = format!("target=step&step={junk}");
            let html = html(&Numbers::of_link(""), Options(&options)).into_string();
            assert!(Html::new(&html).has("input[type=number]") && !html.contains("NaN"), "{junk}");
        }
    }
}
