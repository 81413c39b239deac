//! The study that is asked for, as HTML.

use std::cell::{OnceCell, RefCell};

use model::link;
use model::routing::Report;

use super::{Study, Width, advice, balance, bubble, communication, loads, memory, schedules, step};
use crate::numbers::Numbers;

/// What studies are made of: a design's numbers, and what several of them need beside.
struct Subject {
    query: String,
    numbers: Numbers,
    loads: OnceCell<Option<Report>>,
}

/// A study of a design's numbers.
#[must_use]
pub fn html(study: Study, numbers: &Numbers, width: Width) -> String {
    let make = match study {
        Study::Advice => advice::html,
        Study::Memory => memory::by_stage,
        Study::Step => step::html,
        Study::Communication => communication::html,
        Study::Bubble => bubble::html,
        Study::Composition => memory::composition,
        Study::Tradeoff => memory::tradeoff,
        Study::Balance => balance::html,
        Study::Schedules => schedules::html,
        Study::Loads => {
            return loads::html(numbers, Report::of(&numbers.plan, None).as_ref(), width);
        }
    };
    make(numbers, width)
}

/// A study as the server writes it into a page, before its width is known.
///
/// What takes too long to be made for every page is announced instead.
#[must_use]
pub fn first(study: Study, numbers: &Numbers) -> String {
    match study {
        Study::Advice => advice::first(numbers),
        Study::Tradeoff => waiting(study, memory::TRADEOFF),
        Study::Schedules => waiting(study, schedules::TITLE),
        Study::Loads => loads::waiting(),
        Study::Memory
        | Study::Step
        | Study::Communication
        | Study::Bubble
        | Study::Composition
        | Study::Balance => html(study, numbers, Width::Any),
    }
}

fn waiting(study: Study, title: &str) -> String {
    let id = study.id();
    format!(
        "<section class=\"figure card\" aria-labelledby=\"{id}-title\"><div>\
         <h2 id=\"{id}-title\">{title}</h2><p>Simulated in the browser as soon as it is in view</p>\
         </div><div class=\"chart\"></div></section>"
    )
}

/// A study of the design in a link; `None` for a name or a link that isn't one, and for a design
/// that breaks a rule.
///
/// Studies of one design are asked for one after the other, so what they share is kept.
#[must_use]
pub fn of_link(study: &str, query: &str, width: u32) -> Option<String> {
    thread_local! {
        static LAST: RefCell<Option<Subject>> = const { RefCell::new(None) };
    }
    let study = Study::of_id(study)?;
    let width = Width::Of(width);
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|last| last.query != query) {
            let numbers = Numbers::of(&link::decode(query).ok()?)?;
            let loads = OnceCell::new();
            *last = Some(Subject { query: query.to_owned(), numbers, loads });
        }
        let subject = last.as_ref()?;
        if study != Study::Loads {
            return Some(html(study, &subject.numbers, width));
        }
        let report = subject.loads.get_or_init(|| Report::of(&subject.numbers.plan, None));
        Some(loads::html(&subject.numbers, report.as_ref(), width))
    })
}
