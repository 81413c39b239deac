//! The charts as a reader meets them: every text in its place, at any width and number of stages.

#[path = "charts/compared.rs"]
mod compared;

use model::catalogue::preset::Preset;
use model::design::Design;
use model::ground::axis::{Axis, Collective, LinkLevel};
use model::ground::units::{Bytes, Seconds};
use model::training::estimate::{Communication, Estimate, StepPart};
use model::{Plan, StageLoad, estimate, layout_loads};
use present::charts;
use present::draw::text;
use roxmltree::{Document, Node};
use testing::page::Page as Html;

const WIDTHS: [u32; 6] = [288, 320, 360, 640, 960, 1200];
const STAGES: [u32; 8] = [1, 2, 8, 16, 17, 64, 200, 1024];

fn plan() -> Plan {
    let design = Design::from_preset("pangu-ultra-moe-6k").expect("the preset exists");
    Plan::new(&design).expect("the preset is legal")
}

/// Stages that get emptier along the pipeline, the last one fuller again.
fn with_stages(num_stages: u32, activations_gib: f64) -> Estimate {
    let mut estimate = estimate(&plan());
    let first = estimate.stages[0];
    let stage = |index: u32| {
        let mut stage = first;
        stage.stage = index;
        let along = f64::from(index) / f64::from(num_stages);
        stage.memory.activations = Bytes::gib(activations_gib * (1.0 - 0.7 * along));
        if index + 1 == num_stages {
            stage.memory.buffers = Bytes::gib(9.0);
        }
        stage
    };
    estimate.stages = (0..num_stages).map(stage).collect();
    estimate
}

fn with_communication(count: usize, bytes: f64) -> Estimate {
    let mut estimate = estimate(&plan());
    let axes = [Axis::Tp, Axis::Cp, Axis::Ep, Axis::Pp, Axis::Dp, Axis::Edp, Axis::Host];
    let links = [LinkLevel::IntraNode, LinkLevel::InterNode, LinkLevel::Host];
    let collectives =
        [Collective::ReduceScatter, Collective::AllToAll, Collective::P2p, Collective::Copy];
    let row = |index: usize| Communication {
        axis: axes[index % axes.len()],
        link: links[index % links.len()],
        collective: collectives[index % collectives.len()],
        bytes_per_call: Bytes::new(bytes / 100.0),
        bytes: Bytes::new(bytes / (index + 1) as f64),
        time: Seconds::new(2.0),
        exposed: Seconds::new(2.0 / (index + 1) as f64),
    };
    estimate.communication = (0..count).map(row).collect();
    estimate
}

fn parts(kernels: f64, others: f64) -> Vec<(StepPart, Seconds)> {
    let seconds = |part| {
        if part == StepPart::Ideal {
            10.0
        } else if part == StepPart::Kernels {
            kernels
        } else if part == StepPart::Stragglers {
            1e-5
        } else {
            others
        }
    };
    StepPart::ALL.into_iter().map(|part| (part, Seconds::new(seconds(part)))).collect()
}

/// Left, top, right and bottom of a text, by the table that the charts are laid out with.
#[derive(Debug)]
struct TextBox {
    text: String,
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

fn number(node: Node<'_, '_>, name: &str) -> i32 {
    node.attribute(name).expect(name).parse().expect(name)
}

fn text_box(node: Node<'_, '_>) -> TextBox {
    let text = node.text().unwrap_or_default().to_owned();
    let size = text::TEXT_SIZE;
    let is_bold = node.attribute("class").is_some_and(|class| class.contains("chart-strong"));
    let measure = if is_bold { text::bold_width } else { text::text_width };
    let width = measure(&text, size);
    let (x, baseline) = (number(node, "x"), number(node, "y"));
    let left = match node.attribute("text-anchor") {
        Some("middle") => x - width / 2,
        Some("end") => x - width,
        _ => x,
    };
    // Digits and capitals reach 0.73 of the size above the baseline, commas 0.2 below.
    let (top, bottom) = (baseline - size * 73 / 100, baseline + size / 5);
    TextBox { text, left, top, right: left + width, bottom }
}

/// Checks what holds for every chart, and gives its texts.
#[track_caller]
fn check(svg: &str) -> Vec<TextBox> {
    for banned in
        ["NaN", "inf", "style=", "fill=", "stroke=\"", "id=", "rgb", "\"-0\"", ",-0\"", " -0\""]
    {
        assert!(!svg.contains(banned), "`{banned}` in {svg}");
    }
    let document = Document::parse(svg).expect("well-formed");
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    assert!(root.attribute("aria-label").is_some_and(|label| label.len() > 10), "{svg}");
    let view: Vec<i32> = root
        .attribute("viewBox")
        .expect("a view box")
        .split(' ')
        .map(|side| side.parse().expect("a number"))
        .collect();
    let (width, height) = (view[2], view[3]);

    let nodes = || root.descendants();
    let texts: Vec<TextBox> =
        nodes().filter(|node| node.has_tag_name("text")).map(text_box).collect();
    for text in &texts {
        let inside = text.left >= 0 && text.right <= width && text.top >= 0;
        assert!(inside && text.bottom <= height, "{text:?} outside of {view:?}");
    }
    for (index, one) in texts.iter().enumerate() {
        for other in &texts[index + 1..] {
            let beside = one.right <= other.left || other.right <= one.left;
            let above = one.bottom <= other.top || other.bottom <= one.top;
            assert!(beside || above, "{one:?} collides with {other:?} at width {width}");
        }
    }
    for node in nodes().filter(|node| node.has_tag_name("rect")) {
        let (x, y) = (number(node, "x"), number(node, "y"));
        let (right, bottom) = (x + number(node, "width"), y + number(node, "height"));
        assert!(x >= 0 && y >= 0 && right <= width && bottom <= height, "{node:?} is cut off");
    }
    // Each text is of the picture's size.
    assert_eq!(number(root, "font-size"), text::TEXT_SIZE);
    assert!(!nodes().skip(2).any(|node| node.has_attribute("font-size")));
    texts
}

fn has(texts: &[TextBox], words: &str) -> bool {
    texts.iter().any(|text| text.text == words)
}

fn titles(svg: &str) -> usize {
    Html::new(svg).count("svg title")
}

#[test]
fn memory_is_readable_at_any_width_and_number_of_stages() {
    for width in WIDTHS {
        for num_stages in STAGES {
            for activations in [0.0, 30.0, 46.5, 47.2, 60.0, 5000.0] {
                let svg =
                    charts::memory_by_stage(&with_stages(num_stages, activations), None, width);
                let texts = check(&svg);
                assert!(has(&texts, "Limit 60.3 GiB"), "{texts:?}");
                assert!(has(&texts, "60.3"), "the axis names the limit: {texts:?}");
                assert!(has(&texts, "GiB per device"));
                assert!(has(&texts, "0"), "the first stage is named: {texts:?}");
            }
        }
    }
}

#[test]
fn every_stage_has_a_bar_while_bars_are_wide_enough() {
    for num_stages in [1, 8, 16, 64] {
        let svg = charts::memory_by_stage(&with_stages(num_stages, 30.0), None, 360);
        assert_eq!(titles(&svg), num_stages as usize);
    }
    let svg = charts::memory_by_stage(&with_stages(1024, 30.0), None, 360);
    assert!(titles(&svg) <= 120, "neighbours share a bar");
    assert!(svg.contains("a bar is the fullest of"));
}

#[test]
fn what_is_over_the_limit_is_marked_by_more_than_a_color() {
    let fits = charts::memory_by_stage(&with_stages(16, 30.0), None, 640);
    assert!(!fits.contains("chart-over") && fits.contains("all fit"));
    let over = charts::memory_by_stage(&with_stages(16, 60.0), None, 640);
    let (fits, over) = (Html::new(&fits), Html::new(&over));
    assert!(over.has("path.chart-stroke.chart-hatch") && !fits.has(".chart-hatch"), "hatched");
    assert!(over.has("text.chart-over.chart-strong"), "its number is bold");
    assert!(over.says("over the limit"), "{}", over.words());
}

#[test]
fn a_bar_tells_its_own_numbers() {
    let svg = charts::memory_by_stage(&with_stages(16, 30.0), None, 640);
    let document = Document::parse(&svg).expect("well-formed");
    let title = document.descendants().find(|node| node.has_tag_name("title"));
    let title = title.and_then(|node| node.text()).expect("a title");
    assert!(title.starts_with("Stage 0: "), "{title}");
    assert!(title.contains("Activations 30.0 GiB"), "{title}");
}

/// Left, top, right and bottom of the bars in a chart's titled groups, group by group.
fn bars(svg: &str) -> Vec<Vec<[i32; 4]>> {
    let document = Document::parse(svg).expect("well-formed");
    let groups = document.descendants().filter(|node| node.has_tag_name("g"));
    let corners = |node: Node<'_, '_>| {
        let (x, y) = (number(node, "x"), number(node, "y"));
        [x, y, x + number(node, "width"), y + number(node, "height")]
    };
    let bars = |group: Node<'_, '_>| {
        group.children().filter(|node| node.has_tag_name("rect")).map(corners).collect()
    };
    groups.map(bars).collect()
}

/// Height of the line of the limit.
fn limit_y(svg: &str) -> i32 {
    let document = Document::parse(svg).expect("well-formed");
    let is_limit = |node: &Node<'_, '_>| {
        node.attribute("class") == Some("chart-stroke chart-limit") && node.has_tag_name("polyline")
    };
    let line = document.descendants().rfind(is_limit).expect("the line of the limit");
    let points = line.attribute("points").expect("points");
    points.rsplit(',').next().expect("a height").parse().expect("a number")
}

#[test]
fn bars_are_as_tall_as_their_numbers() {
    for activations in [10.0, 30.0, 60.0] {
        let estimate = with_stages(16, activations);
        let svg = charts::memory_by_stage(&estimate, None, 640);
        let stages = bars(&svg);
        let foot = stages[0].iter().map(|bar| bar[3]).max().expect("bars");
        let limit = f64::from(foot - limit_y(&svg));
        for (bars, stage) in stages.iter().zip(&estimate.stages) {
            let top = bars.iter().map(|bar| bar[1]).min().expect("bars");
            let wanted = limit * (stage.memory.peak() / estimate.metrics.memory_limit);
            assert!((f64::from(foot - top) - wanted).abs() <= 2.0, "{top} {wanted}");
        }
    }
}

#[test]
fn bars_of_a_step_are_as_long_as_their_share() {
    let rows = bars(&charts::waterfall(&parts(7.0, 0.5), 640));
    let lengths: Vec<f64> = rows.iter().map(|bars| f64::from(bars[0][2] - bars[0][0])).collect();
    let whole = lengths[lengths.len() - 1];
    let total = 10.0 + 7.0 + 14.0 * 0.5;
    assert!((lengths[0] / whole - 10.0 / total).abs() < 0.01, "{lengths:?}");
    assert!((lengths[1] / whole - 7.0 / total).abs() < 0.01, "{lengths:?}");
    assert_eq!(rows[0][0][2], rows[1][0][0], "each starts where the one before ends");
}

#[test]
fn bars_of_communication_are_as_long_as_their_traffic() {
    let rows = bars(&charts::communication(&with_communication(4, 4e11), None, 960));
    let length = |bars: &Vec<[i32; 4]>| {
        let right = bars.iter().map(|bar| bar[2]).max().expect("bars");
        f64::from(right - bars.iter().map(|bar| bar[0]).min().expect("bars"))
    };
    let ratio = length(&rows[1]) / length(&rows[0]);
    assert!((ratio - 0.5).abs() < 0.01, "{ratio}");
    // Half of the second one is exposed.
    let hidden = f64::from(rows[1][0][2] - rows[1][0][0]) / length(&rows[1]);
    assert!((hidden - 0.5).abs() < 0.02, "{hidden}");
}

#[test]
fn no_letter_stands_on_the_line_of_the_limit() {
    for tenths in (300..1700).step_by(5) {
        let svg = charts::memory_by_stage(&with_stages(8, f64::from(tenths) / 10.0), None, 640);
        let line = limit_y(&svg);
        for text in check(&svg) {
            let crosses = text.top < line && line < text.bottom;
            assert!(!crosses || text.text == "60.3", "{text:?} at {tenths}");
        }
    }
}

#[test]
fn letters_repeat_the_colors_of_the_stack() {
    for (num_stages, bars) in [(8, 8), (64, 1)] {
        let texts = check(&charts::memory_by_stage(&with_stages(num_stages, 30.0), None, 640));
        let letters = texts.iter().filter(|text| text.text == "A").count();
        assert!(letters > bars, "one in the legend and {bars} on the bars, not {letters}");
    }
}

#[test]
fn a_step_is_readable_at_any_width() {
    for width in WIDTHS {
        for (kernels, others) in [(7.0, 0.5), (-2.0, 0.5), (0.0, 1e-6), (1e7, 1e5), (1e-4, 40.0)] {
            let svg = charts::waterfall(&parts(kernels, others), width);
            let texts = check(&svg);
            assert!(has(&texts, "Step") && has(&texts, "100.0 %"), "{texts:?}");
        }
        check(&charts::step_breakdown(&estimate(&plan()), width));
    }
}

#[test]
fn parts_without_time_are_left_out() {
    let texts = check(&charts::waterfall(&parts(0.0, 0.5), 640));
    assert!(!has(&texts, "Kernels") && has(&texts, "EP"));
}

#[test]
fn a_gain_points_back_and_is_negative() {
    let texts = check(&charts::waterfall(&parts(-2.0, 0.5), 640));
    assert!(has(&texts, "−2.00 s"), "{texts:?}");
}

#[test]
fn the_parts_of_a_step_add_up_to_all_of_it() {
    let table = charts::step_breakdown_table(&estimate(&plan()));
    let shares = table[1..table.len() - 1].iter().map(|row| {
        row[3].trim_end_matches(" %").trim_start_matches('<').parse::<f64>().expect("a share")
    });
    let sum: f64 = shares.sum();
    assert!((sum - 100.0).abs() < 1.0, "{sum}");
    assert_eq!(table[table.len() - 1][3], "100.0 %");
}

#[test]
fn a_short_step_is_told_in_milliseconds() {
    let short: Vec<_> = parts(7.0, 0.5).into_iter().map(|(part, s)| (part, s * 1e-3)).collect();
    let texts = check(&charts::waterfall(&short, 640));
    assert!(has(&texts, "10.0 ms") && has(&texts, "Milliseconds"), "{texts:?}");
}

#[test]
fn communication_is_readable_at_any_width() {
    for width in WIDTHS {
        for (count, bytes) in [(1, 4e11), (5, 1e3), (12, 4e11), (28, 9e16)] {
            let estimate = with_communication(count, bytes);
            let svg = charts::communication(&estimate, None, width);
            check(&svg);
            assert_eq!(titles(&svg), count);
            assert_eq!(charts::communication_table(&estimate).len(), count + 1);
        }
    }
}

#[test]
fn the_exposed_share_is_hatched() {
    let mut estimate = with_communication(1, 4e11);
    let hatches = |estimate: &Estimate| {
        charts::communication(estimate, None, 640).matches("chart-hatch").count()
    };
    assert_eq!(hatches(&estimate), 2, "one in the legend, one on the bar");
    estimate.communication[0].exposed = Seconds::ZERO;
    assert_eq!(hatches(&estimate), 1);
}

#[test]
fn the_bubble_is_readable_at_any_width() {
    let plan = plan();
    let estimate = estimate(&plan);
    for width in WIDTHS {
        let svg = charts::Bubbles::new(&plan, &estimate).chart(None, width);
        let texts = check(&svg);
        let now = plan.num_microbatches().to_string();
        assert!(has(&texts, &now), "the design's own number is on the axis: {texts:?}");
        assert_eq!(svg.matches("stroke-width=\"2\"").count(), 2 + 2, "two lines and their keys");
    }
}

/// A ladder that rises and falls, with long and short titles.
fn rungs(mfus: &[f64]) -> Vec<charts::Rung> {
    let titles = ["0  Baseline", "1  Fine-grained recomputation instead of whole layers, at once"];
    let rung = |(index, mfu): (usize, &f64)| charts::Rung {
        title: titles[index % 2].to_owned(),
        mfu: *mfu,
        published: (index == 0 || index + 1 == mfus.len()).then_some(0.25),
        range: (index == 0).then_some((0.1, 0.3)),
    };
    mfus.iter().enumerate().map(rung).collect()
}

#[test]
fn a_ladder_is_readable_at_any_width() {
    let bad = [f64::NAN, f64::INFINITY, 1e300, -1.0];
    for width in WIDTHS {
        for mfus in [&[0.2][..], &[0.2, 0.25, 0.23, 0.31], &[0.0, 0.0], &bad] {
            let svg = charts::ladder(&rungs(mfus), width);
            let texts = check(&svg);
            assert!(has(&texts, "MFU, %") && has(&texts, "Published"), "{texts:?}");
        }
    }
    assert_eq!(check(&charts::ladder(&[], 320)).len(), 1);
}

#[test]
fn a_rung_goes_on_where_the_one_before_ends() {
    let svg = charts::ladder(&rungs(&[0.2, 0.25, 0.23]), 640);
    let marks = bars(&svg);
    let lengths: Vec<i32> = marks.iter().map(|bars| bars[0][2] - bars[0][0]).collect();
    // Prediction, published and range of the first; then what stays and what changes.
    assert_eq!(marks[0][0][2], marks[3][0][2], "{lengths:?}");
    assert_eq!(marks[3][0][2], marks[4][0][0], "the gain follows");
    assert_eq!(marks[4][0][2], marks[6][0][2], "the loss ends where the gain did");
    assert!(svg.contains("chart-gain") && svg.contains("chart-loss"));
    assert!(has(&check(&svg), "23.0 %, −2.0 pt"));
}

#[test]
fn every_preset_is_readable() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let plan = Plan::new(&preset.design()).expect("a preset is legal");
        let estimate = estimate(&plan);
        for width in WIDTHS {
            check(&charts::memory_by_stage(&estimate, None, width));
            check(&charts::step_breakdown(&estimate, width));
            check(&charts::peak_to_mfu(&plan, &estimate, None, width));
            check(&charts::communication(&estimate, None, width));
            check(&charts::Bubbles::new(&plan, &estimate).chart(None, width));
        }
    }
}

#[test]
fn a_waterfall_begins_at_its_own_peak_and_says_mfu_over_both() {
    for width in [640, 960, 1200] {
        let design = Design::from_preset("deepseek-v3-2k-h800").expect("the preset exists");
        let plan = Plan::new(&design).expect("the preset is legal");
        let estimate = estimate(&plan);
        let texts = check(&charts::peak_to_mfu(&plan, &estimate, None, width));
        assert!(has(&texts, "100 %") && !has(&texts, "200 %"), "{texts:?}");
        assert!(has(&texts, "MFU, FP8"), "{texts:?}");
        let note = texts.iter().find(|text| text.text.starts_with("MFU is ")).expect("a note");
        assert!(note.text.contains(" % of the FP8 peak, 1,979 TFLOPS and "), "{note:?}");
        assert!(note.text.ends_with(" % of the BF16 peak, 989 TFLOPS"), "{note:?}");
    }
    let plan = plan();
    let texts = check(&charts::peak_to_mfu(&plan, &estimate(&plan), None, 960));
    assert!(has(&texts, "MFU") && !texts.iter().any(|text| text.text.starts_with("MFU is ")));
}

#[test]
fn the_bubble_shrinks_with_more_microbatches() {
    let plan = plan();
    let table = charts::Bubbles::new(&plan, &estimate(&plan)).table();
    let counts: Vec<u64> =
        table[1..].iter().map(|row| row[0].replace(',', "").parse().expect("a count")).collect();
    assert!(counts.len() >= 6 && counts.len() <= 24, "{counts:?}");
    assert!(counts.is_sorted(), "{counts:?}");
    // Pairs of chunks need two rounds.
    assert_eq!(counts[0], 2 * plan.design().parallel.pipeline_model_parallel_size);
    let bubble = |row: &[String]| row[1].trim_end_matches(" %").parse::<f64>().expect("a share");
    assert!(table[1..].windows(2).all(|pair| bubble(&pair[0]) > bubble(&pair[1])), "{table:?}");
    assert_eq!(table.iter().filter(|row| row[3] == "this design").count(), 1);
}

#[test]
fn tables_have_as_many_cells_as_headers() {
    let plan = plan();
    let estimate = estimate(&plan);
    for table in [
        charts::memory_by_stage_table(&estimate),
        charts::step_breakdown_table(&estimate),
        charts::communication_table(&estimate),
        charts::Bubbles::new(&plan, &estimate).table(),
    ] {
        assert!(table.len() > 1);
        assert!(table.iter().all(|row| row.len() == table[0].len()), "{table:?}");
    }
    assert_eq!(charts::memory_by_stage_table(&estimate).len(), estimate.stages.len() + 1);
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    let plan = plan();
    let estimate = estimate(&plan);
    let all = || {
        [
            charts::memory_by_stage(&estimate, None, 640),
            charts::step_breakdown(&estimate, 640),
            charts::communication(&estimate, None, 640),
            charts::Bubbles::new(&plan, &estimate).chart(None, 640),
        ]
    };
    assert_eq!(all(), all());
}

#[test]
fn numbers_that_are_none_are_never_shown() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300] {
        let mut estimate = with_stages(8, 30.0);
        estimate.stages[2].memory.activations = Bytes::new(bad);
        estimate.metrics.bubble_ratio = bad;
        estimate.communication = with_communication(3, bad).communication;
        check(&charts::memory_by_stage(&estimate, None, 360));
        check(&charts::communication(&estimate, None, 360));
        check(&charts::Bubbles::new(&plan(), &estimate).chart(None, 360));
        check(&charts::waterfall(&parts(bad, bad), 360));
        estimate.metrics.memory_limit = Bytes::new(bad);
        check(&charts::memory_by_stage(&estimate, None, 360));
    }
}

#[test]
fn nothing_to_show_is_said_in_words() {
    let mut estimate = estimate(&plan());
    estimate.stages.clear();
    estimate.communication.clear();
    for svg in [
        charts::memory_by_stage(&estimate, None, 288),
        charts::communication(&estimate, None, 288),
        charts::waterfall(&[], 288),
    ] {
        assert_eq!(check(&svg).len(), 1);
    }
}

#[test]
fn a_chart_for_any_width_holds_each_of_them() {
    let estimate = with_stages(16, 30.0);
    let html = charts::for_any_width(|width| charts::memory_by_stage(&estimate, None, width));
    for width in charts::WIDTHS {
        assert!(html.contains(&charts::memory_by_stage(&estimate, None, width)));
    }
    assert!(include_str!("../../../style/charts.css").contains(".chart-fit"));
}

#[test]
fn a_chart_for_later_is_one_no_wider_than_its_own_size() {
    let estimate = with_stages(16, 30.0);
    let html = charts::for_later(|width| charts::memory_by_stage(&estimate, None, width));
    let page = Html::new(&html);
    assert_eq!(page.count("svg"), 1);
    let width = page.attribute("svg", "viewBox").split(' ').nth(2).unwrap().to_owned();
    let style = include_str!("../../../style/charts.css");
    assert!(style.contains(&format!(".chart-plain {{ max-width: {width}px; }}")), "{width}");
}

#[test]
fn widths_out_of_range_are_drawn_at_the_nearest() {
    let estimate = with_stages(16, 30.0);
    assert_eq!(
        charts::memory_by_stage(&estimate, None, 0),
        charts::memory_by_stage(&estimate, None, 288)
    );
    let widest = charts::memory_by_stage(&estimate, None, 1200);
    assert_eq!(charts::memory_by_stage(&estimate, None, u32::MAX), widest);
}

#[test]
fn the_stages_balance_is_readable_at_any_width_and_number_of_stages() {
    let recipe = layout_loads(&plan());
    for width in WIDTHS {
        for num_stages in STAGES {
            let loads: Vec<_> = recipe.iter().cycle().take(num_stages as usize).copied().collect();
            let svg = charts::stage_balance(&loads, width);
            let texts = check(&svg);
            assert!(has(&texts, "Milliseconds per micro-batch"), "{texts:?}");
            assert!(has(&texts, "0"), "the first stage is named: {texts:?}");
            assert!(texts.iter().any(|text| text.text.starts_with("Mean ")), "{texts:?}");
        }
    }
    check(&charts::stage_balance(&[StageLoad::default()], 320));
    check(&charts::stage_balance(&[], 320));
}

#[test]
fn a_stages_bar_tells_its_parts_and_its_table_adds_them_up() {
    let loads = layout_loads(&plan());
    let svg = charts::stage_balance(&loads, 640);
    assert_eq!(titles(&svg), 16);
    assert!(svg.contains("MTP layers") && svg.contains("LM head"), "{svg}");
    let table = charts::stage_balance_table(&loads);
    assert_eq!(table.len(), 17);
    assert!(table.iter().all(|row| row.len() == StageLoad::LABELS.len() + 3));
}
