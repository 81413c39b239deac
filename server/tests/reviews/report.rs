//! Report of a session, as Markdown and as a page.

use serde_json::{Value, json};
use testing::page::Page;

use crate::client::{Server, Session, begun};

/// Attacks that people may try in a name, a comment and a reason.
const ATTACKS: [&str; 8] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "</style></section><svg onload=alert(1)>",
    "# Big\n\n| a | b |\n|---|---|",
    "`</code><iframe src=//evil.example>`",
    "&lt;script&gt; 'quoted' \"twice\"",
];

async fn act(server: &Server, session: &Session, op: &str, change: Value) -> u64 {
    let answer = server.act(session, &session.own, op, &change).await;
    assert_eq!(answer.status, 200, "{change} {}", answer.body);
    answer.json()["event"]["seq"].as_u64().unwrap()
}

async fn text(server: &Server, session: &Session, format: &str) -> String {
    let path = session.api(&format!("report.{format}"));
    let answer = server.ask("GET", &path, &session.view, &Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

#[tokio::test]
async fn a_report_says_what_was_decided_and_whether_it_stands() {
    let (_data, server, session) = begun().await;
    let act = |op, change| act(&server, &session, op, change);
    act("a-1", json!({"kind": "pin", "name": "As it was"})).await;
    let settings = json!([{"knob": "tp", "value": "4"}]);
    let proposal = json!({"kind": "propose", "settings": settings, "reason": "Less to send"});
    let proposal = act("a-2", proposal).await;
    let about = "metric:memory_peak_bytes";
    act("a-3", json!({"kind": "comment", "anchor": about, "text": "Too much?"})).await;
    act("a-4", json!({"kind": "ask", "text": "Who pays?"})).await;
    act("a-5", json!({"kind": "decide", "outcome": "approve", "reason": "Good enough"})).await;
    let standing = text(&server, &session, "md").await;
    assert!(standing.contains("still the one that was decided on"), "{standing}");
    let moved = act("a-6", json!({"kind": "accept", "proposal": proposal})).await;
    for format in ["md", "html"] {
        let report = text(&server, &session, format).await;
        for part in [
            "Review",
            "Approved",
            "As it was",
            "Less to send",
            "Too much?",
            "Who pays?",
            "Good enough",
            "accepted by",
            "9 of 10",
            "Peak memory",
            "GiB",
            "UTC",
            "Bob",
            "outdated",
            &format!("changed at event {moved}"),
            model::MODEL_VERSION,
        ] {
            assert!(report.contains(part), "{format} lacks {part}: {report}");
        }
    }
    let page = text(&server, &session, "html").await;
    let page = Page::new(&page);
    assert!(page.has("svg") && !page.has("script"), "it needs no script");
}

#[tokio::test]
async fn nothing_that_people_write_acts_in_a_report() {
    let (_data, server, session) = begun().await;
    for (place, attack) in ATTACKS.iter().enumerate() {
        let line = attack.replace('\n', " ");
        for (kind, change) in [
            ("c", json!({"kind": "comment", "anchor": "design", "text": attack})),
            ("n", json!({"kind": "rename", "name": line})),
            ("p", json!({"kind": "pin", "name": line})),
            ("q", json!({"kind": "ask", "text": attack})),
            ("d", json!({"kind": "decide", "outcome": "reject", "reason": attack})),
        ] {
            let body = json!({"op": format!("{kind}-{place}"), "change": change, "name": line,
                "key": "eve"});
            let answer = server.ask("POST", &session.api("do"), &session.own, &body).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
    }
    let page = Page::new(&text(&server, &session, "html").await);
    for bad in ["script", "img", "iframe", "[onload]", "a[href^='javascript' i]"] {
        assert!(!page.has(bad), "{bad}");
    }
    assert_eq!(page.count("style"), 1);
    let markdown = text(&server, &session, "md").await;
    for line in markdown.lines() {
        assert!(!line.contains('<'), "{line}");
        // Every link is one of our own, into this server.
        for link in line.split("](").skip(1) {
            assert!(link.starts_with("http://127.0.0.1"), "{line}");
        }
    }
}
