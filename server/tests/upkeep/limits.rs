//! Limits of one owner: a number of each kind, a number of bytes, and who counts as one owner.

use crate::{TRACE, ask, design, serve, session, sweep};

#[test]
fn an_owner_hears_the_limit_and_what_is_used_and_others_go_on() {
    let data = tempfile::tempdir().unwrap();
    let limits = "--max-designs-per-owner 2 --max-traces-per-owner 1 --max-sessions-per-owner 1 \
                  --max-sweeps-per-owner 1";
    let server = serve(data.path(), &limits.split(' ').collect::<Vec<_>>());
    let store = |number, headers: &[(&str, &str)]| {
        ask(&server, "POST", "/api/v1/designs", headers, &design(number))
    };
    let owner = store(1, &[]).is(201).owner();
    let by = [("cookie", owner.as_str())];
    store(2, &by).is(201);
    let refused = store(3, &by).is(507).json()["detail"].as_str().unwrap().to_owned();
    assert!(refused.contains("keep 2 designs") && refused.contains("at most 2"), "{refused}");
    for (path, body, what) in [
        ("/api/v1/reviews", session(), "1 review session"),
        ("/api/v1/sweeps", sweep(), "1 sweep"),
        ("/api/v1/traces", TRACE.to_owned(), "1 trace"),
    ] {
        ask(&server, "POST", path, &by, &body).is(201);
        let body = body.replace("Review", "Another").replace("[4,8]", "[8]") + "\n0,1,1,2";
        let body = if what.contains("trace") { body } else { body.replace("\n0,1,1,2", "") };
        let refused = ask(&server, "POST", path, &by, &body).is(507).body;
        assert!(refused.contains(&format!("at most {}", &what[..1])), "{what}: {refused}");
    }
    // Whoever sends no key is a new owner each time, and one address.
    store(4, &[]).is(201);
    let refused = store(5, &[]).is(507).json()["detail"].as_str().unwrap().to_owned();
    assert!(refused.contains("cookie"), "{refused}");
    let elsewhere = [("x-forwarded-for", "198.51.100.7")];
    store(5, &elsewhere).is(201);
    // Room that is made is room.
    let mine = ask(&server, "GET", "/api/v1/designs?mine", &by, "").json();
    let id = mine["designs"][0]["id"].as_str().unwrap().to_owned();
    ask(&server, "DELETE", &format!("/api/v1/designs/{id}"), &by, "").is(204);
    store(3, &by).is(201);
}

#[test]
fn an_owner_that_is_made_up_counts_by_its_address_and_a_user_is_one_owner() {
    let data = tempfile::tempdir().unwrap();
    let limits = ["--max-designs-per-owner", "3", "--max-traces-per-owner", "1"];
    let more = [&limits[..], &["--user-header", "x-user"]].concat();
    let server = serve(data.path(), &more);
    let made_up = |number: u32| format!("owner={number:032x}");
    let stores = |user: &[(&'static str, &'static str)], number: u32| {
        let cookie = made_up(number);
        let headers = [user, &[("cookie", cookie.as_str())]].concat();
        ask(&server, "POST", "/api/v1/designs", &headers, &design(number)).status
    };
    let all = |user: &[(&'static str, &'static str)]| {
        (1..9).map(|number| stores(user, number)).collect::<Vec<u16>>()
    };
    assert_eq!(all(&[]), [201, 201, 201, 507, 507, 507, 507, 507]);
    // Whoever keeps something is known by the cookie.
    assert_eq!([stores(&[], 1), stores(&[], 2)], [200, 200]);
    let elsewhere = [("x-forwarded-for", "198.51.100.7")];
    assert_eq!(all(&elsewhere)[..5], [200, 200, 200, 201, 201]);
    // A user is one owner in any browser, and no address counts.
    let ann = [("x-user", "Ann"), ("x-forwarded-for", "198.51.100.7")];
    assert_eq!(all(&ann), [201, 201, 201, 507, 507, 507, 507, 507]);
    let mine = ask(&server, "GET", "/api/v1/designs?mine", &ann, "").json();
    assert_eq!(mine["designs"].as_array().unwrap().len(), 3);
    let traces = (1..5).map(|number| {
        let (cookie, text) = (made_up(100 + number), format!("{TRACE}1,0,0,{number}\n1,0,1,1\n"));
        ask(&server, "POST", "/api/v1/traces", &[("cookie", &cookie)], &text).status
    });
    assert_eq!(traces.collect::<Vec<_>>(), [201, 507, 507, 507]);
}

/// A trace whose counts don't pack: more than 1 MiB as it is kept.
fn large_trace() -> String {
    let mut seed = 0x9e37_79b9_u32;
    let mut text = "step,layer,expert,tokens\n".to_owned();
    for place in 0..400_000 {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        let (step, expert) = (place / 500, place % 500);
        text += &format!("{step},0,{expert},{}\n", seed >> 4);
    }
    text
}

#[test]
fn what_an_owner_keeps_takes_so_many_bytes_and_no_more() {
    let data = tempfile::tempdir().unwrap();
    let server = serve(data.path(), &["--max-mib-per-owner", "1"]);
    let made = ask(&server, "POST", "/api/v1/traces", &[], &large_trace()).is(201);
    let (owner, hash) = (made.owner(), made.json()["hash"].as_str().unwrap().to_owned());
    let by = [("cookie", owner.as_str())];
    for (path, body) in
        [("designs", design(1)), ("reviews", session()), ("traces", TRACE.to_owned())]
    {
        let refused = ask(&server, "POST", &format!("/api/v1/{path}"), &by, &body).is(507).json();
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("at most 1 MiB") && detail.contains("traces 1."), "{detail}");
    }
    let other = ask(&server, "POST", "/api/v1/designs", &[], &design(1)).is(201).owner();
    assert_ne!(other, owner, "others go on");
    ask(&server, "DELETE", &format!("/api/v1/traces/{hash}"), &by, "").is(204);
    ask(&server, "POST", "/api/v1/designs", &by, &design(1)).is(201);
}
