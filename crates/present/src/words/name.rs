//! What a design is called: everything that names a design asks here.
//!
//! A preset that nothing was changed of has its own title. Any other design is named by what it is:
//! the model, the cluster, how it is cut. The preset is then only what it is based on.

use model::catalogue::accelerator::AcceleratorId;
use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Method};
use model::ground::knob::Value;

use crate::format::{self, short_label};

/// Knobs that are named; further ones are counted.
const MAX_KNOBS: usize = 3;

/// Characters of a value above which only its knob is named.
const MAX_VALUE_LEN: usize = 16;

/// The degrees in a title, with their axis words: all that aren't 1.
const DEGREES: [KnobId; 6] = [
    KnobId::tensor_model_parallel_size,
    KnobId::pipeline_model_parallel_size,
    KnobId::virtual_pipeline_model_parallel_size,
    KnobId::context_parallel_size,
    KnobId::expert_model_parallel_size,
    KnobId::expert_tensor_parallel_size,
];

/// The design's name: `Pangu Ultra MoE · 4,096 x 910B3 · TP4 PP8 VPP4 EP32`; that of an unchanged
/// preset is the preset's title.
#[must_use]
pub fn title(design: &Design) -> String {
    if design.changed().is_empty() {
        return design.preset.title.to_owned();
    }
    let (on_what, degrees) = (subject(design), degrees(design));
    if degrees.is_empty() { on_what } else { format!("{on_what} · {degrees}") }
}

/// Degrees of parallelism that aren't 1: `TP4 PP8 VPP4 EP32`.
#[must_use]
pub fn degrees(design: &Design) -> String {
    let degrees: Vec<String> = DEGREES
        .into_iter()
        .map(|knob| (knob, design.get(knob).to_string()))
        .filter(|(_, degree)| degree != "1")
        .map(|(knob, degree)| format!("{}{degree}", short_label(knob)))
        .collect();
    degrees.join(" ")
}

/// Title of a design without its degrees of parallelism, which designs that differ in these share.
#[must_use]
pub fn subject(design: &Design) -> String {
    if design.changed().is_empty() {
        return design.preset.title.to_owned();
    }
    let devices = format::whole(design.cluster.num_devices);
    format!("{} · {devices} x {}", model(design), accelerator(design))
}

/// The title as a part of a file's name: `pangu-ultra-moe-4096-x-910b3-tp4-pp8-vpp4-ep32`; of an
/// unchanged preset its id.
#[must_use]
pub fn slug(design: &Design) -> String {
    if design.changed().is_empty() {
        return design.preset.id.replace('@', "-");
    }
    let title = title(design).to_ascii_lowercase().replace(',', "");
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The title of a document about a design of that title.
#[must_use]
pub fn document(title: &str) -> String {
    format!("{title} · Moescape")
}

/// The preset's model, or the shape of one that is another: `61-layer MoE of 256 experts`.
#[must_use]
pub fn model(design: &Design) -> String {
    let shape = &design.transformer;
    if *shape == design.preset.design().transformer {
        return design.preset.model_name().to_owned();
    }
    let layers = format::whole(shape.num_layers);
    match shape.num_moe_experts {
        Some(experts) => format!("{layers}-layer MoE of {} experts", format::whole(experts)),
        None => format!("{layers}-layer dense model"),
    }
}

/// The device's name without its maker and its remarks: `910B3`, `H100 SXM 80 GB`.
fn accelerator(design: &Design) -> &'static str {
    part(design.cluster.accelerator)
}

/// An accelerator's name without its maker and its remarks.
#[must_use]
pub fn part(accelerator: AcceleratorId) -> &'static str {
    let title = accelerator.row().title;
    let title = title.split([',', '(']).next().unwrap_or(title).trim_end();
    ["Ascend ", "NVIDIA "].into_iter().find_map(|maker| title.strip_prefix(maker)).unwrap_or(title)
}

/// An accelerator where it is chosen: its maker and part, and what memory it is sold with.
#[must_use]
pub fn chosen(accelerator: AcceleratorId) -> String {
    let row = accelerator.row();
    let title = row.title.split([',', '(']).next().unwrap_or(row.title).trim_end();
    // Those of NVIDIA have it in their names where it tells two apart.
    let is_told = !title.starts_with("Ascend");
    if is_told { title.to_owned() } else { format!("{title} {} GB", row.hbm_gib) }
}

/// Name of a value that a list would else show by its id.
#[must_use]
pub fn value(id: &str) -> Option<String> {
    let schedule = || Method::from_name(id).map(|it| method(it).to_owned());
    let word = || VALUES.iter().find(|(known, _)| *known == id).map(|(_, name)| (*name).to_owned());
    AcceleratorId::from_name(id).map(chosen).or_else(schedule).or_else(word)
}

/// A value in words: its name, else as it is written.
#[must_use]
pub fn spelled(value: &Value) -> String {
    match value {
        Value::Text(id) => self::value(id).unwrap_or_else(|| id.clone()),
        Value::None | Value::Flag(_) | Value::Integer(_) | Value::Real(_) | Value::List(_) => {
            format::spelled(value)
        }
    }
}

/// Values whose ids aren't words, whichever knobs take them.
const VALUES: [(&str, &str); 62] = [
    ("off-by-one", "off by one"),
    ("learnable", "a learned sink"),
    ("rope", "RoPE"),
    ("learned_absolute", "learned, absolute"),
    ("gdn", "Gated DeltaNet"),
    ("gdn2", "Gated DeltaNet 2"),
    ("dsa", "DeepSeek sparse attention"),
    ("msa", "MiniMax sparse attention"),
    ("kda", "Kimi Delta Attention"),
    ("lightning", "Lightning attention"),
    ("p2p", "ring, point to point"),
    ("a2a", "Ulysses, all-to-all"),
    ("allgather", "all-gather"),
    ("alltoall", "all-to-all"),
    ("no_shard", "none, ZeRO-0"),
    ("optim", "optimizer, ZeRO-1"),
    ("optim_grads", "optimizer and gradients, ZeRO-2"),
    ("optim_grads_params", "everything, ZeRO-3"),
    ("tp-cp-ep-dp-pp", "TP, CP, EP, DP, PP"),
    ("tp-cp-ep-pp-dp", "TP, CP, EP, PP, DP"),
    ("closed_form", "closed form"),
    ("deepep", "DeepEP"),
    ("hybridep", "HybridEP"),
    ("bf16", "BF16"),
    ("fp16", "FP16"),
    ("fp32", "FP32"),
    ("fp8", "FP8"),
    ("fp8_delayed", "FP8, delayed scaling"),
    ("fp8_tensorwise", "FP8 by tensor"),
    ("fp8_blockwise", "FP8 by block"),
    ("mxfp8", "MXFP8"),
    ("nvfp4", "NVFP4"),
    ("adam", "Adam"),
    ("sgd", "SGD"),
    ("muon", "Muon"),
    ("level0", "level 0"),
    ("level1", "level 1"),
    ("micro_batch", "per micro-batch"),
    ("log_normal", "log-normal"),
    ("ep_group", "per EP group"),
    ("dp_group", "per DP group"),
    ("sliding_window", "sliding window"),
    ("ema", "moving average"),
    ("on_increase", "on increase"),
    ("megatron", "Megatron-LM"),
    ("mindspeed", "MindSpeed"),
    ("fsdp", "FSDP"),
    ("deepspeed", "DeepSpeed"),
    ("ascend-2024-11", "Ascend, November 2024"),
    ("ascend-2025-05", "Ascend, May 2025"),
    ("ascend-2025-06", "Ascend, June 2025"),
    ("ascend-2026", "Ascend, 2026"),
    ("transformer_engine", "Transformer Engine"),
    ("vllm", "vLLM"),
    ("sglang", "SGLang"),
    ("tensorrt_llm", "TensorRT-LLM"),
    ("mindie", "MindIE"),
    ("vllm_ascend", "vLLM Ascend"),
    ("prefill_decode", "prefill and decode apart"),
    ("int8", "INT8"),
    ("int4", "INT4"),
    ("mxfp4", "MXFP4"),
];

/// Name of a schedule.
#[must_use]
pub const fn method(method: Method) -> &'static str {
    match method {
        Method::Gpipe => "GPipe",
        Method::OneForwardOneBackward => "1F1B",
        Method::Interleaved => "Interleaved 1F1B",
        Method::OneForwardOneBackwardOverlap => "1F1B with overlap",
        Method::ZbH1 => "ZB-H1",
        Method::Zb2p => "ZB-2P",
        Method::ZbV => "ZB-V",
        Method::VHalf => "V-Half",
        Method::VMin => "V-Min",
        Method::DualPipe => "DualPipe",
        Method::DualPipeV => "DualPipeV",
    }
}

/// Differences from the preset: `VPP 1, MBS 4, Method zb_v and 2 more`; `unchanged`.
#[must_use]
pub fn changes(design: &Design) -> String {
    let changed = design.changed();
    let mut words: Vec<String> = changed
        .iter()
        .take(MAX_KNOBS)
        .map(|knob| {
            let value = spelled(&design.get(*knob));
            let is_short = value.chars().count() <= MAX_VALUE_LEN;
            let value = if is_short { &value } else { "changed" };
            format!("{} {value}", short_label(*knob))
        })
        .collect();
    match changed.len().saturating_sub(MAX_KNOBS) {
        0 if words.is_empty() => return "unchanged".to_owned(),
        0 => {}
        more => words.push(format!("{} more", format::whole(more as u64))),
    }
    format::list(&words)
}

/// Title and changes in a line.
#[must_use]
pub fn line(design: &Design) -> String {
    format!("{}, {}", title(design), changes(design))
}

#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "of kinds only choices matter")]
mod tests {
    use std::collections::BTreeSet;

    use model::catalogue::preset::Preset;
    use model::design::link;
    use model::ground::knob::Kind;

    use super::*;

    fn design(query: &str) -> Design {
        link::decode(query).expect("a link that decodes")
    }

    #[test]
    fn values_are_called_by_words_unless_they_are_words() {
        let offered = KnobId::ALL.iter().filter_map(|id| match id.knob().kind {
            Kind::Choice(values) => Some(values),
            _ => None,
        });
        let values: BTreeSet<&str> = offered.flatten().copied().collect();
        for id in &values {
            let is_word = id.chars().all(|c| c.is_ascii_lowercase());
            assert!(is_word || value(id).is_some(), "{id}");
        }
        for (id, _) in VALUES {
            assert!(values.contains(id), "no knob takes {id}");
        }
    }

    #[test]
    fn an_unchanged_preset_has_its_own_title() {
        for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
            let design = preset.design();
            assert_eq!(title(&design), preset.title);
        }
    }

    #[test]
    fn a_changed_design_is_named_by_what_it_is() {
        let query = "num_devices=4096&tp=4&pp=8&vpp=4&gbs=4096";
        let named = title(&design(query));
        assert_eq!(named, "Pangu Ultra MoE · 4,096 x 910B3 · TP4 PP8 VPP4 EP32");
        assert_eq!(subject(&design(query)), "Pangu Ultra MoE · 4,096 x 910B3");
        assert_eq!(slug(&design(query)), "pangu-ultra-moe-4096-x-910b3-tp4-pp8-vpp4-ep32");
        assert_eq!(slug(&design("")), "pangu-ultra-moe-6k-2");
    }

    #[test]
    fn no_title_of_a_changed_design_says_what_its_preset_ran_on() {
        for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
            let changed = design(&format!(
                "preset={}&accelerator=h20&num_devices=12&straggler_sigma=0.5",
                preset.id
            ));
            let title = title(&changed);
            assert!(title.contains(" · 12 x H20"), "{title}");
            assert!(!(title.contains("NPU") || title.contains(" on ")), "{title}");
        }
    }

    #[test]
    fn another_model_than_the_presets_is_named_by_its_shape() {
        let title = title(&design("num_moe_experts=128"));
        assert!(title.starts_with("61-layer MoE of 128 experts · "), "{title}");
    }

    #[test]
    fn a_design_is_called_by_its_preset_and_what_differs() {
        let named = |query: &str| changes(&design(query));
        assert_eq!(named(""), "unchanged");
        assert_eq!(named("vpp=1"), "VPP 1");
        assert_eq!(named("vpp=1&mbs=4"), "VPP 1 and MBS 4");
        let many = named("vpp=1&mbs=4&gbs=12288&tp=4&pp=8");
        assert!(many.ends_with(" and 2 more"), "{many}");
        let whole = line(&design("vpp=1"));
        assert_eq!(whole, "Pangu Ultra MoE · 6,144 x 910B3 · TP8 PP16 EP32, VPP 1");
    }
}
