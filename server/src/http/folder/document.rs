//! A page of the folder: its addresses, its scripts, and the policy that a header said.

use std::cell::RefCell;

use app::document::SiteFiles;
use lol_html::html_content::ContentType;
use lol_html::{RewriteStrSettings, element, rewrite_str, text};
use sha2::{Digest, Sha256};

use super::Files;
use super::addresses::{Addresses, base};

/// Attributes that hold addresses.
const LINKS: [&str; 3] = ["href", "src", "action"];

/// The directory of the site's hashed files, as all of them name each other.
const PACKAGE: &str = "/pkg/";

/// Scripts that only a folder has, and what they need to know.
pub(super) struct Scripts {
    /// The text of the one in front of all others.
    early: String,
    /// Address of the one that writes what a server would.
    folder: String,
    /// Address of the worker that searches for layouts.
    finder: String,
}

impl Scripts {
    /// Takes the scripts out of the site's files, and tells them the folder's pages.
    pub(super) fn new(
        names: &SiteFiles,
        files: &mut Files,
        addresses: &Addresses,
    ) -> Result<Self, String> {
        let text = |address: &str| {
            let bytes = files.get(address.trim_start_matches('/')).cloned().unwrap_or_default();
            String::from_utf8(bytes).map_err(|_| format!("{address} is no text"))
        };
        let early = text(&names.early)?;
        let folder = text(&names.folder)?;
        if let Some(file) = loaded(&folder).find(|it| !files.contains_key(it)) {
            let advice = "a draft for a server has less: `cargo xtask site --release` builds all";
            return Err(format!("the built site lacks {file}: {advice}"));
        }
        let folder = folder.replace("[\"PAGES\"]", &listed(&addresses.paths()));
        for address in [&names.early, &names.folder] {
            files.remove(address.trim_start_matches('/'));
            files.remove(&format!("{}.br", address.trim_start_matches('/')));
        }
        let name = format!("{PACKAGE}folder.{}.js", &hex(folder.as_bytes())[..16]);
        files.insert(name.trim_start_matches('/').to_owned(), folder.into_bytes());
        Ok(Self { early, folder: name, finder: names.finder.clone() })
    }
}

/// Files that a moved script of the site loads.
fn loaded(script: &str) -> impl Iterator<Item = String> {
    let names = script.split("\"./").skip(1).filter_map(|rest| rest.split('"').next());
    names.map(|name| format!("{}{name}", PACKAGE.trim_start_matches('/')))
}

/// A list of texts as a script has it.
pub(super) fn listed<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("\"{}\"", text.as_ref())).collect();
    format!("[{}]", texts.join(","))
}

/// SHA-256 in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file of the site whose addresses of others have to be relative; `None` for one that names no
/// other.
pub(super) fn moved(path: &str, bytes: &[u8]) -> Option<String> {
    let is_packed = path.starts_with("pkg/") && (path.ends_with(".js") || path.ends_with(".css"));
    if path == "manifest.webmanifest" {
        return Some(std::str::from_utf8(bytes).ok()?.replace("\"/", "\"./"));
    }
    let text = std::str::from_utf8(bytes).ok().filter(|_| is_packed)?;
    text.contains(PACKAGE).then(|| text.replace(PACKAGE, "./"))
}

/// A page as a file of the folder.
pub(super) fn rewritten(
    html: &str,
    file: &str,
    policy: &str,
    addresses: &Addresses,
    scripts: &Scripts,
) -> Result<String, String> {
    let base = base(file);
    // Also in its own scripts, which name files of the site alone.
    let package = format!("{base}{}", PACKAGE.trim_start_matches('/'));
    let html = html.replace(&format!("\"{PACKAGE}"), &format!("\"{package}"));
    let moved = |address: &str| address.replace(PACKAGE, &package);
    let hashes = hashes(&html, &scripts.early)?;
    let own = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
         <script>{}</script><script type=\"module\" src=\"{}\"></script>",
        policy_of(policy, &hashes),
        scripts.early,
        moved(&scripts.folder),
    );
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("html", |root| {
            root.set_attribute("data-base", &base)?;
            // As the service worker marks the explorer's page that stands for every design.
            root.set_attribute("data-shell", "true")?;
            Ok(root.set_attribute("data-finder", &moved(&scripts.finder))?)
        }))
        .append_element_content_handler(element!("head", |head| {
            head.prepend(&own, ContentType::Html);
            Ok(())
        }))
        .append_element_content_handler(element!("script", |script| {
            script.remove_attribute("nonce");
            Ok(())
        }))
        .append_element_content_handler(text!("noscript", |chunk| {
            // What is read without scripts is text to whoever reads with them.
            let near = chunk.as_str().replace("=\"/", &format!("=\"{base}"));
            chunk.replace(&near, ContentType::Html);
            Ok(())
        }))
        .append_element_content_handler(element!("*", |element| {
            for name in LINKS {
                let address = element.get_attribute(name);
                let address = address.and_then(|it| addresses.linked(&it, file));
                if let Some(address) = address {
                    element.set_attribute(name, &address)?;
                }
            }
            Ok(())
        }));
    rewrite_str(&html, settings).map_err(|error| format!("{file}: {error}"))
}

/// The sums of a page's inline scripts, the early one first.
fn hashes(html: &str, early: &str) -> Result<Vec<String>, String> {
    let texts = RefCell::new(vec![early.to_owned()]);
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("script:not([src])", |_| {
            texts.borrow_mut().push(String::new());
            Ok(())
        }))
        .append_element_content_handler(text!("script:not([src])", |chunk| {
            if let Some(last) = texts.borrow_mut().last_mut() {
                last.push_str(chunk.as_str());
            }
            Ok(())
        }));
    rewrite_str(html, settings).map_err(|error| error.to_string())?;
    let sum = |text: &String| format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())));
    Ok(texts.borrow().iter().map(sum).collect())
}

/// A policy with sums in place of the nonce, without what only a header may say.
fn policy_of(policy: &str, hashes: &[String]) -> String {
    let parts = policy.split(';').map(str::trim);
    let parts = parts.filter(|part| !part.is_empty() && !part.starts_with("frame-ancestors"));
    let parts = parts.map(|part| {
        let words = part.split(' ').filter(|word| !word.starts_with("'nonce-"));
        let mut words: Vec<&str> = words.collect();
        if words[0] == "script-src" {
            words.extend(hashes.iter().map(String::as_str));
            if !words.contains(&"'wasm-unsafe-eval'") {
                words.push("'wasm-unsafe-eval'");
            }
        }
        words.join(" ")
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// Bytes in base 64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_digits_of_the_standard() {
        // Source: RFC 4648, section 10.
        let known =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (text, digits) in known {
            assert_eq!(base64(text.as_bytes()), digits);
        }
    }

    #[test]
    fn a_policy_has_sums_in_place_of_its_nonce() {
        let header = "default-src 'self'; script-src 'self' 'nonce-abc' 'wasm-unsafe-eval'; \
                      frame-ancestors 'none'";
        let hashes = ["'sha256-x'".to_owned()];
        let policy = policy_of(header, &hashes);
        assert_eq!(policy, "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'sha256-x'");
    }
}
