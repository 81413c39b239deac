//! Designs one degree, micro-batch, number of chunks or schedule away from another.

use alloc::vec::Vec;

use super::space::{Space, is_folded};
use crate::design::{Design, KnobId};
use crate::ground::choice::Method;
use crate::ground::knob::Value;
use crate::layer::layout;
use crate::training::plan::Plan;

impl Space {
    /// Chooses the layouts that a design one move away may need.
    pub(super) fn lay_out_around(&mut self, plan: &Plan, design: &Design) {
        let parallel = &design.parallel;
        let (pp, each) =
            (parallel.pipeline_model_parallel_size, parallel.virtual_pipeline_model_parallel_size);
        let mut sizes = Vec::from([(pp * 2, each), (pp, each)]);
        sizes.extend(pp.is_multiple_of(2).then_some((pp / 2, each)));
        let eaches = [each + 1, each * 2, each / 2, each - 1];
        sizes.extend(eaches.into_iter().filter(|it| *it > 0).map(|it| (pp, it)));
        let methods = [design.schedule.method, Method::OneForwardOneBackward, Method::DualPipeV];
        for (stages, each) in sizes {
            for method in methods {
                if !self.has_cut(stages, each, method) && stages * each <= layout::slots(&self.base)
                {
                    self.lay_out_one(Some(plan), stages, each, method);
                }
            }
        }
    }

    /// The designs one degree, micro-batch, number of chunks or schedule away from one, legal or
    /// not; all else stays.
    pub(super) fn moved(&self, design: &Design) -> Vec<Design> {
        let mut found = Vec::new();
        for knob in [
            KnobId::tensor_model_parallel_size,
            KnobId::pipeline_model_parallel_size,
            KnobId::virtual_pipeline_model_parallel_size,
            KnobId::context_parallel_size,
            KnobId::expert_model_parallel_size,
            KnobId::expert_tensor_parallel_size,
            KnobId::micro_batch_size,
        ] {
            let Value::Integer(now) = design.get(knob) else { continue };
            if !self.is_free(knob) {
                continue;
            }
            let by_one = knob == KnobId::virtual_pipeline_model_parallel_size;
            let one = if by_one { [now.saturating_sub(1), now + 1] } else { [0, 0] };
            let halved = if now.is_multiple_of(2) { now / 2 } else { 0 };
            let mut values = Vec::from([halved, now * 2]);
            values.extend(one);
            values.retain(|value| *value > 0);
            values.dedup();
            for value in values {
                let mut changed = design.clone();
                if changed.set(knob, &Value::Integer(value)).is_ok() {
                    self.follow(design, &mut changed);
                    found.push(changed);
                }
            }
        }
        if self.is_free(KnobId::method) {
            let own = design.schedule.method;
            for variant in self.variants(design.parallel.pipeline_model_parallel_size) {
                if variant.chunks == design.parallel.virtual_pipeline_model_parallel_size
                    && variant.method != own
                {
                    let mut changed = design.clone();
                    changed.schedule.method = variant.method;
                    self.follow(design, &mut changed);
                    found.push(changed);
                }
            }
        }
        found.dedup();
        found.retain(|changed| self.keeps(changed));
        found
    }

    /// Lets follow what has to where degrees or schedule of a design have moved: SP, the schedule
    /// of several chunks, the layout.
    fn follow(&self, before: &Design, design: &mut Design) {
        let (was, parallel) = (&before.parallel, &mut design.parallel);
        if was.tensor_model_parallel_size != parallel.tensor_model_parallel_size
            && self.is_free(KnobId::sequence_parallel)
        {
            parallel.sequence_parallel = parallel.tensor_model_parallel_size > 1;
            design.schedule.tp_comm_overlap &= parallel.sequence_parallel;
        }
        let each = parallel.virtual_pipeline_model_parallel_size;
        let stages = parallel.pipeline_model_parallel_size;
        if self.is_free(KnobId::method) && before.schedule.method == design.schedule.method {
            let method = &mut design.schedule.method;
            if *method == Method::OneForwardOneBackward && each > 1 {
                *method = Method::Interleaved;
            } else if *method == Method::Interleaved && each == 1 {
                *method = Method::OneForwardOneBackward;
            }
        }
        let laid_out = [was.pipeline_model_parallel_size, was.virtual_pipeline_model_parallel_size]
            != [stages, each]
            || is_folded(before.schedule.method) != is_folded(design.schedule.method);
        if laid_out && self.is_free(KnobId::pipeline_model_parallel_layout) {
            self.cut(design);
        }
    }
}
