//! Checks that visitors will reach the server, and find its site there.

use std::io;
use std::net::TcpListener;

use super::State::{Broken, Warning};
use super::{Check, health, serve};
use crate::Site;

/// Body of a server's answer to `/healthz`.
const HEALTHY: &str = "ok";

/// Checks that follow from the settings.
pub(super) fn all(settings: &serve::Arguments) -> Vec<Check> {
    let mut checks = vec![listening("listen", "--listen", &settings.listen)];
    if let Some(address) = &settings.metrics_listen {
        checks.push(listening("metrics", "--metrics-listen", address));
    }
    checks.extend(public_url(settings));
    checks.extend(site(settings));
    checks
}

/// Check that the address can be listened on. It is for a moment, and left again.
fn listening(name: &'static str, flag: &str, address: &str) -> Check {
    let error = match TcpListener::bind(address) {
        Ok(_) => return Check::fine(name, format!("{address} is free")),
        Err(error) => error,
    };
    let found = format!("{address}: {error}");
    let kind = error.kind();
    let todo = if kind == io::ErrorKind::AddrInUse {
        if health::ask(&health::own(address), "/healthz").as_deref() == Ok(HEALTHY) {
            return Check::fine(name, format!("a server answers at {address}"));
        }
        format!(
            "another program listens there: end it (`ss -ltnp` names it), or choose another port \
             by {flag}"
        )
    } else if kind == io::ErrorKind::PermissionDenied {
        "choose a port from 1024 on, which needs no privileges".to_owned()
    } else if kind == io::ErrorKind::AddrNotAvailable {
        format!("this machine doesn't have that address: {flag} 0.0.0.0:PORT is all")
    } else {
        format!("{flag} takes ADDRESS:PORT such as 127.0.0.1:3000")
    };
    Check::new(name, Broken, found, todo)
}

/// Check that what visitors send and get is out of others' sight. Cookies are kept to TLS by this
/// address.
fn public_url(settings: &serve::Arguments) -> Option<Check> {
    let name = "public URL";
    let url = settings.public_url.as_ref()?;
    let is_here = ["http://localhost", "http://127.0.0.1", "http://[::1]"]
        .iter()
        .any(|here| url.as_str().strip_prefix(here).is_some_and(|rest| !rest.starts_with('.')));
    if url.is_secure() || is_here {
        return Some(Check::fine(name, url.as_str()));
    }
    let todo = "put a proxy with TLS in front and name it with https://: without, whoever is on \
                the way reads the keys of sessions, which cookies hold";
    Some(Check::new(name, Warning, format!("{} is without TLS", url.as_str()), todo))
}

/// The site that is named in place of the binary's.
fn site(settings: &serve::Arguments) -> Option<Check> {
    let name = "site";
    let directory = settings.site.as_ref()?;
    Some(match Site::from_directory(directory) {
        Ok(_) => Check::fine(name, directory.display().to_string()),
        Err(error) => {
            let todo = "build one by `cargo xtask site --release` and name its directory, or leave \
                        --site out where the binary has the site inside";
            Check::new(name, Broken, error.to_string(), todo)
        }
    })
}
