//! The ladder from the paper's baseline over its final run to the follow-up.

use model::design::ladder;
use model::design::{Design, KnobId};
use model::{Plan, estimate};

#[test]
fn the_ladder_passes_the_final_run_and_ends_at_the_follow_up() {
    let designs = ladder::designs().unwrap();
    for (rung, preset) in
        [(0, ladder::START), (ladder::TO_PAPER, ladder::PAPER), (ladder::RUNGS.len(), ladder::END)]
    {
        let wanted = Design::from_preset(preset).unwrap();
        for id in KnobId::ALL {
            assert_eq!(designs[rung].get(*id), wanted.get(*id), "{preset}: {}", id.id());
        }
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
