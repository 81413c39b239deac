//! What a found design claims beyond everything that was published.

use alloc::format;
use alloc::string::String;

use crate::catalogue::calibration::ModelKind;
use crate::design::Design;
use crate::training::anchor;
use crate::training::estimate::Metrics;
use crate::training::plan::Plan;

/// A line for people where a design's MFU is above that of every published run on its family of
/// accelerators, of its kind of model and width of operands, all counted alike.
///
/// A search looks for the largest of thousands of predictions, which is where those that err
/// upwards are.
pub(super) fn above_published(design: &Design, metrics: &Metrics) -> Option<String> {
    let plan = Plan::new(design).ok()?;
    let best = anchor::best(&plan)?;
    let mfu = anchor::comparable_mfu(&plan, metrics);
    let models = match best.kind {
        ModelKind::Dense => "dense models",
        ModelKind::Experts => "mixtures of experts",
        ModelKind::Mixed => "models whose layers differ",
    };
    (mfu > best.mfu).then(|| {
        format!(
            "Higher MFU than any published run of {models} on {} in {} bits (best: {:.1} %, {}; \
             this: {:.1} %, counted alike): measure before you believe it",
            best.family,
            best.bits,
            best.mfu * 100.0,
            best.model,
            mfu * 100.0,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::step::estimate;

    #[test]
    fn only_what_is_above_every_published_run_is_said_to_be() {
        let design = Design::from_preset("mixtral-8x22b").expect("a preset");
        let mut design = design;
        design.set_text(crate::design::KnobId::accelerator, "h100-sxm-80gb").expect("a part");
        let plan = Plan::new(&design).expect("legal");
        let mut metrics = estimate(&plan).metrics;
        let best = anchor::best(&plan).expect("published runs on Hopper");
        let per_mfu =
            metrics.tokens_per_second_per_device / anchor::comparable_mfu(&plan, &metrics);
        metrics.tokens_per_second_per_device = per_mfu * best.mfu * 0.99;
        assert_eq!(above_published(&design, &metrics), None);
        metrics.tokens_per_second_per_device = per_mfu * best.mfu * 1.01;
        let said = above_published(&design, &metrics).expect("above");
        assert!(
            said.contains("on NVIDIA Hopper in 16 bits") && said.contains(best.model),
            "{said}"
        );
        // Whatever the design counts, the comparison is the same.
        design.training.peak_for_mfu = Some(500.0);
        assert_eq!(above_published(&design, &metrics), Some(said));
    }
}
