//! `GET /api/v1/openapi.json`: it says what there is, and what it says is so.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use server::AppState;

use crate::{Answer, TestApp};

/// The document as the server sends it.
async fn document() -> Value {
    let answer = TestApp::new().get("/api/v1/openapi.json").await;
    assert_eq!(answer.header("content-type"), "application/json");
    answer.json()
}

/// Method and path of every operation.
fn operations(document: &Value) -> BTreeSet<(String, String)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, item)| {
            item.as_object().unwrap().keys().map(|method| (method.clone(), path.clone()))
        })
        .collect()
}

#[tokio::test]
async fn every_endpoint_is_there_by_the_methods_that_are_described_and_no_others() {
    let operations = operations(&document().await);
    assert!(operations.len() > 30, "{operations:?}");
    let app = TestApp::new();
    for path in operations.iter().map(|(_, path)| path).collect::<BTreeSet<_>>() {
        let of_path = operations.iter().filter(|(_, known)| known == path);
        let mut described: BTreeSet<String> =
            of_path.map(|(method, _)| method.to_uppercase()).collect();
        if described.contains("GET") {
            described.insert("HEAD".to_owned());
        }
        let request = Request::patch(path.replace(['{', '}'], "")).body(Body::empty()).unwrap();
        let answer = app.send(request).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        let allowed: BTreeSet<String> =
            answer.header("allow").split(',').map(str::to_owned).collect();
        assert_eq!(allowed, described, "{path}");
    }
}

#[test]
fn routes_for_programs_are_endpoints_with_a_description() {
    let elsewhere = [
        ("present::page::serving::MEASURED_PATH", present::page::serving::MEASURED_PATH),
        ("present::page::budget::CSV_PATH", present::page::budget::CSV_PATH),
        ("present::page::budget::MARKDOWN_PATH", present::page::budget::MARKDOWN_PATH),
        ("present::site::SCHEDULE_OF_DESIGN_PATH", present::site::SCHEDULE_OF_DESIGN_PATH),
        ("present::page::compare::CSV_PATH", present::page::compare::CSV_PATH),
        ("mcp::PATH", "/mcp"),
    ];
    let is_of_programs =
        |path: &str| path.starts_with("/api") || ["/healthz", "/readyz"].contains(&path);
    let text = include_str!("../../src/http/routes.rs");
    let routes = text.split(".route(").skip(1).filter_map(|rest| rest.split([',', ')']).next());
    let routes: Vec<&str> = routes.map(str::trim).collect();
    assert!(routes.len() > 30, "{routes:?}");
    for route in routes {
        let named = elsewhere.iter().find(|(name, _)| *name == route).map(|(_, path)| *path);
        match named.or_else(|| route.strip_prefix('"')?.strip_suffix('"')) {
            Some(path) => assert!(!is_of_programs(path), "{path} isn't described"),
            None => {
                let is_page = ["Page::", "page.", "place."].iter().any(|it| route.starts_with(it));
                assert!(is_page, "{route}");
            }
        }
    }
}

#[tokio::test]
async fn every_operation_says_what_it_answers() {
    let document = document().await;
    let mut ids = BTreeSet::new();
    for (method, path) in operations(&document) {
        let operation = &document["paths"][&path][&method];
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{path}");
        assert!(!operation["summary"].as_str().unwrap().is_empty());
        for name in path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()) {
            let parameters = operation["parameters"].as_array().unwrap();
            assert!(parameters.iter().any(|known| known["name"] == name), "{path} {name}");
        }
        for (status, response) in operation["responses"].as_object().unwrap() {
            let is_problem = response["content"].get("application/problem+json").is_some();
            assert_eq!(is_problem, status.starts_with(['4', '5']), "{method} {path} {status}");
        }
    }
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(document["components"]["schemas"][name].is_object(), "{name}");
    }
    assert!(!text.contains("{{"), "every number is filled in");
}

/// A server whose sweeps stay.
struct Live {
    app: TestApp,
    state: AppState,
    document: Value,
    /// The token of a review session.
    token: String,
}

impl Live {
    async fn new() -> Self {
        let app = TestApp::new();
        let state = app.state();
        Self { app, state, document: document().await, token: String::new() }
    }

    async fn send(&self, method: &str, path: &str, kind: &str, body: String) -> Answer {
        let request = Request::builder().method(method.to_uppercase().as_str()).uri(path);
        let request = request.header("content-type", kind);
        let request = request.header("authorization", format!("Bearer {}", self.token));
        let request = request.body(Body::from(body)).unwrap();
        crate::send(self.state.clone(), request).await
    }

    /// Sends an operation with its examples and checks that the answer is as described.
    async fn check(&self, method: &str, path: &str, names: &[(&str, &str)]) -> Vec<Answer> {
        let operation = &self.document["paths"][path][method];
        assert!(operation.is_object(), "{method} {path}");
        let mut address = path.to_owned();
        let mut query = vec![];
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let Some(example) = parameter.get("example") else { continue };
            let mut example = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
            names.iter().for_each(|(name, value)| example = example.replace(name, value));
            let name = parameter["name"].as_str().unwrap();
            match parameter["in"].as_str().unwrap() {
                "path" => address = address.replace(&format!("{{{name}}}"), &example),
                "query" => query.push(format!("{name}={example}")),
                other => panic!("{other}"),
            }
        }
        if !query.is_empty() {
            address = format!("{address}?{}", query.join("&"));
        }
        let mut answers = vec![];
        for (kind, body) in examples(&operation["requestBody"]) {
            let answer = self.send(method, &address, &kind, body.clone()).await;
            self.is_described(&format!("{method} {address} {body}"), operation, &answer);
            answers.push(answer);
        }
        answers
    }

    /// Checks that this answer is one that the operation describes as a success.
    fn is_described(&self, what: &str, operation: &Value, answer: &Answer) {
        let status = answer.status.as_u16().to_string();
        assert!(status.starts_with('2'), "{what}: {status} {}", answer.text());
        let response = &operation["responses"][&status];
        assert!(response.is_object(), "{what}: {status} isn't described");
        let Some(contents) = response["content"].as_object() else {
            assert!(answer.bytes.is_empty(), "{what}");
            return;
        };
        let kind = answer.header("content-type").split(';').next().unwrap();
        let content = contents.get(kind).unwrap_or_else(|| panic!("{what}: {kind}"));
        if kind == "application/json" {
            self.fits(what, &content["schema"], &answer.json());
        }
    }

    /// Checks a value against a schema, as far as this document uses schemas.
    #[track_caller]
    fn fits(&self, place: &str, schema: &Value, value: &Value) {
        if let Err(why) = self.mismatch(schema, value) {
            panic!("{place}: {why}");
        }
    }

    fn mismatch(&self, schema: &Value, value: &Value) -> Result<(), String> {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.trim_start_matches("#/components/schemas/");
            return self.mismatch(&self.document["components"]["schemas"][name], value);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.mismatch(part, value)?;
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(choices) = schema[key].as_array() {
                let wrong: Vec<String> =
                    choices.iter().filter_map(|one| self.mismatch(one, value).err()).collect();
                let fitting = choices.len() - wrong.len();
                if fitting == 0 || (key == "oneOf" && fitting > 1) {
                    return Err(format!("{fitting} of {key} fit: {wrong:?}"));
                }
            }
        }
        if let Some(known) = schema["enum"].as_array()
            && !known.contains(value)
        {
            return Err(format!("{value} is none of {known:?}"));
        }
        if schema.get("const").is_some_and(|known| known != value) {
            return Err(format!("{value} isn't {}", schema["const"]));
        }
        let types = &schema["type"];
        let several = types.as_array().into_iter().flatten().filter_map(Value::as_str);
        let types: Vec<&str> = types.as_str().into_iter().chain(several).collect();
        if !types.is_empty() && !types.iter().any(|name| is_of_type(name, value)) {
            return Err(format!("{value} is no {types:?}"));
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap();
            if value.is_object() && value.get(name).is_none() {
                return Err(format!("`{name}` is missing"));
            }
        }
        for (name, inner) in value.as_object().into_iter().flatten() {
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => return Err(format!("`{name}` is unknown")),
                (Value::Null, Value::Null) => {}
                (Value::Null, other) => {
                    self.mismatch(other, inner).map_err(|why| format!("{name}: {why}"))?;
                }
                (known, _) => {
                    self.mismatch(known, inner).map_err(|why| format!("{name}: {why}"))?;
                }
            }
        }
        if schema["items"].is_object() {
            for item in value.as_array().into_iter().flatten() {
                self.mismatch(&schema["items"], item)?;
            }
        }
        Ok(())
    }
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        _ => false,
    }
}

/// Content type and text of every example of a request; one without a body where there is none.
fn examples(body: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut examples = vec![];
    for (kind, content) in body["content"].as_object().into_iter().flatten() {
        examples.extend(content.get("example").map(|one| (kind.clone(), text(one))));
        let more = content["examples"].as_object().into_iter().flatten();
        examples.extend(more.map(|(_, one)| (kind.clone(), text(&one["value"]))));
    }
    if body.is_null() { vec![(String::new(), String::new())] } else { examples }
}

#[tokio::test]
async fn every_example_is_answered_as_described() {
    let live = Live::new().await;
    let started = live.check("post", "/api/v1/sweeps", &[]).await;
    let id = started[0].json()["id"].as_str().unwrap().to_owned();
    let uploaded = live.check("post", "/api/v1/traces", &[]).await;
    let hash = uploaded[0].json()["hash"].as_str().unwrap().to_owned();
    let stored = live.check("post", "/api/v1/designs", &[]).await;
    let design = stored[0].json()["id"].as_str().unwrap().to_owned();
    assert_eq!(stored[1].json()["id"], design, "both examples are the same design");
    let names = [("{id}", id.as_str()), ("{hash}", hash.as_str()), ("{design}", design.as_str())];
    let first = ["/api/v1/designs", "/api/v1/sweeps", "/api/v1/traces"];
    // A sweep that is over can't be paused, and one that is removed isn't there.
    let sweeps = "/api/v1/sweeps/{id}";
    live.check("get", &format!("{sweeps}/events"), &names).await;
    let over = [format!("{sweeps}/pause"), format!("{sweeps}/resume")];
    for (method, path) in operations(&live.document) {
        let is_done = (method == "post" && first.contains(&path.as_str()))
            || method == "delete"
            || over.contains(&path)
            // These need a token; they have a test of their own.
            || path.starts_with("/api/v1/reviews");
        if !is_done {
            live.check(&method, &path, &names).await;
        }
    }
    let problem = live.document["components"]["schemas"]["Problem"].clone();
    live.fits("the example", &problem, &problem["example"]);
    for path in over {
        let answer = live.send("post", &path.replace("{id}", &id), "", String::new()).await;
        live.fits(&path, &problem, &answer.problem(StatusCode::CONFLICT));
    }
    live.check("delete", sweeps, &names).await;
    let readers = [
        "predict",
        "infer",
        "budget",
        "find",
        "import",
        "designs",
        "sweeps",
        "sweeps/cost",
        "traces",
        "experts?preset=deepseek-r1-96-h100",
        "experts/scores",
    ];
    for path in readers.map(|name| format!("/api/v1/{name}")) {
        let path = path.as_str();
        let answer = live.send("post", path, "application/json", "{".to_owned()).await;
        live.fits(path, &problem, &answer.problem(StatusCode::BAD_REQUEST));
    }
    assert!(live.app.data.path().exists());
}

#[tokio::test]
async fn a_spec_and_scores_of_experts_have_the_keys_that_are_read_and_no_others() {
    let live = Live::new().await;
    let keys = |schema: &Value| -> BTreeSet<String> {
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let schemas = &live.document["components"]["schemas"];
    let described = keys(&schemas["Spec"]);
    let named = sweep::SpecKeys::NAMES.iter().map(|name| (*name).to_owned());
    assert_eq!(described, named.collect());
    let named = sweep::SamplingKeys::NAMES.iter().map(|name| (*name).to_owned());
    assert_eq!(keys(&schemas["Spec"]["properties"]["sampling"]), named.collect());
    assert!(described.contains("baseline") && described.contains("find"));
    let whole = json!({
        "schema": 1, "name": "n", "design": {"preset": "mixtral-8x7b"}, "space": {"tp": [1, 2]},
        "constraints": ["fits"], "objectives": ["mfu max"], "columns": ["step_time_seconds"],
        "sampling": {"method": "random", "count": 2, "seed": 3}, "top": 1, "sample": 1,
        "resolution": 0.01, "baseline": "mixtral-8x7b", "find": {"keep": ["tp"]},
    });
    assert_eq!(whole.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>(), described);
    live.fits("a spec with every key", &schemas["Spec"], &whole);
    let cost = live.send("post", "/api/v1/sweeps/cost", "", whole.to_string()).await;
    assert_eq!(cost.status, StatusCode::OK, "{}", cost.text());
    let required: Vec<&str> =
        schemas["Spec"]["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(required, ["schema", "space"]);
    // The reader of scores names all keys that it knows where one is none of them.
    let scores = live.send("post", "/api/v1/experts/scores", "", "[{\"?\": 1}]".to_owned()).await;
    let said = scores.problem(StatusCode::BAD_REQUEST)["errors"][0]["detail"].to_string();
    let (_, known) = said.split_once("expected one of").unwrap_or_else(|| panic!("{said}"));
    let known: BTreeSet<String> = known.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(keys(&schemas["ExpertScores"]["items"]), known, "{said}");
}

#[tokio::test]
async fn a_knob_takes_the_same_values_by_its_short_name() {
    let live = Live::new().await;
    let design = &live.document["components"]["schemas"]["Design"];
    let fits = |parallel: Value| {
        live.mismatch(design, &json!({"schema": 1, "parallel": parallel})).is_ok()
    };
    assert!(fits(json!({"tensor_model_parallel_size": 8})) && fits(json!({"tp": 8})));
    for wrong in [json!({"tp": "8"}), json!({"tp": true}), json!({"tensor": 8})] {
        assert!(!fits(wrong.clone()), "{wrong}");
        let file = json!({"schema": 1, "parallel": wrong});
        let answer = live.send("post", "/api/v1/predict", "", file.to_string()).await;
        answer.problem(StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn a_sweep_that_runs_is_paused_as_described() {
    let live = Live::new().await;
    let spec = json!({
        "schema": 1,
        "design": {"preset": "pangu-ultra-moe-6k", "schedule": {"timing": "simulated"}},
        "space": {"tp": [4, 8], "gbs": {"from": 6144, "to": 6144 * 2500, "step": 6144}},
    });
    let started = live.send("post", "/api/v1/sweeps", "", spec.to_string()).await;
    let id = started.json()["id"].as_str().unwrap().to_owned();
    for path in ["/api/v1/sweeps/{id}/pause", "/api/v1/sweeps/{id}/resume"] {
        live.check("post", path, &[("{id}", id.as_str())]).await;
    }
    live.check("delete", "/api/v1/sweeps/{id}", &[("{id}", id.as_str())]).await;
}

#[tokio::test]
async fn a_review_session_answers_as_described() {
    let mut live = Live::new().await;
    let begun = live.check("post", "/api/v1/reviews", &[]).await[0].json();
    live.token = begun["links"][0]["token"].as_str().unwrap().to_owned();
    let (id, link) = (begun["id"].as_str().unwrap(), begun["links"][3]["id"].as_str().unwrap());
    let names = [("{review}", id), ("{link}", link)];
    let of_session = "/api/v1/reviews/{id}/";
    for (method, path) in operations(&live.document) {
        // Without a socket nothing can be upgraded.
        if path.starts_with(of_session) && !path.ends_with("/socket") {
            live.check(&method, &path, &names).await;
        }
    }
    let problem = live.document["components"]["schemas"]["Problem"].clone();
    for path in ["", "/nothing/do", "/nothing/links"] {
        let path = format!("/api/v1/reviews{path}");
        let answer = live.send("post", &path, "application/json", "{".to_owned()).await;
        assert!(answer.status.is_client_error(), "{path}");
        live.fits(&path, &problem, &answer.json());
    }
}
