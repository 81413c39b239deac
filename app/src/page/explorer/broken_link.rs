//! The page of a link that doesn't decode: what is wrong, and links that open.

use leptos::prelude::*;
use maud::{Markup, html};
use model::catalogue::preset::Preset;
use model::design::Design;
use model::design::link;
use model::ground::knob::KnobError;
use present::format::counted;
use present::site::Page;
use present::words::name;

use crate::browser::on_server;
use crate::panel::header;

/// Says what is wrong with a link. Nothing of it changes: the browser leaves it as it is.
pub(super) fn broken_link(raw: &str, errors: &[KnobError]) -> impl IntoView + use<> {
    let content = on_server(|| content(raw, errors));
    view! {
        {header::beside(Page::Explorer, "reading", "Skip to the content")}
        <main id="reading" class="broken-link" inner_html=content></main>
    }
}

fn content(raw: &str, errors: &[KnobError]) -> String {
    let first = format!("/?v=1&preset={}", Preset::DEFAULT_ID);
    let content = html! {
        h1 { "This link can't be opened as it is" }
        p { "These parts couldn't be read, and nothing was substituted." }
        ul class="link-errors" { @for error in errors { (item(error)) } }
        @if let Some(design) = openable_rest(raw) { (rest(&design)) }
        p {
            a class="button" href=(first) { "Open the first preset" }
            " "
            a class="button" href=(Page::Find.path()) { "Find a layout" }
        }
    };
    content.into_string()
}

fn rest(design: &Design) -> Markup {
    let changed = counted(design.changed().len() as u64, "changed knob", "changed knobs");
    html! {
        p {
            a class="button primary" href={ "/?" (link::encode(design)) } {
                "Open the rest of the link"
            }
            " " (name::title(design)) " with " (changed)
        }
    }
}

fn item(error: &KnobError) -> Markup {
    html! {
        li data-rule=(error.rule) {
            strong { (error.knob) }
            p { (error.detail) }
            @if !error.nearest.is_empty() {
                p { "Closest valid value: " code { (error.nearest.join(", ")) } }
            }
        }
    }
}

/// The design of those parts of a link that decode; `None` if no part changes anything, or if it
/// isn't known which preset they change.
fn openable_rest(raw: &str) -> Option<Design> {
    let (design, errors) = link::salvage(raw);
    let has_preset = errors.iter().all(|error| error.knob != "preset");
    let is_unnamed = [Preset::DEFAULT_ID, Preset::UNNAMED_ID].contains(&design.preset.id);
    (has_preset && !(is_unnamed && design.changed().is_empty())).then_some(design)
}

#[cfg(test)]
mod tests {
    use model::design::KnobId;
    use model::ground::knob::Value;

    use super::*;

    #[test]
    fn the_rest_of_a_link_opens_without_its_broken_parts() {
        let raw = "?v=1&preset=pangu-ultra-moe-6k&no.such_knob=1\
                   &parallel.pipeline_model_parallel_size=8";
        let design = openable_rest(raw).expect("a rest");
        assert_eq!(design.changed(), [KnobId::pipeline_model_parallel_size]);
        assert_eq!(design.get(KnobId::pipeline_model_parallel_size), Value::Integer(8));
    }

    #[test]
    fn a_link_of_which_nothing_is_left_has_no_rest() {
        assert_eq!(openable_rest("?no.such_knob=1"), None);
        assert_eq!(openable_rest("?%zz&&&="), None);
        let unknown = "?preset=no-such&parallel.pipeline_model_parallel_size=8";
        assert_eq!(openable_rest(unknown), None);
    }
}
