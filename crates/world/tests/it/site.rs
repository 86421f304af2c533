//! Names, origins, cookies and headers, and limits by address.

use deskhand_testkit::Client;
use deskhand_world::{World, WorldOptions};
use reqwest::Method;
use serde_json::json;

/// Sends a request with these headers, like a browser. Returns its status and headers.
async fn ask(
    world: &World,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
) -> reqwest::Response {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = http.request(method, format!("{}{path}", world.url()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap()
}

/// Signs a browser in. Returns the `Cookie` header.
async fn cookie(client: &Client) -> String {
    let link = client.post("/api/sign-in-links", json!({})).await.good();
    let (_, code) = link["url"].as_str().unwrap().split_once("code=").unwrap();
    client.sign_in(code).await
}

#[tokio::test]
async fn browsers_forget_pictures_at_sign_out_and_after_an_hour() {
    let world = World::start(&[]).await;
    let client = world.client();
    let session = client.new_session("scripted/demo").await;
    let act = json!({"action": "screenshot"});
    let done = session.act("computer", act).await;
    let blob = format!("/api/blobs/{}", done["screenshot"].as_str().unwrap());
    let cookie = cookie(&client).await;
    let headers = [("cookie", &*cookie), ("origin", world.url())];
    let picture = ask(&world, Method::GET, &blob, &headers).await;
    assert_eq!(picture.status(), 200);
    let caching = picture.headers()["cache-control"].to_str().unwrap();
    assert!(caching.starts_with("private, max-age=3600"), "{caching}");
    let out = ask(&world, Method::POST, "/api/sign-out", &headers).await;
    assert_eq!(out.headers()["clear-site-data"], "\"cache\"");
    let gone = ask(&world, Method::GET, &blob, &headers).await;
    assert_eq!(gone.status(), 401);
}

#[tokio::test]
async fn a_request_for_another_name_is_refused() {
    let options = WorldOptions {
        public_url: Some("https://desk.example".to_owned()),
        allowed_hosts: vec!["desk.lan".to_owned()],
        ..WorldOptions::default()
    };
    let world = World::with(options).await;
    for host in [
        "localhost",
        "localhost:1",
        "127.0.0.1",
        "[::1]",
        "desk.example",
        "desk.lan:80",
    ] {
        let answer = ask(&world, Method::GET, "/health", &[("host", host)]).await;
        assert_eq!(answer.status(), 200, "{host}");
    }
    for host in [
        "evil.example",
        "desk.example.evil.example",
        "192.0.2.1",
        "x.localhost",
    ] {
        for path in ["/health", "/", "/api/openapi.json"] {
            let answer = ask(&world, Method::GET, path, &[("host", host)]).await;
            assert_eq!(answer.status(), 421, "{host}{path}");
        }
    }
}

#[tokio::test]
async fn a_cookie_counts_only_with_the_whole_origin_of_the_page() {
    let world = World::start(&[]).await;
    let client = world.client();
    let cookie = cookie(&client).await;
    let port = world.url().rsplit_once(':').unwrap().1;
    let wrong = [
        format!("https://127.0.0.1:{port}"),
        "http://127.0.0.1:1".to_owned(),
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{port}.evil.example"),
        "http://127.0.0.1".to_owned(),
        "null".to_owned(),
        String::new(),
    ];
    let socket = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    for origin in &wrong {
        let headers = [("cookie", &*cookie), ("origin", origin.as_str())];
        let changed = ask(&world, Method::POST, "/api/sessions", &headers).await;
        let opened = [&headers[..], &socket].concat();
        let opened = ask(&world, Method::GET, "/api/events", &opened).await;
        for refused in [changed, opened] {
            assert_eq!(refused.status(), 403, "{origin:?}");
            assert!(refused.text().await.unwrap().contains("wrong_origin"));
        }
    }
    let without = [("cookie", &*cookie)];
    let refused = ask(&world, Method::POST, "/api/sessions", &without).await;
    assert_eq!(refused.status(), 403);
    // Reading needs no origin, and our own page may do everything.
    let read = ask(&world, Method::GET, "/api/me", &without).await;
    assert_eq!(read.status(), 200);
    let headers = [("cookie", &*cookie), ("origin", world.url())];
    let made = ask(&world, Method::POST, "/api/sessions", &headers).await;
    assert_eq!(made.status(), 201);
}

#[tokio::test]
async fn behind_https_the_cookie_is_bound_to_its_host() {
    let options = WorldOptions {
        public_url: Some("https://desk.example".to_owned()),
        ..WorldOptions::default()
    };
    let world = World::with(options).await;
    let cookie = cookie(&world.client()).await;
    assert!(cookie.starts_with("__Host-deskhand="), "{cookie}");
    let read = |cookie: String| {
        let world = &world;
        async move {
            let headers = [("cookie", cookie.as_str())];
            ask(world, Method::GET, "/api/me", &headers).await.status()
        }
    };
    assert_eq!(read(cookie.clone()).await, 200);
    let (_, value) = cookie.split_once('=').unwrap();
    // Another port or a host beside ours could have set this one.
    assert_eq!(read(format!("deskhand={value}")).await, 401);
    // The proxy asks for our address, and the page has its public one.
    let headers = [("cookie", &*cookie), ("origin", "https://desk.example")];
    let made = ask(&world, Method::POST, "/api/sessions", &headers).await;
    assert_eq!(made.status(), 201);
}

#[tokio::test]
async fn every_answer_keeps_other_sites_out() {
    let world = World::start(&[]).await;
    for path in ["/", "/health", "/api/me", "/api/nothing"] {
        let answer = ask(&world, Method::GET, path, &[]).await;
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin");
        assert!(header("permissions-policy").contains("camera=()"));
        assert_eq!(header("x-content-type-options"), "nosniff");
    }
}

#[tokio::test]
async fn wrong_tokens_are_limited_and_hold_up_nobody_else() {
    let options = WorldOptions {
        wrong_tokens_per_minute: 3,
        ..WorldOptions::default()
    };
    let world = World::with(options).await;
    let client = world.client();
    let stranger = client.with_token("dh_wrong");
    for _ in 0..3 {
        assert_eq!(stranger.get("/api/me").await.status, 401);
    }
    let refused = stranger.get("/api/me").await;
    assert_eq!((refused.status, &*refused.code()), (429, "too_fast"));
    assert!(refused.retry_after.is_some());
    client.get("/api/me").await.good();
}
