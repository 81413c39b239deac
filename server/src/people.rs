//! People: owners, groups, quotas, what they use, and the audit of what they did.
//!
//! From ground to roof: a module imports only those above it.

pub(crate) mod audit_events;
pub(crate) mod audit;
pub(crate) mod owner;
pub(crate) mod storage_usage;
pub(crate) mod quotas;
pub(crate) mod groups;
