//! What a knob is: id, kind, bounds, unit, meaning, source. The knobs themselves are in
//! [`crate::design::table`].

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ground::source::{MEGATRON, Source, VLLM};
use crate::ground::text::shorten;

/// The value of a knob, as files, links and the command line spell it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An unset option, spelled `none`.
    None,
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Integer(u64),
    /// A real number.
    Real(f64),
    /// A name or a pattern.
    Text(String),
    /// Several values; comma-joined in a link.
    List(Vec<Self>),
}

impl Value {
    /// The whole number that it is.
    #[must_use]
    pub const fn as_integer(&self) -> Option<u64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }

    /// The real number that it is.
    #[must_use]
    pub const fn as_real(&self) -> Option<f64> {
        if let Self::Real(number) = self { Some(*number) } else { None }
    }

    /// The flag that it is.
    #[must_use]
    pub const fn as_flag(&self) -> Option<bool> {
        if let Self::Flag(flag) = self { Some(*flag) } else { None }
    }

    /// Its text; `None` if it is unset.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'_, str>> {
        if let Self::Text(text) = self {
            return Some(Cow::Borrowed(text));
        }
        (*self != Self::None).then(|| Cow::Owned(format!("{self}")))
    }
}

impl core::fmt::Display for Value {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Flag(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
            Self::List(values) if values.is_empty() => f.write_str("none"),
            Self::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{value}")?;
                }
                Ok(())
            }
        }
    }
}

/// Type and range of a knob's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number from the first to the second.
    Integer(u64, u64),
    /// A whole number, or `none`.
    OptionalInteger(u64, u64),
    /// A real number from the first to the second.
    Real(f64, f64),
    /// A real number, or `none`.
    OptionalReal(f64, f64),
    /// `true` or `false`.
    Flag,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Some of these names, comma-joined, or `none`.
    Subset(&'static [&'static str]),
    /// Megatron's layer frequency: a number or a pattern such as `([0]*3+[1]*58)`.
    LayerFreq,
    /// A whole number up to the bound, or one per stage, comma-joined, or `none`.
    PerStage(u64),
    /// Positions up to the bound, comma-joined, or `none`.
    PositionList(u64),
    /// A text that says something of each layer or document, or `none`.
    LayerPattern(LayerText),
    /// Megatron's layout text such as `Et*3|(tt|)*29mL`, or `none`.
    Layout,
    /// The hash of stored content, or `none`.
    Hash,
    /// Name for people: a line of up to [`MAX_NAME`] characters, or `none`.
    Name,
    /// Arguments of a framework in one text of up to [`MAX_ARGUMENTS`] bytes, or `none`; see
    /// [`crate::design::ExtraArgument`].
    Arguments,
}

/// Bytes of a text of arguments, at most: with them a link is still one that servers take.
pub const MAX_ARGUMENTS: usize = 4_000;

/// Characters of a name, at most.
pub const MAX_NAME: usize = 100;

/// Format of a text about layers or documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerText {
    /// Megatron's pattern of sub-layers.
    SubLayers,
    /// Tokens that one key stands for, as a Python list.
    Ratios,
    /// Sizes that differ by layer.
    Overrides,
    /// Lengths of documents with their shares.
    Lengths,
}

impl LayerText {
    /// Such a text.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::SubLayers => "M-M*ME/*E",
            Self::Ratios => "([0]*2+[4,128]*20)",
            Self::Overrides => "0-9,17:num_query_groups=8;20:ffn_hidden_size=0",
            Self::Lengths => "1024:0.3,4096:0.5,16384:0.2",
        }
    }
}

/// By what people move a whole number: what one step of it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// By one: layers, experts that a token visits.
    Unit,
    /// To a divisor or a multiple, by the least factor: groups of ranks, batches, sequences.
    Factor,
    /// To the next multiple of this: widths that kernels cut into tiles.
    Multiple(u64),
}

/// The parts of an estimate that a knob reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Single layers, whatever their sizes.
    Layers,
    /// Single layers by their sizes alone.
    Sizes,
    /// Stages, and no single layer or size of a plan.
    Spans,
}

/// A part that a knob plays for those who change many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Part of a strategy, which a search may change: it leaves the trained model, its batch in
    /// tokens and its machine as they are.
    Strategy,
    /// Hides one thing behind another: what it promises must hold.
    Overlap,
    /// Says with others what is computed again.
    Recomputation,
    /// Property of one machine: another accelerator has its own value.
    Machine,
    /// No lever, as a step of it tells nothing: how time is computed, what is counted, which
    /// accelerator, whose host overheads, and which loads.
    NoLever,
}

/// The part of a design that a knob belongs to; also the first half of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The shape of the model.
    Transformer,
    /// The machine.
    Cluster,
    /// Parallelism: how the model is cut.
    Parallel,
    /// In which order things run and what overlaps.
    Schedule,
    /// The batch and the number format.
    Training,
    /// Memory: what is kept, recomputed or offloaded.
    Memory,
    /// Where tokens go.
    Routing,
    /// Kernels: how operators run.
    Kernel,
    /// Serving: how the model answers requests; read by serving alone.
    Serving,
    /// Training run: its length, its price, and its failures; read by a budget alone.
    Run,
}

impl Section {
    /// Every section, in registry order.
    pub const ALL: [Self; 10] = [
        Self::Transformer,
        Self::Cluster,
        Self::Parallel,
        Self::Schedule,
        Self::Training,
        Self::Memory,
        Self::Routing,
        Self::Kernel,
        Self::Serving,
        Self::Run,
    ];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transformer => "transformer",
            Self::Cluster => "cluster",
            Self::Parallel => "parallel",
            Self::Schedule => "schedule",
            Self::Training => "training",
            Self::Memory => "memory",
            Self::Routing => "routing",
            Self::Kernel => "kernel",
            Self::Serving => "serving",
            Self::Run => "run",
        }
    }
}

/// One knob of the registry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knob {
    /// Where it belongs.
    pub section: Section,
    /// The second half of its id, Megatron-Core's or MindSpeed's name where they have one.
    pub name: &'static str,
    /// A short name for people.
    pub label: &'static str,
    /// Type and range of its values.
    pub kind: Kind,
    /// Unit of the value, empty for a bare count.
    pub unit: &'static str,
    /// Why the estimate doesn't use it yet; then only its neutral value is accepted.
    pub not_offered: Option<&'static str>,
    /// Among the ten that matter most.
    pub primary: bool,
    /// By what people move it, where it is a whole number.
    pub grain: Grain,
    /// Other names that are read, never written: short ones, and Hugging Face's. None means two
    /// knobs.
    pub aliases: &'static [&'static str],
    /// The parts of an estimate that it reaches.
    pub reach: Reach,
    /// A bit for each [`Role`].
    roles: u8,
}

/// Meaning and source of a knob, kept apart from it: a program that never shows them doesn't carry
/// them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Words {
    /// One line of meaning.
    pub meaning: &'static str,
    /// Source that defines it.
    pub source: Source,
}

/// A row of the registry: a knob with its meaning and source.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) knob: Knob,
    pub(crate) words: Words,
}

impl Row {
    /// Starts a row of the section of serving, which no estimate of training reads.
    pub(crate) const fn serving(label: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self::new(label, kind, meaning).source(VLLM).no_lever()
    }

    /// Starts a row of the registry.
    pub(crate) const fn new(label: &'static str, kind: Kind, meaning: &'static str) -> Self {
        let knob = Knob {
            section: Section::Transformer,
            name: "",
            label,
            kind,
            unit: "",
            not_offered: None,
            primary: false,
            grain: Grain::Unit,
            aliases: &[],
            reach: Reach::Layers,
            roles: 0,
        };
        Self { knob, words: Words { meaning, source: MEGATRON } }
    }

    pub(crate) const fn named(mut self, section: Section, name: &'static str) -> Self {
        self.knob.section = section;
        self.knob.name = name;
        self
    }

    pub(crate) const fn unit(mut self, unit: &'static str) -> Self {
        self.knob.unit = unit;
        self
    }

    pub(crate) const fn source(mut self, source: Source) -> Self {
        self.words.source = source;
        self
    }

    pub(crate) const fn primary(mut self) -> Self {
        self.knob.primary = true;
        self
    }

    pub(crate) const fn by_factor(mut self) -> Self {
        self.knob.grain = Grain::Factor;
        self
    }

    pub(crate) const fn by_multiples_of(mut self, size: u64) -> Self {
        self.knob.grain = Grain::Multiple(size);
        self
    }

    pub(crate) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.knob.aliases = aliases;
        self
    }

    pub(crate) const fn strategy(self) -> Self {
        self.role(Role::Strategy)
    }

    pub(crate) const fn overlap(self) -> Self {
        self.role(Role::Strategy).role(Role::Overlap)
    }

    pub(crate) const fn recomputation(self) -> Self {
        self.role(Role::Strategy).role(Role::Recomputation)
    }

    pub(crate) const fn of_machine(self) -> Self {
        self.role(Role::Machine)
    }

    pub(crate) const fn no_lever(self) -> Self {
        self.role(Role::NoLever)
    }

    const fn role(mut self, role: Role) -> Self {
        self.knob.roles |= 1 << role as u8;
        self
    }

    pub(crate) const fn reaching(mut self, reach: Reach) -> Self {
        self.knob.reach = reach;
        self
    }

    pub(crate) const fn not_offered(mut self, reason: &'static str) -> Self {
        self.knob.not_offered = Some(reason);
        self
    }
}

impl Knob {
    /// Whether it plays this part.
    #[must_use]
    pub const fn has(&self, role: Role) -> bool {
        self.roles & (1 << role as u8) != 0
    }

    /// The public id, `section.name`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}.{}", self.section.name(), self.name)
    }

    /// An error about this knob.
    pub(crate) fn error(
        &self,
        rule: &'static str,
        detail: String,
        nearest: Vec<String>,
    ) -> KnobError {
        KnobError { rule, knob: self.id(), detail, nearest }
    }

    /// The error of a value that isn't of the knob's kind.
    pub(crate) fn wrong_type(&self, found: &str, wanted: &str) -> KnobError {
        let detail = format!("{} takes {wanted}, not `{}`", self.id(), shorten(found));
        self.error("wrong_type", detail, Vec::new())
    }
}

/// A knob could not be found or set.
#[derive(Clone, Debug, PartialEq)]
pub struct KnobError {
    /// The rule that the input breaks: `unknown_knob`, `wrong_type`, `out_of_range`, ...
    pub rule: &'static str,
    /// Knob of the request, as `section.name` where known.
    pub knob: String,
    /// Description of the error, in a sentence.
    pub detail: String,
    /// The closest thing that would be accepted.
    pub nearest: Vec<String>,
}

impl core::fmt::Display for KnobError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.detail)?;
        if !self.nearest.is_empty() {
            write!(f, " (nearest: {})", self.nearest.join(", "))?;
        }
        Ok(())
    }
}
