//! Questions that people asked in public, answered through the SDK's client at the program's own
//! stdin and stdout: the numbers are the model's, what was measured is within their ranges, and
//! the links open the pages that show them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use model::training::estimate::Metrics;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::unix::pipe;

use crate::command;
use crate::serve::{self, Server};

/// An agent beside a server whose pages its links open.
struct Agent {
    client: RunningService<RoleClient, ()>,
    program: Child,
    server: Server,
    _data: TempDir,
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Agent {
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let server = serve::on(data.path());
        let url = format!("http://{}", server.address());
        let mut mcp = command(&["mcp", "--log-level", "error", "--public-url", &url]);
        let mut program = mcp.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let heard = program.stdout.take().unwrap();
        let said = program.stdin.take().unwrap();
        let heard = pipe::Receiver::from_owned_fd(heard.into()).unwrap();
        let said = pipe::Sender::from_owned_fd(said.into()).unwrap();
        let client = ().serve((heard, said)).await.unwrap();
        Self { client, program, server, _data: data }
    }

    async fn called(&self, tool: &str, arguments: Value) -> CallToolResult {
        let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.client.call_tool(request).await.unwrap()
    }

    /// The answer of a call, whose link opens a page that shows these numbers of it.
    async fn answer(&self, tool: &str, arguments: Value, shown: &[&str]) -> Value {
        let result = self.called(tool, arguments).await;
        assert_eq!(result.is_error, Some(false), "{result:?}");
        let answer = result.structured_content.unwrap();
        let page = self.page(answer["link"].as_str().unwrap());
        for id in shown {
            let text = number(&answer, id)["text"].as_str().unwrap().to_owned();
            assert!(page.contains(&text), "{text} of {id} isn't on the page");
        }
        answer
    }

    /// The page that a link opens.
    fn page(&self, link: &str) -> String {
        let address = self.server.address();
        let path = link.strip_prefix(&format!("http://{address}")).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!("GET {path} HTTP/1.0\r\nhost: localhost\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        assert!(page.starts_with("HTTP/1.0 200"), "{link}: {}", page.lines().next().unwrap());
        page
    }
}

/// A number of an answer, or of one of its designs.
#[track_caller]
fn number<'a>(answer: &'a Value, id: &str) -> &'a Value {
    let numbers = answer["numbers"].as_array().unwrap();
    numbers.iter().find(|number| number["id"] == id).unwrap()
}

/// Asserts that what was measured is within the range of 90 % of what is predicted, which is the
/// model's own number of the design behind the link.
#[track_caller]
fn holds(answer: &Value, id: &str, measured: f64, of: fn(&Metrics) -> f64) {
    let number = number(answer, id);
    let value = |at: &str| number.pointer(at).and_then(Value::as_f64).unwrap();
    let (low, high) = (value("/range_90/low"), value("/range_90/high"));
    assert!(low <= measured && measured <= high, "{measured} of {id} isn't in {low} to {high}");
    let query = answer["link"].as_str().unwrap().split_once('?').unwrap().1;
    let design = model::design::link::decode(query).unwrap();
    let metrics = model::estimate(&model::Plan::new(&design).unwrap()).metrics;
    assert_eq!(value("/value").to_bits(), of(&metrics).to_bits(), "{id}");
}

fn tokens(metrics: &Metrics) -> f64 {
    metrics.tokens_per_second_per_device
}

fn step_time(metrics: &Metrics) -> f64 {
    metrics.step_time.get()
}

/// About 6,300 tokens/s of Qwen3-30B-A3B on 16 H800: is that all, and which layout is better?
///
/// Source: github.com/alibaba/Pai-Megatron-Patch/issues/643.
#[tokio::test]
async fn two_layouts_on_16_h800_are_ranked_as_they_were_measured() {
    let agent = Agent::new().await;
    let design = |layout: [&str; 3]| {
        let all = ["accelerator=h800-sxm-80gb", "seq=8192", "moe_expert_capacity_factor=1"];
        let mut set = [all.as_slice(), &layout].concat();
        set.push("recompute_granularity=none");
        json!({"preset": "qwen3-30b-a3b", "set": set})
    };
    let (first, second) = (["pp=2", "ep=8", "gbs=128"], ["pp=4", "ep=4", "gbs=256"]);
    let both = json!({"designs": [design(first), design(second)]});
    let answer = agent.answer("compare", both, &[]).await;
    for (place, step, rate) in [(0, 10.361, 6_325.0), (1, 20.992, 6_244.0)] {
        let one = &answer["designs"][place];
        holds(one, "step_time_seconds", step, step_time);
        holds(one, "tokens_per_second_per_device", rate, tokens);
        let page = agent.page(one["link"].as_str().unwrap());
        assert!(page.contains(number(one, "step_time_seconds")["text"].as_str().unwrap()));
    }
    let differences = answer["designs"][1]["differences"].as_array().unwrap();
    let rate = differences.iter().find(|it| it["metric"] == "tokens_per_second_per_device");
    assert_eq!(rate.unwrap()["verdict"], "worse", "{rate:?}");
}

/// 80 layers on 16 stages of 2 chunks: how many does it really train?
///
/// Source: github.com/NVIDIA/Megatron-LM/issues/468.
#[tokio::test]
async fn layers_that_are_dropped_in_silence_are_counted_and_the_way_out_is_legal() {
    let agent = Agent::new().await;
    let asked = |more: &[&str]| {
        let layout = ["num_layers=80", "num_devices=64", "tp=1", "sequence_parallel=false"];
        let pipeline = ["pp=16", "vpp=2", "schedule.method=interleaved"];
        let set = [&layout, pipeline.as_slice(), more].concat();
        json!({"preset": "llama-3-8b", "set": set})
    };
    let answer = agent.answer("predict", asked(&[]), &[]).await;
    assert_eq!(answer["legal"], false);
    let broken = &answer["violations"][0];
    assert!(broken["message"].as_str().unwrap().contains("trains 64 layers"), "{broken}");
    let whole = "parallel.virtual_pipeline_model_parallel_size=5";
    let nearest = broken["nearest"].as_array().unwrap();
    let is_whole = |way: &Value| {
        way["knob"] == "parallel.virtual_pipeline_model_parallel_size" && way["value"] == 5
    };
    assert!(nearest.iter().any(is_whole), "{broken}");
    let mended = agent.answer("predict", asked(&[whole]), &["step_time_seconds"]).await;
    assert_eq!(mended["legal"], true, "{mended}");
}

/// How can Qwen3-235B-A22B train on 32 GPUs, where weights and states alone are too large?
///
/// Source: github.com/THUDM/slime/issues/280; its script keeps the optimizer on the host.
#[tokio::test]
async fn what_does_not_fit_is_told_the_change_that_the_script_makes() {
    let agent = Agent::new().await;
    let asked = |more: &[&str]| {
        let layout = ["num_devices=32", "tp=4", "pp=4", "cp=2", "ep=8", "noop_layers=0,95"];
        let set = [&layout, ["seq=8192", "gbs=128"].as_slice(), more].concat();
        json!({"preset": "qwen3-235b-a22b", "set": set, "verdict": true})
    };
    let answer = agent.answer("predict", asked(&[]), &["memory_peak_bytes"]).await;
    assert_eq!(number(&answer, "fits")["verdict"], false);
    let first = &answer["verdict"]["changes"][0];
    assert_eq!(first["knob"], "memory.swap_modules", "{first}");
    assert_eq!((&first["value"], &first["fits"]), (&json!(["optimizer"]), &json!(true)));
    let offloaded = asked(&["swap_modules=optimizer"]);
    let offloaded = agent.answer("predict", offloaded, &["memory_peak_bytes"]).await;
    assert_eq!(number(&offloaded, "fits")["verdict"], true);
    let peak = number(&offloaded, "memory_peak_bytes")["value"].as_f64();
    assert_eq!(peak, first["memory_peak_bytes"].as_f64());
}

/// 120 TFLOPS a card of a 1.9B model on 128 Ascend 910B: is that right?
///
/// Source: github.com/bilibili/Index-1.9B/issues/2.
#[tokio::test]
async fn the_rate_of_a_small_model_on_128_npus_is_within_its_range() {
    let agent = Agent::new().await;
    let set = json!([
        "num_layers=36",
        "hidden_size=2048",
        "ffn_hidden_size=5888",
        "num_attention_heads=16",
        "num_query_groups=none",
        "kv_channels=128",
        "vocab_size=65029",
        "accelerator=ascend-910b3",
        "num_devices=128",
        "tp=1",
        "sequence_parallel=false",
        "seq=4096",
        "mbs=2",
        "gbs=1024",
        "kernel.framework=mindspeed"
    ]);
    let shown = ["mfu", "tokens_per_second_per_device"];
    let answer = agent.answer("predict", json!({"preset": "llama-3-8b", "set": set}), &shown).await;
    let rate = |metrics: &Metrics| metrics.model_tflops_per_device;
    holds(&answer, "model_tflops_per_device", 120.0, rate);
}

/// Is DeepSeek-V3's utilisation 7 % or 22 %?
///
/// Source: github.com/jax-ml/scaling-book/issues/31: 14.8 T tokens in 2.79 million hours of H800,
/// 1,513 TFLOPS each as it counts them.
#[tokio::test]
async fn a_utilisation_follows_from_tokens_parameters_and_hours() {
    let agent = Agent::new().await;
    let (tokens, hours, peak) = (14.8e12, 2.79e6, 1.513e15);
    let run = json!({"preset": "deepseek-v3-2k-h800", "set": ["run.train_tokens=14.8e12"]});
    let budget = agent.answer("budget", run, &["days_to_train"]).await;
    let range = &number(&budget, "device_hours")["range_90"];
    let [low, high] = ["low", "high"].map(|end| range[end].as_f64().unwrap());
    assert!(low < hours && hours < high, "{range}");
    let design = json!({"preset": "deepseek-v3-2k-h800"});
    let answer = agent.answer("predict", design, &["mfu"]).await;
    let active = number(&answer, "params_active");
    assert_eq!(active["evidence"], "exact");
    let share = 6.0 * active["value"].as_f64().unwrap() * tokens / (hours * 3_600.0 * peak);
    assert!((share - 0.216).abs() < 0.01, "{share}");
}

/// The answer to an agent over HTTP is the same as over stdin and stdout.
#[tokio::test]
async fn over_http_the_answer_is_the_same() {
    let agent = Agent::new().await;
    let arguments = json!({"preset": "pangu-ultra-moe-6k", "details": true});
    let by_pipe = agent.called("predict", arguments.clone()).await.structured_content.unwrap();
    let url = format!("http://{}", agent.server.address());
    let mut mcp = command(&["mcp", "--listen", "127.0.0.1:0", "--public-url", &url]);
    let mut program = mcp.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().trim_start_matches("listening on http://").trim_end_matches("/mcp");
    let mut stream = serve::call_tool(address, "HTTP/1.0", "predict", &arguments);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    let data = answer.lines().find_map(|line| line.strip_prefix("data: {")).unwrap_or(&answer);
    let by_http: Value = serde_json::from_str(&format!("{{{data}")).unwrap();
    assert_eq!(by_http["result"]["structuredContent"], by_pipe);
}
