//! What a file really says: it is read back without its comments and predicted, beside the design
//! that it is made of.

use model::Plan;
use model::design::{Design, KnobId};

use super::reason;
use super::{Target, UnsupportedKnob};

/// The least difference of a figure that is reported, as a share of the design's.
const MIN_REPORTED_DIFFERENCE: f64 = 0.02;

/// The least share of a figure that a knob is named for.
const MIN_NAMED_SHARE: f64 = 0.005;

/// Knobs that are named, at most.
const MAX_NAMED: usize = 5;

/// Predictions for a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Seconds of a step.
    pub step_seconds: f64,
    /// Bytes of the fullest device.
    pub peak_bytes: f64,
    /// Bytes that a device has to use.
    pub limit_bytes: f64,
    /// Model FLOPs utilisation, 0 to 1.
    pub mfu: f64,
    /// Tokens of all devices in a second.
    pub tokens_per_second: f64,
    /// Whether the peak is within the limit, and what is parked within the host's memory.
    pub fits: bool,
}

impl Figures {
    /// Predictions for a design; `None` if it breaks rules.
    #[must_use]
    pub fn of(design: &Design) -> Option<Self> {
        let metrics = model::estimate(&Plan::new(design).ok()?).metrics;
        Some(Self {
            step_seconds: metrics.step_time.get(),
            peak_bytes: metrics.memory_peak.get(),
            limit_bytes: metrics.memory_limit.get(),
            mfu: metrics.mfu,
            tokens_per_second: metrics.tokens_per_second,
            fits: metrics.fits,
        })
    }

    /// Whether peak or step differ from another's by more than a share.
    fn differs(&self, other: &Self, share: f64) -> bool {
        let apart = |own: f64, other: f64| (own - other).abs() > share * other.abs();
        apart(self.peak_bytes, other.peak_bytes) || apart(self.step_seconds, other.step_seconds)
    }
}

/// Predictions for what a file says by its own words, beside its design's.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Predictions for the design; `None` if it breaks rules.
    pub design: Option<Figures>,
    /// Predictions for the file; `None` if what it says breaks rules.
    pub file: Option<Figures>,
    /// Rules that the file breaks.
    pub broken: Vec<String>,
    /// Knobs that the file doesn't set and that change the figures or rules.
    pub lost: Vec<UnsupportedKnob>,
}

impl Reading {
    /// Reads what a file says beside its design. Settings that a run gets elsewhere are the
    /// design's.
    pub(super) fn new(target: Target, design: &Design, said: &Design) -> Self {
        let lost: Vec<KnobId> = KnobId::ALL
            .iter()
            .copied()
            .filter(|knob| said.get(*knob) != design.get(*knob))
            .filter(|knob| reason::is_of_file(target, *knob))
            .collect();
        let own = Figures::of(design);
        let mut file = design.clone();
        for knob in &lost {
            // Values of another design are values of the knob.
            let _ = file.set(*knob, &said.get(*knob));
        }
        let broken = match Plan::new(&file) {
            Ok(_) => vec![],
            Err(violations) => violations.iter().take(3).map(|it| it.message.clone()).collect(),
        };
        let mut reading = Self { design: own, file: Figures::of(&file), broken, lost: vec![] };
        if reading.differs() {
            reading.lost = causes(target, design, &file, &lost);
        }
        reading
    }

    /// Whether the file asks for something else than the design.
    #[must_use]
    pub fn differs(&self) -> bool {
        match (&self.design, &self.file) {
            (Some(design), Some(file)) => {
                file.differs(design, MIN_REPORTED_DIFFERENCE) || file.fits != design.fits
            }
            (Some(_), None) => true,
            // Of a design that breaks rules there are no figures to hold anything against.
            (None, _) => false,
        }
    }

    /// Text of the comparison, a sentence in each.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let Some(design) = &self.design else {
            return vec!["The design breaks rules, so no figures are predicted for it.".to_owned()];
        };
        let Some(file) = self.file.as_ref().filter(|_| self.differs()) else {
            if self.differs() {
                let mut lines = vec![format!(
                    "This file breaks a rule that the design keeps: {}",
                    self.broken.join("; ")
                )];
                lines.extend(self.why());
                return lines;
            }
            return vec![format!(
                "Read back, this file is the design: {} of {} at its peak, {} a step, MFU {:.1} %.",
                gib(design.peak_bytes),
                gib(design.limit_bytes),
                seconds(design.step_seconds),
                100.0 * design.mfu
            )];
        };
        let mut lines = vec![format!(
            "This file takes {} at its peak and {} a step, the design {} and {}.",
            gib(file.peak_bytes),
            seconds(file.step_seconds),
            gib(design.peak_bytes),
            seconds(design.step_seconds)
        )];
        if !file.fits && design.fits {
            let limit = gib(file.limit_bytes);
            lines.push(format!("It doesn't fit: a device has {limit} to use."));
        }
        lines.extend(self.why());
        lines
    }

    fn why(&self) -> Option<String> {
        let lost: Vec<String> =
            self.lost.iter().map(|one| format!("{} = {}", one.knob.id(), one.value)).collect();
        (!lost.is_empty()).then(|| format!("It has no word for {}.", lost.join(", ")))
    }
}

/// The knobs that make the difference, those that make most of it first: each is taken back from
/// the file alone.
fn causes(target: Target, design: &Design, file: &Design, lost: &[KnobId]) -> Vec<UnsupportedKnob> {
    let own = Figures::of(file);
    let mut moved: Vec<(f64, KnobId)> = vec![];
    for knob in lost {
        let mut mended = file.clone();
        let _ = mended.set(*knob, &design.get(*knob));
        let share = match (&own, Figures::of(&mended)) {
            (Some(own), Some(mended)) => {
                let of = |own: f64, mended: f64| (own - mended).abs() / own.max(1e-9);
                of(own.peak_bytes, mended.peak_bytes).max(of(own.step_seconds, mended.step_seconds))
            }
            // What mends a rule is the cause.
            (None, Some(_)) => 1.0,
            (_, None) => 0.0,
        };
        moved.push((share, *knob));
    }
    moved.sort_by(|one, other| other.0.total_cmp(&one.0));
    let few: Vec<KnobId> =
        moved.iter().filter(|(share, _)| *share > MIN_NAMED_SHARE).map(|(_, knob)| *knob).collect();
    let named = if few.is_empty() { lost.to_vec() } else { few };
    let unsaid = |knob: KnobId| UnsupportedKnob {
        knob,
        value: design.get(knob).to_string(),
        reason: reason::reason(target, knob),
    };
    named.into_iter().take(MAX_NAMED).map(unsaid).collect()
}

/// Bytes in GiB, to three digits.
pub(super) fn gib(bytes: f64) -> String {
    let gib = bytes / f64::from(1_u32 << 30);
    if gib < 99.95 { format!("{gib:.1} GiB") } else { format!("{gib:.0} GiB") }
}

/// A time, to three digits.
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.9995 => format!("{:.0} ms", 1e3 * seconds),
        _ if seconds < 9.995 => format!("{seconds:.2} s"),
        _ if seconds < 99.95 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}
