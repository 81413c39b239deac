//! Words of the API's document that no type and no endpoint of its own says.

use crate::jobs::sweeps::MAX_PLACES;

/// Title of the document.
pub(crate) const TITLE: &str = "Moescape";

/// Subject of the API, in a line.
pub(crate) const SUMMARY: &str =
    "How large mixture-of-experts models train on NPU and GPU clusters";

/// Rules that hold on every route.
pub(crate) const DESCRIPTION: &str = "Everything that the explorer and the command line can do, \
     for programs. Bodies are JSON in UTF-8 unless said otherwise; errors are problem JSON \
     (RFC 9457). Every answer has the header `x-request-id`, which the server's log knows. Any \
     route may refuse: 421 for another server's name in `Host`, 408 for a body that doesn't go on, \
     429 and 503 with `Retry-After` for as much under way as may be, of one address and of all. \
     There are no accounts and no keys: who can reach the server can use it.";

/// Token that routes of a review session take.
pub(crate) const TOKEN: &str = "The token of a link into the session.";

/// Headers of an answer to something new, with what they hold.
pub(super) const HEADERS_OF_NEW: [(&str, &str); 2] = [
    ("Location", "Its address for programs."),
    ("Set-Cookie", "The key that makes the asker the owner: send it back to list and delete."),
];

/// Reasons of 400.
pub(super) const UNREADABLE: &str = "The body or the address can't be read: one entry in `errors` \
     for each thing that is wrong, with a JSON pointer and what would be taken.";

/// Reasons of 403 for something new.
pub(super) const MAY_NOT_MAKE: &str = "It comes from a page of another site, or its user is in \
     none of the groups that may make something here.";

/// Reasons of 403 for what somebody else began.
pub(crate) const NOT_YOURS: &str = "The server knows its users, and somebody else began the sweep.";

/// Reasons of 403 in a review session.
pub(crate) const ROLE: &str =
    "The token's role doesn't allow it, or the request comes from a page of another site.";

/// Reasons of 422 for a sweep.
pub(crate) fn too_large_sweep() -> String {
    format!(
        "The sweep is larger than a server takes, {MAX_PLACES} designs: sample it, or run \
         `moescape sweep` in shards.",
    )
}

/// Reasons of 400 for a router trace.
pub(crate) const TRACE: &str = "The design or the trace can't be read: each entry of `errors` has \
     its knob, or its line and column.";

/// Reasons of 429 for a router trace.
pub(crate) const TRACES: &str = "As many traces of this address are read as may be.";

/// Reasons of 400 and 426 for what should be a socket.
pub(crate) const NO_SOCKET: &str = "The request asks for no socket.";

/// Reasons of 429 in a review session.
pub(crate) const SLOW_DOWN: &str = "More than can be taken now; `Retry-After` says when.";

/// Reasons of 507.
pub(super) const NO_ROOM: &str = "The server, or one owner, has as many of these, or as much, as \
     may be: the problem names the limit and what is used.";

/// A doc comment as running text.
pub(crate) fn flowing(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A problem's detail as a sentence.
pub(super) fn sentence(detail: &str) -> String {
    let (first, rest) = detail.split_at_checked(1).unwrap_or(("", detail));
    format!("{}{rest}.", first.to_ascii_uppercase())
}

/// A number of bytes in words.
pub(crate) fn size(bytes: usize) -> String {
    match (bytes >> 20, bytes % (1 << 20)) {
        (mib, 0) => format!("{mib} MiB"),
        _ => format!("{} KiB", bytes >> 10),
    }
}
