//! Measured kernels beside what the model says of them.

pub mod collective;
pub mod deepep;

use crate::report::kernels::Measured;

/// Every measured kernel.
#[must_use]
pub fn measured() -> Vec<Measured> {
    let mut all = collective::measured();
    all.extend(deepep::measured());
    all
}
