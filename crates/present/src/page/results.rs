//! The page `/s/ID`: a sweep's results while it runs and afterwards.
//!
//! Everything is made of one [`Data`] and one [`View`]: the server writes the parts of the page as
//! text, the browser writes those anew that change and draws what is on canvases. How one looks at
//! it stands in the address. A finished sweep reads well without a script.

pub mod beside;
pub mod data;
pub mod heat;
pub mod parallel;
pub mod parts;
pub mod scale;
pub mod scatter;
pub mod select;
pub mod server_html;
#[cfg(test)]
mod tests;
pub mod view;
pub mod wire;

use std::sync::Arc;

pub use data::Data;
pub use heat::Grid;
pub use view::View;

/// Data that the server has when it renders the page; `None` if there is no such sweep.
#[derive(Clone, Debug)]
pub struct Served(pub Option<Arc<Data>>);
