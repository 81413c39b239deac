//! The clock, and days as people write them.

use std::time::{SystemTime, UNIX_EPOCH};

/// The day in UTC, as `2026-01-31`.
pub(crate) fn today() -> String {
    day(now_secs())
}

/// Seconds since 1970.
pub(crate) fn now_secs() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Milliseconds since 1970.
pub(crate) fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The day in UTC of a moment in seconds since 1970.
pub(crate) fn day(secs: u64) -> String {
    let (year, month, day) = date(secs / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// A moment in seconds since 1970, in UTC, as RFC 3339 writes it: `2026-01-31T12:00:00Z`.
pub(crate) fn moment(secs: u64) -> String {
    let (hour, minute, second) = (secs / 3_600 % 24, secs / 60 % 60, secs % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", day(secs))
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar.
///
/// Source: Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
const fn date(days: u64) -> (u64, u64, u64) {
    // Counted from 0000-03-01, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// Seconds since 1970 of a moment in UTC; a time before 1970 is 0.
///
/// Source: as [`date`], `days_from_civil`.
pub(crate) const fn seconds(
    (year, month, day): (u64, u64, u64),
    (hour, minute, second): (u64, u64, u64),
) -> u64 {
    let year = if month <= 2 { year.saturating_sub(1) } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let month_of_year = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_of_year + 2) / 5 + day.saturating_sub(1);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = (era * 146_097 + day_of_era).saturating_sub(719_468);
    days * 86_400 + hour * 3_600 + minute * 60 + second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_days_and_times() {
        assert_eq!(moment(0), "1970-01-01T00:00:00Z");
        assert_eq!(moment(1_767_225_599), "2025-12-31T23:59:59Z");
    }

    #[test]
    fn days_become_dates() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_454, (2026, 1, 1)),
        ] {
            assert_eq!(date(days), expected);
            assert_eq!(seconds(expected, (1, 2, 3)), days * 86_400 + 3_723);
        }
    }
}
