//! What a text says of a thing: that it is so, that it isn't, or that it isn't stated.
//!
//! A noun alone says nothing: `no recompute`, `EP overlap off` and `causal treatment not stated`
//! hold the nouns that they deny or leave open.

use std::sync::LazyLock;

/// Claim of a text about a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It is so.
    Affirmed,
    /// It isn't.
    Denied,
    /// The text says that it doesn't know.
    Unstated,
}

/// A list of phrases.
pub(crate) type Phrases = LazyLock<Vec<&'static str>>;

/// Phrases as one text, with a bar between two.
macro_rules! phrases {
    ($text:literal) => {
        std::sync::LazyLock::new(|| $text.split('|').map(str::trim).collect())
    };
}
pub(crate) use phrases;

/// Words that deny what follows them in a clause.
const NEGATORS: &[&str] = &[
    "no", "not", "without", "w/o", "wo", "non", "never", "disable", "disables", "disabled", "sans",
];

/// Ends of a clause that deny what is before them.
static DENIALS: Phrases = phrases!(
    "off | false | none | disabled | not used | not enabled | not overlapped | isn't on | is off | \
     was off | turned off | switched off | not on | no"
);

/// Words of a clause that leave open what it speaks of.
static OPEN: Phrases = phrases!(
    "not stated | not printed | not given | not said | not listed | not mentioned | \
     not specified | not known | not in table | not in the table | not documented | isn't stated | \
     isn't printed | unstated | unknown | unclear | unspecified | see script | where set | \
     to be confirmed"
);

/// Claim of `text`, in lower case, about a thing that each of these phrases means.
///
/// A text that affirms it in one clause and denies it in another affirms it: `no overlap of DP; TP
/// overlap` speaks of two. `None` if no phrase is there.
pub(crate) fn claim(text: &str, phrases: &[&str]) -> Option<Claim> {
    let claims = || {
        clauses(text).flat_map(move |clause| {
            phrases.iter().filter_map(move |phrase| claim_of_clause(clause, phrase))
        })
    };
    [Claim::Affirmed, Claim::Denied, Claim::Unstated]
        .into_iter()
        .find(|wanted| claims().any(|claim| claim == *wanted))
}

/// Whether the text affirms it.
pub(crate) fn affirms(text: &str, phrases: &[&str]) -> bool {
    claim(text, phrases) == Some(Claim::Affirmed)
}

/// The parts of a text that a negation reaches no further than.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', ',', '(', ')', '|', '\n'])
        .flat_map(|part| part.split(". "))
        .flat_map(|part| part.split(" but "))
        .flat_map(|part| part.split(" + "))
}

fn claim_of_clause(clause: &str, phrase: &str) -> Option<Claim> {
    let at = clause.find(phrase)?;
    if OPEN.iter().any(|words| clause.contains(words)) {
        return Some(Claim::Unstated);
    }
    let before = &clause[..at];
    // `checkpointing off` denies checkpoints.
    let rest = clause[at + phrase.len()..].trim_start_matches(char::is_alphanumeric);
    let after = rest.trim_start_matches([' ', '=', ':', '-', '_']);
    let words = before.split(|c: char| c.is_whitespace() || c == '-' || c == '_' || c == '/');
    let mut words = words.chain(before.split_whitespace());
    let is_negated = words.any(|word| NEGATORS.contains(&word));
    // `overlap offloads` is no `overlap off`.
    let is_denied = DENIALS.iter().any(|words| {
        after
            .strip_prefix(words)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    });
    Some(if is_negated || is_denied { Claim::Denied } else { Claim::Affirmed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_is_affirmed_denied_or_left_open() {
        for (text, noun, wanted) in [
            ("causal attention halved", "causal", Claim::Affirmed),
            ("causal treatment not stated", "causal", Claim::Unstated),
            ("full attention matrix (no causal halving)", "causal", Claim::Denied),
            ("non-causal", "causal", Claim::Denied),
            ("no recompute", "recompute", Claim::Denied),
            ("recompute not printed", "recompute", Claim::Unstated),
            ("full, no sp", "full", Claim::Affirmed),
            ("hybridep, ep overlap off", "overlap", Claim::Denied),
            ("hybridep, ep overlap on", "overlap", Claim::Affirmed),
            ("moe_a2a_overlap=false", "a2a_overlap", Claim::Denied),
            ("overlap_grad_reduce: true", "overlap_grad_reduce", Claim::Affirmed),
            ("baseline, without our overlap", "overlap", Claim::Denied),
            ("w/o deepep", "deepep", Claim::Denied),
            ("--no-overlap-p2p", "overlap", Claim::Denied),
            ("dp all-reduce not overlapped", "overlap", Claim::Denied),
            ("no dp overlap; tp overlap", "overlap", Claim::Affirmed),
            ("deepep + 1f1b a2a overlap", "a2a overlap", Claim::Affirmed),
            ("overlap offloads", "overlap", Claim::Affirmed),
        ] {
            assert_eq!(claim(text, &[noun]), Some(wanted), "{text}: {noun}");
        }
        assert_eq!(claim("causal", &["full"]), None);
        assert!(affirms("tp comm overlap", &["x", "tp comm"]) && !affirms("", &["tp"]));
    }
}
