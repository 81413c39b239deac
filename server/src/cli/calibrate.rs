//! `moescape calibrate`: what one's own runs say of the state of one's software, as knobs.

use model::ground::text::shorten;
use std::fs::File;
use std::path::{Path, PathBuf};

use model::design::{Design, KnobId};
use model::ground::knob::KnobError;
use present::format;
use present::page::trust::words;
use validation::own::read::{Content, read};
use validation::own::report::{ConstantChange, Unused};
use validation::own::{Calibration, CalibrationInput, calibrate};

use super::output::{self, table_below};
use super::{Failure, input};
use crate::answers::calibrated::{self, MAX_FILES, agreement, measured, verdict};

/// The runs, and what they don't say.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Runs: a CSV file with the columns of `validate --runs`, a log of Megatron-LM or
    /// MindSpeed-LLM, or operator times of a profile (a Chrome trace of the PyTorch profiler,
    /// kernel_details.csv, op_summary_*.csv or op_statistic.csv of Ascend's); packed by gzip or not
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Preset or design file with what a log or a profile leaves open: its cluster, and the whole
    /// design where it has none
    #[arg(long, value_name = "ID|FILE")]
    preset: Option<String>,
    /// Set a knob in every run, as `section.name=value` or by a short name; logs need
    /// `cluster.accelerator` where no preset gives it
    #[arg(long = "set", value_name = "KNOB=VALUE")]
    settings: Vec<String>,
    /// Name of the profile, which travels with its knobs; up to 100 characters
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the profile, and how far the runs agree with it.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.files.len() > MAX_FILES {
        return Err(Failure::user(format!("at most {MAX_FILES} files are read")));
    }
    let asked = asked(arguments)?;
    let (mut files, mut errors) = (vec![], vec![]);
    for path in &arguments.files {
        match content(path) {
            Ok(file) => files.push(file),
            Err(lines) => errors.extend(lines),
        }
    }
    if !errors.is_empty() {
        return Err(Failure::User(errors));
    }
    let found = calibrate(files, &asked).map_err(Failure::User)?;
    let text = if arguments.json { calibrated::json(&found) } else { text(&found) };
    output::result(&text)
}

fn content(path: &Path) -> Result<(String, Content), Vec<String>> {
    let shown = path.display();
    let file = File::open(path).map_err(|error| vec![format!("can't read {shown}: {error}")])?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let content = read(file);
    let content = content
        .map_err(|lines| lines.iter().map(|it| format!("{shown}: {it}")).collect::<Vec<_>>())?;
    Ok((name, content))
}

fn asked(arguments: &Arguments) -> Result<CalibrationInput, Failure> {
    let of =
        |errors: Vec<KnobError>| Failure::User(errors.iter().map(ToString::to_string).collect());
    let base = match arguments.preset.as_deref() {
        None => None,
        Some(id) if Path::new(id).is_file() => {
            Some(input::read_design(Path::new(id))?.map_err(of)?)
        }
        Some(id) => Some(Design::from_preset(id).map_err(|error| of(vec![error]))?),
    };
    let mut settings = vec![];
    for setting in &arguments.settings {
        let (knob, value) = setting.split_once('=').ok_or_else(|| {
            Failure::user(format!("--set takes KNOB=VALUE, not `{}`", shorten(setting)))
        })?;
        let knob = KnobId::find(knob.trim()).map_err(|error| of(vec![error]))?;
        settings.push((knob, value.trim().to_owned()));
    }
    Ok(CalibrationInput { base, settings, name: arguments.name.clone() })
}

fn text(found: &Calibration) -> String {
    let mut text = format!("Profile: {}\n", found.name);
    let lines: Vec<Vec<String>> = found.constants.iter().map(constant).collect();
    let heads = ["", "family's", "own", "nine of ten", "told", ""];
    text.push_str(&table_below(heads, "lrrlrl", lines));
    if let Some(agreed) = &found.agreement {
        text.push_str("\nRuns: predicted before and with the profile, errors of the step time\n");
        let heads = ["run", "measured", "before", "", "with it", "", "left out"];
        text.push_str(&table_below(heads, "lrrrrrr", found.runs.iter().map(measured)));
        text.push_str(&format!("\n{}\n", agreement(found.runs.len(), agreed)));
    }
    for remark in &found.remarks {
        text.push_str(&format!("not told: {remark}\n"));
    }
    for Unused { id, reason } in &found.refused {
        text.push_str(&format!("not used: {id}: {reason}\n"));
    }
    if let Some(verdict) = verdict(found) {
        text.push_str(&format!("\n{verdict}\n"));
    }
    if found.knobs.is_empty() {
        return text;
    }
    let set = found.knobs.iter().map(|knob| format!("--set {}", word(knob)));
    let set: Vec<String> = set.collect();
    text.push_str(&format!("\nSet {}\nLink {}\n", set.join(" "), found.link));
    text
}

/// A word as a shell takes it.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.=-".contains(c);
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn constant(told: &ConstantChange) -> Vec<String> {
    let number = |value: f64| format::significant(value, 3);
    let unit = if told.unit.is_empty() { String::new() } else { format!(" {}", told.unit) };
    let [least, most] = told.range;
    let is_own = told.from != "family";
    vec![
        told.knob.clone(),
        format!("{}{unit}", number(told.before)),
        if is_own { format!("{}{unit}", number(told.value)) } else { words::NOTHING.to_owned() },
        if is_own { format!("{} to {}{unit}", number(least), number(most)) } else { String::new() },
        format::percent(told.told, 0).to_string(),
        told.why.to_owned(),
    ]
}
