//! Other names for our knobs: short ones, and Hugging Face's. They are read, never written.

use crate::design::KnobId;

/// Every alias and what it stands for. Names that mean more than one knob are not here.
pub static ALIASES: &[(&str, KnobId)] = &[
    ("tp", KnobId::tensor_model_parallel_size),
    ("sp", KnobId::sequence_parallel),
    ("pp", KnobId::pipeline_model_parallel_size),
    ("vpp", KnobId::virtual_pipeline_model_parallel_size),
    ("cp", KnobId::context_parallel_size),
    ("ep", KnobId::expert_model_parallel_size),
    ("etp", KnobId::expert_tensor_parallel_size),
    ("mbs", KnobId::micro_batch_size),
    ("gbs", KnobId::global_batch_size),
    ("seq", KnobId::seq_length),
    ("world_size", KnobId::num_devices),
    ("num_hidden_layers", KnobId::num_layers),
    ("intermediate_size", KnobId::ffn_hidden_size),
    ("num_key_value_heads", KnobId::num_query_groups),
    ("head_dim", KnobId::kv_channels),
    ("qk_nope_head_dim", KnobId::qk_head_dim),
    ("qk_rope_head_dim", KnobId::qk_pos_emb_head_dim),
    ("num_experts", KnobId::num_moe_experts),
    ("n_routed_experts", KnobId::num_moe_experts),
    ("num_local_experts", KnobId::num_moe_experts),
    ("num_experts_per_tok", KnobId::moe_router_topk),
    ("moe_intermediate_size", KnobId::moe_ffn_hidden_size),
    ("shared_expert_intermediate_size", KnobId::moe_shared_expert_intermediate_size),
    ("n_group", KnobId::moe_router_num_groups),
    ("topk_group", KnobId::moe_router_group_topk),
    ("num_nextn_predict_layers", KnobId::mtp_num_layers),
    ("attention_bias", KnobId::add_qkv_bias),
    ("use_qk_norm", KnobId::qk_layernorm),
    ("sliding_window", KnobId::window_size),
];

/// The knob that an alias stands for.
#[must_use]
pub fn knob(alias: &str) -> Option<KnobId> {
    ALIASES.iter().find(|(name, _)| *name == alias).map(|(_, id)| *id)
}
