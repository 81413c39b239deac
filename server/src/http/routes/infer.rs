//! `POST /api/v1/infer` and `/api/v1/infer/layouts`: a design file in, how it would serve out, or
//! which layouts there are.
//!
//! A design whose serving breaks rules is answered too: the same object, with its violations.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use model::design::Design;
use model::design::file::{self, json};
use model::search::find::OneThread;
use reports::inferred::Inferred;
use reports::layouts::Layouts;
use reports::typed::DesignFile;

use super::json::json_response;
use crate::http::endpoint::{endpoints, of};
use crate::net::problem::Problem;
use crate::net::request_body;
use crate::net::work::off_thread;
use crate::{inferred, layouts};

const EXAMPLE: &str = r#"{"schema": 1, "preset": "qwen3-235b-a22b",
    "cluster": {"accelerator": "h100-sxm-80gb", "num_devices": 8},
    "serving": {"tensor_parallel_size": 8, "moe_expert_parallel_size": 8, "weight_dtype": "fp8",
        "concurrency": 64}}"#;

endpoints! {
    /// Predict how a design serves
    ///
    /// The body is a design file, JSON: a preset and what differs from it, with section `serving`.
    /// Sections of training are not read. A design that breaks rules of serving is no error: its
    /// metrics are null, and `violations` has the reasons with the nearest legal values.
    post "/api/v1/infer" => infer as infer {
        .takes(of::<DesignFile>).example(EXAMPLE).answers(of::<Inferred>)
    }

    /// Layouts of a model that serves
    ///
    /// Every layout of the design's model on its devices at loads of powers of two, prefill and
    /// decode together and on pools of their own.
    post "/api/v1/infer/layouts" => layouts as inferLayouts {
        .takes(of::<DesignFile>).example(EXAMPLE).answers(of::<Layouts>)
    }
}

/// The object of `moescape infer --layouts --json`.
pub(super) async fn layouts(body: Result<Bytes, BytesRejection>) -> Result<Response, Problem> {
    let design = design(body)?;
    let answer = off_thread(move || layouts::layouts(&design, &OneThread)).await?;
    Ok(json_response(&answer))
}

/// The object of `moescape infer --json`.
pub(super) async fn infer(body: Result<Bytes, BytesRejection>) -> Result<Response, Problem> {
    let design = design(body)?;
    let answer = off_thread(move || inferred::inferred(&design, &[])).await?;
    Ok(json_response(&answer))
}

fn design(body: Result<Bytes, BytesRejection>) -> Result<Design, Problem> {
    let text = request_body::text(body, "a design")?;
    let tree = json::parse(&text).map_err(|error| Problem::unreadable_design(vec![error]))?;
    file::read(&tree).map_err(Problem::unreadable_design)
}
