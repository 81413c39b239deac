//! How to begin: comparisons worth a look, presets to pick from, and how to pin a design.

use maud::{Markup, html};
use model::catalogue::preset::{Preset, PresetKind};
use model::design::link;

use crate::site::chosen::{Chosen, MAX_DESIGNS, key, letter};

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
        "The final run without overlap, also without virtual stages, and without recomputation",
        &[
            "v=1&preset=pangu-ultra-moe-6k@2",
            "v=1&preset=pangu-ultra-moe-6k@2&schedule.method=interleaved\
             &schedule.delay_wgrad_compute=false",
            "v=1&preset=pangu-ultra-moe-6k@2&parallel.virtual_pipeline_model_parallel_size=1\
             &schedule.method=1f1b&schedule.delay_wgrad_compute=false",
            "v=1&preset=pangu-ultra-moe-6k@2&memory.recompute_granularity=none\
             &memory.recompute_modules=none",
        ],
    ),
];

/// The page without designs.
pub(super) fn empty() -> Markup {
    html! {
        section.card.compare-card aria-labelledby="start-title" {
            h2 #start-title { "How to begin" }
            ol.compare-steps {
                li {
                    "In " a href="/" { "the explorer" } ", press " kbd { "p" }
                    " or the pin to keep a design, turn knobs, and pin again: up to four."
                }
                li {
                    "Press " kbd { "c" } " to compare them here. The address holds the whole "
                    "comparison; nothing is stored on the server."
                }
                li { "Or let " a href="/find" { "Find" } " propose layouts, and compare those." }
                li { "Or begin with presets:" }
            }
            form.compare-form method="get" action="/compare" {
                @for place in 0..MAX_DESIGNS {
                    (select(place, if place < 2 { "Choose a preset" } else { "None" }, place < 2))
                }
                button.button.primary { "Compare" }
            }
        }
        section.card.compare-card aria-labelledby="examples-title" {
            h2 #examples-title { "Worth a look" }
            ul.compare-examples {
                @for (title, links) in EXAMPLES {
                    @let chosen = Chosen::of_links(links.iter().copied());
                    li { a href=(chosen.address()) { (title) } }
                }
            }
        }
    }
}

/// A form that adds a preset to what is compared.
pub(super) fn add(chosen: &Chosen) -> Markup {
    let place = chosen.designs.len();
    if place == 0 || place >= MAX_DESIGNS {
        return Markup::default();
    }
    html! {
        form.compare-form method="get" action="/compare" {
            @for (place, choice) in chosen.designs.iter().enumerate() {
                (hidden(&key(place), &choice.link))
                @if !choice.name.is_empty() {
                    (hidden(&format!("{}.name", key(place)), &choice.name))
                }
            }
            (hidden("baseline", &key(chosen.baseline)))
            (hidden("show", if chosen.all { "all" } else { "differences" }))
            (select(place, "Choose a preset", true))
            button.button { "Add" }
        }
    }
}

fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// A list of presets for a place.
fn select(place: usize, first: &str, required: bool) -> Markup {
    let presets = |kind| Preset::all().filter(move |it| it.refused.is_none() && it.kind == kind);
    let kinds = [(PresetKind::Recipe, "Published runs"), (PresetKind::Model, "Models")];
    html! {
        label {
            "Design " (letter(place))
            select name=(key(place)) required[required] {
                option value="" { (first) }
                @for (kind, heading) in kinds {
                    optgroup label=(heading) {
                        @for preset in presets(kind) {
                            option value=(link::encode(&preset.design())) { (preset.title) }
                        }
                    }
                }
            }
        }
    }
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
