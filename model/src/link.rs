//! STUB: a design as a query string and back.
use alloc::string::String;
use alloc::vec::Vec;
use crate::design::Design;
use crate::knob::KnobError;
/// `v=1&preset=ID&section.knob=value...` without the question mark.
pub fn encode(_design: &Design) -> String { String::new() }
/// From a raw, still percent-encoded query string, with or without the question mark.
pub fn decode(_raw: &str) -> Result<Design, Vec<KnobError>> { Design::from_preset("pangu-ultra-moe-6k").map_err(|e| alloc::vec![e]) }
