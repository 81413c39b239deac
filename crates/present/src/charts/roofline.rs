//! Operators and exchanges under their roofs: operations a second over operations a byte, both
//! axes logarithmic.

use model::answer::roofline::{ExchangePoint, Operator, Roofline, Unit};
use model::ground::axis::LinkLevel;

use super::compared::Compared;
use crate::draw::axis::{Axis, Tick};
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, opening, polyline, svg, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::labels::{Boxed, Labels};
use crate::draw::legend::{Key, Legend};
use crate::draw::text::{TEXT_SIZE, text_width};
use crate::format;

/// Height of the plot, in pixels.
const PLOT_HEIGHT: i32 = 340;

/// Radius of a point without a share of the step, and what the whole step would add, in pixels.
const RADIUS: (f64, f64) = (3.0, 22.0);

/// Operators below this share of the step have no name in the chart.
const MIN_NAMED_SHARE: f64 = 0.01;

/// A name of an operator or exchange that a press and the choice beside the chart agree on.
#[must_use]
pub fn name(operator: &Operator) -> String {
    format!("{}, {}, {}", operator.name, operator.direction.label(), operator.unit.label())
}

/// A name of an exchange, as [`name`] of an operator.
#[must_use]
pub fn exchange_name(point: &ExchangePoint) -> String {
    let row = &point.row;
    let collective = row.collective.name().replace('_', "-");
    format!("{} {collective}, {}", row.axis.name().to_ascii_uppercase(), link_words(row.link))
}

/// Words for a link.
#[must_use]
pub const fn link_words(link: LinkLevel) -> &'static str {
    match link {
        LinkLevel::IntraNode => "inside the node",
        LinkLevel::InterNode => "between nodes",
        LinkLevel::Host => "to the host",
    }
}

/// A point of the chart: decimal logarithms of operations a byte and operations a second.
struct Point {
    at: (f64, f64),
    share: f64,
    ink: Ink,
    fill: Fill,
    name: String,
    label: &'static str,
    title: String,
}

/// The chart's decades.
struct Range {
    x: (f64, f64),
    y: (f64, f64),
}

/// A roof: a level, a slope (the logarithm of bytes a second), or a slope up to a level.
struct Roof {
    label: String,
    slope: Option<f64>,
    level: Option<f64>,
    ink: Ink,
}

/// A pinned design's operators, in outlines beside those of the same names.
pub struct PinnedRoofline<'a> {
    /// Its look.
    pub pin: Compared<'a>,
    /// Its operators.
    pub roofline: Roofline,
}

/// Operators and exchanges under their roofs; the one of that name stands out. `step` is the
/// time of the step in seconds.
#[must_use]
pub fn roofline(
    roofline: &Roofline,
    step: f64,
    chosen: &str,
    beside: Option<&PinnedRoofline<'_>>,
    width: u32,
) -> String {
    let width = drawn_width(width);
    let range = Range::of(roofline);
    let points = points(roofline, step, &range);
    let keys = keys().into_iter().chain(beside.map(|it| it.pin.key()));
    let legend = Legend::new(width, keys.collect());
    let top = legend.height() + 2 * LINE;
    let bottom = top + PLOT_HEIGHT;
    let (x, y) = (range.x_axis(), range.y_axis());
    let left = y.label_width() + TEXT_GAP;
    let frame = Frame { left, right: width - 4, top, bottom, x, y };
    svg(width, bottom + Frame::BELOW, &label(roofline), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        let roofs = roofs(roofline);
        for roof in &roofs {
            let line = roof.line(&range).map(|at| plot.map_coordinate(&at));
            polyline(canvas, line.to_vec(), roof.ink);
        }
        for point in &points {
            point.draw(canvas, &plot, point.name == chosen);
        }
        if let Some(beside) = beside {
            beside.draw(canvas, &plot, (&points, &range));
        }
        names(canvas, &plot, &frame, (&points, &roofs, &range));
    })
}

impl PinnedRoofline<'_> {
    fn draw(&self, canvas: &Canvas<'_>, plot: &Plot<'_>, (own, range): (&[Point], &Range)) {
        let step = self.pin.estimate.metrics.step_time.get();
        for point in points(&self.roofline, step, range) {
            if point.share >= MIN_NAMED_SHARE && own.iter().any(|own| own.name == point.name) {
                let (left, top, right, bottom) = point.boxed(plot);
                let outline = self.pin.outline([(left, top), (right, bottom)]);
                titled(canvas, self.pin.beside(&point.title).trim(), &[outline]);
            }
        }
    }
}

impl Range {
    /// Whole decades around all that is drawn.
    fn of(roofline: &Roofline) -> Self {
        let operators = roofline.operators.iter().filter(|it| it.flops.get() > 0.0);
        let at = operators.map(|it| (it.intensity(), it.achieved().get()));
        let sent = roofline.exchanges.iter().map(|it| (it.intensity(), it.achieved().get()));
        let peak = roofline.cube.get();
        let (mut x, mut y) = ((1e-1_f64, 1e4_f64), (peak * 1e-4, peak));
        for (intensity, rate) in at.chain(sent).filter(|it| it.0.is_finite() && it.1.is_finite()) {
            x = (x.0.min(intensity), x.1.max(intensity));
            y = (y.0.min(rate), y.1.max(rate));
        }
        let decades = |(low, high): (f64, f64)| (low.log10().floor(), high.log10().ceil());
        // Beyond a thousandfold of the peak an exchange takes no time that counts.
        let y = (y.0.max(peak * 1e-6), y.1.min(peak * 1e3) * 1.3);
        Self { x: decades(x), y: decades(y) }
    }

    fn inside(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.x.0, self.x.1), y.clamp(self.y.0, self.y.1))
    }

    fn x_axis(&self) -> Axis {
        let words = |power: i32| match power {
            0 => "1".to_owned(),
            1..=5 => format::whole(10_u64.pow(power.unsigned_abs())),
            _ => format!("1e{power}"),
        };
        decades(self.x, "Arithmetic intensity (FLOP/byte moved or sent)", &words)
    }

    fn y_axis(&self) -> Axis {
        decades(self.y, "FLOP/s", &|power| {
            let (scale, unit) = match power {
                15.. => (15, "P"),
                12..15 => (12, "T"),
                9..12 => (9, "G"),
                _ => (6, "M"),
            };
            match u32::try_from(power - scale) {
                Ok(zeros) => format!("{} {unit}", format::whole(10_u64.pow(zeros.min(18)))),
                Err(_) => format!("1e{power}"),
            }
        })
    }
}

/// An axis with a label at each decade.
fn decades((from, to): (f64, f64), title: &str, words: &dyn Fn(i32) -> String) -> Axis {
    let ticks = (from as i32..=to as i32)
        .map(|power| Tick { rule: Some(Ink::Grid), ..Tick::new(f64::from(power), words(power)) });
    Axis { from, to, ticks: ticks.collect(), title: title.to_owned() }
}

fn points(roofline: &Roofline, step: f64, range: &Range) -> Vec<Point> {
    let share = |seconds: f64| if step > 0.0 { seconds / step } else { 0.0 };
    let operators = roofline.operators.iter().map(|operator| {
        let share = share(operator.step_seconds().get());
        let memory = roofline.memory.get().log10();
        // A kernel that only copies is at the edge, as far below memory's roof as it is slow.
        let at = if operator.flops.get() > 0.0 {
            (operator.intensity().log10(), operator.achieved().get().log10())
        } else {
            (range.x.0, range.x.0 + memory + operator.memory_share(roofline.memory).log10())
        };
        Point {
            at: range.inside(at),
            share,
            ink: if operator.unit == Unit::Cube { Ink::Compute } else { Ink::Bandwidth },
            fill: Fill::Round,
            name: name(operator),
            label: operator.name,
            title: operator_title(roofline, operator, share),
        }
    });
    let sent = roofline.exchanges.iter().map(|point| {
        let at = (point.intensity().log10(), point.achieved().get().log10());
        let share = share(point.row.time.get());
        Point {
            at: range.inside(at),
            share: 0.0,
            ink: Ink::InterNode,
            fill: Fill::Solid,
            name: exchange_name(point),
            label: "",
            title: format!(
                "{}: {} of its link's bandwidth; as long as {} of the step, hidden or not",
                exchange_name(point),
                format::percent(point.achieved() / point.attainable(), 0),
                format::percent(share, 1),
            ),
        }
    });
    operators.chain(sent).collect()
}

fn operator_title(roofline: &Roofline, operator: &Operator, share: f64) -> String {
    let attainable = operator.attainable(roofline.memory);
    let of_roof = if operator.flops.get() > 0.0 {
        format!("{} of its roof", format::percent(operator.achieved() / attainable, 0))
    } else {
        let drawn = operator.memory_share(roofline.memory);
        format!("{} of the memory bandwidth, no arithmetic", format::percent(drawn, 0))
    };
    format!("{}: {of_roof}, {} of the step", name(operator), format::percent(share, 1))
}

impl Point {
    fn radius(&self) -> i32 {
        (RADIUS.0 + RADIUS.1 * self.share.clamp(0.0, 1.0).sqrt()).round() as i32
    }

    fn boxed(&self, plot: &Plot<'_>) -> Boxed {
        let ((x, y), radius) = (plot.map_coordinate(&self.at), self.radius());
        (x - radius, y - radius, x + radius, y + radius)
    }

    fn draw(&self, canvas: &Canvas<'_>, plot: &Plot<'_>, stands_out: bool) {
        let (left, top, right, bottom) = self.boxed(plot);
        let corners = [(left, top), (right, bottom)];
        let ink = if stands_out { Ink::Current } else { self.ink };
        let marks = [Mark { corners, ink, fill: self.fill }];
        let (title, opens) = (self.title.clone(), self.name.clone());
        opening(canvas, &title, &opens, &marks);
    }
}

fn roofs(roofline: &Roofline) -> Vec<Roof> {
    let (memory, cube) = (roofline.memory.get().log10(), roofline.cube.get().log10());
    let tera =
        |name: &str, rate: f64| format!("{name} {} TFLOPS", format::decimals(rate / 1e12, 0));
    let mut roofs = vec![
        Roof {
            label: tera("Cube", roofline.cube.get()),
            slope: Some(memory),
            level: Some(cube),
            ink: Ink::Axis,
        },
        Roof {
            label: format!("Memory {} GB/s", format::decimals(roofline.memory.get() / 1e9, 0)),
            slope: Some(memory),
            level: None,
            ink: Ink::Axis,
        },
    ];
    roofs.extend(roofline.vector.map(|rate| Roof {
        label: tera("Vector", rate.get()),
        slope: Some(memory),
        level: Some(rate.get().log10()),
        ink: Ink::Bandwidth,
    }));
    for (link, rate) in &roofline.links {
        if roofline.exchanges.iter().any(|point| point.row.link == *link) {
            let words = match link {
                LinkLevel::IntraNode => "Node",
                LinkLevel::InterNode => "Network",
                LinkLevel::Host => "Host",
            };
            roofs.push(Roof {
                label: format!("{words} {} GB/s", format::decimals(rate.get() / 1e9, 0)),
                slope: Some(rate.get().log10()),
                level: None,
                ink: Ink::InterNode,
            });
        }
    }
    roofs
}

impl Roof {
    /// Its ends inside the chart: a level from its ridge on, a slope as far as it goes.
    fn line(&self, range: &Range) -> [(f64, f64); 2] {
        match (self.slope, self.level) {
            (slope, Some(level)) => {
                let from = slope.map_or(range.x.0, |slope| level - slope);
                [(from.clamp(range.x.0, range.x.1), level), (range.x.1, level)]
            }
            (slope, None) => {
                let slope = slope.unwrap_or(0.0);
                let x = [range.y.0 - slope, range.y.1 - slope];
                x.map(|x| {
                    let x = x.clamp(range.x.0, range.x.1);
                    (x, (x + slope).clamp(range.y.0, range.y.1))
                })
            }
        }
    }

    /// Places for its name, best first.
    fn places(&self, range: &Range) -> Vec<(f64, f64)> {
        let [(x0, y0), (x1, y1)] = self.line(range);
        [0.98, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1]
            .map(|share| (x0 + (x1 - x0) * share, y0 + (y1 - y0) * share))
            .to_vec()
    }
}

/// The names of roofs and of the largest operators, where there is room.
fn names(
    canvas: &Canvas<'_>,
    plot: &Plot<'_>,
    frame: &Frame,
    (points, roofs, range): (&[Point], &[Roof], &Range),
) {
    let mut labels = Labels::new(frame, points.iter().map(|point| point.boxed(plot)).collect());
    for roof in roofs {
        labels.line(roof.line(range).map(|at| plot.map_coordinate(&at)));
    }
    for roof in roofs {
        let width = text_width(&roof.label, TEXT_SIZE);
        let places = roof.places(range).into_iter().flat_map(|at| {
            let (x, y) = plot.map_coordinate(&at);
            if roof.level.is_some() {
                [(x - width, y - LINE / 2 - 2), (x - width, y + LINE)]
            } else {
                let off = LINE / 2 + 1;
                [(x + TEXT_GAP, y + off), (x - width - TEXT_GAP, y - off)]
            }
        });
        let (least, most) = (frame.left + 2, (frame.right - width).max(frame.left + 2));
        let places = places.map(|(x, middle)| (x.clamp(least, most), middle));
        labels.write(canvas, &roof.label, Ink::Quiet, places);
    }
    for point in points.iter().filter(|point| point.share >= MIN_NAMED_SHARE) {
        let (left, top, right, bottom) = point.boxed(plot);
        let (middle, width) = ((top + bottom) / 2, text_width(point.label, TEXT_SIZE));
        let center = (left + right) / 2 - width / 2;
        let places = [
            (right + 3, middle),
            (left - 3 - width, middle),
            (center, bottom + LINE / 2),
            (center, top - LINE / 2),
        ];
        labels.write(canvas, point.label, Ink::Text, places);
    }
}

fn keys() -> Vec<Key> {
    let key = |ink, fill, text: &str| Key::bar(ink, fill, text);
    vec![
        key(Ink::Compute, Fill::Round, "Cube"),
        key(Ink::Bandwidth, Fill::Round, "Vector"),
        key(Ink::InterNode, Fill::Solid, "Sent or copied"),
    ]
}

fn label(roofline: &Roofline) -> String {
    let largest: Vec<String> = roofline
        .operators
        .iter()
        .take(3)
        .map(|operator| {
            let share = operator.achieved() / operator.attainable(roofline.memory);
            format!("{} at {} of its roof", name(operator), format::percent(share, 0))
        })
        .collect();
    format!(
        "FLOP/s over arithmetic intensity of {} operators and {} exchanges. Longest: {}.",
        roofline.operators.len(),
        roofline.exchanges.len(),
        largest.join("; "),
    )
}

/// The numbers of [`roofline()`], the header first.
#[must_use]
pub fn roofline_table(roofline: &Roofline, step: f64) -> Vec<Vec<String>> {
    let header = [
        "Operator",
        "Arithmetic intensity (FLOP/byte)",
        "Reached (TFLOPS)",
        "Attainable (TFLOPS)",
        "Of memory bandwidth",
        "Time of a step",
        "Share of the step",
    ];
    let tera = |rate: f64| format::significant(rate / 1e12, 3);
    let share = |seconds: f64| format::percent(seconds / step, 2).to_string();
    let operators = roofline.operators.iter().map(|operator| {
        let seconds = operator.step_seconds();
        vec![
            name(operator),
            format::significant(operator.intensity(), 3),
            tera(operator.achieved().get()),
            tera(operator.attainable(roofline.memory).get()),
            format::percent(operator.memory_share(roofline.memory), 0).to_string(),
            format::duration(seconds).to_string(),
            share(seconds.get()),
        ]
    });
    let sent = roofline.exchanges.iter().map(|point| {
        vec![
            exchange_name(point),
            format::significant(point.intensity(), 3),
            tera(point.achieved().get()),
            tera(point.attainable().get()),
            format!("{} of the link", format::percent(point.achieved() / point.attainable(), 0)),
            format::duration(point.row.time).to_string(),
            share(point.row.time.get()),
        ]
    });
    std::iter::once(header.map(String::from).to_vec()).chain(operators).chain(sent).collect()
}
