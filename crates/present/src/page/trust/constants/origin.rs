//! Origin of a constant's value, as far as a reader has to know.

use maud::{Markup, html};
use model::catalogue::accelerator::{Accelerator, AcceleratorId};
use model::design::link;
use model::ground::choice::Choice;
use validation::report::Row;

use crate::format;
use crate::page::trust::sheet::Cell;

/// Constants are written with three places, so a value this close is at a limit.
const HALF_A_PLACE: f64 = 0.0005;

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The fit found it.
    Fitted,
    /// The fit would go on, but the value may go no further.
    Limit,
    /// It is what a publication says.
    Source,
    /// No compared run depends on it.
    Set,
}

impl Origin {
    /// Origin of a value that may move within a range (least, most), and whether runs depend on it.
    pub(super) fn of(value: f64, range: [f64; 2], has_runs: bool) -> Self {
        if !has_runs {
            Self::Set
        } else if range.iter().any(|end| (value - end).abs() < HALF_A_PLACE) {
            Self::Limit
        } else {
            Self::Fitted
        }
    }

    /// Mark beside the value; empty if it is fitted.
    pub(super) const fn mark(self) -> &'static str {
        match self {
            Self::Fitted => "",
            Self::Limit => "limit",
            Self::Source => "source",
            Self::Set => "set",
        }
    }
}

/// Meaning of the marks, in sentences.
pub(super) const LEGEND: &str = "Values without a mark are fitted. Marked limit: the fit stops \
     there, at the end of what the value may be. Marked source: from publications about the \
     kernels, not fitted. Marked set: used, but no compared run depends on it. – stands where no \
     part of the family has the format.";

/// A constant's name with its meaning.
pub(super) fn name(name: &str, meaning: &str) -> Cell {
    Cell { note: meaning.to_owned(), ..Cell::text(name) }
}

/// The accelerators whose kernels reach the same, by the family's name.
pub(super) fn parts(family: &str) -> impl Iterator<Item = &'static Accelerator> {
    let rows = AcceleratorId::ALL.iter().map(|id| id.row());
    rows.filter(move |row| row.kernels.family == family)
}

/// The family's name of the accelerator that a run is taken for; empty of none.
pub(super) fn family(row: &Row) -> &'static str {
    let id = row.accelerator.as_deref().and_then(AcceleratorId::from_name);
    id.map_or("", |id| id.row().kernels.family)
}

/// Whether the run's model has experts.
pub(super) fn has_experts(row: &Row) -> bool {
    let design = row.design.as_deref().and_then(|query| link::decode(query).ok());
    design.is_some_and(|design| design.transformer.num_moe_experts.is_some())
}

/// Sources that each set of constants was fitted on: name of the set, then sources with their runs
/// as `bridge_perf (22), mlperf (18)`, or words without a number.
pub(super) fn fitted_on(of: &str, sets: &[(&str, &str)]) -> Markup {
    let named = |name: &str, sources: &str| match runs(sources) {
        0 => name.to_owned(),
        runs => format!("{}, {name}", format::counted(runs, "run", "runs")),
    };
    html! {
        details.fitted-on {
            summary { (of) }
            ul {
                @for (name, sources) in sets {
                    li { strong { (named(name, sources)) ":" } " " (sources) }
                }
            }
        }
    }
}

/// The sum of the numbers in parentheses.
fn runs(sources: &str) -> u64 {
    let counts = sources.split('(').skip(1).filter_map(|rest| rest.split(')').next());
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_runs_tell_is_fitted_unless_it_stands_at_an_end() {
        assert_eq!(Origin::of(0.5, [0.3, 0.85], true), Origin::Fitted);
        assert_eq!(Origin::of(0.85, [0.3, 0.85], true), Origin::Limit);
        assert_eq!(Origin::of(0.3, [0.3, 0.85], true), Origin::Limit);
        assert_eq!(Origin::of(0.3, [0.3, 0.85], false), Origin::Set);
    }

    #[test]
    fn runs_are_counted_from_the_list_of_sources() {
        assert_eq!(runs("a/b (6), c (10)"), 16);
        assert_eq!(runs("by definition"), 0);
        let html = fitted_on("Fitted on", &[("X", "a (1)"), ("Y", "by definition")]).into_string();
        assert!(html.contains("<strong>1 run, X:</strong> a (1)"), "{html}");
        assert!(html.contains("<strong>Y:</strong> by definition"), "{html}");
    }
}
