//! The keys of `config.json` and what is done with each.

use model::design::KnobId::{self, *};

/// Treatment of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum How {
    /// Its value is the knob's.
    Knob(KnobId),
    /// It is read together with others.
    Together,
    /// It changes nothing, for this reason.
    Ignored(&'static str),
    /// No knob expresses it, so that the numbers would be wrong.
    Refused(&'static str),
}

const ROPE: How = How::Ignored("rotary angles: the same work at any value");
const TOKENS: How = How::Ignored("the tokenizer's: not part of a step");
const SERVING: How = How::Ignored("for serving, not for training");
const LOSS: How = How::Ignored("how the model learns, not how long a step takes");
const ROUTER: How = How::Ignored("how the router scores: expert loads have knobs of their own");
const FILE: How = How::Ignored("about the file, not the model");
const CHECKPOINT: How =
    How::Ignored("the checkpoint's number format: training.precision is a knob of its own");
const POSITIONS: How =
    How::Ignored("the longest sequence: training.seq_length is a knob of its own");
const SCALE: How = How::Ignored("a factor on tensors: too little work to count");
const SHARED: How = How::Refused("layers that take another layer's keys and values have no knob");
const ENCODER: How = How::Refused("an encoder that the model attends to has no knob");
const FIRST_MAMBA: How = How::Refused("Mamba of the first kind isn't modelled, only Mamba-2");
const FOLLOWED: How = How::Ignored("the size that follows from it is read");

/// Treatments, each with its keys, a blank between two. Keys of one knob are spellings of one key.
pub(super) static KEYS: &[(How, &str)] = &[
    (How::Knob(num_layers), "num_hidden_layers num_layers n_layer n_layers"),
    (How::Knob(hidden_size), "hidden_size n_embd n_embed d_model dim"),
    (How::Knob(num_attention_heads), "num_attention_heads n_head n_heads num_heads"),
    (
        How::Together,
        "vocab_size padded_vocab_size intermediate_size intermediate_size_mlp \
         mlp_intermediate_size n_inner ffn_hidden_size moe_intermediate_size num_key_value_heads \
         num_kv_heads multi_query_group_num head_dim kv_channels attention_head_dim hidden_act \
         gated add_bias_linear use_qkv_bias position_embedding_type alibi use_mla \
         multi_query_attention",
    ),
    (How::Knob(q_lora_rank), "q_lora_rank attention_q_lora_dim"),
    (How::Knob(kv_lora_rank), "kv_lora_rank attention_kv_lora_dim"),
    (How::Knob(qk_head_dim), "qk_nope_head_dim attention_qk_dim"),
    (How::Knob(qk_pos_emb_head_dim), "qk_rope_head_dim attention_qk_rope_dim"),
    (How::Knob(v_head_dim), "v_head_dim attention_v_dim"),
    (How::Ignored("the sum of the widths with and without rotary embedding"), "qk_head_dim"),
    (
        How::Together,
        "attention_bias qkv_bias add_qkv_bias use_bias mlp_bias use_qk_norm qk_layernorm qk_norm \
         sandwich_norm tie_word_embeddings sliding_window use_sliding_window n_routed_experts \
         num_experts num_local_experts num_routed_experts moe_num_experts num_experts_per_tok \
         experts_per_token moe_k moe_topk n_shared_experts num_shared_experts \
         moe_num_shared_experts shared_expert_intermediate_size shared_intermediate_size \
         first_k_dense_replace num_dense_layers moe_layer_freq decoder_sparse_step \
         mlp_only_layers interleave_moe_layer_step moe_layers n_group topk_group topk_method \
         num_groups topk_per_group experts_per_group num_nextn_predict_layers num_mtp_layers \
         num_mtp_modules mtp_transformer_layers use_mtp layer_types max_window_layers \
         sliding_window_pattern global_attn_every_n_layers global_attention_every_n_layers \
         full_attn_every_n_layers full_attention_every_n_layers attention_layers \
         num_global_key_value_heads global_head_dim attention_other_setting attn_layer_indices \
         moe_layer_start_index moe_layer_end_index enable_moe_block residual_moe \
         parallel_attn_mlp_res is_moe num_attention_heads_per_layer index_topk_pattern \
         index_topk_blocks index_block_size compress_rates moe_layer_num_skipped",
    ),
    (How::Knob(seq_length), "seq_length"),
    (
        POSITIONS,
        "max_position_embeddings n_positions n_ctx max_sequence_length \
         original_max_position_embeddings initial_context_length model_max_length \
         vocab_size_per_layer_input",
    ),
    (
        ROPE,
        "rope_theta rope_scaling rope_parameters partial_rotary_factor rotary_dim rope_interleave \
         indexer_rope_interleave no_rope_layers no_rope_layer_interval rope_local_base_freq \
         rope_ratio rope_type use_scaled_rope rope_scaling_factor nope_layer_interval use_mrope \
         use_rotary_pos_emb original_rope rotary_pct rotary_emb_base \
         compress_rope_theta",
    ),
    (
        TOKENS,
        "bos_token_id eos_token_id pad_token_id decoder_start_token_id unk_token_id \
         tokenizer_class image_token_id boi_token_index eoi_token_index",
    ),
    (
        SERVING,
        "use_cache auto_map ep_size pretraining_tp output_router_logits output_attentions \
         output_hidden_states return_dict cache_implementation use_flash_attention \
         attn_implementation _attn_implementation task_type index_share_for_mtp_iteration \
         mtp_use_dedicated_embeddings num_logits_to_keep use_mamba_kernels \
         moe_shared_expert_overlap attn_impl attn_uses_sequence_id prefix_lm use_flash_attn \
         expert_parallel expert_model_parallel num_experts_split",
    ),
    (
        LOSS,
        "attention_dropout hidden_dropout initializer_range rms_norm_eps layer_norm_eps \
         layer_norm_epsilon layernorm_epsilon norm_eps router_aux_loss_coef aux_loss_alpha \
         seq_aux router_jitter_noise resid_pdrop embd_pdrop attn_pdrop embedding_dropout \
         router_z_loss_coef moe_jitter_eps moe_loss_weight emb_pdrop input_jitter_noise dropout \
         residual_dropout hidden_dropout_prob mtp_loss_weight time_step_floor time_step_max \
         time_step_min time_step_limit time_step_rank rescale_prenorm_residual \
         mamba_dt_init_floor",
    ),
    (
        ROUTER,
        "norm_topk_prob scoring_func routed_scaling_factor use_routing_bias \
         router_enable_expert_bias moe_router_enable_expert_bias router_scaling_factor \
         moe_router_use_sigmoid router_bias swiglu_limit score_function \
         moe_router_activation_func moe_renormalize num_expert_group use_grouped_topk \
         moe_router_dtype num_hash_layers n_hash_layers moe_normalize_expert_weights \
         uniform_expert_assignment capacity_factor auto_scale_F",
    ),
    (
        SERVING,
        "add_cross_attention bad_words_ids begin_suppress_tokens chunk_size_feed_forward \
         cross_attention_hidden_size diversity_penalty do_sample early_stopping \
         encoder_no_repeat_ngram_size exponential_decay_length_penalty forced_bos_token_id \
         forced_eos_token_id is_decoder length_penalty max_length min_length no_repeat_ngram_size \
         num_beam_groups num_beams num_return_sequences output_scores pruned_heads \
         remove_invalid_values repetition_penalty return_dict_in_generate suppress_tokens \
         temperature tie_encoder_decoder top_k top_p typical_p",
    ),
    (
        FILE,
        "finetuning_task id2label label2id prefix problem_type task_specific_params \
         tf_legacy_loss torchscript use_bfloat16",
    ),
    (TOKENS, "sep_token_id"),
    (
        FILE,
        "architectures model_type transformers_version name_or_path license init_config \
         init_device verbose",
    ),
    (
        CHECKPOINT,
        "torch_dtype dtype quantization_config mamba_ssm_dtype mamba_ssm_cache_dtype \
         residual_in_fp32 expert_dtype scale_fmt",
    ),
    (
        SCALE,
        "layernorm_full_attention_beta layernorm_linear_attention_beta logit_scale \
         layernorm_mlp_beta alibi_bias_max bias_max shared_moe_mode qk_norm_type \
         attention_multiplier final_logit_softcapping attn_logit_softcapping \
         query_pre_attn_scalar embedding_multiplier residual_multiplier logits_scaling \
         attn_temperature_tuning attn_scale floor_scale attention_sink router_dtype swiglu_alpha \
         use_gemma_norm activation_situ_beta activation_situ_linear_beta latent_moe_use_norm \
         layernorm_full_attention_alpha layernorm_linear_attention_alpha layernorm_mlp_alpha \
         postnorm mla_scale_q_lora mla_scale_kv_lora clip_qkv softmax_scale attn_temperature \
         embedding_multiplier_scale output_multiplier_scale router_logit_softcapping scale_emb \
         dim_model_base scale_depth use_head_wise_attn_gate output_gate_type swiglu_limits \
         lm_head_bias index_local_blocks attention_out_bias use_bidirectional_attention \
         moe_use_correction_bias use_moe_router_bias apply_residual_connection_post_layernorm \
         norm_type rmsnorm post_layer_norm num_ln_in_parallel_attn",
    ),
    (
        How::Ignored("attention in chunks of this length in some layers: taken as without"),
        "attention_chunk_size",
    ),
    (
        How::Together,
        "attn_type_list ff_intermediate_size num_experts_per_token num_shared_expert \
         moe_shared_expert_intermediate_size mlp_hidden_act mtp_num_hidden_layers \
         expert_ffn_hidden_size linear_attn_config full_attention_interval mla_use_nope \
         attn_output_gate attention_output_gate mla_use_output_gate multi_query \
         new_decoder_architecture parallel_attn no_bias bias index_topk index_topk_freq \
         index_skip_topk_offset indexer_types mlp_layer_types sparse_attention_config \
         dense_intermediate_size hybrid_override_pattern hybrid_layer_pattern layers_block_type \
         mtp_hybrid_override_pattern mtp_layers_block_type conv_kernel word_embed_proj_dim",
    ),
    (How::Refused("layers of several kinds by this key aren't modelled"), "mixer_types"),
    (FIRST_MAMBA, "ssm_cfg state_size mamba_dt_rank"),
    (How::Refused("recurrent blocks in place of attention aren't modelled"), "block_types"),
    (SHARED, "num_kv_shared_layers use_cla"),
    (ENCODER, "cross_attention_layers is_encoder_decoder"),
    (
        How::Refused("attention to blocks at fixed distances has no knob"),
        "dense_attention_every_n_layers blocksparse_block_size",
    ),
    (
        How::Refused("one matrix for keys and values, as some of its layers have, has no knob"),
        "attention_k_eq_v",
    ),
    (
        How::Refused("embeddings of its own in each layer have no knob"),
        "hidden_size_per_layer_input",
    ),
    (
        How::Refused("MLPs twice as wide where layers share keys have no knob"),
        "use_double_wide_mlp",
    ),
    (
        How::Refused("sizes of single layers in a map of their own aren't read"),
        "per_layer_config prefix_dense_intermediate_size",
    ),
    (
        How::Refused("layers that a token passes more than once have no knob"),
        "total_ut_steps n_recurrent_loops loop_num_passes H_cycles num_recurrent_layers",
    ),
    (How::Refused("tables of pairs and rows of tokens have no knob"), "ple_layer_ids ngram_size"),
    (How::Refused("convolutions of queries and keys have no knob"), "cca_time0"),
    (How::Refused("relative positions beside attention have no knob"), "d_rel"),
    (How::Refused("AltUp and LAuReL aren't modelled"), "altup_num_inputs laurel_rank"),
    (How::Refused("a query latent without a latent of keys and values has no knob"), "share_q_dim"),
    (
        How::Refused("groups of layers with linear attention have no knob without layer_types"),
        "layer_group_size",
    ),
    (How::Refused("attention that several layers share isn't modelled"), "hybrid_layer_ids"),
    (How::Refused("Mamba in every layer but each n-th has no key here"), "attn_layer_period"),
    (How::Refused("short convolutions in place of attention aren't modelled"), "conv_L_cache"),
    (FOLLOWED, "multiple_of ffn_dim_multiplier ffn_exp expansion_ratio attn_type attention_types"),
    (How::Refused("its attention sinks have no knob"), "param_sink_number"),
    (
        How::Refused("its query-key width differs from its value width without latent attention"),
        "qk_nope_dim qk_rope_dim v_channels",
    ),
    (How::Refused("experts of several widths have no knob"), "moe_intermediate_sizes"),
    (How::Knob(moe_zero_experts), "zero_expert_num"),
    (How::Ignored("they give a token back as it is"), "zero_expert_type"),
    (How::Ignored("latent attention in all layers"), "attention_method"),
    (How::Knob(linear_conv_kernel_dim), "linear_conv_kernel_dim"),
    (How::Knob(linear_key_head_dim), "linear_key_head_dim"),
    (How::Knob(linear_value_head_dim), "linear_value_head_dim"),
    (How::Knob(linear_num_key_heads), "linear_num_key_heads"),
    (How::Knob(linear_num_value_heads), "linear_num_value_heads"),
    (
        How::Together,
        "block_configs swa_num_key_value_heads swa_head_dim swa_v_head_dim \
         swa_num_attention_heads sliding_window_size",
    ),
    (ROPE, "swa_rope_theta"),
    (SCALE, "add_swa_attention_sink_bias add_full_attention_sink_bias attention_value_scale"),
    (How::Together, "compress_ratios hc_mult"),
    (How::Knob(o_groups), "o_groups"),
    (How::Knob(o_lora_rank), "o_lora_rank"),
    (How::Ignored("20 iterations on small matrices are counted"), "hc_sinkhorn_iters hc_eps"),
    (How::Knob(attention_residual_block_size), "attn_res_block_size"),
    (How::Knob(dsa_indexer_head_dim), "index_head_dim"),
    (How::Knob(dsa_indexer_n_heads), "index_n_heads"),
    (How::Knob(mamba_state_dim), "ssm_state_size mamba_d_state"),
    (How::Knob(mamba_head_dim), "mamba_head_dim mamba_d_head"),
    (How::Knob(mamba_num_heads), "mamba_num_heads mamba_n_heads"),
    (How::Knob(mamba_num_groups), "n_groups mamba_n_groups"),
    (How::Knob(moe_latent_size), "moe_latent_size routed_expert_hidden_size"),
    (
        How::Ignored("Mamba-2 as Megatron-Core has it"),
        "expand mamba_expand chunk_size mamba_chunk_size mamba_hidden_act mamba_proj_bias \
         mamba_conv_bias use_conv_bias",
    ),
];

/// Treatment of a key; `None` if it isn't known.
pub(super) fn find(key: &str) -> Option<How> {
    row(key).map(|(how, _)| *how)
}

/// All spellings of a key that sets one knob.
pub(super) fn spellings(key: &str) -> Vec<&'static str> {
    if key == "vocab_size" {
        return vec!["vocab_size", "padded_vocab_size"];
    }
    row(key).map_or_else(Vec::new, |(_, names)| names.split(' ').collect())
}

fn row(key: &str) -> Option<&'static (How, &'static str)> {
    KEYS.iter().find(|(_, names)| names.split(' ').any(|name| name == key))
}
