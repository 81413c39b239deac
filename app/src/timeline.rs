//! The timeline of a pipeline on the page: what the browser does with the figure that
//! [`present::timeline`] writes.
//!
//! [`timeline`] draws a figure of any [`Source`](present::timeline::Source) and knows neither the
//! explorer nor a plan. `widget` takes over what the server wrote, with a `picture` for each
//! canvas, and is told by `watch`; `save` gives the files away; `figure` is where all of it meets
//! the page.

mod figure;
mod picture;
mod save;
mod watch;
mod widget;

pub use figure::{Subject, TimelineFigure, frame, take_over, timeline};
pub use watch::PLAN;
