//! What moves a loss of the step outside of the strategy, as links: to designs, to runs of one's
//! own, to the ladder.

use maud::{Markup, html};
use model::ground::choice::Framework;
use model::metric::MetricId;
use model::training::estimate::StepPart;

use crate::format::{self, short_label};
use crate::html::design_address;
use crate::insight::numbers::Numbers;
use crate::insight::outside::Outside;
use crate::site::Page;
use crate::words::name::spelled;
use crate::words::range::most;

/// Whether a loss follows from rates that a profile measures: those of kernels and of the host.
const fn is_measurable(part: StepPart) -> bool {
    matches!(part, StepPart::Kernels | StepPart::Vector | StepPart::Recompute | StepPart::Host)
}

/// Whether there is anything to show for a loss.
pub(super) fn says_something(numbers: &Numbers, all: &[Outside], part: StepPart) -> bool {
    is_measured(numbers, part) || all.iter().any(|it| it.moves(part, &numbers.estimate))
}

/// Whether a profile would refine this part beyond what is known.
fn is_measured(numbers: &Numbers, part: StepPart) -> bool {
    let kernel = &numbers.plan.design().kernel;
    is_measurable(part) && kernel.profile.is_none() && kernel.framework != Framework::Ideal
}

/// Changes outside of the strategy that reduce a loss, the largest gain first.
pub(super) fn html(numbers: &Numbers, all: &[Outside], part: StepPart) -> Markup {
    let movers = || all.iter().filter(|it| it.moves(part, &numbers.estimate));
    let kernels = &numbers.plan.design().cluster.accelerator.row().kernels;
    let has_states = kernels.family == model::catalogue::calibration::ASCEND.family;
    html! {
        p { "Outside the strategy" }
        ul {
            @for mover in movers() {
                @let words = format!("{} → {}", short_label(mover.knob), spelled(&mover.value));
                li {
                    a href=(design_address(&mover.design)) data-step=(words) {
                        (words) " " span.muted { (gained(numbers, mover)) }
                    }
                }
            }
            @if is_measured(numbers, part) {
                li {
                    a href=(Page::Calibrate.path()) { "Measure your own runs" } " "
                    @let metrics = &numbers.estimate.metrics;
                    @if let Some(range) = most(&numbers.plan, MetricId::mfu, metrics) {
                        span.muted { "until then MFU is " (range) " (9 of 10)" }
                    }
                }
            }
            @if has_states && is_measurable(part) {
                li {
                    a href=(Page::Ladder.path()) { "The ladder" } " "
                    span.muted { "what took Pangu from 18.9 to 30.0 and 41 % MFU, step by step" }
                }
            }
        }
    }
}

/// Gain of a change: points of MFU, or tokens per second if it changes the peak that MFU counts
/// against.
fn gained(numbers: &Numbers, mover: &Outside) -> String {
    if mover.keeps_peak() {
        let points = mover.estimate.metrics.mfu - numbers.estimate.metrics.mfu;
        format!("{} pt", format::signed(points * 100.0, 1))
    } else {
        format!("{} % tokens/s", format::signed(mover.gain * 100.0, 1))
    }
}
