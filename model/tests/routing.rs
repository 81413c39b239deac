//! Loads of experts, their placement and their planner, by themselves.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

#[path = "routing/capacity.rs"]
mod capacity;
#[path = "routing/generator.rs"]
mod generator;
#[path = "routing/packed.rs"]
mod packed;
#[path = "routing/placement.rs"]
mod placement;
#[path = "routing/planner.rs"]
mod planner;
#[path = "routing/published.rs"]
mod published;
#[path = "routing/text.rs"]
mod text;
#[path = "routing/trace.rs"]
mod trace;

use model::routing::{Generator, Size, Trace};

/// A run of 256 experts, of which a token visits 8.
fn size(steps: usize, layers: usize) -> Size {
    Size { steps, stride: 1, layers, experts: 256, tokens: 1 << 20, topk: 8 }
}

fn generated(generator: &Generator, size: &Size) -> Trace {
    generator.trace(size).unwrap()
}
