//! Every route on one page. A handler has a file of its own, named after what it answers.

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
mod openapi;
mod operations;
mod palette;
mod preset_options;
mod calibrate_page;
mod import_page;
mod presets;
mod review_access;
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
use axum::extract::{DefaultBodyLimit, RawQuery};
use axum::routing::{delete, get, post};
use present::site::{Page, Place};

use crate::state::AppState;
use crate::{designs::card as cards, http::layers, http::not_found, mcp};

/// The whole server as a service, without a socket.
pub fn router(state: AppState) -> Router {
    cards::prepare();
    state.resume_sweeps();
    let routes = Router::new()
        // For people
        .route("/", get(page::page))
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
        .route(Page::Trust.path(), get(page::trust))
        .route(Page::Ladder.path(), get(page::ladder))
        .route(Page::Serving.path(), get(page::serving))
        .route(present::page::serving::MEASURED_PATH, get(measured::measured))
        .route(Page::Budget.path(), get(page::budget))
        .route(present::page::budget::CSV_PATH, get(budget::table))
        .route(present::page::budget::MARKDOWN_PATH, get(budget::brief))
        .route(Page::Schedule.path(), get(page::schedule))
        .route(present::site::SCHEDULE_OF_DESIGN_PATH, get(schedule::redirect))
        .route(Page::Sweep.path(), get(sweep_page::builder))
        .route(Page::Compare.path(), get(page::compare))
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
        .nest("/r/{id}", review_routes())
        .route("/s/{id}/compare", get(sweep_page::compare))
        .route("/pkg/{*path}", get(files::hashed))
        // For programs
        .merge(operations::routes())
        .route("/api/v1/openapi.json", get(openapi::document))
        .route(
            "/api/v1/experts",
            post(experts::experts).layer(DefaultBodyLimit::max(trace::MAX_BYTES)),
        )
        .route(
            present::page::serving::SCORES_PATH,
            post(experts::scores).layer(DefaultBodyLimit::max(trace::MAX_BYTES)),
        )
        .route(
            "/api/v1/import",
            post(import::text).layer(DefaultBodyLimit::max(interchange::MAX_CONFIG_BYTES)),
        )
        .route(
            "/api/v1/calibrate",
            post(calibrate::runs).layer(DefaultBodyLimit::max(calibrate::MAX_BYTES)),
        )
        .route("/api/v1/designs", get(designs::list).post(designs::store))
        .route("/api/v1/designs/{id}", get(designs::stored).delete(designs::forget))
        .route("/api/v1/reviews", post(reviews::begin))
        .route("/api/v1/reviews/{id}", delete(reviews::remove))
        .nest("/api/v1/reviews/{id}", review_routes())
        .route("/api/v1/sweeps", get(sweeps::list).post(sweeps::submit))
        .route("/api/v1/sweeps/cost", post(sweeps::cost))
        .route("/api/v1/sweeps/{id}", get(sweeps::status).delete(sweeps::remove))
        .route("/api/v1/sweeps/{id}/events", get(sweeps::events))
        .route("/api/v1/sweeps/{id}/rows", get(sweep_rows::rows))
        .route("/api/v1/sweeps/{id}/pause", post(sweeps::pause))
        .route("/api/v1/sweeps/{id}/resume", post(sweeps::resume))
        .route("/api/v1/presets", get(presets::presets))
        .route("/api/v1/knobs", get(knobs::knobs))
        .route("/api/v1/metrics", get(metrics::metrics))
        .route("/api/v1/traces", post(trace::add).layer(DefaultBodyLimit::max(trace::MAX_BYTES)))
        .route("/api/v1/traces/{hash}", get(trace::packed).delete(trace::remove))
        .route(present::page::trust::JSON_PATH, get(validation::json))
        .route(present::page::trust::CSV_PATH, get(validation::csv))
        .route(present::page::trust::SERVING_JSON_PATH, get(validation::serving))
        // For those who run the server
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
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

/// The routes of a review session, for its page and for programs alike.
fn review_routes() -> Router<AppState> {
    Router::new()
        .route("/state", get(review::state))
        .route("/log", get(review::log))
        .route("/prose", get(review::prose))
        .route("/do", post(review::act))
        .route("/socket", get(review::socket))
        .route("/links", get(reviews::list).post(reviews::make))
        .route("/links/{link}", delete(reviews::withdraw))
        .route("/report.md", get(review_report::markdown))
        .route("/report.html", get(review_report::html))
}
