//! Names that nobody guesses.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A name that can't be guessed: two hashers that the system seeded.
pub(crate) fn random_id() -> String {
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}
