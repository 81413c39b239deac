//! What tasks have in common, by depth, and which experts they keep together.

use alloc::vec;
use alloc::vec::Vec;

use super::scores::Patterns;
use super::set::Set;

/// The best so many experts of every task, layer after layer.
fn sets(patterns: &Patterns, kept: usize) -> Vec<Vec<Set>> {
    let layers = patterns.layers().len();
    (0..patterns.tasks().len())
        .map(|task| (0..layers).map(|layer| patterns.best(task, layer, kept)).collect())
        .collect()
}

/// Share of experts that two tasks keep both, in the mean over layers: task by task, in rows. On
/// the diagonal it is 1.
#[must_use]
pub fn overlap(patterns: &Patterns, kept: usize) -> Vec<Vec<f64>> {
    let kept = kept.clamp(1, patterns.experts());
    let sets = sets(patterns, kept);
    let all = (kept * patterns.layers().len()) as f64;
    let mut matrix = vec![vec![1.0; sets.len()]; sets.len()];
    for one in 0..sets.len() {
        for other in one + 1..sets.len() {
            let both = sets[one].iter().zip(&sets[other]);
            let shared: usize = both.map(|(one, other)| one.shared(other)).sum();
            matrix[one][other] = shared as f64 / all;
            matrix[other][one] = matrix[one][other];
        }
    }
    matrix
}

/// Specialisation of the experts of one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// The layer, as the source counts it.
    pub layer: u32,
    /// Experts that would carry the mass if all carried as much, in the mean over tasks: e to the
    /// entropy of the mass.
    pub effective: f64,
    /// Share of experts that two tasks keep both, in the mean over pairs of tasks; 1 for one task.
    pub overlap: f64,
    /// Experts that the tasks keep together.
    pub union: usize,
}

/// Specialisation of the experts, layer by layer.
#[must_use]
pub fn depth(patterns: &Patterns, kept: usize) -> Vec<Depth> {
    let kept = kept.clamp(1, patterns.experts());
    let tasks = patterns.tasks().len();
    let of_layer = |(place, layer): (usize, &u32)| {
        let sets: Vec<Set> = (0..tasks).map(|task| patterns.best(task, place, kept)).collect();
        let mut union = Set::of(patterns.experts(), []);
        sets.iter().for_each(|set| union.join(set));
        let (mut shared, mut pairs) = (0, 0);
        for (at, one) in sets.iter().enumerate() {
            for other in &sets[at + 1..] {
                shared += one.shared(other);
                pairs += 1;
            }
        }
        let entropy = |task| -> f64 {
            let mass = patterns.mass(task, place).into_iter().filter(|mass| *mass > 0.0);
            mass.map(|mass| -mass * libm::log(mass)).sum()
        };
        let effective = (0..tasks).map(|task| libm::exp(entropy(task))).sum::<f64>();
        Depth {
            layer: *layer,
            effective: effective / tasks as f64,
            overlap: if pairs == 0 { 1.0 } else { shared as f64 / (pairs * kept) as f64 },
            union: union.len(),
        }
    };
    patterns.layers().iter().enumerate().map(of_layer).collect()
}

/// Two experts of a layer that tasks keep together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The layer, as the source counts it.
    pub layer: u32,
    /// Both experts, the lower number first.
    pub experts: [usize; 2],
    /// Tasks that keep both.
    pub tasks: usize,
    /// That number over the one that chance gives: tasks of one x tasks of the other / all tasks.
    pub lift: f64,
}

/// The pairs of experts that tasks keep together most above chance, at most this many: those that
/// every task keeps say nothing and have a lift of 1.
#[must_use]
pub fn together(patterns: &Patterns, kept: usize, most: usize) -> Vec<Pair> {
    let (tasks, experts) = (patterns.tasks().len(), patterns.experts());
    let mut pairs: Vec<Pair> = Vec::new();
    for (place, layer) in patterns.layers().iter().enumerate() {
        // The tasks of each expert.
        let mut of_expert = vec![Vec::new(); experts];
        for task in 0..tasks {
            for expert in patterns.ranks(task, place).take(kept) {
                of_expert[expert].push(task);
            }
        }
        let counts: Vec<usize> = of_expert.iter().map(Vec::len).collect();
        let sets: Vec<Set> = of_expert.into_iter().map(|own| Set::of(tasks, own)).collect();
        for one in (0..experts).filter(|expert| counts[*expert] > 1) {
            for other in (one + 1..experts).filter(|expert| counts[*expert] > 1) {
                let both = sets[one].shared(&sets[other]);
                let chance = (counts[one] * counts[other]) as f64 / tasks as f64;
                if both > 1 {
                    let lift = both as f64 / chance;
                    pairs.push(Pair { layer: *layer, experts: [one, other], tasks: both, lift });
                }
            }
        }
        // What comes later can't bring back those that are behind.
        pairs.sort_by(|one, other| {
            other.lift.total_cmp(&one.lift).then(other.tasks.cmp(&one.tasks))
        });
        pairs.truncate(most);
    }
    pairs
}
