//! The page `/s/ID`: a sweep's results while it runs and afterwards.
//!
//! Everything is made of one [`Data`] and one [`View`]: the server writes the parts of the page as
//! text, the browser writes those anew that change and draws what is on canvases. How one looks at
//! it stands in the address. A finished sweep reads well without a script.

mod beside;
mod browser;
pub mod data;
mod heat;
mod live;
mod parallel;
pub mod parts;
mod pointer;
pub mod scale;
mod scatter;
pub mod select;
mod server_html;
#[cfg(test)]
mod tests;
pub mod view;
pub mod wire;

use std::sync::Arc;

use leptos::prelude::*;
use present::site::Page;

pub use data::Data;
pub use heat::Grid;
pub use view::View;

use crate::browser::on_server;
use crate::panel::header;

/// What the server knows when it renders the page; none where there is no such sweep.
#[derive(Clone, Debug)]
pub struct Served(pub Option<Arc<Data>>);

/// The page of a sweep as a raw query string asks to see it.
pub fn page(raw: &str) -> impl IntoView + use<> {
    browser::install(raw.to_owned());
    view! {
        <div class="sweep-page">
            {header::beside(Page::Results, "results", "Skip to the results")}
            <main id="results" class="sweep-main" inner_html=on_server(|| html(raw))></main>
            <p id="sweep-said" class="visually-hidden" role="status" aria-live="polite"></p>
        </div>
    }
}

fn html(raw: &str) -> String {
    let served = use_context::<Served>().and_then(|served| served.0);
    served
        .map_or_else(server_html::missing, |data| server_html::main(&data, &View::from_query(raw)))
}
