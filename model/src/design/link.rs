//! A design as a query string and back: `v=1&preset=ID&section.knob=value`.
//!
//! A link holds only what differs from its preset, in registry order, so that it stays short and
//! two people who reach the same design share the same link. It is escaped as RFC 3986 asks of a
//! query and unescaped exactly once, here: a router that unescapes by itself would do it twice.
//! A `+` is a plus, never a space; it is written `%2B` because forms read it as a space.
//! Links of earlier versions of the format are brought to the newest one by [`upgrade`].

pub mod upgrade;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::catalogue::preset::Preset;
use crate::design::{Design, KnobId};
use crate::ground::knob::KnobError;
use crate::ground::text::shorten;

/// The version of the link format that [`encode`] writes.
pub const VERSION: u64 = 1 + upgrade::STEPS.len() as u64;

/// Errors after which the rest of a link isn't read.
const MAX_ERRORS: usize = 100;

/// Bytes above which a link isn't read.
pub const MAX_BYTES: usize = 65_536;

/// The query string of a design, without the question mark.
#[must_use]
pub fn encode(design: &Design) -> String {
    let mut link = format!("v={VERSION}&preset=");
    escape(design.preset.id, &mut link);
    for id in design.changed() {
        link.push('&');
        link.push_str(&id.id());
        link.push('=');
        escape(&design.get(id).to_string(), &mut link);
    }
    link
}

/// The design of an address as people paste it: with host, path and fragment, or only what stands
/// behind its question mark.
///
/// # Errors
/// Everything that is wrong with it.
pub fn of_address(address: &str) -> Result<Design, Vec<KnobError>> {
    let query = address.split_once('?').map_or(address, |(_, query)| query);
    decode(query.split_once('#').map_or(query, |(query, _)| query))
}

/// The design of a raw, still escaped query string, with or without the question mark.
///
/// An empty one is the default preset; an absent `v` is 1.
///
/// # Errors
/// Everything that is wrong with it.
pub fn decode(raw: &str) -> Result<Design, Vec<KnobError>> {
    match salvage(raw) {
        (design, errors) if errors.is_empty() => Ok(design),
        (_, errors) => Err(errors),
    }
}

/// Design as far as a raw query string can be read, and the errors of the rest.
#[must_use]
pub fn salvage(raw: &str) -> (Design, Vec<KnobError>) {
    let raw = raw.strip_prefix('?').unwrap_or(raw);
    if raw.len() > MAX_BYTES {
        let detail = format!("the link has {} bytes; at most {MAX_BYTES} are read", raw.len());
        return (default_design(), vec![link_error("too_long", "link", detail, None)]);
    }
    let mut errors = Vec::new();
    let mut pairs = pairs(raw, &mut errors);
    let version = version(&pairs, &mut errors);
    for Pair { key, value } in &mut pairs {
        upgrade::upgrade(key, value, version, upgrade::STEPS);
    }
    let preset = pairs.iter().find(|pair| pair.key == "preset");
    let unnamed = Preset::unnamed(pairs.iter().any(|pair| !is_head(pair)));
    let start = Design::from_preset(preset.map_or(unnamed, |preset| &preset.value));
    let mut design = start.unwrap_or_else(|error| {
        errors.push(error);
        default_design()
    });
    let mut seen: Vec<KnobId> = Vec::new();
    let follows = |pair: &&Pair| KnobId::find(&pair.key).is_ok_and(KnobId::follows);
    let (last, first): (Vec<&Pair>, Vec<&Pair>) =
        pairs.iter().filter(|pair| !is_head(pair)).partition(follows);
    for pair in first.into_iter().chain(last) {
        if errors.len() >= MAX_ERRORS {
            let detail = String::from("there are more errors than are listed here");
            errors.push(link_error("too_many_errors", "link", detail, None));
            break;
        }
        let outcome = KnobId::find(&pair.key).and_then(|id| {
            if seen.contains(&id) {
                return Err(repeated(&id.id()));
            }
            seen.push(id);
            design.set_text(id, &pair.value)
        });
        errors.extend(outcome.err());
    }
    (design, errors)
}

/// A key and its value, unescaped.
struct Pair {
    key: String,
    value: String,
}

/// Splits and unescapes; reports what can't be, and the repeated `v` and `preset`.
fn pairs(raw: &str, errors: &mut Vec<KnobError>) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    for part in raw.split('&').filter(|part| !part.is_empty()) {
        if errors.len() >= MAX_ERRORS {
            break;
        }
        let (key, value) = part.split_once('=').map_or((part, None), |(k, v)| (k, Some(v)));
        let pair = readable(key).and_then(|key| {
            let Some(value) = value else {
                let detail = format!("{} has no value", shorten(&key));
                return Err(link_error("missing_value", &key, detail, None));
            };
            let value = readable(value).map_err(|error| KnobError {
                detail: format!("the value of {} isn't readable: {}", shorten(&key), error.detail),
                knob: shorten(&key),
                ..error
            })?;
            Ok(Pair { key, value })
        });
        match pair {
            Err(error) => errors.push(error),
            Ok(pair) if is_head(&pair) && pairs.iter().any(|seen| seen.key == pair.key) => {
                errors.push(repeated(&pair.key));
            }
            Ok(pair) => pairs.push(pair),
        }
    }
    pairs
}

/// Not a knob, but what the link says of itself.
fn is_head(pair: &Pair) -> bool {
    matches!(pair.key.as_str(), "v" | "preset")
}

/// The version that a link says it has; the newest where that isn't one.
fn version(pairs: &[Pair], errors: &mut Vec<KnobError>) -> u64 {
    let Some(pair) = pairs.iter().find(|pair| pair.key == "v") else { return 1 };
    if let Some(version) = (1..=VERSION).find(|version| pair.value == version.to_string()) {
        return version;
    }
    let known = if VERSION == 1 { String::new() } else { String::from("1 to v=") };
    let shown = shorten(&pair.value);
    let detail = format!("this version reads links with v={known}{VERSION}, not v={shown}");
    let nearest = Some(VERSION.to_string());
    errors.push(link_error("unsupported_version", "v", detail, nearest));
    VERSION
}

fn default_design() -> Design {
    Design::from_preset(Preset::DEFAULT_ID).expect("the default preset is in the table")
}

fn repeated(key: &str) -> KnobError {
    let detail = format!("{} stands in the link more than once", shorten(key));
    link_error("repeated_knob", key, detail, None)
}

fn link_error(rule: &'static str, key: &str, detail: String, nearest: Option<String>) -> KnobError {
    KnobError { rule, knob: shorten(key), detail, nearest: nearest.into_iter().collect() }
}

/// A knob and its value as a link has them.
#[must_use]
pub fn pair(id: KnobId, value: &str) -> String {
    let mut pair = id.id() + "=";
    escape(value, &mut pair);
    pair
}

/// Appends text, escaping what RFC 3986 doesn't allow in a query, and `+ & = #` as they have a use.
fn escape(text: &str, link: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => link.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'(' | b')' | b'*' | b',' | b'/' | b':' | b'@' => {
                link.push(char::from(byte));
            }
            _ => {
                link.push('%');
                link.push(char::from(HEX[usize::from(byte >> 4)]));
                link.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
}

/// A part of a link, unescaped.
fn readable(text: &str) -> Result<String, KnobError> {
    unescape(text).map_err(|why| {
        link_error("bad_encoding", text, format!("{why} in `{}`", shorten(text)), None)
    })
}

/// Replaces each `%XX` by its byte, once (RFC 3986).
///
/// # Errors
/// What is wrong with the text.
pub fn unescape(text: &str) -> Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = rest.next().and_then(hex_digit);
        let low = rest.next().and_then(hex_digit);
        let (high, low) = high.zip(low).ok_or("`%` without two hexadecimal digits")?;
        bytes.push(high << 4 | low);
    }
    String::from_utf8(bytes).map_err(|_| "bytes that are not UTF-8")
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}
