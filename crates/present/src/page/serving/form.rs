//! The form of the page, which only the server writes: what one chooses and types in.

use maud::html;
use model::catalogue::preset::{Preset, PresetKind};
use model::design::violation::Violation;
use model::design::{Design, KnobId};

use crate::form::knob::{Knobs, choice};
use crate::form::lists::{id, presets};
use crate::form::{group, option_group};
use crate::site::Page;

const MACHINE: &[KnobId] = &[KnobId::accelerator, KnobId::num_devices];
const ENGINE: &[KnobId] = &[KnobId::engine, KnobId::weight_dtype, KnobId::kv_cache_dtype];
const LOAD: &[KnobId] = &[
    KnobId::input_length,
    KnobId::output_length,
    KnobId::concurrency,
    KnobId::ttft_limit_milliseconds,
    KnobId::tpot_limit_milliseconds,
];
const LAYOUT: &[KnobId] = &[
    KnobId::tensor_parallel_size,
    KnobId::data_parallel_size,
    KnobId::pipeline_parallel_size,
    KnobId::moe_expert_parallel_size,
];
const MORE: &[KnobId] = &[
    KnobId::moe_tensor_parallel_size,
    KnobId::disaggregation,
    KnobId::prefill_devices,
    KnobId::decode_devices,
    KnobId::prefill_tensor_parallel_size,
    KnobId::prefill_data_parallel_size,
    KnobId::prefill_pipeline_parallel_size,
    KnobId::prefill_moe_expert_parallel_size,
    KnobId::prefill_moe_tensor_parallel_size,
    KnobId::request_rate,
    KnobId::prefix_cache_hit_rate,
    KnobId::num_speculative_tokens,
    KnobId::acceptance_length,
    KnobId::two_batch_overlap,
    KnobId::graph_mode,
    KnobId::max_num_seqs,
    KnobId::max_num_batched_tokens,
    KnobId::enable_chunked_prefill,
    KnobId::gpu_memory_utilization,
    KnobId::experts_kept,
    KnobId::experts_kept_topk,
    KnobId::experts_on_host,
    KnobId::expert_cache_hit_rate,
    KnobId::host_memory_gb_per_sec,
    KnobId::host_tflops,
];

/// Content of the form.
#[must_use]
pub fn html(design: &Design, broken: &[Violation]) -> String {
    let knobs = Knobs { design, broken, kind: "number" };
    let first = design.preset.id;
    let known = Preset::all().filter(|it| it.kind == PresetKind::Model || it.id == first);
    let models = html! {
        (option_group("Models", &presets(known, id, first)))
        (option_group("Published runs", &presets(Preset::served(), id, first)))
    };
    let markup = html! {
        (group("", "Model", &choice("preset", "Model", models)))
        (knobs.group("Machine", MACHINE))
        (knobs.group("Engine", ENGINE))
        (knobs.group("Load", LOAD))
        (knobs.group("Layout", LAYOUT))
        details.serving-more {
            summary { "More of serving" }
            fieldset { (knobs.fields(MORE)) }
        }
        button.button.primary.only-plain type="submit" { "Serve" }
        a #example.button href=(Page::Serving.path()) { "Back to the example" }
    };
    markup.into_string()
}
