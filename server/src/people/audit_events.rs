//! Deeds: the actions of requests on what the server keeps, by route. Who runs a server asks who
//! did what, who may, and what nobody opens any more.

use axum::http::Method;

/// Something that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Design,
    Session,
    Sweep,
    Trace,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Design, Self::Session, Self::Sweep, Self::Trace];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Design => "design",
            Self::Session => "session",
            Self::Sweep => "sweep",
            Self::Trace => "trace",
        }
    }

    /// Plural of the kind.
    pub(crate) const fn plural(self) -> &'static str {
        match self {
            Self::Design => "designs",
            Self::Session => "sessions",
            Self::Sweep => "sweeps",
            Self::Trace => "traces",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Action on a thing that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Create,
    /// Store or delete a design on the sheet, whose form says which.
    Share,
    /// Come into a session: by its link, or by a socket.
    Join,
    /// Ask for a change of a session.
    Change,
    Open,
    Pause,
    Resume,
    Delete,
    MakeLink,
    WithdrawLink,
    ListLinks,
}

impl Act {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Share => "share",
            Self::Join => "join",
            Self::Change => "change",
            Self::Open => "open",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Delete => "delete",
            Self::MakeLink => "make_link",
            Self::WithdrawLink => "withdraw_link",
            Self::ListLinks => "list_links",
        }
    }
}

/// Purpose of a request: the action, and the kind of thing it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deed {
    pub(crate) kind: Kind,
    pub(crate) act: Act,
}

/// Deed of a request to a route, by its template; `None` if nothing is kept. `query` says whether
/// the address has one: a session's link is a page with a key.
pub(crate) fn deed(method: &Method, template: &str, query: bool) -> Option<Deed> {
    let is = |it: &Method| method == it;
    let (post, delete) = (is(&Method::POST), is(&Method::DELETE));
    let of = |kind, act| Some(Deed { kind, act });
    match template {
        "/share" if post => of(Kind::Design, Act::Share),
        "/api/v1/designs" | "/d/{id}/recompute" if post => of(Kind::Design, Act::Create),
        "/api/v1/sweeps" if post => of(Kind::Sweep, Act::Create),
        "/api/v1/traces" if post => of(Kind::Trace, Act::Create),
        "/api/v1/reviews" | "/r" if post => of(Kind::Session, Act::Create),
        "/api/v1/sweeps/{id}/pause" => of(Kind::Sweep, Act::Pause),
        "/api/v1/sweeps/{id}/resume" => of(Kind::Sweep, Act::Resume),
        "/api/v1/traces/{hash}" => of(Kind::Trace, if delete { Act::Delete } else { Act::Open }),
        _ => {
            let (kind, rest) = [
                ("/api/v1/designs/{id}", Kind::Design),
                ("/embed/d/{id}", Kind::Design),
                ("/d/{id}", Kind::Design),
                ("/api/v1/sweeps/{id}", Kind::Sweep),
                ("/s/{id}", Kind::Sweep),
                ("/api/v1/reviews/{id}", Kind::Session),
                ("/r/{id}", Kind::Session),
            ]
            .into_iter()
            .find_map(|(start, kind)| Some((kind, template.strip_prefix(start)?)))?;
            let act = match rest {
                "/socket" => Act::Join,
                "" if kind == Kind::Session && query => Act::Join,
                "/do" => Act::Change,
                "/links" if post => Act::MakeLink,
                "/links" => Act::ListLinks,
                "/links/{link}" => Act::WithdrawLink,
                "" if delete => Act::Delete,
                _ => Act::Open,
            };
            of(kind, act)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_say_what_is_done_with_what() {
        let named = |method: Method, template: &str, query: bool| {
            deed(&method, template, query).map(|it| format!("{}.{}", it.kind.name(), it.act.name()))
        };
        for (method, template, query, name) in [
            (Method::POST, "/api/v1/designs", false, Some("design.create")),
            (Method::POST, "/share", false, Some("design.share")),
            (Method::GET, "/api/v1/designs", true, None),
            (Method::GET, "/d/{id}/card.png", false, Some("design.open")),
            (Method::DELETE, "/api/v1/sweeps/{id}", false, Some("sweep.delete")),
            (Method::GET, "/s/{id}/data", false, Some("sweep.open")),
            (Method::GET, "/r/{id}", true, Some("session.join")),
            (Method::GET, "/r/{id}", false, Some("session.open")),
            (Method::POST, "/api/v1/reviews/{id}/links", false, Some("session.make_link")),
            (Method::DELETE, "/r/{id}/links/{link}", false, Some("session.withdraw_link")),
            (Method::DELETE, "/api/v1/traces/{hash}", false, Some("trace.delete")),
            (Method::GET, "/", true, None),
        ] {
            assert_eq!(named(method, template, query).as_deref(), name, "{template}");
        }
    }
}
