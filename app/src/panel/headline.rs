//! The headline: what the design is and what comes of it, in words.

use leptos::prelude::*;
use present::insight::headline::{in_short, outcome};
use present::site::Page;

use crate::explorer::Explorer;
use crate::reaction::memo;
use crate::widget::part::text;

/// Head of the page: Moescape's purpose, and the design's name, make-up and results.
pub fn headline(explorer: Explorer) -> impl IntoView {
    let short = memo(move || explorer.with_numbers(in_short));
    let outcome = memo(move || explorer.with_numbers(outcome));
    view! {
        <section class="design-head" aria-label="Design">
            <div class="lead">
                <p>
                    "Predicts how a mixture-of-experts model trains on your cluster, before you "
                    "book it. Turn a knob."
                </p>
                <p class="entry-links">
                    <a href="/import">"Import a model or script"</a>
                    <a href=Page::Ladder.path()>"Watch 18.9 → 30.0 → 41 % MFU"</a>
                </p>
            </div>
            <h1>{text(move || explorer.title())}</h1>
            <p class="outcome">{text(move || outcome.get())}</p>
            <p class="design-short">{text(move || short.get())}</p>
        </section>
    }
}
