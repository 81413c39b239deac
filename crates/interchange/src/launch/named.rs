//! The model that the arguments name.

use model::design::KnobId;

use super::{Parts, cut};
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

/// What the name of a model decides.
const FOLLOWS: &str = "layers, widths and experts: a known name, or the model's config.json";

/// Words of names that mostly mean another shape than that of the model in the name.
const OTHER: [&str; 10] =
    ["proxy", "curve", "tiny", "mini", "toy", "test", "debug", "cut", "reduced", "slim"];

/// The word of a name by which a model may have another shape than the one it is called by:
/// `kimi_k3_tiny`, `glm5_4layers`.
fn other_shape(written: &str) -> Option<&str> {
    let mut words = written.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.find(|word| {
        let word = word.to_ascii_lowercase();
        let rest = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_layers = rest.len() < word.len() && matches!(rest, "l" | "layer" | "layers");
        is_layers || OTHER.contains(&word.as_str())
    })
}

/// Is a knob a degree of parallelism?
pub(super) const fn is_degree(knob: KnobId) -> bool {
    matches!(
        knob,
        KnobId::tensor_model_parallel_size
            | KnobId::pipeline_model_parallel_size
            | KnobId::context_parallel_size
            | KnobId::expert_model_parallel_size
    )
}

/// Takes the shape of a model that is named where the text doesn't give it; the line of its name.
pub(super) fn read(arguments: &[Argument], draft: &mut Draft) -> u64 {
    let has = |name: &str| arguments.iter().any(|argument| argument.name == name);
    let shaped = has("hidden-size") && (has("num-layers") || has("encoder-num-layers"));
    let answer = draft.answers.model.clone();
    let found = match &answer {
        Some(name) => models::find(name).map(|known| (known, name.clone(), 0)),
        None if shaped => None,
        None => by_name(arguments).or_else(|| by_path(arguments)),
    };
    let Some((known, written, line)) = found else {
        if !shaped && by_configuration(draft) {
            return 0;
        }
        let name = arguments.iter().find(|argument| NAMES.contains(&argument.name.as_str()));
        return name.map_or(0, |argument| argument.line);
    };
    draft.design.transformer = known.transformer();
    draft.model = Some(known);
    let shape = &draft.design.transformer;
    let detail = format!(
        "`{}` is {}: {} layers of {}, as in {}",
        cut(&written),
        known.name,
        shape.num_layers,
        shape.hidden_size,
        known.source
    );
    draft.assume(None, detail);
    let is_whole = answer.is_some() || models::find(&written).is_some();
    if let Some(word) = other_shape(&written).filter(|_| !is_whole) {
        draft.ask(Question {
            name: "model".to_owned(),
            line,
            file: None,
            purpose: format!(
                "`{}` may have another shape than {}: `{}` is in its name",
                cut(&written),
                known.name,
                cut(word)
            ),
            guess: Some(known.name.to_owned()),
            follows: FOLLOWS.to_owned(),
        });
    }
    line
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

type Found = (Known, String, u64);

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
        let known = whole.or_else(|| models::find(text)).or_else(|| models::find_within(text))?;
        Some((known, text.clone(), argument.line))
    })
}

fn by_path(arguments: &[Argument]) -> Option<Found> {
    PATHS.iter().find_map(|name| {
        let argument = arguments.iter().find(|argument| argument.name == *name)?;
        let text = argument.values.first()?;
        let known = models::find(text).or_else(|| models::find_within(text))?;
        Some((known, text.clone(), argument.line))
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
    let name = NAMES.iter().find_map(|name| parts.text(name));
    let experts = draft.is_set(KnobId::num_moe_experts)
        || parts.has("expert-model-parallel-size")
        || draft.is_set(KnobId::moe_permute_fusion);
    let plain = if experts { "qwen3-30b-a3b" } else { "llama-3-8b" };
    let near = name.and_then(models::closest).unwrap_or_else(|| plain.to_owned());
    let purpose = match name {
        Some(name) => format!("the shape of `{}` isn't known", cut(name)),
        None => "the text names no model and no layers".to_owned(),
    };
    if let Some(known) = models::find(&near) {
        draft.design.transformer = known.transformer();
        draft.model = Some(known);
    }
    draft.ask(Question {
        name: "model".to_owned(),
        line,
        file: None,
        purpose,
        guess: Some(near),
        follows: FOLLOWS.to_owned(),
    });
}
