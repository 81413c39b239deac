//! Owner of a stored thing: the user for whom a proxy vouches, or the browser that stored it, which
//! has a random key as a cookie.
//!
//! There are no accounts. The server keeps only the key's hash, so that its file tells nobody how
//! to act as an owner. Who loses the cookie can still open what they stored, but not change it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use crate::net::problem::Problem;
use crate::net::proxies;
use crate::net::public_url::{self, PublicUrl};

/// The cookie's name.
const COOKIE: &str = "owner";

/// Bytes of a key: nobody guesses 128 bits.
const KEY_BYTES: usize = 16;

/// Seconds after which a browser forgets a key that isn't used: 400 days, the most that it keeps.
const AGE_SECONDS: u32 = 34_560_000;

/// Context of the hash of a key, so that no other hash of the same bytes is one.
const CONTEXT: &str = "moescape 2026-11 owner key";
const CONTEXT_OF_USER: &str = "moescape 2026-11 owner user of a proxy";

/// Owner of stored things: the user for whom a proxy vouches, else a browser; as a hash, in
/// hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    name: String,
    /// Browser of a user: what it stored before the server knew its users is theirs, too.
    browser: Option<String>,
}

impl Owner {
    /// Owner behind a request, if they have stored something before or are known; `user` is the
    /// header of the proxy.
    pub(crate) fn of(user: Option<&HeaderName>, headers: &HeaderMap) -> Option<Self> {
        let browser = key(headers).map(|key| Self::of_key(&key));
        match proxies::user(user, headers) {
            Some(user) => Some(Self::of_user(&user, browser)),
            None => browser,
        }
    }

    fn of_key(key: &[u8; KEY_BYTES]) -> Self {
        Self { name: hex(&blake3::derive_key(CONTEXT, key)), browser: None }
    }

    fn of_user(user: &str, browser: Option<Self>) -> Self {
        let name = hex(&blake3::derive_key(CONTEXT_OF_USER, user.as_bytes()));
        Self { name, browser: browser.map(|browser| browser.name) }
    }

    /// Name, as the store has it.
    pub(crate) fn as_str(&self) -> &str {
        &self.name
    }

    /// The browser, as the store has it; of one that no user sits at the same again.
    pub(crate) fn browser(&self) -> &str {
        self.browser.as_deref().unwrap_or(&self.name)
    }
}

/// Owner behind a request, if any: a request that stores nothing makes nobody an owner.
pub(crate) struct Visitor(pub(crate) Option<Owner>);

impl<S: Sync> FromRequestParts<S> for Visitor
where
    Option<HeaderName>: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let user = Option::<HeaderName>::from_ref(state);
        Ok(Self(Owner::of(user.as_ref(), &parts.headers)))
    }
}

/// An owner who is about to store something, and the cookie that keeps them one.
#[derive(Clone, Debug)]
pub(crate) struct Storing {
    pub(crate) owner: Owner,
    /// Whether a proxy vouches for them. A key anybody can make up.
    pub(crate) is_vouched: bool,
    /// The value of the answer's `Set-Cookie`: a new key, or the old one for another while.
    pub(crate) cookie: HeaderValue,
}

impl<S: Sync> FromRequestParts<S> for Storing
where
    Option<Arc<PublicUrl>>: FromRef<S>,
    Option<HeaderName>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let told = Option::<Arc<PublicUrl>>::from_ref(state);
        let url = public_url::of_request(told.as_deref(), &parts.headers);
        let is_secure = url.is_some_and(|url| url.is_secure());
        let key = key(&parts.headers).map_or_else(random_key, Ok)?;
        let (browser, cookie) = (Owner::of_key(&key), cookie(&key, is_secure)?);
        let user = Option::<HeaderName>::from_ref(state);
        Ok(match proxies::user(user.as_ref(), &parts.headers) {
            Some(user) => {
                Self { owner: Owner::of_user(&user, Some(browser)), is_vouched: true, cookie }
            }
            None => Self { owner: browser, is_vouched: false, cookie },
        })
    }
}

/// The key in a request's cookies.
fn key(headers: &HeaderMap) -> Option<[u8; KEY_BYTES]> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).map(str::trim);
    let text = pairs.find_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='))?;
    if text.len() != 2 * KEY_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u128::from_str_radix(text, 16).ok().map(u128::to_be_bytes)
}

fn random_key() -> Result<[u8; KEY_BYTES], Problem> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(|error| {
        tracing::error!(%error, "the system has no random bytes");
        internal()
    })?;
    Ok(key)
}

fn cookie(key: &[u8; KEY_BYTES], is_secure: bool) -> Result<HeaderValue, Problem> {
    let secure = if is_secure { "; Secure" } else { "" };
    let value = format!(
        "{COOKIE}={}; Path=/; Max-Age={AGE_SECONDS}; HttpOnly; SameSite=Lax{secure}",
        hex(key)
    );
    let mut value = HeaderValue::try_from(value).map_err(|_| internal())?;
    value.set_sensitive(true);
    Ok(value)
}

fn internal() -> Problem {
    let detail = "the server made a mistake; the request id tells its operator which";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    /// A server that believes a proxy, without a configured address.
    #[derive(Clone)]
    struct Behind;

    impl FromRef<Behind> for Option<Arc<PublicUrl>> {
        fn from_ref(_: &Behind) -> Self {
            None
        }
    }

    impl FromRef<Behind> for Option<HeaderName> {
        fn from_ref(_: &Behind) -> Self {
            Some(HeaderName::from_static("x-user"))
        }
    }

    async fn storing(cookies: &str, scheme: &str) -> Storing {
        storing_as("", cookies, scheme).await
    }

    async fn storing_as(user: &str, cookies: &str, scheme: &str) -> Storing {
        let request = Request::post("/").header("cookie", cookies).header("host", "a.example");
        let request = request.header("x-forwarded-proto", scheme).header("x-user", user);
        let request = request.body(()).unwrap();
        let mut parts = request.into_parts().0;
        Storing::from_request_parts(&mut parts, &Behind).await.map_err(|_| "a problem").unwrap()
    }

    fn sent(storing: &Storing) -> String {
        let value = storing.cookie.to_str().unwrap();
        value.split(';').next().unwrap().to_owned()
    }

    #[tokio::test]
    async fn whoever_comes_back_with_the_cookie_is_the_same_owner() {
        let (first, other) = (storing("", "http").await, storing("theme=dark", "http").await);
        assert_ne!(first.owner, other.owner);
        let again = storing(&format!("theme=dark; {}", sent(&first)), "http").await;
        assert_eq!((&again.owner, sent(&again)), (&first.owner, sent(&first)));
        let key = sent(&first).trim_start_matches("owner=").to_owned();
        assert_eq!(key.len(), 32);
        assert!(!first.owner.as_str().contains(&key), "the store would have the key itself");
    }

    #[tokio::test]
    async fn a_user_is_one_owner_in_any_browser_and_has_what_that_stored_before() {
        let browser = storing("", "http").await;
        let here = storing_as("ann", &sent(&browser), "http").await;
        let there = storing_as("ann", "", "http").await;
        assert_eq!(here.owner.as_str(), there.owner.as_str());
        assert_ne!(here.owner.as_str(), storing_as("bob", "", "http").await.owner.as_str());
        assert_eq!(here.owner.browser(), browser.owner.as_str());
        assert_eq!(browser.owner.browser(), browser.owner.as_str());
        assert!(here.is_vouched && !browser.is_vouched);
    }

    #[tokio::test]
    async fn no_script_and_no_other_site_has_the_key() {
        let attributes = "Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax";
        let cookie = storing("", "http").await.cookie;
        assert!(cookie.to_str().unwrap().ends_with(attributes) && cookie.is_sensitive());
        let cookie = storing("", "https").await.cookie;
        assert!(cookie.to_str().unwrap().ends_with("SameSite=Lax; Secure"));
    }

    #[test]
    fn what_is_no_key_is_nobodys() {
        for cookie in ["", "owner=", "owner=12", "owner=+1234567890123456789012345678901"] {
            let headers = HeaderMap::from_iter([(header::COOKIE, cookie.parse().unwrap())]);
            assert_eq!(Owner::of(None, &headers), None, "{cookie}");
        }
        let bytes = HeaderValue::from_bytes(b"owner=\xff").unwrap();
        assert_eq!(Owner::of(None, &HeaderMap::from_iter([(header::COOKIE, bytes)])), None);
    }
}
