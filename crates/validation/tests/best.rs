//! The best published runs that the model holds are those of the table of runs.

#![cfg(feature = "runs")]

use validation::{anchors, runs, validate};

const HELD: &str = include_str!("../../../model/src/training/anchor/best.rs");

/// `UPDATE_GOLDEN=1` in front writes it.
#[test]
fn the_best_of_each_kind_is_what_the_published_runs_say() {
    let best = anchors::best(&validate(runs::published()).rows);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../model/src/training/anchor/best.rs");
        std::fs::write(path, &best).expect("the model's source can be written");
    } else {
        assert!(best == HELD, "cargo xtask calibrate writes it:\n{best}");
    }
}
