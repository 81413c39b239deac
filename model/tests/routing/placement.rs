//! Plans keep what they must and stay near the best one.

use model::routing::measure::{coefficient_of_variation, imbalance, imbalance_score};
use model::routing::{Placement, lower_bound};
use proptest::prelude::*;

fn loads_of(placement: &Placement, loads: &[f64]) -> Vec<f64> {
    let mut sums = Vec::new();
    placement.device_loads(loads, &mut sums);
    sums
}

fn most(loads: &[f64]) -> f64 {
    loads.iter().copied().fold(0.0, f64::max)
}

/// The fullest device of the best plan, by trying all.
fn optimum(loads: &[f64], devices: usize, slots: usize) -> f64 {
    fn place(rest: &[f64], sums: &mut [f64], held: &mut [usize], slots: usize, best: &mut f64) {
        let Some((first, rest)) = rest.split_first() else {
            *best = best.min(most(sums));
            return;
        };
        for device in 0..sums.len() {
            if held[device] < slots && sums[device] + first < *best {
                sums[device] += first;
                held[device] += 1;
                place(rest, sums, held, slots, best);
                sums[device] -= first;
                held[device] -= 1;
            }
            if held[device] == 0 {
                // Empty devices are alike.
                break;
            }
        }
    }
    let mut sorted = loads.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let mut best = f64::INFINITY;
    place(&sorted, &mut vec![0.0; devices], &mut vec![0; devices], slots, &mut best);
    best
}

/// Whole loads, so that sums are exact.
fn small_case() -> impl Strategy<Value = (Vec<f64>, usize)> {
    (2..5_usize, 1..4_usize).prop_flat_map(|(devices, slots)| {
        let experts = devices * slots;
        (prop::collection::vec((1..1_000_u32).prop_map(f64::from), experts), Just(devices))
    })
}

proptest! {
    #[test]
    fn greedy_stays_within_its_bound_of_the_best_plan((loads, devices) in small_case()) {
        let slots = loads.len() / devices;
        let found = most(&loads_of(&Placement::greedy(&loads, devices, 0), &loads));
        let best = optimum(&loads, devices, slots);
        let m = devices as f64;
        let bound = match slots {
            1 | 2 => 1.0,
            _ => 4.0 / 3.0 - 1.0 / (3.0 * m),
        };
        prop_assert!(found <= best * bound + 1e-9, "{found} over {best}");
        let low = lower_bound(&loads, devices, slots);
        prop_assert!(low <= best + 1e-9 && best <= found + 1e-9, "{low} {best} {found}");
    }

    #[test]
    fn greedy_with_four_slots_stays_within_the_general_bound(
        loads in prop::collection::vec((1..1_000_u32).prop_map(f64::from), 8),
    ) {
        let found = most(&loads_of(&Placement::greedy(&loads, 2, 0), &loads));
        let best = optimum(&loads, 2, 4);
        prop_assert!(found <= best * (7.0 / 3.0 - 1.0 / 6.0), "{found} over {best}");
    }

    #[test]
    fn greedy_without_short_slots_is_lpt(
        loads in prop::collection::vec((1..1_000_u32).prop_map(f64::from), 1..9),
        devices in 2..5_usize,
    ) {
        // Zero loads fill up so many slots that those of real experts are never short.
        let mut padded = loads.clone();
        padded.resize(loads.len() * devices, 0.0);
        let found = most(&loads_of(&Placement::greedy(&padded, devices, 0), &padded));
        let best = optimum(&loads, devices, loads.len());
        let bound = 4.0 / 3.0 - 1.0 / (3.0 * devices as f64);
        prop_assert!(found <= best * bound + 1e-9, "{found} over {best}");
    }

    #[test]
    fn every_plan_keeps_experts_slots_and_tokens(
        loads in prop::collection::vec(0..1_000_u32, 1..70),
        devices in 1..9_usize,
        redundant in 0..20_usize,
    ) {
        let real: Vec<f64> = loads.iter().map(|load| f64::from(*load)).collect();
        let plans = [
            Placement::contiguous(loads.len(), devices, redundant),
            Placement::greedy(&real, devices, redundant),
        ];
        for plan in plans {
            prop_assert_eq!(plan.devices(), devices);
            let mut seen = vec![0; loads.len()];
            for device in 0..devices {
                prop_assert!(plan.device(device).count() <= plan.slots_per_device());
                plan.device(device).for_each(|expert| seen[expert as usize] += 1);
            }
            let held: u32 = seen.iter().sum();
            prop_assert!(held as usize <= loads.len() + redundant);
            for (expert, count) in seen.into_iter().enumerate() {
                prop_assert!(count > 0 && count == plan.copies(expert));
            }
            let mut tokens = Vec::new();
            plan.device_tokens(&loads, &mut tokens);
            let (found, all) = (tokens.iter().sum::<f64>(), real.iter().sum::<f64>());
            prop_assert!((found - all).abs() < 1e-6, "{found} of {all}");
        }
    }

    #[test]
    fn moves_lead_from_one_plan_to_the_other(
        one in prop::collection::vec(0.0..1.0_f64, 24),
        other in prop::collection::vec(0.0..1.0_f64, 24),
        redundant in prop::sample::select(vec![0_usize, 4, 8]),
    ) {
        let from = Placement::greedy(&one, 4, redundant);
        let to = Placement::greedy(&other, 4, redundant);
        let mut held: Vec<Vec<u32>> = (0..4).map(|device| from.device(device).collect()).collect();
        for step in from.moves_to(&to) {
            prop_assert!(from.device(step.from as usize).any(|expert| expert == step.expert));
            prop_assert!(!held[step.to as usize].contains(&step.expert));
            held[step.to as usize].push(step.expert);
        }
        for (device, held) in held.iter().enumerate() {
            let all = to.device(device).all(|expert| held.contains(&expert));
            prop_assert!(all, "device {device} lacks an expert");
        }
        prop_assert!(from.moves_to(&from).is_empty());
    }
}

#[test]
fn copies_of_a_busy_expert_stand_on_different_devices() {
    let loads = [90.0, 10.0, 10.0, 10.0];
    let plan = Placement::greedy(&loads, 4, 4);
    assert_eq!(plan.copies(0), 4);
    for device in 0..4 {
        assert_eq!(plan.device(device).filter(|expert| *expert == 0).count(), 1);
    }
    let sums = loads_of(&plan, &loads);
    assert!(imbalance(&sums) < imbalance(&loads_of(&Placement::greedy(&loads, 4, 0), &loads)));
}

#[test]
fn measures_of_known_loads_are_known() {
    let loads = [1.0, 3.0];
    assert!((imbalance(&loads) - 1.5).abs() < 1e-12);
    assert!((imbalance_score(&loads, 4.0) - 0.5).abs() < 1e-12);
    assert!((coefficient_of_variation(&loads) - 0.5).abs() < 1e-12);
    for even in [vec![], vec![0.0, 0.0], vec![2.0, 2.0, 2.0]] {
        assert!((imbalance(&even) - 1.0).abs() < 1e-12);
        assert!(imbalance_score(&even, 4.0).abs() < 1e-12);
        assert!(coefficient_of_variation(&even).abs() < 1e-12);
    }
}
