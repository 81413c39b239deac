//! Named starting points: models with a default cluster and strategy, and published recipes.
//!
//! A released preset is frozen: links hold only what differs from it. A correction gets a new id.

mod models;
mod mixed;
mod recipes;
mod serving;

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use crate::ground::knob::KnobError;
use crate::ground::source::Source;
use crate::ground::text::{closest, shorten};

/// Part of a design that a preset fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetKind {
    /// A model's published architecture, with a cluster and strategy of ours.
    Model,
    /// A published training run.
    Recipe,
    /// A published run of serving.
    Serving,
}

/// A named starting point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// The public id.
    pub id: &'static str,
    /// The name that people use.
    pub title: &'static str,
    /// One line on what it is.
    pub story: &'static str,
    /// Part of a design that it fixes.
    pub kind: PresetKind,
    /// The preset whose values it takes over first.
    pub(crate) base: Option<&'static Preset>,
    /// Knobs by name, each with its value as text: `name=value`, with spaces between.
    pub(crate) settings: &'static str,
    /// Where it is published.
    pub source: Source,
    /// Why no knobs express this architecture; then it can't be opened.
    pub refused: Option<&'static str>,
}

impl Preset {
    /// The preset that a visitor meets first.
    pub const DEFAULT_ID: &'static str = "pangu-ultra-moe-6k@2";

    /// The preset that a link or file means which sets knobs and names none: the one that visitors
    /// met first when version 1 of both was released.
    pub const UNNAMED_ID: &'static str = "pangu-ultra-moe-6k";

    /// The preset of a link or file that names none.
    #[must_use]
    pub const fn unnamed(sets_knobs: bool) -> &'static str {
        if sets_knobs { Self::UNNAMED_ID } else { Self::DEFAULT_ID }
    }

    /// Every preset that can be trained: recipes first, then models.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        recipes::RECIPES.iter().chain(models::MODELS).chain(mixed::MODELS).copied()
    }

    /// Every published run of serving: what trains its model is that of its base.
    pub fn served() -> impl Iterator<Item = &'static Self> {
        serving::SERVED.iter().copied()
    }

    /// Finds a preset by id.
    ///
    /// # Errors
    /// An unknown preset, with the closest known one; one whose architecture no knob expresses.
    pub fn find(id: &str) -> Result<&'static Self, KnobError> {
        let error = |detail, nearest| KnobError {
            rule: "unknown_preset",
            knob: "preset".to_string(),
            detail,
            nearest,
        };
        let all = || Self::all().chain(Self::served());
        let Some(preset) = all().find(|preset| preset.id == id) else {
            let openable = all().filter(|preset| preset.refused.is_none());
            let nearest = closest(id, openable, |preset| preset.id);
            return Err(error(
                format!("there is no preset `{}`", shorten(id)),
                nearest.map(|preset| preset.id.to_string()).into_iter().collect(),
            ));
        };
        match preset.refused {
            Some(reason) => Err(error(format!("preset `{id}` can't be opened: {reason}"), vec![])),
            None => Ok(preset),
        }
    }

    /// The model's name: the title of a run without what it ran on.
    #[must_use]
    pub fn model_name(&self) -> &'static str {
        match self.kind {
            PresetKind::Model => self.title,
            // `MODEL on CLUSTER`: a test reads each.
            PresetKind::Recipe | PresetKind::Serving => {
                self.title.split(" on ").next().unwrap_or(self.title)
            }
        }
    }
}
