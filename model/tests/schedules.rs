//! Pipeline schedules: their orders, their simulation, their published formulas and their rules.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]
#![expect(clippy::float_cmp, reason = "sums of binary fractions are exact")]

#[path = "schedules/closed_forms.rs"]
mod closed_forms;
#[path = "schedules/faults.rs"]
mod faults;
#[path = "schedules/in_flight.rs"]
mod in_flight;
#[path = "schedules/orders.rs"]
mod orders;
#[path = "schedules/simulation.rs"]
mod simulation;

use model::ground::choice::{Choice, Method};
use model::schedule::{ChunkTimes, Fault, Schedule, StageSeconds, Timeline, Times};
use proptest::prelude::*;

/// Forward, input and weight gradients of one unit each.
const UNIT: StageSeconds = ChunkTimes { forward: 1.0, input_grad: 1.0, weight_grad: 1.0 };

#[track_caller]
fn schedule(method: Method, stages: u64, chunks: u64, micro_batches: u64) -> Schedule {
    Schedule::new(method, stages, chunks, micro_batches, None).unwrap()
}

/// Runs on equal stages without P2P.
fn run(schedule: Schedule, stage: StageSeconds, pair: Option<f64>) -> Timeline {
    schedule.simulate(&Times::equal(&schedule, stage, pair, 0.0))
}

/// The chunks per stage that a method always has; none if it takes any number.
fn fixed_chunks(method: Method) -> Option<u64> {
    match method {
        Method::Gpipe
        | Method::OneForwardOneBackward
        | Method::ZbH1
        | Method::Zb2p
        | Method::DualPipe => Some(1),
        Method::ZbV | Method::VHalf | Method::VMin | Method::DualPipeV => Some(2),
        Method::Interleaved | Method::OneForwardOneBackwardOverlap => None,
    }
}

/// Every schedule of few stages and micro-batches.
fn small() -> impl Iterator<Item = Schedule> {
    let sizes = (1..=7).flat_map(|stages| (1..=17).map(move |micro| (stages, micro)));
    sizes.flat_map(|(stages, micro_batches)| {
        Method::ALL.iter().flat_map(move |method| {
            (1..=4).flat_map(move |chunks| {
                let groups = [None].into_iter().chain((1..=micro_batches).map(Some));
                groups.filter_map(move |group| {
                    Schedule::new(*method, stages, chunks, micro_batches, group).ok()
                })
            })
        })
    })
}

/// The schedule, with what breaks its rules replaced by the nearest that the faults name.
fn mended(method: Method, mut sizes: [u64; 3], mut group: Option<u64>) -> Schedule {
    for _ in 0..4 {
        let [stages, chunks, micro_batches] = sizes;
        match Schedule::new(method, stages, chunks, micro_batches, group) {
            Ok(schedule) => return schedule,
            Err(faults) => {
                for fault in faults {
                    match (fault.knob, fault.nearest) {
                        (Fault::STAGES, Some(nearest)) => sizes[0] = nearest,
                        (Fault::CHUNKS, Some(nearest)) => sizes[1] = nearest,
                        (Fault::MICRO_BATCHES, Some(nearest)) => sizes[2] = nearest,
                        (Fault::GROUP, nearest) => group = nearest,
                        _ => panic!("no way out of {fault:?}"),
                    }
                }
            }
        }
    }
    panic!("{method:?} {sizes:?} {group:?} can't be mended");
}

/// A schedule of any method.
fn any_schedule() -> impl Strategy<Value = Schedule> {
    let group = prop::option::of(0_u64..40);
    (prop::sample::select(Method::ALL), [0_u64..17, 0..6, 0..60], group)
        .prop_map(|(method, sizes, group)| mended(method, sizes, group))
}

/// Times of all chunks and pairs, some of them zero.
fn any_times(schedule: Schedule) -> impl Strategy<Value = Times> {
    let c = schedule.chunks_per_stage();
    let places = schedule.stages() * c;
    let seconds = || prop_oneof![1 => Just(0.0), 9 => 0.001..10.0_f64];
    let chunk = (seconds(), seconds(), seconds()).prop_map(|(forward, input_grad, weight_grad)| {
        ChunkTimes { forward, input_grad, weight_grad }
    });
    let pairs = prop_oneof![
        Just(Vec::new()),
        seconds().prop_map(|all| vec![all]),
        prop::collection::vec(seconds(), places * c),
    ];
    (prop::collection::vec(chunk, places), pairs, seconds())
        .prop_map(|(chunks, pairs, p2p)| Times { chunks, pairs, p2p })
}
