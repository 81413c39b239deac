//! Every route. A handler has a file of its own, named after what it answers; one for programs
//! stands there with its address and its description.

mod about;
mod calibrate;
mod files;
mod gallery;
mod guide;
mod health;
mod measured;
mod json;
mod budget;
mod export;
mod find_page;
mod glossary;
mod import;
mod kept;
mod designs;
mod card;
mod embed;
mod knobs;
mod metrics;
pub(crate) mod openapi;
mod operations;
mod palette;
mod calibrate_page;
mod import_page;
mod presets;
mod review_access;
mod review_links;
mod review_report;
mod reviews;
mod schedule;
mod settings;
mod share;
mod sweeps;
mod sweep_rows;
mod tour;
mod trace;
mod experts;
mod validation;
mod learn;
mod page;
mod review_start;
mod review;
mod stored_page;
mod sweep_page;

use axum::Router;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::routing::{get, post};
use present::site::{Page, Place};

use crate::http::endpoint::{self, Endpoint, Group};
use crate::state::AppState;
use crate::{designs::card as cards, http::layers, http::not_found, mcp};

/// The whole server as a service, without a socket.
pub fn router(state: AppState) -> Router {
    cards::prepare();
    state.resume_sweeps();
    // For people
    let routes = pages()
        .route("/d/{id}", get(stored_page::open))
        .route("/d/{id}/recompute", post(stored_page::recompute))
        .route("/d/{id}/card.png", get(card::of_stored))
        .route("/card.png", get(card::of_link))
        .route(Page::Presets.path(), get(gallery::presets))
        .route(Page::Tour.path(), get(tour::tour))
        .route(Page::About.path(), get(about::page))
        .route(Page::Learn.path(), get(learn::page))
        .route("/palette.json", get(palette::palette))
        .route("/glossary.json", get(glossary::glossary))
        .route(Page::Settings.path(), get(settings::form).post(settings::choose))
        .route("/share", get(share::open).post(share::act))
        .route("/export", get(export::sheet))
        .route("/export/{name}", get(export::file))
        .route(
            "/import",
            get(import_page::form)
                .post(import_page::import_form)
                .layer(DefaultBodyLimit::max(import_page::MAX_BYTES)),
        )
        .route(
            Page::Calibrate.path(),
            get(calibrate_page::form)
                .post(calibrate_page::calibrate_form)
                .layer(DefaultBodyLimit::max(calibrate::MAX_BYTES)),
        )
        .route(Page::Find.path(), get(find_page::page))
        .route("/embed", get(embed::of_link))
        .route("/embed/d/{id}", get(embed::of_stored))
        .route(present::page::serving::MEASURED_PATH, get(measured::measured))
        .route(present::page::budget::CSV_PATH, get(budget::table))
        .route(present::page::budget::MARKDOWN_PATH, get(budget::brief))
        .route(present::site::SCHEDULE_OF_DESIGN_PATH, get(schedule::redirect))
        .route(present::page::compare::CSV_PATH, get(page::comparison))
        .route(Page::Guide.path(), get(guide::contents))
        .route("/guide/{chapter}", get(guide::chapter))
        .route("/guide/images/{name}", get(guide::image))
        .route("/s/{id}", get(sweep_page::results))
        .route("/s/{id}/data", get(sweep_page::data))
        .route("/s/{id}/beside", get(sweep_page::beside))
        .route("/s/{id}/cells", get(sweep_page::cells))
        .route("/s/{id}/design/{index}", get(sweep_page::design))
        .route("/s/{id}/find/{index}", get(sweep_page::find_around))
        .route("/r", post(review_start::begin))
        .route("/r/new", get(review_start::form))
        .route("/r/{id}", get(review::page).delete(reviews::remove))
        .nest("/r/{id}", endpoint::router(session()))
        .route("/s/{id}/compare", get(sweep_page::compare))
        .route("/pkg/{*path}", get(files::hashed))
        // For programs, and for those who run the server
        .merge(endpoint::router(groups().into_iter().flat_map(|group| group.endpoints)))
        // Public files of the site, and 404
        .fallback(files::public)
        .method_not_allowed_fallback(not_found::wrong_method);
    // A place's own name leads to its first page, with whatever design stands behind it.
    let led = Place::ALL.into_iter().filter(|place| place.first().path() != place.address());
    let routes = led.fold(routes, |routes, place| {
        routes.route(place.address(), get(move |RawQuery(raw)| page::of_place(place, raw)))
    });
    let routes = match &state.agents {
        Some(agents) => routes.route(mcp::PATH, mcp::service(agents)),
        None => routes,
    };
    layers::around(routes, &state).with_state(state)
}

/// The routes of pages that a module takes over, but for those with an id.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others need nothing of the server")]
fn pages() -> Router<AppState> {
    let pages = Page::ALL.iter().copied();
    let pages = pages.filter(|page| page.module().is_some() && !page.has_id());
    pages.fold(Router::new(), |routes, page| {
        let handler = match page {
            Page::Explorer => get(page::explorer),
            Page::Trust => get(page::trust),
            Page::Serving => get(page::serving),
            Page::Sweep => get(sweep_page::builder),
            _ => get(move |State(state), request| page::plain(page, state, request)),
        };
        routes.route(page.path(), handler)
    })
}

/// Every endpoint for programs, by its kind. The API's document is made from these, too.
fn groups() -> Vec<Group> {
    let group = |name, description, parts: &[Vec<Endpoint>]| Group {
        name,
        description,
        endpoints: parts.concat(),
    };
    vec![
        group(
            "predictions",
            "Designs in, numbers out.",
            &[
                experts::endpoints(),
                operations::endpoints(),
                import::endpoints(),
                calibrate::endpoints(),
            ],
        ),
        group("designs", "Designs under short links.", &[designs::endpoints()]),
        group(
            "sweeps",
            "Millions of designs: started, watched, downloaded.",
            &[sweeps::endpoints(), sweep_rows::endpoints()],
        ),
        group(
            "reviews",
            "A team looks at a design together, changes it and decides.",
            &[
                reviews::endpoints(),
                session().into_iter().map(|it| it.under("/api/v1/reviews/{id}")).collect(),
            ],
        ),
        group(
            "registry",
            "What can be set, opened and measured, and how far it is right.",
            &[
                presets::endpoints(),
                knobs::endpoints(),
                metrics::endpoints(),
                validation::endpoints(),
                openapi::endpoints(),
            ],
        ),
        group("traces", "Expert loads of your own runs.", &[trace::endpoints()]),
        group("operation", "For those who run the server.", &[health::endpoints()]),
    ]
}

/// The endpoints of a review session below its address, for its page and for programs alike.
fn session() -> Vec<Endpoint> {
    let own = [review::endpoints(), review_links::endpoints(), review_report::endpoints()].concat();
    let problems = || [review_access::unknown(), review_access::unusable()];
    let own = own.into_iter();
    own.map(|it| it.with([review_access::ID]).by_token().refuses(problems())).collect()
}
