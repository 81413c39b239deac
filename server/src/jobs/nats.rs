//! NATS: how it is reached, and what servers send each other there. What subjects and bytes mean
//! is for those who send them to know.

mod connection;
mod broadcast;

pub(crate) use broadcast::Broadcast;
pub(crate) use connection::{Address, MAX_ANSWER_TIME, NatsError, connect};
