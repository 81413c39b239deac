//! What a search for layouts says, as HTML: every card with its numbers, its reasons and its ways
//! on, and where nothing fits a way on, too.

use model::design::{Design, KnobId};
use model::metric::MetricId;
use model::search::find::{Answer, Goal, Miss, Query, Recommendation, RuledOut, Target, spare};
use model::training::estimate::Metrics;
use model::{Plan, design::link, estimate};
use present::html::escaped;
use present::page::find::answer::{html, refused};
use present::page::find::request::Request;

const AT_HAND: &str = "preset=pangu-ultra-moe-6k@2";

fn design(query: &str) -> Design {
    link::decode(query).expect("a link that decodes")
}

fn metrics(design: &Design) -> Metrics {
    estimate(&Plan::new(design).expect("a legal design")).metrics
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

/// The HTML of a card.
fn card(html: &str, goal: Goal) -> &str {
    let from = html.find(&format!("data-goal=\"{}\"", goal.name())).expect("a card");
    let rest = &html[from..];
    &rest[..rest.find("</article>").expect("its end")]
}

/// Whether a text is one document's worth of closed elements.
fn is_well_formed(html: &str) -> bool {
    let text = html.replace(" hidden>", " hidden=\"\">").replace(" open>", " open=\"\">");
    let text = text.replace(" checked>", " checked=\"\">");
    roxmltree::Document::parse(&format!("<main>{text}</main>")).is_ok()
}

#[test]
fn each_card_has_its_numbers_with_their_ranges_its_reasons_and_what_binds() {
    let (query, answer) = (query(), answer());
    let html = html(&query, &answer, true);
    assert!(is_well_formed(&html), "{html}");
    for found in &answer.designs[..3] {
        let card = card(&html, found.label.expect("a name"));
        for metric in
            [MetricId::tokens_per_second_per_device, MetricId::mfu, MetricId::step_time_seconds]
        {
            let value = present::format::metric(metric, found.metrics.get(metric)).to_string();
            assert!(card.contains(&value), "{value}: {card}");
            let plan = Plan::new(&found.design).expect("a legal design");
            let half = present::words::range::half(&plan, metric, &found.metrics).expect("a range");
            assert!(card.contains(&half), "{half}: {card}");
        }
        assert!(card.contains(&found.why[0]) && card.contains(&found.bottleneck), "{card}");
        let free = present::format::percent(found.margin, 1).to_string();
        assert!(card.contains(&free), "{free}: {card}");
    }
}

#[test]
fn each_card_opens_pins_compares_reviews_and_exports_its_design_in_one_click() {
    let (query, answer) = (query(), answer());
    let html = html(&query, &answer, true);
    let own = link::encode(&query.design).replace('&', "%26").replace('@', "%40");
    for found in &answer.designs[..3] {
        let card = card(&html, found.label.expect("a name"));
        let link = escaped(&link::encode(&found.design));
        for part in [
            format!("href=\"/?{link}\""),
            format!("data-pin=\"{link}\""),
            format!("href=\"/r/new?{link}\""),
            format!("href=\"/export?{link}\""),
            format!("href=\"/compare?a={own}&amp;"),
        ] {
            assert!(card.contains(&part), "{part}: {card}");
        }
    }
    let other = escaped(&link::encode(&answer.designs[3].design));
    assert!(html.contains(&format!("<th scope=\"row\"><a href=\"/?{other}\">")), "{html}");
}

#[test]
fn differences_against_the_design_at_hand_are_listed_and_many_are_folded() {
    let html = html(&query(), &answer(), true);
    let few = card(&html, Goal::Safest);
    assert!(few.contains("<details class=\"find-changes\" open>"), "{few}");
    assert!(few.contains(">VPP</span>") && few.contains("<strong>4</strong>"), "{few}");
    assert!(card(&html, Goal::Simplest).contains("No knob differs"));
    let many = "preset=pangu-ultra-moe-6k@2&training.micro_batch_size=1&gbs=12288\
                &schedule.delay_wgrad_compute=false&schedule.overlap_p2p_comm=false";
    let mut answer = answer();
    answer.designs[0] = found(Some(Goal::Fastest), many);
    let html = present::page::find::answer::html(&query(), &answer, true);
    let folded = card(&html, Goal::Fastest);
    assert!(folded.contains("<details class=\"find-changes\"><summary>"), "{folded}");
}

#[test]
fn an_answer_says_what_was_ruled_out_and_what_it_would_take_for_more() {
    let html = html(&query(), &answer(), true);
    assert!(html.contains("A link between nodes twice as fast would give 3 %."), "{html}");
    assert!(html.contains("Can&#39;t fit") || html.contains("Can't fit"), "{html}");
    assert!(html.contains("<td>12,345</td>") && html.contains("Layers fill chunks"), "{html}");
    assert!(html.contains("20,000 combinations") && html.contains("900 estimates"), "{html}");
    assert!(html.contains("href=\"/sweep?v=1&amp;preset=pangu-ultra-moe-6k"), "{html}");
    assert!(html.contains("find.goal=fastest\">Open as a sweep"), "{html}");
}

#[test]
fn cards_grow_while_it_searches_and_what_comes_at_the_end_waits() {
    let (query, mut answer) = (query(), answer());
    answer.designs.truncate(1);
    let early = html(&query, &answer, false);
    assert!(early.contains("Found so far") && early.contains("data-goal=\"fastest\""), "{early}");
    for late in
        ["What was ruled out", "Open as a sweep", "What would make it faster", "Compare all"]
    {
        assert!(!early.contains(late), "{late}: {early}");
    }
    answer.designs.clear();
    assert_eq!(html(&query, &answer, false), "");
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
    let text = html(&query, &answer, true);
    assert!(is_well_formed(&text), "{text}");
    assert!(text.contains("No layout fits") && text.contains(&miss.misses[0]), "{text}");
    let link = escaped(&link::encode(&near));
    assert!(text.contains(&format!("href=\"/?{link}\"")), "{text}");
    let again = text.split("class=\"button primary\" href=\"").nth(1).expect("a link");
    let again = again.split('"').next().expect("its end").replace("&amp;", "&");
    let (request, wrong) = Request::read(again.strip_prefix("/find?").expect("a search"));
    assert_eq!((request.query.design.cluster.num_devices, wrong.len()), (8_192, 0));
    assert_eq!(request.query.targets, [Target::Spare(0.05)]);
    let none = Answer { miss: Some(Miss { fewest_devices: None, ..miss }), ..answer };
    assert!(html(&query, &none, true).contains("No device count"));
}

#[test]
fn the_heading_says_the_size_that_was_asked_for() {
    for (knob, heading) in [
        (KnobId::num_devices, "<h2>The fewest devices: 4,096</h2>"),
        (KnobId::global_batch_size, "<h2>The largest batch: 4,096 sequences</h2>"),
        (KnobId::seq_length, "<h2>The longest sequence: 4,096 tokens</h2>"),
    ] {
        let answer = Answer { size: Some((knob, 4_096)), ..answer() };
        let html = html(&query(), &answer, true);
        assert!(html.contains(heading), "{html}");
    }
    assert!(html(&query(), &answer(), true).contains("<h2>Layouts that fit</h2>"));
}

#[test]
fn a_design_that_breaks_rules_is_compared_with_nothing() {
    let answer = Answer { at_hand: None, ..answer() };
    let html = html(&query(), &answer, true);
    assert!(html.contains("The current design breaks a rule"), "{html}");
    assert!(!card(&html, Goal::Fastest).contains("/compare?"), "{html}");
    assert!(html.contains("Compare all of these"), "{html}");
}

#[test]
fn a_rule_that_no_layout_mends_leads_to_the_mended_search() {
    let broken = design("preset=pangu-ultra-moe-6k&cluster.accelerator=ascend-300i-duo");
    let violations = Plan::new(&broken).expect_err("no bf16");
    let mut query = Query::new(broken);
    query.goal = Goal::Simplest;
    let html = refused(&query, &violations);
    assert!(is_well_formed(&html), "{html}");
    assert!(html.contains(&escaped(&violations[0].message)), "{html}");
    let ways = violations.iter().map(|violation| violation.nearest.len()).sum::<usize>();
    assert_eq!(html.matches("class=\"button way\" href=\"/find?").count(), ways);
    assert_eq!(html.matches("find.goal=simplest").count(), ways);
}
