//! A design: any point of the space of knobs, even an illegal one. It is also the file format.

mod knob_set;
mod setting;
pub mod table;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

pub use knob_set::KnobSet;
pub use setting::{LayerFreq, Layout, PerStage, Positions};
pub use table::{
    Cluster, Kernel, KnobId, Memory, Parallel, Routing, Schedule, Training, Transformer,
};

use crate::alias;
use crate::knob::{Knob, KnobError, Section};
use crate::preset::Preset;

/// A training configuration as its author wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// The preset that it starts from: a link or file holds only what differs from it.
    pub preset: &'static Preset,
    /// The shape of the model.
    pub transformer: Transformer,
    /// The machine.
    pub cluster: Cluster,
    /// How the model is cut.
    pub parallel: Parallel,
    /// In which order things run and what overlaps.
    pub schedule: Schedule,
    /// The batch and the number format.
    pub training: Training,
    /// What is kept, computed again or parked.
    pub memory: Memory,
    /// Where tokens go.
    pub routing: Routing,
    /// How operators run.
    pub kernel: Kernel,
}

impl KnobId {
    /// The registry's row.
    #[must_use]
    pub fn knob(self) -> &'static Knob {
        &table::KNOBS[self as usize]
    }

    /// The public id, `section.name`.
    #[must_use]
    pub fn id(self) -> String {
        format!("{}.{}", self.knob().section.name(), self.knob().name)
    }

    /// The knobs of a section, in registry order.
    pub fn in_section(section: Section) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |id| id.knob().section == section)
    }

    /// Finds a knob by its id, by its bare name or by an alias.
    ///
    /// # Errors
    /// An unknown name, with the closest known one.
    pub fn find(name: &str) -> Result<Self, KnobError> {
        let bare = name.split_once('.').map(|(section, bare)| (Some(section), bare));
        let (section, bare) = bare.unwrap_or((None, name));
        Self::ALL
            .iter()
            .copied()
            .find(|id| {
                let knob = id.knob();
                knob.name == bare && section.is_none_or(|section| section == knob.section.name())
            })
            .or_else(|| alias::knob(name))
            .ok_or_else(|| unknown_knob(name, bare))
    }
}

fn unknown_knob(name: &str, bare: &str) -> KnobError {
    let nearest = closest(bare, KnobId::ALL.iter().copied(), |id| id.knob().name);
    let shown = shorten(name);
    KnobError {
        rule: "unknown_knob",
        knob: shown.clone(),
        detail: format!("there is no knob `{shown}`"),
        nearest: nearest.map(KnobId::id).into_iter().collect(),
    }
}

/// What `text` was most likely meant to be: a name that begins so, else the one that fewest
/// edits make of it.
#[must_use]
pub fn closest<T>(
    text: &str,
    known: impl Iterator<Item = T>,
    name: impl Fn(&T) -> &'static str,
) -> Option<T> {
    known.min_by_key(|item| {
        let begins = text.len() > 2 && name(item).starts_with(text);
        (!begins, distance(text, name(item)))
    })
}

/// At most 80 characters of something that a person sent, so that an error stays readable.
#[must_use]
pub fn shorten(text: &str) -> String {
    if text.chars().count() <= 80 {
        return text.to_string();
    }
    let mut short: String = text.chars().take(77).collect();
    short.push('…');
    short
}

/// Levenshtein distance of the first 64 characters.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

impl Design {
    /// The design of a preset, unchanged.
    ///
    /// # Errors
    /// An unknown preset, with the closest known one.
    pub fn from_preset(id: &str) -> Result<Self, KnobError> {
        Preset::find(id).map(Preset::design)
    }

    /// A design with every knob at its neutral value.
    #[must_use]
    pub fn neutral(preset: &'static Preset) -> Self {
        Self {
            preset,
            transformer: Transformer::default(),
            cluster: Cluster::default(),
            parallel: Parallel::default(),
            schedule: Schedule::default(),
            training: Training::default(),
            memory: Memory::default(),
            routing: Routing::default(),
            kernel: Kernel::default(),
        }
    }

    /// Sets a knob from text, as a link or `--set` spells it.
    ///
    /// # Errors
    /// A value of the wrong type or out of the knob's bounds.
    pub fn set_text(&mut self, id: KnobId, text: &str) -> Result<(), KnobError> {
        self.set(id, &setting::parse(id, text)?)
    }

    /// The knobs that differ from the preset, in registry order.
    #[must_use]
    pub fn changed(&self) -> Vec<KnobId> {
        let base = self.preset.design();
        KnobId::ALL.iter().copied().filter(|id| self.get(*id) != base.get(*id)).collect()
    }

    /// Puts a knob back to its preset's value.
    pub fn reset(&mut self, id: KnobId) {
        let base = self.preset.design();
        // A preset's own value is in bounds: a test sets each of them.
        let _ = self.set(id, &base.get(id));
    }
}

/// An error about one knob.
pub(crate) fn knob_error(
    rule: &'static str,
    id: KnobId,
    detail: String,
    nearest: Vec<String>,
) -> KnobError {
    KnobError { rule, knob: id.id(), detail, nearest }
}

/// The same, with no suggestion.
pub(crate) fn wrong_type(id: KnobId, found: &str, wanted: &str) -> KnobError {
    let detail = format!("{} takes {wanted}, not `{}`", id.id(), shorten(found));
    knob_error("wrong_type", id, detail, vec![])
}
