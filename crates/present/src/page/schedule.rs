//! The page `/schedule`: pipeline schedules alone, with task times that one types in.
//!
//! The whole state is an [`Input`] and stands in the address. What comes of it is made once by
//! [`run`] and put into words by `labels`, the same on the server and in the browser; parts of the
//! page that change together are HTML text, and every way from one state to another is a link, so
//! the page also works without a script. What never changes is text that only the server writes.

pub mod methods;
pub mod input;
mod of_design;
pub mod query;
pub mod broken;
pub mod run;
pub mod labels;
pub mod form;
pub mod server_html;

pub use input::Input;
pub use of_design::of_design;
