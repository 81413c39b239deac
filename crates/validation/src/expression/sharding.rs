//! What data-parallel ranks share out, and in groups of how many.

use model::design::KnobId;

use crate::draft::Draft;
use crate::imputation::{Family, Item};
use crate::phrase::{self, Claim, Phrases, phrases};
use crate::refusal::Refusal;

/// Words of full sharding.
const FULL: &[&str] =
    &["fsdp", "hsdp", "hybrid_shard", "hybrid shard", "full_shard", "zero-3", "zero3"];
/// Words of sharded gradients.
const GRADIENTS: &[&str] = &["zero-1/2", "zero-2", "zero2", "shard_grad_op"];
/// Words of sharded optimizer states.
static OPTIMIZER: Phrases = phrases!(
    "zero-1 | zero1 | dist. optimizer | distributed optimizer | distributed-optimizer | dist-opt | \
     distopt | mics"
);
/// Words of copies everywhere.
const NOTHING: &[&str] =
    &["none", "ddp", "zero-0", "zero0", "replicated", "unsharded", "no sharding"];

/// Sets what is sharded, and the number of copies of the shards.
pub(super) fn set(draft: &mut Draft<'_>, pp: u64) -> Result<(), Refusal> {
    let text = draft.run.sharding.to_lowercase();
    let has = |words: &[&str]| phrase::affirms(&text, words);
    let gradients = has(GRADIENTS);
    if draft.facts.is_mindformers
        && pp == 1
        && !gradients
        && !has(FULL)
        && accumulates_nothing(draft)
    {
        // MindSpore's optimizer parallelism reduces each gradient to the rank that holds its
        // states.
        draft.note("gradients sharded with the optimizer, as MindFormers has it");
        return draft.set(KnobId::data_parallel_sharding_strategy, "optim_grads");
    }
    let fully = has(FULL) && !text.contains("zero-3") && !text.contains("zero3");
    let strategy = if pp > 1 && gradients {
        // A pipeline's micro-batches add up their gradients before they are reduced.
        draft.note("gradients reduced once a step, as in a pipeline");
        "optim"
    } else if gradients {
        "optim_grads"
    } else if pp > 1 && fully && draft.facts.family == Family::Fsdp {
        draft.note("FSDP keeps its parameters between micro-batches of a pipeline");
        "optim_grads"
    } else if has(FULL) {
        "optim_grads_params"
    } else if has(&OPTIMIZER) {
        "optim"
    } else if NOTHING.iter().any(|words| text.trim().starts_with(words))
        || phrase::claim(&text, &OPTIMIZER) == Some(Claim::Denied)
    {
        // `no distributed optimizer` says it too.
        "no_shard"
    } else {
        return draft.assume(KnobId::data_parallel_sharding_strategy, Item::Sharding);
    };
    draft.set(KnobId::data_parallel_sharding_strategy, strategy)?;
    match copies(draft, &text).filter(|copies| *copies > 1) {
        Some(copies) => draft.set(KnobId::num_distributed_optimizer_instances, copies),
        None => Ok(()),
    }
}

/// Whether a step has one micro-batch, so that no gradient is kept whole for the next.
fn accumulates_nothing(draft: &Draft<'_>) -> bool {
    let parallel = &draft.design.parallel;
    let model = parallel.tensor_model_parallel_size.saturating_mul(parallel.context_parallel_size);
    let ranks = draft.design.cluster.num_devices / model.max(1);
    let run = draft.run;
    run.global_batch_size
        .zip(run.micro_batch_size)
        .is_some_and(|(batch, micro)| batch == ranks.saturating_mul(micro))
}

/// Copies of the shards: the ranks over those of a group.
fn copies(draft: &Draft<'_>, text: &str) -> Option<u64> {
    let parallel = &draft.design.parallel;
    let tp = parallel.tensor_model_parallel_size;
    let model = tp.saturating_mul(parallel.pipeline_model_parallel_size).max(1);
    let ranks = draft.design.cluster.num_devices / model;
    let cp = parallel.context_parallel_size.max(1);
    let cluster = &draft.design.cluster;
    let node = cluster.devices_per_node.unwrap_or(cluster.accelerator.row().devices_per_node);
    let group = match Group::read(text)? {
        Group::Copies(copies) => return ranks.is_multiple_of(copies).then_some(copies),
        Group::Mesh(copies, ranks_of_copy) => {
            let fits = copies.checked_mul(ranks_of_copy) == Some(ranks);
            return fits.then_some(copies);
        }
        Group::Ranks(group) => group,
        Group::Node => (node / (tp.saturating_mul(cp)).max(1)).max(1).saturating_mul(cp),
    };
    // A group of all data-parallel ranks is no smaller one; those of CP share what it shards.
    let is_all = group >= ranks || group == ranks / cp;
    (!is_all && group > 0 && ranks.is_multiple_of(group)).then(|| ranks / group)
}

/// A sharding group smaller than the data-parallel ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Number of ranks that share the shards.
    Ranks(u64),
    /// Number of copies.
    Copies(u64),
    /// Copies times ranks of a copy, `HSDP 8 x 16`: PyTorch's mesh of replicas and shards.
    Mesh(u64, u64),
    /// The ranks of a node.
    Node,
}

/// Words before a number of copies.
static COPIES: Phrases = phrases!(
    "num_distributed_optimizer_instances | num-distributed-optimizer-instances | dp_replicate | \
     replicate degree | replicate_degree | replicate | replicas | instances"
);

/// Words before the ranks of a group.
static RANKS: Phrases = phrases!(
    "groups of | group of | group size | group_size | group | dp_shard | shard degree | \
     shard_degree | sharded over | shard over | mics | fsdp"
);

/// Words of a group that is a node.
static WITHIN: Phrases = phrases!(
    "within a node | within the node | within node | within each node | inside a node | \
     inside the node | intra-node | intra node | node-local | per node | hybrid_shard | \
     hybrid shard | in a node"
);

impl Group {
    fn read(text: &str) -> Option<Self> {
        // A version, not a number of ranks.
        let text = &text.replace("fsdp2", "fsdp").replace("fsdp-2", "fsdp");
        let after = |words: &[&str]| words.iter().find_map(|word| number_after(text, word));
        if let Some(copies) = after(&COPIES) {
            return Some(Self::Copies(copies));
        }
        if let Some((copies, ranks)) = mesh(text) {
            return Some(Self::Mesh(copies, ranks));
        }
        if let Some(ranks) = after(&RANKS) {
            return Some(Self::Ranks(ranks));
        }
        phrase::affirms(text, &WITHIN).then_some(Self::Node)
    }
}

/// The number right after a word: 8 of `group 8`, `group=8`, `groups of 8` and `fsdp8`.
fn number_after(text: &str, word: &str) -> Option<u64> {
    text.match_indices(word).find_map(|(at, _)| {
        let rest = text[at + word.len()..].trim_start_matches([' ', '=', ':', '(', '_']);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let next = rest[digits.len()..].trim_start().chars().next();
        // `fsdp 8 x 16` is a mesh.
        digits.parse().ok().filter(|value| *value > 0 && next != Some('x'))
    })
}

/// 8 and 16 of `hsdp 8 x 16`, `hsdp (8, 16)` and `hsdp 8x16`.
fn mesh(text: &str) -> Option<(u64, u64)> {
    let (_, rest) = ["hsdp", "hybrid_shard", "hybrid shard", "fsdp"]
        .iter()
        .find_map(|word| text.split_once(word))?;
    let rest = rest.trim_start_matches([' ', '=', ':', '(', '[']);
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let copies = digits(rest);
    let rest = rest[copies.len()..].trim_start().strip_prefix(['x', ',', '\u{d7}'])?;
    let ranks = digits(rest.trim_start());
    let pair = (copies.parse().ok()?, ranks.parse().ok()?);
    (pair.0 > 0 && pair.1 > 0).then_some(pair)
}

#[cfg(test)]
mod tests {
    use model::ground::choice::ShardingStrategy;

    use super::*;
    use crate::runs::Run;

    #[test]
    fn a_group_is_told_in_many_words() {
        for (text, group) in [
            ("zero-1 groups of 8", Some(Group::Ranks(8))),
            ("fsdp2 (group 64)", Some(Group::Ranks(64))),
            ("fsdp (maxtext) fsdp=128", Some(Group::Ranks(128))),
            ("fsdp2 8", Some(Group::Ranks(8))),
            ("dp_shard=16, dp_replicate=4", Some(Group::Copies(4))),
            ("hsdp 8 x 16", Some(Group::Mesh(8, 16))),
            ("hsdp (8, 16)", Some(Group::Mesh(8, 16))),
            ("zero-1, sharded within a node", Some(Group::Node)),
            ("fsdp hybrid_shard", Some(Group::Node)),
            ("num_distributed_optimizer_instances=2", Some(Group::Copies(2))),
            ("zero-1 (dist. optimizer)", None),
            ("fsdp full_shard", None),
            ("fsdp2", None),
        ] {
            assert_eq!(Group::read(text), group, "{text}");
        }
    }

    fn parallel(sharding: &str, devices: u64, tp: u64) -> (ShardingStrategy, u64) {
        let run = Run {
            model: "llama-3-8b".to_owned(),
            hardware: "DGX H100".to_owned(),
            num_devices: Some(devices),
            tensor_parallel: Some(tp),
            pipeline_parallel: Some(1),
            sharding: sharding.to_owned(),
            seq_length: Some(4_096),
            micro_batch_size: Some(1),
            global_batch_size: Some(devices),
            step_time: Some(1.0),
            ..Run::default()
        };
        let expressed = crate::expression::for_run(&run).unwrap_or_else(|error| panic!("{error}"));
        let parallel = &expressed.plan.design().parallel;
        (parallel.data_parallel_sharding_strategy, parallel.num_distributed_optimizer_instances)
    }

    #[test]
    fn copies_are_ranks_over_a_group_s() {
        use ShardingStrategy::{NoShard, Optim, OptimGradsParams};
        for (sharding, devices, tp, strategy, copies) in [
            ("ZeRO-1 groups of 8", 128, 1, Optim, 16),
            ("ZeRO-1, sharded within a node", 128, 2, Optim, 16),
            ("HSDP 8 x 16", 128, 1, OptimGradsParams, 8),
            ("HSDP 8 x 32", 128, 1, OptimGradsParams, 1),
            ("FSDP=128", 128, 1, OptimGradsParams, 1),
            ("FSDP (group 32)", 128, 2, OptimGradsParams, 2),
            ("no distributed optimizer", 128, 1, NoShard, 1),
            ("DDP", 128, 1, NoShard, 1),
            ("no sharding (DDP)", 128, 1, NoShard, 1),
        ] {
            assert_eq!(parallel(sharding, devices, tp), (strategy, copies), "{sharding}");
        }
    }
}
