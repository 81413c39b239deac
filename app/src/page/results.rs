//! The page `/s/ID`: a sweep's results while it runs and afterwards.
//!
//! Everything is made of one [`Data`] and one [`View`]: the server writes the parts of the page as
//! text, the browser writes those anew that change and draws what is on canvases. How one looks at
//! it stands in the address. A finished sweep reads well without a script.

mod browser;
pub mod data;
mod heat;
mod live;
mod page;
mod parallel;
pub mod parts;
mod pointer;
pub mod scale;
mod scatter;
pub mod select;
mod still;
#[cfg(test)]
mod tests;
pub mod view;
pub mod wire;

use std::sync::Arc;

pub use page::page;

pub use data::Data;
pub use heat::Grid;
pub use view::View;

/// What the server knows when it renders the page; none where there is no such sweep.
#[derive(Clone, Debug)]
pub struct Served(pub Option<Arc<Data>>);
