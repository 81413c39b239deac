//! What is trained: adapters of low rank alone, or all but frozen parts.

use model::design::KnobId;
use model::ground::choice::{Choice, LoraModule, ModelPart};

use super::parts::Parts;
use crate::draft::Draft;

/// Arguments that give the adapters' rank: MindSpeed-LLM's, and those of ms-swift and recipes.
const RANK: [&str; 2] = ["lora-r", "lora-rank"];
/// Arguments that say what is trained.
const KIND: [&str; 3] = ["tuner-type", "train-type", "peft-scheme"];
const TARGETS: [&str; 2] = ["lora-target-modules", "target-modules"];
const FROZEN: &str = "freeze-parameters";

/// Ranks that frameworks take where none is said: ms-swift's, and Megatron-Bridge's.
const SWIFT_RANK: &str = "8";
const BRIDGE_RANK: &str = "32";

pub(super) fn read(parts: &Parts, draft: &mut Draft) {
    frozen(parts, draft);
    let kind = parts.first_of(&KIND);
    let said = kind.and_then(|name| parts.text(name)).map(str::to_lowercase);
    let (rank, targets) = (parts.first_of(&RANK), parts.first_of(&TARGETS));
    if let (Some(name), Some(said)) = (kind, said.as_deref().filter(|said| *said != "lora")) {
        if !matches!(said, "full" | "none" | "null" | "false") {
            let detail = format!("takes lora or full: no knob has `{said}`");
            return draft.fault(parts.line(name), &super::parts::dashed(name), detail);
        }
        let reason = "the whole model is trained";
        let idle = [Some(name), rank, targets];
        return idle.into_iter().flatten().for_each(|name| parts.ignore(name, reason, draft));
    }
    if let Some(name) = rank {
        if let Some(rank) = parts.number(name, draft) {
            parts.set(KnobId::lora_rank, &rank.to_string(), name, draft);
        }
        if let Some(kind) = kind {
            parts.ignore(kind, "the adapters' rank says it", draft);
        }
    } else if let Some(kind) = kind {
        let rank = if kind == "peft-scheme" { BRIDGE_RANK } else { SWIFT_RANK };
        parts.set(KnobId::lora_rank, rank, kind, draft);
        draft.assume(Some(KnobId::lora_rank), format!("no rank of the adapters: {rank}"));
    }
    let Some(name) = targets else { return };
    if draft.design.training.lora_rank.is_none() {
        return parts.ignore(name, "the whole model is trained", draft);
    }
    let mut modules: Vec<&str> = vec![];
    for word in parts.words(name).iter().flat_map(|words| words.split([',', ' '])) {
        match adapted(word) {
            Some(more) => modules.extend(more),
            None if word.is_empty() => {}
            None => {
                draft.unknown(
                    &format!("{}: {word}", super::parts::dashed(name)),
                    parts.line(name),
                    None,
                );
            }
        }
    }
    let modules: Vec<&str> =
        LoraModule::NAMES.iter().copied().filter(|known| modules.contains(known)).collect();
    if !modules.is_empty() {
        parts.set(KnobId::lora_target_modules, &modules.join(","), name, draft);
    }
}

/// Linear layers by a name of Megatron's, of Hugging Face's or of ms-swift's; a first or last
/// matrix of MLPs is that of experts, too, as Megatron-Bridge matches the end of a path.
fn adapted(word: &str) -> Option<Vec<&'static str>> {
    let whole = word.trim_matches(['*', '"', '\'', '[', ']']).trim_start_matches('.');
    let end = whole.rsplit('.').next().unwrap_or(whole);
    let is_of_experts = whole.contains("experts.") && !whole.contains("shared_experts");
    let first = [LoraModule::LinearFc1.name(), LoraModule::ExpertsFc1.name()];
    let last = [LoraModule::LinearFc2.name(), LoraModule::ExpertsFc2.name()];
    let of_mlp = |names: [&'static str; 2]| {
        let only_experts = usize::from(is_of_experts);
        names[only_experts..].to_vec()
    };
    match end {
        "all-linear" | "all_linear" | "all" => {
            let all = LoraModule::NAMES.iter().copied();
            Some(all.filter(|name| *name != LoraModule::Router.name()).collect())
        }
        "linear_fc1" | "gate_proj" | "up_proj" => Some(of_mlp(first)),
        "linear_fc2" | "down_proj" => Some(of_mlp(last)),
        "q_proj" | "k_proj" | "v_proj" | "query_key_value" | "attention_qkv" => {
            Some(vec![LoraModule::LinearQkv.name()])
        }
        "o_proj" | "dense" | "attention_dense" => Some(vec![LoraModule::LinearProj.name()]),
        "all-router" => Some(vec![LoraModule::Router.name()]),
        _ => LoraModule::from_name(end).map(|module| vec![module.name()]),
    }
}

/// Frozen parts by the ends of their paths.
fn frozen(parts: &Parts, draft: &mut Draft) {
    if !parts.has(FROZEN) {
        return;
    }
    let mut names: Vec<&str> = vec![];
    for word in parts.words(FROZEN).iter().flat_map(|words| words.split([',', ' '])) {
        let path = word.trim_matches(['*', '.', '"', '\'', '[', ']']);
        let end = path.rsplit('.').next().unwrap_or(path);
        match ModelPart::from_name(end) {
            Some(part) => names.push(part.name()),
            None if end.is_empty() => {}
            None => draft.unknown(&format!("--{FROZEN}: {word}"), parts.line(FROZEN), None),
        }
    }
    let names: Vec<&str> =
        ModelPart::NAMES.iter().copied().filter(|known| names.contains(known)).collect();
    if !names.is_empty() {
        parts.set(KnobId::freeze_parameters, &names.join(","), FROZEN, draft);
    }
}
