//! Ids that nobody guesses, and tokens that only their holders know.
//!
//! The server keeps a token's hash and nothing else of it, so that its file lets nobody in.

use std::fmt;

/// The digits of base 62.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Digits of base 62 that 128 bits take.
const SECRET_DIGITS: usize = 22;

/// Contexts of the hashes, so that none of one kind is one of another.
const OF_LINK: &str = "moescape 2026-11 review link";
const OF_PERSON: &str = "moescape 2026-11 review person";
const OF_USER: &str = "moescape 2026-11 review user of a proxy";

/// A token's hash.
pub(crate) type Hash = [u8; 32];

/// The system has no random bytes.
#[derive(Clone, Debug)]
pub(crate) struct NoRandomness(getrandom::Error);

impl fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the system has no random bytes: {}", self.0)
    }
}

/// 128 random bits as text.
pub(crate) fn random() -> Result<String, NoRandomness> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    let mut rest = u128::from_le_bytes(bytes);
    let digit = |_| {
        let digit = DIGITS[(rest % 62) as usize];
        rest /= 62;
        char::from(digit)
    };
    Ok((0..SECRET_DIGITS).map(digit).collect())
}

/// Whether a text can be an id or token at all. What can't isn't looked for.
pub(crate) fn is_plain(text: &str) -> bool {
    text.len() == SECRET_DIGITS && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Hash of a token, as the store has it.
pub(crate) fn hash(token: &str) -> Hash {
    blake3::derive_key(OF_LINK, token.as_bytes())
}

/// The id of a person in a session: made of a secret of their browser, so that nobody who sees the
/// id can take it.
pub(crate) fn person(review: &str, key: &str) -> String {
    person_of(OF_PERSON, review, key)
}

/// The id of a user for whom a proxy vouches.
pub(crate) fn user(review: &str, name: &str) -> String {
    person_of(OF_USER, review, name)
}

fn person_of(context: &str, review: &str, secret: &str) -> String {
    let hash = blake3::derive_key(context, format!("{review}\0{secret}").as_bytes());
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_and_never_the_same() {
        let (a, b) = (random().unwrap(), random().unwrap());
        assert!(is_plain(&a) && is_plain(&b) && a != b);
        for bad in ["", "x", "../../../../etc/passwd", "0123456789012345678901234"] {
            assert!(!is_plain(bad), "{bad}");
        }
    }

    #[test]
    fn a_person_is_another_one_in_another_session_and_no_user() {
        let of = [person("a", "key"), person("b", "key"), person("a", "key2"), user("a", "key")];
        assert!(of.iter().all(|id| id.len() == 16));
        assert_eq!(of.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
        assert_eq!(person("a", "key"), of[0]);
    }
}
