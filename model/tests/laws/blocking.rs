//! What a host that waits for each kernel leaves nothing of: work on a second stream.

use model::ground::axis::{Axis, LinkLevel};
use model::ground::choice::{Method, ShardingStrategy};
use model::training::estimate::StepPart;

use super::*;

/// The design with launches that block and without the overlaps that need them not to.
fn blocking(design: &Design) -> Option<Design> {
    let mut design = design.clone();
    design.kernel.launch_blocking = true;
    if runs_pairs(&design) {
        design.schedule.method = Method::OneForwardOneBackward;
    }
    let schedule = &mut design.schedule;
    schedule.overlap_p2p_comm = false;
    schedule.overlap_grad_reduce = false;
    schedule.overlap_param_gather = false;
    schedule.tp_comm_overlap = false;
    schedule.overlap_moe_expert_parallel_comm = false;
    schedule.moe_shared_expert_overlap = false;
    schedule.moe_alltoall_overlap_comm = false;
    schedule.delay_wgrad_compute = false;
    Plan::new(&design).is_ok().then_some(design)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Sequence parallelism's collectives, a ring of CP, dispatch and combine, sends, copies to
    /// the host, gradients and parameters: all is waited for, and nothing runs beside a kernel.
    #[test]
    fn blocking_launches_hide_nothing(design in legal_design()) {
        let Some(design) = blocking(&design) else { return Ok(()) };
        let estimate = estimate(&plan(&design));
        for axes in [
            &[Axis::Tp][..], &[Axis::Cp], &[Axis::Ep], &[Axis::Pp], &[Axis::Host],
            &[Axis::Dp, Axis::Edp],
        ] {
            let rows = || estimate.communication.iter().filter(|row| axes.contains(&row.axis));
            let exposed: f64 = rows().map(|row| row.exposed.get()).sum();
            let on = |inside: bool| -> f64 {
                let rows = rows().filter(|row| (row.link == LinkLevel::IntraNode) == inside);
                rows.map(|row| row.time.get()).sum()
            };
            // One collective may use both levels at once. What goes once a step is listed by the
            // slowest stage of each kind; every micro-batch's parameters by the slowest stage,
            // while the mean one waits.
            let once = design.parallel.data_parallel_sharding_strategy as u8
                <= ShardingStrategy::Optim as u8;
            let largest = rows().map(|row| row.time.get()).fold(0.0, f64::max);
            let least = match axes[0] {
                Axis::Ep => on(true).max(on(false)),
                Axis::Dp | Axis::Edp => if once { largest } else { 0.0 },
                Axis::Tp | Axis::Cp | Axis::Pp | Axis::Host => on(true) + on(false),
            };
            prop_assert!(exposed >= least * (1.0 - 1e-9), "{axes:?}: {exposed} of {least}");
        }
        prop_assert!(estimate.step.part(StepPart::Contention).get().abs() <= 1e-12);
    }

    /// A copy that is asked for ahead starts no earlier, and takes no room.
    #[test]
    fn blocking_launches_leave_nothing_of_prefetching(design in legal_design()) {
        let Some(mut design) = blocking(&design) else { return Ok(()) };
        design.memory.swap_prefetch = false;
        let Ok(without) = Plan::new(&design) else { return Ok(()) };
        design.memory.swap_prefetch = true;
        let Ok(with) = Plan::new(&design) else { return Ok(()) };
        let [with, without] = [with, without].map(|plan| estimate(&plan).metrics);
        prop_assert_eq!(with.step_time, without.step_time);
        prop_assert_eq!(with.memory_peak, without.memory_peak);
    }

    /// Nothing is faster for it.
    #[test]
    fn blocking_launches_never_make_a_step_shorter(design in legal_design()) {
        let Some(blocked) = blocking(&design) else { return Ok(()) };
        let mut free = blocked.clone();
        free.kernel.launch_blocking = false;
        let Ok(free) = Plan::new(&free) else { return Ok(()) };
        let seconds = |plan: &Plan| estimate(plan).metrics.step_time.get();
        let (blocked, free) = (seconds(&plan(&blocked)), seconds(&free));
        prop_assert!(blocked >= free * (1.0 - 1e-9), "{blocked} {free}");
    }
}
