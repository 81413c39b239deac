//! What a knob's value comes to, in a line below it.

use model::Plan;
use model::design::KnobId;
use model::ground::choice::Choice;
use model::ground::units::Bytes;

use crate::format;

/// Note on a knob's value in a plan; empty for most knobs.
#[must_use]
#[expect(clippy::wildcard_enum_match_arm, reason = "few of many knobs have one")]
pub fn note(id: KnobId, plan: &Plan) -> String {
    let design = plan.design();
    let (parallel, transformer) = (&design.parallel, &design.transformer);
    let row = design.cluster.accelerator.row();
    match id {
        KnobId::global_batch_size => format!(
            "{} on each of DP {}",
            format::counted(plan.num_microbatches(), "micro-batch", "micro-batches"),
            format::whole(plan.data_parallel_size()),
        ),
        KnobId::expert_model_parallel_size => experts(plan),
        KnobId::pipeline_model_parallel_size => {
            let slots = transformer.num_layers + transformer.mtp_num_layers;
            format!("{} over the stages", format::counted(slots, "layer", "layers"))
        }
        KnobId::virtual_pipeline_model_parallel_size => {
            let chunks = parallel.pipeline_model_parallel_size
                * parallel.virtual_pipeline_model_parallel_size;
            format!("{} in all", format::counted(chunks, "chunk", "chunks"))
        }
        KnobId::num_devices => {
            let per_node = design.cluster.devices_per_node.unwrap_or(row.devices_per_node).max(1);
            let nodes = design.cluster.num_devices.div_ceil(per_node);
            format!("{} of {per_node}", format::counted(nodes, "node", "nodes"))
        }
        KnobId::accelerator => {
            let peak = row.bf16_tflops.map_or_else(
                || "no BF16".to_owned(),
                |peak| format!("{} BF16 TFLOPS", format::decimals(peak, 1)),
            );
            let usable = format::memory(Bytes::gib(row.hbm_usable_gib));
            // The explorer takes it with the accelerator that it is of.
            let software = design.preset.design().kernel.software;
            let gone = if software.is_of(&row.kernels) {
                String::new()
            } else {
                format!("; software calibrated, {} is Ascend's", software.name())
            };
            format!("{peak}, {usable} usable{gone}")
        }
        _ => String::new(),
    }
}

/// Experts on a rank; and MindSpeed's spelling, whose EP doesn't count the TP ranks.
fn experts(plan: &Plan) -> String {
    let design = plan.design();
    let (parallel, transformer) = (&design.parallel, &design.transformer);
    let (ep, tp) = (parallel.expert_model_parallel_size, parallel.tensor_model_parallel_size);
    let Some(experts) = transformer.num_moe_experts else { return "A dense model".to_owned() };
    let local = format!("{} on a rank", format::counted(experts / ep.max(1), "expert", "experts"));
    let extends = parallel.expert_tensor_parallel_size == 1 && tp > 1 && ep.is_multiple_of(tp);
    if extends { format!("{local}; MindSpeed's EP is {}", ep / tp) } else { local }
}

/// Value that an unset knob takes over from the accelerator or from another knob.
#[must_use]
#[expect(clippy::wildcard_enum_match_arm, reason = "few of many knobs have one")]
pub fn unset(id: KnobId, plan: &Plan) -> String {
    let design = plan.design();
    let row = design.cluster.accelerator.row();
    let gb = |number: f64| format::count(number).number;
    match id {
        KnobId::devices_per_node => row.devices_per_node.to_string(),
        KnobId::scale_up_domain_size => row.scale_up_domain_size.to_string(),
        KnobId::hbm_usable_gib => gb(row.hbm_usable_gib),
        KnobId::peak_bf16_tflops => row.bf16_tflops.map_or_else(|| "none".to_owned(), gb),
        KnobId::intra_node_gb_per_sec => gb(row.intra_node_gb_per_sec),
        KnobId::inter_node_gb_per_sec => gb(row.inter_node_gb_per_sec),
        KnobId::host_gb_per_sec => gb(row.host_gb_per_sec),
        KnobId::host_memory_gib => gb(row.host_memory_gib),
        _ => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use model::catalogue::preset::Preset;
    use model::design::Design;

    use super::*;

    #[track_caller]
    fn check(id: KnobId, expected: &str) {
        let design = Design::from_preset(Preset::DEFAULT_ID).expect("the default preset");
        let plan = Plan::new(&design).expect("a legal design");
        assert_eq!(note(id, &plan), expected);
    }

    #[test]
    fn notes_say_what_a_value_comes_to() {
        check(KnobId::global_batch_size, "64 micro-batches on each of DP 48");
        check(KnobId::expert_model_parallel_size, "8 experts on a rank; MindSpeed's EP is 4");
        check(KnobId::num_devices, "768 nodes of 8");
        check(KnobId::accelerator, "294.9 BF16 TFLOPS, 60.3 GiB usable");
        check(KnobId::vocab_size, "");
        let mut design = Design::from_preset(Preset::DEFAULT_ID).expect("the default preset");
        design.set_text(KnobId::software, "calibrated").expect("a state");
        design.set_text(KnobId::accelerator, "h100-sxm-80gb").expect("an accelerator");
        let plan = Plan::new(&design).expect("a legal design");
        let said = note(KnobId::accelerator, &plan);
        assert!(
            said.ends_with(" usable; software calibrated, ascend-2025-05 is Ascend's"),
            "{said}"
        );
    }
}
