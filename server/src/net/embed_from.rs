//! Which sites may show a panel of ours in a page of theirs.

use std::str::FromStr;

use crate::net::public_url::PublicUrl;

/// The sites that may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EmbedFrom {
    /// All of them: a panel has no script, no cookie and nothing to press that changes anything.
    #[default]
    Anywhere,
    /// Our own pages alone.
    Nowhere,
    /// Sites that may as well.
    Sites(Vec<PublicUrl>),
}

impl EmbedFrom {
    /// The sources of `frame-ancestors`.
    pub(crate) fn policy(&self) -> String {
        match self {
            Self::Anywhere => "*".to_owned(),
            Self::Nowhere => "'self'".to_owned(),
            Self::Sites(sites) => sites.iter().fold("'self'".to_owned(), |mut policy, site| {
                policy.push(' ');
                policy.push_str(site.as_str());
                policy
            }),
        }
    }
}

impl FromStr for EmbedFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "*" => Ok(Self::Anywhere),
            "none" => Ok(Self::Nowhere),
            _ => text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self::Sites),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_become_a_policy_and_nothing_else_gets_in() {
        let policy = |text: &str| text.parse::<EmbedFrom>().map(|from| from.policy());
        assert_eq!(policy("*").as_deref(), Ok("*"));
        assert_eq!(policy("none").as_deref(), Ok("'self'"));
        let two = policy("https://wiki.example,http://a.example:81");
        assert_eq!(two.as_deref(), Ok("'self' https://wiki.example http://a.example:81"));
        for bad in ["", "https://a.example; script-src *", "wiki.example", "https://a,none"] {
            assert!(policy(bad).is_err(), "{bad}");
        }
    }
}
