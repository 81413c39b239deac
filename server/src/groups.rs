//! Who a proxy that is believed says its user is, and of which groups: who may make what is kept.

use axum::http::{HeaderMap, HeaderName, StatusCode};

use crate::deeds::Kind;
use crate::problem::Problem;

/// Which groups may make what is kept; all where none is named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// The header in which a proxy that is believed says of which groups its user is.
    pub(crate) header: Option<HeaderName>,
    pub(crate) create: Vec<String>,
}

impl Groups {
    /// Those of a request; `cleaned` took the header from whoever isn't believed.
    fn of(&self, headers: &HeaderMap) -> Vec<String> {
        let values = self.header.iter().flat_map(|name| headers.get_all(name));
        let texts = values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let names = texts.flat_map(|text| {
            text.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>()
        });
        names.filter(|name| !name.is_empty()).collect()
    }

    /// May they make something?
    pub(crate) fn check(&self, kind: Kind, headers: &HeaderMap) -> Result<(), Problem> {
        if self.create.is_empty() {
            return Ok(());
        }
        let theirs = self.of(headers);
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

/// The user that a proxy in front vouches for, where the server was told to believe one.
pub(crate) fn user(header: Option<&HeaderName>, headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header?)?;
    let value = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
    (!value.is_empty()).then_some(value)
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
