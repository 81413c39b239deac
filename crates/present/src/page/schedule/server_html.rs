//! What never changes: a known example, computed here.

use std::sync::LazyLock;

use maud::html;
use model::ground::choice::{Choice, Method};

use super::input::Input;
use super::labels::seconds;
use super::methods::about;
use super::query::address;
use super::run::run;
use crate::format;

/// Methods of the example with their chunks; `None` is the usual number.
const EXAMPLE: [(Method, Option<u64>); 9] = [
    (Method::OneForwardOneBackward, None),
    (Method::Interleaved, None),
    (Method::Interleaved, Some(4)),
    (Method::ZbH1, None),
    (Method::Zb2p, None),
    (Method::ZbV, None),
    (Method::VHalf, None),
    (Method::DualPipe, None),
    (Method::DualPipeV, None),
];

/// The part of the page as HTML text.
pub fn html() -> &'static str {
    static HTML: LazyLock<String> = LazyLock::new(write);
    &HTML
}

fn write() -> String {
    let inputs = EXAMPLE.map(|(method, chunks)| Input { method, chunks, ..Input::default() });
    let markup = html! {
        section.card.schedule-card aria-labelledby="golden-title" {
            h2 #golden-title { "A known example" }
            p.muted {
                "p = 8, m = 32, F = dX = dW = 1 s, no time to send: the simulation's step. The "
                "closed forms give the same; V-Half has none."
            }
            ul.schedule-examples {
                @for ran in inputs.iter().filter_map(|input| run(input).ok()) {
                    @let Input { method, chunks, .. } = ran.input;
                    li {
                        a.button href=(address(&ran.input))
                            id={ "golden-" (method.name()) "-" (ran.input.chunks()) } {
                            (about(method).name)
                            @if let Some(count) = chunks {
                                ", " (format::counted(count, "chunk", "chunks"))
                            }
                            " " strong { (seconds(ran.seconds())) }
                        }
                    }
                }
            }
        }
    };
    markup.into_string()
}
