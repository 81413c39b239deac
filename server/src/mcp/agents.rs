//! The server of the protocol: who answers which call, how many at once, and for how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use axum::http::request::Parts;
use operations::{Entry, OPERATIONS, Refusal};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Reference, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;

use super::refusals::{self, Listed};
use super::tool::{Answer, Call, MAX_ARGUMENT_BYTES, deadline, described, weight};
use super::{prompts, resources};
use crate::net::client::{Client, identify};
use crate::net::limits::FairQueue;
use crate::net::problem::Problem;
use crate::net::public_url::{self, PublicUrl};

/// Calls that are answered at once, one fewer of one client, and those of a client that have their
/// turn or wait for it.
const MAX_CALLS: usize = 4;
const MAX_CALLS_PER_CLIENT: u64 = 64;

/// Searches that run at once, each on all cores, and those of a client that run or wait.
const MAX_SEARCHES: usize = 2;
const MAX_SEARCHES_PER_CLIENT: u64 = 8;

/// Shortest time between reports of progress.
const PROGRESS_PAUSE: Duration = Duration::from_millis(200);

/// Instructions that a client gives its model on the server.
const INSTRUCTIONS: &str = "Moescape predicts how large mixture-of-experts models train and serve \
    on NPU and GPU clusters. Quote each number with its range and what that covers; say where its \
    evidence is `not_validated` or `borrowed_runs`; never present generated expert loads as \
    measured; give the link; ask for what is missing instead of guessing. `moescape://skill` says \
    which tool answers which question.";

/// The server of the protocol.
#[derive(Clone, Debug)]
pub(crate) struct Agents {
    /// Prefix of links; by default the host of the request.
    told: Option<Arc<PublicUrl>>,
    calls: Arc<FairQueue>,
    searches: Arc<FairQueue>,
}

/// Address where `moescape serve` listens by default.
const USUAL_URL: &str = "http://127.0.0.1:3000";

impl Agents {
    /// A server whose links begin with this; without it with the host that a request is for, and
    /// over stdio with the address where `moescape serve` listens by default.
    pub(crate) fn new(told: Option<Arc<PublicUrl>>) -> Self {
        Self {
            told,
            calls: Arc::new(FairQueue::new(MAX_CALLS, MAX_CALLS_PER_CLIENT)),
            searches: Arc::new(FairQueue::new(MAX_SEARCHES, MAX_SEARCHES_PER_CLIENT)),
        }
    }

    /// Prefix of an answer's links.
    fn base(&self, context: &RequestContext<RoleServer>) -> String {
        let told = self.told.as_deref();
        let asked = context.extensions.get::<Parts>();
        let asked = asked.and_then(|parts| public_url::of_request(told, &parts.headers));
        let url = asked.as_ref().or(told).map_or(USUAL_URL, PublicUrl::as_str);
        url.to_owned()
    }

    /// Answers a call in its turn, off the threads that answer others.
    async fn answer(
        &self,
        entry: &'static Entry,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Answer<Value> {
        let (turns, most) = if entry.is_search {
            (&self.searches, MAX_SEARCHES_PER_CLIENT)
        } else {
            (&self.calls, MAX_CALLS_PER_CLIENT)
        };
        let busy = |problem: Problem| {
            let detail = if problem.status() == StatusCode::TOO_MANY_REQUESTS {
                format!("{most} such calls of yours wait already; call again once one is answered")
            } else {
                problem.detail().to_owned()
            };
            Refusal::new("busy", "", detail)
        };
        let cancelled = || Refusal::new("cancelled", "", "the call was cancelled");
        let parts = context.extensions.get::<Parts>();
        let client = parts.map_or_else(Client::own, |parts| identify(&parts.extensions));
        // A caller that leaves frees its place in the queue.
        let turn = tokio::select! {
            turn = turns.turn(&client.0) => turn.map_err(busy)?,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let (stop, base) = (Arc::new(AtomicBool::new(false)), self.base(context));
        let (told, mut heard) = watch::channel((0.0, String::new()));
        let stopped = Arc::clone(&stop);
        let mut work = tokio::task::spawn_blocking(move || {
            // Held until the work ends, even when nobody waits for it any more.
            let _turn = turn;
            let hear = |share: f64, words: String| {
                told.send_replace((share, words));
            };
            let began = Instant::now();
            let call =
                Call { base: &base, stop: &stopped, began, deadline: deadline(), hear: &hear };
            let arguments = refusals::tree(arguments)?;
            (entry.brief)(arguments, &call)
        });
        let token = context.meta.get_progress_token();
        loop {
            tokio::select! {
                done = &mut work => return done.unwrap_or_else(|error| {
                    tracing::error!(%error, tool = entry.name, "a tool panicked");
                    let detail = "the server made a mistake; its log says which";
                    Err(Refusal::new("internal", "", detail))
                }),
                () = context.ct.cancelled(), if !stop.load(Ordering::Relaxed) => {
                    stop.store(true, Ordering::Relaxed);
                }
                Ok(()) = heard.changed(), if token.is_some() => {
                    let (share, words) = heard.borrow_and_update().clone();
                    if let Some(token) = token.clone() {
                        let progress = ProgressNotificationParam::new(token, share)
                            .with_total(1.0)
                            .with_message(words);
                        // Whoever is gone hears nothing.
                        let _ = context.peer.notify_progress(progress).await;
                    }
                    tokio::select! {
                        () = tokio::time::sleep(PROGRESS_PAUSE) => {}
                        () = context.ct.cancelled() => stop.store(true, Ordering::Relaxed),
                    }
                }
            }
        }
    }
}

impl ServerHandler for Agents {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("moescape", model::MODEL_VERSION).with_title("Moescape"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = OPERATIONS.iter().map(described).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = OPERATIONS.iter().find(|entry| entry.name == request.name) else {
            let known: Vec<&str> = OPERATIONS.iter().map(|entry| entry.name).collect();
            let name: String = request.name.chars().take(80).collect();
            let detail = format!("there is no tool `{name}`; there are {}", known.join(", "));
            return Err(ErrorData::invalid_params(detail, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let bytes: usize = arguments.iter().map(|(key, value)| key.len() + 4 + weight(value)).sum();
        let answer = if bytes > MAX_ARGUMENT_BYTES {
            let detail =
                format!("the arguments have {bytes} bytes; at most {MAX_ARGUMENT_BYTES} are read");
            Err(Refusal::new("too_long", "", detail))
        } else {
            self.answer(entry, arguments, &context).await
        };
        Ok(result(answer).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::listed()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = resources::read(&request.uri).ok_or_else(|| {
            let uri: String = request.uri.chars().take(200).collect();
            let detail = format!("there is nothing at `{uri}`; resources/list says what there is");
            ErrorData::resource_not_found(detail, None)
        })?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::listed()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let (about, message) = prompts::filled(&request.name, &given)?;
        Ok(GetPromptResult::new(vec![message]).with_description(about).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let argument = &request.argument;
        let completion = match &request.r#ref {
            Reference::Prompt(prompt) => {
                prompts::completed(&prompt.name, &argument.name, &argument.value)
            }
            Reference::Resource(_) | _ => CompletionInfo::default(),
        };
        Ok(CompleteResult::new(completion))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let name: String = request.method.chars().take(80).collect();
        // The SDK takes a method whose parameters it can't read for one that it doesn't know.
        let why = match request.method.as_str() {
            "tools/call" => unread::<CallToolRequestParams>(&request),
            "resources/read" => unread::<ReadResourceRequestParams>(&request),
            "prompts/get" => unread::<GetPromptRequestParams>(&request),
            "completion/complete" => unread::<CompleteRequestParams>(&request),
            _ => None,
        };
        Err(match why {
            Some(why) => ErrorData::invalid_params(format!("`{name}` can't be read: {why}"), None),
            None => {
                let detail = format!("there is no method `{name}`");
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, detail, None)
            }
        })
    }
}

/// Reason why the parameters of a request are none of this kind.
fn unread<T: DeserializeOwned>(request: &CustomRequest) -> Option<String> {
    let why = match request.params_as::<T>() {
        Ok(Some(_)) => return None,
        Ok(None) => "it has no `params`".to_owned(),
        Err(error) => error.to_string(),
    };
    Some(why.chars().take(200).collect())
}

/// An answer as the protocol has it: words for people, and the typed answer for programs.
fn result(answer: Answer<Value>) -> CallToolResult {
    match answer {
        Ok((value, text)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(value);
            result
        }
        Err(refusal) => {
            let listed = Listed::of(refusal);
            let mut result = CallToolResult::error(vec![ContentBlock::text(listed.text())]);
            result.structured_content = serde_json::to_value(&listed).ok();
            result
        }
    }
}
