//! The languages of the pages.

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// English, in which everything is written.
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// Its id in cookies.
    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// Language tag, as documents have it.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
        }
    }

    /// The language of an id.
    pub(crate) fn of_id(id: &str) -> Option<Self> {
        [Self::English, Self::Chinese].into_iter().find(|language| language.id() == id)
    }

    /// The language for what a browser accepts: Chinese where it comes first.
    pub(crate) fn preferred(accepted: &str) -> Self {
        let first = accepted.split([',', ';']).next().unwrap_or_default().trim();
        let language = first.split('-').next().unwrap_or_default();
        if language.eq_ignore_ascii_case("zh") { Self::Chinese } else { Self::English }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_likes_best_is_spoken() {
        assert_eq!(Language::preferred("zh-Hans-CN, en;q=0.5"), Language::Chinese);
        assert_eq!(Language::preferred("ZH"), Language::Chinese);
        assert_eq!(Language::preferred("en-US, zh"), Language::English);
        assert_eq!(Language::preferred(""), Language::English);
        assert_eq!(Language::preferred("zha"), Language::English);
    }
}
