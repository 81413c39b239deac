//! The bar on top with the actions on the whole design, and on a phone the bar at the bottom.

use leptos::prelude::*;
use model::{MemoryState, link};

use super::steps;
use crate::browser;
use crate::explorer::{Explorer, Shown};
use crate::insight::memory_state;
use crate::insight::recorded::Recorded;
use crate::panel::tray::Tray;
use crate::present::format;
use crate::site::Page;
use crate::widget::icon::{Icon, icon};
use crate::widget::sheet::guide_focus;

/// The name, which leads to the explorer's first design.
pub fn brand() -> impl IntoView {
    view! {
        <a class="brand" href="/">
            <img src="/favicon.svg" alt="" width="22" height="22"/>
            <span class="brand-name">"Moescape"</span>
        </a>
    }
}

/// Links to the other pages.
pub fn pages(current: Page) -> impl IntoView {
    pages_with(Some(current), String::new)
}

/// The header of a page that only the server knows and no module takes over, as text; `path` is
/// that page's own.
#[cfg(feature = "ssr")]
#[must_use]
pub fn still(path: &str) -> String {
    let html = Owner::new().with(|| {
        let left = view! { {brand()} {pages_with(None, String::new)} };
        view! { {left} <div class="actions">{buttons()}</div> }.to_html()
    });
    let own = format!("href=\"{path}\"");
    html.replace(&own, &format!("{own} aria-current=\"page\""))
}

/// Links to the other pages; `query` is the part behind the address that takes a design along.
fn pages_with(
    current: Option<Page>,
    query: impl Fn() -> String + Clone + Send + 'static,
) -> impl IntoView {
    let link = move |(page, label): (Page, &'static str)| {
        let query = query.clone();
        let href = move || match page.takes_design() {
            true => format!("{}{}", page.path(), query()),
            false => page.path().to_owned(),
        };
        let is_current = (current == Some(page)).then_some("page");
        view! { <a href=href aria-current=is_current>{label}</a> }
    };
    let named = Page::ALL.iter().filter_map(|page| Some((*page, page.label()?)));
    let links: Vec<_> = named.map(link).collect();
    view! { <nav class="pages" aria-label="Pages">{links}</nav> }
}

/// Opens the palette of all that can be found and done; a script of its own draws it.
pub fn palette_button() -> impl IntoView {
    view! {
        <button
            type="button"
            class="button"
            title="Search and commands (Ctrl K)"
            aria-label="Search and commands"
            data-palette=""
        >
            {icon(Icon::Command)}
        </button>
    }
}

/// Switches between dark and light; the script of keys does it on every page.
pub fn theme_button() -> impl IntoView {
    view! {
        <button
            type="button"
            class="button"
            data-switch-theme=""
            title="Switch between dark and light (t)"
            aria-label="Switch between dark and light"
        >
            {icon(Icon::Theme)}
        </button>
    }
}

/// Leads to language, units, theme and keys; the page there leads back.
pub fn settings_link() -> impl IntoView {
    view! {
        <a
            class="button only-wide"
            href=Page::Settings.path()
            title="Language, units, theme, keys"
            aria-label="Settings"
        >
            {icon(Icon::Settings)}
        </a>
    }
}

/// The header of a page beside the explorer, behind a link that skips it to an element.
pub fn beside(current: Page, id: &'static str, skip: &'static str) -> impl IntoView {
    view! {
        <a class="skip" href=format!("#{id}")>{skip}</a>
        <header class="header">
            {brand()} {pages_with(Some(current), String::new)}
            <div class="actions">{buttons()}</div>
        </header>
    }
}

/// The buttons that every page has.
pub fn buttons() -> impl IntoView {
    view! { {palette_button()} {theme_button()} {settings_link()} }
}

/// Class, title of the dialog and description of the links to sheets.
const EXPORT: (&str, &str, &str) =
    ("button only-wide", "Export this design", "Launch scripts, files, numbers");
const SHARE: (&str, &str, &str) = ("button", "Share this design", "Short link, code, embedding");

/// Name, pages, undo and redo, copy link, theme, keys.
pub fn header(explorer: Explorer, tray: Tray) -> impl IntoView {
    let undo = Signal::derive(move || explorer.undo_label());
    let redo = Signal::derive(move || explorer.redo_label());
    let share = view! { {icon(Icon::Share)} <span class="copy-label share-label">"Share"</span> };
    view! {
        <header class="header">
            {brand()}
            {pages_with(Some(Page::Explorer), move || {
                format!("?{}", explorer.with_design(link::encode))
            })}
            <p class="tagline">"Explore how a mixture-of-experts model trains on a cluster"</p>
            <div class="actions" role="toolbar" aria-label="Design">
                {palette_button()}
                {action("undo", "Undo", Icon::Undo, undo, Callback::new(move |()| explorer.undo()))}
                {action("redo", "Redo", Icon::Redo, redo, Callback::new(move |()| explorer.redo()))}
                {steps::button(explorer)}
                {tray.button()}
                <a
                    class="button only-wide"
                    title="Look at this design together with others"
                    aria-label="Start a review"
                    href=move || format!("/r/new?{}", explorer.with_design(link::encode))
                >
                    "Review"
                </a>
                {theme_button()}
                {settings_link()}
                <button
                    type="button"
                    class="button only-keyboard"
                    data-act="keys"
                    title="Keys (?)"
                    aria-label="Keys"
                    on:click=move |_| explorer.help_open.set(true)
                >
                    {icon(Icon::Keyboard)}
                </button>
                {copy_link(explorer)}
                {sheet_link(explorer, "/export", EXPORT, "Export")}
                {sheet_link(explorer, "/share", SHARE, share)}
            </div>
        </header>
    }
}

/// A button on the history: disabled while there is nothing to step to.
fn action(
    id: &'static str,
    name: &'static str,
    shown: Icon,
    label: Signal<Option<String>>,
    act: Callback<()>,
) -> impl IntoView {
    let title = move || match label.get() {
        Some(label) => format!("{name} {label}"),
        None => format!("Nothing to {}", name.to_lowercase()),
    };
    view! {
        <button
            type="button"
            class="button"
            data-act=id
            aria-label=name
            title=title
            disabled=move || label.with(Option::is_none)
            on:click=move |_| act.run(())
        >
            {icon(shown)}
        </button>
    }
}

/// How copying the link went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Copied {
    #[default]
    NotYet,
    Done,
    /// The browser refuses the clipboard: the link is shown to be copied by hand.
    ByHand,
}

fn copy_link(explorer: Explorer) -> impl IntoView {
    let copied = RwSignal::new(Copied::default());
    let copy = move |_| {
        let address = browser::address(&explorer.with_design(link::encode));
        browser::copy(address, move |done| {
            copied.set(if done { Copied::Done } else { Copied::ByHand });
            if done {
                browser::reset_soon(copied);
            }
        });
    };
    view! {
        <button type="button" class="button primary" on:click=copy>
            {icon(Icon::Link)}
            <span class="copy-label" aria-live="polite">
                {move || if copied.get() == Copied::Done { "Link copied" } else { "Copy link" }}
            </span>
        </button>
        {move || (copied.get() == Copied::ByHand).then(|| link_to_copy(explorer))}
    }
}

/// Leads to a sheet of the design at that path, which a script of its own shows as a dialog.
fn sheet_link(
    explorer: Explorer,
    path: &'static str,
    (class, sheet, title): (&'static str, &'static str, &'static str),
    label: impl IntoView,
) -> impl IntoView {
    let address = move || format!("{path}?{}", explorer.with_design(link::encode));
    view! { <a class=class href=address data-sheet=sheet title=title>{label}</a> }
}

/// The link in a box, for browsers that refuse the clipboard.
fn link_to_copy(explorer: Explorer) -> impl IntoView {
    view! {
        <input
            class="copy-by-hand"
            readonly
            aria-label="Link to copy"
            prop:value=move || browser::address(&explorer.with_design(link::encode))
        />
    }
}

/// What the bar at the bottom says: never a number of another design than the one at hand.
fn bottom_headline(explorer: Explorer) -> String {
    if explorer.shown() == Shown::Design {
        return explorer.with_numbers(|numbers| {
            let metrics = &numbers.estimate.metrics;
            format!(
                "MFU {} · {}, {}",
                format::percent(metrics.mfu, 1),
                memory_state::of_limit(metrics.memory_peak, metrics.memory_limit),
                memory_state::word(metrics.memory_state()),
            )
        });
    }
    if explorer.lacks_loads().is_some() && explorer.recorded.get() == Recorded::Reading {
        return "No numbers yet: the trace is being read".to_owned();
    }
    let first = explorer.with_violations(|rules| rules.first().map(|rule| rule.message.clone()));
    format!("Can't run: {}", first.unwrap_or_default())
}

/// On a phone: the headline and the button that raises the knobs.
pub fn bottom_bar(explorer: Explorer) -> impl IntoView {
    guide_focus("knobs", explorer.sheet_open);
    let headline = Memo::new(move |_| bottom_headline(explorer));
    let changes = move || match explorer.changed().with(Vec::len) {
        0 => "Edit knobs".to_owned(),
        count => format!("Edit knobs ({} changed)", format::whole(count as u64)),
    };
    let class = Memo::new(move |_| {
        let state = match explorer.shown() {
            Shown::Design => explorer.with_numbers(|it| it.estimate.metrics.memory_state()),
            Shown::LastLegal | Shown::Preset => MemoryState::DoesNotFit,
        };
        format!("bottom-headline {}", memory_state::class(state))
    });
    let is_open = move || explorer.sheet_open.get();
    view! {
        <div class="bottom-bar">
            <p class=move || class.get() aria-hidden="true">
                {move || headline.get()}
            </p>
            <button
                type="button"
                class="button primary"
                aria-controls="knobs"
                aria-expanded=move || if is_open() { "true" } else { "false" }
                on:click=move |_| explorer.sheet_open.update(|open| *open = !*open)
            >
                {move || if is_open() { "Close knobs".to_owned() } else { changes() }}
            </button>
        </div>
    }
}
