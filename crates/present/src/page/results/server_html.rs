//! What never changes on the page: its frame, which only the server writes.

use maud::{Markup, PreEscaped, html};

use super::data::Data;
use super::parts;
use super::select::select;
use super::view::View;
use crate::site::Page;

/// The main part of the page.
pub fn main(data: &Data, view: &View) -> String {
    const IMPORTANCE: &str = "How much the mean of the first objective changes across a knob's \
                              values, over all feasible designs: (largest − smallest mean) / \
                              largest mean. The effects don't add up to 100 %.";
    const REASONS: &str =
        "Each design counts once, under the first rule or constraint that it breaks.";
    let selection = select(data, view);
    let markup = html! {
        (head(data))
        div.card.sweep-card {
            (part("status", "", parts::status(data)))
            (part("actions", "sweep-actions only-live", parts::actions(data, false)))
        }
        h2.visually-hidden { "Best designs" }
        (part("best", "sweep-bests", parts::best(data)))
        div.card.sweep-bar.only-live role="region" aria-label="Selection" {
            (part("bar", "sweep-selection", parts::bar(data, view, &selection)))
            (part("current", "sweep-current", parts::current(data, view, None)))
        }
        (part("pins", "card sweep-card sweep-pins", parts::pins(data, view)))
        (pictures(data, view))
        section.card.sweep-card aria-labelledby="designs-title" {
            div.sweep-card-head {
                h2 #designs-title { "Designs" }
                label.only-live {
                    "Find "
                    input type="search" class="sweep-words" #words data-do="words"
                        autocomplete="off" placeholder="such as tp=8 front" value=(view.words);
                }
                button type="button" class="button only-live" #pin-first data-do="pin-first" {
                    "Pin the first three of the front"
                }
                button type="button" class="button only-live" #csv data-do="csv" { "These as CSV" }
            }
            p #pinned-said class="muted sweep-pinned-said only-live" {}
            (part("table", "", parts::table(data, view, &selection)))
        }
        div.sweep-grid {
            (card("reasons", "What ruled out the rest", REASONS, parts::reasons(data)))
            (card("importance", "Which knobs matter", IMPORTANCE, parts::importance(data)))
        }
    };
    markup.into_string()
}

/// Name and ways out.
fn head(data: &Data) -> Markup {
    let name = if data.name.is_empty() { "Sweep" } else { &data.name };
    let path = format!("/api/v1/sweeps/{}", data.id);
    html! {
        div.sweep-head {
            h1 { (name) }
            p.sweep-links {
                @if !data.base.is_empty() {
                    a #base-design data-design href={ "/?" (data.base) } { "Base design" } " "
                }
                a href={ (Page::Sweep.path()) "?sweep=" (data.id) } { "Edit and rerun" }
                " "
                span {
                    "Download "
                    a download href={ (path) "/rows?format=csv" } { "CSV" } ", "
                    a download href={ (path) "/rows?format=jsonl" } { "JSON lines" } ", "
                    a download href={ (path) "/rows?format=parquet" } { "Parquet" } ", "
                    a download="moescape-sweep.json" href=(path) { "result as JSON" }
                }
            }
        }
    }
}

/// A part that the browser writes anew when it changes.
fn part(name: &str, class: &str, inner: String) -> Markup {
    let class = Some(class).filter(|class| !class.is_empty());
    html! { div id={ "part-" (name) } class=[class] { (PreEscaped(inner)) } }
}

fn card(name: &str, title: &str, about: &str, inner: String) -> Markup {
    html! {
        section.card.sweep-card aria-labelledby={ (name) "-title" } {
            h2 id={ (name) "-title" } { (title) }
            p.muted { (about) }
            (scrolled(&format!("part-{name}"), title, inner))
        }
    }
}

/// A table that may be wider than the page.
fn scrolled(id: &str, title: &str, table: String) -> Markup {
    html! {
        div.scroll-x role="region" tabindex="0" aria-label={ (title) ", table" } id=(id) {
            (PreEscaped(table))
        }
    }
}

/// The pictures, which need a script; a table is beside each.
fn pictures(data: &Data, view: &View) -> Markup {
    const SCATTER: &str = "Designs by two metrics. Arrow keys go from design to design, Enter \
                           opens one, P pins it. The table of designs has the same numbers.";
    const HEAT: &str = "The best of the first objective for each two values. Arrow keys go from \
                        cell to cell, Enter opens its best design. The table below has the same \
                        numbers.";
    const PARALLEL: &str = "Designs as lines over all axes. The table of axes below brushes, hides \
                            and orders them by keys.";
    let heat = parts::heat_controls(data, view);
    html! {
        div.sweep-grid {
            section.card.sweep-card.only-live aria-labelledby="scatter-title" {
                h2 #scatter-title { "Trade-off" }
                (part("scatter-controls", "sweep-controls", parts::scatter_controls(data, view)))
                (canvas("scatter", SCATTER))
                p.muted {
                    span.sweep-key.front aria-hidden="true" { "◆" }
                    " on the Pareto front: none is better in every objective. "
                    span.sweep-key aria-hidden="true" { "●" }
                    " a random sample of the rest; darker where there are more. "
                    span.sweep-key.beside aria-hidden="true" { "○" }
                    " your base design and pins, at the edge where they are beyond it."
                }
            }
            section.card.sweep-card aria-labelledby="heat-title" {
                h2 #heat-title { "Two knobs" }
                (part("heat-controls", "sweep-controls only-live", heat))
                div.only-live {
                    (canvas("heat", HEAT))
                    p #heat-said class="muted sweep-said" aria-live="polite" {
                        "The best of the first objective in each cell; a click opens that design. "
                        "Hatched: no feasible design."
                    }
                }
                details.figure-table {
                    summary { "The same as a table" }
                    (scrolled("part-heat-table", "Two knobs", parts::heat_table(data, view)))
                }
            }
        }
        section.card.sweep-card.only-live aria-labelledby="parallel-title" {
            h2 #parallel-title { "All knobs at once" }
            p.muted {
                "Drag along an axis to brush a range, at its ends to widen it, and an axis by its "
                "name to move it. Brushes apply to every view."
            }
            div.scroll-x #parallel-scroll { (canvas("parallel", PARALLEL)) }
            details.figure-table #axes-details {
                summary { "Axes, ranges and order" }
                (scrolled("part-axes", "Axes", parts::axes(data, view)))
            }
        }
    }
}

/// A picture in two layers: what rarely changes, and what a pointer is on.
fn canvas(name: &str, about: &str) -> Markup {
    html! {
        div class={ "sweep-canvas " (name) } id=(name) role="img" tabindex="0" aria-label=(about) {
            canvas id={ (name) "-base" } {}
            canvas id={ (name) "-over" } {}
        }
        p.figure-save {
            button type="button" class="text-button" id={ "svg-" (name) } data-do="svg"
                data-with=(name) { "Save as SVG" }
            button type="button" class="text-button" data-save-canvas=(name) { "Save as PNG" }
        }
    }
}

/// The page where there is no such sweep.
pub fn missing() -> String {
    let markup = html! {
        div.card.sweep-card {
            h1 { "There is no such sweep" }
            p {
                "It may have been removed, or the link may be cut off. Sweeps live on the server "
                "that ran them."
            }
            p { a href=(Page::Sweep.path()) { "Build a sweep" } }
        }
    };
    markup.into_string()
}
