//! Messages over stdin and stdout, one a line; a line that can't be read is answered, not dropped.
//!
//! The SDK's own transport drops a line that is too long or nested too deeply, and whoever sent it
//! waits until they give up. Here its id is looked for in what goes by, and the answer says what
//! is wrong. Where there is no id to be found the answer has none, as the protocol has it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::SinkExt;
use rmcp::ErrorData;
use rmcp::model::RequestId;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{JsonRpcMessageCodec, JsonRpcMessageCodecError};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::sync::Mutex;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, FramedWrite};

/// Bytes of a line, at most.
pub(crate) const MAX_LINE_BYTES: usize = 16 << 20;

/// Levels that a message may be nested, at most: those that its parser goes down.
const MAX_DEPTH: usize = 127;

/// Bytes of a key or of an id that are looked at.
const MAX_TOKEN_BYTES: usize = 256;

type Sent = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;
type Writer<W> = FramedWrite<W, JsonRpcMessageCodec<TxJsonRpcMessage<RoleServer>>>;

/// The lines of a client, and those for it.
///
/// Everything of a line that is on its way stands in here, as whoever receives gives up and begins
/// again whenever something is to be sent.
pub(crate) struct Lines<R, W> {
    read: BufReader<R>,
    line: BytesMut,
    /// Length and id of a line that became too long, as read so far.
    long: Option<(usize, IdSeeker)>,
    max_bytes: usize,
    write: Arc<Mutex<Option<Writer<W>>>>,
    /// Error of the last line, until it is sent.
    owed: Option<Sent>,
}

/// Outcome of reading a line.
enum Read {
    Line,
    TooLong(usize, IdSeeker),
    End,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    pub(crate) fn new(read: R, write: W, max_bytes: usize) -> Self {
        let write = FramedWrite::new(write, JsonRpcMessageCodec::default());
        Self {
            read: BufReader::new(read),
            line: BytesMut::new(),
            long: None,
            max_bytes,
            write: Arc::new(Mutex::new(Some(write))),
            owed: None,
        }
    }

    /// Reads to the end of a line; the last one needs no end.
    async fn read(&mut self) -> io::Result<Read> {
        loop {
            // Nothing is awaited between this and what takes the bytes.
            let bytes = self.read.fill_buf().await?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let is_over = bytes.is_empty() || end.is_some();
            let taken = end.map_or(bytes.len(), |end| end + 1);
            let part = &bytes[..end.unwrap_or(taken)];
            if let Some((length, seeker)) = &mut self.long {
                *length += part.len();
                seeker.feed(part);
            } else {
                self.line.extend_from_slice(part);
                if self.line.len() > self.max_bytes {
                    let mut seeker = IdSeeker::default();
                    seeker.feed(&self.line);
                    self.long = Some((self.line.len(), seeker));
                    self.line = BytesMut::new();
                }
            }
            self.read.consume(taken);
            if !is_over {
                continue;
            }
            return Ok(match self.long.take() {
                Some((length, seeker)) => Read::TooLong(length, seeker),
                None if taken == 0 && self.line.is_empty() => Read::End,
                None => Read::Line,
            });
        }
    }

    /// The message of the line that was read, if it is one that matters.
    fn parsed(&mut self) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Wrong> {
        let mut line = self.line.split();
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        line.extend_from_slice(b"\n");
        let copy = line.clone();
        match JsonRpcMessageCodec::default().decode(&mut line) {
            Ok(message) => Ok(message),
            Err(JsonRpcMessageCodecError::Serde(error)) => Err(Wrong::with(&copy, &error)),
            Err(error) => Err(Wrong::new(error_of(&error), None)),
        }
    }

    fn owe(&mut self, wrong: Wrong) {
        self.owed = Some(Box::pin(self.send(wrong.message())));
    }
}

/// Error in a message, and the message's id.
pub(super) struct Wrong {
    error: ErrorData,
    id: Option<RequestId>,
}

impl Wrong {
    pub(super) const fn new(error: ErrorData, id: Option<RequestId>) -> Self {
        Self { error, id }
    }

    /// Error for bytes that are no message.
    pub(super) fn with(bytes: &[u8], error: &serde_json::Error) -> Self {
        let mut seeker = IdSeeker::default();
        seeker.feed(bytes);
        if seeker.max_depth > MAX_DEPTH {
            let detail = format!(
                "the message is nested {} levels deep; at most {MAX_DEPTH} are read",
                seeker.max_depth
            );
            Self::new(ErrorData::invalid_request(detail, None), seeker.id)
        } else if error.is_data() {
            let detail = format!("this is JSON and no message of the protocol: {error}");
            Self::new(ErrorData::invalid_request(detail, None), seeker.id)
        } else {
            Self::new(error_of(error), None)
        }
    }

    /// Error as a message of the protocol.
    pub(super) fn message(self) -> TxJsonRpcMessage<RoleServer> {
        tracing::warn!(error = %self.error.message, "a message was refused");
        TxJsonRpcMessage::<RoleServer>::error(self.error, self.id)
    }
}

fn error_of(error: &dyn std::fmt::Display) -> ErrorData {
    ErrorData::parse_error(format!("this isn't JSON: {error}"), None)
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            match &mut *write.lock().await {
                Some(write) => write.send(message).await.map_err(io::Error::from),
                None => Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(owed) = &mut self.owed {
                let sent = owed.await;
                self.owed = None;
                sent.ok()?;
            }
            let wrong = match self.read().await {
                Ok(Read::Line) => match self.parsed() {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(wrong) => wrong,
                },
                Ok(Read::TooLong(bytes, seeker)) => {
                    let detail = format!(
                        "the message has {bytes} bytes; at most {} are read",
                        self.max_bytes
                    );
                    Wrong::new(ErrorData::invalid_request(detail, None), seeker.id)
                }
                Ok(Read::End) => return None,
                Err(error) => {
                    tracing::error!(%error, "messages can't be read any more");
                    return None;
                }
            };
            self.owe(wrong);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.take();
        Ok(())
    }
}

/// Looks for the id of a message in its bytes as they go by, however many and deep they are.
#[derive(Debug, Default)]
struct IdSeeker {
    depth: usize,
    max_depth: usize,
    in_text: bool,
    is_escaped: bool,
    /// The last key or value of the outermost object, as far as it is looked at.
    token: Vec<u8>,
    is_of_id: bool,
    id: Option<RequestId>,
}

impl IdSeeker {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_text {
            self.in_text = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return self.keep(byte);
        }
        match byte {
            b'"' => {
                self.in_text = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.max_depth = self.max_depth.max(self.depth);
            }
            b'}' | b']' => {
                self.end_of_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_of_value(),
            b':' if self.depth == 1 => {
                self.is_of_id = self.token == b"\"id\"";
                self.token.clear();
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < MAX_TOKEN_BYTES {
            self.token.push(byte);
        }
    }

    fn end_of_value(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.is_of_id && self.token.len() < MAX_TOKEN_BYTES {
            self.id = serde_json::from_slice(&self.token).ok();
        }
        self.is_of_id = false;
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{IdSeeker, MAX_TOKEN_BYTES, RequestId};

    fn id(message: &str) -> Option<RequestId> {
        let (mut whole, mut bytewise) = (IdSeeker::default(), IdSeeker::default());
        whole.feed(message.as_bytes());
        message.as_bytes().chunks(1).for_each(|byte| bytewise.feed(byte));
        assert_eq!(whole.id, bytewise.id);
        whole.id
    }

    #[test]
    fn an_id_is_found_wherever_it_stands_and_taken_for_no_other() {
        let number = Some(RequestId::Number(7));
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"params":{"id":8,"a":["}",{"id":9}]}}"#), number);
        assert_eq!(id(r#"{"params":{"text":"\"id\":1,{[\\"},"id" : 7 }"#), number);
        assert_eq!(id(r#"{"a":"id","id":"id"}"#), Some(RequestId::String("id".into())));
        let deep = format!("{{\"id\":7,\"a\":{}{}}}", "[".repeat(9_999), "]".repeat(9_999));
        assert_eq!(id(&deep), number);
        let long = "1".repeat(MAX_TOKEN_BYTES + 1);
        let without = [
            r#"{"params":{"id":7}}"#,
            r#"[{"id":7}]"#,
            r#"{"id":{"id":7}}"#,
            r#"{"id":null}"#,
            r#"{"key":"\"id\":7"}"#,
            "}}]]\"id\":7,",
            &format!("{{\"id\":{long}}}"),
        ];
        for message in without {
            assert_eq!(id(message), None, "{message}");
        }
    }
}
