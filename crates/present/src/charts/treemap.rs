//! What fills the fullest stage: a treemap, its areas in proportion to bytes.

use model::answer::ledger::{SavedTensor, Tensor};
use model::ground::sorting::sort_short;
use model::{Content, Filling};
use plotters_backend::text_anchor::HPos;

use crate::draw::canvas::{Canvas, Fill, LINE, Mark, drawn_width, empty, svg, text, titled};
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend};
use crate::draw::text::{TEXT_SIZE, finite, fixed, sentence, text_width};
use crate::format::{self, MemoryUnit};
use crate::insight::memory_view::{Composition, fate, freed_by};

/// The parts that stay together: their inks and names.
const PARTS: [(Ink, &str); 6] = [
    (Ink::Weights, "Weights"),
    (Ink::Gradients, "Gradients"),
    (Ink::Optimizer, "Optimizer states"),
    (Ink::Activations, "Activations"),
    (Ink::Buffers, "Buffers"),
    (Ink::Reserve, "Reserve"),
];

/// The place among [`PARTS`] of what fills a stage.
const fn part(content: Content) -> usize {
    match content {
        Content::Weights => 0,
        Content::Gradients => 1,
        Content::OptimizerStates => 2,
        Content::Saved(_) | Content::LayerInputs | Content::HeadInputs | Content::Snapshots => 3,
        Content::Buffers => 4,
        Content::Reserve => 5,
    }
}

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

/// Treemap of the fullest stage's memory contents.
#[must_use]
pub fn memory_composition(composition: &Composition, width: u32) -> String {
    let width = drawn_width(width);
    let contents = composition.contents.as_slice();
    if contents.is_empty() {
        return empty(width, "There is no memory to show");
    }
    let legend = Legend::new(width, keys(contents));
    let top = legend.height() + 4;
    let all =
        Area { x: 0.0, y: f64::from(top), width: f64::from(width), height: f64::from(HEIGHT) };
    let shares = format::shares(&contents.iter().map(size).collect::<Vec<_>>(), 1);
    svg(width, top + HEIGHT, &label(composition), &|canvas| {
        legend.draw(canvas);
        // The activations stay together, and split among themselves.
        let own =
            |index: usize| contents.iter().filter(move |filling| part(filling.content) == index);
        let mut parts: Vec<(usize, f64)> =
            (0..PARTS.len()).map(|index| (index, own(index).map(size).sum())).collect();
        parts.retain(|(_, size)| *size > 0.0);
        sort_short(&mut parts, |a, b| b.1.total_cmp(&a.1));
        let sizes: Vec<f64> = parts.iter().map(|(_, size)| *size).collect();
        for ((index, _), area) in parts.iter().zip(squarified(&sizes, all)) {
            let sizes: Vec<f64> = own(*index).map(size).collect();
            for (filling, area) in own(*index).zip(squarified(&sizes, area)) {
                let place = contents.iter().position(|it| std::ptr::eq(it, filling));
                let share = place.map_or("", |place| &shares[place]);
                cell(canvas, composition, (filling, share), area);
            }
        }
    })
}

/// The numbers of [`memory_composition()`], the header first.
#[must_use]
pub fn memory_composition_table(composition: &Composition) -> Vec<Vec<String>> {
    let (unit, (mega, small)) = (format::memory_unit(), MemoryUnit::chosen().small());
    let per_layer = composition
        .ledgers
        .iter()
        .rev()
        .map(|layer| format!("Per {} layer and micro-batch ({small})", layer.name));
    let header = ["What".to_owned(), format!("On the stage ({unit})")].into_iter();
    let behind = ["Shape", "Fate", "Freed by"].map(str::to_owned);
    let header: Vec<String> = header.chain(per_layer).chain(behind).collect();
    let columns = header.len();
    let mut rows = vec![header];
    for filling in &composition.contents {
        if !matches!(filling.content, Content::Saved(_)) {
            let mut row = vec![sentence(filling.content.label()), fixed(size(filling), 2)];
            row.resize(columns, String::new());
            rows.push(row);
        }
    }
    for tensor in composition.tensors() {
        let saved = composition.saved(tensor).map(|(_, saved)| saved);
        let first = composition.saved(tensor).find_map(|(_, saved)| saved);
        let in_word = |word: fn(&SavedTensor) -> String| first.map_or_else(String::new, word);
        let on_stage = composition.on_stage(Content::Saved(tensor));
        let mut row =
            vec![sentence(tensor.label()), fixed(finite(format::memory_number(on_stage)), 2)];
        row.extend(saved.map(|saved| {
            saved.map_or_else(String::new, |saved| fixed(finite(saved.bytes.get() / mega), 1))
        }));
        row.push(tensor.shape().to_owned());
        row.push(in_word(|saved| fate(saved.fate).to_owned()));
        row.push(in_word(freed_by));
        rows.push(row);
    }
    rows
}

/// In the visitor's unit.
fn size(filling: &Filling) -> f64 {
    finite(format::memory_number(filling.bytes)).max(0.0)
}

fn keys(contents: &[Filling]) -> Vec<Key> {
    let shown = PARTS.iter().enumerate().filter(|(index, _)| {
        contents.iter().any(|filling| part(filling.content) == *index && size(filling) > 0.0)
    });
    shown.map(|(_, (ink, name))| Key::bar(*ink, Fill::Solid, *name)).collect()
}

fn label(composition: &Composition) -> String {
    let unit = format::memory_unit();
    let words =
        composition.contents.iter().take(3).map(|filling| {
            format!("{} {} {unit}", filling.content.label(), fixed(size(filling), 1))
        });
    let words: Vec<String> = words.collect();
    format!(
        "Memory of stage {}, the fullest, {} {unit} in all. The largest shares: {}.",
        composition.stage.stage,
        fixed(finite(format::memory_number(composition.stage.memory.peak())), 1),
        words.join(", "),
    )
}

fn title(composition: &Composition, (filling, share): (&Filling, &str)) -> String {
    let mut title = format!(
        "{}: {} {}, {share} of the stage",
        sentence(filling.content.label()),
        fixed(size(filling), 2),
        format::memory_unit(),
    );
    if let Content::Saved(tensor) = filling.content {
        title.push_str(&saved_title(composition, tensor));
    }
    title
}

fn saved_title(composition: &Composition, tensor: Tensor) -> String {
    let mut title = String::new();
    let (mega, unit) = MemoryUnit::chosen().small();
    for (layer, saved) in composition.saved(tensor) {
        if let Some(saved) = saved {
            let size = fixed(finite(saved.bytes.get() / mega), 1);
            title.push_str(&format!("\n{size} {unit} per {} layer and micro-batch", layer.name));
        }
    }
    let freed = composition.saved(tensor).find_map(|(_, saved)| saved.map(freed_by));
    title.push_str(&format!("\nShape {}", tensor.shape()));
    freed.into_iter().for_each(|freed| title.push_str(&format!("\nFreed by: {freed}")));
    title
}

fn cell(
    canvas: &Canvas<'_>,
    composition: &Composition,
    (filling, share): (&Filling, &str),
    area: Area,
) {
    // Whole pixels; the edge that two cells share rounds alike, a gap sets them apart.
    let (left, top) = (area.x.round() as i32, area.y.round() as i32);
    let right = (area.x + area.width).round() as i32 - 1;
    let bottom = (area.y + area.height).round() as i32 - 1;
    if right <= left || bottom <= top {
        return;
    }
    let mark = Mark {
        corners: [(left, top), (right, bottom)],
        ink: PARTS[part(filling.content)].0,
        fill: Fill::Solid,
    };
    titled(canvas, &title(composition, (filling, share)), &[mark]);
    let room = right - left - 2 * INSET;
    let rows = ((bottom - top - 2) / LINE).max(0) as usize;
    let mut lines = wrapped(&sentence(filling.content.label()), room);
    lines.push(format!("{} {}", fixed(size(filling), 1), format::memory_unit()));
    let fits = lines.iter().all(|words| text_width(words, TEXT_SIZE) <= room);
    if !fits || lines.len() > rows {
        return;
    }
    for (index, words) in lines.iter().enumerate() {
        let at = (left + INSET, top + 1 + LINE / 2 + index as i32 * LINE);
        text(canvas, words, at, Ink::OnMark, HPos::Left);
    }
}

/// A text in lines of at most that width, broken between words.
fn wrapped(words: &str, room: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), TEXT_SIZE) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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
