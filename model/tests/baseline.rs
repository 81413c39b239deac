//! The layouts that the paper's baseline may have had.

use model::design::KnobId;
use model::design::ladder::{self, baseline};
use model::ground::knob::Value;
use model::{Plan, estimate};

#[test]
fn every_layout_is_a_baseline_on_4096_npus() {
    for design in baseline::layouts().unwrap() {
        assert_eq!(design.preset.id, ladder::START);
        for (knob, value) in [
            (KnobId::num_devices, Value::Integer(4_096)),
            (KnobId::virtual_pipeline_model_parallel_size, Value::Integer(1)),
            (KnobId::recompute_granularity, Value::Text("full".to_owned())),
            (KnobId::overlap_grad_reduce, Value::Flag(false)),
            (KnobId::overlap_param_gather, Value::Flag(false)),
            (KnobId::overlap_p2p_comm, Value::Flag(false)),
        ] {
            assert_eq!(design.get(knob), value, "{}", knob.id());
        }
    }
}

#[test]
fn no_layout_is_there_twice_and_the_ladders_own_is_among_them() {
    let all = baseline::layouts().unwrap();
    for (index, design) in all.iter().enumerate() {
        assert!(!all[..index].contains(design));
    }
    assert!(all.contains(&ladder::designs().unwrap()[0]));
}

#[test]
fn several_layouts_are_legal_and_fit() {
    let fit = |design: &&model::design::Design| {
        Plan::new(design).is_ok_and(|plan| estimate(&plan).metrics.fits)
    };
    let all = baseline::layouts().unwrap();
    assert!(all.iter().filter(fit).count() >= 4);
}
