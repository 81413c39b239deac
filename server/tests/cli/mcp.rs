//! `moescape mcp` over real pipes, line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::command;

/// A client that writes lines and reads lines.
struct Piped {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Piped {
    /// A client that has introduced itself.
    fn new() -> Self {
        let mut command = command(&["mcp", "--log-level", "error"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut piped = Self { child, stdin, stdout: BufReader::new(stdout) };
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}});
        assert_eq!(piped.asked(hello.to_string().as_bytes())["id"], 0);
        piped.told(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        piped
    }

    fn told(&mut self, line: &[u8]) {
        self.stdin.write_all(line).unwrap();
        self.stdin.write_all(b"\n").unwrap();
    }

    fn heard(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn asked(&mut self, line: &[u8]) -> Value {
        self.told(line);
        self.heard()
    }
}

#[test]
fn a_line_that_cannot_be_read_is_answered_and_the_next_one_is_heard() {
    let mut piped = Piped::new();
    let call = |id: u64, text: &str| {
        let arguments = json!({"preset": text});
        // As some clients write it: the id stands behind all else.
        let params = format!(r#"{{"name":"predict","arguments":{arguments}}}"#);
        let head = format!(r#""method":"tools/call","params":{params}"#);
        format!(r#"{{{head},"jsonrpc":"2.0","id":{id}}}"#)
    };
    let deep =
        format!(r#"{{"id":2,"method":"ping","params":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    let long = |id| call(id, &"x".repeat(20 << 20));
    for (line, id, code, part) in [
        (long(1), json!(1), -32_600, "bytes; at most 16777216 are read"),
        (deep, json!(2), -32_600, "201 levels deep; at most 127 are read"),
        (r#"{"jsonrpc":"2.0","id":3,"method":7}"#.to_owned(), json!(3), -32_600, "no message"),
        ("hello".to_owned(), Value::Null, -32_700, "isn't JSON"),
        ("x".repeat(20 << 20), Value::Null, -32_600, "20971520 bytes"),
    ] {
        let answer = piped.asked(line.as_bytes());
        assert_eq!(answer["id"], id, "{answer}");
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{answer}");
    }
    let answer = piped.asked(call(4, "qwen3-30b-a3b").as_bytes());
    assert_eq!(answer["id"], 4, "{answer}");
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    drop(piped.stdin);
    assert!(piped.child.wait().unwrap().success());
}

#[test]
fn the_last_line_needs_no_end_and_one_that_is_too_long_is_answered_at_the_end() {
    let mut piped = Piped::new();
    piped.stdin.write_all(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
    drop(piped.stdin);
    let mut rest = String::new();
    piped.stdout.read_line(&mut rest).unwrap();
    assert!(rest.contains(r#""id":1"#), "{rest}");

    let mut piped = Piped::new();
    piped.stdin.write_all(&vec![b'x'; 17 << 20]).unwrap();
    drop(piped.stdin);
    piped.stdout.read_line(&mut rest).unwrap();
    assert!(rest.contains("17825792 bytes"), "{rest}");
    assert!(piped.child.wait().unwrap().success());
}
