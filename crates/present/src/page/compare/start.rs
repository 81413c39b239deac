//! How to begin: comparisons worth a look, presets to pick from, and how to pin a design.

use maud::{Markup, html};

use crate::form::lists::{KINDS, link, preset_groups};
use crate::form::{hidden, option, select};
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
                    (presets(place, if place < 2 { "Choose a preset" } else { "None" }, place < 2))
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
            (presets(place, "Choose a preset", true))
            button.button { "Add" }
        }
    }
}

/// A list of presets for a place.
fn presets(place: usize, first: &str, required: bool) -> Markup {
    let entries = html! { (option("", first, false)) (preset_groups(&KINDS, link, "")) };
    let list = select(entries).name(&key(place)).flag("required", required);
    list.within(html! { "Design " (letter(place)) })
}

#[cfg(test)]
mod tests {
    use model::Plan;
    use model::design::link;

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
