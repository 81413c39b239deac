//! The Model Context Protocol: what the command line answers, as tools for agents, over stdio and
//! streamable HTTP.
//!
//! A tool takes what a command takes and answers with the same object, typed: each number with its
//! unit, its range and what that rests on, each broken rule with the nearest legal values, and the
//! absolute link of every design. [`Agents`] answers; `tools` has a file for each tool. All of it
//! is read-only, and bounded in bytes, in designs and in time.

mod refusals;
mod tool;
mod tools;
mod resources;
mod prompts;
mod agents;
mod stdio;
mod http;
#[cfg(test)]
mod tests;

pub(crate) use agents::Agents;
pub(crate) use http::{PATH, service};
pub(crate) use resources::SKILL;
pub(crate) use stdio::{Lines, MAX_LINE_BYTES};
