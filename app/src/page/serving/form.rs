//! What one chooses and types in. Without a script it is a plain form.

use leptos::ev;
use leptos::prelude::*;
use model::catalogue::preset::{Preset, PresetKind};
use model::design::KnobId;
use present::page::serving::with_model;
use present::site::Page;

use super::state::State;
use crate::panel::asking::field;

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

/// The whole form.
pub(super) fn form(state: State) -> impl IntoView {
    let group = |title: &'static str, ids: &'static [KnobId]| {
        let rows: Vec<_> = ids.iter().map(|id| field(state, *id)).collect();
        view! { <fieldset><legend>{title}</legend>{rows}</fieldset> }
    };
    let more: Vec<_> = MORE.iter().map(|id| field(state, *id)).collect();
    view! {
        <form class="card schedule-form" action=Page::Serving.path() method="get" novalidate
            aria-label="Model, machine and load"
            on:submit=|event: ev::SubmitEvent| event.prevent_default()
        >
            <fieldset><legend>"Model"</legend>{models(state)}</fieldset>
            {group("Machine", MACHINE)}
            {group("Engine", ENGINE)}
            {group("Load", LOAD)}
            {group("Layout", LAYOUT)}
            <details class="serving-more">
                <summary>"More of serving"</summary>
                <fieldset>{more}</fieldset>
            </details>
            <button type="submit" class="button primary only-plain">"Serve"</button>
            <a id="example" class="button" href=Page::Serving.path()>"Back to the example"</a>
        </form>
    }
}

fn models(state: State) -> impl IntoView {
    let now = move || state.with(|design| design.preset.id);
    let first = untrack(now);
    let option = |it: &'static Preset| {
        view! { <option value=it.id selected=it.id == first>{it.title}</option> }
    };
    let known =
        |it: &&Preset| it.refused.is_none() && (it.kind == PresetKind::Model || it.id == first);
    let models: Vec<_> = Preset::all().filter(known).map(option).collect();
    let published: Vec<_> = Preset::served().map(option).collect();
    let pick = move |event| {
        if let Ok(preset) = Preset::find(&event_target_value(&event)) {
            let design = untrack(|| state.with(|design| with_model(design, preset)));
            state.ask(design);
        }
    };
    view! {
        <div class="schedule-field">
            <label for="preset">"Model"</label>
            <select class="select" id="preset" name="preset" autocomplete="off"
                prop:value=now on:change=pick
            >
                <optgroup label="Models">{models}</optgroup>
                <optgroup label="Published runs">{published}</optgroup>
            </select>
        </div>
    }
}
