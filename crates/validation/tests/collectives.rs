//! Collectives inside a node and exchanges of experts agree with measured ones that the constants
//! were not fitted to, and wrong physics shows.
#![cfg(feature = "runs")]

use std::collections::BTreeMap;

use model::catalogue::accelerator::{Accelerator, AcceleratorId};
use model::catalogue::fabric::{HYBRID_EP, TokenKernel};
use model::ground::axis::Collective;
use model::ground::choice::Choice;
use validation::kernels::collective::{self, COUNTED_BYTES, Call};
use validation::kernels::deepep::{self, Exchange, Kernel};

/// Median of the absolute error that every part, collective and size of group keeps to.
const TARGET: f64 = 0.2;

/// Least growth of the error of a broken constant's calls.
const CLEARLY: f64 = 0.05;

/// Least loss with a moved constant, over the fit's: rounding to three digits may cost the rest.
const ROUNDED: f64 = 0.999;

fn median(mut errors: Vec<f64>) -> f64 {
    assert!(!errors.is_empty(), "nothing is measured");
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

/// Median absolute error of the held-out calls that `keeps` says, on changed accelerators.
fn collective_error(keeps: impl Fn(&Call) -> bool, change: fn(&mut Accelerator)) -> f64 {
    let errors = collective::calls().iter().filter(|call| call.is_held_out && keeps(call));
    let of = |call: &Call| {
        let mut row = *call.accelerator.row();
        change(&mut row);
        call.error_on(&row).abs()
    };
    median(errors.map(of).collect())
}

/// Median absolute error of the held-out exchanges of experts that `keeps` says, on changed
/// accelerators.
fn exchange_error(keeps: impl Fn(&Exchange) -> bool, change: fn(&mut Accelerator)) -> f64 {
    let all = deepep::exchanges().iter();
    let held_out = all.filter(|exchange| exchange.is_held_out && exchange.counts());
    let of = |exchange: &Exchange| {
        let mut row = *exchange.accelerator.row();
        change(&mut row);
        exchange.error_on(&row).abs()
    };
    median(held_out.filter(|exchange| keeps(exchange)).map(of).collect())
}

#[test]
fn every_collective_of_every_part_and_group_size_is_within_a_fifth_from_64_kb_on() {
    let mut groups: BTreeMap<(&str, &str, u64), Vec<f64>> = BTreeMap::new();
    let calls = collective::calls().iter();
    for call in calls.filter(|call| call.is_held_out && call.bytes >= COUNTED_BYTES) {
        let key = (call.accelerator.name(), call.collective.name(), call.ranks);
        groups.entry(key).or_default().push(call.error_on(call.accelerator.row()).abs());
    }
    // Five parts with groups of 2, 4 and 8, two with 2 and 4, and four collectives.
    assert_eq!(groups.len(), 4 * (5 * 3 + 2 * 2));
    for (group, errors) in groups {
        let error = median(errors);
        assert!(error <= TARGET, "{group:?}: {error:.3}");
    }
}

#[test]
fn calls_of_little_data_take_what_they_are_measured_to_take() {
    let error = collective_error(|call| call.bytes < COUNTED_BYTES, |_| ());
    assert!(error <= TARGET, "{error:.3}");
}

#[test]
fn exchanges_of_experts_are_within_a_fifth_by_part_kernel_and_number_of_nodes() {
    let mut groups: BTreeMap<(&str, String, u64), Vec<f64>> = BTreeMap::new();
    let all = deepep::exchanges().iter();
    for exchange in all.filter(|exchange| exchange.is_held_out && exchange.counts()) {
        let kernel = format!("{:?}", exchange.kernel);
        let key = (exchange.accelerator.name(), kernel, exchange.domains);
        let error = exchange.error_on(exchange.accelerator.row()).abs();
        groups.entry(key).or_default().push(error);
    }
    for (group, errors) in groups {
        let error = median(errors);
        assert!(error <= TARGET, "{group:?}: {error:.3}");
    }
}

#[test]
fn dispatch_in_8_bits_takes_between_half_and_three_quarters_of_the_combine() {
    let of = |kernel: Kernel| {
        let all = deepep::exchanges().iter().filter(|exchange| exchange.counts());
        let of_v3 = all.filter(|exchange| exchange.hidden == 7_168 && exchange.topk == 8);
        let sum = |of_kernel: f64, exchange: &Exchange| {
            of_kernel + exchange.predicted_micros(exchange.accelerator.row(), &HYBRID_EP.get())
        };
        of_v3.filter(|exchange| exchange.kernel == kernel).fold(0.0, sum)
    };
    let ratio = of(Kernel::Dispatch) / of(Kernel::Combine);
    assert!((0.5..0.75).contains(&ratio), "{ratio:.3}");
}

/// DeepEP's own figures for DeepSeek-V3's shape on H800, which nothing was fitted to.
///
/// Source: DeepEP, README.md: bandwidth over NVLink or over the network, which counts a row for
/// each rank or node that a token goes to, the own one too.
#[test]
fn deepep_on_h800_is_within_a_fifth_of_what_its_authors_publish() {
    let published = [
        (1, Kernel::Dispatch, 153.0),
        (1, Kernel::Combine, 158.0),
        (4, Kernel::Dispatch, 58.0),
        (4, Kernel::Combine, 57.0),
        (8, Kernel::Dispatch, 51.0),
        (8, Kernel::Combine, 50.0),
    ];
    for (domains, kernel, gb_per_sec) in published {
        let exchange = Exchange {
            accelerator: AcceleratorId::H800Sxm80gb,
            kernel,
            ranks: 8 * domains,
            domains,
            hidden: 7_168,
            tokens: 4_096,
            topk: 8,
            multiprocessors: 24,
            experts: Some(256),
            micros: 1.0,
            is_held_out: true,
        };
        // Rows that the figures count: one for each rank or for each node that is visited.
        let visited = match domains {
            1 => model::catalogue::fabric::parts_visited(8.0, 8.0),
            _ => model::catalogue::fabric::parts_visited(domains as f64, 8.0).min(4.0),
        };
        let element = if kernel == Kernel::Dispatch { 1.03125 } else { 2.0 };
        let micros = 4_096.0 * 7_168.0 * element * visited / (gb_per_sec * 1e3);
        let error = (exchange.error_on(exchange.accelerator.row()) + 1.0) / micros - 1.0;
        assert!(error.abs() <= TARGET, "{domains} nodes, {kernel:?}: {error:+.3}");
    }
}

/// Breaking a constant so makes the predictions of these calls clearly worse.
#[track_caller]
fn check(keeps: impl Fn(&Call) -> bool + Copy, broken: fn(&mut Accelerator)) {
    let [before, after] = [collective_error(keeps, |_| ()), collective_error(keeps, broken)];
    assert!(after >= before + CLEARLY, "from {before:.3} to {after:.3}");
}

fn is_counted(call: &Call) -> bool {
    call.bytes >= COUNTED_BYTES
}

#[test]
fn a_link_at_half_its_rate_is_noticed() {
    check(is_counted, |row| row.intra_node_gb_per_sec /= 2.0);
    let broken = exchange_error(|_| true, |row| row.intra_node_gb_per_sec /= 2.0);
    assert!(broken >= exchange_error(|_| true, |_| ()) + CLEARLY, "{broken:.3}");
}

#[test]
fn a_missing_latency_is_noticed() {
    check(is_counted, |row| {
        for cost in [&mut row.fabric.ring, &mut row.fabric.all_to_all] {
            (cost.start_micros, cost.hop_micros) = (0.0, 0.0);
        }
    });
}

#[test]
fn a_set_up_of_107_microseconds_is_noticed() {
    check(is_counted, |row| row.fabric.ring.start_micros = 107.0);
}

#[test]
fn ignoring_what_a_rank_copies_for_itself_is_noticed_in_small_groups() {
    let keeps = |call: &Call| call.ranks == 2 && call.bytes >= 16e6;
    check(keeps, |row| {
        row.fabric.ring.own_share = 0.0;
        row.fabric.all_to_all.own_share = 0.0;
    });
}

/// Eight ranks alone reduce in the switch: for fewer a ring is as fast.
#[test]
fn ignoring_reduction_in_the_switch_is_noticed() {
    let keeps = |call: &Call| {
        let hopper = call.accelerator.row().fabric.name == "NVLink 4";
        let reduces = call.collective == Collective::AllReduce && call.ranks == 8;
        hopper && reduces && call.bytes >= 32e6
    };
    check(keeps, |row| row.fabric.switch = None);
}

#[test]
fn multiprocessors_that_cost_nothing_are_noticed() {
    let nothing = |row: &mut Accelerator| {
        let Some(kernels) = &mut row.fabric.token_kernels else { return };
        for kernel in [&mut kernels.dispatch, &mut kernels.combine] {
            kernel.kilobyte_micros = 0.0;
            kernel.copy_micros = 0.0;
        }
    };
    let [before, after] = [exchange_error(|_| true, |_| ()), exchange_error(|_| true, nothing)];
    assert!(after >= before + CLEARLY, "from {before:.3} to {after:.3}");
}

/// The constants are those of the fit, `calibrate --collectives`: none of them moved by a twentieth
/// predicts the half that they are fitted to any better.
#[test]
fn no_constant_of_a_collective_fits_better_elsewhere() {
    type Constant = fn(&mut Accelerator) -> &mut f64;
    let constants: [Constant; 10] = [
        |row| &mut row.fabric.ring.start_micros,
        |row| &mut row.fabric.ring.hop_micros,
        |row| &mut row.fabric.ring.own_share,
        |row| &mut row.fabric.ring.ramp_micros,
        |row| &mut row.intra_node_fraction,
        |row| &mut row.fabric.all_to_all.start_micros,
        |row| &mut row.fabric.all_to_all.hop_micros,
        |row| &mut row.fabric.all_to_all.own_share,
        |row| &mut row.fabric.all_to_all.ramp_micros,
        |row| &mut row.intra_all_to_all_fraction,
    ];
    for first in collective::FITTED {
        let least = collective::loss_of_fit(first.row());
        for (index, constant) in constants.iter().enumerate() {
            for factor in [0.95, 1.05] {
                let mut row = *first.row();
                *constant(&mut row) *= factor;
                let loss = collective::loss_of_fit(&row);
                assert!(loss >= least * ROUNDED, "{}, {index}: {loss} < {least}", row.fabric.name);
            }
        }
    }
}

#[test]
fn no_constant_of_deepep_fits_better_elsewhere() {
    type Constant = fn(&mut TokenKernel) -> &mut f64;
    let constants: [Constant; 5] = [
        |kernel| &mut kernel.start_micros,
        |kernel| &mut kernel.copy_micros,
        |kernel| &mut kernel.kilobyte_micros,
        |kernel| &mut kernel.copied_kilobyte_micros,
        |kernel| &mut kernel.fraction,
    ];
    for first in [AcceleratorId::H100Sxm80gb, AcceleratorId::B200] {
        let kernels = first.row().fabric.token_kernels.expect("DeepEP is measured");
        for (name, kernel) in
            [(Kernel::Dispatch, kernels.dispatch), (Kernel::Combine, kernels.combine)]
        {
            let least = deepep::loss_of_fit(first, name, kernel);
            for (index, constant) in constants.iter().enumerate() {
                for factor in [0.95, 1.05] {
                    let mut moved = kernel;
                    *constant(&mut moved) *= factor;
                    let loss = deepep::loss_of_fit(first, name, moved);
                    assert!(
                        loss >= least * ROUNDED,
                        "{first:?} {name:?}, {index}: {loss} < {least}"
                    );
                }
            }
        }
    }
}
