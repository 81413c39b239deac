//! Tokens and days in words: a budget for training as a rate.

use present::format::amount::amount;

use crate::refusal::Wrong;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Tokens per second that train on that many tokens in that many days.
///
/// # Errors
/// Faults of either, with something that would be taken.
pub(super) fn rate(tokens: &str, days: &str) -> Result<f64, Vec<Wrong>> {
    let tokens = amount(tokens).ok_or_else(|| {
        wrong(
            "tokens",
            format!("--tokens takes a number above 0, such as 15T, not `{tokens}`"),
            "1T",
        )
    });
    let days = amount(days).ok_or_else(|| {
        wrong("days", format!("--days takes a number above 0, such as 90, not `{days}`"), "1")
    });
    match (tokens, days) {
        (Ok(tokens), Ok(days)) => Ok(tokens / (days * DAY)),
        (tokens, days) => Err([tokens.err(), days.err()].into_iter().flatten().collect()),
    }
}

fn wrong(argument: &str, detail: String, nearest: &str) -> Wrong {
    Wrong { nearest: vec![nearest.to_owned()], ..Wrong::new("out_of_range", argument, detail) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_rate() {
        let close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-12;
        assert!(close(rate("15T", "90").unwrap(), 15e12 / (90.0 * 86_400.0)));
        assert!(close(rate("1.5e13", "90").unwrap(), rate("15t", "90").unwrap()));
        assert!(close(rate(" 300 B", "1").unwrap(), rate("300e9", "1").unwrap()));
    }

    #[test]
    fn everything_that_is_wrong_with_it_is_said() {
        assert_eq!(rate("many", "0").unwrap_err().len(), 2);
        for tokens in ["", "T", "-1T", "nan", "inf", "1Q", "µ", "1e400"] {
            assert_eq!(rate(tokens, "90").unwrap_err().len(), 1, "{tokens}");
        }
    }
}
