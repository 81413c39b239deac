//! `moescape export`: a design as a file, JSON or TOML, or as a launch script.

use std::time::{SystemTime, UNIX_EPOCH};

use interchange::{Format as Launcher, Provenance};
use model::MODEL_VERSION;
use model::design::Design;
use model::file::{self, Extent, json};
use model::link;

use super::input::Source;
use super::{Failure, output};

/// What to write.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Format of the file
    format: Format,
    #[command(flatten)]
    source: Source,
    /// Write every knob, not only those that differ from the preset; JSON and TOML only
    #[arg(long)]
    full: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// JSON
    Json,
    /// TOML
    Toml,
    /// A launch script for Megatron-LM
    Megatron,
    /// A launch script for MindSpeed-LLM
    Mindspeed,
}

/// Prints the file.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design()?;
    let extent = if arguments.full { Extent::Full } else { Extent::Changed };
    let text = match arguments.format {
        Format::Json => json::write(&design, extent),
        Format::Toml => toml(&design, extent)?,
        Format::Megatron => script(Launcher::Megatron, &design, arguments.full)?,
        Format::Mindspeed => script(Launcher::Mindspeed, &design, arguments.full)?,
    };
    output::result(&text)
}

/// The TOML file of a design, with where it comes from.
pub(super) fn toml(design: &Design, extent: Extent) -> Result<String, Failure> {
    let text = toml::to_string(&file::write(design, extent))
        .map_err(|error| Failure::Internal(format!("can't write TOML: {error}")))?;
    let link = link::encode(design);
    let date = today();
    Ok(format!("# design: /?{link}\n# model version: {MODEL_VERSION}\n# date: {date}\n{text}"))
}

fn script(launcher: Launcher, design: &Design, full: bool) -> Result<String, Failure> {
    if full {
        return Err(Failure::user("--full is for JSON and TOML: a script holds every knob anyway"));
    }
    let provenance = Provenance { date: &today() };
    interchange::export(launcher, design, &provenance)
        .ok_or_else(|| Failure::Internal("no script is written for this launcher".to_owned()))
}

/// The day in UTC, as `2026-01-31`.
fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = date(since.as_secs() / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
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

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }
}
