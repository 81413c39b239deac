//! What fills the fullest stage: a treemap, its areas in proportion to bytes.

use model::estimate::StageMemory;
use plotters_backend::text_anchor::HPos;

use super::canvas::{Canvas, Fill, LINE, Mark, Titled, drawn_width, empty, put, svg, text};
use super::frame::{Key, Legend, Swatch};
use super::ink::Ink;
use super::text::{TEXT_SIZE, finite, fixed, sentence, text_width};
use crate::format::percent;
use crate::memory_view::{ACTIVATIONS, Composition, Share, freed_by};

/// The ink of each part, in the order of [`StageMemory::LABELS`].
const INKS: [Ink; StageMemory::LABELS.len()] =
    [Ink::Weights, Ink::Gradients, Ink::Optimizer, Ink::Activations, Ink::Buffers, Ink::Reserve];

/// Height of the map, in pixels.
const HEIGHT: i32 = 280;

/// Distance of a label from the edge of its cell, in pixels.
const INSET: i32 = 5;

/// A rectangle: left, top, width, height.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Draws it.
pub(super) fn draw(composition: &Composition, width: u32) -> String {
    let width = drawn_width(width);
    let shares = composition.shares.as_slice();
    if shares.is_empty() {
        return empty(width, "There is no memory to show");
    }
    let legend = Legend::new(width, keys(shares));
    let top = legend.height() + 4;
    let all =
        Area { x: 0.0, y: f64::from(top), width: f64::from(width), height: f64::from(HEIGHT) };
    svg(width, top + HEIGHT, &label(composition), &|canvas| {
        legend.draw(canvas);
        // The activations stay together, and split among themselves.
        let mut parts: Vec<(usize, f64)> = (0..INKS.len())
            .map(|part| (part, shares.iter().filter(|share| share.part == part).map(gib).sum()))
            .collect();
        parts.retain(|(_, gib)| *gib > 0.0);
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let sizes: Vec<f64> = parts.iter().map(|(_, gib)| *gib).collect();
        for ((part, _), area) in parts.iter().zip(squarified(&sizes, all)) {
            let mut own: Vec<&Share> = shares.iter().filter(|share| share.part == *part).collect();
            own.sort_by(|a, b| b.bytes.get().total_cmp(&a.bytes.get()));
            let sizes: Vec<f64> = own.iter().map(|share| gib(share)).collect();
            for (share, area) in own.into_iter().zip(squarified(&sizes, area)) {
                cell(canvas, composition, share, area);
            }
        }
    })
}

/// The same numbers as rows, the header first.
pub(super) fn table(composition: &Composition) -> Vec<Vec<String>> {
    let header = [
        "What",
        "On the stage (GiB)",
        "Per layer and micro-batch (MiB)",
        "Shape",
        "Fate",
        "Freed by",
    ];
    let mut rows = vec![header.map(String::from).to_vec()];
    let none = String::new;
    for share in &composition.shares {
        let is_tensor = composition.rows.iter().any(|row| row.label() == share.label);
        if !is_tensor {
            let figure = fixed(gib(share), 2);
            rows.push(vec![sentence(&share.label), figure, none(), none(), none(), none()]);
        }
    }
    for row in &composition.rows {
        rows.push(vec![
            row.label(),
            fixed(finite(row.on_stage.to_gib()), 2),
            fixed(finite(row.saved.bytes.get() / 1_048_576.0), 1),
            row.saved.tensor.shape().to_owned(),
            if composition.whole_layers { "recomputed".to_owned() } else { row.fate().to_owned() },
            freed_by(row.saved.tensor, row.is_moe),
        ]);
    }
    rows
}

fn gib(share: &Share) -> f64 {
    finite(share.bytes.to_gib()).max(0.0)
}

fn keys(shares: &[Share]) -> Vec<Key> {
    let parts = INKS.iter().zip(StageMemory::LABELS).enumerate();
    let shown = parts.filter(|(part, _)| shares.iter().any(|share| share.part == *part));
    shown
        .map(|(_, (ink, label))| Key {
            ink: *ink,
            swatch: Swatch::Bar(Fill::Solid, ""),
            text: sentence(label),
        })
        .collect()
}

fn label(composition: &Composition) -> String {
    let mut largest: Vec<&Share> = composition.shares.iter().collect();
    largest.sort_by(|a, b| b.bytes.get().total_cmp(&a.bytes.get()));
    let words =
        largest.iter().take(3).map(|share| format!("{} {} GiB", share.label, fixed(gib(share), 1)));
    let words: Vec<String> = words.collect();
    format!(
        "Memory of stage {}, the fullest, {} GiB in all. The largest shares: {}.",
        composition.stage.stage,
        fixed(finite(composition.stage.memory.peak().to_gib()), 1),
        words.join(", "),
    )
}

fn title(composition: &Composition, share: &Share) -> String {
    let peak = composition.stage.memory.peak();
    let mut title = format!(
        "{}: {} GiB, {} of the stage",
        sentence(&share.label),
        fixed(gib(share), 2),
        percent(share.bytes / peak, 1),
    );
    if share.part == ACTIVATIONS
        && let Some(row) = composition.rows.iter().find(|row| row.label() == share.label)
    {
        title.push_str(&format!(
            "\n{} MiB per layer and micro-batch\nShape {}\nFreed by: {}",
            fixed(finite(row.saved.bytes.get() / 1_048_576.0), 1),
            row.saved.tensor.shape(),
            freed_by(row.saved.tensor, row.is_moe),
        ));
    }
    title
}

fn cell(canvas: &Canvas<'_>, composition: &Composition, share: &Share, area: Area) {
    // Whole pixels; the edge that two cells share rounds alike, a gap sets them apart.
    let (left, top) = (area.x.round() as i32, area.y.round() as i32);
    let right = (area.x + area.width).round() as i32 - 1;
    let bottom = (area.y + area.height).round() as i32 - 1;
    if right <= left || bottom <= top {
        return;
    }
    let mark =
        Mark { corners: [(left, top), (right, bottom)], ink: INKS[share.part], fill: Fill::Solid };
    put(canvas, &Titled { title: title(composition, share), marks: vec![mark] });
    let lines = [sentence(&share.label), format!("{} GiB", fixed(gib(share), 1))];
    let room = right - left - 2 * INSET;
    let fitting = lines.iter().take_while(|words| text_width(words, TEXT_SIZE) <= room);
    let rows = (bottom - top - 2) / LINE;
    for (index, words) in fitting.take(rows.max(0) as usize).enumerate() {
        let at = (left + INSET, top + 1 + LINE / 2 + index as i32 * LINE);
        text(canvas, words, at, Ink::OnMark, HPos::Left);
    }
}

/// Cuts an area in proportion to sizes, largest first, in cells as square as it gets.
///
/// # Source
/// Bruls, Huizing and van Wijk 2000, Squarified treemaps.
fn squarified(sizes: &[f64], mut area: Area) -> Vec<Area> {
    let mut left: f64 = sizes.iter().sum();
    let mut cells = Vec::with_capacity(sizes.len());
    let mut rest = sizes;
    while !rest.is_empty() && left > 0.0 {
        let scale = area.width * area.height / left;
        let side = area.width.min(area.height);
        let mut taken = 1;
        while taken < rest.len()
            && worst(&rest[..=taken], side, scale) <= worst(&rest[..taken], side, scale)
        {
            taken += 1;
        }
        let (row, others) = rest.split_at(taken);
        let sum: f64 = row.iter().sum();
        let depth = if side > 0.0 { sum * scale / side } else { 0.0 };
        let mut along = 0.0;
        for size in row {
            let length = if sum > 0.0 { side * size / sum } else { 0.0 };
            cells.push(if area.width >= area.height {
                Area { x: area.x, y: area.y + along, width: depth, height: length }
            } else {
                Area { x: area.x + along, y: area.y, width: length, height: depth }
            });
            along += length;
        }
        if area.width >= area.height {
            area.x += depth;
            area.width = (area.width - depth).max(0.0);
        } else {
            area.y += depth;
            area.height = (area.height - depth).max(0.0);
        }
        left -= sum;
        rest = others;
    }
    cells
}

/// The largest ratio of sides among cells of one row.
fn worst(row: &[f64], side: f64, scale: f64) -> f64 {
    let sum = row.iter().sum::<f64>() * scale;
    let ratios = row.iter().map(|size| {
        let ratio = side * side * size * scale / (sum * sum);
        ratio.max(1.0 / ratio)
    });
    ratios.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_fill_the_area_in_proportion() {
        let all = Area { x: 10.0, y: 20.0, width: 300.0, height: 200.0 };
        let sizes = [50.0, 20.0, 10.0, 10.0, 5.0, 4.0, 1.0];
        let cells = squarified(&sizes, all);
        assert_eq!(cells.len(), sizes.len());
        for (size, cell) in sizes.iter().zip(&cells) {
            assert!((cell.width * cell.height - size * 600.0).abs() < 1e-6, "{cell:?}");
            assert!(cell.x >= 10.0 && cell.x + cell.width <= 310.0 + 1e-9, "{cell:?}");
            assert!(cell.y >= 20.0 && cell.y + cell.height <= 220.0 + 1e-9, "{cell:?}");
        }
    }
}
