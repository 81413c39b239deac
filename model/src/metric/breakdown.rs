//! Trees of named terms: a number with the formula that makes it of others.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::ground::sorting::{median, sort_numbers};
use crate::ground::source::{DERIVED, MEGATRON, Source};
use crate::metric::{MetricId, Unit, Words};

/// Operation that makes a node's value from those of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is given, or follows from a formula that its children don't hold all of: what is
    /// below it explains it without adding up to it.
    Given,
    /// It is their sum.
    Sum,
    /// It is the largest of them.
    Max,
    /// It is the smallest of them.
    Min,
    /// It is their median, the mean of the two inner ones of an even count.
    Median,
    /// It is their product.
    Product,
    /// It is the first of them, divided by all others.
    Quotient,
    /// It is the first of them less all others.
    Difference,
    /// It is 1 less the first of them divided by all others.
    Complement,
    /// It is 1 if the first of them is at most the second, else 0.
    AtMost,
}

impl How {
    /// The value that children of these values give; none for what is given.
    #[must_use]
    pub fn combine(self, values: &[f64]) -> Option<f64> {
        let (first, rest) = values.split_first()?;
        let divisor: f64 = rest.iter().product();
        Some(match self {
            Self::Given => return None,
            Self::Sum => values.iter().sum(),
            Self::Max => rest.iter().copied().fold(*first, f64::max),
            Self::Min => rest.iter().copied().fold(*first, f64::min),
            Self::Median => {
                let mut sorted = values.to_vec();
                sort_numbers(&mut sorted);
                median(&sorted)?
            }
            Self::Product => values.iter().product(),
            Self::Quotient => first / divisor,
            Self::Difference => first - rest.iter().sum::<f64>(),
            Self::Complement => 1.0 - first / divisor,
            Self::AtMost => f64::from(u8::from(*first <= *rest.first()?)),
        })
    }

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Sum => "sum",
            Self::Max => "max",
            Self::Min => "min",
            Self::Median => "median",
            Self::Product => "product",
            Self::Quotient => "quotient",
            Self::Difference => "difference",
            Self::Complement => "complement",
            Self::AtMost => "at_most",
        }
    }

    /// The formula with these values, as text, put in: `2 x (3 + 4)`; none for what is given.
    #[must_use]
    pub fn substituted(self, values: &[String]) -> Option<String> {
        const MAX_SYMBOLS: usize = 6;
        let (first, rest) = values.split_first()?;
        if values.len() > MAX_SYMBOLS && self != Self::Given {
            return Some(alloc::format!("{} of {} terms", self.name(), values.len()));
        }
        let divided = |by: &[String]| match by {
            [] => first.clone(),
            [one] => alloc::format!("{first} / {one}"),
            many => alloc::format!("{first} / ({})", many.join(" x ")),
        };
        Some(match self {
            Self::Given => return None,
            Self::Sum => values.join(" + "),
            Self::Max => alloc::format!("max({})", values.join(", ")),
            Self::Min => alloc::format!("min({})", values.join(", ")),
            Self::Median => alloc::format!("median({})", values.join(", ")),
            Self::Product => values.join(" x "),
            Self::Quotient => divided(rest),
            Self::Difference => values.join(" - "),
            Self::Complement => alloc::format!("1 - {}", divided(rest)),
            Self::AtMost => values.join(" <= "),
        })
    }
}

/// A number with its formula and the terms that it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// Name of the quantity.
    pub name: String,
    /// Its value in its unit.
    pub value: f64,
    /// The unit.
    pub unit: Unit,
    /// Formula of the value over the children, in words and symbols.
    pub formula: String,
    /// Where the formula comes from.
    pub source: Source,
    /// Operation that makes the value from those of the children, for programs.
    pub how: How,
    /// The terms.
    pub children: Vec<Self>,
}

/// Rule by which a value follows from its terms, and the terms.
pub(crate) type Terms = (How, Vec<Breakdown>);

impl Breakdown {
    /// Term with a value of its own.
    pub(crate) fn given(name: &str, value: f64, unit: Unit) -> Self {
        Self {
            name: name.to_string(),
            value,
            unit,
            formula: String::new(),
            source: DERIVED,
            how: How::Given,
            children: Vec::new(),
        }
    }

    /// The value of a metric of these words, which follows so from its terms.
    pub(crate) fn of_metric(id: MetricId, words: &Words, value: f64, terms: Terms) -> Self {
        let (metric, (how, children)) = (id.metric(), terms);
        let given = Self::given(metric.label, value, metric.unit);
        Self { how, children, ..given.by(words.formula, words.source) }
    }

    /// A metric as a term of others, which may not be known.
    pub(crate) fn or_unknown(id: MetricId, known: Option<Self>) -> Self {
        let unknown = || Self::given(id.metric().label, f64::NAN, id.metric().unit);
        known.unwrap_or_else(unknown)
    }

    /// Term whose value its children make.
    pub(crate) fn made(name: &str, unit: Unit, how: How, children: Vec<Self>) -> Self {
        let values: Vec<f64> = children.iter().map(|child| child.value).collect();
        let value = how.combine(&values).unwrap_or(0.0);
        Self { how, children, ..Self::given(name, value, unit) }
    }

    pub(crate) fn sum(name: &str, unit: Unit, children: Vec<Self>) -> Self {
        Self::made(name, unit, How::Sum, children)
    }

    pub(crate) fn product(name: &str, unit: Unit, children: Vec<Self>) -> Self {
        Self::made(name, unit, How::Product, children)
    }

    pub(crate) fn by(mut self, formula: &str, source: Source) -> Self {
        self.formula = formula.to_string();
        self.source = source;
        self
    }

    /// The node with children that explain it without adding up to it.
    pub(crate) fn beside(mut self, children: Vec<Self>) -> Self {
        self.children = children;
        self
    }
}

impl Breakdown {
    /// A number of parameters.
    pub(crate) fn params(name: &str, value: u128, formula: &str) -> Self {
        Self::given(name, value as f64, Unit::Parameters).by(formula, MEGATRON)
    }
}
