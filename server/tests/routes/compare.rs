//! `GET /compare` and `GET /compare.csv`.

use axum::http::StatusCode;
use testing::design::{estimated, from_preset};

use crate::TestApp;

const TWO: &str = "a=v=1%26preset=pangu-ultra-moe-4k-baseline&b=v=1%26preset=pangu-ultra-moe-6k";

#[tokio::test]
async fn designs_of_a_link_are_compared() {
    let page = TestApp::new().page(&format!("/compare?{TWO}")).await;
    let mfu = |preset: &str| {
        let metrics = estimated(&from_preset(preset, &[])).metrics;
        present::format::percent(metrics.mfu, 1).to_string()
    };
    assert_eq!(
        page.texts("tr[data-metric=mfu] .compare-value"),
        [mfu("pangu-ultra-moe-4k-baseline"), mfu("pangu-ultra-moe-6k")]
    );
}

#[tokio::test]
async fn what_is_not_understood_is_answered_with_the_rest_and_an_error_status() {
    let app = TestApp::new();
    for query in [format!("{TWO}&e=v=1"), format!("{TWO}&c=tp%3Deight"), format!("{TWO}&x=1")] {
        let answer = app.get(&format!("/compare?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        let name = answer.page().text("#design-B");
        assert_eq!(name, "B Pangu Ultra MoE on 6,144 NPUs, kernels of 2026", "{query}");
    }
    // A design that breaks rules is a page like any other.
    let broken = app.get(&format!("/compare?{TWO}&c=pp%3D12")).await;
    assert_eq!(broken.status, StatusCode::OK);
}

#[tokio::test]
async fn the_numbers_are_a_table_for_other_programs() {
    let answer = TestApp::new().get(&format!("/compare.csv?{TWO}")).await;
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
    let text = answer.text();
    let row = text.lines().find(|line| line.starts_with("mfu,")).unwrap();
    let cells: Vec<f64> = row.split(',').skip(2).map(|cell| cell.parse().unwrap()).collect();
    assert_eq!(cells[2].to_bits(), (cells[1] - cells[0]).to_bits(), "{row}");
}
