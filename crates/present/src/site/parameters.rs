//! The part of a page's address behind its `?` that says how the page is looked at.

use std::fmt::Write as _;

use model::design::link;

/// Appends a parameter; one without a value is left out. Letters, digits, `-_.~` and the bytes in
/// `plain` stand for themselves.
pub fn put(query: &mut String, key: &str, value: &str, plain: &[u8]) {
    if value.is_empty() {
        return;
    }
    let joint = if query.is_empty() { "" } else { "&" };
    // Writing to a string can't fail.
    let _ = write!(query, "{joint}{key}=");
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || plain.contains(&byte) {
            query.push(char::from(byte));
        } else {
            let _ = write!(query, "%{byte:02X}");
        }
    }
}

/// The text of a part of a query string, in which forms write a space as a plus; what isn't well
/// escaped stays as it is.
pub fn unescape(text: &str) -> String {
    let spaced = text.replace('+', " ");
    link::unescape(&spaced).unwrap_or(spaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_comes_out_again() {
        let mut query = String::new();
        put(&mut query, "q", "a&b = 50 % µ,c", b"");
        put(&mut query, "empty", "", b"");
        put(&mut query, "axes", "a,b!c", b"!,");
        assert_eq!(query, "q=a%26b%20%3D%2050%20%25%20%C2%B5%2Cc&axes=a,b!c");
        assert_eq!(unescape("a%26b%20%3D%2050%20%25%20%C2%B5%2Cc"), "a&b = 50 % µ,c");
        assert_eq!(unescape("a+b%zz%"), "a b%zz%");
    }
}
