//! Sizes that a schedule can't have.

use model::Plan;
use model::design::Design;
use model::ground::choice::{Choice, Method};
use model::schedule::{Fault, Schedule};
use testing::design::from_preset;

use super::mended;

/// Knob and nearest value of every fault.
#[track_caller]
fn faults(method: Method, sizes: [u64; 3], group: Option<u64>) -> Vec<(&'static str, Option<u64>)> {
    let [stages, chunks, micro_batches] = sizes;
    let faults = Schedule::new(method, stages, chunks, micro_batches, group).unwrap_err();
    for fault in &faults {
        assert!(!fault.message.is_empty() && !fault.message.ends_with('.'), "{fault:?}");
    }
    faults.into_iter().map(|fault| (fault.knob, fault.nearest)).collect()
}

#[test]
fn every_broken_rule_is_named_at_once() {
    let all =
        [(Fault::STAGES, Some(6)), (Fault::CHUNKS, Some(1)), (Fault::MICRO_BATCHES, Some(10))];
    assert_eq!(faults(Method::DualPipe, [5, 3, 7], None)[..3], all);
    let none =
        [(Fault::STAGES, Some(1)), (Fault::CHUNKS, Some(1)), (Fault::MICRO_BATCHES, Some(1))];
    assert_eq!(faults(Method::Gpipe, [0, 0, 0], None), none);
}

#[test]
fn sizes_stay_within_the_bounds_of_the_knobs() {
    let most = [
        (Fault::STAGES, Some(1_024)),
        (Fault::CHUNKS, Some(256)),
        (Fault::MICRO_BATCHES, Some(16_777_216)),
    ];
    for method in [Method::Interleaved, Method::DualPipe, Method::ZbV] {
        assert_eq!(faults(method, [u64::MAX; 3], None), most);
    }
    assert!(Schedule::new(Method::Interleaved, 1_024, 256, 16_777_216, None).is_ok());
}

#[test]
fn a_method_has_its_number_of_chunks() {
    for method in [Method::Gpipe, Method::OneForwardOneBackward, Method::ZbH1, Method::Zb2p] {
        assert_eq!(faults(method, [4, 2, 8], None), [(Fault::CHUNKS, Some(1))]);
    }
    for method in [Method::ZbV, Method::VHalf, Method::VMin, Method::DualPipeV] {
        assert_eq!(faults(method, [4, 1, 8], None), [(Fault::CHUNKS, Some(2))]);
    }
}

#[test]
fn interleaving_without_a_group_needs_multiples_of_the_stages() {
    for method in [Method::Interleaved, Method::OneForwardOneBackwardOverlap] {
        for (m, nearest) in [(7, 8), (5, 4), (6, 8), (1, 4), (3, 4)] {
            let fault = (Fault::MICRO_BATCHES, Some(nearest));
            assert_eq!(faults(method, [4, 2, m], None), [fault], "{m}");
        }
        assert!(Schedule::new(method, 4, 1, 7, None).is_ok());
    }
}

#[test]
fn groups_fill_the_pipeline() {
    let method = Method::Interleaved;
    let group = |size, m| faults(method, [4, 2, m], Some(size));
    assert_eq!(group(3, 10), [(Fault::GROUP, Some(5))]);
    assert_eq!(group(11, 10), [(Fault::GROUP, Some(10))]);
    assert_eq!(group(7, 10), [(Fault::GROUP, Some(6))]);
    assert_eq!(group(4, 3), [(Fault::MICRO_BATCHES, Some(4))]);
    for (size, m) in [(4, 8), (5, 10), (6, 10), (10, 10), (4, 9_996)] {
        assert!(Schedule::new(method, 4, 2, m, Some(size)).is_ok());
    }
    let unused = [(Fault::GROUP, None)];
    assert_eq!(faults(method, [4, 1, 8], Some(4)), unused);
    assert_eq!(faults(Method::OneForwardOneBackward, [4, 1, 8], Some(4)), unused);
}

#[test]
fn dual_pipelines_need_micro_batches_from_both_ends() {
    assert_eq!(faults(Method::DualPipe, [3, 1, 8], None), [(Fault::STAGES, Some(4))]);
    assert_eq!(faults(Method::DualPipe, [4, 1, 9], None), [(Fault::MICRO_BATCHES, Some(10))]);
    assert_eq!(faults(Method::DualPipe, [4, 1, 6], None), [(Fault::MICRO_BATCHES, Some(8))]);
    assert_eq!(faults(Method::DualPipeV, [4, 2, 7], None), [(Fault::MICRO_BATCHES, Some(8))]);
    assert!(Schedule::new(Method::DualPipeV, 3, 2, 7, None).is_ok());
    assert!(Schedule::new(Method::DualPipeV, 1, 2, 1, None).is_ok());
}

#[test]
fn the_nearest_values_lead_to_a_schedule() {
    for method in Method::ALL {
        for stages in [0, 1, 3, 4, 1_023, u64::MAX] {
            for chunks in [0, 1, 2, 3, u64::MAX] {
                for micro_batches in [0, 1, 5, 8, 2_001, u64::MAX] {
                    for group in [None, Some(0), Some(3), Some(1_500), Some(u64::MAX)] {
                        let sizes = [stages, chunks, micro_batches];
                        assert_eq!(mended(*method, sizes, group).method(), *method);
                    }
                }
            }
        }
    }
    assert_eq!(Method::ALL.len(), 11);
}

/// A design of 8 GPUs a stage with these sizes of its schedule.
fn design(method: Method, sizes: [u64; 3], group: Option<u64>) -> Design {
    let [stages, chunks, micro_batches] = sizes;
    let settings = [
        ("num_layers", (stages * chunks).to_string()),
        ("num_devices", (stages * 8).to_string()),
        ("tensor_model_parallel_size", "1".to_owned()),
        ("sequence_parallel", "false".to_owned()),
        ("pipeline_model_parallel_size", stages.to_string()),
        ("virtual_pipeline_model_parallel_size", chunks.to_string()),
        ("global_batch_size", (micro_batches * 8).to_string()),
        (
            "microbatch_group_size_per_vp_stage",
            group.map_or_else(|| "none".to_owned(), |group| group.to_string()),
        ),
        ("timing", "simulated".to_owned()),
        ("method", method.name().to_owned()),
    ];
    let settings = settings.each_ref().map(|(knob, value)| (*knob, value.as_str()));
    from_preset("llama-3-8b", &settings)
}

/// Whatever a schedule of these sizes breaks, the design with them breaks, in the same words.
#[test]
fn a_design_says_of_its_schedule_what_the_schedule_says() {
    for method in Method::ALL {
        for (stages, chunks) in [(3, 1), (4, 1), (4, 2), (4, 3), (5, 2)] {
            for micro_batches in [3, 6, 8, 9, 13] {
                for group in [None, Some(4), Some(6), Some(9)] {
                    let sizes = [stages, chunks, micro_batches];
                    let faults = Schedule::new(*method, stages, chunks, micro_batches, group);
                    let faults = faults.err().unwrap_or_default();
                    let broken = Plan::new(&design(*method, sizes, group)).err();
                    let broken = broken.unwrap_or_default();
                    let what = format!("{method:?} {sizes:?} {group:?}: {broken:#?}");
                    assert_eq!(faults.is_empty(), broken.is_empty(), "{what}");
                    for fault in faults {
                        let said = broken.iter().any(|rule| rule.message == fault.message);
                        assert!(said, "{fault:?} {what}");
                    }
                }
            }
        }
    }
}

/// DualPipe's two directions share a step's micro-batches: an odd one has no direction.
#[test]
fn a_design_of_dualpipe_needs_an_even_number_of_micro_batches() {
    let broken = Plan::new(&design(Method::DualPipe, [4, 1, 9], None)).unwrap_err();
    assert_eq!(broken[0].rule, "schedule_has_enough_micro_batches");
    assert!(broken[0].message.contains("9 is not even"), "{}", broken[0].message);
    assert!(Plan::new(&design(Method::DualPipe, [4, 1, 10], None)).is_ok());
}
