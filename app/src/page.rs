//! The pages of the site, each in a folder of its own. A page imports no other page.

pub mod budget;
pub mod compare;
pub mod explorer;
pub mod ladder;
pub mod results;
pub mod review;
pub mod schedule;
pub mod serving;
pub mod sweep;
pub mod trust;
