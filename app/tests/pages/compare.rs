//! The page `/compare` as the server sends it.

use model::design::KnobId;
use model::metric::{MetricId, Regime};
use model::{Plan, design::link, estimate};
use present::format;
use present::page::compare::EXAMPLES;
use present::site::Page;
use present::site::chosen::Chosen;

use super::document;

/// An address as it is written in an attribute.
fn attribute(address: &str) -> String {
    address.replace('&', "&amp;")
}

#[test]
fn the_empty_page_tells_how_to_begin() {
    let html = document(Page::Compare, "");
    assert!(html.contains("<title>Compare designs · Moescape</title>"));
    assert!(html.contains("href=\"/compare\" aria-current=\"page\""));
    assert_eq!(html.matches("<select ").count(), 4);
    for (title, links) in EXAMPLES {
        let address = attribute(&Chosen::of_links(links.iter().copied()).address());
        assert!(html.contains(title) && html.contains(&format!("href=\"{address}\"")), "{title}");
    }
}

#[test]
fn every_metric_and_knob_is_in_the_whole_table_with_its_number() {
    let links = ["v=1&preset=pangu-ultra-moe-6k", "v=1&preset=deepseek-v3-2k-h800"];
    let html = document(Page::Compare, &Chosen { all: true, ..Chosen::of_links(links) }.query());
    for id in MetricId::of(Regime::Training) {
        let name = id.metric().name;
        assert!(html.contains(&format!("<tr data-metric=\"{name}\">")), "{name}");
        assert!(html.contains(&format!("<div id=\"metric-{name}\">")), "{name}");
    }
    for id in KnobId::ALL {
        assert!(html.contains(&format!("<tr data-knob=\"{}\">", id.id())), "{}", id.id());
    }
    for link in links {
        let metrics = estimate(&Plan::new(&link::decode(link).unwrap()).unwrap()).metrics;
        for id in MetricId::of(Regime::Training) {
            let text = format::metric(id, metrics.get(id)).to_string();
            assert!(html.contains(&text), "{text}");
        }
    }
}

#[test]
fn differences_are_shown_alone_at_first_and_everything_by_a_link() {
    let chosen =
        Chosen::of_links(["v=1&preset=pangu-ultra-moe-6k", "v=1&preset=pangu-ultra-moe-6k&vpp=4"]);
    let html = document(Page::Compare, &chosen.query());
    assert_eq!(html.matches("<tr data-knob=").count(), 1);
    assert!(!html.contains("<tr data-metric=\"params_total\">"));
    let all = Chosen { all: true, ..chosen };
    assert!(html.contains(&format!("href=\"{}#numbers\"", attribute(&all.address()))));
}

#[test]
fn each_design_can_be_opened_moved_removed_and_made_the_baseline_by_links() {
    let chosen = Chosen::of_links([
        "v=1&preset=qwen3-8b",
        "v=1&preset=qwen3-32b",
        "v=1&preset=qwen3-30b-a3b",
    ]);
    let html = document(Page::Compare, &chosen.query());
    for place in 0..3 {
        let link = format!("href=\"/?{}\"", attribute(&chosen.designs[place].link));
        assert!(html.contains(&link), "{link}");
        assert!(html.contains(&attribute(&chosen.without(place).address())));
    }
    for place in 1..3 {
        assert!(html.contains(&attribute(&chosen.moved_left(place).address())));
        assert!(html.contains(&attribute(&chosen.against(place).address())));
    }
    assert_eq!(html.matches("Make baseline</a>").count(), 2);
}

#[test]
fn a_broken_design_names_its_rules_and_the_others_have_their_numbers() {
    let html =
        document(Page::Compare, &Chosen::of_links(["v=1", "pp=12", "no_such_knob=1"]).query());
    let broken = Plan::new(&link::decode("pp=12").unwrap()).unwrap_err();
    for rule in &broken {
        assert!(html.contains(&format!("data-rule=\"{}\"", rule.rule)));
    }
    assert!(html.contains("no_such_knob"));
    let mfu = estimate(&Plan::new(&link::decode("").unwrap()).unwrap()).metrics.mfu;
    assert!(html.contains(&format::percent(mfu, 1).to_string()));
    let turned = document(
        Page::Compare,
        &format!("{}&baseline=b", Chosen::of_links(["v=1", "pp=12"]).query()),
    );
    assert!(turned.contains("B has no numbers"));
}

#[test]
fn too_many_designs_and_the_same_one_twice_are_said() {
    let html = document(Page::Compare, "a=v=1&b=v=1&c=vpp%3D1&d=v=1&e=v=1");
    assert!(html.contains("At most 4 designs are compared"));
    assert!(html.contains("A, B and D are the same design."));
}

#[test]
fn what_a_link_says_is_text_and_never_markup() {
    let html =
        document(Page::Compare, "a=v=1&a.name=%3Cscript%3E%22&b=%3Cimg%20src=x%3E%3D1&%3Cb%3E=1");
    assert!(!html.contains("<script>\"") && !html.contains("<img src=x"));
    assert!(html.contains("&lt;script&gt;&quot;") && !html.contains("<b>"));
}

#[test]
fn what_does_not_compare_is_said() {
    let html = document(
        Page::Compare,
        &Chosen::of_links(["v=1", "gbs=12288&count_mtp_flops=false"]).query(),
    );
    assert!(html.contains("B against A: different tokens per step"));
    assert!(html.contains("B against A: different FLOP conventions"));
}

#[test]
fn the_charts_and_their_tables_are_there_without_a_script() {
    let html = document(Page::Compare, &Chosen::of_links(["v=1", "vpp=1"]).query());
    for id in ["compare-memory", "compare-step", "compare-axes"] {
        assert!(html.contains(&format!("id=\"{id}\"")), "{id}");
    }
    assert_eq!(html.matches("<svg xmlns=").count(), 9, "three charts, each for three widths");
    assert!(!html.contains(" style=\""), "inline style is against the policy");
}
