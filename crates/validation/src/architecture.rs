//! A run's architecture as knobs: from its words, or from its name.
//!
//! What neither gives is refused, never guessed; the three exceptions (a GPT's vocabulary, the
//! number of its heads, tied embeddings) follow from other numbers of the row and are named.

mod known;
mod name;
mod cut;
mod words;

use model::design::{Design, KnobId, Transformer};
use model::ground::knob::KnobError;

use crate::refusal::Refusal;
use crate::runs::Run;
use cut::Cut;
use name::{Found, Name};
use words::Words;

/// An architecture.
#[derive(Clone, Debug)]
pub(crate) struct Architecture {
    /// A design that holds it; its other sections are the preset's.
    pub(crate) design: Design,
    /// The first and the last stage have one layer fewer than the others.
    pub(crate) short_ends: bool,
    /// Layer slots that hold no layer, after the last one.
    pub(crate) empty_slots: u64,
    /// Assumptions made.
    pub(crate) assumed: Vec<String>,
}

/// The preset that designs without a preset of their own start from.
const BASE: &str = "llama-3-8b";
/// GPT-2's vocabulary, padded to a multiple of 128 x 8 as Megatron does.
const GPT_VOCABULARY: u64 = 51_200;

/// The architecture of a run.
pub(crate) fn for_run(run: &Run) -> Result<Architecture, Refusal> {
    let name = Name::read(&run.model);
    // A latent's rank is called `q_lora` too.
    let words = run.architecture.replace("_lora", "_rank");
    if name.is_reinforcement {
        return Err(Refusal::other_training("a step of reinforcement learning"));
    }
    // A preset of sub-layers has the Mamba that words speak of.
    let is_hybrid = name.preset().is_some_and(|preset| preset.design().transformer.is_hybrid());
    let of_words = words::inexpressible(&words).filter(|_| !is_hybrid);
    let spoken = words::inexpressible(&run.model).or(of_words);
    if let Some(reason) = spoken.or_else(|| name.refused()) {
        return Err(Refusal::architecture(reason));
    }
    if run.architecture.is_empty() {
        return by_name(run, &name);
    }
    match Words::read(&run.architecture).map(|words| with_vocab(words, &run.model)) {
        Ok(words) if words.is_complete() => from_words(run, &words, &name),
        // Words that leave something open only have to agree with what the name says.
        Ok(words) => agree(by_name(run, &name)?, &words),
        Err(detail) => by_name(run, &name).map_err(|_| Refusal::unknown(&detail)),
    }
}

fn by_name(run: &Run, name: &Name) -> Result<Architecture, Refusal> {
    let cut = Cut::read(&run.model);
    let mut architecture = match name.found() {
        Some(Found::Preset(preset)) => {
            if let Some(reason) = preset.refused {
                return Err(Refusal::architecture(reason));
            }
            let design = preset.design();
            Architecture { design, short_ends: false, empty_slots: 0, assumed: vec![] }
        }
        Some(Found::Known(known)) => {
            let words = Words::read(&known.words).map_err(|detail| Refusal::unknown(&detail))?;
            from_words(run, &words, name)?
        }
        None => {
            let words = Words::read(&name.remarks).ok().filter(Words::is_complete);
            let unknown = "no architecture is printed, and none is known by that name";
            let words = words.ok_or_else(|| Refusal::unknown(unknown))?;
            return from_words(run, &words, name);
        }
    };
    cut.apply(&mut architecture)?;
    if !cut.is_whole() {
        architecture.assumed.push("all else as in the whole model".to_owned());
    } else {
        check_size(&architecture.design, run, name)?;
    }
    architecture.assumed.push(format!("architecture of {} by its name", run.model));
    Ok(architecture)
}

/// Vocabularies of families whose tables rarely print them.
const VOCABULARIES: [(&[&str], u64); 3] = [
    (&["llama3", "llama-3", "llama 3", "llama4", "llama-4", "llama 4"], 128_256),
    (&["llama", "mistral", "mixtral"], 32_000),
    (&["qwen"], 151_936),
];

/// Words that lack nothing but the vocabulary get that of the family that the name says.
fn with_vocab(mut words: Words, model: &str) -> Words {
    let model = model.to_lowercase();
    if words.vocab.is_some() || words.ffn_is_4h || !words.is_complete_but_for_vocab() {
        return words;
    }
    let is_named = |names: &[&str]| names.iter().any(|name| model.contains(name));
    if let Some((_, size)) = VOCABULARIES.iter().find(|(names, _)| is_named(names)) {
        words.vocab = Some(*size);
        words.assumed.push(format!("a vocabulary of {size}, by the model's name"));
    }
    words
}

/// Refuses a model found by its name whose size is none of those that the row gives.
fn check_size(design: &Design, run: &Run, name: &Name) -> Result<(), Refusal> {
    let mut printed = run.params_billions.iter().chain(&name.sizes).peekable();
    let Some(found) = params_billions(design).filter(|_| printed.peek().is_some()) else {
        return Ok(());
    };
    if printed.any(|size| (0.7..1.5).contains(&(found / size))) {
        return Ok(());
    }
    Err(Refusal::unknown("the model known by that name has another size"))
}

/// Parameters of an architecture, in billions, whatever its layout.
fn params_billions(design: &Design) -> Option<f64> {
    let mut design = design.clone();
    design.cluster = model::design::Cluster { num_devices: 1, ..Default::default() };
    design.parallel = model::design::Parallel::default();
    design.schedule = model::design::Schedule::default();
    design.training = model::design::Training::default();
    design.memory = model::design::Memory::default();
    let plan = model::Plan::new(&design).ok()?;
    Some(model::estimate(&plan).metrics.params_total as f64 / 1e9)
}

/// Refuses a named architecture that contradicts the row's words.
fn agree(architecture: Architecture, words: &Words) -> Result<Architecture, Refusal> {
    let transformer = &architecture.design.transformer;
    let pairs = [
        (words.layers, transformer.num_layers),
        (words.hidden, transformer.hidden_size),
        (words.heads, transformer.num_attention_heads),
        (words.experts, transformer.num_moe_experts.unwrap_or_default()),
        (words.expert_ffn, transformer.moe_ffn_hidden_size.unwrap_or_default()),
        (words.vocab, transformer.vocab_size),
    ];
    let agrees = pairs.iter().all(|(printed, known)| printed.is_none_or(|value| value == *known));
    if agrees {
        Ok(architecture)
    } else {
        Err(Refusal::unknown("its architecture is incomplete and differs from the named model's"))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "numbers and names are given alike")]
fn set(design: &mut Design, knob: KnobId, value: impl ToString) -> Result<(), Refusal> {
    design.set_text(knob, &value.to_string()).map_err(|error: KnobError| Refusal::knob(&error))
}

/// A design from complete words.
fn from_words(run: &Run, words: &Words, name: &Name) -> Result<Architecture, Refusal> {
    let preset = name.preset().filter(|preset| preset.refused.is_none());
    let mut design = match preset {
        Some(preset) => preset.design(),
        None => Design::from_preset(BASE).map_err(|error| Refusal::knob(&error))?,
    };
    let named = design.transformer.clone();
    design.transformer = Transformer::default();
    let mut assumed = words.assumed.clone();
    set_width(&mut design, words, run, &mut assumed)?;
    let gated = is_gated(run, words, &mut assumed);
    set_mlp(&mut design, words, gated)?;
    set_style(&mut design, words, run, &mut assumed)?;
    if preset.is_some() {
        // What the words never say: norms, biases and router groups of the model of that name.
        design.transformer.qk_layernorm = named.qk_layernorm;
        design.transformer.sandwich_norm = named.sandwich_norm;
        design.transformer.add_qkv_bias |= named.add_qkv_bias;
        if named.num_moe_experts == design.transformer.num_moe_experts {
            design.transformer.moe_router_num_groups = named.moe_router_num_groups;
            design.transformer.moe_router_group_topk = named.moe_router_group_topk;
            design.transformer.moe_router_group_balanced = named.moe_router_group_balanced;
        }
    }
    if words.parallel {
        assumed.push("attention and MLP one after the other, though they run in parallel".into());
    }
    Ok(Architecture { design, short_ends: words.short_ends, empty_slots: 0, assumed })
}

/// Layers, hidden size, attention and vocabulary.
fn set_width(
    design: &mut Design,
    words: &Words,
    run: &Run,
    assumed: &mut Vec<String>,
) -> Result<(), Refusal> {
    let hidden = words.hidden.unwrap_or_default();
    set(design, KnobId::num_layers, words.layers.unwrap_or_default())?;
    set(design, KnobId::hidden_size, hidden)?;
    set(design, KnobId::mtp_num_layers, words.mtp)?;
    let heads = words.heads.unwrap_or_else(|| {
        let heads = plausible_heads(run, hidden);
        assumed.push(format!("{heads} attention heads, which aren't printed"));
        heads
    });
    set(design, KnobId::num_attention_heads, heads)?;
    let vocab = words.vocab.unwrap_or_else(|| {
        assumed.push(format!("GPT-2's vocabulary, {GPT_VOCABULARY} padded"));
        GPT_VOCABULARY
    });
    set(design, KnobId::vocab_size, vocab)?;
    if let Some(window) = words.window {
        set(design, KnobId::window_size, window)?;
    }
    if let Some(every) = words.full_every {
        set(design, KnobId::window_attn_skip_freq, every)?;
    }
    if let Some(mla) = words.mla {
        set(design, KnobId::multi_latent_attention, true)?;
        set(design, KnobId::qk_layernorm, true)?;
        let rank = mla.q_rank.map_or_else(|| "none".to_owned(), |rank| rank.to_string());
        set(design, KnobId::q_lora_rank, rank)?;
        set(design, KnobId::kv_lora_rank, mla.kv_rank.unwrap_or_default())?;
        set(design, KnobId::qk_head_dim, mla.nope_dim.unwrap_or_default())?;
        set(design, KnobId::qk_pos_emb_head_dim, mla.rope_dim.unwrap_or_default())?;
        return set(design, KnobId::v_head_dim, mla.v_dim.unwrap_or_default());
    }
    if let Some(head_dim) = words.head_dim {
        set(design, KnobId::kv_channels, head_dim)?;
    }
    match words.groups {
        Some(groups) if groups != heads => set(design, KnobId::num_query_groups, groups),
        _ => Ok(()),
    }
}

/// The greatest number of heads of at least 128 that divides the hidden size and suits TP; 64 in
/// BigScience's benchmarks, which says so of all tables without the number.
fn plausible_heads(run: &Run, hidden: u64) -> u64 {
    if run.source.contains("bigscience") && hidden.is_multiple_of(64) {
        return 64;
    }
    let tp = run.tensor_parallel.unwrap_or(1);
    let most = (hidden / 128).max(1);
    let fits = |heads: &u64| hidden.is_multiple_of(*heads) && heads.is_multiple_of(tp.max(8));
    (1..=most).rev().find(fits).unwrap_or(most)
}

/// Whether a gate is beside the MLP's first product.
///
/// Where the words don't say, as in Llama; but of a dense MLP four times as wide as the hidden
/// size, as in both, the printed number of parameters says which.
fn is_gated(run: &Run, words: &Words, assumed: &mut Vec<String>) -> bool {
    if words.gated || words.not_gated || words.ffn_is_4h {
        return words.gated;
    }
    let (Some(printed), Some(hidden), Some(ffn), None) =
        (run.params_billions, words.hidden, words.ffn, words.experts)
    else {
        return true;
    };
    if ffn != hidden.saturating_mul(4) {
        return true;
    }
    let (hidden, ffn) = (hidden as f64, ffn as f64);
    let heads = words.heads.unwrap_or(1).max(1) as f64;
    let groups = words.groups.map_or(1.0, |groups| groups as f64 / heads).min(1.0);
    let attention = 2.0 * hidden * hidden * (1.0 + groups);
    let layers = words.layers.unwrap_or_default() as f64;
    let tables = if words.tied { 1.0 } else { 2.0 };
    let table = tables * words.vocab.unwrap_or(GPT_VOCABULARY) as f64 * hidden;
    let off = |products: f64| {
        (layers * (attention + products * hidden * ffn) + table - printed * 1e9).abs()
    };
    let gated = off(3.0) <= off(2.0);
    if !gated {
        assumed.push("an MLP without a gate, by the printed number of parameters".to_owned());
    }
    gated
}

/// Dense and MoE MLPs.
fn set_mlp(design: &mut Design, words: &Words, gated: bool) -> Result<(), Refusal> {
    let hidden = words.hidden.unwrap_or_default();
    let layers = words.layers.unwrap_or_default();
    let ffn = words.ffn.or_else(|| words.ffn_is_4h.then_some(4 * hidden)).or(words.expert_ffn);
    set(design, KnobId::gated_linear_unit, gated)?;
    set(design, KnobId::ffn_hidden_size, ffn.unwrap_or_default())?;
    let Some(experts) = words.experts else { return Ok(()) };
    let expert_ffn = words.expert_ffn.or(ffn).unwrap_or_default();
    set(design, KnobId::num_moe_experts, experts)?;
    set(design, KnobId::moe_router_topk, words.topk.unwrap_or_default())?;
    set(design, KnobId::moe_ffn_hidden_size, expert_ffn)?;
    if let Some(shared) = words.shared {
        // A small number counts shared experts, a large one is their width together.
        let width = if shared <= 16 { shared.saturating_mul(expert_ffn) } else { shared };
        set(design, KnobId::moe_shared_expert_intermediate_size, width)?;
    }
    if words.every_second {
        return set(design, KnobId::moe_layer_freq, format!("([0,1]*{})", layers / 2));
    }
    let dense = words.dense_first.min(layers);
    if dense > 0 {
        let pattern = format!("([0]*{dense}+[1]*{})", layers - dense);
        set(design, KnobId::moe_layer_freq, pattern)?;
    }
    Ok(())
}

/// Biases, position embedding and whether the embeddings are one table.
fn set_style(
    design: &mut Design,
    words: &Words,
    run: &Run,
    assumed: &mut Vec<String>,
) -> Result<(), Refusal> {
    let model = run.model.to_lowercase();
    let heads = design.transformer.num_attention_heads;
    let many_groups = words.groups.is_none_or(|groups| groups == heads);
    // Nemotron has no gate either, but neither biases nor learned positions.
    let nemotron = words.not_gated && (!many_groups || model.contains("nemotron"));
    let gpt = (words.ffn_is_4h || words.not_gated) && !words.gated && !words.mpt && !nemotron;
    if gpt {
        set(design, KnobId::add_qkv_bias, true)?;
        set(design, KnobId::add_bias_linear, true)?;
        let alibi = model.contains("bloom");
        let position = if alibi { "none" } else { "learned_absolute" };
        set(design, KnobId::position_embedding_type, position)?;
    }
    if words.mpt {
        set(design, KnobId::position_embedding_type, "none")?;
    }
    if words.qkv_bias {
        set(design, KnobId::add_qkv_bias, true)?;
    }
    if words.qk_norm {
        set(design, KnobId::qk_layernorm, true)?;
    }
    if words.sandwich {
        set(design, KnobId::sandwich_norm, true)?;
    }
    if words.sinks {
        set(design, KnobId::softmax_type, "learnable")?;
    }
    let mut tied = (words.tied || words.mpt || gpt) && !words.untied;
    if tied
        && gpt
        && let Some(printed) = run.params_billions
    {
        let table = design.transformer.vocab_size as f64 * design.transformer.hidden_size as f64;
        let shared = dense_params(&design.transformer, words) + table;
        let apart = shared + table;
        tied = (shared - printed * 1e9).abs() <= (apart - printed * 1e9).abs();
        if !tied {
            assumed.push("two embedding tables, by the printed number of parameters".to_owned());
        }
    }
    set(design, KnobId::untie_embeddings_and_output_weights, !tied)
}

/// Parameters of a GPT's layers: 12 L h^2 for MHA and an MLP of 4h.
fn dense_params(transformer: &Transformer, words: &Words) -> f64 {
    let hidden = transformer.hidden_size as f64;
    let mlp = 2.0 * hidden * words.ffn.map_or(4.0 * hidden, |ffn| ffn as f64);
    transformer.num_layers as f64 * (4.0 * hidden * hidden + mlp)
}

#[cfg(test)]
mod tests;
