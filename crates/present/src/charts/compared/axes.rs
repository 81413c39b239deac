//! Bubble, and communication per parallel axis, of several designs: bars below one another.

use model::ground::axis::Axis as ParallelAxis;
use model::training::estimate::StepPart;
use plotters_backend::text_anchor::HPos;

use super::{Compared, keys};
use crate::charts::communication::axis_name;
use crate::charts::step::Unit;
use crate::draw::axis::Axis;
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, empty, strong, svg, text, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend};
use crate::draw::text::{TEXT_SIZE, finite, text_width};

/// Distance from one bar to the next and height of a bar, in pixels.
const ROW: i32 = 16;
const BAR: i32 = 12;

const AXES: [ParallelAxis; 7] = [
    ParallelAxis::Tp,
    ParallelAxis::Cp,
    ParallelAxis::Ep,
    ParallelAxis::Pp,
    ParallelAxis::Dp,
    ParallelAxis::Edp,
    ParallelAxis::Host,
];

/// Time of a design, in seconds: all of it, and what nothing hides.
#[derive(Clone, Copy, Debug, Default)]
struct Time {
    whole: f64,
    exposed: f64,
}

/// Bubble or axis that is shown of all designs together, with the time of each.
struct Group {
    name: String,
    times: Vec<Time>,
}

/// Bubble, and communication per axis, of several designs.
#[must_use]
pub fn compared_axes(designs: &[Compared<'_>], width: u32) -> String {
    let width = drawn_width(width);
    let groups = groups(designs);
    let most = groups.iter().flat_map(|group| &group.times);
    let most = most.map(|time| time.whole).fold(0.0_f64, f64::max);
    if most <= 0.0 {
        return empty(width, "No device waits or sends anything");
    }
    let unit = Unit::of(most);
    let mut legend = keys(designs, width, |_| Fill::Solid);
    legend.extend(
        [(Fill::Solid, "Nothing hides it"), (Fill::Hollow, "Hidden by compute")]
            .map(|(fill, text)| Key::bar(Ink::Total, fill, text)),
    );
    let legend = Legend::new(width, legend);
    let said = |time: &Time| words(*time, unit);
    let texts = groups.iter().flat_map(|group| group.times.iter().map(said));
    let room = texts.map(|words| text_width(&words, TEXT_SIZE)).max().unwrap_or(0);
    let height = LINE + ROW * designs.len() as i32 + LINE / 2;
    let top = legend.height() + LINE / 2;
    let bottom = top + height * groups.len() as i32;
    let mut x = Axis::linear(
        0.0,
        most * unit.per_second,
        4,
        if unit.symbol == "s" { "Seconds of a step" } else { "Milliseconds of a step" },
    );
    // No line runs through a name.
    x.ticks.iter_mut().for_each(|tick| tick.rule = None);
    let frame = Frame {
        left: text_width("D", TEXT_SIZE) + TEXT_GAP,
        right: width - room - TEXT_GAP,
        top,
        bottom,
        x,
        y: Axis { from: 1.0, to: 0.0, ticks: Vec::new(), title: String::new() },
    };
    svg(width, bottom + Frame::BELOW, &label(designs, &groups, unit), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        for (index, group) in groups.iter().enumerate() {
            let head = top + height * index as i32;
            strong(canvas, &group.name, (0, head + LINE / 2), Ink::Text, HPos::Left);
            for (row, (design, time)) in designs.iter().zip(&group.times).enumerate() {
                let middle = head + LINE + ROW * row as i32 + ROW / 2;
                let words = words(*time, unit);
                text(canvas, design.letter(), (0, middle), Ink::Quiet, HPos::Left);
                text(canvas, &words, (width, middle), Ink::Text, HPos::Right);
                let title = format!("{}, {}: {words}", design.letter(), group.name);
                draw_bar(canvas, &plot, design, *time, (middle, unit), &title);
            }
        }
    })
}

/// The numbers of [`compared_axes()`], the header first.
#[must_use]
pub fn compared_axes_table(designs: &[Compared<'_>]) -> Vec<Vec<String>> {
    let groups = groups(designs);
    let times = groups.iter().flat_map(|group| &group.times);
    let unit = Unit::of(times.map(|time| time.whole).fold(0.0, f64::max));
    let mut header = vec!["Axis".to_owned()];
    for design in designs {
        let letter = design.letter();
        header.extend(["time", "exposed"].map(|what| format!("{letter} {what} ({})", unit.symbol)));
    }
    let rows = groups.iter().map(|group| {
        let mut row = vec![group.name.clone()];
        for time in &group.times {
            row.extend([time.whole, time.exposed].map(|seconds| unit.figure(seconds)));
        }
        row
    });
    std::iter::once(header).chain(rows).collect()
}

/// Bubble first, then every axis on which one of the designs sends.
fn groups(designs: &[Compared<'_>]) -> Vec<Group> {
    let bubble = Group {
        name: "Bubble: stages wait for each other".to_owned(),
        times: designs
            .iter()
            .map(|design| {
                let seconds = finite(design.estimate.step.part(StepPart::Bubble).get()).max(0.0);
                Time { whole: seconds, exposed: seconds }
            })
            .collect(),
    };
    let axes = AXES.into_iter().map(|axis| Group {
        name: if axis == ParallelAxis::Host {
            "Copies to host memory".to_owned()
        } else {
            format!("{} communication", axis_name(axis))
        },
        times: designs.iter().map(|design| of_axis(design, axis)).collect(),
    });
    let used = axes.filter(|group| group.times.iter().any(|time| time.whole > 0.0));
    std::iter::once(bubble).chain(used).collect()
}

fn of_axis(design: &Compared<'_>, axis: ParallelAxis) -> Time {
    let rows = design.estimate.communication.iter().filter(|row| row.axis == axis);
    rows.fold(Time::default(), |sum, row| {
        let whole = finite(row.time.get()).max(0.0);
        Time {
            whole: sum.whole + whole,
            exposed: sum.exposed + finite(row.exposed.get()).clamp(0.0, whole),
        }
    })
}

/// `1.20 s, 0.40 exposed`; of the bubble, which is all exposed, one number.
fn words(time: Time, unit: Unit) -> String {
    let whole = format!("{} {}", unit.figure(time.whole), unit.symbol);
    if time.exposed < time.whole {
        format!("{whole}, {} exposed", unit.figure(time.exposed))
    } else {
        whole
    }
}

fn draw_bar(
    canvas: &Canvas<'_>,
    plot: &Plot<'_>,
    design: &Compared<'_>,
    time: Time,
    (middle, unit): (i32, Unit),
    title: &str,
) {
    let (_, ink, _) = design.look();
    let at = |seconds: f64| plot.map_coordinate(&(seconds * unit.per_second, 0.0)).0;
    let (head, foot) = (middle - BAR / 2, middle + BAR / 2);
    let (left, between, right) = (at(0.0), at(time.exposed), at(time.whole));
    let span = |from, to, fill| Mark { corners: [(from, head), (to, foot)], ink, fill };
    let marks = [span(left, between, Fill::Solid), span(between, right, Fill::Hollow)];
    let marks = marks.into_iter().filter(|mark| mark.corners[1].0 > mark.corners[0].0);
    titled(canvas, title, &marks.collect::<Vec<_>>());
}

fn label(designs: &[Compared<'_>], groups: &[Group], unit: Unit) -> String {
    let mut label = String::from("Bubble and communication of a step.");
    for group in groups {
        let times = designs.iter().zip(&group.times);
        let said: Vec<String> = times
            .map(|(design, time)| format!("{} {}", design.letter(), words(*time, unit)))
            .collect();
        label.push_str(&format!(" {}: {}.", group.name, said.join("; ")));
    }
    label
}
