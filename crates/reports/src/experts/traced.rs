//! What a router trace says of experts, as data.

use model::file::Tree;
use model::pattern::{Depth, Pair, Patterns, Set};
use model::serving::traced::{Task, Traced};

/// The experts of a set.
fn numbers(set: &Set) -> Tree {
    Tree::List(set.members().map(|expert| Tree::Unsigned(expert as u64)).collect())
}

/// A trace beside a design.
pub(super) fn json(traced: &Traced, patterns: &Patterns) -> Tree {
    let task = |(name, task): (&String, &Task)| {
        let curve = task.curve.mean.iter().map(|share| Tree::number(*share));
        Tree::map([
            ("task", name.as_str().into()),
            ("covered", Tree::number(task.keep.mean())),
            ("covered_least", Tree::number(task.keep.least())),
            ("covered_by_all_tasks_best", Tree::number(task.pooled)),
            ("kept_for_95_percent", Tree::Unsigned(task.curve.kept_for(0.95) as u64)),
            ("coverage", Tree::List(curve.collect())),
            ("hits_on_devices", Tree::number(task.hits)),
            ("kept_experts", Tree::List(task.keep.sets.iter().map(numbers).collect())),
        ])
    };
    let depth = |it: &Depth| {
        Tree::map([
            ("layer", Tree::Unsigned(it.layer.into())),
            ("effective_experts", Tree::number(it.effective)),
            ("overlap", Tree::number(it.overlap)),
            ("union", Tree::Unsigned(it.union as u64)),
        ])
    };
    let pair = |it: &Pair| {
        Tree::map([
            ("layer", Tree::Unsigned(it.layer.into())),
            ("experts", Tree::List(it.experts.map(|one| Tree::Unsigned(one as u64)).to_vec())),
            ("tasks", Tree::Unsigned(it.tasks as u64)),
            ("lift", Tree::number(it.lift)),
        ])
    };
    let row = |row: &Vec<f64>| Tree::List(row.iter().map(|it| Tree::number(*it)).collect());
    let optional = |number: Option<f64>| number.map_or(Tree::Null, Tree::number);
    let changes = traced.switches.as_ref();
    Tree::map([
        ("generated_by_seed", patterns.seed().map_or(Tree::Null, Tree::Unsigned)),
        ("experts", Tree::Unsigned(patterns.experts() as u64)),
        ("layers", Tree::Unsigned(patterns.layers().len() as u64)),
        ("kept_per_layer", Tree::Unsigned(traced.kept as u64)),
        ("goal", traced.goal.name().into()),
        ("union_experts", Tree::Unsigned(traced.union as u64)),
        ("tasks", Tree::List(patterns.tasks().iter().zip(&traced.tasks).map(task).collect())),
        ("overlap", Tree::List(traced.overlap.iter().map(row).collect())),
        ("depth", Tree::List(traced.depth.iter().map(depth).collect())),
        ("together", Tree::List(traced.together.iter().map(pair).collect())),
        ("pattern_bytes", Tree::Unsigned(traced.store.pattern_bytes)),
        ("store_bytes", Tree::Unsigned(traced.store.bytes())),
        ("load_bytes_per_second", Tree::number(traced.loading.bytes_per_second)),
        ("load_seconds", Tree::number(traced.loading.seconds(traced.tasks[0].keep.experts()))),
        ("switch_bytes", optional(changes.map(|it| it.bytes))),
        ("switch_seconds", optional(changes.map(|it| it.seconds))),
        ("switch_seconds_longest", optional(changes.map(|it| it.most_seconds))),
        ("tokens_per_second_kept", Tree::number(traced.rates[0])),
        ("tokens_per_second_all", Tree::number(traced.rates[1])),
        ("switches_per_second_that_pay", optional(traced.break_even())),
    ])
}
