//! What a search for layouts says, as HTML: every card with its numbers, its reasons and its ways
//! on, and where nothing fits a way on, too.

use model::design::{Design, KnobId};
use model::metric::MetricId;
use model::search::find::{Answer, Goal, Miss, Query, Recommendation, RuledOut, Target, spare};
use model::training::estimate::Metrics;
use model::{Plan, design::link};
use present::page::find::answer::{self, refused};
use present::page::find::request::Request;
use testing::design::estimated;
use testing::page::Page as Html;

const AT_HAND: &str = "preset=pangu-ultra-moe-6k@2";

fn design(query: &str) -> Design {
    link::decode(query).expect("a link that decodes")
}

fn metrics(design: &Design) -> Metrics {
    estimated(design).metrics
}

fn found(label: Option<Goal>, query: &str) -> Recommendation {
    let design = design(query);
    let metrics = metrics(&design);
    Recommendation {
        label,
        margin: spare(&metrics),
        why: vec![format!("Reason of {}", label.map_or("none", Goal::name))],
        bottleneck: "Matrix products take most of the step.".to_owned(),
        behind: if label == Some(Goal::Fastest) { 0.0 } else { 0.023 },
        unusual: vec![],
        design,
        metrics,
    }
}

fn answer() -> Answer {
    let with = |knobs: &str| format!("{AT_HAND}&{knobs}");
    Answer {
        designs: vec![
            found(Some(Goal::Fastest), &with("training.micro_batch_size=1")),
            found(Some(Goal::Safest), &with("parallel.virtual_pipeline_model_parallel_size=4")),
            found(Some(Goal::Simplest), AT_HAND),
            found(None, &with("schedule.delay_wgrad_compute=false")),
        ],
        miss: None,
        at_hand: Some(metrics(&design(AT_HAND))),
        size: None,
        for_more: vec!["A link between nodes twice as fast would give 3 %.".to_owned()],
        ruled_out: vec![
            RuledOut { reason: "memory".to_owned(), designs: 12_345 },
            RuledOut { reason: "layers_fill_chunks".to_owned(), designs: 7 },
        ],
        space: 20_000,
        evaluated: 900,
        simulated: 40,
    }
}

fn query() -> Query {
    Query::new(design(AT_HAND))
}

/// Answer of a search, one document's worth of closed elements.
#[track_caller]
fn html(query: &Query, answer: &Answer, is_done: bool) -> Html {
    well_formed(&answer::html(query, answer, is_done))
}

#[track_caller]
fn well_formed(html: &str) -> Html {
    let text = html.replace(" hidden>", " hidden=\"\">").replace(" open>", " open=\"\">");
    let text = text.replace(" checked>", " checked=\"\">");
    roxmltree::Document::parse(&format!("<main>{text}</main>")).expect("well-formed");
    Html::new(html)
}

/// The card of a goal.
#[track_caller]
fn card(html: &Html, goal: Goal) -> Html {
    html.part(&format!("article[data-goal={}]", goal.name()))
}

#[test]
fn each_card_has_its_numbers_with_their_ranges_its_reasons_and_what_binds() {
    let (query, answer) = (query(), answer());
    let html = html(&query, &answer, true);
    for found in &answer.designs[..3] {
        let card = card(&html, found.label.expect("a name"));
        for metric in
            [MetricId::tokens_per_second_per_device, MetricId::mfu, MetricId::step_time_seconds]
        {
            let value = present::format::metric(metric, found.metrics.get(metric)).to_string();
            assert!(card.says(&value), "{value}: {}", card.words());
            let plan = Plan::new(&found.design).expect("a legal design");
            let half = present::words::range::half(&plan, metric, &found.metrics).expect("a range");
            assert!(card.says(&half), "{half}: {}", card.words());
        }
        let free = present::format::percent(found.margin, 1).to_string();
        for part in [&found.why[0], &found.bottleneck, &free] {
            assert!(card.says(part), "{part}: {}", card.words());
        }
    }
}

#[test]
fn each_card_opens_pins_compares_reviews_and_exports_its_design_in_one_click() {
    let (query, answer) = (query(), answer());
    let html = html(&query, &answer, true);
    let own = link::encode(&query.design).replace('&', "%26").replace('@', "%40");
    for found in &answer.designs[..3] {
        let card = card(&html, found.label.expect("a name"));
        let link = link::encode(&found.design);
        for part in [
            format!("a[href='/?{link}']"),
            format!("[data-pin='{link}']"),
            format!("a[href='/r/new?{link}']"),
            format!("a[href='/export?{link}']"),
            format!("a[href^='/compare?a={own}&']"),
        ] {
            assert!(card.has(&part), "{part}: {:?}", card.links());
        }
    }
    let other = link::encode(&answer.designs[3].design);
    assert!(html.has(&format!("th[scope=row] > a[href='/?{other}']")), "{:?}", html.links());
}

#[test]
fn differences_against_the_design_at_hand_are_listed_and_many_are_folded() {
    let html = html(&query(), &answer(), true);
    let few = card(&html, Goal::Safest);
    let changes = few.part("details.find-changes[open]");
    assert!(changes.texts("span").contains(&"VPP".to_owned()), "{}", changes.words());
    assert_eq!(changes.text("strong"), "4");
    assert!(card(&html, Goal::Simplest).says("No knob differs"));
    let many = "preset=pangu-ultra-moe-6k@2&training.micro_batch_size=1&gbs=12288\
                &schedule.delay_wgrad_compute=false&schedule.overlap_p2p_comm=false";
    let mut answer = answer();
    answer.designs[0] = found(Some(Goal::Fastest), many);
    let folded = card(&self::html(&query(), &answer, true), Goal::Fastest);
    assert!(folded.has("details.find-changes:not([open]) > summary"), "{}", folded.words());
}

#[test]
fn an_answer_says_what_was_ruled_out_and_what_it_would_take_for_more() {
    let html = html(&query(), &answer(), true);
    for part in [
        "A link between nodes twice as fast would give 3 %.",
        "20,000 combinations",
        "900 estimates",
    ] {
        assert!(html.says(part), "{part}: {}", html.words());
    }
    assert_eq!(html.row("Can't fit even with full recomputation and swapping"), ["12,345"]);
    assert_eq!(html.row("Layers fill chunks"), ["7"]);
    let sweep = "a[href^='/sweep?v=1&preset=pangu-ultra-moe-6k'][href$='&find.goal=fastest']";
    assert_eq!(html.text(sweep), "Open as a sweep");
}

#[test]
fn cards_grow_while_it_searches_and_what_comes_at_the_end_waits() {
    let (query, mut answer) = (query(), answer());
    answer.designs.truncate(1);
    let early = html(&query, &answer, false);
    assert!(early.says("Found so far") && early.has("[data-goal=fastest]"), "{}", early.words());
    for late in
        ["What was ruled out", "Open as a sweep", "What would make it faster", "Compare all"]
    {
        assert!(!early.says(late), "{late}: {}", early.words());
    }
    answer.designs.clear();
    assert_eq!(answer::html(&query, &answer, false), "");
}

#[test]
fn where_nothing_fits_the_nearest_miss_and_the_fewest_devices_lead_on() {
    let mut query = query();
    query.targets = vec![Target::Spare(0.05), Target::Devices(64)];
    let near = design("preset=pangu-ultra-moe-6k@2&training.micro_batch_size=4");
    let miss = Miss {
        metrics: metrics(&near),
        design: near.clone(),
        misses: vec!["12.5 GiB over the limit on stage 3".to_owned()],
        tried_devices: true,
        fewest_devices: Some(8_192),
    };
    let answer = Answer { designs: vec![], miss: Some(miss.clone()), ..answer() };
    let html = html(&query, &answer, true);
    assert!(html.says("No layout fits") && html.says(&miss.misses[0]), "{}", html.words());
    assert!(html.has_link(&format!("/?{}", link::encode(&near))), "{:?}", html.links());
    let again = html.attribute("a.button.primary", "href");
    let (request, wrong) = Request::read(again.strip_prefix("/find?").expect("a search"));
    assert_eq!((request.query.design.cluster.num_devices, wrong.len()), (8_192, 0));
    assert_eq!(request.query.targets, [Target::Spare(0.05)]);
    let none = Answer { miss: Some(Miss { fewest_devices: None, ..miss }), ..answer };
    assert!(self::html(&query, &none, true).says("No device count"));
}

#[test]
fn the_heading_says_the_size_that_was_asked_for() {
    for (knob, heading) in [
        (KnobId::num_devices, "The fewest devices: 4,096"),
        (KnobId::global_batch_size, "The largest batch: 4,096 sequences"),
        (KnobId::seq_length, "The longest sequence: 4,096 tokens"),
    ] {
        let answer = Answer { size: Some((knob, 4_096)), ..answer() };
        assert_eq!(html(&query(), &answer, true).texts("h2")[0], heading);
    }
    assert_eq!(html(&query(), &answer(), true).texts("h2")[0], "Layouts that fit");
}

#[test]
fn a_design_that_breaks_rules_is_compared_with_nothing() {
    let answer = Answer { at_hand: None, ..answer() };
    let html = html(&query(), &answer, true);
    assert!(html.says("The current design breaks a rule"), "{}", html.words());
    assert!(!card(&html, Goal::Fastest).has("a[href^='/compare?']"), "{:?}", html.links());
    assert!(html.says("Compare all of these"), "{}", html.words());
}

#[test]
fn a_rule_that_no_layout_mends_leads_to_the_mended_search() {
    let broken = design("preset=pangu-ultra-moe-6k&cluster.accelerator=ascend-300i-duo");
    let violations = Plan::new(&broken).expect_err("no bf16");
    let mut query = Query::new(broken);
    query.goal = Goal::Simplest;
    let html = well_formed(&refused(&query, &violations));
    assert!(html.says(&violations[0].message), "{}", html.words());
    let ways = violations.iter().map(|violation| violation.nearest.len()).sum::<usize>();
    assert_eq!(html.count("a.button.way[href^='/find?'][href*='find.goal=simplest']"), ways);
}
