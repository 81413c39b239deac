//! What a design gains and loses beside another, in headline numbers and in knobs.

use std::cell::RefCell;
use std::collections::BTreeMap;

use model::design::{KnobId, link};
use model::{MemoryState, Plan, estimate};

use super::labels::HEADLINE;
use crate::format;
use crate::insight::memory_state;

/// Links whose numbers are kept, at most.
const MAX_LINKS: usize = 64;

/// The headline numbers of a design and how sure it is that it
/// fits; none while it breaks a rule.
pub type Figures = Option<([f64; HEADLINE.len()], MemoryState, String)>;

thread_local! {
    /// Candidates don't move: their numbers are asked for at every edit of the working design.
    static KNOWN: RefCell<BTreeMap<String, Figures>> = const { RefCell::new(BTreeMap::new()) };
}

/// The headline numbers of the design of a link.
#[must_use]
pub fn figures(link: &str) -> Figures {
    if let Some(known) = KNOWN.with(|known| known.borrow().get(link).cloned()) {
        return known;
    }
    let figures = Plan::new(&link::salvage(link).0).ok().map(|plan| {
        let metrics = estimate(&plan).metrics;
        let number = |id| format::number(metrics.get(id));
        (HEADLINE.map(number), metrics.memory_state(), memory_state::short(&metrics))
    });
    KNOWN.with(|known| {
        let mut known = known.borrow_mut();
        if known.len() >= MAX_LINKS {
            known.clear();
        }
        known.insert(link.to_owned(), figures.clone());
    });
    figures
}

/// A row for each headline number of a design: its name, what it is, and how far that is from
/// another design's.
#[must_use]
pub fn rows(link: &str, beside: Option<&str>) -> Option<Vec<[String; 3]>> {
    let (numbers, ..) = figures(link)?;
    let others = beside.and_then(figures);
    let row = |(index, id): (usize, &model::metric::MetricId)| {
        let now = numbers[index];
        let change = others.as_ref().map_or_else(String::new, |(others, ..)| {
            let then = others[index];
            if now.total_cmp(&then).is_eq() {
                "the same".to_owned()
            } else {
                format::change(*id, now, then)
            }
        });
        let text = format::measured(*id, now).to_string();
        [id.metric().label.to_owned(), text, change]
    };
    Some(HEADLINE.iter().enumerate().map(row).collect())
}

/// Number of knobs that differ between two designs, and their names: `2 knobs differ: EP and PP`.
#[must_use]
pub fn knobs_between(before: &str, after: &str) -> String {
    let (before, after) = (link::salvage(before).0, link::salvage(after).0);
    if before.preset.id != after.preset.id {
        return format!("it starts from {} now", after.preset.title);
    }
    let differing = KnobId::ALL.iter().filter(|id| before.get(**id) != after.get(**id));
    let names: Vec<String> = differing.map(|id| format::short_label(*id).to_owned()).collect();
    match names.len() {
        0 => "the same design".to_owned(),
        1 => format!("1 knob changed since: {}", names[0]),
        count @ 2..=4 => format!("{count} knobs changed since: {}", format::list(&names)),
        count => format!("{count} knobs changed since: {} and more", names[..3].join(", ")),
    }
}
