//! Check that a server answers: one short request, so that an image needs no other program for it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Longest time in which a server has to connect, and to answer: `/readyz` answers within 3 s.
const MAX_WAIT: Duration = Duration::from_secs(4);

/// Bytes of an answer that are read.
const MAX_ANSWER_BYTES: u64 = 4_096;

/// The host and port of a URL such as `http://127.0.0.1:3000`.
pub(super) fn address(url: &str) -> Result<String, String> {
    let wrong = |why: &str| format!("--health {url}: {why}; it takes http://HOST:PORT");
    if url.starts_with("https:") {
        return Err(wrong("the server itself speaks no TLS, ask it behind the proxy"));
    }
    let address = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    if address.contains('/') {
        return Err(wrong("it has a path"));
    }
    match port {
        Some(1..) => Ok(address.to_owned()),
        Some(0) | None => Err(wrong("there is no port")),
    }
}

/// Address at which this machine reaches what listens at an address; one that listens everywhere is
/// on this machine, too.
pub(super) fn own(listen: &str) -> String {
    match listen.parse::<SocketAddr>() {
        Ok(SocketAddr::V4(address)) if address.ip().is_unspecified() => {
            format!("127.0.0.1:{}", address.port())
        }
        Ok(SocketAddr::V6(address)) if address.ip().is_unspecified() => {
            format!("[::1]:{}", address.port())
        }
        Ok(_) | Err(_) => listen.to_owned(),
    }
}

/// Asks for a path; the answer's body, if all is well there.
pub(super) fn ask(address: &str, path: &str) -> Result<String, String> {
    let answer = answered(address, path).map_err(|error| {
        let kind = error.kind();
        if kind == io::ErrorKind::ConnectionRefused {
            "nothing listens there".to_owned()
        } else if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&kind) {
            format!("no answer within {} s", MAX_WAIT.as_secs())
        } else {
            error.to_string()
        }
    })?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    if !words.next().unwrap_or_default().starts_with("HTTP/") {
        return Err("what answers there speaks no HTTP".to_owned());
    }
    match words.next() {
        Some("200") => Ok(body.trim().to_owned()),
        status => Err(format!("it answers {}: {}", status.unwrap_or_default(), body.trim())),
    }
}

fn answered(address: &str, path: &str) -> io::Result<String> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
    for socket in address.to_socket_addrs()? {
        let mut stream = match TcpStream::connect_timeout(&socket, MAX_WAIT) {
            Ok(stream) => stream,
            Err(error) => {
                last = error;
                continue;
            }
        };
        stream.set_read_timeout(Some(MAX_WAIT))?;
        stream.set_write_timeout(Some(MAX_WAIT))?;
        // A server knows its own machine by this name, whatever else it is called.
        let host = if socket.ip().is_loopback() { "localhost" } else { address };
        write!(stream, "GET {path} HTTP/1.0\r\nhost: {host}\r\nconnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer)?;
        return Ok(String::from_utf8_lossy(&answer).into_owned());
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_to_ask_is_a_host_and_a_port_without_tls() {
        assert_eq!(address("http://127.0.0.1:3000/").as_deref(), Ok("127.0.0.1:3000"));
        assert_eq!(address("http://[::1]:3000").as_deref(), Ok("[::1]:3000"));
        for (bad, why) in [
            ("https://moescape.example", "no TLS"),
            ("http://moescape.example", "no port"),
            ("http://a:0", "no port"),
            ("http://a/b:1", "a path"),
        ] {
            let said = address(bad).unwrap_err();
            assert!(said.contains(why) && said.contains("http://HOST:PORT"), "{said}");
        }
    }

    #[test]
    fn what_listens_everywhere_is_asked_on_this_machine() {
        assert_eq!(own("0.0.0.0:3000"), "127.0.0.1:3000");
        assert_eq!(own("[::]:3000"), "[::1]:3000");
        assert_eq!(own("10.0.0.1:3000"), "10.0.0.1:3000");
        assert_eq!(own("localhost:3000"), "localhost:3000");
    }
}
