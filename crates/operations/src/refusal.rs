//! Refusals: everything that is wrong with a call, in words that every door can say.

use model::design::violation::Violation;
use model::ground::knob::KnobError;
use model::routing::text::TextError;

/// Kind of a refusal, which a door says by its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The input can't be read.
    Unreadable,
    /// The input can be read, and has no answer.
    Unanswerable,
    /// A check that was asked for fails.
    Missed,
    /// Nobody waits any more, or the time is over.
    Ended,
    /// A fault that whoever calls can't mend.
    Internal,
}

/// Part of the input in which something is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The request itself: `at` is an argument.
    #[default]
    Request,
    /// An argument of the request: `at` is its name, which the sentence has in backticks. At a
    /// terminal it is an option.
    Option,
    /// A trace that came with the request: `at` is a place in it, `line.3.column.2`.
    Trace,
    /// A design in it: `at` is a knob.
    Design,
    /// A rule that a design breaks: `at` is the first knob that it is about.
    Rule,
}

/// Something in a request that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Name for the kind of mistake.
    pub rule: String,
    /// The argument or knob that it is about; empty for the request as a whole.
    pub at: String,
    /// What is wrong, in a sentence.
    pub detail: String,
    /// Values that would be taken, nearest first.
    pub nearest: Vec<String>,
    /// Part of the input.
    pub origin: Origin,
    /// Argument that has the design, where it isn't the input's own: `baseline`, `designs.1`.
    pub argument: String,
}

/// Reasons why a call isn't answered: everything that is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Kind of the refusal.
    pub kind: Kind,
    /// All that is wrong.
    pub errors: Vec<Wrong>,
    /// Rules that the design breaks, where that is what is wrong.
    pub violations: Vec<Violation>,
}

impl Wrong {
    /// Something wrong with the request itself.
    #[must_use]
    pub fn new(rule: &str, at: &str, detail: impl Into<String>) -> Self {
        let [rule, at] = [rule, at].map(str::to_owned);
        let origin = Origin::Request;
        Self { rule, at, detail: detail.into(), nearest: vec![], origin, argument: String::new() }
    }

    /// A line of it for a terminal, where knobs are set by `--set`.
    #[must_use]
    pub fn line(&self) -> String {
        let before = match self.argument.as_str() {
            "" => String::new(),
            argument => format!("{argument}: "),
        };
        let listed = self.nearest.join(", ");
        match self.origin {
            Origin::Option => self.option_line(),
            Origin::Rule if self.nearest.is_empty() => {
                format!("{before}{} ({})", self.detail, self.rule)
            }
            Origin::Rule => {
                let near: Vec<String> =
                    self.nearest.iter().map(|way| format!("--set {way}")).collect();
                format!("{before}{} ({}); nearest: {}", self.detail, self.rule, near.join(", "))
            }
            Origin::Request | Origin::Trace | Origin::Design if self.nearest.is_empty() => {
                format!("{before}{}", self.detail)
            }
            Origin::Request | Origin::Trace | Origin::Design => {
                format!("{before}{} (nearest: {listed})", self.detail)
            }
        }
    }

    /// Line of an argument that is an option at a terminal.
    fn option_line(&self) -> String {
        let flag = format!("--{}", self.at.replace('_', "-"));
        let detail = self.detail.replacen(&format!("`{}`", self.at), &flag, 1);
        match self.nearest.as_slice() {
            [] => detail,
            [one] => format!("{detail}; nearest: {flag} {one}"),
            near => format!("{detail}; nearest: {}", near.join(", ")),
        }
    }
}

impl Refusal {
    /// Refusal for one reason.
    #[must_use]
    pub fn new(rule: &str, at: &str, detail: impl Into<String>) -> Self {
        Self::of([Wrong::new(rule, at, detail)])
    }

    /// Refusal for all of these.
    pub fn of(errors: impl IntoIterator<Item = Wrong>) -> Self {
        let errors = errors.into_iter().collect();
        Self { kind: Kind::Unreadable, errors, violations: vec![] }
    }

    /// Refusal of a design as a whole, by the rules that it breaks.
    #[must_use]
    pub fn broken(violations: &[Violation]) -> Self {
        let errors = violations.iter().map(Wrong::from).collect();
        Self { kind: Kind::Unanswerable, errors, violations: violations.to_vec() }
    }

    /// The refusal of this kind.
    #[must_use]
    pub fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// The refusal of a design that an argument has, such as `baseline`.
    #[must_use]
    pub fn within(mut self, argument: &str) -> Self {
        for wrong in &mut self.errors {
            argument.clone_into(&mut wrong.argument);
        }
        self
    }

    /// Whether there is nothing wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }
}

impl From<KnobError> for Wrong {
    fn from(error: KnobError) -> Self {
        Self {
            nearest: error.nearest,
            origin: Origin::Design,
            ..Self::new(error.rule, &error.knob, error.detail)
        }
    }
}

impl From<TextError> for Wrong {
    fn from(error: TextError) -> Self {
        let at = match (error.line, error.column) {
            (0, _) => String::new(),
            (line, 0) => format!("line.{line}"),
            (line, column) => format!("line.{line}.column.{column}"),
        };
        Self { origin: Origin::Trace, ..Self::new("unreadable_trace", &at, error.message) }
    }
}

impl From<&Violation> for Wrong {
    fn from(broken: &Violation) -> Self {
        let knob = broken.knobs.first().map(|knob| knob.id()).unwrap_or_default();
        let ways = broken.nearest.iter().map(|way| format!("{}={}", way.knob.id(), way.value));
        Self {
            nearest: ways.collect(),
            origin: Origin::Rule,
            ..Self::new(broken.rule, &knob, broken.message.clone())
        }
    }
}

impl From<Vec<KnobError>> for Refusal {
    fn from(errors: Vec<KnobError>) -> Self {
        Self::of(errors.into_iter().map(Wrong::from))
    }
}

impl From<KnobError> for Refusal {
    fn from(error: KnobError) -> Self {
        vec![error].into()
    }
}
