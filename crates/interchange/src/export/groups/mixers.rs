//! Arguments about what mixes tokens beside full attention, and about the residual stream.

use model::design::{Design, KnobId};
use model::ground::choice::{AttentionVariant, Choice};

use super::Group;

/// Sub-layers, where a pattern says what they are.
pub(super) fn hybrid(mindspeed: bool, group: &mut Group, d: &Design) {
    let t = &d.transformer;
    group.on("mtp-use-repeated-layer", t.mtp_use_repeated_layer && !mindspeed);
    if !t.is_hybrid() {
        return;
    }
    let pattern = if mindspeed { "hybrid-override-pattern" } else { "hybrid-layer-pattern" };
    group.value(pattern, d.get(KnobId::hybrid_layer_pattern));
    group.value("mamba-state-dim", t.mamba_state_dim);
    group.value("mamba-head-dim", t.mamba_head_dim);
    group.value("mamba-num-groups", t.mamba_num_groups);
    group.some("mamba-num-heads", t.mamba_num_heads.filter(|_| !mindspeed));
    if !mindspeed {
        let spec = ["megatron.core.models.hybrid.hybrid_layer_specs", "hybrid_stack_spec"];
        group.values("spec", &spec);
    }
}

/// Sparse attention, where the model has it. What there is no argument for stands in a comment.
pub(super) fn sparse_attention(mindspeed: bool, group: &mut Group, d: &Design) {
    let t = &d.transformer;
    if t.experimental_attention_variant != AttentionVariant::Dsa {
        return;
    }
    let names = if mindspeed {
        group.on("enable-dsa-indexer", true);
        [
            "index-n-heads",
            "index-head-dim",
            "index-topk",
            "index-topk-freq",
            "index-skip-topk-offset",
        ]
    } else {
        group.value("experimental-attention-variant", "dsa");
        [
            "dsa-indexer-n-heads",
            "dsa-indexer-head-dim",
            "dsa-indexer-topk",
            "dsa-indexer-topk-freq",
            "dsa-indexer-skip-topk-offset",
        ]
    };
    let values = [
        t.dsa_indexer_n_heads,
        t.dsa_indexer_head_dim,
        t.dsa_indexer_topk,
        t.dsa_indexer_topk_freq,
        t.dsa_indexer_skip_topk_offset,
    ];
    for (name, value) in names.into_iter().zip(values) {
        group.value(name, value);
    }
}

/// Hyper-connections, where the model has them.
pub(super) fn streams(mindspeed: bool, group: &mut Group, d: &Design) {
    let t = &d.transformer;
    if t.enable_mhc_connections {
        let (on, count) = if mindspeed {
            ("enable-mhc", "hc-mult")
        } else {
            ("enable-mhc-connections", "mhc-num-residual-streams")
        };
        group.on(on, true);
        group.value(count, t.mhc_num_residual_streams);
    }
}

/// Gated delta nets, where some layers have them; other linear attention has no word in Megatron.
pub(super) fn linear_attention(mindspeed: bool, group: &mut Group, d: &Design) {
    let t = &d.transformer;
    let variant = t.experimental_attention_variant;
    if mindspeed || !matches!(variant, AttentionVariant::Gdn | AttentionVariant::Gdn2) {
        return;
    }
    group.value("experimental-attention-variant", variant.name());
    group.value("linear-attention-freq", d.get(KnobId::linear_attention_freq));
    group.value("linear-conv-kernel-dim", t.linear_conv_kernel_dim);
    group.value("linear-key-head-dim", t.linear_key_head_dim);
    group.value("linear-value-head-dim", t.linear_value_head_dim);
    group.value("linear-num-key-heads", t.linear_num_key_heads);
    group.value("linear-num-value-heads", t.linear_num_value_heads);
}
