//! Drops, groups and the reach of an auxiliary loss.

use model::ground::choice::{AuxLoss, Choice};
use model::routing::aux_loss::{Ranks, scope, strictness};
use model::routing::capacity::{
    capacity, drop_curve, drop_ratio, factor_for_drop_ratio, mean_drop_ratio,
};
use model::routing::group::{expected_groups, groups_fill_devices, limited_groups};
use model::routing::{Generator, Placement, Size, Trace};

use super::{generated, size};

#[test]
fn a_capacity_is_rounded_up_and_drops_what_is_above() {
    assert!((capacity(1.2, 16.0, 4.0) - 5.0).abs() < 1e-12);
    // Capacity 5 keeps 5, 5, 2 and 1 of 16.
    assert!((drop_ratio(&[8, 5, 2, 1], 1.2) - 3.0 / 16.0).abs() < 1e-12);
    assert!(drop_ratio(&[4, 4, 4, 4], 1.0).abs() < 1e-12);
    assert!(drop_ratio(&[], 1.0).abs() < 1e-12);
}

#[test]
fn a_larger_factor_never_drops_more() {
    let trace = generated(&Generator::default(), &size(2, 8));
    let curve: Vec<(f64, f64)> = drop_curve(&trace, 3.0, 21).collect();
    assert!((curve[0].0 - 1.0).abs() < 1e-12 && (curve[20].0 - 3.0).abs() < 1e-12);
    assert!(curve[0].1 > 0.05);
    assert!(curve.windows(2).all(|pair| pair[1].1 <= pair[0].1));
}

#[test]
fn the_factor_of_a_share_drops_that_share() {
    let trace = generated(&Generator::default(), &size(2, 8));
    for share in [0.06, 0.08] {
        let factor = factor_for_drop_ratio(&trace, share);
        println!("factor for {share} dropped at the default skew: {factor:.3}");
        assert!(mean_drop_ratio(&trace, factor, 0) <= share);
        assert!(mean_drop_ratio(&trace, factor - 0.002, 0) > share);
    }
}

#[test]
fn groups_visited_are_those_of_drawing_without_putting_back() {
    // Two of four experts in two groups: the second is in the other group twice in three.
    assert!((expected_groups(4, 2, 2) - (1.0 + 2.0 / 3.0)).abs() < 1e-12);
    assert!((expected_groups(256, 8, 1) - 1.0).abs() < 1e-12);
    assert!((expected_groups(8, 8, 8) - 8.0).abs() < 1e-12);
    // DeepSeek-V3: 8 of 256 experts in 8 groups, at most 4 groups.
    let (free, limited) = (expected_groups(256, 8, 8), limited_groups(256, 8, 4, 8));
    assert!(limited < 4.0 && 4.0 < free && free < 8.0, "{limited} {free}");
}

#[test]
fn balanced_groups_on_devices_leave_no_imbalance() {
    let generator = Generator { skew: 1.0, groups: 8, ..Generator::default() };
    let size = Size { experts: 64, topk: 8, ..size(2, 3) };
    let trace = generated(&generator, &size);
    let placement = Placement::contiguous(64, 8, 0);
    let mut loads = Vec::new();
    for (_, row) in trace.rows() {
        placement.device_tokens(row, &mut loads);
        assert!(loads.iter().all(|load| load.to_bits() == loads[0].to_bits()), "{loads:?}");
        assert!(row.iter().any(|count| *count != row[0]));
    }
    assert!(groups_fill_devices(8, 8) && groups_fill_devices(8, 4));
    assert!(!groups_fill_devices(8, 16) && !groups_fill_devices(8, 0));
}

#[test]
fn a_stricter_loss_balances_over_fewer_tokens() {
    let ranks = Ranks {
        seq_length: 8_192.0,
        micro_batch_size: 2.0,
        sequence: 8.0,
        expert: 32.0,
        data: 48.0,
        experts: 256.0,
    };
    let mut losses: Vec<AuxLoss> = AuxLoss::ALL.to_vec();
    losses.retain(|loss| strictness(*loss).is_some());
    losses.sort_by_key(|loss| strictness(*loss));
    let tokens: Vec<f64> = losses.iter().map(|loss| scope(*loss, &ranks).tokens).collect();
    assert_eq!(tokens, [8_192.0, 16_384.0, 65_536.0, 786_432.0]);
    let group = scope(AuxLoss::EpGroup, &ranks);
    assert!((group.ranks - 32.0).abs() < 1e-12 && (group.bytes - 1_024.0).abs() < 1e-12);
    assert!(scope(AuxLoss::None, &ranks).bytes.abs() < 1e-12);
}

#[test]
fn drops_of_a_recorded_row_are_counted_from_a_step_on() {
    let trace = Trace::new([2, 1, 2], vec![4, 0, 2, 2]).unwrap();
    assert!((mean_drop_ratio(&trace, 1.0, 0) - 0.25).abs() < 1e-12);
    assert!(mean_drop_ratio(&trace, 1.0, 1).abs() < 1e-12);
    assert!(mean_drop_ratio(&trace, 1.0, 9).abs() < 1e-12);
}
