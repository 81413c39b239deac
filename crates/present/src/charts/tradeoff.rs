//! What each module frees at the peak, against the MFU that it costs.

use crate::draw::axis::Axis;
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, empty, opening, polyline, svg,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::labels::Labels;
use crate::draw::legend::{Key, Legend};
use crate::draw::text::{TEXT_SIZE, finite, fixed, text_width};
use crate::format;
use crate::insight::memory_view::{Module, Price, pareto};

/// Height of the plot, in pixels.
const PLOT_HEIGHT: i32 = 200;

/// Half the size of a mark, in pixels.
const RADIUS: i32 = 5;

/// Memory that each module frees against the MFU that it costs.
#[must_use]
pub fn memory_tradeoff(prices: &[Price], width: u32) -> String {
    let width = drawn_width(width);
    if prices.is_empty() {
        return empty(width, "No module frees memory of this design");
    }
    let far = |at: fn(&Price) -> f64, least: f64| prices.iter().map(at).fold(least, f64::max);
    let low = |at: fn(&Price) -> f64| prices.iter().map(at).fold(0.0, f64::min);
    let legend = Legend::new(width, keys());
    let top = legend.height() + 2 * LINE;
    let bottom = top + PLOT_HEIGHT;
    let y_most = far(points, 0.1);
    let y_least = low(points).min(-0.06 * y_most);
    let y = Axis::linear(y_least, y_most * 1.08, 4, "MFU cost (points)");
    let x_most = far(size, 0.1);
    let x_least = low(size).min(-0.04 * x_most);
    let x = Axis::linear(
        x_least,
        x_most * 1.06,
        5,
        &format!("Saved at the peak ({})", format::memory_unit()),
    );
    let left = y.label_width() + TEXT_GAP;
    let frame = Frame { left, right: width - RADIUS, top, bottom, x, y };
    svg(width, bottom + Frame::BELOW, &label(prices), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        let line: Vec<_> = pareto(prices).into_iter().map(|price| place(&plot, price)).collect();
        polyline(canvas, line, Ink::Kept);
        draw_points(canvas, &plot, &frame, prices);
    })
}

/// The numbers of [`memory_tradeoff()`], the header first.
#[must_use]
pub fn memory_tradeoff_table(prices: &[Price]) -> Vec<Vec<String>> {
    let frees = format!("Frees ({})", format::memory_unit());
    let header = ["Module", &frees, "MFU cost (points)", "Now", "On the Pareto line"];
    let best = pareto(prices);
    let rows = prices.iter().map(|price| {
        let yes = |is: bool, word: &str| if is { word.to_owned() } else { String::new() };
        vec![
            price.module.label(),
            fixed(size(price), 2),
            fixed(points(price), 2),
            if price.is_on { "on".to_owned() } else { "off".to_owned() },
            yes(best.contains(&price), "yes"),
        ]
    });
    std::iter::once(header.map(String::from).to_vec()).chain(rows).collect()
}

/// In the visitor's unit.
fn size(price: &Price) -> f64 {
    finite(format::memory_number(price.frees))
}

fn points(price: &Price) -> f64 {
    finite(price.costs * 100.0)
}

fn ink(module: Module) -> Ink {
    match module {
        Module::Recompute(_) => Ink::Compute,
        Module::Swap(_) => Ink::Host,
    }
}

fn keys() -> Vec<Key> {
    let bar = |ink, fill, text: &str| Key::bar(ink, fill, text);
    vec![
        bar(Ink::Compute, Fill::Hollow, "Recompute, off"),
        bar(Ink::Compute, Fill::Solid, "on"),
        bar(Ink::Host, Fill::Hollow, "Swap, off"),
        bar(Ink::Host, Fill::Solid, "on"),
        Key::line(Ink::Kept, None, "Pareto line"),
    ]
}

fn label(prices: &[Price]) -> String {
    let (best, unit) = (pareto(prices), format::memory_unit());
    let words = best.iter().map(|price| {
        format!(
            "{} frees {} {unit} for {} points",
            price.module.label(),
            fixed(size(price), 1),
            fixed(points(price), 2)
        )
    });
    let words: Vec<String> = words.collect();
    format!(
        "Peak memory saved vs MFU cost, {} modules. The cheapest: {}.",
        prices.len(),
        if words.is_empty() { String::from("none") } else { words.join(", ") },
    )
}

fn place(plot: &Plot<'_>, price: &Price) -> (i32, i32) {
    plot.map_coordinate(&(size(price), points(price)))
}

/// The points, and their names where there is room.
fn draw_points(canvas: &Canvas<'_>, plot: &Plot<'_>, frame: &Frame, prices: &[Price]) {
    let boxed = |(x, y): (i32, i32)| (x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS);
    let marks = prices.iter().map(|price| boxed(place(plot, price))).collect();
    let mut labels = Labels::new(frame, marks);
    for price in prices {
        let (x, y) = place(plot, price);
        let fill = if price.is_on { Fill::Solid } else { Fill::Hollow };
        let corners = [(x - RADIUS, y - RADIUS), (x + RADIUS, y + RADIUS)];
        let mark = Mark { corners, ink: ink(price.module), fill };
        let title = format!(
            "{}: {} {} freed, {} points of MFU lost\n{}",
            price.module.label(),
            fixed(size(price), 2),
            format::memory_unit(),
            fixed(points(price), 2),
            if price.is_on { "On; press to turn it off" } else { "Off; press to turn it on" },
        );
        let opens = price.module.label();
        opening(canvas, &title, &opens, &[mark]);
    }
    for price in prices {
        let (x, y) = place(plot, price);
        let name = price.module.label();
        let width = text_width(&name, TEXT_SIZE);
        let beside = RADIUS + 4;
        let places = [
            (x - width / 2, y - LINE),
            (x + beside, y),
            (x - beside - width, y),
            (x - width / 2, y + LINE),
        ];
        labels.write(canvas, &name, Ink::Text, places);
    }
}
