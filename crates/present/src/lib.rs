//! What people see of designs, plans and answers: words, numbers, charts, studies and the text of
//! pages.
//!
//! Pure functions to text, the same on the command line, on the server and in the browser: nothing
//! here knows a page that lives, a clock or a socket. The crate `app` makes such pages of it.
//!
//! Modules stand from ground to roof: each imports only those above it in this list.

pub mod choices;

pub mod site;

pub mod format;

pub mod html;

pub mod words;

pub mod form;

pub mod insight;

pub mod draw;

pub mod charts;

pub mod study;

pub mod timeline;

pub mod page;

pub mod written;
