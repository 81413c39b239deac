//! A design: any point of the space of knobs, even an illegal one. It is also the file format.

mod following;
mod arguments;
mod hybrid;
mod kernel_rows;
mod knob_set;
mod lengths;
mod named;
mod overrides;
mod python_list;
mod ratios;
mod registry;
mod run_rows;
mod serving_rows;
mod setting;
pub mod table;
mod training_rows;
pub mod file;
pub mod ladder;
pub mod link;
pub mod software;
pub mod violation;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use once_cell::race::OnceBox;

pub use arguments::ExtraArgument;
pub use hybrid::{HybridPattern, Symbol};
pub use knob_set::KnobSet;
pub use lengths::LengthHistogram;
pub use overrides::{LayerOverrides, Size};
pub use ratios::CompressRatios;
pub use setting::{LayerFreq, Layout, PerStage, Positions};
pub use table::{
    Cluster, Design, Kernel, KnobId, Memory, Parallel, Routing, Run, Schedule, Serving, Training,
    Transformer,
};

use crate::catalogue::accelerator::AcceleratorId;
use crate::catalogue::calibration::ModelKind;
use crate::catalogue::preset::Preset;
use crate::ground::choice::AttentionVariant;
use crate::ground::knob::{KnobError, Section};
use crate::ground::text::{closest, shorten};

impl Transformer {
    /// Whether its layers are sub-layers of a pattern.
    #[must_use]
    pub const fn is_hybrid(&self) -> bool {
        self.hybrid_layer_pattern.is_some()
    }

    /// Whether its layers differ by what mixes their tokens, or have something in place of
    /// attention.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        let has_windows = self.window_size.is_some() && self.window_attn_skip_freq.is_some();
        let is_plain = self.experimental_attention_variant == AttentionVariant::None;
        let is_alike = self.attention_compress_ratios.is_none() && self.layer_overrides.is_none();
        self.is_hybrid() || has_windows || !is_plain || !is_alike
    }

    /// Its kind, as far as errors of predictions are known by it.
    #[must_use]
    pub fn model_kind(&self) -> ModelKind {
        if self.is_mixed() {
            ModelKind::Mixed
        } else if self.has_experts() {
            ModelKind::Experts
        } else {
            ModelKind::Dense
        }
    }

    /// Whether it has experts.
    #[must_use]
    pub const fn has_experts(&self) -> bool {
        self.num_moe_experts.is_some()
    }

    /// Whether the layer at this position has experts, where no pattern of sub-layers says so.
    #[must_use]
    pub fn is_moe_layer(&self, position: u64) -> bool {
        self.has_experts() && self.moe_layer_freq.marks(position)
    }

    /// MoE layers among its layers, those of MTP not counted.
    pub(crate) fn moe_layers(&self) -> u64 {
        if let Some(pattern) = &self.hybrid_layer_pattern {
            return pattern.layers.iter().filter(|it| **it == Symbol::Experts).count() as u64;
        }
        if self.has_experts() { self.moe_layer_freq.marked_before(self.num_layers) } else { 0 }
    }
}

impl KnobId {
    /// The public id, `section.name`.
    #[must_use]
    pub fn id(self) -> String {
        self.knob().id()
    }

    /// The knobs of a section, in registry order.
    pub fn in_section(section: Section) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |id| id.knob().section == section)
    }

    /// The knobs that an estimate of training uses, in registry order.
    pub fn of_training() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|id| {
            let knob = id.knob();
            knob.not_offered.is_none() && !matches!(knob.section, Section::Serving | Section::Run)
        })
    }

    /// Finds a knob by its id, by its bare name or by an alias.
    ///
    /// # Errors
    /// An unknown name, with the closest known one.
    pub fn find(name: &str) -> Result<Self, KnobError> {
        Self::named(name).ok_or_else(|| unknown_knob(name))
    }

    /// The knob of an id, a bare name or an alias.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (section, bare) = parts(name);
        let is_it = |id: &Self| {
            let knob = id.knob();
            knob.name == bare && section.is_none_or(|section| section == knob.section.name())
        };
        Self::ALL.iter().copied().find(is_it).or_else(|| Self::by_alias(name))
    }

    /// The knob that an alias stands for.
    pub(crate) fn by_alias(alias: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|id| id.knob().aliases.contains(&alias))
    }
}

/// Section and bare name of `section.name`.
fn parts(name: &str) -> (Option<&str>, &str) {
    name.split_once('.').map_or((None, name), |(section, bare)| (Some(section), bare))
}

/// The nearest is one of the section that is named, if there is such a section.
fn unknown_knob(name: &str) -> KnobError {
    let (section, bare) = parts(name);
    let nearest_among = |is_among: &dyn Fn(&KnobId) -> bool| {
        closest(bare, KnobId::ALL.iter().copied().filter(is_among), |id| id.knob().name)
    };
    let nearest = nearest_among(&|id| section == Some(id.knob().section.name()))
        .or_else(|| nearest_among(&|_| true));
    let shown = shorten(name);
    KnobError {
        rule: "unknown_knob",
        knob: shown.clone(),
        detail: format!("there is no knob `{shown}`"),
        nearest: nearest.map(KnobId::id).into_iter().collect(),
    }
}

impl Design {
    /// The design of a preset, unchanged.
    ///
    /// # Errors
    /// An unknown preset, with the closest known one.
    pub fn from_preset(id: &str) -> Result<Self, KnobError> {
        Preset::find(id).map(Preset::design)
    }

    /// Sets a knob from text, as a link or `--set` spells it.
    ///
    /// # Errors
    /// A value of the wrong type or out of the knob's bounds.
    pub fn set_text(&mut self, id: KnobId, text: &str) -> Result<(), KnobError> {
        self.set(id, &setting::parse(id.knob(), text)?)
    }

    /// The knobs that differ from the preset, in registry order; the framework where it isn't the
    /// one that follows from the accelerator.
    #[must_use]
    pub fn changed(&self) -> Vec<KnobId> {
        let mut base = self.preset.design();
        let is_elsewhere = base.cluster.accelerator != self.cluster.accelerator;
        base.move_to(self.cluster.accelerator);
        let differs = |id: &KnobId| {
            if *id == KnobId::accelerator { is_elsewhere } else { self.get(*id) != base.get(*id) }
        };
        KnobId::ALL.iter().copied().filter(differs).collect()
    }

    /// Puts a knob back to its preset's value.
    pub fn reset(&mut self, id: KnobId) {
        let mut base = self.preset.design();
        if id.follows() {
            base.move_to(self.cluster.accelerator);
        }
        // A preset's own value is in bounds: a test sets each of them.
        let _ = self.set(id, &base.get(id));
    }

    /// The design on another accelerator, with what follows from it.
    fn move_to(&mut self, accelerator: AcceleratorId) {
        let from = core::mem::replace(&mut self.cluster.accelerator, accelerator);
        self.follow(from);
    }

    /// Moves along what follows from the accelerator, which was another one.
    fn follow(&mut self, from: AcceleratorId) {
        let to = self.cluster.accelerator;
        self.kernel.framework = following::carried(self.kernel.framework, from, to);
    }
}

/// Room for the designs of all presets, each read once in a program.
static DESIGNS: [OnceBox<Design>; 256] = [const { OnceBox::new() }; 256];

impl Preset {
    /// Its design.
    #[must_use]
    pub fn design(&'static self) -> Design {
        let all = Self::all().chain(Self::served());
        let mut places = all.zip(&DESIGNS).filter(|(preset, _)| core::ptr::eq(*preset, self));
        let known = places.next().map(|(_, place)| place.get_or_init(|| Box::new(self.read())));
        known.cloned().unwrap_or_else(|| self.read())
    }

    fn read(&'static self) -> Design {
        let mut design = Design::neutral(self);
        self.apply(&mut design);
        design
    }

    fn apply(&self, design: &mut Design) {
        if let Some(base) = self.base {
            base.apply(design);
        }
        for setting in self.settings.split_ascii_whitespace() {
            let (name, text) = setting.split_once('=').unwrap_or((setting, ""));
            let outcome = KnobId::find(name).and_then(|id| design.set_text(id, text));
            debug_assert!(outcome.is_ok(), "{}: {outcome:?}", self.id);
        }
    }
}
