//! A design as what starts a run elsewhere: the arguments of Megatron-LM and MindSpeed-LLM as a
//! launch script, and the configuration of other frameworks in their own words.
//!
//! The words are those of the [dialects](crate::dialects) that an import reads, the other way
//! round. What is written is read again at once: every knob that it alone doesn't bring back stands
//! below as a comment that [`crate::import()`] reads, with the reason. So the way back is exact.

mod layout;
mod groups;
mod print;
mod framework;
mod reason;
mod start;
mod script;
pub(crate) mod reading;
mod checks;

use model::MODEL_VERSION;
use model::design::link;
use model::design::{Design, ExtraArgument, KnobId};
use model::serving::ServingPlan;

use crate::draft::Draft;
use crate::{Answers, Format, comment};

/// Whose words a design is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Megatron-LM: a launch script.
    Megatron,
    /// MindSpeed-LLM: a launch script.
    Mindspeed,
    /// Megatron-Bridge: a recipe in Python.
    Bridge,
    /// MindFormers: its YAML.
    Mindformers,
    /// torchtitan: a job's TOML.
    Torchtitan,
    /// DeepSpeed: its JSON.
    Deepspeed,
    /// Accelerate: the YAML that `accelerate launch` reads, for FSDP or DeepSpeed.
    Accelerate,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 7] = [
        Self::Megatron,
        Self::Mindspeed,
        Self::Bridge,
        Self::Mindformers,
        Self::Torchtitan,
        Self::Deepspeed,
        Self::Accelerate,
    ];

    /// Name that people use for it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Megatron => "Megatron-LM",
            Self::Mindspeed => "MindSpeed-LLM",
            Self::Bridge => "Megatron-Bridge",
            Self::Mindformers => "MindFormers",
            Self::Torchtitan => "torchtitan",
            Self::Deepspeed => "DeepSpeed",
            Self::Accelerate => "Accelerate",
        }
    }

    /// The format that reads it.
    #[must_use]
    pub const fn format(self) -> Format {
        match self {
            Self::Mindspeed | Self::Mindformers => Format::Mindspeed,
            Self::Megatron
            | Self::Bridge
            | Self::Torchtitan
            | Self::Deepspeed
            | Self::Accelerate => Format::Megatron,
        }
    }
}

/// Where an export comes from.
#[derive(Clone, Copy, Debug)]
pub struct Provenance<'a> {
    /// The day, as `2026-01-31`.
    pub date: &'a str,
}

/// Launcher of a launch script's processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Launcher {
    /// `torchrun`, by hand on each node.
    #[default]
    Torchrun,
    /// A batch job of Slurm, which starts `torchrun` on each node.
    Slurm,
}

impl Launcher {
    /// Every launcher.
    pub const ALL: [Self; 2] = [Self::Torchrun, Self::Slurm];

    /// The short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Torchrun => "torchrun",
            Self::Slurm => "slurm",
        }
    }
}

/// A knob that a framework has no word for.
#[derive(Clone, Debug, PartialEq)]
pub struct UnsupportedKnob {
    /// The knob.
    pub knob: KnobId,
    /// Its value, as links spell it.
    pub value: String,
    /// Why there is no word for it.
    pub reason: &'static str,
}

/// A design in a framework's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// The file.
    pub text: String,
    /// Knobs that it has in comments alone, those of one reason together.
    pub unsaid: Vec<UnsupportedKnob>,
    /// Predictions for what its own words say, beside the design's; `None` for an engine's command.
    pub reading: Option<reading::Reading>,
    /// Checks to make before the run.
    pub checks: Vec<String>,
}

/// Arguments of a design's own knobs for Megatron or MindSpeed; of an export also those that a run
/// needs to start.
pub(crate) fn words(mindspeed: bool, design: &Design, is_export: bool) -> Vec<ExtraArgument> {
    let run = is_export.then(|| start::run(mindspeed, &Design::neutral(design.preset)).0);
    let groups = groups::for_target(mindspeed, design).into_iter().chain(run);
    let words = groups.flat_map(|it| it.arguments);
    words.map(|word| ExtraArgument { name: word.name, values: word.values }).collect()
}

/// A design in a framework's words, started by `torchrun` where it is a launch script.
#[must_use]
pub fn export(target: Target, design: &Design, provenance: &Provenance<'_>) -> Export {
    export_for(target, Launcher::Torchrun, design, provenance)
}

/// A design in a framework's words, as [`export`], with the launcher that launch scripts use.
#[must_use]
pub fn export_for(
    target: Target,
    launcher: Launcher,
    design: &Design,
    provenance: &Provenance<'_>,
) -> Export {
    let body = match target {
        Target::Megatron | Target::Mindspeed => script::body(target, launcher, design),
        Target::Bridge
        | Target::Mindformers
        | Target::Torchtitan
        | Target::Deepspeed
        | Target::Accelerate => framework::body(target, design),
    };
    let said = said(target, &print::whole(target, &[], &body, &[]));
    let reading = reading::Reading::new(target, design, &said);
    let checks = checks::sentences(target, design, &reading);
    let head = head(target, design, provenance, &reading, &checks);
    let said = self::said(target, &print::whole(target, &head, &body, &[]));
    let mut unsaid = unsaid(target, design, &said);
    unsaid.sort_by_key(|one| reason::rank(one.reason));
    let tail = tail(target.format(), design, &unsaid);
    let text = print::whole(target, &head, &body, &tail);
    Export { text, unsaid, reading: Some(reading), checks }
}

/// The command that starts an engine with a design that serves, with what no flag says below.
#[must_use]
pub fn export_command(plan: &ServingPlan, provenance: &Provenance<'_>) -> Export {
    let design = plan.design();
    let title = "Launch command of an inference engine for a design of Moescape".to_owned();
    let mut head = origin(title, design, provenance);
    head.push("MODEL stands for the weights, which are yours to name.".to_owned());
    let body = format!("{}\n", crate::engine::command(plan));
    let text = print::plain(&head, &body, &[]);
    let read = crate::read_design(Format::Serving, &text);
    let left = read.map_or_else(|_| KnobId::ALL.to_vec(), |read| left(read, design));
    let mut unsaid: Vec<UnsupportedKnob> = left
        .into_iter()
        .map(|knob| UnsupportedKnob {
            knob,
            value: design.get(knob).to_string(),
            reason: reason::of_serving(knob),
        })
        .collect();
    unsaid.sort_by_key(|one| reason::rank(one.reason));
    let tail = tail(Format::Serving, design, &unsaid);
    let text = print::plain(&head, &body, &tail);
    Export { text, unsaid, reading: None, checks: vec![] }
}

/// Lines at the beginning of a file.
fn head(
    target: Target,
    design: &Design,
    provenance: &Provenance<'_>,
    reading: &reading::Reading,
    checks: &[String],
) -> Vec<String> {
    let kind = match target {
        Target::Megatron | Target::Mindspeed => "A launch script of",
        Target::Bridge => "A recipe of",
        Target::Mindformers | Target::Torchtitan | Target::Deepspeed | Target::Accelerate => {
            "Configuration of"
        }
    };
    let title = format!("{kind} {} for a design of Moescape", target.title());
    let mut lines = origin(title, design, provenance);
    lines.push(String::new());
    lines.extend(reading.sentences());
    lines.extend([String::new(), "Check before the run:".to_owned()]);
    lines.extend(checks.iter().map(|check| format!("- {check}")));
    lines
}

/// Where a file comes from.
fn origin(title: String, design: &Design, provenance: &Provenance<'_>) -> Vec<String> {
    vec![
        title,
        format!("design: /?{}", link::encode(design)),
        format!("model version: {MODEL_VERSION}"),
        format!("date: {}", provenance.date),
    ]
}

/// Lines at the end of a file: the knobs that its own words leave open.
fn tail(format: Format, design: &Design, unsaid: &[UnsupportedKnob]) -> Vec<String> {
    let mark = comment::MARK;
    let mut lines = vec![
        "What stands nowhere above, for `moescape import`:".to_owned(),
        format!("{mark} format={}", format.name()),
        format!("{mark} preset={}", design.preset.id),
    ];
    let mut reason = "";
    for one in unsaid {
        if one.reason != reason {
            reason = one.reason;
            lines.push(format!("{reason}:"));
        }
        lines.push(format!("{mark} {}={}", one.knob.id(), one.value));
    }
    lines
}

/// The design that a file's own words make.
fn said(target: Target, text: &str) -> Design {
    let mut draft = Draft::new(target.format(), None, &Answers::default());
    draft.is_export = true;
    crate::read_words(text, None, &mut draft);
    draft.design
}

/// The knobs that a file's own words don't bring back.
fn unsaid(target: Target, design: &Design, said: &Design) -> Vec<UnsupportedKnob> {
    let unsaid = |knob| UnsupportedKnob {
        knob,
        value: design.get(knob).to_string(),
        reason: reason::reason(target, knob),
    };
    left(said.clone(), design).into_iter().map(unsaid).collect()
}

/// The knobs in which a design differs from what was read; the framework where it isn't the one
/// that follows when a comment says the accelerator.
fn left(mut read: Design, design: &Design) -> Vec<KnobId> {
    let differs = |read: &Design, knob| read.get(knob) != design.get(knob);
    let machine = KnobId::accelerator;
    let is_elsewhere = differs(&read, machine);
    // A design's own value is in bounds.
    let _ = read.set(machine, &design.get(machine));
    let left = |knob: &KnobId| if *knob == machine { is_elsewhere } else { differs(&read, *knob) };
    KnobId::ALL.iter().copied().filter(left).collect()
}
