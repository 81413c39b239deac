//! The page `/compare` as the server sends it.

use model::Plan;
use model::design::KnobId;
use model::design::link;
use model::metric::MetricId;
use model::metric::Regime;
use present::format;
use present::page::compare::EXAMPLES;
use present::site::Page;
use present::site::chosen::Chosen;
use testing::design::estimated;
use testing::page::Page as Html;

fn document(query: &str) -> Html {
    super::document(Page::Compare, query)
}

fn compared<const N: usize>(links: [&str; N]) -> Html {
    document(&Chosen::of_links(links).query())
}

#[test]
fn the_empty_page_tells_how_to_begin() {
    let page = document("");
    assert_eq!(page.text("head title"), "Compare designs · Moescape");
    assert_eq!(page.text(".pages [aria-current=page]"), "Compare");
    assert_eq!(page.count("main select"), 4);
    for (title, links) in EXAMPLES {
        let address = Chosen::of_links(links.iter().copied()).address();
        assert_eq!(page.text(&format!("main a[href='{address}']")), *title);
    }
}

#[test]
fn every_metric_and_knob_is_in_the_whole_table_with_its_number() {
    let links = ["v=1&preset=pangu-ultra-moe-6k", "v=1&preset=deepseek-v3-2k-h800"];
    let page = document(&Chosen { all: true, ..Chosen::of_links(links) }.query());
    let metrics = links.map(|link| estimated(&link::decode(link).unwrap()).metrics);
    for id in MetricId::of(Regime::Training) {
        let name = id.metric().name;
        assert_eq!(page.count(&format!("div#metric-{name}")), 1, "{name}");
        let shown = page.texts(&format!("tr[data-metric={name}] .compare-value"));
        assert_eq!(shown, metrics.map(|it| format::metric(id, it.get(id)).to_string()), "{name}");
    }
    for id in KnobId::ALL {
        assert_eq!(page.count(&format!("tr[data-knob='{}']", id.id())), 1, "{}", id.id());
    }
}

#[test]
fn differences_are_shown_alone_at_first_and_everything_by_a_link() {
    let chosen =
        Chosen::of_links(["v=1&preset=pangu-ultra-moe-6k", "v=1&preset=pangu-ultra-moe-6k&vpp=4"]);
    let page = document(&chosen.query());
    assert_eq!(page.count("tr[data-knob]"), 1);
    assert!(!page.has("tr[data-metric=params_total]"));
    let all = Chosen { all: true, ..chosen };
    assert!(page.has_link(&format!("{}#numbers", all.address())));
}

#[test]
fn each_design_can_be_opened_moved_removed_and_made_the_baseline_by_links() {
    let chosen = Chosen::of_links([
        "v=1&preset=qwen3-8b",
        "v=1&preset=qwen3-32b",
        "v=1&preset=qwen3-30b-a3b",
    ]);
    let page = document(&chosen.query());
    for place in 0..3 {
        let opens = format!("/?{}", chosen.designs[place].link);
        assert!(page.has_link(&opens), "{opens}");
        assert!(page.has_link(&chosen.without(place).address()), "{place}");
    }
    for place in 1..3 {
        assert!(page.has_link(&chosen.moved_left(place).address()), "{place}");
        assert!(page.has_link(&chosen.against(place).address()), "{place}");
    }
    assert_eq!(page.count("a[aria-label^='Make baseline']"), 2);
}

#[test]
fn a_broken_design_names_its_rules_and_the_others_have_their_numbers() {
    let page = compared(["v=1", "pp=12", "no_such_knob=1"]);
    let broken = Plan::new(&link::decode("pp=12").unwrap()).unwrap_err();
    let rules: Vec<&str> = broken.iter().map(|broken| broken.rule).collect();
    assert_eq!(page.attributes(".compare-broken [data-rule]", "data-rule"), rules);
    assert!(page.says("there is no knob `no_such_knob`"), "{}", page.words());
    let mfu = estimated(&link::decode("").unwrap()).metrics.mfu;
    assert!(
        page.texts("[data-metric=mfu] .compare-value")[0] == format::percent(mfu, 1).to_string()
    );
    let turned = document(&format!("{}&baseline=b", Chosen::of_links(["v=1", "pp=12"]).query()));
    let note = turned.text(".compare-notes");
    assert!(note.starts_with("B has no numbers"), "{note}");
}

#[test]
fn too_many_designs_and_the_same_one_twice_are_said() {
    let page = document("a=v=1&b=v=1&c=vpp%3D1&d=v=1&e=v=1");
    assert_eq!(
        page.text(".verdict li"),
        "At most 4 designs are compared; those after D are left out."
    );
    assert_eq!(page.text(".compare-notes"), "A, B and D are the same design.");
}

#[test]
fn what_a_link_says_is_text_and_never_markup() {
    let page = document("a=v=1&a.name=%3Cscript%3E%22&b=%3Cimg%20src=x%3E%3D1&%3Cb%3E=1");
    assert!(!page.has("script") && !page.has("img[src=x]") && !page.has("b"));
    assert_eq!(page.text("#design-A [translate=no]"), "<script>\"");
}

#[test]
fn what_does_not_compare_is_said() {
    let page = compared(["v=1", "gbs=12288&count_mtp_flops=false"]);
    let notes = page.texts(".compare-notes li");
    for part in ["tokens per step", "FLOP conventions"] {
        let start = format!("B against A: different {part}:");
        assert!(notes.iter().any(|note| note.starts_with(&start)), "{start} {notes:?}");
    }
}

#[test]
fn the_charts_and_their_tables_are_there_without_a_script() {
    let page = compared(["v=1", "vpp=1"]);
    let figures = page.attributes("figure[id^='compare-']", "id");
    assert_eq!(figures, ["compare-memory", "compare-step", "compare-axes"]);
    assert_eq!(page.count("figure .chart svg"), 9, "three charts, each for three widths");
}
