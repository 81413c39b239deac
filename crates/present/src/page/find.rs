//! The page `/find`: the layouts that a model should run with on a machine.
//!
//! The page's address holds the whole question ([`request`]). The search runs in a worker of the
//! browser ([`run`], `script/find_worker.js`), or on the server for who has no script; both write
//! what is found with the same function ([`answer`]). The page around it is text that only the
//! server writes ([`form`]), and what can be done on it is a link or a form.

mod cards;
pub mod request;
pub mod answer;
pub mod form;
pub mod run;
pub mod space;
