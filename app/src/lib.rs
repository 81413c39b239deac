//! The interface: the explorer and the pages beside it, rendered on the server (`ssr`) and taken
//! over by the browser (`hydrate`).
//!
//! Both run the same model on the design in the query string, so the first paint is already right.
//! Data flows one way: address, design, checked plan, estimate, panels, widgets.
//!
//! There are three ways to draw here. A *view* ([`widget`], [`panel`], the pages) is for what
//! changes while somebody works on it: leptos keeps it in step with its signals. A *study*
//! ([`present::study`]) is HTML as text, made of numbers alone by a worker or by the server: for
//! the tables and charts that follow each change. A *canvas* ([`timeline`], the results of a sweep)
//! is for pictures of thousands of marks that move under the pointer. Words, numbers, charts and
//! whatever else of a page needs no browser are the crate [`present`].
//!
//! Modules are listed from ground to roof: each imports only those above it in this list.

// The types of views nest as deep as the page does.
#![recursion_limit = "256"]

#[cfg(all(feature = "hydrate", feature = "ssr"))]
compile_error!("`hydrate` and `ssr` are the two sides of one page: build with one of them");

pub mod reaction;

pub mod browser;

pub mod widget;

pub mod explorer;

pub mod study_client;

pub mod timeline;

pub mod panel;

pub mod page;

#[cfg(feature = "ssr")]
pub mod document;
