//! The explorer's page as the server answers it, to be counted in instructions.
//!
//! `page TIMES` asks a server in this process for `/` so many times, one after the other, and
//! prints the size of the last answer.
#![expect(clippy::print_stdout, reason = "its result is a size")]

use std::error::Error;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use server::{AppState, Site, router};
use tower::ServiceExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let times = std::env::args().nth(1).map_or(Ok(1), |it| it.parse::<usize>())?;
    let data = tempfile::tempdir()?;
    let server = router(AppState::new(Site::none(), data.path().to_owned()));
    let mut bytes = 0;
    for _ in 0..times {
        let request = Request::get("/").body(Body::empty())?;
        let answer = server.clone().oneshot(request).await?;
        bytes = to_bytes(answer.into_body(), usize::MAX).await?.len();
    }
    println!("{bytes} bytes");
    Ok(())
}
