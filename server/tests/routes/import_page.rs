//! `GET` and `POST /import`.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use testing::page::Page;

use crate::multipart::{Field, body, kind};
use crate::{Answer, TestApp};

const KIMI: &str = include_str!("../../../crates/interchange/tests/scripts/kimi_k2_a3.sh");
const QWEN: &str = include_str!("../../../crates/interchange/tests/models/qwen3-235b-a22b.json");

async fn sent(body: Vec<u8>, kind: &str) -> Answer {
    let request = Request::post("/import").header("content-type", kind);
    let app = TestApp::new();
    let answer = app.send(request.body(Body::from(body)).unwrap()).await;
    assert!(!app.has_store(), "an import stores nothing");
    answer
}

async fn posted(fields: &[Field<'_>]) -> (StatusCode, Page) {
    let answer = sent(body(fields), &kind()).await;
    let policy = answer.header("content-security-policy");
    assert!(policy.split("; ").any(|rule| rule == "form-action 'self'"), "{policy}");
    assert!(!answer.status.is_server_error(), "{}", answer.text());
    (answer.status, answer.page())
}

/// The page of an import that made a design.
async fn imported(fields: &[Field<'_>]) -> Page {
    let (status, page) = posted(fields).await;
    assert_eq!(status, StatusCode::OK, "{}", page.words());
    page
}

#[tokio::test]
async fn a_form_without_a_script_imports_files_and_texts() {
    let page = TestApp::new().page("/import").await;
    let form = page.part("form[method=post][action='/import'][enctype='multipart/form-data']");
    for field in ["input[type=file][name=file]", "textarea[name=text]", "select[name=format]"] {
        assert_eq!(form.count(field), 1, "{field}");
    }
    let file = imported(&[("file", Some("kimi.sh"), KIMI.as_bytes()), ("text", None, b"")]).await;
    assert!(file.says("kimi.sh was read as MindSpeed-LLM"), "{}", file.words());
    let job = b"[model]\nname = \"llama3\"\nflavor = \"8B\"\n\
                [parallelism]\ntensor_parallel_degree = 2\n";
    let torchtitan = imported(&[("text", None, job)]).await;
    assert!(torchtitan.says("The text was read as torchtitan."), "{}", torchtitan.words());
    let text = [
        ("file", Some(""), &b""[..]),
        ("text", None, QWEN.as_bytes()),
        ("format", None, b"hf"),
        ("preset", None, b"qwen3-235b-a22b"),
    ];
    let text = imported(&text).await;
    assert!(text.has("a[href^='/?v=1&preset=qwen3-235b-a22b&kernel.extra_arguments=']"));
    assert!(text.says("arguments without a knob carried along"), "{}", text.words());
    assert!(text.has("[data-metric=mfu]"));
}

#[tokio::test]
async fn what_a_configuration_leaves_open_is_counted_and_listed() {
    let page = imported(&[("text", None, QWEN.as_bytes()), ("format", None, b"hf")]).await;
    let titles = page.texts("h2");
    let assumed = titles.iter().find_map(|title| title.strip_prefix("Assumed ("));
    let assumed = assumed.unwrap_or_else(|| panic!("{titles:?}")).trim_end_matches(')');
    assert!(page.says(&format!("{assumed} assumptions")), "{}", page.words());
    assert!(page.says("cluster.num_devices: 8, a config.json doesn"), "{}", page.words());
}

#[tokio::test]
async fn what_the_page_shows_is_what_the_api_says() {
    let page = imported(&[("file", Some("kimi.sh"), KIMI.as_bytes())]).await;
    let report = TestApp::new().post("/api/v1/import", KIMI).await.json();
    assert!(page.has_link(report["link"].as_str().unwrap()), "{}", report["link"]);
    let words = page.words();
    for (list, key) in [("set", "key"), ("assumed", "detail"), ("ignored", "key")] {
        for entry in report[list].as_array().unwrap() {
            assert!(words.contains(entry[key].as_str().unwrap()), "{list}: {entry} in {words}");
        }
    }
}

#[tokio::test]
async fn mistakes_are_told_by_line_and_the_text_stays_in_the_box() {
    let text = b"x \\\n --num-layers 0 --<b>bold</b>";
    let (status, page) = posted(&[("text", None, text)]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let lines = page.texts("li");
    assert!(lines.iter().any(|line| line.starts_with("line 2: --num-layers")), "{lines:?}");
    assert_eq!(page.text("textarea[name=text]"), "x \\ --num-layers 0 --<b>bold</b>");
    assert!(!page.has("b"));
    for fields in [&[][..], &[("text", None, &b" \n"[..])], &[("other", None, b"x")]] {
        let (status, page) = posted(fields).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(page.says("There is no text to import"), "{}", page.words());
    }
}

#[tokio::test]
async fn what_is_no_text_or_too_large_is_refused_in_words() {
    let utf_16: Vec<u8> = QWEN.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin_1 = b"# Gr\xfc\xdfe\npython x.py --num-layers 1";
    for bytes in [&[0xff, 0xfe][..], &utf_16, latin_1, b"\0\x01\xff\xd8\xff"] {
        for (name, file) in [("file", Some("junk.bin")), ("text", None)] {
            let (status, _) = posted(&[(name, file, bytes)]).await;
            assert!(status.is_client_error(), "{status:?}");
        }
    }
    let (_, page) = posted(&[("file", Some("a.json"), latin_1)]).await;
    assert!(page.says("a.json: line 1 isn"), "{}", page.words());
    let marked = [&b"\xef\xbb\xbf"[..], QWEN.as_bytes()].concat();
    imported(&[("file", Some("a.json"), &marked)]).await;
    let large = vec![b'#'; 100_000_000];
    for (name, file) in [("file", Some("large.sh")), ("text", None)] {
        let (status, page) = posted(&[(name, file, &large)]).await;
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
        assert!(page.says("at most 16,777,216 bytes"), "{}", page.words());
    }
    let page = TestApp::new().get("/import?large").await;
    assert_eq!(page.status, StatusCode::PAYLOAD_TOO_LARGE);
    for (field, value) in [("format", "xml"), ("preset", "nobody")] {
        let fields = [("text", None, KIMI.as_bytes()), (field, None, value.as_bytes())];
        assert_eq!(posted(&fields).await.0, StatusCode::BAD_REQUEST, "{field}");
    }
}

#[tokio::test]
async fn no_body_breaks_the_form() {
    let whole = body(&[("text", None, b"--num-layers 1"), ("format", None, b"megatron")]);
    let kind = kind();
    for end in (0..whole.len()).step_by(7) {
        let answer = sent(whole[..end].to_vec(), &kind).await;
        assert!(answer.status.is_client_error() || answer.status.is_success(), "{end}");
    }
    // Each byte of a form in turn is another one: a xorshift decides which.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..200 {
        let mut junk = whole.clone();
        for _ in 0..4 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let place = (state % junk.len() as u64) as usize;
            junk[place] = (state >> 32) as u8;
        }
        let answer = sent(junk, &kind).await;
        assert!(!answer.status.is_server_error(), "{}", answer.text());
    }
    for kind in ["text/plain", "multipart/form-data", "multipart/form-data; boundary=", "", "x"] {
        let answer = sent(whole.clone(), kind).await;
        assert!(answer.status.is_client_error(), "{kind}: {:?}", answer.status);
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    }
}

#[tokio::test]
async fn another_site_can_not_send_the_form() {
    let request = Request::post("/import")
        .header("content-type", kind())
        .header("sec-fetch-site", "cross-site")
        .body(Body::from(body(&[("text", None, b"x")])));
    let answer = TestApp::new().send(request.unwrap()).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn questions_are_fields_and_their_answers_make_the_design() {
    let script = b"torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py --num-layers $1 \
                   --hidden-size 512 --num-attention-heads 8 --vocab-size 1024 --bf16 \
                   --seq-length ${SEQ} --micro-batch-size 1 --global-batch-size 8";
    let open = imported(&[("text", None, script)]).await;
    let questions = open.part("#questions");
    let mut fields = questions.attributes("[name^='answer ']", "name");
    fields.dedup();
    assert_eq!(fields, ["answer arg 1", "answer env SEQ"]);
    assert!(open.says("2 questions open"), "{}", open.words());
    assert!(questions.says("Argument 1 of the script"), "{}", questions.words());
    let answers = [
        ("text", None, &script[..]),
        ("answer arg 1", None, b"4"),
        ("answer env SEQ", None, b"256"),
    ];
    let done = imported(&answers).await;
    assert!(!done.has("#questions") && done.has("a[href*='seq_length=256']"));
    // What was answered goes along with the next answer.
    for (name, value) in [("answer arg 1", "4"), ("answer env SEQ", "256")] {
        let field = format!("input[type=hidden][form=import-form][name='{name}']");
        assert_eq!(done.attribute(&field, "value"), value);
    }
    let (status, _) = posted(&[("text", None, script), ("answer no-such-knob", None, b"1")]).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn several_files_are_read_together_and_come_back_as_one_text() {
    let page = imported(&[
        (
            "file",
            Some("s/own.sh"),
            b"A=(--num-layers 6 --hidden-size 512 --num-attention-heads 8)\n",
        ),
        ("file", Some("run.sh"), b"source own.sh\npython x.py ${A[@]} --vocab-size 1024 --bf16\n"),
    ])
    .await;
    for line in ["s/own.sh:1", "run.sh:2"] {
        assert!(page.says(line), "{line}: {}", page.words());
    }
    let text = page.text("textarea[name=text]");
    assert!(text.starts_with("==> s/own.sh <=="), "{text}");
}
