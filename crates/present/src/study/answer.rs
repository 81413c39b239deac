//! The requested study, as HTML.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use maud::{Markup, html};
use model::answer::loads::{Cadence, Replay, Report, cadences};
use model::ground::choice::Balance;
use model::routing::packed::{self, PackedFault};
use model::routing::{Effect, text};
use model::{Plan, design::link};

use super::options::Options;
use super::pins::{self, Pin};
use super::{
    Study, Width, advice, balance, bubble, communication, conventions, explanation, loads, map,
    memory, nearest, roofline, schedules, sensitivity, solve, step, transfer,
};
use crate::insight::numbers::Numbers;
use crate::insight::recorded;

/// Subject of studies: a design's numbers, and further results that several of them need.
struct Subject {
    query: String,
    numbers: Numbers,
    /// Effect of load imbalance, step by step; `None` if loads are balanced.
    loads: OnceCell<Option<Report>>,
}

/// A study of a design's numbers, beside the designs that are pinned.
#[must_use]
pub fn html(
    study: Study,
    numbers: &Numbers,
    width: Width,
    options: Options<'_>,
    pins: &[Pin],
) -> String {
    let pin = Pin::beside(pins, numbers);
    let ghost = pin.map(Pin::compared);
    let ghost = ghost.as_ref();
    let markup = match study {
        Study::Advice => advice::html(numbers),
        Study::Nearest => nearest::html(numbers),
        Study::Memory => memory::by_stage(numbers, ghost, width),
        Study::Step => step::html(numbers, ghost, width),
        Study::Communication => communication::html(numbers, ghost, width),
        Study::Bubble => bubble::html(numbers, ghost.zip(pin.map(Pin::microbatches)), width),
        Study::Composition => memory::composition(numbers, width),
        Study::Tradeoff => memory::tradeoff(numbers, width),
        Study::Balance => balance::html(numbers, width),
        Study::Schedules => schedules::html(numbers),
        Study::Loads => {
            let report = Report::of(&numbers.plan, None);
            loads::html(numbers, report.as_ref(), &cadences(&numbers.plan, None), width)
        }
        Study::Sensitivity => sensitivity::html(numbers, options),
        Study::Map => map::html(numbers, options, pins),
        Study::Roofline => {
            let beside = pin.map(Pin::beside_operators);
            roofline::html(numbers, beside.as_ref(), width, options)
        }
        Study::Solve => solve::html(numbers, options),
        Study::Transfer => transfer::html(numbers, options),
        Study::Explanation => explanation::html(numbers, options),
        Study::Conventions => conventions::html(numbers),
    };
    markup.into_string()
}

/// A study as the server writes it into a page, before its width is known.
///
/// What takes too long to be made for every page is announced instead.
#[must_use]
pub fn first(study: Study, numbers: &Numbers) -> String {
    let markup = match study {
        Study::Advice => advice::first(numbers),
        Study::Tradeoff => waiting(study, memory::TRADEOFF),
        Study::Balance => waiting(study, balance::TITLE),
        Study::Schedules => waiting(study, schedules::TITLE),
        Study::Loads => loads::waiting(),
        Study::Sensitivity => waiting(study, sensitivity::TITLE),
        Study::Map => waiting(study, map::TITLE),
        Study::Solve => waiting(study, solve::TITLE),
        Study::Transfer => waiting(study, transfer::TITLE),
        Study::Roofline => waiting(study, roofline::TITLE),
        Study::Step => return html(study, numbers, Width::Any, Options::default(), &[]),
        Study::Nearest
        | Study::Memory
        | Study::Communication
        | Study::Bubble
        | Study::Composition
        | Study::Explanation
        | Study::Conventions => {
            return html(study, numbers, Width::Later, Options::default(), &[]);
        }
    };
    markup.into_string()
}

fn waiting(study: Study, title: &str) -> Markup {
    let heading = format!("{}-title", study.id());
    html! {
        section.figure.card.waiting aria-labelledby=(heading) {
            div {
                h2 id=(heading) { (title) }
                p { "Computed when scrolled into view" }
            }
            div.chart {}
        }
    }
}

/// State that the worker keeps from one request to the next.
#[derive(Default)]
struct Kept {
    trace: Option<Replay>,
    /// A plan with the trace's loads, which others with the same routing take over.
    traced: Option<Plan>,
    subject: Option<Subject>,
    /// The pins, and the text that they were read from.
    pins: (String, Vec<Pin>),
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

impl Kept {
    /// The plan of the design in a link; `None` where it isn't one or breaks a rule, its trace not
    /// being at hand among them.
    fn plan(&mut self, query: &str) -> Option<Plan> {
        let design = link::decode(query).ok()?;
        if design.routing.balance != Balance::Trace {
            // Most changes leave the loads as they are, which take longer than an estimate.
            let before = self.subject.as_ref().map(|subject| &subject.numbers.plan);
            return before
                .map_or_else(|| Plan::new(&design), |before| before.variant(&design))
                .ok();
        }
        let base = recorded::same_trace(&design, self.traced.as_ref());
        let plan = base.and_then(|base| base.variant(&design).ok());
        let plan = plan.or_else(|| self.trace.as_mut()?.plan(&design).ok())?;
        self.traced = Some(plan.clone());
        Some(plan)
    }

    /// The subject of a link. Studies of one design are requested one after the other.
    fn subject(&mut self, query: &str) -> Option<&Subject> {
        if self.subject.as_ref().is_none_or(|subject| subject.query != query) {
            let numbers = Numbers::new(self.plan(query)?);
            let loads = OnceCell::new();
            self.subject = Some(Subject { query: query.to_owned(), numbers, loads });
        }
        self.subject.as_ref()
    }

    /// Report on the load imbalance of the design in a link.
    fn report(&mut self, query: &str) -> Option<&Report> {
        self.subject(query)?;
        let (subject, trace) = (self.subject.as_ref()?, &mut self.trace);
        let plan = &subject.numbers.plan;
        let report = || match trace {
            Some(trace) => trace.report(plan),
            None => Report::of(plan, None),
        };
        subject.loads.get_or_init(report).as_ref()
    }

    /// The section of loads of the design in a link.
    fn loads(&mut self, query: &str, width: Width) -> Option<String> {
        self.report(query);
        let Self { subject, trace, .. } = self;
        let subject = subject.as_ref()?;
        let plan = &subject.numbers.plan;
        let report = subject.loads.get().and_then(Option::as_ref);
        let compared: &[Cadence] = match trace {
            Some(trace) => trace.cadences(plan),
            None => &cadences(plan, None),
        };
        Some(loads::html(&subject.numbers, report, compared, width).into_string())
    }
}

/// A study of the design in a link, beside the designs in a text of pins; `None` for a name or a
/// link that isn't one, and for a design that breaks a rule.
#[must_use]
pub fn of_link(
    study: &str,
    query: &str,
    width: u32,
    options: &str,
    pinned: &str,
) -> Option<String> {
    let study = Study::of_id(study)?;
    let width = Width::Of(width);
    KEPT.with_borrow_mut(|kept| {
        if study == Study::Loads {
            return kept.loads(query, width);
        }
        if kept.pins.0 != pinned {
            kept.pins = (pinned.to_owned(), pins::read(pinned));
        }
        kept.subject(query)?;
        let numbers = &kept.subject.as_ref()?.numbers;
        Some(html(study, numbers, width, Options(options), &kept.pins.1))
    })
}

/// Every number of a figure of loads, as CSV; `None` where the design has no such figure.
#[must_use]
pub fn cells(query: &str, figure: &str) -> Option<String> {
    KEPT.with_borrow_mut(|kept| {
        kept.report(query)?;
        let subject = kept.subject.as_ref()?;
        loads::cells(&subject.numbers, subject.loads.get()?.as_ref()?, figure)
    })
}

/// Takes a trace from a file's bytes and gives its hash.
///
/// # Errors
/// What is wrong with the file, by line.
pub fn take_trace(bytes: &[u8]) -> Result<String, Vec<String>> {
    let trace = match packed::read(bytes) {
        // A file that isn't packed is a text.
        Err(PackedFault::Magic) => {
            text::read(bytes).map_err(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>())
        }
        packed => packed.map_err(|fault| vec![fault.to_string()]),
    }?;
    let trace = trace.keeping_hash();
    let hash = trace.content_hash();
    KEPT.set(Kept { trace: Some(Replay::new(Arc::new(trace))), ..Kept::default() });
    Ok(hash)
}

/// Effect of the trace's loads on the design in a link; `None` while they don't match each other.
#[must_use]
pub fn effect(query: &str) -> Option<Effect> {
    KEPT.with_borrow_mut(|kept| kept.plan(query).map(|plan| *plan.effect()))
}
