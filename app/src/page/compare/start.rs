//! How to begin: comparisons worth a look, presets to pick from, and how to pin a design.

use std::fmt::Write as _;

use model::link;
use model::preset::{Preset, PresetKind};

use crate::present::html::{element, escaped};
use crate::site::chosen::{Choice, Chosen, MAX_DESIGNS, key, letter};

/// Comparisons worth a look: what they show, and the links of their designs.
pub const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "Pangu Ultra MoE: the paper's final run against its baseline",
        &["v=1&preset=pangu-ultra-moe-4k-baseline@2", "v=1&preset=pangu-ultra-moe-6k@2"],
    ),
    (
        "DeepSeek-V3 on 2,048 H800 and on 512 Ascend 910C",
        &["v=1&preset=deepseek-v3-2k-h800", "v=1&preset=deepseek-v3-512-910c"],
    ),
    (
        "The final run without overlap, without virtual stages, without recomputation",
        &[
            "v=1&preset=pangu-ultra-moe-6k@2",
            "v=1&preset=pangu-ultra-moe-6k@2&schedule.method=interleaved\
             &schedule.delay_wgrad_compute=false",
            "v=1&preset=pangu-ultra-moe-6k@2&parallel.virtual_pipeline_model_parallel_size=1",
            "v=1&preset=pangu-ultra-moe-6k@2&memory.recompute_granularity=none\
             &memory.recompute_modules=none",
        ],
    ),
];

/// The comparison of these links.
fn of(links: &[&str]) -> Chosen {
    let designs = links.iter().map(|link| Choice::new((*link).to_owned())).collect();
    Chosen { designs, ..Chosen::default() }
}

/// The page without designs.
pub(super) fn empty(html: &mut String) {
    html.push_str(
        "<section class=\"card compare-card\" aria-labelledby=\"start-title\">\
         <h2 id=\"start-title\">How to begin</h2><ol class=\"compare-steps\">\
         <li>In <a href=\"/\">the explorer</a>, press <kbd>p</kbd> or the pin to keep a design, \
         turn knobs, and pin again: up to four.</li>\
         <li>Press <kbd>c</kbd> to compare them here. The address holds the whole comparison; \
         nothing is stored on the server.</li>\
         <li>Or let <a href=\"/find\">Find</a> propose layouts, and compare those.</li>\
         <li>Or begin with presets:</li></ol>",
    );
    html.push_str("<form class=\"compare-form\" method=\"get\" action=\"/compare\">");
    for place in 0..MAX_DESIGNS {
        let first = if place < 2 { "Choose a preset" } else { "None" };
        select(html, place, first, place < 2);
    }
    html.push_str("<button class=\"button primary\">Compare</button></form></section>");
    examples(html);
}

/// Comparisons to open.
fn examples(html: &mut String) {
    html.push_str(
        "<section class=\"card compare-card\" aria-labelledby=\"examples-title\">\
         <h2 id=\"examples-title\">Worth a look</h2><ul class=\"compare-examples\">",
    );
    for (title, links) in EXAMPLES {
        html.push_str("<li>");
        let attributes = format!("href=\"{}\"", escaped(&of(links).address()));
        element(html, "a", &attributes, title);
        html.push_str("</li>");
    }
    html.push_str("</ul></section>");
}

/// A form that adds a preset to what is compared.
pub(super) fn add(html: &mut String, chosen: &Chosen) {
    let place = chosen.designs.len();
    if place == 0 || place >= MAX_DESIGNS {
        return;
    }
    html.push_str("<form class=\"compare-form\" method=\"get\" action=\"/compare\">");
    let mut hidden = |name: &str, value: &str| {
        let (name, value) = (escaped(name), escaped(value));
        // Writing to a string can't fail.
        let _ = write!(html, "<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
    };
    for (place, choice) in chosen.designs.iter().enumerate() {
        hidden(&key(place), &choice.link);
        if !choice.name.is_empty() {
            hidden(&format!("{}.name", key(place)), &choice.name);
        }
    }
    hidden("baseline", &key(chosen.baseline));
    hidden("show", if chosen.all { "all" } else { "differences" });
    select(html, place, "Choose a preset", true);
    html.push_str("<button class=\"button\">Add</button></form>");
}

/// A list of presets for a place.
fn select(html: &mut String, place: usize, first: &str, required: bool) {
    let (key, letter) = (key(place), letter(place));
    let required = if required { " required" } else { "" };
    let _ = write!(
        html,
        "<label>Design {letter}<select name=\"{key}\"{required}><option value=\"\">{first}\
         </option>"
    );
    for (kind, heading) in [(PresetKind::Recipe, "Published runs"), (PresetKind::Model, "Models")] {
        let _ = write!(html, "<optgroup label=\"{heading}\">");
        let presets = Preset::all().filter(|preset| preset.refused.is_none());
        for preset in presets.filter(|preset| preset.kind == kind) {
            let link = link::encode(&preset.design());
            element(html, "option", &format!("value=\"{}\"", escaped(&link)), preset.title);
        }
        html.push_str("</optgroup>");
    }
    html.push_str("</select></label>");
}

#[cfg(test)]
mod tests {
    use model::Plan;

    use super::*;

    #[test]
    fn every_example_opens_and_runs() {
        for (title, links) in EXAMPLES {
            assert!((2..=MAX_DESIGNS).contains(&links.len()), "{title}");
            for link in *links {
                let design = link::decode(link).expect("a link that decodes");
                assert_eq!(link::encode(&design), *link, "{title}");
                assert_eq!(Plan::new(&design).err(), None, "{title}: {link}");
            }
        }
    }
}
