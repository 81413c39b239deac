//! What became of a text, as HTML: the design with its numbers, and every list of the import.

use std::fmt::Write as _;

use app::insight::memory_state;
use app::insight::numbers::Numbers;
use app::panel::cards::headlines;
use app::present::format::counted;
use app::present::html::{design_link, element, escape_into, escaped, table};
use interchange::Import;
use model::design::Design;
use model::link;
use model::preset::{Preset, PresetKind};
use model::violation::Violation;

/// The answer.
pub(super) fn html(import: &Import, file: Option<&str>) -> String {
    let mut html = String::new();
    match &import.design {
        Some(design) => made(&mut html, import, design, file),
        None => not_made(&mut html, import, file),
    }
    unknown(&mut html, import);
    assumed(&mut html, import);
    set(&mut html, import);
    ignored(&mut html, import);
    html
}

/// What a text is called in a sentence.
fn named(file: Option<&str>) -> &str {
    file.filter(|name| !name.is_empty()).unwrap_or("The text")
}

fn not_made(html: &mut String, import: &Import, file: Option<&str>) {
    html.push_str("<h1>This text makes no design</h1><section class=\"card import-card\">");
    let count = counted(import.errors.len() as u64, "thing", "things");
    let words = format!(
        "{} was read as {}: {count} to mend, in the box below or in the file.",
        named(file),
        import.format.title()
    );
    element(html, "p", "", &words);
    html.push_str("<ul class=\"import-errors\">");
    for fault in &import.errors {
        element(html, "li", "", &fault.to_string());
    }
    html.push_str("</ul></section>");
}

fn made(html: &mut String, import: &Import, design: &Design, file: Option<&str>) {
    html.push_str("<h1>Imported</h1>");
    html.push_str(&app::page::find::bar::still(design));
    html.push_str("<section class=\"card import-card\">");
    let count = |list: usize, one: &str, many: &str| counted(list as u64, one, many);
    let words = format!(
        "{} was read as {}. {} set, {} taken as assumed, {} without effect, {} not known.",
        named(file),
        import.format.title(),
        count(import.set.len(), "knob", "knobs"),
        count(import.assumed.len(), "thing", "things"),
        count(import.ignored.len(), "key", "keys"),
        count(import.unknown.len(), "key", "keys"),
    );
    element(html, "p", "", &words);
    let changed = counted(design.changed().len() as u64, "knob differs", "knobs differ");
    let words = format!("The nearest preset is {}: {changed}.", design.preset.title);
    element(html, "p", "class=\"muted\"", &words);
    match Numbers::of(design) {
        Some(numbers) => headline(html, &numbers),
        None => violations(html, design, &import.violations),
    }
    ways(html, design);
    html.push_str("</section>");
}

fn headline(html: &mut String, numbers: &Numbers) {
    html.push_str("<dl class=\"embed-numbers\">");
    for headline in headlines(numbers) {
        let _ = write!(html, "<div data-metric=\"{}\">", headline.metric.metric().name);
        element(html, "dt", "", headline.title);
        element(html, "dd", "class=\"embed-number\"", &headline.shown.to_string());
        element(html, "dd", "class=\"muted\"", &headline.line);
        html.push_str("</div>");
    }
    html.push_str("</dl>");
    let class = memory_state::said_class(numbers.estimate.metrics.memory_state());
    element(html, "p", &format!("class=\"{class}\""), &memory_state::sentence(numbers));
}

/// Broken rules, each with the values that mend it, as links to the mended design.
fn violations(html: &mut String, design: &Design, violations: &[Violation]) {
    html.push_str(
        "<div class=\"import-broken\"><h2>This design can't run as it is</h2>\
         <ul class=\"import-errors\">",
    );
    for violation in violations {
        html.push_str("<li>");
        escape_into(html, &violation.message);
        for nearest in &violation.nearest {
            let mut mended = design.clone();
            if mended.set(nearest.knob, &nearest.value).is_err() {
                continue;
            }
            let label = nearest.knob.knob().label;
            html.push(' ');
            design_link(html, &mended, label);
            html.push_str(" class=\"button way\">");
            escape_into(html, &format!("{label} {}", nearest.value));
            html.push_str("</a>");
        }
        html.push_str("</li>");
    }
    html.push_str("</ul></div>");
}

/// What comes next.
fn ways(html: &mut String, design: &Design) {
    let link = escaped(&link::encode(design));
    let _ = write!(
        html,
        "<div class=\"import-ways\"><a class=\"button primary\" href=\"/?{link}\">Open in the \
         explorer</a><a class=\"button\" href=\"/export?{link}\">Export</a>\
         <form method=\"get\" action=\"/compare\" class=\"import-compare\">\
         <input type=\"hidden\" name=\"b\" autocomplete=\"off\" value=\"{link}\">\
         <label for=\"import-compare\">Compare with</label>\
         <select id=\"import-compare\" name=\"a\" autocomplete=\"off\">"
    );
    for (kind, label) in
        [(PresetKind::Recipe, "Published runs"), (PresetKind::Model, "Models on a cluster of ours")]
    {
        let _ = write!(html, "<optgroup label=\"{label}\">");
        for preset in Preset::all().filter(|it| it.kind == kind && it.refused.is_none()) {
            let chosen = if preset.id == design.preset.id { " selected" } else { "" };
            let value = escaped(&link::encode(&preset.design()));
            element(html, "option", &format!("value=\"{value}\"{chosen}"), preset.title);
        }
        html.push_str("</optgroup>");
    }
    html.push_str("</select><button class=\"button\">Compare</button></form></div>");
}

fn line(line: u64) -> String {
    if line == 0 { String::new() } else { line.to_string() }
}

/// A list of the import under its heading; nothing where it is empty.
fn list(
    html: &mut String,
    id: &str,
    title: &str,
    about: &str,
    header: &[&str],
    rows: Vec<Vec<String>>,
) {
    if rows.is_empty() {
        return;
    }
    let _ = write!(
        html,
        "<section class=\"card import-card\" id=\"{id}\"><h2>{title} ({})</h2>\
         <p class=\"muted\">{about}</p><div class=\"scroll-x import-list\" role=\"region\" \
         tabindex=\"0\" aria-label=\"{title}, table\">",
        app::present::format::whole(rows.len() as u64)
    );
    let header = header.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    html.push_str(&table(title, &rows));
    html.push_str("</div></section>");
}

fn unknown(html: &mut String, import: &Import) {
    let rows = import.unknown.iter().map(|it| {
        let nearest = it.nearest.clone().unwrap_or_else(|| "nothing like it".to_owned());
        vec![it.key.clone(), line(it.line), nearest]
    });
    let about = "Nobody here knows these keys, so that they changed nothing. A misspelt one stands \
                 beside the key that it may have been meant for.";
    let header = ["Key", "Line", "Nearest known"];
    list(html, "unknown", "Not known", about, &header, rows.collect());
}

fn assumed(html: &mut String, import: &Import) {
    let rows = import.assumed.iter().map(|it| {
        let knob = it.knob.map_or_else(|| "the text as a whole".to_owned(), |knob| knob.id());
        vec![knob, it.detail.clone()]
    });
    let about = "The text leaves these open; what was taken, and why.";
    list(html, "assumed", "Assumed", about, &["Knob", "What and why"], rows.collect());
}

fn set(html: &mut String, import: &Import) {
    let rows = import
        .set
        .iter()
        .map(|it| vec![it.key.clone(), line(it.line), it.knob.id(), it.value.clone()]);
    let about = "Which key set which knob.";
    list(html, "set", "Set", about, &["Key", "Line", "Knob", "Value"], rows.collect());
}

fn ignored(html: &mut String, import: &Import) {
    let rows =
        import.ignored.iter().map(|it| vec![it.key.clone(), line(it.line), it.reason.clone()]);
    let about = "These keys are known, and nothing in the model follows from them.";
    list(html, "ignored", "Without effect", about, &["Key", "Line", "Why"], rows.collect());
}

#[cfg(test)]
mod tests {
    use interchange::{Format, import};

    use super::*;

    const SCRIPT: &str = "python x.py --num-layers 8 \\\n --hidden-size 1024 \\\n \
                          --num-attention-heads 8 --ffn-hidden-size 4096 --vocab-size 1000 \\\n \
                          --seq-length 1024 --micro-batch-size 1 --global-batch-size 8 \\\n \
                          --lr 1 --num-layerz 3 --<script>";

    #[test]
    fn every_entry_of_every_list_is_on_the_page() {
        let import = import(Format::Megatron, SCRIPT, None);
        let html = html(&import, None);
        let keys = import.set.iter().map(|it| &it.key);
        let keys = keys.chain(import.ignored.iter().map(|it| &it.key));
        for key in keys.chain(import.unknown.iter().map(|it| &it.key)) {
            assert!(html.contains(&escaped(key)), "{key} is not on the page");
        }
        for assumed in &import.assumed {
            assert!(html.contains(&escaped(&assumed.detail)), "{}", assumed.detail);
        }
        assert!(html.contains("--num-layerz</th><td>5</td><td>--num-layers"), "{html}");
        assert!(!html.contains("<script>") && html.contains("data-metric=\"mfu\""), "{html}");
        let link = escaped(&link::encode(import.design.as_ref().unwrap()));
        assert!(html.contains(&format!("href=\"/?{link}\"")), "{html}");
    }

    #[test]
    fn a_design_that_breaks_rules_has_ways_to_mend_it() {
        let end = "--lr 1 --num-layerz 3 --<script>";
        let script = SCRIPT.replace(end, "--pipeline-model-parallel-size 3");
        let import = import(Format::Megatron, &script, None);
        assert!(!import.violations.is_empty(), "{import:?}");
        let html = html(&import, Some("a.sh"));
        assert!(html.contains("can't run as it is") && html.contains("a.sh was read"), "{html}");
        assert!(html.contains("class=\"button way\""), "{html}");
    }

    #[test]
    fn what_keeps_a_text_from_being_a_design_has_its_line() {
        let import = import(Format::Megatron, "x \\\n --num-layers many", None);
        let html = html(&import, None);
        assert!(html.contains("<li>line 2: --num-layers"), "{html}");
        assert!(!html.contains("Open in the explorer"), "{html}");
    }
}
