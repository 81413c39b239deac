//! Cells of two knobs: they hold what the designs in them hold, and an empty one says why.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use sweep::{Outcome, Pair, Space, Spec, Summary, bin_of, evaluate_with, infeasibility, pairs};

const SMALL: &str = r#"
schema = 1
objectives = ["mfu max", "memory_peak_bytes min"]
[design]
preset = "pangu-ultra-moe-6k"
[design.schedule]
timing = "closed_form"
[space.parallel]
tp = { powers_of_two = [1, 16] }
pp = [4, 8, 16]
ep = [16, 32, 48, 64]
noop_layers = { fill = "chunks" }
[space.training]
mbs = { from = 1, to = 40 }
"#;

/// For each design that keeps everything its coordinates, its index and the first objective.
type Kept = Vec<(Vec<usize>, u64, f64)>;

fn swept() -> (Space, Summary, Kept) {
    let space = Space::new(Spec::from_toml(SMALL).unwrap()).unwrap();
    let mut kept = Kept::new();
    let stop = AtomicBool::new(false);
    let summary = evaluate_with(&space, 0..space.num_points(), &stop, |outcome| {
        if let Outcome::Legal { index, coordinates, values, broken: None, .. } = outcome {
            kept.push((coordinates.to_vec(), *index, values[0]));
        }
    });
    (space, summary.unwrap(), kept)
}

fn cell(space: &Space, pair: &Pair, coordinates: &[usize]) -> [usize; 2] {
    pair.axes.map(|axis| bin_of(coordinates[axis], space.axes()[axis].values.len()))
}

#[test]
fn a_cell_has_the_count_and_the_best_of_its_designs() {
    let (space, summary, kept) = swept();
    assert!(kept.len() > 10, "{}", kept.len());
    assert_eq!(pairs(&space).len(), 6, "four knobs vary");
    for pair in pairs(&space) {
        let mut expected: BTreeMap<[usize; 2], (u64, f64, u64)> = BTreeMap::new();
        for (coordinates, index, mfu) in &kept {
            let cell = expected.entry(cell(&space, &pair, coordinates)).or_insert((0, f64::MIN, 0));
            *cell = if *mfu > cell.1 {
                (cell.0 + 1, *mfu, *index)
            } else {
                (cell.0 + 1, cell.1, cell.2)
            };
        }
        let found: BTreeMap<_, _> = summary
            .cells(&pair)
            .map(|(bins, cell)| (bins, (cell.feasible, cell.best.value, cell.best.index)))
            .collect();
        assert_eq!(found, expected, "{pair:?}");
    }
}

#[test]
fn an_empty_cell_says_which_rule_most_of_its_designs_break() {
    let (space, summary, _) = swept();
    let mut empty = 0;
    for pair in pairs(&space) {
        let filled: Vec<[usize; 2]> = summary.cells(&pair).map(|(bins, _)| bins).collect();
        for first in 0..pair.bins[0] {
            for second in 0..pair.bins[1] {
                if filled.contains(&[first, second]) {
                    continue;
                }
                empty += 1;
                let why = infeasibility(&space, &pair, [first, second], 12).unwrap();
                assert_eq!(why.tried, 12);
                assert!(summary.reasons.contains_key(&why.reason), "{why:?}");
            }
        }
    }
    assert!(empty > 5, "{empty}");
}

#[test]
fn long_axes_and_many_of_them_stay_small() {
    let knobs = ["tp", "pp", "ep", "mbs", "gbs", "vocab_size", "hidden_size", "num_layers"];
    let ranges = knobs.map(|knob| format!("{knob} = {{ from = 32, to = 91 }}\n")).concat();
    let text =
        format!("schema = 1\n[sampling]\nmethod = \"random\"\ncount = 10\n[space]\n{ranges}");
    let space = Space::new(Spec::from_toml(&text).unwrap()).unwrap();
    let cells: usize = pairs(&space).iter().map(|pair| pair.bins[0] * pair.bins[1]).sum();
    assert!((10_000..=20_000).contains(&cells), "{cells}");
}
