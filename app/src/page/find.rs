//! The page `/find`: which layout should this model run with on this machine?
//!
//! The page's address holds the whole question ([`request`]). The search runs in a worker of the
//! browser ([`run`], `script/find_worker.js`), or on the server for who has no script; both write what is
//! found with the same function ([`answer`]). The page around it is text that only the server
//! writes ([`form`]), and what can be done on it is a link or a form.

pub mod answer;
pub mod bar;
mod cards;
#[cfg(feature = "ssr")]
pub mod form;
#[cfg(any(feature = "ssr", test))]
pub mod options;
pub mod request;
pub mod run;
#[cfg(feature = "ssr")]
pub mod space;

use model::design::Design;
use model::link;

/// The page's address.
pub const PATH: &str = "/find";

/// The page's title.
pub const TITLE: &str = "Find a layout";

/// What the page is about, for search engines and previews of shared links.
pub const ABOUT: &str = "Which layout should a model run with on a cluster: the fastest, the \
                         safest and the simplest, each with its reasons and its margin";

/// Where layouts of a design are searched.
#[must_use]
pub fn address_of(design: &Design) -> String {
    format!("{PATH}?{}", link::encode(design))
}
