//! Measured loads of serving near a design, for the chart of its page.

use model::design::Design;
use model::design::link;
use present::page::serving::measured::{Measured, Point};
use validation::serving::points;

/// Largest factor by which prompts and answers of loads that are shown are longer or shorter.
const TIMES: f64 = 1.5;

/// The loads of a design, which the page has when it is written.
pub(crate) fn of(design: &Design) -> Measured {
    let (near, others) = points::near(design, TIMES);
    let points = near.into_iter().map(|point| Point {
        per_user: point.per_user,
        per_device: point.per_device,
        name: format!("{}, {}", point.framework, point.id),
        link: link::encode(&point.design),
    });
    Measured { points: points.collect(), others }
}
