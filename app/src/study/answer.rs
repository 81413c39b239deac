//! The study that is asked for, as HTML.

use std::cell::RefCell;

use model::link;

use super::{Study, Width, advice, balance, bubble, communication, memory, schedules, step};
use crate::numbers::Numbers;

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
        Study::Tradeoff | Study::Schedules => waiting(study),
        Study::Memory
        | Study::Step
        | Study::Communication
        | Study::Bubble
        | Study::Composition
        | Study::Balance => html(study, numbers, Width::Any),
    }
}

fn waiting(study: Study) -> String {
    let id = study.id();
    let title = match study {
        Study::Tradeoff => memory::TRADEOFF,
        Study::Schedules => schedules::TITLE,
        _ => "",
    };
    format!(
        "<section class=\"figure card\" aria-labelledby=\"{id}-title\"><figcaption>\
         <h2 id=\"{id}-title\">{title}</h2><p>Simulated in the browser as soon as it is in view</p>\
         </figcaption><div class=\"chart\"></div></section>"
    )
}

/// A study of the design in a link; `None` for a name or a link that isn't one, and for a design
/// that breaks a rule.
///
/// Studies of one design are asked for one after the other, so its numbers are kept.
#[must_use]
pub fn of_link(study: &str, query: &str, width: u32) -> Option<String> {
    thread_local! {
        static LAST: RefCell<Option<(String, Numbers)>> = const { RefCell::new(None) };
    }
    let study = Study::of_id(study)?;
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(of, _)| of != query) {
            let numbers = Numbers::of(&link::decode(query).ok()?)?;
            *last = Some((query.to_owned(), numbers));
        }
        let (_, numbers) = last.as_ref()?;
        Some(html(study, numbers, Width::Of(width)))
    })
}
