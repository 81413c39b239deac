//! What rules a design out before the model is asked: cheap, and known for whole blocks of the
//! space at once.
//!
//! Most points of a space of parallel sizes are illegal, and saying why with all the ways out, as
//! [`model::Plan::new`] does, takes longer than an estimate. The rules here are those of the
//! model's table that tie sizes together, under the same names: a test holds each against the
//! model's own verdict. What they let through, the model still checks.

use model::choice::{Method, RecomputeGranularity};
use model::design::{Design, KnobId};
use model::schedule::{Fault, Schedule};

/// A rule of the model that is asked first.
pub(crate) struct Rule {
    /// Its name in the model's table.
    pub(crate) name: &'static str,
    /// Every knob that it reads.
    pub(crate) reads: &'static [KnobId],
    /// Does a design break it?
    pub(crate) is_broken: fn(&Design) -> bool,
}

macro_rules! rules {
    ($($name:ident [$($knob:ident),+] |$design:ident| $check:expr;)+) => {
        /// The rules that are asked first.
        pub(crate) static RULES: &[Rule] = &[$(Rule {
            name: stringify!($name),
            reads: &[$(KnobId::$knob),+],
            is_broken: |$design: &Design| $check,
        },)+];
    };
}

fn tp(d: &Design) -> u64 {
    d.parallel.tensor_model_parallel_size
}

fn pp(d: &Design) -> u64 {
    d.parallel.pipeline_model_parallel_size
}

fn cp(d: &Design) -> u64 {
    d.parallel.context_parallel_size
}

fn ep(d: &Design) -> u64 {
    d.parallel.expert_model_parallel_size
}

fn etp(d: &Design) -> u64 {
    d.parallel.expert_tensor_parallel_size
}

fn vpp(d: &Design) -> u64 {
    d.parallel.virtual_pipeline_model_parallel_size
}

fn has_experts(d: &Design) -> bool {
    d.transformer.num_moe_experts.is_some()
}

/// `whole` is no multiple of `part`.
fn splits(whole: u64, part: u64) -> bool {
    !whole.is_multiple_of(part.max(1))
}

/// Chunks that a method runs on each stage; none if it takes any number.
fn chunks_of(method: Method) -> Option<u64> {
    match method {
        Method::Gpipe
        | Method::OneForwardOneBackward
        | Method::ZbH1
        | Method::Zb2p
        | Method::DualPipe => Some(1),
        Method::Interleaved | Method::OneForwardOneBackwardOverlap => None,
        Method::ZbV | Method::VHalf | Method::VMin | Method::DualPipeV => Some(2),
    }
}

/// Does a method run forwards beside backwards?
fn runs_pairs(method: Method) -> bool {
    matches!(method, Method::OneForwardOneBackwardOverlap | Method::DualPipe | Method::DualPipeV)
}

/// Micro-batches of a step, where the batch divides.
fn micro_batches(d: &Design) -> Option<u64> {
    let (world, batch) = (d.cluster.num_devices, d.training.global_batch_size);
    let model = tp(d) * pp(d) * cp(d);
    let ranks = world / model.max(1) * d.training.micro_batch_size;
    (!splits(world, model) && !splits(batch, ranks)).then(|| batch / ranks.max(1))
}

/// Parts that a sequence is cut into: CP takes a piece from both of its ends.
fn sequence_parts(d: &Design) -> u64 {
    let context = if cp(d) > 1 { 2 * cp(d) } else { 1 };
    context * if d.parallel.sequence_parallel { tp(d) } else { 1 }
}

rules! {
    world_size_is_a_multiple_of_tp_pp_cp
        [num_devices, tensor_model_parallel_size, pipeline_model_parallel_size,
         context_parallel_size]
        |d| splits(d.cluster.num_devices, tp(d) * pp(d) * cp(d));
    nodes_are_full [num_devices, devices_per_node, accelerator] |d| {
        let usual = d.cluster.accelerator.row().devices_per_node;
        let node = d.cluster.devices_per_node.unwrap_or(usual);
        d.cluster.num_devices > node && splits(d.cluster.num_devices, node)
    };
    expert_grid_divides_the_world
        [expert_model_parallel_size, expert_tensor_parallel_size, num_devices,
         pipeline_model_parallel_size]
        |d| splits(d.cluster.num_devices, ep(d) * etp(d) * pp(d));
    experts_are_a_multiple_of_ep [expert_model_parallel_size, num_moe_experts]
        |d| d.transformer.num_moe_experts.is_some_and(|experts| splits(experts, ep(d)));
    expert_parallelism_needs_experts
        [expert_model_parallel_size, expert_tensor_parallel_size, num_moe_experts]
        |d| !has_experts(d) && (ep(d) > 1 || etp(d) > 1);
    heads_are_a_multiple_of_tp [tensor_model_parallel_size, num_attention_heads]
        |d| splits(d.transformer.num_attention_heads, tp(d));
    query_groups_are_a_multiple_of_tp
        [tensor_model_parallel_size, num_query_groups, num_attention_heads,
         multi_latent_attention]
        |d| {
            let heads = d.transformer.num_attention_heads;
            let groups = d.transformer.num_query_groups.unwrap_or(heads);
            !d.transformer.multi_latent_attention && splits(groups, tp(d))
        };
    hidden_size_is_a_multiple_of_heads
        [kv_channels, hidden_size, num_attention_heads, multi_latent_attention]
        |d| !d.transformer.multi_latent_attention
            && d.transformer.kv_channels.is_none()
            && splits(d.transformer.hidden_size, d.transformer.num_attention_heads);
    ffn_is_a_multiple_of_tp [tensor_model_parallel_size, ffn_hidden_size]
        |d| splits(d.transformer.ffn_hidden_size, tp(d));
    shared_expert_is_a_multiple_of_tp
        [tensor_model_parallel_size, moe_shared_expert_intermediate_size]
        |d| {
            let width = d.transformer.moe_shared_expert_intermediate_size;
            width.is_some_and(|width| splits(width, tp(d)))
        };
    expert_width_is_a_multiple_of_etp
        [expert_tensor_parallel_size, moe_ffn_hidden_size, ffn_hidden_size, num_moe_experts]
        |d| {
            let dense = d.transformer.ffn_hidden_size;
            has_experts(d) && splits(d.transformer.moe_ffn_hidden_size.unwrap_or(dense), etp(d))
        };
    vocabulary_is_a_multiple_of_tp [tensor_model_parallel_size, vocab_size]
        |d| splits(d.transformer.vocab_size, tp(d));
    sequence_parallelism_needs_tp [sequence_parallel, tensor_model_parallel_size]
        |d| d.parallel.sequence_parallel && tp(d) == 1;
    experts_with_tp_need_sequence_parallelism
        [sequence_parallel, tensor_model_parallel_size, num_moe_experts]
        |d| has_experts(d) && tp(d) > 1 && !d.parallel.sequence_parallel;
    sequence_is_a_multiple_of_cp_tp
        [seq_length, context_parallel_size, tensor_model_parallel_size, sequence_parallel]
        |d| splits(d.training.seq_length, sequence_parts(d));
    batch_is_a_multiple_of_dp_mbs
        [global_batch_size, micro_batch_size, num_devices, tensor_model_parallel_size,
         pipeline_model_parallel_size, context_parallel_size]
        |d| !splits(d.cluster.num_devices, tp(d) * pp(d) * cp(d)) && micro_batches(d).is_none();
    virtual_stages_need_a_pipeline
        [virtual_pipeline_model_parallel_size, pipeline_model_parallel_size]
        |d| vpp(d) > 1 && pp(d) == 1;
    schedule_runs_these_virtual_stages [virtual_pipeline_model_parallel_size, method]
        |d| chunks_of(d.schedule.method).is_some_and(|right| right != vpp(d));
    schedule_has_enough_micro_batches
        [global_batch_size, micro_batch_size, num_devices, tensor_model_parallel_size,
         pipeline_model_parallel_size, context_parallel_size, method,
         virtual_pipeline_model_parallel_size, microbatch_group_size_per_vp_stage]
        |d| micro_batches(d).is_some_and(|count| {
            // A group has rules of its own, which the model is left to ask.
            d.schedule.microbatch_group_size_per_vp_stage.is_none()
                && Schedule::new(d.schedule.method, pp(d), vpp(d), count, None)
                .is_err_and(|faults| faults.iter().any(|it| it.knob == Fault::MICRO_BATCHES))
        });
    delayed_weight_gradients_have_a_partner
        [delay_wgrad_compute, overlap_moe_expert_parallel_comm, method]
        |d| d.schedule.delay_wgrad_compute
            && !d.schedule.overlap_moe_expert_parallel_comm
            && !runs_pairs(d.schedule.method);
    layer_slots_are_a_multiple_of_pp_vpp
        [pipeline_model_parallel_size, virtual_pipeline_model_parallel_size, noop_layers,
         num_layers, mtp_num_layers, pipeline_model_parallel_layout]
        |d| {
            let layers = d.transformer.num_layers + d.transformer.mtp_num_layers;
            let slots = layers + d.parallel.noop_layers.0.len() as u64;
            d.parallel.pipeline_model_parallel_layout.is_none() && splits(slots, pp(d) * vpp(d))
        };
    layer_pattern_has_every_layer [moe_layer_freq, num_layers, num_moe_experts]
        |d| {
            let length = d.transformer.moe_layer_freq.len();
            has_experts(d) && length.is_some_and(|length| length != d.transformer.num_layers)
        };
    topk_is_at_most_the_experts [moe_router_topk, num_moe_experts]
        |d| d.transformer.num_moe_experts.is_some_and(|n| d.transformer.moe_router_topk > n);
    selective_recomputation_names_modules [recompute_modules, recompute_granularity]
        |d| d.memory.recompute_modules.is_empty()
            && d.memory.recompute_granularity == RecomputeGranularity::Selective;
    recompute_layers_are_full [recompute_granularity, recompute_num_layers]
        |d| d.memory.recompute_num_layers.is_some()
            && d.memory.recompute_granularity != RecomputeGranularity::Full;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::mix;
    use model::Plan;

    /// Values that make and break rules.
    const VALUES: &[(&str, &[&str])] = &[
        ("num_devices", &["4", "8", "64", "6144", "100"]),
        ("tp", &["1", "2", "8", "5"]),
        ("sp", &["false", "true"]),
        ("pp", &["1", "2", "4", "16", "3"]),
        ("vpp", &["1", "2", "4"]),
        ("cp", &["1", "2", "3"]),
        ("ep", &["1", "4", "32", "5"]),
        ("etp", &["1", "2"]),
        ("num_moe_experts", &["none", "256", "16", "4"]),
        ("moe_router_topk", &["1", "8"]),
        ("num_layers", &["61", "32", "64"]),
        ("multi_latent_attention", &["false", "true"]),
        ("num_query_groups", &["none", "8", "3"]),
        ("num_attention_heads", &["128", "96", "12"]),
        ("moe_ffn_hidden_size", &["none", "2048", "2047"]),
        ("moe_shared_expert_intermediate_size", &["none", "2048", "99"]),
        ("ffn_hidden_size", &["18432", "18431"]),
        ("vocab_size", &["153600", "153601"]),
        ("hidden_size", &["7680", "7681"]),
        ("seq_length", &["8192", "8190"]),
        ("method", &["1f1b", "interleaved", "1f1b_overlap", "dualpipe", "dualpipev", "zb_v"]),
        ("mbs", &["1", "2", "3"]),
        ("gbs", &["64", "6144", "1000"]),
        ("microbatch_group_size_per_vp_stage", &["none", "2", "16"]),
        ("noop_layers", &["none", "61,63", "61"]),
        ("delay_wgrad_compute", &["false", "true"]),
        ("recompute_granularity", &["none", "selective", "full"]),
        ("recompute_modules", &["none", "core_attn"]),
        ("recompute_num_layers", &["none", "1"]),
    ];

    #[test]
    fn each_rule_says_what_the_model_says_of_it() {
        let mut times = vec![[0; 2]; RULES.len()];
        for trial in 0..4_000_u64 {
            let mut design = Design::from_preset("pangu-ultra-moe-6k").unwrap();
            for (place, (name, values)) in VALUES.iter().enumerate() {
                let random = mix(trial * 64 + place as u64);
                // Most knobs stay: a design that breaks everything tells little.
                if random.is_multiple_of(4) {
                    let value = values[(random >> 8) as usize % values.len()];
                    design.set_text(KnobId::find(name).unwrap(), value).unwrap();
                }
            }
            let violations = Plan::new(&design).err().unwrap_or_default();
            for (rule, times) in RULES.iter().zip(&mut times) {
                let broken = violations.iter().any(|violation| violation.rule == rule.name);
                let found = (rule.is_broken)(&design);
                assert!(!found || broken, "{}: {design:?}", rule.name);
                // The one rule that isn't looked at to its end.
                let whole = rule.name != "schedule_has_enough_micro_batches";
                assert!(found || !broken || !whole, "{}: {design:?}", rule.name);
                times[usize::from(found)] += 1;
            }
        }
        for (rule, [kept, broken]) in RULES.iter().zip(times) {
            assert!(kept > 0 && broken > 0, "{} is tried both ways", rule.name);
        }
    }

    #[test]
    fn each_rule_reads_what_it_says() {
        for rule in RULES {
            let known = model::rules::rules().iter().find(|known| known.name == rule.name);
            let known = known.unwrap_or_else(|| panic!("{} is no rule of the model", rule.name));
            // A rule of the model names the knobs to change; it may read more, never fewer of ours.
            let named = known.knobs.iter().filter(|knob| rule.reads.contains(knob));
            assert!(named.count() > 0, "{}", rule.name);
        }
        for trial in 0..2_000_u64 {
            let random = |place: u64| mix(trial * 1_000 + place);
            let mut design = Design::from_preset("pangu-ultra-moe-6k").unwrap();
            let (name, values) = VALUES[random(0) as usize % VALUES.len()];
            let (other, others) = VALUES[random(1) as usize % VALUES.len()];
            let value = others[random(2) as usize % others.len()];
            design.set_text(KnobId::find(other).unwrap(), value).unwrap();
            let before: Vec<bool> = RULES.iter().map(|rule| (rule.is_broken)(&design)).collect();
            let knob = KnobId::find(name).unwrap();
            design.set_text(knob, values[random(3) as usize % values.len()]).unwrap();
            for (rule, before) in RULES.iter().zip(before) {
                let same = (rule.is_broken)(&design) == before;
                assert!(same || rule.reads.contains(&knob), "{} reads {name}", rule.name);
            }
        }
    }
}
