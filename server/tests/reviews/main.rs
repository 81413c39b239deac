//! Review sessions: raw sockets and requests against the real program.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test waits for what it names")]
#![expect(clippy::print_stdout, reason = "the soak says what it measured")]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

mod backup;
mod client;
mod converge;
mod disk;
mod doors;
#[path = "../process/nats.rs"]
mod nats;
#[path = "../process/nginx.rs"]
mod nginx;
#[path = "../process/postgres.rs"]
mod postgres;
mod report;
mod servers;
mod signed_in;
mod soak;
mod talk;
mod with_nats;
mod with_postgres;
