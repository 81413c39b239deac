//! Review sessions: raw sockets and requests against the real program.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test waits for what it names")]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

#[path = "reviews/backup.rs"]
mod backup;
#[path = "reviews/client.rs"]
mod client;
#[path = "reviews/converge.rs"]
mod converge;
#[path = "reviews/disk.rs"]
mod disk;
#[path = "reviews/doors.rs"]
mod doors;
#[path = "reviews/report.rs"]
mod report;
#[path = "reviews/servers.rs"]
mod servers;
#[path = "reviews/talk.rs"]
mod talk;
