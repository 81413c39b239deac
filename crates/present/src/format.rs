//! Every number that a person sees: rounding, thousands separators, units.
//!
//! No other module turns a quantity into text, so the same quantity reads the same everywhere.

pub mod amount;
pub mod metric;
mod unit;

use std::fmt;

use model::Breakdown;
use model::design::KnobId;
use model::ground::knob::Value;
use model::ground::sorting::sort_short;
use model::ground::units::{Bytes, Seconds};

pub use metric::{axis, change, difference, in_unit, measured, metric, number};
pub use unit::{MemoryUnit, PerUnit};

/// A number and its unit, apart so that a card can set them in different sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The digits, grouped by thousands.
    pub number: String,
    /// The unit; empty for bare counts.
    pub unit: &'static str,
}

impl Quantity {
    const fn new(number: String, unit: &'static str) -> Self {
        Self { number, unit }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.number)?;
        if self.unit.is_empty() { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

/// A whole number with its thousands grouped: `6,144`.
#[must_use]
pub fn whole(number: impl Into<u128>) -> String {
    group(&number.into().to_string())
}

/// A number with `places` decimals, its thousands grouped and with a true minus sign.
#[must_use]
pub fn decimals(number: f64, places: usize) -> String {
    let text = format!("{:.places$}", number.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if number < 0.0 && !is_zero { "−" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", group(whole))
}

/// A whole number that arithmetic left this far from itself, as a share, is one.
const WHOLE: f64 = 1e-9;

/// A number with at least `digits` significant digits, never dropping whole ones; a whole number
/// has no decimals.
#[must_use]
pub fn significant(number: f64, digits: usize) -> String {
    if (number - number.round()).abs() <= WHOLE * number.round().abs() {
        return decimals(number, 0);
    }
    let mut places = digits.saturating_sub(1);
    let mut bound = 10.0;
    while number.abs() >= bound && places > 0 {
        places -= 1;
        bound *= 10.0;
    }
    let mut small = 1.0;
    while number != 0.0 && number.abs() < small && places < 9 {
        places += 1;
        small /= 10.0;
    }
    decimals(number, places)
}

/// To four digits, with separators: `12,350,000`.
#[must_use]
pub fn rounded(number: f64) -> String {
    if number.abs() < 1e4 {
        return significant(number, 4);
    }
    let unit = 10_f64.powi(number.abs().log10().floor() as i32 - 3);
    let text = whole(((number.abs() / unit).round() * unit) as u64);
    if number < 0.0 { format!("-{text}") } else { text }
}

/// A ratio as a percentage: `10.49 %`.
#[must_use]
pub fn percent(ratio: f64, places: usize) -> Quantity {
    Quantity::new(decimals(ratio * 100.0, places), "%")
}

/// A probability in whole per cent, rounded down and never certain: `57 %`, `> 99 %`.
#[must_use]
pub fn likelihood(probability: f64) -> Quantity {
    // Rounded down, so that 90 % and 10 % belong to the state that begins there.
    let whole = (probability * 100.0 + 1e-9).floor();
    let number = match whole {
        0.0 => "< 1".to_owned(),
        99.0.. => "> 99".to_owned(),
        _ => decimals(whole, 0),
    };
    Quantity::new(number, "%")
}

/// The shares that parts have of their sum, which add up to 100 % as they are written: each is
/// rounded down, and those that lose most by it are rounded up until nothing is missing. A part
/// that rounds to nothing is `<0.1 %`.
///
/// # Source
/// The method of largest remainders (Hare and Niemeyer).
#[must_use]
pub fn shares(parts: &[f64], places: usize) -> Vec<String> {
    let whole = 10_f64.powi(places as i32 + 2);
    let total: f64 = parts.iter().sum();
    let exact = |part: &f64| if total > 0.0 { part / total * whole } else { 0.0 };
    let mut rounded: Vec<f64> = parts.iter().map(|part| exact(part).floor()).collect();
    let lost = |index: &usize| exact(&parts[*index]) - rounded[*index];
    let mut order: Vec<usize> = (0..parts.len()).collect();
    sort_short(&mut order, |one, other| lost(other).total_cmp(&lost(one)));
    let missing = if total > 0.0 { whole - rounded.iter().sum::<f64>() } else { 0.0 };
    order.into_iter().take(missing as usize).for_each(|index| rounded[index] += 1.0);
    let least = 1.0 / 10_f64.powi(places as i32);
    let written = parts.iter().zip(rounded).map(|(part, rounded)| match rounded == 0.0 {
        true if *part > 0.0 => format!("<{} %", decimals(least, places)),
        true if *part < 0.0 => format!(">−{} %", decimals(least, places)),
        true => "0 %".to_owned(),
        false => percent(rounded / whole, places).to_string(),
    });
    written.collect()
}

/// Number of the visitor's units of memory.
#[must_use]
pub fn memory_number(bytes: Bytes) -> f64 {
    MemoryUnit::chosen().count(bytes)
}

/// The visitor's unit of memory: `GiB` or `GB`.
#[must_use]
pub fn memory_unit() -> &'static str {
    MemoryUnit::chosen().name()
}

/// Device memory: `56.8 GiB`, or `61.0 GB` for those who chose that.
#[must_use]
pub fn memory(bytes: Bytes) -> Quantity {
    let unit = MemoryUnit::chosen();
    let number = unit.count(bytes);
    if number.abs() >= 0.1 || number == 0.0 {
        return Quantity::new(decimals(number, 1), unit.name());
    }
    scaled(bytes.get(), &unit.smaller())
}

/// Traffic in decimal units, as links are rated: `188.7 MB`.
#[must_use]
pub fn traffic(bytes: Bytes) -> Quantity {
    scaled(bytes.get(), &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")])
}

/// A duration: `34.3 s`, `12.5 ms`, `40.0 µs`.
#[must_use]
pub fn duration(time: Seconds) -> Quantity {
    scaled(time.get(), &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")])
}

/// Floating-point operations: `371.5 GFLOP`.
#[must_use]
pub fn flops(number: f64) -> Quantity {
    let scale =
        [(1e21, "ZFLOP"), (1e18, "EFLOP"), (1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP")];
    scaled(number, &scale)
}

/// Compute rate of a device: `294.9 TFLOP/s`.
#[must_use]
pub fn flops_rate(rate: f64) -> Quantity {
    let scale = [(1e18, "EFLOP/s"), (1e15, "PFLOP/s"), (1e12, "TFLOP/s"), (1e9, "GFLOP/s")];
    scaled(rate, &scale)
}

/// A large count: `719.1 B`, `50.3 M`; below a million every digit.
#[must_use]
pub fn count(number: f64) -> Quantity {
    if number.abs() < 1e6 {
        let places = usize::from(number.fract() != 0.0 && number.abs() < 1e3);
        return Quantity::new(decimals(number, places), "");
    }
    scaled(number, &[(1e12, "T"), (1e9, "B"), (1e6, "M")])
}

/// Tokens per second: `237.6 tokens/s`, `16,016 tokens/s`, `1.46 M tokens/s`.
#[must_use]
pub fn token_rate(rate: f64) -> Quantity {
    if rate.abs() >= 1e6 {
        return Quantity::new(significant(rate / 1e6, 3), "M tokens/s");
    }
    let places = usize::from(rate.abs() < 1e3);
    Quantity::new(decimals(rate, places), "tokens/s")
}

/// A number's formula with the values of its terms put in; none for what is given.
#[must_use]
pub fn substituted(node: &Breakdown) -> Option<String> {
    let value = |child: &Breakdown| in_unit(child.value, child.unit).to_string();
    let values: Vec<String> = node.children.iter().map(value).collect();
    node.how.substituted(&values)
}

/// Difference of two ratios, in percentage points: `+1.4 pt`.
#[must_use]
pub fn points(now: f64, then: f64) -> String {
    format!("{} pt", signed((now - then) * 100.0, 1))
}

/// The text with its numbers and their percent signs kept on one line.
#[must_use]
pub fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

/// A range from one quantity to another; a unit that both have is written once: `28.5 to 31.5 %`,
/// `380 ms to 1.2 s`.
#[must_use]
pub fn span([low, high]: [String; 2]) -> String {
    let [first, last] = [&low, &high].map(|text| text.rsplit_once([' ', '\u{a0}']));
    match (first, last) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// Relative difference of two quantities: `+2.5 %`.
#[must_use]
pub fn relative(now: f64, then: f64) -> String {
    let change = if then == 0.0 { 0.0 } else { now / then - 1.0 };
    format!("{} %", signed(change * 100.0, 1))
}

/// Number of decimals of a number as it is written.
fn places(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, places)| places.len())
}

/// A number with its sign always shown; a rounded zero has none.
#[must_use]
pub fn signed(number: f64, places: usize) -> String {
    let text = decimals(number, places);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if number > 0.0 && !is_zero { format!("+{text}") } else { text }
}

/// A count with its noun: `1 knob`, `3 knobs`.
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", whole(count), if count == 1 { one } else { many })
}

/// Words as a sentence lists them: `a, b and c`.
#[must_use]
pub fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// In the largest unit that gives at least one, with at least three digits.
fn scaled(number: f64, units: &[(f64, &'static str)]) -> Quantity {
    let smallest = units.last().copied().unwrap_or((1.0, ""));
    let fitting = units.iter().copied().find(|(size, _)| number.abs() >= *size * 0.9995);
    let fitting = if number == 0.0 { units.first().copied() } else { fitting };
    let (size, unit) = fitting.unwrap_or(smallest);
    let value = number / size;
    let places = if value.abs() >= 9.995 { 1 } else { 2 };
    Quantity::new(decimals(value, places), unit)
}

fn group(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A value in words: flags are on or off.
#[must_use]
pub fn spelled(value: &Value) -> String {
    match value {
        Value::Flag(true) => "on".to_owned(),
        Value::Flag(false) => "off".to_owned(),
        Value::None | Value::Integer(_) | Value::Real(_) | Value::Text(_) | Value::List(_) => {
            value.to_string()
        }
    }
}

/// The axis word in a label's brackets, or the label: `PP`, `No-op layers`.
#[must_use]
pub fn short_label(knob: KnobId) -> &'static str {
    let label = knob.knob().label;
    let inner = label.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    inner.map_or(label, |(short, _)| short)
}

/// A time as people plan with it: `about 3 min`.
#[must_use]
pub fn lasting(seconds: f64) -> String {
    let (number, unit) = match seconds {
        s if s < 1.0 => return "less than 1 s".to_owned(),
        s if s < 90.0 => (s, "s"),
        s if s < 5_400.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3_600.0, "h"),
        s => (s / 86_400.0, "days"),
    };
    format!("about {} {unit}", decimals(number.ceil(), 0))
}

/// A rule's name as people read it.
#[must_use]
pub fn reason(reason: &str) -> String {
    if let Some(constraint) = reason.strip_prefix("constraint: ") {
        return format!("Constraint: {constraint}");
    }
    let words = reason.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shown: &Quantity, expected: &str) {
        assert_eq!(shown.to_string(), expected);
    }

    #[test]
    fn a_range_says_a_unit_once_where_both_ends_have_it() {
        let of = |low: &str, high: &str| span([low.to_owned(), high.to_owned()]);
        assert_eq!(of("28.5 %", "31.5 %"), "28.5 to 31.5 %");
        assert_eq!(of("380\u{a0}ms", "401\u{a0}ms"), "380 to 401\u{a0}ms");
        assert_eq!(of("380 ms", "1.2 s"), "380 ms to 1.2 s");
        assert_eq!(of("40,620,000", "62,070,000"), "40,620,000 to 62,070,000");
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(whole(6_144_u64), "6,144");
        assert_eq!(whole(0_u64), "0");
        assert_eq!(whole(1_048_576_u64), "1,048,576");
        assert_eq!(decimals(1_234_567.891, 2), "1,234,567.89");
    }

    #[test]
    fn a_negative_number_has_a_true_minus_and_a_rounded_zero_has_no_sign() {
        assert_eq!(decimals(-1_234.5, 1), "−1,234.5");
        assert_eq!(decimals(-0.001, 1), "0.0");
        assert_eq!(signed(0.001, 1), "0.0");
        assert_eq!(signed(1.25, 1), "+1.2");
    }

    #[test]
    fn shares_add_up_to_a_hundred_per_cent_as_they_are_written() {
        assert_eq!(shares(&[1.0, 1.0, 1.0], 1), ["33.4 %", "33.3 %", "33.3 %"]);
        assert_eq!(shares(&[2.0, 1.0, 0.0, 0.000_1], 0), ["67 %", "33 %", "0 %", "<1 %"]);
        assert_eq!(shares(&[0.0, 0.0], 1), ["0 %", "0 %"]);
        for seed in (1..200_u32).filter(|seed| seed % 17 > 0) {
            let parts: Vec<f64> = (1..12).map(|part| f64::from(seed * part % 17) - 0.3).collect();
            let number = |text: &String| {
                let number = text.trim_end_matches(" %").replace('−', "-");
                number.parse::<f64>().unwrap_or(0.0)
            };
            let sum: f64 = shares(&parts, 1).iter().map(number).sum();
            assert!((sum - 100.0).abs() < 1e-9, "{parts:?}: {sum}");
        }
    }

    #[test]
    fn ratios_are_percentages() {
        check(&percent(15.0 / 143.0, 2), "10.49 %");
        check(&percent(15.0 / 79.0, 2), "18.99 %");
    }

    #[test]
    fn quantities_take_the_unit_that_reads_best() {
        check(&memory(Bytes::gib(56.84)), "56.8 GiB");
        check(&memory(Bytes::new(3.0 * 1_048_576.0)), "3.00 MiB");
        check(&traffic(Bytes::new(188.74e6)), "188.7 MB");
        MemoryUnit::Decimal.during(|| {
            check(&memory(Bytes::gib(56.84)), "61.0 GB");
            check(&memory(Bytes::new(3.0e6)), "3.00 MB");
        });
        check(&memory(Bytes::gib(56.84)), "56.8 GiB");
        check(&duration(Seconds::new(34.31)), "34.3 s");
        check(&duration(Seconds::new(0.0125)), "12.5 ms");
        check(&duration(Seconds::new(0.0)), "0.00 s");
        check(&flops(371.5e9), "371.5 GFLOP");
        check(&token_rate(1_459_814.0), "1.46 M tokens/s");
        check(&token_rate(237.6), "237.6 tokens/s");
        check(&count(719.09e9), "719.1 B");
        check(&count(6_144.0), "6,144");
    }

    #[test]
    fn whole_numbers_have_no_decimals_however_they_came_about() {
        for (number, digits, expected) in [
            (236.0, 5, "236"),
            (2_048.0, 6, "2,048"),
            (0.1 * 3.0 * 10.0 * 8.0 / 3.0, 3, "8"),
            (0.0, 4, "0"),
            (-3.0, 3, "−3"),
            (7.98, 3, "7.98"),
            (0.012_3, 2, "0.012"),
        ] {
            assert_eq!(significant(number, digits), expected, "{number}");
        }
        check(&token_rate(16_016.4), "16,016 tokens/s");
        check(&token_rate(8_170.9), "8,171 tokens/s");
    }

    #[test]
    fn differences_carry_their_sign() {
        assert_eq!(points(0.302, 0.288), "+1.4 pt");
        assert_eq!(relative(0.5, 1.0), "−50.0 %");
        assert_eq!(relative(1.0, 0.0), "0.0 %");
    }

    #[test]
    fn lists_read_as_sentences() {
        let words: Vec<String> = ["a", "b", "c"].map(String::from).into();
        assert_eq!(list(&words), "a, b and c");
        assert_eq!(list(&words[..1]), "a");
        assert_eq!(counted(1, "knob", "knobs"), "1 knob");
        assert_eq!(counted(0, "knob", "knobs"), "0 knobs");
    }

    #[test]
    fn short_labels_are_the_axis_words() {
        assert_eq!(short_label(KnobId::pipeline_model_parallel_size), "PP");
        assert_eq!(short_label(KnobId::noop_layers), "No-op layers");
    }
}
