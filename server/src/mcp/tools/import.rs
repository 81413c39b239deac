//! `import`: a design of what others write.

use interchange::Answers;
use model::design::Design;
use reports::imported::{Assumed, Ignored, Question, UnknownKey};
use reports::report::BrokenRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answers::import_answers;
use crate::imported;
use operations::{self as said, Refusal, Data, Wrong};
use crate::mcp::tool::{Answer, Tool};
use operations::Caller;

/// Bytes of a text, at most.
const MAX_TEXT_BYTES: usize = 1 << 20;

pub(in crate::mcp) struct Import;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    /// The text of a config.json, launch script, recipe, YAML or TOML file; of several files one
    /// behind another, each below a line `==> path <==`.
    text: String,
    /// Who wrote it: auto, hf, megatron, mindspeed, serving or design; auto unless said.
    format: Option<String>,
    /// A preset that gives what the text doesn't speak of.
    preset: Option<String>,
    /// Answers to questions by their own names: `model=qwen3-8b`, `env NNODES=4`, `arg 2=64`,
    /// `num_devices=64`.
    #[serde(default)]
    answer: Vec<String>,
    /// Knobs to set in any case: `knob=value`.
    #[serde(default)]
    set: Vec<String>,
    /// Variables of the environment that a script is run in: `NAME=VALUE`.
    #[serde(default)]
    env: Vec<String>,
    /// The script's own arguments.
    #[serde(default)]
    args: Vec<String>,
    /// The model, where its name in the text says nothing.
    model: Option<String>,
    /// Of several files the one that starts the run.
    entry: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    format: String,
    /// The design file: give it to other tools as `design`, or the link as `link`.
    design: Map<String, Value>,
    link: Option<String>,
    set: Data<Vec<reports::imported::Set>>,
    assumed: Data<Vec<Assumed>>,
    ignored: Data<Vec<Ignored>>,
    unknown: Data<Vec<UnknownKey>>,
    /// Answer them by `set`, `env`, `args` or `model`.
    questions: Data<Vec<Question>>,
    violations: Data<Vec<BrokenRule>>,
    model_version: String,
}

impl Tool for Import {
    const NAME: &'static str = "import";
    const TITLE: &'static str = "Import a configuration";
    const DESCRIPTION: &'static str = "Makes a design of a Hugging Face config.json, a launch \
        script of Megatron-LM or MindSpeed-LLM, a recipe of sixteen frameworks, or an engine's \
        launch command. Lists what was assumed, ignored and not known, and asks for what the text \
        leaves open: put these questions to the person.";
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &dyn Caller) -> Answer<Output> {
        if input.text.len() > MAX_TEXT_BYTES {
            let detail = format!(
                "the text has {} bytes; at most {MAX_TEXT_BYTES} are read",
                input.text.len()
            );
            return Err(Refusal::new("too_long", "text", detail));
        }
        let format = input.format.as_deref().unwrap_or("auto");
        let known = imported::FORMATS.iter().find(|(name, _)| *name == format);
        let Some((_, format)) = known else {
            let names: Vec<&str> = imported::FORMATS.iter().map(|(name, _)| *name).collect();
            let detail = format!("`format` is one of {}", names.join(", "));
            return Err(Refusal::new("unknown_format", "format", detail));
        };
        let answers = answered(&input)?;
        let base = input.preset.as_deref().map(Design::from_preset).transpose()?;
        let import = imported::read(
            (&input.text, None),
            (*format, input.entry.as_deref()),
            base.as_ref(),
            &answers,
        );
        let import = import.map_err(|why| Refusal::new("unreadable_text", "text", why))?;
        if !call.waits() {
            return Err(call.ended("send less of it"));
        }
        let report = imported::imported(&import);
        let Some(design) = report.design else {
            let errors = import.errors.iter().map(|fault| Wrong::new("unreadable_text", "text", fault.to_string()));
            return Err(Refusal::of(errors));
        };
        let output = Output {
            format: report.format.to_owned(),
            design: said::map(design),
            link: report.link.map(|link| call.design(&link)),
            set: Data(report.set),
            assumed: Data(report.assumed),
            ignored: Data(report.ignored),
            unknown: Data(report.unknown),
            questions: Data(report.questions),
            violations: Data(report.violations),
            model_version: report.model_version.to_owned(),
        };
        let text = output.text();
        Ok((output, text))
    }
}

fn answered(input: &Input) -> Result<Answers, Refusal> {
    let mut answers = Answers { model: input.model.clone(), ..Answers::default() };
    let given =
        input.answer.iter().map(|answer| import_answers::answer(&mut answers, answer).err());
    let mut wrong: Vec<String> = given.flatten().collect();
    let set = input.set.iter().map(|setting| import_answers::set(&mut answers, setting).err());
    wrong.extend(set.flatten());
    let env = input.env.iter().map(|setting| import_answers::env(&mut answers, setting).err());
    wrong.extend(env.flatten());
    answers.arguments.clone_from(&input.args);
    let errors = wrong.into_iter().map(|detail| Wrong::new("wrong_answer", "set", detail));
    let refusal = Refusal::of(errors);
    if refusal.errors.is_empty() { Ok(answers) } else { Err(refusal) }
}

impl Output {
    fn text(&self) -> String {
        let asked = self.questions.0.iter().map(|it| {
            let guess = it.guess.as_ref().map_or_else(String::new, |it| format!(" (taken: {it})"));
            format!("{}: {}{guess}; {}", it.name, it.purpose, it.follows)
        });
        let unknown = self.unknown.0.iter().map(|it| it.key.clone());
        let assumed = self.assumed.0.iter().map(|it| it.detail.clone());
        format!(
            "Read as {}: {} knobs set\n{}{}{}{}{}\n",
            self.format,
            self.set.0.len(),
            said::broken_lines(&self.violations.0),
            said::titled("Asks", &asked.collect::<Vec<_>>()),
            said::titled("Not known", &unknown.collect::<Vec<_>>()),
            said::titled("Assumed", &assumed.collect::<Vec<_>>()),
            self.link.as_deref().unwrap_or_default()
        )
    }
}
