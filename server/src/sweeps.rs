//! Sweeps as the command line and the server run them.

pub(crate) mod rows;
pub(crate) mod table;
