//! The HTML document around the page.

use leptos::html;
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use model::{MODEL_VERSION, Plan, design::link, estimate};
use present::format::{self, MemoryUnit};
use present::page::results;
use present::page::trust::{self, Served};
use present::site::{Module, Page};
use present::words::name;

use super::{END, ModuleFiles, Preview, RawQuery, SiteFiles, ThemeCookie};
use crate::explorer::stored::{LINK_FIELD, Stored};
use crate::page::{review, view};
use crate::panel::questions::Question;
use crate::study_client::WORKER_FIELD;

/// The whole document. Without [`SiteFiles`] it has neither style nor script and still reads well.
pub fn shell() -> impl IntoView {
    let theme = use_context::<ThemeCookie>().and_then(|cookie| cookie.0);
    let theme = theme.filter(|theme| matches!(theme.as_str(), "dark" | "light"));
    let page = use_context::<Page>().unwrap_or_default();
    let body = view(page, &use_context::<RawQuery>().unwrap_or_default().0);
    let (title, description) = summary(page);
    let title = match use_context::<Stored>().filter(|stored| !stored.name.is_empty()) {
        Some(stored) => format!("{} · {title}", stored.name),
        None => title,
    };
    let units = MemoryUnit::chosen();
    let units = (units != MemoryUnit::default()).then(|| units.id());
    let files = use_context::<SiteFiles>();
    let has_studies = matches!(page.module(), Some(Module::Explorer | Module::Reviews));
    let worker = files.clone().filter(|_| has_studies).map(|files| {
        view! { <meta name=WORKER_FIELD content=files.worker/> }
    });
    let scripts = files.clone().map(|files| scripts(files, page));
    let habits = files.clone().map(|files| {
        view! {
            <link rel="manifest" href="/manifest.webmanifest"/>
            <script type="module" nonce=use_nonce() src=files.habits></script>
        }
    });
    let stored = use_context::<Stored>().map(|stored| {
        view! { <meta name=LINK_FIELD content=stored.link/> }
    });
    let preview =
        use_context::<Preview>().map(|preview| preview_fields(preview, &title, &description));
    let (style, script) = files.and_then(|files| links(files, page)).unzip();
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=theme data-units=units>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <title>{title.clone()}</title>
                <meta name="description" content=description.clone()/>
                {open_graph("og:title", title)}
                {open_graph("og:description", description)}
                {preview}
                {stored}
                <link rel="icon" type="image/svg+xml" href="/favicon.svg"/>
                <meta name="model-version" content=MODEL_VERSION/>
                {style}
                {worker}
                {scripts}
                {habits}
                {script}
            </head>
            <body>
                {body}
                <i id=END hidden></i>
            </body>
        </html>
    }
}

/// A field of a link's preview; `view!` has no name for its attribute.
fn open_graph(property: &'static str, content: String) -> impl IntoView {
    html::meta().attr("property", property).content(content)
}

/// The fields of a preview that has a picture.
fn preview_fields(preview: Preview, title: &str, description: &str) -> impl IntoView + use<> {
    let alt = format!("{title}: {description}");
    view! {
        {open_graph("og:type", "website".to_owned())}
        {open_graph("og:site_name", "Moescape".to_owned())}
        {open_graph("og:url", preview.page)}
        {open_graph("og:image", preview.picture.clone())}
        {open_graph("og:image:type", "image/png".to_owned())}
        {open_graph("og:image:width", "1200".to_owned())}
        {open_graph("og:image:height", "630".to_owned())}
        {open_graph("og:image:alt", alt.clone())}
        <meta name="twitter:card" content="summary_large_image"/>
        <meta name="twitter:title" content=title.to_owned()/>
        <meta name="twitter:description" content=description.to_owned()/>
        <meta name="twitter:image" content=preview.picture/>
        <meta name="twitter:image:alt" content=alt/>
    }
}

/// The scripts that are written by hand: charts are saved everywhere, sheets and files to import
/// belong to the explorer.
fn scripts(files: SiteFiles, page: Page) -> Vec<impl IntoView> {
    let own = [files.share, files.import].into_iter().filter(|_| page == Page::Explorer);
    let script = |src: String| {
        view! { <script type="module" nonce=use_nonce() src=src></script> }
    };
    own.chain([files.save]).map(script).collect()
}

/// Style sheet and loader. The loader is written by hand since the files' names are hashed.
fn links(files: SiteFiles, page: Page) -> Option<(impl IntoView, impl IntoView)> {
    let SiteFiles { mut modules, css, font, .. } = files;
    let ModuleFiles { js, wasm } = modules.remove(&page.module()?)?;
    // A script of its own, in front of the style sheet, which would hold it up: the module is on
    // its way while the page is read. It follows the first picture of the page, with which it would
    // share a slow line; a page in the background has none. A preload would be warned about where
    // the machine is slow.
    let module = format!(
        "const module = new Promise((painted) => {{ \
         new PerformanceObserver(painted).observe({{ type: \"paint\", buffered: true }}); \
         setTimeout(painted, 1000); \
         }}).then(() => fetch(\"{wasm}\"));"
    );
    let loader = format!(
        "import init, {{ hydrate }} from \"{js}\"; \
         init({{ module_or_path: module }}).then(() => hydrate());"
    );
    let style = view! {
        <link rel="expect" href=awaited(page) blocking="render"/>
        <script nonce=use_nonce()>{module}</script>
        <link rel="preload" href=font r#as="font" r#type="font/woff2" crossorigin=""/>
        <link rel="stylesheet" href=css/>
    };
    let script = view! {
        <link rel="modulepreload" href=js/>
        <script type="module" nonce=use_nonce()>{loader}</script>
    };
    Some((style, script))
}

/// Selector of the element that a browser waits for before the first paint, since later content
/// moves earlier content: the end of the page, or where a long one goes on below its first screen.
fn awaited(page: Page) -> String {
    let raw = use_context::<RawQuery>().unwrap_or_default().0;
    let id = if page == Page::Explorer && link::decode(&raw).is_ok() {
        Question::Why.id()
    } else if page == Page::Trust {
        trust::BELOW
    } else {
        END
    };
    format!("#{id}")
}

/// Title and description of a page: those of its row, or what follows from what it shows.
fn summary(page: Page) -> (String, String) {
    if page == Page::Explorer {
        explorer_summary()
    } else if page == Page::Trust {
        trust_summary()
    } else if page == Page::Results {
        sweep_summary()
    } else if page == Page::Review {
        review::summary()
    } else {
        (format!("{} · Moescape", page.title()), page.about().to_owned())
    }
}

/// Title and description of the page of published runs.
fn trust_summary() -> (String, String) {
    let title = format!("{} · Moescape", Page::Trust.title());
    let about = use_context::<Served>().map_or_else(String::new, |served| served.still.sentence);
    (title, about)
}

/// Title and description of a sweep.
fn sweep_summary() -> (String, String) {
    let served = use_context::<results::Served>().and_then(|served| served.0);
    let Some(data) = served else {
        return ("No such sweep · Moescape".to_owned(), "There is no such sweep".to_owned());
    };
    let name = if data.name.is_empty() { "Sweep" } else { &data.name };
    let about = format!(
        "{} of {} evaluated, {} on the Pareto front",
        format::whole(data.counts.done),
        format::counted(data.counts.asked, "design", "designs"),
        format::whole(data.counts.front),
    );
    (format!("{name} · Moescape"), about)
}

/// Title and description of a design, for search engines and previews of shared links.
fn explorer_summary() -> (String, String) {
    let about = Page::Explorer.about().to_owned();
    let raw = use_context::<RawQuery>().unwrap_or_default().0;
    let Ok(design) = link::decode(&raw) else {
        return ("This link can't be opened · Moescape".to_owned(), about);
    };
    let title = name::document(&name::title(&design));
    let Ok(plan) = Plan::new(&design) else { return (title, about) };
    let metrics = estimate(&plan).metrics;
    let description = format!(
        "MFU {}, {} per device, step {}, {} of {} per device",
        format::percent(metrics.mfu, 1),
        format::token_rate(metrics.tokens_per_second_per_device),
        format::duration(metrics.step_time),
        format::memory(metrics.memory_peak),
        format::memory(metrics.memory_limit),
    );
    (title, description)
}
