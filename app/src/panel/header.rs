//! The header of every page: the four places and the pages of the one at hand, the palette, and the
//! menus of what can be done with the whole design. On a phone the bar at the bottom, too.

use leptos::either::Either;
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use maud::html;
use model::MemoryState;
use present::format;
use present::insight::memory_state;
use present::insight::recorded::Recorded;
use present::site::{Page, Place};

use super::steps;
use crate::browser::on_server;
use crate::explorer::{Explorer, NumbersOf};
use crate::panel::tray::Tray;
use crate::reaction::{handler, memo};
use crate::widget::icon::{Icon, written};
use crate::widget::part::{flag, island, text, truth};
use crate::widget::sheet::guide_focus;

/// The name, which leads to the explorer's first design.
fn brand() -> impl IntoView {
    view! {
        <a class="brand" href="/">
            <img src="/favicon.svg" alt="" width="22" height="22"/>
            <span class="brand-name">"Moescape"</span>
        </a>
    }
}

/// The address of a page; `query` is what takes a design along, or empty.
fn address(page: Page, query: &str) -> String {
    match page.takes_design() && !query.is_empty() {
        true => format!("{}?{query}", page.entrance()),
        false => page.entrance().to_owned(),
    }
}

/// Links to the four places; the one of the page at hand is marked.
fn places(
    current: Option<Page>,
    query: impl Fn() -> String + Clone + Send + 'static,
) -> impl IntoView {
    let link = move |place: Place| {
        let query = query.clone();
        let is_here = current.and_then(Page::place) == Some(place);
        let mark = match is_here {
            true if current == Some(place.first()) => Some("page"),
            true => Some("true"),
            false => None,
        };
        let label = place.label();
        let (first, rest) = label.split_at(label.find(' ').unwrap_or(label.len()));
        // A narrow screen shows the first word; the others are heard there, too.
        let rest = (!rest.is_empty()).then(|| view! { <span class="more-words">{rest}</span> });
        let to = text(move || address(place.first(), &query()));
        view! { <a href=to aria-current=mark>{first}{rest}</a> }
    };
    let links = Vec::from(Place::ALL.map(link));
    view! { <nav class="places" aria-label="Places">{links}</nav> }
}

/// Links to the pages of a place that has several.
#[cfg(feature = "ssr")]
fn pages(current: Page, query: &str) -> Option<impl IntoView + use<>> {
    let place = current.place()?;
    let links: Vec<_> = place
        .pages()
        .map(|(page, label)| {
            let mark = (current.named() == page).then_some(match current == page {
                true => "page",
                false => "true",
            });
            view! { <a href=address(page, query) aria-current=mark>{label}</a> }
        })
        .collect();
    let is_worth_a_row = links.len() > 1;
    is_worth_a_row.then(|| view! { <nav class="pages" aria-label=place.label()>{links}</nav> })
}

/// Opens the palette of all that can be found and done; a script of its own draws it.
fn palette_button() -> impl IntoView {
    view! {
        <button
            type="button"
            class="button palette-button"
            title="Search and commands (Ctrl K)"
            data-palette=""
        >
            {island(|| written(Icon::Search))}
            <span class="palette-words">"Search knobs, views, models"</span>
            <kbd aria-hidden="true">"Ctrl K"</kbd>
        </button>
    }
}

/// A button that opens a list of buttons and links. It opens without a script; with one it has the
/// keys of a menu, and closes by itself.
fn menu(class: &'static str, name: impl IntoView, items: impl IntoView) -> impl IntoView {
    view! {
        <details class="menu">
            <summary class=class>{name}</summary>
            <ul class="menu-list">{items}</ul>
        </details>
    }
}

/// Content of a menu's item: an icon, a name, and the key that does the same.
fn item(shown: Icon, name: &'static str, key: &'static str) -> impl IntoView {
    let key = (!key.is_empty())
        .then(|| island(|| html! { kbd aria-hidden="true" { (key) } }.into_string()));
    (island(|| written(shown)), island(|| html! { span { (name) } }.into_string()), key)
}

/// The menu of all ways to hand on what is at hand.
fn share_menu(items: impl IntoView) -> impl IntoView {
    let name = view! { "Share" {island(|| written(Icon::Down))} };
    let copy = view! {
        <li class="needs-script">
            <button type="button" data-act="copy-link">{item(Icon::Link, "Copy link", "")}</button>
        </li>
    };
    menu("button primary", name, view! { {copy} {items} })
}

/// The menu of what is seldom wanted, in front of what every page has of it.
fn more_menu(items: impl IntoView, keys: impl IntoView) -> impl IntoView {
    let name =
        view! { {island(|| written(Icon::More))} <span class="visually-hidden">"More"</span> };
    let common = view! {
        <li class="needs-script">
            <button type="button" data-switch-theme="">
                {item(Icon::Theme, "Switch between dark and light", "T")}
            </button>
        </li>
        <li class="needs-script" translate="no">
            <button type="button" data-switch-language="">
                {item(Icon::Language, "中文 / English", "")}
            </button>
        </li>
        <li>
            <a href=Page::Settings.path()>{item(Icon::Settings, "Settings", "")}</a>
        </li>
        <li>{keys}</li>
    };
    menu("button plain", name, view! { {items} {common} })
}

/// The guide's list of keys.
const KEYS: &str = "/guide/views#keys";

/// The keys where no dialog lists them.
#[cfg(feature = "ssr")]
fn keys_link() -> impl IntoView {
    view! { <a href=KEYS>{item(Icon::Keyboard, "Keyboard shortcuts", "")}</a> }
}

/// Controls of a header beside the four places.
#[cfg(feature = "ssr")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeaderKind {
    /// A page whose address is all that there is to hand on.
    Page,
    /// A review session, which hands its own links on.
    Session,
}

#[cfg(feature = "ssr")]
fn bar(current: Option<Page>, query: &str, beside: HeaderKind) -> impl IntoView {
    let along = query.to_owned();
    let share = (beside == HeaderKind::Page).then(|| {
        share_menu(view! {
            <li class="needs-script">
                <button type="button" data-act="print">
                    {item(Icon::Print, "Print or save as PDF", "")}
                </button>
            </li>
        })
    });
    view! {
        <div class="header-bar">
            {brand()} {places(current, move || along.clone())}
            <div class="actions">
                {palette_button()} {share} {more_menu((), keys_link())}
            </div>
        </div>
    }
}

/// Header of a page that takes no part in it, as text; `query` is the design that links of the
/// header take along, or empty.
#[cfg(feature = "ssr")]
#[must_use]
pub fn still(current: Option<Page>, query: &str) -> String {
    Owner::new().with(|| {
        let pages = current.and_then(|page| pages(page, query));
        view! { {bar(current, query, HeaderKind::Page)} {pages} }.to_html()
    })
}

/// The header of a page beside the explorer, which only the server writes.
pub fn plain(current: Page) -> impl IntoView {
    view! { <header class="header" inner_html=on_server(|| bar_of(current))></header> }
}

fn bar_of(current: Page) -> String {
    #[cfg(feature = "ssr")]
    return still(Some(current), "");
    #[cfg(not(feature = "ssr"))]
    {
        let _ = current;
        String::new()
    }
}

/// Header of a page beside the explorer, behind a link that skips it to an element.
pub fn beside(current: Page, id: &'static str, skip: &'static str) -> impl IntoView {
    view! { <a class="skip" href=format!("#{id}")>{skip}</a> {plain(current)} }
}

/// The first row of the header of a review session, which has a row of its own below it.
pub fn of_session() -> String {
    #[cfg(feature = "ssr")]
    return Owner::new().with(|| bar(Some(Page::Review), "", HeaderKind::Session).to_html());
    #[cfg(not(feature = "ssr"))]
    String::new()
}

/// The explorer's: the places, the palette, undo and redo, the pin, and both menus.
pub fn header(explorer: Explorer, tray: Tray) -> impl IntoView {
    let design = move || explorer.link();
    view! {
        <header class="header">
            <div class="header-bar">
                {brand()} {places(Some(Page::Explorer), design)}
                <div class="actions" role="toolbar" aria-label="Design">
                    {palette_button()} {step(explorer, UNDO, Form::Button)}
                    {step(explorer, REDO, Form::Button)} {tray.button()}
                    {share_menu(ways_to_share(explorer))}
                    {more_menu(own_items(explorer, tray), keys_item(explorer))}
                </div>
            </div>
        </header>
    }
}

/// Sheets, which a script shows as dialogs, and the form that begins a review.
fn ways_to_share(explorer: Explorer) -> impl IntoView {
    let to = move |page: &'static str| text(move || format!("{page}?{}", explorer.link()));
    view! {
        <li>
            <a href=to("/share") data-sheet="Share this design">
                {item(Icon::Share, "Short link, QR code, embed", "")}
            </a>
        </li>
        <li>
            <a href=to("/export") data-sheet="Export this design">
                {item(Icon::Export, "Export script, file, numbers", "")}
            </a>
        </li>
        <li>
            <a href=to(Page::Review.entrance())>{item(Icon::People, "Start a review", "")}</a>
        </li>
    }
}

/// Items of the explorer alone in the menu of more.
fn own_items(explorer: Explorer, tray: Tray) -> impl IntoView {
    view! {
        <li>
            <a href="/import">{item(Icon::Import, "Import a model or a launch script", "")}</a>
        </li>
        <li>{step(explorer, UNDO, Form::Item)}</li>
        <li>{step(explorer, REDO, Form::Item)}</li>
        <li>{steps::button(explorer, item(Icon::Steps, "History of changes", "H"))}</li>
        <li class="only-narrow">
            <button type="button" on:click=handler(move |_| tray.pin())>
                {item(Icon::Pin, "Pin this design", "P")}
            </button>
        </li>
    }
}

/// Opens the list of keys; without a script it leads to that of the guide.
fn keys_item(explorer: Explorer) -> impl IntoView {
    view! {
        <a
            href=KEYS
            data-act="keys"
            on:click=handler(move |event: MouseEvent| {
                event.prevent_default();
                explorer.help_open.set(true);
            })
        >
            {item(Icon::Keyboard, "Keyboard shortcuts", "?")}
        </a>
    }
}

/// A way through the history: its name, what it is called in a page, its key, its icon, the step
/// that it would take, and to take it.
type Way =
    (&'static str, &'static str, &'static str, Icon, fn(Explorer) -> Option<String>, fn(Explorer));

const UNDO: Way = ("Undo", "undo", "Ctrl Z", Icon::Undo, Explorer::undo_label, Explorer::undo);
const REDO: Way =
    ("Redo", "redo", "Ctrl Shift Z", Icon::Redo, Explorer::redo_label, Explorer::redo);

/// Place of a button of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In the header, as an icon.
    Button,
    /// In a menu.
    Item,
}

/// A button on the history: disabled while there is nothing to step to.
fn step(explorer: Explorer, way: Way, form: Form) -> impl IntoView {
    let (name, id, key, shown, label, act) = way;
    let label = memo(move || label(explorer));
    let title = text(move || match label.get() {
        Some(label) => format!("{name} {label}"),
        None => format!("Nothing to {id}"),
    });
    let inside = match form {
        Form::Button => Either::Left(island(|| written(shown))),
        Form::Item => Either::Right(item(shown, name, key)),
    };
    let is_button = form == Form::Button;
    view! {
        <button
            type="button"
            class=is_button.then_some("button plain only-wide")
            data-act=is_button.then_some(id)
            aria-label=is_button.then_some(name)
            title=title
            disabled=flag(move || label.with(Option::is_none))
            on:click=handler(move |_| act(explorer))
        >
            {inside}
        </button>
    }
}

/// Text of the bar at the bottom: never a number of another design than the one at hand.
fn bottom_headline(explorer: Explorer) -> String {
    if explorer.shown() == NumbersOf::Design {
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
    let headline = memo(move || bottom_headline(explorer));
    let changes = move || match explorer.changed().with(Vec::len) {
        0 => "Edit knobs".to_owned(),
        count => format!("Edit knobs ({} changed)", format::whole(count as u64)),
    };
    let class = memo(move || {
        let state = match explorer.shown() {
            NumbersOf::Design => explorer.with_numbers(|it| it.estimate.metrics.memory_state()),
            NumbersOf::LastLegal | NumbersOf::Preset => MemoryState::DoesNotFit,
        };
        format!("bottom-headline {}", memory_state::class(state))
    });
    let is_open = move || explorer.sheet_open.get();
    view! {
        <div class="bottom-bar">
            <p class=text(move || class.get()) aria-hidden="true">
                {text(move || headline.get())}
            </p>
            <button
                type="button"
                class="button primary"
                aria-controls="knobs"
                aria-expanded=truth(is_open)
                on:click=handler(move |_| explorer.sheet_open.update(|open| *open = !*open))
            >
                {text(move || if is_open() { "Close knobs".to_owned() } else { changes() })}
            </button>
        </div>
    }
}
