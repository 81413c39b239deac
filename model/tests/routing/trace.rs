//! What a trace holds and refuses.

use model::routing::{Pair, Trace, TraceFault};

#[test]
fn a_trace_gives_back_its_rows() {
    let trace = Trace::new([2, 2, 2], vec![1, 3, 2, 2, 4, 0, 0, 4]).unwrap();
    assert_eq!(trace.row(0, 0), [1, 3]);
    assert_eq!(trace.row(1, 1), [0, 4]);
    assert_eq!(trace.row(2, 0), [0_u32; 0]);
    assert_eq!(trace.row(0, 2), [0_u32; 0]);
    assert!(trace.is_dropless());
    assert_eq!(trace.faults(4, 1), []);
}

#[test]
fn copies_that_get_lost_are_found() {
    let trace = Trace::new([1, 2, 2], vec![1, 3, 2, 1]).unwrap();
    assert!(!trace.is_dropless());
    let lost = TraceFault::NotConserved { step: 0, layer: 1, found: 3, expected: 4 };
    assert_eq!(trace.faults(4, 1), [lost]);
    assert!(lost.to_string().contains("3 copies"), "{lost}");
    let crowded = TraceFault::TooManyTokens { step: 0, layer: 0, expert: 1, found: 3, tokens: 2 };
    assert_eq!(trace.faults(2, 2), [crowded, lost]);
}

#[test]
fn a_size_that_does_not_fit_is_refused() {
    assert_eq!(Trace::new([0, 1, 1], vec![]), Err(TraceFault::Empty));
    assert_eq!(
        Trace::new([1, 1, 2], vec![1]),
        Err(TraceFault::WrongLength { found: 1, expected: 2 })
    );
    assert_eq!(
        Trace::new([2, 1, 2], vec![1, 0, 0, 0]),
        Err(TraceFault::NoTokens { step: 1, layer: 0 })
    );
    for size in [[u64::MAX, u64::MAX, 2], [1, 5_000, 1], [1, 1, 70_000], [1 << 20, 1, 65]] {
        assert_eq!(Trace::counts(size), Err(TraceFault::TooLarge { size }));
    }
    assert_eq!(Trace::counts([1 << 20, 1, 64]), Ok(64 << 20));
}

#[test]
fn a_pair_must_name_two_experts_of_the_trace() {
    let trace = || Trace::new([1, 1, 3], vec![1, 1, 1]).unwrap();
    let pair = |layer, expert_a, expert_b| Pair { layer, expert_a, expert_b, tokens: 1 };
    assert_eq!(trace().with_pairs(vec![pair(0, 0, 2)]).unwrap().pairs(), [pair(0, 0, 2)]);
    for wrong in [pair(1, 0, 1), pair(0, 0, 3), pair(0, 1, 1)] {
        let found = trace().with_pairs(vec![pair(0, 0, 1), wrong]);
        assert_eq!(found, Err(TraceFault::WrongPair { pair: wrong }));
    }
}

#[test]
fn the_hash_is_of_content_and_shape() {
    let trace = |size, tokens: &[u32]| Trace::new(size, tokens.to_vec()).unwrap();
    let one = trace([1, 2, 2], &[1, 2, 3, 4]);
    assert_eq!(one.content_hash(), one.clone().content_hash());
    assert_eq!(one.content_hash().len(), 32);
    let others = [
        trace([2, 1, 2], &[1, 2, 3, 4]),
        trace([1, 2, 2], &[2, 1, 3, 4]),
        one.clone()
            .with_pairs(vec![Pair { layer: 0, expert_a: 0, expert_b: 1, tokens: 1 }])
            .unwrap(),
    ];
    for other in others {
        assert_ne!(one.content_hash(), other.content_hash());
    }
    let kept = one.clone().keeping_hash();
    assert_eq!((&kept, kept.content_hash()), (&one, one.content_hash()));
    let pair = vec![Pair { layer: 0, expert_a: 0, expert_b: 1, tokens: 1 }];
    let [kept, one] = [kept, one].map(|trace| trace.with_pairs(pair.clone()).unwrap());
    assert_eq!(kept.content_hash(), one.content_hash());
}
