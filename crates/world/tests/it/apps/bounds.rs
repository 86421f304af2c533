//! What a page in a sandbox must not use up: the person's connections and requests, and the computer's rest.

use std::time::Duration;

use deskhand_world::{World, WorldOptions};

use super::{
    program::{Browser, Listener, code},
    world_with_program,
};

/// Headers of a request that a page makes by itself, such as one that loads again and again.
const BY_ITSELF: [(&str, &str); 3] = [
    ("accept", "text/html"),
    ("sec-fetch-site", "same-origin"),
    ("sec-fetch-mode", "navigate"),
];

#[tokio::test]
async fn a_page_in_a_sandbox_cannot_lock_its_viewer_out_of_the_dashboard() {
    let mut options = WorldOptions::default();
    options.connections.sockets_per_user = 2;
    options.requests_per_second = 20;
    let world = World::with(options).await;
    let listener = Listener::start().await;
    world.sandboxes().listen(3000, listener.address, "node");
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    let browser = Browser::open(&world, &session, "port-3000").await;

    let own = browser.origin();
    let (first, second) = (browser.socket(&own).await, browser.socket(&own).await);
    for (answer, _) in [&first, &second] {
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    }
    let (refused, _) = browser.socket(&own).await;
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    while browser.get("/", &[]).await.status() != 429 {}

    // The dashboard asks and opens its streams as before.
    let client = world.client();
    client.get(&session.path("")).await.good();
    let _stream = session.follow(0).await;
    client.bus().await.next().await;
}

#[tokio::test]
async fn a_forgotten_page_lets_the_desktop_sleep_and_a_person_wakes_it() {
    let (world, session, _listener) = world_with_program().await;
    let browser = Browser::open(&world, &session, "port-3000").await;
    world.pass(Duration::from_mins(16)).await;
    assert_eq!(session.show().await["sandbox"], "stopped");
    let asleep = browser.get("/", &BY_ITSELF).await;
    assert_eq!(
        (asleep.status().as_u16(), code(&asleep)),
        (409, "no_sandbox")
    );
    let page = asleep.text().await.unwrap();
    assert!(page.contains("Wake the desktop</a>"), "{page}");
    let program = browser.get("/", &[]).await;
    assert_eq!(code(&program), "no_sandbox");
    let (socket, _) = browser.socket(&browser.origin()).await;
    assert!(socket.starts_with("HTTP/1.1 409 "), "{socket}");
    assert_eq!(session.show().await["sandbox"], "stopped");

    // A click wakes it.
    let clicked = [BY_ITSELF.as_slice(), &[("sec-fetch-user", "?1")]].concat();
    assert_eq!(browser.get("/", &clicked).await.status(), 200);
    assert_eq!(session.show().await["sandbox"], "ready");

    // So does opening it from the dashboard, before the page itself is asked for.
    world.pass(Duration::from_mins(16)).await;
    assert_eq!(session.show().await["sandbox"], "stopped");
    let again = Browser::open(&world, &session, "port-3000").await;
    assert_eq!(session.show().await["sandbox"], "ready");
    assert_eq!(again.get("/", &BY_ITSELF).await.status(), 200);
}

#[tokio::test]
async fn a_cookie_that_another_page_set_does_not_lock_anybody_out() {
    let (world, session, _listener) = world_with_program().await;
    let mut browser = Browser::open(&world, &session, "port-3000").await;
    browser.cookie = format!("deskhand-app=tossed; {}", browser.cookie);
    assert_eq!(browser.get("/", &[]).await.status(), 200);
    browser.cookie = "deskhand-app=tossed".to_owned();
    assert_eq!(browser.get("/", &[]).await.status(), 401);
}

#[tokio::test]
async fn requests_to_services_are_counted() {
    let (world, session, _listener) = world_with_program().await;
    let browser = Browser::open(&world, &session, "port-3000").await;
    assert_eq!(browser.get("/", &[]).await.status(), 200);
    let metrics = world.client().get("/metrics").await.body;
    let metrics = String::from_utf8(metrics).unwrap();
    let counted = r#"deskhand_http_requests_total{route="service",method="GET",status="200"}"#;
    assert!(metrics.contains(counted), "{metrics}");
}

#[tokio::test]
async fn without_vs_code_the_addresses_of_the_panels_are_still_returned() {
    let mut options = WorldOptions::default();
    options.settings.has_code = false;
    let world = World::with(options).await;
    let session = world.client().new_session("scripted/demo").await;
    let issued = session.client.get(&session.path("/sandbox-token")).await;
    let urls = &issued.good()["urls"];
    let panel = |name: &str| format!("{}/sessions/{}?panel={name}", world.url(), session.id);
    assert_eq!(urls["vnc"], panel("screen"));
    assert_eq!(urls["ttyd"], panel("terminal"));
    assert!(urls.get("vscode").is_none(), "{urls}");
    let path = session.path("/sandbox-token?service=vscode");
    let refused = session.client.get(&path).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (503, "no_code_server")
    );
}
