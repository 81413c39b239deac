//! What charts are drawn with: a plotters backend that writes SVG, a canvas on it, inks in place of
//! colours, measured text, and the frame with legend and axes.

pub(crate) mod ink;
pub mod palette;
pub mod text;
pub mod surface;
pub mod svg;
pub(crate) mod backend;
pub(crate) mod canvas;
pub mod axis;
pub(crate) mod frame;
pub(crate) mod labels;
pub mod scale;
pub(crate) mod shape;
pub(crate) mod legend;
