//! A run that a published recipe among the presets describes in full, or of which it gives one
//! plausible layout.

use model::catalogue::preset::{Preset, PresetKind};
use model::design::{Design, KnobId};
use model::ground::choice::Software;
use model::{Plan, estimate};

use crate::draft::Draft;
use crate::imputation::Item;
use crate::refusal::Refusal;

/// Part of a run that a recipe gives.
pub(super) enum Taken {
    /// No recipe is the run's.
    Nothing,
    /// All that the row leaves open.
    All,
    /// One layout of those that the run may have had: it isn't published. The others.
    Plausible(Vec<Plan>),
}

/// Assumption noted for a run whose recipe is published; its id follows.
pub(crate) const OF_RECIPE: &str = "layout and switches of the recipe";

/// Takes over the recipe of the same model on as many of the same devices, if there is one and
/// the row prints nothing else: what a row of a table leaves open, the recipe's source says.
pub(super) fn take(draft: &mut Draft<'_>) -> Result<Taken, Refusal> {
    let run = draft.run;
    let prints_layout = run.tensor_parallel.or(run.pipeline_parallel).is_some();
    // Only whole runs are reported without their layout; a table's row would be another run.
    if !prints_layout && run.kind != "production_run" {
        return Ok(Taken::Nothing);
    }
    let Some((preset, recipe)) = recipes().find(|(_, recipe)| describes(recipe, draft)) else {
        return Ok(Taken::Nothing);
    };
    draft.design = recipe;
    if draft.design.kernel.software == Software::Calibrated
        && draft.facts.software != Software::Calibrated
    {
        draft.assume(KnobId::software, Item::Software)?;
    }
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
    if run.seq_length.is_none() {
        let seq = draft.design.training.seq_length;
        draft.note(&format!("sequences of {seq} tokens, which the row doesn't print"));
    }
    if prints_layout {
        draft.note(&format!("{OF_RECIPE} {}", preset.id));
        return Ok(Taken::All);
    }
    draft.note(&format!("the layout isn't published: {} and its neighbours", preset.id));
    Ok(Taken::Plausible(neighbours(&draft.design)))
}

/// The layouts that a run on these devices may have had: TP within a node, stages and chunks of
/// few layers, experts over part or all of a stage, micro-batches of one or two sequences, all
/// layers computed again or none. Those that are legal and fit.
fn neighbours(design: &Design) -> Vec<Plan> {
    let mut plans = vec![];
    let texts = |values: &[u64]| values.iter().map(u64::to_string).collect::<Vec<_>>();
    let choices = [
        (KnobId::tensor_model_parallel_size, texts(&[4, 8])),
        (KnobId::pipeline_model_parallel_size, texts(&[8, 16, 32])),
        (KnobId::virtual_pipeline_model_parallel_size, texts(&[1, 2])),
        (KnobId::expert_model_parallel_size, texts(&[8, 16, 32, 64, 128])),
        (KnobId::micro_batch_size, texts(&[1, 2])),
        (KnobId::recompute_granularity, vec!["full".to_owned(), "none".to_owned()]),
    ];
    let count: usize = choices.iter().map(|(_, values)| values.len()).product();
    for mut index in 0..count {
        let mut design = design.clone();
        let mut is_legal = true;
        for (knob, values) in &choices {
            is_legal &= design.set_text(*knob, &values[index % values.len()]).is_ok();
            index /= values.len();
        }
        let chunks = design.parallel.virtual_pipeline_model_parallel_size;
        let method = if chunks > 1 { "interleaved" } else { "1f1b" };
        is_legal &= design.set_text(KnobId::method, method).is_ok();
        let plan = is_legal.then(|| Plan::new(&design).ok()).flatten();
        plans.extend(plan.filter(|plan| {
            let metrics = estimate(plan).metrics;
            metrics.memory_peak <= metrics.memory_limit
        }));
    }
    plans
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
    let (tp, ep) = (parallel.tensor_model_parallel_size, parallel.expert_model_parallel_size);
    // MindSpeed counts the groups that experts are spread over as EP or as EP x TP.
    let is_ep = is(run.expert_parallel, ep)
        || run.expert_parallel.is_some_and(|printed| printed.saturating_mul(tp) == ep);
    let software = recipe.kernel.software;
    recipe.transformer == design.transformer
        && recipe.cluster.accelerator == design.cluster.accelerator
        && recipe.cluster.num_devices == design.cluster.num_devices
        && (software == Software::Calibrated || software == draft.facts.software)
        && is(run.tensor_parallel, tp)
        && is(run.pipeline_parallel, parallel.pipeline_model_parallel_size)
        && is_ep
        && is(run.context_parallel, parallel.context_parallel_size)
}
