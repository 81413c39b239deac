//! A design in the making.

use model::design::{Design, KnobId};

use crate::imputation::{self, Facts, Item};
use crate::phrase::{self, Claim};
use crate::refusal::Refusal;
use crate::runs::Run;

/// A run's design as far as it is set, with what was assumed for it.
pub(crate) struct Draft<'a> {
    pub(crate) design: Design,
    pub(crate) run: &'a Run,
    pub(crate) facts: Facts,
    /// Lower-case text of the columns that say what overlaps and how things are scheduled.
    pub(crate) flags: String,
    /// The micro-batch to try where the row prints none.
    pub(crate) micro_batch: Option<u64>,
    assumed: Vec<String>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(design: Design, run: &'a Run, assumed: Vec<String>) -> Self {
        let flags = format!("{}; {}", run.overlap, run.virtual_pipeline).to_lowercase();
        let assumed = assumed.into_iter().chain(run.assumed.iter().cloned()).collect();
        Self { design, run, facts: imputation::facts(run), flags, micro_batch: None, assumed }
    }

    /// Sets a knob.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and names are given alike")]
    pub(crate) fn set(&mut self, knob: KnobId, value: impl ToString) -> Result<(), Refusal> {
        let outcome = self.design.set_text(knob, &value.to_string());
        outcome.map_err(|error| Refusal::knob(&error))
    }

    /// Sets a knob to what the table assumes, and says so.
    pub(crate) fn assume(&mut self, knob: KnobId, item: Item) -> Result<(), Refusal> {
        let value = self.assumption(item);
        self.set(knob, value)
    }

    /// Value that the table assumes for an item; notes the assumption.
    pub(crate) fn assumption(&mut self, item: Item) -> &'static str {
        let (value, words) = imputation::impute(item, &self.facts);
        self.note(words);
        value
    }

    /// Says what was assumed.
    pub(crate) fn note(&mut self, words: &str) {
        if !self.assumed.iter().any(|known| known == words) {
            self.assumed.push(words.to_owned());
        }
    }

    /// Takes back what the table assumes; whether it had been assumed.
    pub(crate) fn withdraw(&mut self, item: Item) -> bool {
        let (_, words) = imputation::impute(item, &self.facts);
        let before = self.assumed.len();
        self.assumed.retain(|known| known != words);
        self.assumed.len() < before
    }

    /// Whether the row's flags affirm one of these; `no DeepEP` and `EP overlap off` don't.
    pub(crate) fn says(&self, any: &[&str]) -> bool {
        phrase::affirms(&self.flags, any)
    }

    /// Whether the row's flags deny these.
    pub(crate) fn denies(&self, any: &[&str]) -> bool {
        phrase::claim(&self.flags, any) == Some(Claim::Denied)
    }

    /// Whether the row's flags hold one of these, in any context.
    pub(crate) fn holds(&self, any: &[&str]) -> bool {
        any.iter().any(|phrase| self.flags.contains(phrase))
    }

    /// The model has experts.
    pub(crate) fn has_experts(&self) -> bool {
        self.design.transformer.has_experts()
    }

    pub(crate) fn into_assumed(self) -> Vec<String> {
        self.assumed
    }
}
