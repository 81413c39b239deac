//! Groups of a user, as a trusted proxy names them, and which of them may make what is kept.

use axum::http::{HeaderMap, HeaderName, StatusCode};

use crate::net::problem::Problem;
use crate::net::proxies::told;
use crate::people::audit_events::Kind;

/// Groups that may make what is kept; all if none is named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// The header in which a proxy that is believed says of which groups its user is.
    pub(crate) header: Option<HeaderName>,
    pub(crate) create: Vec<String>,
}

impl Groups {
    /// Groups of a request's user; `cleaned` took the header from whoever isn't believed.
    fn read(&self, headers: &HeaderMap) -> Vec<String> {
        let list = self.header.as_ref().and_then(|name| told(name, headers).ok()?);
        let names = list.unwrap_or_default().split(',').map(str::trim);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// Checks that the user may make something.
    pub(crate) fn check(&self, kind: Kind, headers: &HeaderMap) -> Result<(), Problem> {
        if self.create.is_empty() {
            return Ok(());
        }
        let theirs = self.read(headers);
        if theirs.iter().any(|name| self.create.contains(name)) {
            return Ok(());
        }
        let are = if theirs.is_empty() {
            "the sign-in names no group of yours".to_owned()
        } else {
            format!("yours are {}", theirs.join(", "))
        };
        let detail = format!(
            "{} are made here by {}; {are}. Everything can be looked at and computed; whoever \
             runs the server can add your group",
            kind.plural(),
            self.create.join(", ")
        );
        Err(Problem::new(StatusCode::FORBIDDEN, detail))
    }
}

/// Checks the headers in which a proxy says who its user is: what can't be believed is refused.
pub(crate) fn check_told<'a>(
    mut names: impl Iterator<Item = &'a HeaderName>,
    headers: &HeaderMap,
) -> Result<(), Problem> {
    let wrong = names.find_map(|name| told(name, headers).err().map(|why| (name, why)));
    let Some((name, why)) = wrong else { return Ok(()) };
    tracing::warn!(
        "a request is refused: its header {name} {why}; the proxy in front has to set it"
    );
    let detail = format!(
        "the header {name} {why}, so that it isn't known who asks; whoever runs the proxy in front \
         lets it replace the header by one of UTF-8"
    );
    Err(Problem::new(StatusCode::BAD_REQUEST, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_groups_is_enough_and_the_refusal_names_them() {
        let groups = Groups {
            header: Some(HeaderName::from_static("x-forwarded-groups")),
            create: vec!["design".to_owned(), "infra".to_owned()],
        };
        let told = |list: &str| {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("x-forwarded-groups"),
                list.parse().unwrap(),
            )]);
            groups.check(Kind::Sweep, &headers).map_err(|problem| problem.detail().to_owned())
        };
        assert_eq!(told("guests, infra"), Ok(()));
        let refusal = told("guests,infrared").unwrap_err();
        assert!(refusal.contains("design, infra") && refusal.contains("guests, infrared"));
        assert!(told("").unwrap_err().contains("names no group"));
        assert!(Groups::default().check(Kind::Sweep, &HeaderMap::new()).is_ok());
    }
}
