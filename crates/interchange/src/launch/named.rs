//! The model that the arguments name.

use model::design::KnobId;

use super::parts::{Parts, cut};
use crate::Format;
use crate::arguments::Argument;
use crate::draft::{Draft, Question};
use crate::models::{self, Known};

/// Arguments that name the model itself.
pub(super) const NAMES: [&str; 6] = [
    "model",
    "model-name-or-path",
    "hf-checkpoint",
    "hf-model-path",
    "pretrained-model-name-or-path",
    "model-name",
];

/// Arguments whose paths mostly have the model's name in them.
const PATHS: [&str; 8] = [
    "load",
    "ref-load",
    "pretrained-checkpoint",
    "tokenizer-name-or-path",
    "tokenizer-model",
    "run-name",
    "wandb-exp-name",
    "save",
];

/// Answers that name a model, and the consequences of its name.
const FOLLOWS_BY: &str = "a known name, such as qwen3-8b, or give its config.json beside the text";
const FOLLOWS: &str = "layers, widths and experts: a known name, or the model's config.json";

/// Whether a knob is a degree of parallelism.
pub(super) const fn is_degree(knob: KnobId) -> bool {
    matches!(
        knob,
        KnobId::tensor_model_parallel_size
            | KnobId::pipeline_model_parallel_size
            | KnobId::context_parallel_size
            | KnobId::expert_model_parallel_size
    )
}

/// Model that the text names.
struct Found {
    known: Known,
    written: String,
    line: u64,
    /// Why it may be another one.
    doubt: Option<String>,
}

/// Takes the shape of a model that is named where the text doesn't give it; the line of its name.
pub(super) fn read(arguments: &[Argument], draft: &mut Draft) -> u64 {
    let has = |name: &str| arguments.iter().any(|argument| argument.name == name);
    let shaped = has("hidden-size") && (has("num-layers") || has("encoder-num-layers"));
    let answer = draft.answers.model.clone();
    let found = match &answer {
        Some(name) => models::find(name).map(|known| Found {
            known,
            written: name.clone(),
            line: 0,
            doubt: None,
        }),
        None if shaped => None,
        None => by_name(arguments).or_else(|| by_path(arguments)),
    };
    let Some(found) = found else {
        if !shaped && by_configuration(draft) {
            return 0;
        }
        let name = arguments.iter().find(|argument| NAMES.contains(&argument.name.as_str()));
        return name.map_or(0, |argument| argument.line);
    };
    take(&found, draft);
    found.line
}

/// Takes a model, and asks for it where its name says more than that.
fn take(found: &Found, draft: &mut Draft) {
    let Found { known, written, line, doubt } = found;
    draft.design.transformer = known.transformer();
    draft.model = Some(*known);
    let shape = &draft.design.transformer;
    let detail = format!(
        "`{}` is {}: {} layers of {}, as in {}",
        cut(written),
        known.name,
        shape.num_layers,
        shape.hidden_size,
        known.source
    );
    draft.assume(None, detail);
    if let Some(doubt) = doubt {
        ask_for(written, known, doubt, *line, draft);
    }
}

/// Asks whether a name is that of the model that is taken for it.
pub(crate) fn ask_for(written: &str, known: &Known, doubt: &str, line: u64, draft: &mut Draft) {
    draft.ask(Question {
        name: "model".to_owned(),
        line,
        file: None,
        purpose: format!("`{}` may be another model than {}: {doubt}", cut(written), known.name),
        guess: Some(known.name.to_owned()),
        follows: FOLLOWS.to_owned(),
    });
}

/// Takes the shape of a `config.json` beside the text.
fn by_configuration(draft: &mut Draft) -> bool {
    let found = draft.files.find("config.json").filter(|index| *index > 0);
    let Some((text, line)) = found.and_then(|index| draft.files.text(index)) else { return false };
    let Some(design) = crate::import(Format::HuggingFace, &text, None).design else { return false };
    draft.design.transformer = design.transformer;
    draft.model = Some(models::BESIDE);
    draft.ignore("config.json", line + 1, "read: it has the model's shape");
    true
}

/// The model of a name or path, whose whole says it but for a word.
pub(crate) fn known_as(text: &str) -> Option<(Known, Option<String>)> {
    let whole = models::find(text).map(|known| (known, None));
    whole.or_else(|| {
        let (known, doubt) = models::find_within(text)?;
        Some((known, doubt.map(|word| format!("`{}` is in its name", cut(&word)))))
    })
}

fn by_name(arguments: &[Argument]) -> Option<Found> {
    let flavor = arguments.iter().find(|argument| argument.name == "model-flavor");
    let flavor = flavor.and_then(|argument| argument.values.first());
    NAMES.iter().find_map(|name| {
        let argument = arguments.iter().find(|argument| argument.name == *name)?;
        let text = argument.values.first()?;
        // Flavors are torchtitan's, some of which have a shape of another name.
        let whole = flavor.and_then(|flavor| {
            let own = models::find(&format!("torchtitan-{text}-{flavor}"));
            own.or_else(|| models::find(&format!("{text}-{flavor}")))
        });
        let (known, doubt) = whole.map(|known| (known, None)).or_else(|| known_as(text))?;
        Some(Found { known, written: text.clone(), line: argument.line, doubt })
    })
}

/// The model of a path, unless the text names one that isn't known.
fn by_path(arguments: &[Argument]) -> Option<Found> {
    let is_named = |argument: &&Argument| {
        let name = argument.name.as_str();
        let is_open = argument.values.first().is_none_or(|text| super::parts::is_open(text));
        NAMES.contains(&name) && name != "model-name" && !is_open
    };
    if arguments.iter().any(|argument| is_named(&argument)) {
        return None;
    }
    PATHS.iter().find_map(|name| {
        let argument = arguments.iter().find(|argument| argument.name == *name)?;
        let text = argument.values.first()?;
        let (known, doubt) = known_as(text)?;
        let of_tokenizer = name.starts_with("tokenizer");
        let doubt =
            doubt.or_else(|| of_tokenizer.then(|| "only the tokenizer is named".to_owned()));
        Some(Found { known, written: text.clone(), line: argument.line, doubt })
    })
}

/// Asks for the model where its shape is neither given nor known.
pub(super) fn ask(parts: &Parts, line: u64, draft: &mut Draft) {
    let given = ["num-layers", "encoder-num-layers"].iter().any(|name| parts.has(name))
        || draft.is_set(KnobId::num_layers)
        || draft.is_set(KnobId::hidden_size)
        || draft.is_set(KnobId::hybrid_layer_pattern);
    if given || draft.model.is_some() {
        return;
    }
    let given = NAMES.iter().find_map(|name| parts.text(name));
    let name = given.filter(|name| !name.is_empty());
    let purpose = match name {
        Some(name) => format!("the shape of `{}` isn't known", cut(name)),
        None => "the text names no model and no layers".to_owned(),
    };
    ask_which(name, purpose, line, draft);
}

fn has_experts(draft: &Draft) -> bool {
    let knobs = [
        KnobId::num_moe_experts,
        KnobId::expert_model_parallel_size,
        KnobId::moe_permute_fusion,
        KnobId::moe_grouped_gemm,
    ];
    knobs.iter().any(|knob| draft.is_set(*knob))
}

/// Asks which model it is, with that whose name is nearly the one given; where there is none, the
/// text is no design until it is answered.
pub(crate) fn ask_which(name: Option<&str>, purpose: String, line: u64, draft: &mut Draft) {
    if let Some(answer) = draft.answers.model.clone() {
        let near = models::closest(&answer).map(|near| format!("; the nearest is {near}"));
        let detail = format!("no model is called `{}`{}", cut(&answer), near.unwrap_or_default());
        return draft.fault(0, "model", detail);
    }
    let near = name.and_then(models::closest);
    match near.as_deref().and_then(models::find) {
        Some(known) => {
            draft.design.transformer = known.transformer();
            draft.model = Some(known);
        }
        // What was exported from here says it by its comments.
        None if draft.is_export => {
            let known =
                models::find(if has_experts(draft) { "qwen3-30b-a3b" } else { "llama-3-8b" });
            draft.design.transformer = known.map_or_else(Default::default, |it| it.transformer());
            draft.model = known;
        }
        // Nothing in the text says which one it could be.
        None => {
            let unread = draft.unread();
            let unread =
                if unread.is_empty() { String::new() } else { format!(" (not read: {unread})") };
            let detail = format!("{purpose}{unread}: answer `model` with {FOLLOWS_BY}");
            draft.fault(line, "", detail);
        }
    }
    draft.ask(Question {
        name: "model".to_owned(),
        line,
        file: None,
        purpose,
        guess: near,
        follows: FOLLOWS.to_owned(),
    });
}
