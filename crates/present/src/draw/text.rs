//! How wide a text is and how a number is spelled, the same on the server and in the browser.
//!
//! No font is ever measured: the browser would have to lay out the page for it, and the server
//! has no fonts. The widths are upper bounds instead, so that text drawn in any usual sans-serif
//! font stays within the room that the layout keeps for it.

use crate::format::decimals;

/// Size of every text, in pixels at the width that a chart is drawn for.
pub const TEXT_SIZE: i32 = 12;

/// Advance of the characters from space to tilde in thousandths of the font size: the larger of
/// DejaVu Sans' and Liberation Sans' (which has the metrics of Arial and Helvetica).
#[rustfmt::skip]
const ADVANCES: [u16; 95] = [
    318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337,
    637, 637, 637, 637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 557,
    1016, 685, 687, 723, 771, 667, 611, 778, 752, 295, 500, 667, 558, 863, 749, 788,
    667, 788, 723, 667, 611, 732, 685, 989, 686, 667, 686, 391, 337, 391, 838, 557,
    500, 613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612,
    635, 635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,
];

/// Room for a text, in pixels, rounded up.
#[must_use]
pub fn text_width(text: &str, size: i32) -> i32 {
    let thousandths: i32 = text.chars().map(|c| i32::from(advance(c))).sum();
    (thousandths * size + 999) / 1000
}

/// Room for a text in bold, in pixels, rounded up.
#[must_use]
pub fn bold_width(text: &str, size: i32) -> i32 {
    (text_width(text, size) * 115 + 99) / 100
}

fn advance(character: char) -> u16 {
    let index = (character as usize).wrapping_sub(' ' as usize);
    ADVANCES.get(index).copied().unwrap_or(match character {
        '·' => 318,
        '−' => 838,
        _ => 1000,
    })
}

/// A number with three digits that count, short however large it is.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{value:.1e}"),
        size if size >= 100.0 => decimals(value, 0),
        size if size >= 10.0 => decimals(value, 1),
        size if size >= 0.005 => decimals(value, 2),
        size if size > 0.0 => String::from(if value > 0.0 { "<0.01" } else { ">−0.01" }),
        _ => String::from("0"),
    }
}

/// A share in percent with one decimal, short however large it is.
pub(crate) fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    match value.abs() {
        size if size >= 1e6 => format!("{value:.1e} %"),
        size if size >= 0.05 => format!("{} %", decimals(value, 1)),
        size if size > 0.0 => String::from(if value > 0.0 { "<0.1 %" } else { ">−0.1 %" }),
        _ => String::from("0 %"),
    }
}

/// A number with fixed decimals, as the ticks of one axis need it.
pub(crate) fn fixed(value: f64, places: usize) -> String {
    if value.abs() >= 1e6 { format!("{value:.1e}") } else { decimals(value, places) }
}

/// The number itself, or zero where there is none: a chart never shows what isn't a number.
pub(crate) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// With a capital first letter, as a sentence starts.
pub fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => format!("{}{}", first.to_ascii_uppercase(), characters.as_str()),
        None => String::new(),
    }
}
