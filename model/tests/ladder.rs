//! The ladder from the paper's baseline to its final run.

use model::design::{Design, KnobId};
use model::preset::ladder;
use model::{Plan, estimate};

#[test]
fn the_ladder_ends_at_the_final_run() {
    let last = ladder::designs().unwrap().pop().unwrap();
    let end = Design::from_preset(ladder::END).unwrap();
    for id in KnobId::ALL {
        assert_eq!(last.get(*id), end.get(*id), "{}", id.id());
    }
}

#[test]
fn every_rung_of_the_ladder_is_legal() {
    for design in ladder::designs().unwrap() {
        assert!(Plan::new(&design).is_ok());
    }
}

#[test]
fn the_ladder_rises_from_its_start_to_its_end() {
    let mfu = |design: &Design| estimate(&Plan::new(design).unwrap()).metrics.mfu;
    let designs = ladder::designs().unwrap();
    assert!(mfu(&designs[designs.len() - 1]) > 1.3 * mfu(&designs[0]));
}
