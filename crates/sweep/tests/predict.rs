//! What a sweep says of a design is what `moescape predict` says of it: a plan from scratch and its
//! estimate, to the bit.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use model::metric::{MetricId, Regime};
use model::{Plan, estimate};
use sweep::{Outcome, Space, Spec, outcomes, published};

/// A published spec with every metric as a column, so that nothing goes unseen.
fn space(name: &str, sampling: &str) -> Space {
    let text = published().iter().find(|spec| spec.name == name).unwrap().text;
    let all: Vec<String> = MetricId::of(Regime::Training)
        .filter(|id| *id != MetricId::fits)
        .map(|id| format!("{:?}", id.metric().name))
        .collect();
    let kept = text.lines().filter(|line| !line.starts_with("columns"));
    let lines: Vec<&str> = kept.collect();
    let columns = format!("schema = 1\ncolumns = [{}]", all.join(", "));
    let text = lines.join("\n").replacen("schema = 1", &columns, 1);
    Space::new(Spec::from_toml(&format!("{text}\n{sampling}")).unwrap()).unwrap()
}

/// Holds the legal designs of some places against the model; how many there are.
#[track_caller]
fn checked(space: &Space, places: Range<u64>) -> usize {
    let mut legal = 0;
    outcomes(space, places, &AtomicBool::new(false), |outcome| {
        let Outcome::Legal { index, values, .. } = outcome else { return };
        let plan = Plan::new(&space.design(index)).unwrap();
        let metrics = estimate(&plan).metrics;
        for (id, value) in space.spec().columns.iter().zip(values) {
            let Some(number) = metrics.number(*id) else { continue };
            assert_eq!(number.to_bits(), value.to_bits(), "{index} {id:?}: {number} {value}");
        }
        legal += 1;
    });
    legal
}

#[test]
fn a_thousand_random_strategies_are_as_predicted() {
    let sampling = "[sampling]\nmethod = \"random\"\ncount = 12000\nseed = 7\n";
    let space = space("pangu-strategy", sampling);
    let legal = checked(&space, 0..space.num_points());
    assert!(legal >= 1_000, "{legal}");
}

#[test]
fn neighbouring_strategies_are_as_predicted() {
    let space = space("pangu-strategy", "");
    // Stretches all over the space; a step that shares no factor with an axis.
    let starts = (0..40).map(|stretch| stretch * 917_503 % (space.num_points() - 300));
    let legal: usize = starts.map(|start| checked(&space, start..start + 300)).sum();
    assert!(legal >= 1_000, "{legal}");
}

#[test]
fn architectures_are_as_predicted() {
    let sampling = "[sampling]\nmethod = \"random\"\ncount = 150\nseed = 7\n";
    let sampled = space("pangu-architecture", sampling);
    let grid = space("pangu-architecture", "");
    let legal = checked(&sampled, 0..150) + checked(&grid, 9_000..9_150);
    assert_eq!(legal, 300);
}
