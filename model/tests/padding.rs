//! MLA's heads padded to one width: what the kernel computes, what is saved and what is sent.

use model::answer::roofline::{Direction, Operator};
use model::ground::axis::Axis;
use model::training::estimate::Estimate;
use model::{Content, Plan, contents, estimate, roofline};
use testing::design::{self, from_preset};

const PADDED: (&str, &str) = ("mla_fa_without_pad", "false");

/// DeepSeek-V3, whose keys are 192 wide and values 128, with everything kept and these changes.
fn plan(changes: &[(&str, &str)]) -> Plan {
    let settings = [&[("recompute_granularity", "none")], changes].concat();
    design::plan(&from_preset("deepseek-v3", &settings))
}

/// Kernels of this name in the forward.
fn forward(plan: &Plan, name: &str) -> Vec<Operator> {
    let found = roofline(plan, &[]).operators;
    found.into_iter().filter(|it| it.name == name && it.direction == Direction::Forward).collect()
}

/// Depth of the scores' product and columns of the values'.
fn widths(plan: &Plan) -> [u64; 2] {
    let core = forward(plan, "Core attention");
    let products = core.iter().flat_map(|operator| &operator.products).collect::<Vec<_>>();
    let [scores, values] = products[..] else { panic!("two products") };
    [scores.k, values.n].map(|width| width as u64)
}

#[test]
fn the_attention_kernel_computes_as_wide_as_heads_are_padded() {
    let base = |length| [PADDED, ("padded_base_length", length)];
    assert_eq!(widths(&plan(&[])), [192, 128]);
    assert_eq!(widths(&plan(&[PADDED])), [256, 256]);
    // The keys' own width pads the values alone.
    assert_eq!(widths(&plan(&base("192"))), [192, 192]);
    assert_eq!(widths(&plan(&base("1024"))), [1024, 1024]);
    // Without flash attention nothing is padded, nor where keys are as wide as values.
    assert_eq!(widths(&plan(&[PADDED, ("flash_attention", "false")])), [192, 128]);
    assert_eq!(widths(&plan(&[PADDED, ("v_head_dim", "192")])), [192, 192]);
}

/// Bytes that a tensor takes on the first stage, over what it takes without padding.
fn growth(label: &str, changes: &[(&str, &str)]) -> f64 {
    let bytes = |plan: &Plan| {
        let estimate = estimate(plan);
        let parts = contents(plan, &estimate.stages[0]);
        let is_it = |content: Content| content.label() == label;
        let part = parts.iter().find(|part| is_it(part.content)).expect("a tensor");
        part.bytes.get()
    };
    bytes(&plan(changes)) / bytes(&plan(&[]))
}

#[test]
fn padded_heads_are_saved_and_so_is_the_output_that_the_kernel_wrote() {
    for (label, asked) in [
        ("queries", 256.0 / 192.0),
        ("keys and values", 512.0 / 320.0),
        ("attention output", (256.0 + 128.0) / 128.0),
        ("norm inputs", 1.0),
    ] {
        let grown = growth(label, &[PADDED]);
        assert!((grown - asked).abs() < 1e-9, "{label}: {grown}, not {asked}");
    }
}

#[test]
fn padded_keys_and_values_go_round_the_ring() {
    let sent = |changes: &[(&str, &str)]| {
        let ring = [&[("context_parallel_size", "2"), ("context_parallel_algo", "p2p")], changes];
        let Estimate { communication, .. } = estimate(&plan(&ring.concat()));
        let rows = communication.into_iter().filter(|row| row.axis == Axis::Cp);
        rows.map(|row| row.bytes.get()).sum::<f64>()
    };
    let ratio = sent(&[PADDED]) / sent(&[]);
    assert!((ratio - 512.0 / 320.0).abs() < 1e-9, "{ratio}");
}

#[test]
fn padding_copies_are_counted_and_useful_flops_stay() {
    let [plain, padded] = [plan(&[]), plan(&[PADDED])];
    let moved = |plan: &Plan, name: &str| {
        let all = forward(plan, name).into_iter().filter(|operator| operator.products.is_empty());
        all.map(|operator| operator.bytes.get()).sum::<f64>()
    };
    let copied = |name| moved(&padded, name) - moved(&plain, name);
    // Tokens and heads of a device, two bytes an element.
    let queries = moved(&plain, "Query projection") / (2.0 * 192.0);
    for (name, elements) in [
        ("Query projection", 192.0 + 256.0),
        ("Key and value projection", (192.0 + 256.0) + (128.0 + 256.0)),
        ("Core attention", 2.0 * 128.0),
    ] {
        let off = copied(name) / (queries * elements) - 1.0;
        assert!(off.abs() < 1e-9, "{name}: {} for {}", copied(name), queries * elements);
    }
    let [plain, padded] = [&plain, &padded].map(|plan| estimate(plan).metrics);
    assert_eq!(plain.flops_per_token, padded.flops_per_token);
    assert!(padded.mfu < plain.mfu && padded.step_time > plain.step_time);
}
