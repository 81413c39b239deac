//! Rooflines: no point is above its roof, and the operators' times are the compute of the step.

use model::answer::roofline::{Direction, Unit};
use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::training::estimate::StepPart;
use model::{Plan, estimate, roofline};

/// Every preset, as it is and with changes that reach other kernels.
fn plans() -> impl Iterator<Item = Plan> {
    const CHANGES: [&[(&str, &str)]; 7] = [
        &[],
        &[("moe_grouped_gemm", "false"), ("fused_rms_norm", "false")],
        &[("flash_attention", "false")],
        &[("mla_fa_without_pad", "false")],
        &[("precision", "fp8_blockwise")],
        &[("balance", "skewed"), ("timing", "closed_form")],
        &[("gmm_add", "false"), ("moe_permute_fusion", "false"), ("timing", "closed_form")],
    ];
    let presets = Preset::all().filter(|preset| preset.refused.is_none());
    presets.flat_map(|preset| {
        CHANGES.iter().filter_map(|changes| {
            let mut design = preset.design();
            for (name, value) in *changes {
                let knob = KnobId::find(name).expect("a knob");
                design.set_text(knob, value).ok()?;
            }
            Plan::new(&design).ok()
        })
    })
}

#[test]
fn no_operator_and_no_exchange_is_above_its_roof() {
    let mut seen = 0;
    for plan in plans() {
        let id = plan.design().preset.id;
        let found = roofline(&plan, &estimate(&plan).communication);
        for operator in &found.operators {
            let name = format!("{id}: {} {:?}", operator.name, operator.direction);
            assert!(operator.memory_share(found.memory) <= 1.0 + 1e-9, "{name}: memory");
            if operator.flops.get() > 0.0 {
                let attainable = operator.attainable(found.memory).get();
                let achieved = operator.achieved().get();
                assert!(achieved <= attainable * (1.0 + 1e-9), "{name}: {achieved} {attainable}");
            }
            seen += 1;
        }
        for point in &found.exchanges {
            let (achieved, attainable) = (point.achieved().get(), point.attainable().get());
            assert!(achieved <= attainable * (1.0 + 1e-9), "{id}: {:?}", point.row);
        }
    }
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn the_operators_take_what_the_step_spends_on_compute() {
    for plan in plans() {
        let estimate = estimate(&plan);
        let parts = [StepPart::Ideal, StepPart::Kernels, StepPart::Vector];
        let compute: f64 = parts.map(|part| estimate.step.part(part).get()).iter().sum();
        let sum = roofline(&plan, &estimate.communication).compute().get();
        let off = (sum - compute).abs() / compute;
        assert!(off < 1e-9, "{}: {sum} is not {compute}", plan.design().preset.id);
    }
}

#[test]
fn the_products_of_an_operator_have_its_operations() {
    for plan in plans() {
        let found = roofline(&plan, &[]);
        let cube = found.operators.iter().filter(|operator| operator.unit == Unit::Cube);
        for operator in cube {
            let products: f64 = operator.products.iter().map(|product| product.flops()).sum();
            let flops = operator.flops.get();
            let off = (products - flops).abs() / flops;
            assert!(off < 1e-9, "{} {:?}", operator.name, operator.direction);
        }
    }
}

#[test]
fn a_backward_takes_twice_the_products_of_its_forward() {
    let plan = Plan::new(&Design::from_preset("deepseek-v3").expect("a preset")).expect("legal");
    let found = roofline(&plan, &[]);
    let flops = |name: &str, direction: Direction| {
        let mut all = found.operators.iter();
        let it =
            all.find(|it| it.name == name && it.direction == direction && it.unit == Unit::Cube);
        it.expect("an operator").flops.get()
    };
    for name in ["Experts", "Output projection", "Head and loss", "Router"] {
        let ratio = flops(name, Direction::Backward) / flops(name, Direction::Forward);
        assert!((ratio - 2.0).abs() < 1e-9, "{name}: {ratio}");
    }
    let core = flops("Core attention", Direction::Backward);
    // Queries and keys are 192 wide, values 128: (3 x 192 + 2 x 128) / (192 + 128).
    assert!((core / flops("Core attention", Direction::Forward) - 2.6).abs() < 1e-9);
}
