//! What charts are drawn with: a plotters backend that writes SVG, a canvas on it, inks in place of
//! colours, measured text, and the frame with legend and axes.

pub mod axis;
pub(crate) mod backend;
pub(crate) mod canvas;
pub(crate) mod frame;
pub(crate) mod ink;
pub(crate) mod labels;
pub(crate) mod legend;
pub mod palette;
pub mod scale;
pub(crate) mod shape;
pub mod surface;
pub mod svg;
pub mod text;
