//! The body of each page: [`App`] writes any of them on the server, and each module of the site
//! takes over those that are its own, and knows no other.

#[cfg(feature = "ssr")]
use leptos::either::EitherOf11;
#[cfg(feature = "hydrate")]
use leptos::either::{Either, EitherOf4};
#[cfg(feature = "ssr")]
use leptos::prelude::*;
use model::design::link;
use present::site::Page;

#[cfg(feature = "ssr")]
use super::RawQuery;
#[cfg(feature = "hydrate")]
use super::hydration::take_over;
use crate::page::{
    budget, compare, explorer, ladder, results, review, schedule, serving, sweep, trust,
};

/// The requested [`Page`], as the server writes it; the explorer shows the link in [`RawQuery`], or
/// what is wrong with it.
#[cfg(feature = "ssr")]
#[component]
#[expect(clippy::wildcard_enum_match_arm, reason = "pages without a module are written elsewhere")]
pub fn App() -> impl IntoView {
    let raw = use_context::<RawQuery>().unwrap_or_default().0;
    match use_context::<Page>().unwrap_or_default() {
        Page::Trust => EitherOf11::C(trust::page(&raw)),
        Page::Ladder => EitherOf11::D(ladder::page()),
        Page::Schedule => EitherOf11::E(schedule::page(&raw)),
        Page::Sweep => EitherOf11::F(sweep::page()),
        Page::Results => EitherOf11::G(results::page(&raw)),
        Page::Compare => EitherOf11::H(compare::page(&raw)),
        Page::Review => EitherOf11::I(review::page()),
        Page::Serving => EitherOf11::J(serving::page(&raw)),
        Page::Budget => EitherOf11::K(budget::page(&raw)),
        _ => match link::decode(&raw) {
            Ok(design) => EitherOf11::A(explorer::page(design)),
            Err(errors) => EitherOf11::B(explorer::broken_link::broken_link(&raw, &errors)),
        },
    }
}

/// Takes over the explorer.
#[cfg(feature = "hydrate")]
pub fn explorer() {
    take_over(|_, raw| match link::decode(raw) {
        Ok(design) => Either::Left(explorer::page(design)),
        Err(errors) => Either::Right(explorer::broken_link::broken_link(raw, &errors)),
    });
}

/// Takes over the pages beside the explorer.
#[cfg(feature = "hydrate")]
#[expect(clippy::wildcard_enum_match_arm, reason = "a module knows its own pages alone")]
pub fn pages() {
    take_over(|page, raw| match page {
        Page::Trust => Some(EitherOf4::A(trust::page(raw))),
        Page::Ladder => Some(EitherOf4::B(ladder::page())),
        Page::Schedule => Some(EitherOf4::C(schedule::page(raw))),
        Page::Compare => Some(EitherOf4::D(compare::page(raw))),
        _ => None,
    });
}

/// Takes over the pages of sweeps.
#[cfg(feature = "hydrate")]
#[expect(clippy::wildcard_enum_match_arm, reason = "a module knows its own pages alone")]
pub fn sweeps() {
    take_over(|page, raw| match page {
        Page::Sweep => Some(Either::Left(sweep::page())),
        Page::Results => Some(Either::Right(results::page(raw))),
        _ => None,
    });
}

/// Takes over the page of serving.
#[cfg(feature = "hydrate")]
pub fn serving() {
    take_over(|page, raw| (page == Page::Serving).then(|| serving::page(raw)));
}

/// Takes over the page of budgets.
#[cfg(feature = "hydrate")]
pub fn budget() {
    take_over(|page, raw| (page == Page::Budget).then(|| budget::page(raw)));
}

/// Takes over review sessions.
#[cfg(feature = "hydrate")]
pub fn reviews() {
    take_over(|page, _| (page == Page::Review).then(review::page));
}
