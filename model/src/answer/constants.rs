//! Fitted constants of the model with the measurements that they rest on.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::catalogue::accelerator::AcceleratorId;
use crate::catalogue::calibration::FRAGMENTATION;
use crate::catalogue::fabric::HYBRID_EP;
use crate::ground::choice::{Choice, Framework};
use crate::ground::fitted::{Evidence, Fitted};
use crate::routing::CORRELATED_TOKENS;
use crate::serving::{FIRST_LAYER_TIME, OVERHEADS, QUEUE, QUEUE_BAND, SENT_SHARE};
use crate::training::plan::host;

/// A fitted constant, or a set of them that were fitted together.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Measurements that it was fitted on.
    pub evidence: Evidence,
    /// Why it rests on fewer than it should, if it says so.
    pub reason: Option<&'static str>,
}

/// Every fitted constant: those of accelerators, of frameworks' hosts, of engines, and single ones.
#[must_use]
pub fn constants() -> Vec<Constant> {
    let mut all: Vec<Constant> = Vec::new();
    for id in AcceleratorId::ALL {
        let (kernels, fabric) = (&id.row().kernels, &id.row().fabric);
        let sets = [
            (format!("kernels of {}", kernels.family), kernels.fitted_on),
            (format!("steps on {}", kernels.family), kernels.in_run_fitted_on),
            (format!("links of {}", fabric.name), fabric.fitted_on),
        ];
        for (name, evidence) in sets {
            if !all.iter().any(|known| known.name == name) {
                all.push(Constant { name, evidence, reason: None });
            }
        }
    }
    all.extend(Framework::ALL.iter().map(|framework| {
        let (name, evidence) =
            (format!("host of {}", framework.name()), host(*framework).fitted_on);
        Constant { name, evidence, reason: None }
    }));
    all.extend(OVERHEADS.iter().map(|row| {
        let name = format!("{} on {}", row.engine.name(), row.family);
        Constant { name, evidence: row.overheads.fitted_on, reason: None }
    }));
    all.extend([
        single("FRAGMENTATION", &FRAGMENTATION),
        single("HYBRID_EP", &HYBRID_EP),
        single("CORRELATED_TOKENS", &CORRELATED_TOKENS),
        single("QUEUE", &QUEUE),
        single("QUEUE_BAND", &QUEUE_BAND),
        single("FIRST_LAYER_TIME", &FIRST_LAYER_TIME),
        single("SENT_SHARE", &SENT_SHARE),
    ]);
    all
}

fn single<T: Copy>(name: &str, fitted: &Fitted<T>) -> Constant {
    Constant { name: name.to_string(), evidence: fitted.evidence(), reason: fitted.reason() }
}
