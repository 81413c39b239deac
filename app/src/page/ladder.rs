//! The page `/ladder`: Pangu Ultra MoE from its baseline to its final run, one change at a time.
//!
//! Nothing on it depends on the visitor, so all of it is text that only the server writes; taking
//! the page over leaves it as it is, and the browser's module stays as light as it was.

#[cfg(feature = "ssr")]
mod content;
pub mod numbers;
mod page;

pub use page::page;

/// The page's address.
pub const PATH: &str = "/ladder";

/// The page's title.
pub const TITLE: &str = "From 18.9 % over 30.0 % to 41 % MFU";

/// What the page is about, for search engines and previews of shared links.
pub const ABOUT: &str = "Pangu Ultra MoE from its baseline to its final run, one change at a time: \
                         what each is predicted to gain beside what is published of it";
