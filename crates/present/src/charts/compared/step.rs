//! Where the time of several designs' steps goes: a stacked bar for each.

use model::ground::sorting::sort_short;
use model::training::estimate::StepPart;
use plotters_backend::text_anchor::HPos;

use super::Compared;
use crate::charts::step::{KINDS, Unit, kind_keys, look};
use crate::draw::axis::Axis;
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, empty, strong, svg, text, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::Legend;
use crate::draw::text::{TEXT_SIZE, bold_width, finite, percent, text_width};
use crate::format;

/// Distance from one row to the next and height of a bar, in pixels.
const ROW: i32 = 34;
const BAR: i32 = 24;

/// A piece of a bar, in seconds since its start.
struct Piece {
    part: StepPart,
    from: f64,
    to: f64,
}

/// Breakdown of the steps of several designs.
#[must_use]
pub fn compared_step(designs: &[Compared<'_>], width: u32) -> String {
    let width = drawn_width(width);
    let pieces: Vec<Vec<Piece>> = designs.iter().map(pieces).collect();
    let ends = pieces.iter().flatten().flat_map(|piece| [piece.from, piece.to]);
    let (least, most) = ends.fold((0.0_f64, 0.0_f64), |(a, b), end| (a.min(end), b.max(end)));
    if most <= 0.0 {
        return empty(width, "There is no step time to show");
    }
    let unit = Unit::of(most);
    let used = |ink| pieces.iter().flatten().any(|piece| look(piece.part).0 == ink);
    let legend = Legend::new(width, kind_keys(used));
    let values: Vec<String> = designs
        .iter()
        .map(|design| format!("{} {}", unit.figure(total(design)), unit.symbol))
        .collect();
    let room = values.iter().map(|value| bold_width(value, TEXT_SIZE)).max().unwrap_or(0);
    let top = legend.height() + LINE / 2;
    let bottom = top + ROW * designs.len() as i32;
    let frame = Frame {
        left: bold_width("D", TEXT_SIZE) + TEXT_GAP,
        right: width - room - TEXT_GAP,
        top,
        bottom,
        x: Axis::linear(
            least * unit.per_second,
            most * unit.per_second,
            5,
            if unit.symbol == "s" { "Seconds" } else { "Milliseconds" },
        ),
        y: Axis { from: designs.len() as f64, to: 0.0, ticks: Vec::new(), title: String::new() },
    };
    svg(width, bottom + Frame::BELOW, &label(designs, unit), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        for (index, (design, pieces)) in designs.iter().zip(&pieces).enumerate() {
            let middle = top + ROW * index as i32 + ROW / 2;
            strong(canvas, design.letter(), (0, middle), Ink::Text, HPos::Left);
            text(canvas, &values[index], (width, middle), Ink::Text, HPos::Right);
            draw_bar(canvas, &plot, design, pieces, middle, unit);
        }
    })
}

/// The numbers of [`compared_step()`], the header first.
#[must_use]
pub fn compared_step_table(designs: &[Compared<'_>]) -> Vec<Vec<String>> {
    let unit = Unit::of(designs.iter().map(total).fold(0.0, f64::max));
    let mut header = vec!["Part".to_owned()];
    for design in designs {
        let letter = design.letter();
        header.extend([format!("{letter} ({})", unit.symbol), format!("{letter}, share")]);
    }
    let time = |design: &Compared<'_>, part| finite(design.estimate.step.part(part).get());
    let used: Vec<StepPart> = StepPart::ALL
        .into_iter()
        .filter(|part| designs.iter().any(|design| time(design, *part).abs() > 0.0))
        .collect();
    let shares: Vec<Vec<String>> = designs
        .iter()
        .map(|design| {
            let seconds: Vec<f64> = used.iter().map(|part| time(design, *part)).collect();
            format::shares(&seconds, 1)
        })
        .collect();
    let mut rows = vec![header];
    rows.extend(used.iter().enumerate().map(|(index, part)| {
        let mut row = vec![part.label().to_owned()];
        for (design, shares) in designs.iter().zip(&shares) {
            row.extend([unit.figure(time(design, *part)), shares[index].clone()]);
        }
        row
    }));
    let mut whole = vec!["Step".to_owned()];
    for design in designs {
        whole.extend([unit.figure(total(design)), percent(1.0)]);
    }
    rows.push(whole);
    rows
}

fn total(design: &Compared<'_>) -> f64 {
    finite(design.estimate.step.total().get())
}

/// Parts of the step by kind, each from the end of the one before.
fn pieces(design: &Compared<'_>) -> Vec<Piece> {
    let kind = |part: StepPart| KINDS.iter().position(|(ink, ..)| *ink == look(part).0);
    let mut parts: Vec<_> = design.estimate.step.parts().collect();
    sort_short(&mut parts, |(one, _), (other, _)| kind(*one).cmp(&kind(*other)));
    let mut end = 0.0;
    let mut pieces = Vec::with_capacity(parts.len());
    for (part, time) in parts {
        let seconds = finite(time.get());
        if seconds.abs() > 0.0 {
            pieces.push(Piece { part, from: end, to: end + seconds });
            end += seconds;
        }
    }
    pieces
}

fn draw_bar(
    canvas: &Canvas<'_>,
    plot: &Plot<'_>,
    design: &Compared<'_>,
    pieces: &[Piece],
    middle: i32,
    unit: Unit,
) {
    let (head, foot) = (middle - BAR / 2, middle + BAR / 2);
    let seconds: Vec<f64> = pieces.iter().map(|piece| piece.to - piece.from).collect();
    for (piece, share) in pieces.iter().zip(format::shares(&seconds, 1)) {
        let at = |seconds: f64| plot.map_coordinate(&(seconds * unit.per_second, 0.0)).0;
        let (left, end) = (at(piece.from.min(piece.to)), at(piece.from.max(piece.to)));
        if end <= left {
            continue;
        }
        let (ink, own) = look(piece.part);
        let fill = if piece.to < piece.from { Fill::Hollow } else { own };
        // A gap of a pixel sets neighbours apart, whatever their colours.
        let right = if end - left > 3 { end - 1 } else { end };
        let seconds = piece.to - piece.from;
        let name = piece.part.label();
        let title = format!(
            "{}, {name}: {} {}, {share} of the step\n{}",
            design.letter(),
            unit.figure(seconds),
            unit.symbol,
            piece.part.meaning()
        );
        let marks = vec![Mark { corners: [(left, head), (right, foot)], ink, fill }];
        titled(canvas, &title, &marks);
        if fill == Fill::Solid && text_width(name, TEXT_SIZE) + 6 <= right - left {
            let center = ((left + right) / 2, middle);
            text(canvas, name, center, Ink::OnMark, HPos::Center);
        }
    }
}

fn label(designs: &[Compared<'_>], unit: Unit) -> String {
    let said = designs.iter().map(|design| {
        format!(" {}: {} {}.", design.letter(), unit.figure(total(design)), unit.symbol)
    });
    format!("Where the time of a step goes.{}", said.collect::<String>())
}
