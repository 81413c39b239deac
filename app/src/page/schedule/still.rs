//! What never changes: a known example, computed here.

use std::sync::LazyLock;

use model::choice::{Choice, Method};

use super::input::Input;
use super::methods::about;
use super::query::address;
use super::run::run;
use super::words::seconds;
use crate::present::format;
use crate::present::html::element;
use crate::present::html::escape_into;

/// Methods of the example with their chunks; none is the usual number.
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
pub(super) fn html() -> &'static str {
    static HTML: LazyLock<String> = LazyLock::new(write);
    &HTML
}

fn write() -> String {
    let mut html = String::from(
        "<section class=\"card schedule-card\" aria-labelledby=\"golden-title\">\
         <h2 id=\"golden-title\">A known example</h2>",
    );
    let about_it = "p = 8, m = 32, F = dX = dW = 1 s, no time to send: the simulation's step. The \
                    closed forms give the same; V-Half has none.";
    element(&mut html, "p", "class=\"muted\"", about_it);
    html.push_str("<ul class=\"schedule-examples\">");
    for (method, chunks) in EXAMPLE {
        let input = Input { method, chunks, ..Input::default() };
        let Ok(ran) = run(&input) else { continue };
        html.push_str("<li><a class=\"button\" id=\"golden-");
        html.push_str(&format!("{}\" href=\"", html_id(&input)));
        escape_into(&mut html, &address(&input));
        html.push_str("\">");
        let chunks = match chunks {
            Some(count) => format!(", {}", format::counted(count, "chunk", "chunks")),
            None => String::new(),
        };
        escape_into(&mut html, &format!("{}{chunks} ", about(method).name));
        element(&mut html, "strong", "", &seconds(ran.seconds()));
        html.push_str("</a></li>");
    }
    html.push_str("</ul></section>");
    html
}

fn html_id(input: &Input) -> String {
    format!("{}-{}", input.method.name(), input.chunks())
}
