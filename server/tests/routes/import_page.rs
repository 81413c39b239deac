//! `GET` and `POST /import`.

use axum::body::Body;
use axum::http::{Request, StatusCode};

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

async fn posted(fields: &[Field<'_>]) -> Answer {
    let answer = sent(body(fields), &kind()).await;
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert!(answer.header("content-security-policy").contains("form-action 'self'"));
    assert!(!answer.status.is_server_error(), "{}", answer.text());
    answer
}

#[tokio::test]
async fn a_form_without_a_script_imports_files_and_texts() {
    let page = TestApp::new().get("/import").await;
    assert_eq!(page.status, StatusCode::OK);
    for part in ["enctype=\"multipart/form-data\"", "type=\"file\"", "<textarea", "<select"] {
        assert!(page.text().contains(part), "{part}");
    }
    let file = posted(&[("file", Some("kimi.sh"), KIMI.as_bytes()), ("text", None, b"")]).await;
    assert_eq!(file.status, StatusCode::OK);
    assert!(file.text().contains("kimi.sh was read as MindSpeed-LLM"));
    let job = b"[model]\nname = \"llama3\"\nflavor = \"8B\"\n\
                [parallelism]\ntensor_parallel_degree = 2\n";
    let torchtitan = posted(&[("text", None, job)]).await;
    assert!(torchtitan.text().contains("The text was read as torchtitan."));
    let text = [
        ("file", Some(""), &b""[..]),
        ("text", None, QWEN.as_bytes()),
        ("format", None, b"hf"),
        ("preset", None, b"qwen3-235b-a22b"),
    ];
    let text = posted(&text).await;
    assert_eq!(text.status, StatusCode::OK);
    let link = "href=\"/?v=1&amp;preset=qwen3-235b-a22b&amp;kernel.extra_arguments=";
    assert!(text.text().contains(link), "{}", text.text());
    assert!(text.text().contains("arguments without a knob carried along"), "{}", text.text());
    assert!(text.text().contains("data-metric=\"mfu\""));
}

#[tokio::test]
async fn what_a_configuration_leaves_open_is_counted_and_listed() {
    let page = posted(&[("text", None, QWEN.as_bytes()), ("format", None, b"hf")]).await;
    assert!(!page.text().contains(" 0 assumptions"), "{}", page.text());
    for part in ["<h2>Assumed (", "cluster.num_devices: 8, a config.json doesn"] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

#[tokio::test]
async fn what_the_page_shows_is_what_the_api_says() {
    let page = posted(&[("file", Some("kimi.sh"), KIMI.as_bytes())]).await;
    let report = TestApp::new().post("/api/v1/import", KIMI).await.json();
    let link = report["link"].as_str().unwrap().replace('&', "&amp;");
    assert!(page.text().contains(&format!("href=\"{link}\"")), "{link}");
    let shown = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    for (list, key) in [("set", "key"), ("assumed", "detail"), ("ignored", "key")] {
        for entry in report[list].as_array().unwrap() {
            let text = shown(entry[key].as_str().unwrap());
            assert!(page.text().contains(&text), "{list}: {text}");
        }
    }
}

#[tokio::test]
async fn mistakes_are_told_by_line_and_the_text_stays_in_the_box() {
    let text = b"x \\\n --num-layers 0 --<b>bold</b>";
    let answer = posted(&[("text", None, text)]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.text().contains("<li>line 2: --num-layers"), "{}", answer.text());
    assert!(answer.text().contains("--num-layers 0 --&lt;b&gt;bold&lt;/b&gt;"));
    assert!(!answer.text().contains("<b>bold"));
    for fields in [&[][..], &[("text", None, &b" \n"[..])], &[("other", None, b"x")]] {
        let answer = posted(fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert!(answer.text().contains("There is no text to import"));
    }
}

#[tokio::test]
async fn what_is_no_text_or_too_large_is_refused_in_words() {
    let utf_16: Vec<u8> = QWEN.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin_1 = b"# Gr\xfc\xdfe\npython x.py --num-layers 1";
    for bytes in [&[0xff, 0xfe][..], &utf_16, latin_1, b"\0\x01\xff\xd8\xff"] {
        for (name, file) in [("file", Some("junk.bin")), ("text", None)] {
            let answer = posted(&[(name, file, bytes)]).await;
            assert!(answer.status.is_client_error(), "{:?}", answer.status);
        }
    }
    let answer = posted(&[("file", Some("a.json"), latin_1)]).await;
    assert!(answer.text().contains("a.json: line 1 isn"), "{}", answer.text());
    let marked = [&b"\xef\xbb\xbf"[..], QWEN.as_bytes()].concat();
    assert_eq!(posted(&[("file", Some("a.json"), &marked)]).await.status, StatusCode::OK);
    let large = vec![b'#'; 100_000_000];
    for (name, file) in [("file", Some("large.sh")), ("text", None)] {
        let answer = posted(&[(name, file, &large)]).await;
        assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
        assert!(answer.text().contains("at most 16,777,216 bytes"), "{}", answer.text());
    }
    let page = TestApp::new().get("/import?large").await;
    assert_eq!(page.status, StatusCode::PAYLOAD_TOO_LARGE);
    for (field, value) in [("format", "xml"), ("preset", "nobody")] {
        let fields = [("text", None, KIMI.as_bytes()), (field, None, value.as_bytes())];
        assert_eq!(posted(&fields).await.status, StatusCode::BAD_REQUEST, "{field}");
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
    let open = posted(&[("text", None, script)]).await;
    assert_eq!(open.status, StatusCode::OK);
    for part in [
        "name=\"answer arg 1\"",
        "name=\"answer env SEQ\"",
        "2 questions open",
        "Argument 1 of the script",
    ] {
        assert!(open.text().contains(part), "{part}: {}", open.text());
    }
    let answers = [
        ("text", None, &script[..]),
        ("answer arg 1", None, b"4"),
        ("answer env SEQ", None, b"256"),
    ];
    let done = posted(&answers).await;
    assert!(!done.text().contains("id=\"questions\"") && done.text().contains("seq_length=256"));
    // What was answered goes along with the next answer.
    assert!(done.text().contains("type=\"hidden\" form=\"import-form\""), "{}", done.text());
    let wrong = posted(&[("text", None, script), ("answer no-such-knob", None, b"1")]).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn several_files_are_read_together_and_come_back_as_one_text() {
    let page = posted(&[
        (
            "file",
            Some("s/own.sh"),
            b"A=(--num-layers 6 --hidden-size 512 --num-attention-heads 8)\n",
        ),
        ("file", Some("run.sh"), b"source own.sh\npython x.py ${A[@]} --vocab-size 1024 --bf16\n"),
    ])
    .await;
    assert_eq!(page.status, StatusCode::OK);
    for part in ["s/own.sh:1", "run.sh:2", "==&gt; s/own.sh &lt;=="] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}
