//! Parts of pages that follow from their query alone and that a server writes; in a folder of files
//! a module does.

use model::design::link;

use crate::form::find_bar;
use crate::page::find::form::{self, ResultPart};
use crate::page::find::request::{Request, address};
use crate::page::{compare, schedule};
use crate::site::{Page, SCHEDULE_OF_DESIGN_PATH};

/// What stands for a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The part that depends on the query.
    pub html: String,
    /// The address that it leads to instead, where it does.
    pub leads_to: String,
    /// The design that the header's links take along, as a query.
    pub design: String,
}

/// The part of a page at a path; nothing for one that needs none. `finder` is the address of the
/// worker that searches for layouts.
#[must_use]
pub fn of_address(path: &str, query: &str, finder: &str) -> Written {
    let raw = query.strip_prefix('?').unwrap_or(query);
    if path == Page::Find.path() {
        find(raw, finder)
    } else if path == Page::Compare.path() {
        Written { html: compare::server_html::html(raw), ..Written::default() }
    } else if path == SCHEDULE_OF_DESIGN_PATH {
        Written { leads_to: schedule_of(raw), ..Written::default() }
    } else {
        Written::default()
    }
}

/// The page of a search; what a form sends leads to the address of the design that it comes to.
fn find(raw: &str, finder: &str) -> Written {
    let (request, wrong) = Request::read(raw);
    if wrong.is_empty() && request.is_form {
        return Written { leads_to: address(&request.query), ..Written::default() };
    }
    let is_asked = wrong.is_empty() && request.is_asked;
    let shown = if is_asked { ResultPart::Browser(Some(finder)) } else { ResultPart::None };
    let line = find_bar::boxes(&request.query.design).into_string();
    Written {
        html: form::html(&request, &wrong, shown, &line),
        design: if is_asked { link::encode(&request.query.design) } else { String::new() },
        ..Written::default()
    }
}

/// The address of a design's schedule with its mean task times; a design that breaks a rule, or
/// that isn't understood, leads to the page that says so.
#[must_use]
pub fn schedule_of(raw: &str) -> String {
    let input = link::decode(raw).ok().and_then(|design| schedule::of_design(&design));
    input.map_or_else(|| format!("/?{raw}"), |input| schedule::query::address(&input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_to_the_address_of_what_it_asks_for() {
        let written = of_address("/find", "?preset=glm-4.5&find.devices=256", "finder.js");
        assert!(written.leads_to.contains("cluster.num_devices=256"), "{written:?}");
        let asked = of_address("/find", &written.leads_to["/find".len()..], "finder.js");
        assert!(asked.html.contains("data-worker=\"finder.js\""), "{}", asked.html);
        assert!(asked.design.contains("cluster.num_devices=256") && asked.leads_to.is_empty());
    }

    #[test]
    fn designs_stand_beside_each_other_and_a_design_leads_to_its_schedule() {
        let compared = of_address("/compare", "?a=preset%3Dllama-3-8b&b=preset%3Dglm-4.5", "");
        assert!(compared.html.contains("compare-designs"), "{}", compared.html);
        let schedule = of_address(SCHEDULE_OF_DESIGN_PATH, "?preset=pangu-ultra-moe-6k", "");
        assert!(schedule.leads_to.starts_with("/schedule?"), "{schedule:?}");
        assert_eq!(of_address("/about", "?a", ""), Written::default());
    }
}
