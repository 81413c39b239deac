//! What fills the fullest stage and what frees it: the numbers add up, the charts stay readable.

use model::answer::ledger::{Fate, Tensor};
use model::catalogue::preset::Preset;
use model::design::Design;
use model::ground::choice::RecomputeModule;
use model::ground::units::Bytes;
use model::{Content, Plan, estimate};
use present::charts;
use present::insight::memory_view::{
    Module, Price, composition, freed_by, is_on, pareto, prices, toggled,
};
use roxmltree::Document;

fn design(query: &str) -> Design {
    model::design::link::decode(query).expect("a link that decodes")
}

fn plan(design: &Design) -> Plan {
    Plan::new(design).expect("a legal design")
}

fn of(query: &str) -> present::insight::memory_view::Composition {
    let plan = plan(&design(query));
    composition(&plan, &estimate(&plan)).expect("a stage")
}

const FULL: &str = "?memory.recompute_granularity=full&memory.recompute_modules=none";
const PLAIN: &str =
    "?memory.recompute_granularity=none&memory.recompute_modules=none&memory.swap_modules=none";

#[test]
fn contents_add_up_to_the_peak_of_every_preset() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let found = of(&format!("?v=1&preset={}", preset.id));
        let sum: f64 = found.contents.iter().map(|part| part.bytes.get()).sum();
        let peak = found.stage.memory.peak().get();
        assert!((sum - peak).abs() <= 1e-9 * peak, "{}: {sum} {peak}", preset.id);
    }
}

#[test]
fn only_what_is_kept_takes_room_on_the_stage() {
    let found = of("");
    for tensor in found.tensors() {
        let mut saved = found.saved(tensor).filter_map(|(_, saved)| saved);
        let is_kept = saved.any(|saved| saved.fate == Fate::Kept);
        let on_stage = found.on_stage(Content::Saved(tensor)).get();
        assert!(is_kept || on_stage == 0.0, "{tensor:?}: {on_stage}");
    }
}

#[test]
fn whole_layer_recomputation_leaves_inputs_in_place_of_tensors() {
    let found = of(FULL);
    assert!(found.on_stage(Content::LayerInputs).get() > 0.0);
    assert!(!found.contents.iter().any(|part| matches!(part.content, Content::Saved(_))));
}

/// A module turned on and off again is the design as it was, and its price is that of the model.
#[test]
fn prices_are_the_differences_that_the_model_says() {
    for query in ["", PLAIN] {
        let design = design(query);
        let now = estimate(&plan(&design)).metrics;
        let prices = prices(&plan(&design));
        assert!(prices.len() > 3, "{prices:?}");
        for price in &prices {
            let other = toggled(&design, price.module);
            assert_eq!(is_on(&other, price.module), !price.is_on);
            assert_eq!(is_on(&design, price.module), price.is_on);
            let metrics = estimate(&plan(&other)).metrics;
            let sign = if price.is_on { -1.0 } else { 1.0 };
            let frees = (now.memory_peak.get() - metrics.memory_peak.get()) * sign;
            assert!((frees - price.frees.get()).abs() < 1.0, "{price:?}");
            assert!(((now.mfu - metrics.mfu) * sign - price.costs).abs() < 1e-12, "{price:?}");
        }
    }
}

#[test]
fn the_last_module_turned_off_leaves_no_recomputation() {
    let plain = design(PLAIN);
    let module = Module::Recompute(RecomputeModule::MoeAct);
    let on = toggled(&plain, module);
    assert!(is_on(&on, module));
    assert_eq!(toggled(&on, module), plain);
}

#[test]
fn whole_layers_leave_only_swaps_to_turn() {
    let prices = prices(&plan(&design(FULL)));
    assert!(prices.iter().all(|price| matches!(price.module, Module::Swap(_))), "{prices:?}");
}

#[test]
fn nothing_on_the_pareto_line_is_beaten() {
    let prices = prices(&plan(&design("")));
    let line = pareto(&prices);
    assert!(!line.is_empty());
    for best in &line {
        let beaten = |other: &Price| {
            other.frees.get() > best.frees.get() && other.costs <= best.costs
                || other.frees.get() >= best.frees.get() && other.costs < best.costs
        };
        assert!(!prices.iter().any(beaten), "{best:?}");
    }
}

#[test]
fn a_tensor_says_which_knobs_free_it() {
    let found = of("");
    let freed = |tensor| found.saved(tensor).find_map(|(_, saved)| saved.map(freed_by));
    assert_eq!(freed(Tensor::Probs).as_deref(), Some("recompute moe; swap probs"));
    let inputs = freed(Tensor::NormInputs);
    assert_eq!(inputs.as_deref(), Some("whole-layer recomputation only"));
}

/// Well-formed, without styles, every text and cell inside the drawing, no two texts on each other.
#[track_caller]
fn check(svg: &str) {
    for banned in ["NaN", "inf", "style=", "fill=", "id=", "-0\""] {
        assert!(!svg.contains(banned), "`{banned}` in {svg}");
    }
    let document = Document::parse(svg).expect("well-formed");
    let root = document.root_element();
    let view = root.attribute("viewBox").expect("a view box").split(' ');
    let view: Vec<i32> = view.map(|side| side.parse().expect("a number")).collect();
    let number = |node: roxmltree::Node<'_, '_>, name: &str| -> i32 {
        node.attribute(name).expect(name).parse().expect(name)
    };
    let mut texts: Vec<[i32; 4]> = Vec::new();
    for node in root.descendants() {
        if node.has_tag_name("rect") {
            let (x, y) = (number(node, "x"), number(node, "y"));
            assert!(x >= 0 && y >= 0, "{node:?}");
            assert!(x + number(node, "width") <= view[2], "{node:?}");
            assert!(y + number(node, "height") <= view[3], "{node:?}");
        }
        if node.has_tag_name("text") {
            let words = node.text().unwrap_or_default();
            let width = present::draw::text::text_width(words, 12);
            let x = match node.attribute("text-anchor") {
                Some("middle") => number(node, "x") - width / 2,
                Some("end") => number(node, "x") - width,
                _ => number(node, "x"),
            };
            let y = number(node, "y");
            let own = [x, y - 9, x + width, y + 2];
            assert!(x >= 0 && own[2] <= view[2], "`{words}` outside at {}", view[2]);
            let apart = |other: &[i32; 4]| {
                own[2] <= other[0] || other[2] <= own[0] || own[3] <= other[1] || other[3] <= own[1]
            };
            assert!(texts.iter().all(apart), "`{words}` collides at {}", view[2]);
            texts.push(own);
        }
    }
}

#[test]
fn both_charts_are_readable_at_any_width() {
    for query in
        ["", PLAIN, FULL, "?v=1&preset=deepseek-v3-2k-h800", "?training.micro_batch_size=4"]
    {
        let (found, prices) = (of(query), prices(&plan(&design(query))));
        for width in [288, 320, 480, 680, 1200] {
            check(&charts::memory_composition(&found, width));
            check(&charts::memory_tradeoff(&prices, width));
        }
    }
    check(&charts::memory_tradeoff(&[], 320));
}

#[test]
fn odd_prices_draw_a_chart_all_the_same() {
    let module = Module::Recompute(RecomputeModule::Moe);
    let odd = [(0.0, 0.0), (-1e9, -0.5), (1e15, 1.0), (f64::NAN, f64::INFINITY)];
    let prices: Vec<Price> = odd
        .into_iter()
        .map(|(frees, costs)| Price { module, is_on: false, frees: Bytes::new(frees), costs })
        .collect();
    check(&charts::memory_tradeoff(&prices[..1], 320));
    check(&charts::memory_tradeoff(&prices, 320));
}

#[test]
fn tables_have_a_cell_for_every_column() {
    let (found, prices) = (of(""), prices(&plan(&design(""))));
    for rows in [charts::memory_composition_table(&found), charts::memory_tradeoff_table(&prices)] {
        assert!(rows.len() > 3);
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{rows:?}");
    }
}
