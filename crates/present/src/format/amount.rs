//! Amounts as people type them: `15T`, `4 M`, `1.5e13`.

use model::ground::decimal;

/// Suffixes of large numbers.
const SUFFIXES: [(char, f64); 5] = [('K', 1e3), ('M', 1e6), ('G', 1e9), ('B', 1e9), ('T', 1e12)];

/// A number above zero, multiplied by its suffix.
#[must_use]
pub fn amount(text: &str) -> Option<f64> {
    let text = text.trim();
    let suffix = text.chars().next_back().map(|last| last.to_ascii_uppercase());
    let known = SUFFIXES.into_iter().find(|(name, _)| Some(*name) == suffix);
    // Suffixes have one byte.
    let (number, times) = known.map_or((text, 1.0), |(_, times)| (&text[..text.len() - 1], times));
    let number = decimal::parse(number.trim())? * times;
    (number.is_finite() && number > 0.0).then_some(number)
}

/// An amount as short as it can be typed: `4 M`, `50.3 M`.
#[must_use]
pub fn short(number: f64) -> String {
    let scale = [("T", 1e12), ("G", 1e9), ("M", 1e6), ("K", 1e3)];
    let scale = scale.into_iter().find(|(_, size)| number >= *size);
    let (suffix, size) = scale.unwrap_or(("", 1.0));
    let gap = if suffix.is_empty() { "" } else { " " };
    format!("{}{gap}{suffix}", crate::format::significant(number / size, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_a_suffix_or_none_in_either_case() {
        for (text, number) in [("15T", 15e12), ("4 M", 4e6), ("1.5e13", 1.5e13), ("300 b", 3e11)] {
            assert_eq!(amount(text), Some(number), "{text}");
        }
        for text in ["", "T", "-1T", "nan", "inf", "1Q", "µ", "1e400", "0"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }

    #[test]
    fn a_short_amount_is_read_as_nearly_the_same() {
        for number in [1.0, 4_194_304.0, 50_331_648.0, 1.9e13] {
            let read = amount(&short(number)).expect("an amount");
            assert!((read / number - 1.0).abs() < 5e-3, "{number} {}", short(number));
        }
    }
}
