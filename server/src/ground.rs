//! Ground: dates, random names, files and words of the log, which know nothing of requests.
//!
//! From ground to roof: a module imports only those above it.

pub(crate) mod calendar;
pub(crate) mod random;
pub(crate) mod log_fields;
pub(crate) mod files;
