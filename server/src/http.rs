//! HTTP: every route, and what happens around it.
//!
//! From ground to roof: a module imports only those above it.

pub(crate) mod audit_middleware;
pub(crate) mod static_page;
pub(crate) mod file_form;
pub(crate) mod not_found;
pub(crate) mod exposition;
pub(crate) mod endpoint;
pub(crate) mod openapi;
pub(crate) mod layers;
pub(crate) mod routes;
pub(crate) mod folder;
