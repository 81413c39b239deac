//! Results of the model on a design: those of when it was stored, and those of now.

use model::design::Design;
use model::design::file::{Tree, json};
use model::metric::{MetricId, MetricValue};
use model::{Plan, estimate};
use present::format;
use reports::typed::MetricSaid;

/// The metrics that are kept with a design: those of the page's cards, and what memory is held
/// against.
const HEADLINE: [MetricId; 8] = [
    MetricId::mfu,
    MetricId::tokens_per_second_per_device,
    MetricId::step_time_seconds,
    MetricId::memory_peak_bytes,
    MetricId::memory_limit_bytes,
    MetricId::fits,
    MetricId::bubble_ratio,
    MetricId::comm_exposed_seconds,
];

/// The headline metrics of a design as JSON, whose numbers are read back to the bit; `None` for one
/// that breaks rules.
pub(crate) fn result(design: &Design) -> Option<String> {
    let metrics = estimate(&Plan::new(design).ok()?).metrics;
    let entries = HEADLINE.map(|id| {
        let value = match metrics.get(id) {
            Some(MetricValue::Number(value)) => Tree::number(value),
            Some(MetricValue::Flag(flag)) => Tree::Flag(flag),
            None => Tree::Null,
        };
        (id.metric().name, value)
    });
    Some(json::print(&Tree::map(entries)))
}

/// The metrics of a stored result, by their names; `None` if it can't be read.
pub(super) fn metrics(stored: &str) -> Option<Vec<(String, MetricSaid)>> {
    let Ok(Tree::Map(entries)) = json::parse(stored) else { return None };
    let said = |value: &Tree| match value_of(value) {
        Some(MetricValue::Number(value)) => MetricSaid::Number(value),
        Some(MetricValue::Flag(flag)) => MetricSaid::Flag(flag),
        None => MetricSaid::Unknown,
    };
    Some(entries.into_iter().map(|(name, value)| (name, said(&value))).collect())
}

fn value_of(stored: &Tree) -> Option<MetricValue> {
    match stored {
        Tree::Real(number) => Some(MetricValue::Number(*number)),
        Tree::Unsigned(number) => Some(MetricValue::Number(*number as f64)),
        Tree::Flag(flag) => Some(MetricValue::Flag(*flag)),
        Tree::Null | Tree::Negative(_) | Tree::Text(_) | Tree::List(_) | Tree::Map(_) => None,
    }
}

/// A headline metric, then and now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) id: MetricId,
    /// Stored value; `None` if there was none.
    pub(crate) then: Option<MetricValue>,
    /// Value of the model now; `None` for a design that breaks rules now.
    pub(crate) now: Option<MetricValue>,
}

impl Change {
    /// Stored value, as text.
    pub(crate) fn then_text(&self) -> String {
        shown(self.id, self.then)
    }

    /// Value now, as text.
    pub(crate) fn now_text(&self) -> String {
        shown(self.id, self.now)
    }

    /// Would a reader see a difference?
    pub(crate) fn shows(&self) -> bool {
        self.then_text() != self.now_text()
    }
}

fn shown(id: MetricId, value: Option<MetricValue>) -> String {
    value.map_or_else(|| "none".to_owned(), |_| format::metric(id, value).to_string())
}

/// Every headline metric of a stored result beside what the model says now.
pub(crate) fn changes(stored: Option<&str>, design: &Design) -> Vec<Change> {
    let then = stored.and_then(|text| json::parse(text).ok()).unwrap_or(Tree::Null);
    let now = Plan::new(design).ok().map(|plan| estimate(&plan).metrics);
    let change = |id: MetricId| {
        let then = then.get(id.metric().name).and_then(value_of);
        Change { id, then, now: now.as_ref().and_then(|metrics| metrics.get(id)) }
    };
    HEADLINE.map(change).into()
}

#[cfg(test)]
mod tests {
    use model::design::link;

    use super::*;

    #[test]
    fn a_result_is_read_back_to_the_bit() {
        for query in ["", "tp=4&ep=16&mbs=2", "preset=deepseek-v3-2k-h800"] {
            let design = link::decode(query).unwrap();
            let stored = result(&design);
            let changes = changes(stored.as_deref(), &design);
            assert_eq!(changes.len(), HEADLINE.len());
            for change in &changes {
                assert!(change.then.is_some() && change.then == change.now, "{change:?}");
            }
        }
    }

    #[test]
    fn what_changed_is_told_in_the_pages_words() {
        let design = link::decode("").unwrap();
        let stored = result(&design).unwrap();
        let mut tree = json::parse(&stored).unwrap();
        let Tree::Map(entries) = &mut tree else { panic!("a map") };
        entries[0].1 = Tree::Real(0.123);
        entries.retain(|(name, _)| name != "bubble_ratio");
        let changes = changes(Some(&json::print(&tree)), &design);
        let changed: Vec<_> = changes.iter().filter(|change| change.shows()).collect();
        assert_eq!(changed.len(), 2);
        assert_eq!((changed[0].id, changed[0].then_text()), (MetricId::mfu, "12.3 %".to_owned()));
        assert_eq!(changed[1].then_text(), "none");
    }

    #[test]
    fn a_design_that_breaks_rules_has_no_result() {
        let design = link::decode("pp=12").unwrap();
        assert_eq!(result(&design), None);
        assert!(changes(None, &design).iter().all(|change| !change.shows()));
    }
}
