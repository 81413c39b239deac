//! Participants of a session: their right to be there, and bounds on what they show of themselves.

use std::sync::Arc;

use review::Role;
use review::wire::{At, Presence};

/// Characters of an id that a client sends of a part of its page, at most.
const MAX_ID_LEN: usize = 128;

/// Characters of a knob's value on its way, at most: layouts are long.
const MAX_VALUE_LEN: usize = 4_000;

/// The right of a link's holder.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    /// The session.
    pub(crate) review: Arc<str>,
    /// The link.
    pub(crate) link: Arc<str>,
    pub(crate) role: Role,
    pub(crate) expires_at_millis: Option<u64>,
}

/// A participant through this server.
#[derive(Clone, Debug)]
pub(super) struct Participant {
    pub(super) link: Arc<str>,
    pub(super) presence: Presence,
}

/// Whether it is small enough for others.
pub(super) fn is_small(at: &At) -> bool {
    let ids = [at.view.as_ref(), at.knob.as_ref(), at.cursor.as_ref().map(|it| &it.chart)];
    let is_inside = |cursor: &review::wire::Cursor| {
        // Neither a number beyond the chart nor one that isn't a number.
        (0.0..=1.0).contains(&cursor.x) && (0.0..=1.0).contains(&cursor.y)
    };
    ids.into_iter().flatten().all(|id| id.chars().count() <= MAX_ID_LEN)
        && at.cursor.as_ref().is_none_or(is_inside)
}

/// Whether it is small enough for others.
pub(super) fn is_small_setting(setting: &review::Setting) -> bool {
    let value = setting.value.as_deref().unwrap_or_default();
    setting.knob.chars().count() <= MAX_ID_LEN && value.chars().count() <= MAX_VALUE_LEN
}

/// Participants who have to leave, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cut {
    /// Participants who came by this link, which was withdrawn or has expired.
    Link(Arc<str>),
    /// All: the session was deleted.
    Session,
}

#[cfg(test)]
mod tests {
    use review::wire::Cursor;

    use super::*;

    #[test]
    fn what_someone_is_at_is_small_and_on_the_chart() {
        let cursor = |x, y| At {
            cursor: Some(Cursor { chart: "memory".to_owned(), x, y }),
            ..At::default()
        };
        assert!(is_small(&At::default()) && is_small(&cursor(0.0, 1.0)));
        for (x, y) in [(f64::NAN, 0.5), (0.5, f64::INFINITY), (-0.1, 0.5), (0.5, 1.1)] {
            assert!(!is_small(&cursor(x, y)), "{x} {y}");
        }
        assert!(!is_small(&At { view: Some("x".repeat(129)), ..At::default() }));
    }
}
