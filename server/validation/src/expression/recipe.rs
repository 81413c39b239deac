//! A run that a published recipe among the presets describes in full.

use model::design::{Design, KnobId};
use model::preset::{Preset, PresetKind};

use super::{Draft, Refusal};

/// Takes over the recipe of the same model on as many of the same devices, if there is one and
/// the row prints nothing else: what a row of a table leaves open, the recipe's source says.
pub(super) fn take(draft: &mut Draft<'_>) -> Result<bool, Refusal> {
    let Some((preset, recipe)) = recipes().find(|(_, recipe)| describes(recipe, draft)) else {
        return Ok(false);
    };
    draft.design = recipe;
    draft.note(&format!("layout and switches of the recipe {}", preset.id));
    let run = draft.run;
    let printed = [
        (KnobId::seq_length, run.seq_length),
        (KnobId::micro_batch_size, run.micro_batch_size),
        (KnobId::global_batch_size, run.global_batch_size),
    ];
    for (knob, value) in printed {
        if let Some(value) = value {
            draft.set(knob, value)?;
        }
    }
    Ok(true)
}

fn recipes() -> impl Iterator<Item = (&'static Preset, Design)> {
    let open = |preset: &&'static Preset| preset.refused.is_none();
    Preset::all()
        .filter(|preset| preset.kind == PresetKind::Recipe)
        .filter(open)
        .map(|preset| (preset, preset.design()))
}

fn describes(recipe: &Design, draft: &Draft<'_>) -> bool {
    let (run, design) = (draft.run, &draft.design);
    let parallel = &recipe.parallel;
    let is = |printed: Option<u64>, own: u64| printed.is_none_or(|printed| printed == own);
    recipe.transformer == design.transformer
        && recipe.cluster.accelerator == design.cluster.accelerator
        && recipe.cluster.num_devices == design.cluster.num_devices
        && is(run.tensor_parallel, parallel.tensor_model_parallel_size)
        && is(run.pipeline_parallel, parallel.pipeline_model_parallel_size)
        && is(run.expert_parallel, parallel.expert_model_parallel_size)
        && is(run.context_parallel, parallel.context_parallel_size)
        && run.tensor_parallel.or(run.pipeline_parallel).is_some()
}
