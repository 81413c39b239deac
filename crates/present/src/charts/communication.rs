//! What a device sends in a step: a bar for each axis, collective and link, its exposed share
//! hatched.

use model::ground::axis::{Axis as ParallelAxis, Collective, LinkLevel};
use model::training::estimate::{Communication, Estimate};
use plotters_backend::text_anchor::HPos;

use super::compared::{Compared, Ghost};
use crate::draw::axis::Axis;
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, empty, svg, text, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend};
use crate::draw::text::{TEXT_SIZE, figure, finite, percent, text_width};

/// Height of a bar, in pixels.
const BAR: i32 = 14;

/// Least length of the longest bar beside its label; if it is shorter, the label is above it.
const MIN_PLOT: i32 = 200;

/// The headers of the two columns of values.
const HEADERS: [&str; 2] = ["GB", "Exposed"];

/// Bytes that a device sends in a step, per axis, collective and link.
#[must_use]
pub fn communication(estimate: &Estimate, ghost: Ghost<'_>, width: u32) -> String {
    let width = drawn_width(width);
    let rows: Vec<&Communication> = estimate.communication.iter().collect();
    if rows.is_empty() {
        return empty(width, "No device sends anything");
    }
    let labels: Vec<String> = rows.iter().map(|row| name(row)).collect();
    let values: Vec<[String; 2]> =
        rows.iter().map(|row| [figure(gigabytes(row)), exposed_text(row)]).collect();
    let columns = [0, 1].map(|index| {
        let texts = values.iter().map(|value| value[index].as_str()).chain([HEADERS[index]]);
        texts.map(|text| text_width(text, TEXT_SIZE)).max().unwrap_or(0)
    });
    let label_width = labels.iter().map(|label| text_width(label, TEXT_SIZE)).max().unwrap_or(0);
    let right = width - columns[0] - columns[1] - 2 * TEXT_GAP;
    let beside = right - label_width - TEXT_GAP >= MIN_PLOT;
    let legend =
        Legend::new(width, keys(&rows).into_iter().chain(ghost.map(Compared::key)).collect());
    let others: Vec<Option<&Communication>> = rows.iter().map(|row| other(ghost, row)).collect();
    let layout = Layout {
        width,
        columns,
        top: legend.height() + LINE + LINE / 2,
        row: if beside { 24 } else { LINE + BAR + 8 },
        beside,
    };
    let bottom = layout.top + layout.row * rows.len() as i32;
    let all = rows.iter().copied().chain(others.iter().copied().flatten());
    let most = all.map(gigabytes).fold(0.0_f64, f64::max).max(1e-3);
    let mut x = Axis::linear(0.0, most, 4, "GB sent per device and step");
    if !beside {
        // No line runs through a label.
        x.ticks.iter_mut().for_each(|tick| tick.rule = None);
    }
    let frame = Frame {
        left: if beside { label_width + TEXT_GAP } else { 0 },
        right: if beside { right } else { width },
        top: layout.top,
        bottom,
        x,
        y: Axis { from: rows.len() as f64, to: 0.0, ticks: Vec::new(), title: String::new() },
    };
    svg(width, bottom + Frame::BELOW, &label(&rows), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        layout.draw_values(canvas, HEADERS, layout.top - LINE / 2 - 2);
        for (index, row) in rows.iter().enumerate() {
            let top = layout.top + layout.row * index as i32;
            let other = ghost.zip(others[index]);
            layout.draw_row(canvas, &plot, (row, other), top);
            let middle = top + if beside { layout.row / 2 } else { LINE / 2 };
            layout.draw_label(canvas, &labels[index], middle, frame.left);
            layout.draw_values(canvas, [&values[index][0], &values[index][1]], middle);
        }
    })
}

/// The numbers of [`communication()`], the header first.
#[must_use]
pub fn communication_table(estimate: &Estimate) -> Vec<Vec<String>> {
    let header = [
        "Axis",
        "Collective",
        "Link",
        "Per call (MB)",
        "Per device and step (GB)",
        "Time (s)",
        "Exposed (s)",
        "Exposed share",
    ];
    let rows = estimate.communication.iter().map(|row| {
        vec![
            axis_name(row.axis).to_owned(),
            collective_name(row.collective).to_owned(),
            link_name(row.link).to_owned(),
            figure(finite(row.bytes_per_call.get() / 1e6)),
            figure(gigabytes(row)),
            figure(finite(row.time.get())),
            figure(finite(row.exposed.get())),
            exposed_text(row),
        ]
    });
    std::iter::once(header.map(String::from).to_vec()).chain(rows).collect()
}

/// Row of the other design with the same axis, collective and link.
fn other<'e>(ghost: Ghost<'e>, row: &Communication) -> Option<&'e Communication> {
    let is_it = |it: &&Communication| {
        it.axis == row.axis && it.collective == row.collective && it.link == row.link
    };
    ghost?.estimate.communication.iter().find(is_it)
}

fn gigabytes(row: &Communication) -> f64 {
    finite(row.bytes.to_gb()).max(0.0)
}

/// The share of its time that nothing hides.
fn exposed(row: &Communication) -> f64 {
    if row.time.get() > 0.0 { finite(row.exposed / row.time).clamp(0.0, 1.0) } else { 0.0 }
}

fn exposed_text(row: &Communication) -> String {
    percent(exposed(row))
}

fn name(row: &Communication) -> String {
    let collective = collective_name(row.collective);
    match row.link {
        LinkLevel::Host => format!("{} {collective}", axis_name(row.axis)),
        LinkLevel::IntraNode | LinkLevel::InterNode => {
            format!("{} {collective}, {}", axis_name(row.axis), link_name(row.link))
        }
    }
}

pub(super) const fn axis_name(axis: ParallelAxis) -> &'static str {
    match axis {
        ParallelAxis::Tp => "TP",
        ParallelAxis::Cp => "CP",
        ParallelAxis::Ep => "EP",
        ParallelAxis::Pp => "PP",
        ParallelAxis::Dp => "DP",
        ParallelAxis::Edp => "EDP",
        ParallelAxis::Host => "Host",
    }
}

const fn collective_name(collective: Collective) -> &'static str {
    match collective {
        Collective::AllReduce => "all-reduce",
        Collective::AllGather => "all-gather",
        Collective::ReduceScatter => "reduce-scatter",
        Collective::AllToAll => "all-to-all",
        Collective::P2p => "send",
        Collective::Copy => "copy",
    }
}

const fn link_name(link: LinkLevel) -> &'static str {
    match link {
        LinkLevel::IntraNode => "intra-node",
        LinkLevel::InterNode => "inter-node",
        LinkLevel::Host => "host",
    }
}

const fn link_ink(link: LinkLevel) -> Ink {
    match link {
        LinkLevel::IntraNode => Ink::IntraNode,
        LinkLevel::InterNode => Ink::InterNode,
        LinkLevel::Host => Ink::Host,
    }
}

fn keys(rows: &[&Communication]) -> Vec<Key> {
    let links = [
        (LinkLevel::IntraNode, "Inside a node"),
        (LinkLevel::InterNode, "Between nodes"),
        (LinkLevel::Host, "To host memory"),
    ];
    let used = links.into_iter().filter(|(link, _)| rows.iter().any(|row| row.link == *link));
    let mut keys: Vec<Key> =
        used.map(|(link, text)| Key::bar(link_ink(link), Fill::Solid, text)).collect();
    keys.push(Key::bar(Ink::Total, Fill::Hatched, "Exposed: nothing hides it"));
    keys
}

fn label(rows: &[&Communication]) -> String {
    let total: f64 = rows.iter().map(|row| gigabytes(row)).sum();
    let largest = rows
        .iter()
        .copied()
        .reduce(|best, row| if gigabytes(row) > gigabytes(best) { row } else { best });
    let mut label = format!("A device sends {} GB in a step", figure(total));
    if let Some(row) = largest {
        label.push_str(&format!(", most by {}: {} GB", name(row), figure(gigabytes(row))));
    }
    label.push('.');
    label
}

/// Positions of the rows.
struct Layout {
    width: i32,
    /// Widths of the columns of values.
    columns: [i32; 2],
    top: i32,
    /// Height of a row.
    row: i32,
    /// Whether label, bar and values share a line; else the bar is below the other two.
    beside: bool,
}

impl Layout {
    fn draw_label(&self, canvas: &Canvas<'_>, label: &str, middle: i32, left: i32) {
        if self.beside {
            text(canvas, label, (left - TEXT_GAP, middle), Ink::Text, HPos::Right);
        } else {
            text(canvas, label, (0, middle), Ink::Text, HPos::Left);
        }
    }

    fn draw_values(&self, canvas: &Canvas<'_>, values: [&str; 2], middle: i32) {
        let ink = if values == HEADERS { Ink::Quiet } else { Ink::Text };
        let first = self.width - self.columns[1] - TEXT_GAP;
        text(canvas, values[0], (first, middle), ink, HPos::Right);
        text(canvas, values[1], (self.width, middle), ink, HPos::Right);
    }

    fn draw_row(
        &self,
        canvas: &Canvas<'_>,
        plot: &Plot<'_>,
        (row, other): (&Communication, Option<(&Compared<'_>, &Communication)>),
        top: i32,
    ) {
        let top = top + if self.beside { (self.row - BAR) / 2 } else { LINE };
        let at = |gigabytes: f64| plot.map_coordinate(&(gigabytes, 0.0)).0;
        let (left, right) = (at(0.0), at(gigabytes(row)).max(at(0.0) + 2));
        let hidden = left + (f64::from(right - left) * (1.0 - exposed(row))) as i32;
        let span = |from, to, fill| Mark {
            corners: [(from, top), (to, top + BAR)],
            ink: link_ink(row.link),
            fill,
        };
        let mut title = format!(
            "{}: {} GB in {} s, {} s of it exposed",
            name(row),
            figure(gigabytes(row)),
            figure(finite(row.time.get())),
            figure(finite(row.exposed.get()))
        );
        let mut marks = vec![span(left, hidden, Fill::Solid), span(hidden, right, Fill::Hatched)];
        if let Some((ghost, other)) = other {
            title.push_str(&ghost.beside(&format!("{} GB", figure(gigabytes(other)))));
            let end = at(gigabytes(other)).max(left + 2);
            marks.push(ghost.outline([(left, top - 2), (end, top + BAR + 2)]));
        }
        let marks = marks.into_iter().filter(|mark| mark.corners[1].0 > mark.corners[0].0);
        titled(canvas, &title, &marks.collect::<Vec<_>>());
    }
}
