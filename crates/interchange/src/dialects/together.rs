//! Keys of trainers that only mean something together: how often a model is copied, and into how
//! many parts each copy is cut.

use crate::arguments::Argument;

use super::Dialect;
use super::trainers::DEEPSPEED;

/// The arguments of a dialect, each of which then means something by itself.
pub(super) fn together(dialect: Option<&Dialect>, mut arguments: Vec<Argument>) -> Vec<Argument> {
    match dialect.map(|dialect| dialect.title) {
        Some("torchtitan") => torchtitan(&mut arguments),
        Some(DEEPSPEED) => deepspeed(&mut arguments),
        _ => {}
    }
    arguments
}

/// The last argument whose path ends so.
pub(super) fn find<'a>(arguments: &'a [Argument], name: &str) -> Option<&'a Argument> {
    arguments.iter().rev().find(|argument| {
        argument.name.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

pub(super) fn number(arguments: &[Argument], name: &str) -> Option<u64> {
    find(arguments, name)?.values.first()?.parse().ok().filter(|number| *number > 0)
}

pub(super) fn replace(arguments: &mut [Argument], name: &str, value: u64) {
    let place = find(arguments, name).and_then(|found| arguments.iter().position(|a| a == found));
    if let Some(argument) = place.and_then(|place| arguments.get_mut(place)) {
        argument.values = vec![value.to_string()];
    }
}

/// HSDP: copies times parts are the ranks that share a batch; copies of one part each are DDP.
///
/// Source: `torchtitan/distributed/parallel_dims.py`.
fn torchtitan(arguments: &mut Vec<Argument>) {
    let (parts, copies) = ("data-parallel-shard-degree", "data-parallel-replicate-degree");
    if let (Some(shard), Some(replicate)) = (number(arguments, parts), number(arguments, copies)) {
        replace(arguments, parts, shard.saturating_mul(replicate));
        if shard == 1 && replicate > 1 {
            replace(arguments, copies, 1);
            let line = find(arguments, copies).map_or(0, |argument| argument.line);
            let name = "data-parallel-sharding-strategy".to_owned();
            arguments.push(Argument { name, values: vec!["no_shard".to_owned()], line });
        }
    }
    pipeline_batch(arguments);
    // How many chunks an interleaved schedule has follows from the layers of each.
    if find(arguments, "pipeline-parallel-layers-per-stage").is_some() {
        let is_interleaved = |argument: &Argument| {
            argument.name.ends_with("pipeline-parallel-schedule")
                && argument.values.first().is_some_and(|word| word == "Interleaved1F1B")
        };
        arguments.retain(|argument| !is_interleaved(argument));
    }
}

/// Beside a pipeline torchtitan's local batch is all of its micro-batches together, of one sequence
/// each without being told.
///
/// Source: `torchtitan/distributed/pipeline_parallel.py:build_pipeline_schedule`.
fn pipeline_batch(arguments: &mut Vec<Argument>) {
    let (local, micro) = ("local-batch-size", "pipeline-parallel-microbatch-size");
    let is_pipeline =
        number(arguments, "pipeline-parallel-degree").is_some_and(|stages| stages > 1);
    let Some(whole) = number(arguments, local).filter(|_| is_pipeline) else { return };
    let each = number(arguments, micro).unwrap_or(1);
    if !whole.is_multiple_of(each) {
        return;
    }
    replace(arguments, local, each);
    let line = find(arguments, local).map_or(0, |argument| argument.line);
    let name = "gradient-accumulation-steps".to_owned();
    arguments.push(Argument { name, values: vec![(whole / each).to_string()], line });
}

/// The batch says how many replicas there are; sequence parallelism is Ulysses'.
///
/// Source: `_configure_train_batch_size` in `deepspeed/runtime/config.py`.
fn deepspeed(arguments: &mut Vec<Argument>) {
    let batch = "train-batch-size";
    let micro = number(arguments, "train-micro-batch-size-per-gpu");
    let steps = number(arguments, "gradient-accumulation-steps");
    if let (Some(whole), Some(micro), Some(steps)) = (number(arguments, batch), micro, steps) {
        let each = micro.saturating_mul(steps);
        let line = find(arguments, batch).map_or(0, |argument| argument.line);
        if whole.is_multiple_of(each) {
            let values = vec![(whole / each).to_string()];
            arguments.push(Argument { name: "data-parallel-size".to_owned(), values, line });
        }
    }
    if let Some(line) = find(arguments, "sequence-parallel-size").map(|argument| argument.line) {
        let values = vec!["ulysses_cp_algo".to_owned()];
        arguments.push(Argument { name: "context-parallel-algo".to_owned(), values, line });
    }
}
