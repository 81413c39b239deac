//! `moescape serve --metrics-listen`, as Prometheus reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::command;

/// Asks for a path: status line with headers, and body.
fn get(address: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// The samples of a text in Prometheus' format: name with labels, and value. Every sample must be
/// of a family that was announced, whose lines stand together.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut families) = (BTreeMap::new(), BTreeSet::new());
    let (mut name, mut kind) = ("", "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            name = rest.split_once(' ').unwrap().0;
            assert!(families.insert(name), "{name} is announced twice");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (named, is) = rest.split_once(' ').unwrap();
            assert_eq!(named, name);
            assert!(["counter", "gauge", "histogram"].contains(&is), "{line}");
            kind = is;
        } else {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let own = sample.split('{').next().unwrap();
            assert!(own.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{own}");
            match kind {
                "histogram" => {
                    let ending = own.strip_prefix(name).unwrap();
                    assert!(["_bucket", "_sum", "_count"].contains(&ending), "{line}");
                }
                _ => assert_eq!(own, name),
            }
            assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
            let before = samples.insert(sample.to_owned(), value.parse().unwrap());
            assert!(before.is_none(), "{sample} stands there twice");
        }
    }
    assert!(text.ends_with('\n'));
    samples
}

#[test]
fn metrics_are_read_by_prometheus_on_a_listener_of_their_own() {
    let data = tempfile::tempdir().unwrap();
    let mut serve = command(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    serve.arg(data.path()).args(["--metrics-listen", "127.0.0.1:0"]);
    let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let site = line.trim().trim_start_matches("listening on http://").to_owned();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = log.find_map(|line| {
        let line = line.unwrap();
        let (_, address) = line.split_once("metrics are at http://")?;
        Some(address.trim_end_matches("/metrics").to_owned())
    });
    let own = told.unwrap();
    std::thread::spawn(move || log.for_each(drop));
    let unknown = "/s/aB3dE5fG7hI9jK1lM3nO5pQ7";
    for path in ["/healthz", "/readyz", unknown, "/nothing/aB3dE5fG7hI9jK1lM3nO5pQ7"] {
        get(&site, path);
    }
    let status = |(head, _): &(String, String)| head.split(' ').nth(1).unwrap().to_owned();
    assert_eq!(status(&get(&site, &format!("/?{}", "a".repeat(10_000)))), "414");
    assert_eq!(status(&get(&site, "/metrics")), "404", "visitors have no metrics");
    assert_eq!(status(&get(&own, "/healthz")), "404", "and Prometheus no site");
    let rebound = get(&own, "http://evil.example/metrics");
    assert!(status(&rebound) == "421" && rebound.1.contains("--host"), "{rebound:?}");
    let (head, text) = get(&own, "/metrics");
    child.kill().unwrap();
    child.wait().unwrap();
    let is_kind = |line: &str| line.starts_with("content-type: text/plain; version=0.0.4");
    assert!(head.to_lowercase().lines().any(is_kind), "{head}");
    assert!(!text.contains("aB3dE5fG7hI9jK1lM3nO5pQ7"), "{text}");
    let samples = parsed(&text);
    let value = |name: &str| *samples.get(name).unwrap_or_else(|| panic!("{name}\n{text}"));
    let count = |name: &str| value(name) as u64;
    assert_eq!(count(r#"moescape_requests_total{route="/healthz",status="2xx"}"#), 1);
    assert_eq!(count(r#"moescape_requests_total{route="/s/{id}",status="4xx"}"#), 1);
    assert_eq!(count(r#"moescape_requests_total{route="none",status="4xx"}"#), 2);
    assert_eq!(count(r#"moescape_request_seconds_count{route="/readyz"}"#), 1);
    let last = r#"moescape_request_seconds_bucket{route="/readyz",le="+Inf"}"#;
    assert_eq!(count(last), 1);
    assert_eq!(count(r#"moescape_refusals_total{reason="uri_too_long"}"#), 1);
    assert!(value("moescape_store_bytes") > 4_096.0, "/readyz made a store");
    assert!(value("moescape_uptime_seconds") > 0.0);
    for none in ["review_sessions", "review_sockets", "sweeps_running", "traces_bytes"] {
        assert_eq!(count(&format!("moescape_{none}")), 0);
    }
    let version = model::MODEL_VERSION;
    let is_it = |name: &&String| name.contains(&format!("model_version=\"{version}\"}}"));
    assert_eq!(samples.keys().find(is_it).map(|name| count(name)), Some(1), "{text}");
    if cfg!(target_os = "linux") {
        assert!(value("process_resident_memory_bytes") > 1e6);
    }
}
