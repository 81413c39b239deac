//! The page `/budget`: what a run costs in days, money and energy, what fails, and what published
//! laws say of its loss beside a baseline.
//!
//! The state is a design, and a pinned baseline beside it; both stand in the address. What comes of
//! it is put into words by `labels`, the same on the server and in the browser; every way from one
//! state to another is a link, so that the page also works without a script.

pub mod charts;
pub mod labels;
pub mod quality;
pub mod brief;
pub mod form;

use model::catalogue::preset::Preset;
use model::design::Design;
use model::design::link;
use model::design::violation::Violation;
use model::ground::knob::KnobError;
use model::run::budget::Assessment;

use crate::site::Page;
use crate::site::parameters::{put, unescape};

pub use brief::{csv, markdown};
pub use quality::verdict;

/// Where the run of an address is to be had as a table for other programs.
pub const CSV_PATH: &str = "/budget.csv";

/// Where the run of an address is to be had as a brief in Markdown.
pub const MARKDOWN_PATH: &str = "/budget.md";

/// The key of the baseline in an address.
pub const BASELINE: &str = "baseline";

/// First design of the page: the paper's final run with Llama 3's failures, 100 GB/s of storage,
/// and as a price an example: what DeepSeek-V3's report assumes for an hour of an H800.
const EXAMPLE: &str = "v=1&preset=pangu-ultra-moe-6k@2&run.train_tokens=19000000000000&\
    run.price_per_device_hour=2&run.mtbf_device_hours=50676&run.checkpoint_gb_per_sec=100";

/// A design and its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetInput {
    /// The design that is trained.
    pub design: Design,
    /// The design that its loss stands beside.
    pub baseline: Option<Design>,
}

/// Request of the page, with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetAnswer {
    /// Design and baseline.
    pub asked: BudgetInput,
    /// Numbers of both.
    pub assessment: Assessment,
}

impl BudgetAnswer {
    /// Outcome of the request.
    ///
    /// # Errors
    /// The rules that design or baseline break.
    pub fn new(asked: &BudgetInput) -> Result<Self, Vec<Violation>> {
        let assessment = Assessment::new(&asked.design, asked.baseline.as_ref())?;
        Ok(Self { asked: asked.clone(), assessment })
    }
}

/// Request of a raw query string; without one the example.
pub fn asked(raw: &str) -> Result<BudgetInput, Vec<KnobError>> {
    // A plain form sends boxes that are empty, too.
    let said = raw.trim_start_matches('?').split('&').filter(|part| !part.ends_with('='));
    let (mut own, mut baseline) = (Vec::new(), None);
    for part in said.filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some((BASELINE, link)) => baseline = Some(unescape(link)),
            _ => own.push(part),
        }
    }
    let own = if own.is_empty() { EXAMPLE.to_owned() } else { own.join("&") };
    let design = link::decode(&own);
    let baseline = baseline.map(|link| link::decode(&link)).transpose();
    match (design, baseline) {
        (Ok(design), Ok(baseline)) => Ok(BudgetInput { design, baseline }),
        (design, baseline) => {
            Err([design.err(), baseline.err()].into_iter().flatten().flatten().collect())
        }
    }
}

/// The query string of a design beside a baseline.
#[must_use]
pub fn query(design: Design, baseline: Option<Design>) -> String {
    BudgetInput { design, baseline }.query()
}

/// Whether a raw query string is understood.
#[must_use]
pub fn is_understood(raw: &str) -> bool {
    asked(raw).is_ok()
}

impl BudgetInput {
    /// The query string behind an address.
    fn query(&self) -> String {
        let mut query = link::encode(&self.design);
        let baseline = self.baseline.as_ref().map(link::encode).unwrap_or_default();
        put(&mut query, BASELINE, &baseline, b"");
        query
    }

    /// Its address on this page.
    pub fn address(&self) -> String {
        format!("{}?{}", Page::Budget.path(), self.query())
    }

    /// Query with something of the design changed.
    pub fn with(&self, change: impl FnOnce(&mut Design)) -> Self {
        let mut other = self.clone();
        change(&mut other.design);
        other
    }
}

/// The design of another preset: the run stays.
pub fn with_preset(design: &Design, preset: &'static Preset) -> Design {
    let mut other = preset.design();
    other.run = design.run.clone();
    other
}
