//! The solver beside a search through every layout.

use proptest::prelude::*;

use super::*;

/// The chunk of the last layer.
fn last_of_layers(chunks: &[Chunk]) -> usize {
    chunks.iter().rposition(|chunk| chunk.layers > 0).unwrap_or(0)
}

/// Every layout of a problem in which each chunk holds something.
fn every_layout(problem: &Problem) -> Vec<Vec<Chunk>> {
    let count = problem.bin_of.len();
    // The chunk of each part; parts are set one after the other.
    let mut all = Vec::new();
    let mut layers = vec![0; problem.layers()];
    every_ascending(&mut layers, 0, 0, count, &mut |layers| {
        let last = *layers.last().unwrap();
        let mut counts = vec![Chunk::default(); count];
        layers.iter().for_each(|chunk| counts[*chunk].layers += 1);
        for head in last..count {
            let mut counts = counts.clone();
            counts[head].heads += 1;
            every_mtp(problem.mtp, last, &mut counts, &mut all);
        }
    });
    all.retain(|chunks| chunks.iter().skip(1).all(|chunk| !chunk.is_empty()));
    all
}

fn every_ascending(
    places: &mut Vec<usize>,
    at: usize,
    from: usize,
    count: usize,
    found: &mut dyn FnMut(&[usize]),
) {
    if at == places.len() {
        return found(places);
    }
    for place in from..count {
        places[at] = place;
        every_ascending(places, at + 1, place, count, found);
    }
}

/// MTP layers one by one, each in any chunk from the last one's on, its head in any chunk after it.
fn every_mtp(left: usize, from: usize, counts: &mut Vec<Chunk>, all: &mut Vec<Vec<Chunk>>) {
    if left == 0 {
        all.push(counts.clone());
        return;
    }
    for layer in from..counts.len() {
        for head in layer..counts.len() {
            counts[layer].mtp += 1;
            counts[head].mtp_heads += 1;
            every_mtp(left - 1, layer, counts, all);
            counts[layer].mtp -= 1;
            counts[head].mtp_heads -= 1;
        }
    }
}

fn longest(problem: &Problem, chunks: &[Chunk]) -> f64 {
    problem.bin_lengths(chunks).into_iter().fold(0.0, f64::max)
}

/// Chunks down the stages again and again, down and up, or on p / 2 folded stages.
fn bins(stages: usize, rounds: usize, turns: bool) -> Vec<usize> {
    (0..stages * rounds)
        .map(|chunk| {
            let (round, place) = (chunk / stages, chunk % stages);
            if turns && round % 2 == 1 { stages - 1 - place } else { place }
        })
        .collect()
}

fn small_problem() -> impl Strategy<Value = Problem> {
    let length = || prop::sample::select(vec![0.25, 0.5, 0.9, 1.0, 1.1, 1.5, 2.5]);
    let lengths = (length(), length(), 0.0..0.3, length(), length(), length()).prop_map(
        |(lead, rest, embedding, head, mtp, mtp_head)| Lengths {
            lead,
            rest,
            embedding,
            head,
            mtp,
            mtp_head,
        },
    );
    let ends = prop_oneof![Just(Ends::Anywhere), Just(Ends::HeadsLast), Just(Ends::Last)];
    let sizes = (0_usize..5, 0_usize..6, 0_usize..3, 1_usize..4, 1_usize..4, any::<bool>());
    (lengths, sizes, ends).prop_map(|(lengths, (lead, rest, mtp, stages, rounds, turns), ends)| {
        Problem {
            lengths,
            lead,
            rest,
            mtp,
            bin_of: bins(stages, rounds, turns),
            bins: stages,
            ends,
            stages,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_layout_is_shorter_than_the_solvers(problem in small_problem()) {
        prop_assume!(problem.layers() > 0);
        let mut all = every_layout(&problem);
        all.retain(|chunks| problem.takes(&chunks[last_of_layers(chunks)..]));
        let best = all.iter().map(|chunks| longest(&problem, chunks)).reduce(f64::min);
        let found = solve(&problem);
        prop_assert_eq!(found.is_some(), best.is_some());
        if let (Some(found), Some(best)) = (found, best) {
            prop_assert!(found.exact);
            // Sums of the same numbers in another order.
            prop_assert!((found.longest - best).abs() < 1e-9, "{found:?} {best}");
            prop_assert!(longest(&problem, &found.chunks) <= found.longest);
            prop_assert!(all.contains(&found.chunks), "{found:?}");
            prop_assert!(problem.bound() <= found.longest + 1e-9);
        }
    }
}

const EQUAL: Lengths =
    Lengths { lead: 1.0, rest: 1.0, embedding: 0.0, head: 0.0, mtp: 0.0, mtp_head: 0.0 };

fn layers(problem: &Problem) -> Vec<usize> {
    solve(problem).unwrap().chunks.iter().map(|chunk| chunk.layers).collect()
}

#[test]
fn equal_parts_are_spread_evenly() {
    let problem = Problem {
        lengths: EQUAL,
        lead: 3,
        rest: 61,
        mtp: 0,
        bin_of: bins(16, 2, false),
        bins: 16,
        ends: Ends::Anywhere,
        stages: 16,
    };
    assert_eq!(layers(&problem), [2; 32]);
}

#[test]
fn neighbouring_chunks_are_alike_as_far_as_the_longest_stage_allows() {
    let lengths = Lengths { head: 1.5, ..EQUAL };
    let problem = Problem {
        lengths,
        lead: 0,
        rest: 61,
        mtp: 0,
        bin_of: bins(16, 2, true),
        bins: 16,
        ends: Ends::Anywhere,
        stages: 16,
    };
    let layers = layers(&problem);
    let changes = layers.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes <= 2, "{layers:?}");
}

#[test]
fn an_mtp_layer_keeps_its_head_where_splitting_wins_nothing() {
    let lengths = Lengths { head: 1.0, mtp: 1.0, mtp_head: 1.0, ..EQUAL };
    let problem = Problem {
        lengths,
        lead: 0,
        rest: 13,
        mtp: 1,
        bin_of: bins(4, 1, false),
        bins: 4,
        ends: Ends::Anywhere,
        stages: 4,
    };
    let found = solve(&problem).unwrap();
    assert!((found.longest - 4.0).abs() < 1e-12);
    let split = found.chunks.iter().filter(|chunk| chunk.mtp != chunk.mtp_heads).count();
    assert_eq!(split, 0, "{found:?}");
}

#[test]
fn more_chunks_than_parts_have_no_layout() {
    let problem = Problem {
        lengths: EQUAL,
        lead: 0,
        rest: 4,
        mtp: 0,
        bin_of: bins(8, 1, false),
        bins: 8,
        ends: Ends::Anywhere,
        stages: 8,
    };
    assert_eq!(solve(&problem), None);
}

#[test]
fn many_dense_layers_on_many_stages_still_get_a_layout() {
    let lengths = Lengths { lead: 0.7, head: 1.5, ..EQUAL };
    let problem = Problem {
        lengths,
        lead: 400,
        rest: 600,
        mtp: 2,
        bin_of: bins(500, 2, false),
        bins: 500,
        ends: Ends::Anywhere,
        stages: 500,
    };
    let found = solve(&problem).unwrap();
    assert!(!found.exact);
    assert_eq!(found.chunks.iter().map(|chunk| chunk.layers).sum::<usize>(), 1_000);
}

#[test]
fn thirteen_stages_of_four_layers_and_three_with_a_head_or_mtp_overflow_by_five_percent_of_flops() {
    // In MoE layers, by FLOPs at 8,192 tokens with full attention: the head 1.23, the MTP layer
    // with its projection 1.12; lead layers are as long as MoE layers.
    let lengths = Lengths { head: 1.23, mtp: 1.12, mtp_head: 1.23, ..EQUAL };
    let problem = Problem {
        lengths,
        lead: 3,
        rest: 58,
        mtp: 1,
        bin_of: bins(16, 2, false),
        bins: 16,
        ends: Ends::Anywhere,
        stages: 16,
    };
    let found = solve(&problem).unwrap();
    let overflow = found.longest / (problem.total() / 16.0) - 1.0;
    assert!((overflow - 0.048).abs() < 5e-4, "{overflow}");
    let mut held: Vec<f64> = problem.bin_lengths(&found.chunks);
    held.sort_by(f64::total_cmp);
    assert!(held[..13].iter().all(|bin| (bin - 4.0).abs() < 1e-9), "{held:?}");
    assert!(held[13..].iter().all(|bin| *bin > 4.0), "{held:?}");
}
