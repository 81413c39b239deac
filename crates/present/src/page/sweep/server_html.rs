//! The page's frame, which only the server writes.

use maud::{PreEscaped, html};

use super::{Served, form};
use crate::insight::spec;
use crate::site::Page;

/// Estimates before a sweep starts: designs of the space, to be looked at, legal, that keep all
/// constraints, and how long it takes; and how that is known.
pub fn cost(values: &[&str; 5], how: &str) -> String {
    let names = ["Designs of the space", "Planned", "Legal", "Feasible", "Takes"];
    let markup = html! {
        dl.sweep-counts {
            @for (name, value) in names.into_iter().zip(values) {
                div { dt { (name) } dd { (value) } }
            }
        }
        p.muted { (how) }
    };
    markup.into_string()
}

/// The main part of the page.
pub fn main(served: &Served) -> String {
    // The room that the numbers take is there before they are.
    let cost = cost(&["…"; 5], "Counted as soon as the page is ready.");
    let markup = html! {
        div.sweep-head {
            h1 { (Page::Sweep.title()) }
            @if !served.published.is_empty() {
                p.sweep-links {
                    "Start from"
                    @for (name, title) in &served.published {
                        " " a href={ (Page::Sweep.path()) "?spec=" (name) } { (title) }
                    }
                }
            }
        }
        @for problem in &served.problems {
            p.card.sweep-card.build-wrong role="alert" { (problem) }
        }
        div.build {
            form.card.sweep-card.build-form #part-form aria-label="The sweep" {
                @match spec::parse(&served.text) {
                    Ok(tree) => (PreEscaped(form::form(&tree, &[]))),
                    Err(error) => p.build-wrong { (error) },
                }
            }
            div.build-side {
                section.card.sweep-card.build-cost aria-labelledby="cost-title" {
                    h2 #cost-title { "Before it starts" }
                    div #part-cost aria-live="polite" { (PreEscaped(cost)) }
                    noscript {
                        p.muted {
                            "Without JavaScript, post the text below to "
                            code { "/api/v1/sweeps" } ", or run it with "
                            code { "moescape sweep" } "."
                        }
                    }
                    button type="button" class="button primary only-live" #start data-do="start"
                        disabled { "Start the sweep" }
                }
                section.card.sweep-card aria-labelledby="text-title" {
                    div.sweep-card-head {
                        h2 #text-title { "The spec as text" }
                        button type="button" class="button only-live" #copy data-do="copy" {
                            "Copy"
                        }
                        button type="button" class="button only-live" #curl data-do="curl" {
                            "Copy as curl"
                        }
                        label.button.only-live {
                            "Open a file…"
                            input type="file" class="visually-hidden" #file data-do="file"
                                accept=".toml,.json";
                        }
                    }
                    p.muted {
                        "TOML, as " code { "moescape sweep" } " reads it; JSON can be pasted or \
                            dropped here too. Form and text stay in sync."
                    }
                    textarea #spec data-do="text" class="build-spec" spellcheck="false"
                        autocomplete="off" aria-labelledby="text-title"
                        aria-describedby="part-text-wrong" rows="28" { "\n" (served.text) }
                    div #part-text-wrong class="build-wrong" {}
                }
            }
        }
    };
    markup.into_string()
}
