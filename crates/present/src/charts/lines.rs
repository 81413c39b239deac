//! Lines over a common axis, each with marks of its own shape.

use model::ground::sorting::sort_numbers;

use crate::draw::axis::{Axis, Tick};
use crate::draw::canvas::{
    Fill, LINE, Mark, TEXT_GAP, drawn_width, empty, line, polyline, svg, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend, POINT};
use crate::draw::text::{finite, fixed};

/// Height of the plot, in pixels.
const PLOT_HEIGHT: i32 = 180;

/// Room between two marks of a line, in pixels: where points are closer, some have none.
const MARK_ROOM: i32 = 2 * POINT.0 + 1;

/// Inks and marks of the lines, in their order.
const LOOKS: [(Ink, Fill); 5] = [
    (Ink::Loss, Fill::Round),
    (Ink::Kept, Fill::Solid),
    (Ink::Gain, Fill::Hollow),
    (Ink::Range, Fill::Hatched),
    (Ink::Published, Fill::Round),
];

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name of the line.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Whether its points are separate, without a line between them.
    pub is_apart: bool,
}

/// Lines over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Description of the chart, in words.
    pub label: String,
    /// Title of the horizontal axis, with its unit.
    pub x_title: String,
    /// Title of the vertical axis, with its unit.
    pub y_title: String,
    /// The lines, at most five.
    pub lines: Vec<Line>,
    /// Labels of places along the chart; round numbers without.
    pub ticks: Option<Vec<(f64, String)>>,
    /// Places along the chart that matter, each with a word.
    pub places: Vec<(f64, String)>,
    /// The least of what goes up, at least as low as the lowest point.
    pub from: f64,
    /// Digits behind the point in titles of marks.
    pub decimals: usize,
}

/// Lines over a common axis.
#[must_use]
pub fn lines(chart: &Lines, width: u32) -> String {
    let width = drawn_width(width);
    let points = || chart.lines.iter().flat_map(|line| &line.points);
    if points().next().is_none() {
        return empty(width, "There is nothing to show");
    }
    let legend = Legend::new(width, chart.lines.iter().zip(LOOKS).map(key).collect());
    let far = |of: fn(&(f64, f64)) -> f64, start: f64| points().map(of).fold(start, f64::max);
    let near = |of: fn(&(f64, f64)) -> f64, start: f64| points().map(of).fold(start, f64::min);
    let low = near(|point| finite(point.1), chart.from);
    let high = far(|point| finite(point.1), low + 1e-6);
    let y = Axis::linear(low, high + (high - low) * 0.08, 4, &chart.y_title);
    let (from, to) = (near(|p| finite(p.0), f64::MAX), far(|p| finite(p.0), f64::MIN));
    let x = x_axis(chart, from, if to > from { to } else { from + 1.0 });
    let top = legend.height() + 2 * LINE;
    let bottom = top + PLOT_HEIGHT;
    let left = y.label_width() + TEXT_GAP;
    let frame = Frame { left, right: width - 2 * POINT.0, top, bottom, x, y };
    svg(width, bottom + Frame::BELOW, &chart.label, &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        for (x, _) in &chart.places {
            let (x, _) = plot.map_coordinate(&(*x, low));
            line(canvas, (x, frame.top), (x, frame.bottom), Ink::Current);
        }
        for (one, (ink, fill)) in chart.lines.iter().zip(LOOKS) {
            let place = |(x, y): &(f64, f64)| plot.map_coordinate(&(finite(*x), finite(*y)));
            let path: Vec<_> = one.points.iter().map(place).collect();
            if !one.is_apart {
                polyline(canvas, path.clone(), ink);
            }
            let all = frame.right - frame.left;
            let every = if one.is_apart { 1 } else { marked_every(path.len(), all) };
            for ((x, y), value) in path.into_iter().zip(&one.points).step_by(every) {
                let corners = [(x - POINT.0, y - POINT.1), (x + POINT.0, y + POINT.1)];
                let number = fixed(finite(value.1), chart.decimals);
                let title = format!("{}: {number} at {}", one.name, named(chart, value.0));
                let marks = [Mark { corners, ink, fill }];
                titled(canvas, &title, &marks);
            }
        }
    })
}

/// The numbers of [`lines()`], the header first.
#[must_use]
pub fn lines_table(chart: &Lines) -> Vec<Vec<String>> {
    let mut header = vec![chart.x_title.clone()];
    header.extend(chart.lines.iter().map(|line| line.name.clone()));
    let mut places: Vec<f64> =
        chart.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
    sort_numbers(&mut places);
    places.dedup();
    let rows = places.into_iter().map(|place| {
        let cell = |line: &Line| {
            let point = line.points.iter().find(|point| point.0.total_cmp(&place).is_eq());
            point.map_or_else(String::new, |point| fixed(finite(point.1), chart.decimals))
        };
        let mut row = vec![named(chart, place)];
        row.extend(chart.lines.iter().map(cell));
        row
    });
    std::iter::once(header).chain(rows).collect()
}

/// Spacing of marks: one of this many points gets one, for `points` points over `width` pixels.
fn marked_every(points: usize, width: i32) -> usize {
    let most = (width / MARK_ROOM).max(1) as usize;
    // Marks that nearly touch would be a band: where not all have room, few are enough.
    if points <= most { 1 } else { (3 * points).div_ceil(most) }
}

fn key((line, (ink, fill)): (&Line, (Ink, Fill))) -> Key {
    Key::line(ink, Some(fill), line.name.clone())
}

/// A place along the chart as its label has it.
fn named(chart: &Lines, place: f64) -> String {
    let ticks = chart.ticks.iter().flatten();
    let mut at = ticks.filter(|(at, _)| at.total_cmp(&place).is_eq());
    at.next().map_or_else(
        || fixed(finite(place), if place.fract().abs() > 0.0 { 2 } else { 0 }),
        |(_, words)| words.clone(),
    )
}

fn x_axis(chart: &Lines, from: f64, to: f64) -> Axis {
    let tick = |at: f64, text: String, keep: bool| {
        let ink = if keep { Ink::Current } else { Ink::Quiet };
        Tick { at, text, ink, keep, rule: None }
    };
    let mut axis = match &chart.ticks {
        None => Axis::linear(from, to, 6, &chart.x_title),
        Some(ticks) => Axis {
            from,
            to,
            ticks: ticks.iter().map(|(at, words)| tick(*at, words.clone(), false)).collect(),
            title: chart.x_title.clone(),
        },
    };
    for one in &mut axis.ticks {
        one.rule = None;
    }
    let inside = chart.places.iter().filter(|(at, _)| (from..=to).contains(at));
    axis.ticks.extend(inside.map(|(at, words)| tick(*at, words.clone(), true)));
    axis
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    #[test]
    fn a_long_line_has_every_point_and_few_marks() {
        let points = |count: u32| (0..count).map(|at| (f64::from(at), 1.0)).collect();
        let line = |count| Lines {
            label: String::from("x"),
            x_title: String::from("x"),
            y_title: String::from("y"),
            lines: vec![Line { name: String::from("x"), points: points(count), is_apart: false }],
            ticks: None,
            places: Vec::new(),
            from: 0.0,
            decimals: 0,
        };
        let drawn = |count| lines(&line(count), 520);
        let titles = |svg: &str| Html::new(svg).count("svg title");
        assert_eq!(titles(&drawn(20)), 20);
        let long = drawn(1_000);
        assert!((10..60).contains(&titles(&long)), "{long}");
        let paths = long.split("<polyline points=\"").filter_map(|path| path.split('"').next());
        assert_eq!(paths.map(|path| path.split(' ').count()).max(), Some(1_000));
        assert_eq!(lines_table(&line(1_000)).len(), 1_001);
    }
}
