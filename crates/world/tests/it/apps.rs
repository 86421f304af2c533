//! Services of sandboxes: tokens, hosts, cookies, other pages, and what ends them.

mod bounds;
mod program;

use std::time::Duration;

use deskhand_testkit::Session;
use deskhand_world::{World, WorldOptions};
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use self::program::{Browser, Listener, code, cookie_of, token};

/// Starts a world with a session whose sandbox runs and has a program on port 3000.
async fn world_with_program() -> (World, Session, Listener) {
    let world = World::start(&[]).await;
    let listener = Listener::start().await;
    world.sandboxes().listen(3000, listener.address, "node");
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    (world, session, listener)
}

async fn share(session: &Session, who: &str, right: &str) {
    let path = session.path(&format!("/people/{who}"));
    session
        .client
        .put(&path, json!({"right": right}))
        .await
        .good();
}

#[tokio::test]
async fn listening_ports_are_shown_and_have_addresses() {
    let (world, session, _listener) = world_with_program().await;
    let client = world.client();
    let ports = client.get(&session.path("/ports")).await.good();
    assert_eq!(
        ports,
        json!({"ports": [{"port": 3000, "program": "node"}], "shared": [], "vscode": true})
    );
    let issued = client.get(&session.path("/sandbox-token")).await.good();
    assert_eq!(issued["service"], "vscode");
    let (id, port) = (&session.id, world.url().rsplit_once(':').unwrap().1);
    let urls = json!({
        "vscode": format!("http://vscode--{id}.localhost:{port}"),
        "port-3000": format!("http://port-3000--{id}.localhost:{port}"),
        "vnc": format!("{}/sessions/{id}?panel=screen", world.url()),
        "ttyd": format!("{}/sessions/{id}?panel=terminal", world.url()),
    });
    assert_eq!(issued["urls"], urls);
    world.sandboxes().close(3000);
    let ports = client.get(&session.path("/ports")).await.good();
    assert_eq!(ports["ports"], json!([]));
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story")]
async fn a_token_opens_one_service_of_one_session_for_an_hour() {
    let (world, session, listener) = world_with_program().await;
    world.sandboxes().listen(3001, listener.address, "node");
    let mut browser = Browser::new(&world, "port-3000", &session.id);
    let token = token(&session, "port-3000").await;

    // Without a token or with a wrong one, there is nothing to see.
    let cut = &token[..token.len() - 2];
    for path in ["/", "/?token=", "/?token=wrong", &format!("/?token={cut}")] {
        let refused = browser.get(path, &[]).await;
        assert_eq!(
            (refused.status().as_u16(), code(&refused)),
            (401, "not_signed_in"),
            "{path}"
        );
    }
    let other = world.client().new_session("scripted/demo").await;
    for (service, id) in [
        ("port-3001", &session.id),
        ("vscode", &session.id),
        ("port-3000", &other.id),
    ] {
        let elsewhere = Browser::new(&world, service, id);
        let refused = elsewhere.get(&format!("/?token={token}"), &[]).await;
        assert_eq!(refused.status(), 401, "{service} of {id}");
    }

    // The exchange: a cookie for this host alone, and the same address without the token.
    let opened = browser
        .get(&format!("//evil.example/a?b=c&token={token}"), &[])
        .await;
    assert_eq!(opened.status(), 303);
    let location = opened.headers()["location"].to_str().unwrap();
    assert_eq!(
        location,
        format!("{}//evil.example/a?b=c", browser.origin())
    );
    let set = opened.headers()["set-cookie"].to_str().unwrap();
    assert!(set.starts_with("deskhand-app="), "{set}");
    assert!(
        set.ends_with("; Path=/; HttpOnly; Max-Age=43200; SameSite=None; Secure; Partitioned"),
        "{set}"
    );
    browser.cookie = cookie_of(opened.headers());
    let seen = browser.get("/a?b=c", &[]).await;
    assert_eq!(seen.status(), 200);
    assert!(
        seen.text()
            .await
            .unwrap()
            .starts_with("GET /a?b=c HTTP/1.1")
    );

    // The cookie is for this service too, and is not a token.
    let mut elsewhere = Browser::new(&world, "port-3001", &session.id);
    elsewhere.cookie.clone_from(&browser.cookie);
    assert_eq!(elsewhere.get("/", &[]).await.status(), 401);
    let (_, value) = browser.cookie.split_once('=').unwrap();
    let fresh = Browser::new(&world, "port-3000", &session.id);
    assert_eq!(
        fresh.get(&format!("/?token={value}"), &[]).await.status(),
        401
    );
    let mut fresh = fresh;
    fresh.cookie = format!("deskhand-app={token}");
    assert_eq!(fresh.get("/", &[]).await.status(), 401);
    // A program's own parameter of this name is the program's.
    let seen = browser
        .get("/login?token=own", &[])
        .await
        .text()
        .await
        .unwrap();
    assert!(seen.starts_with("GET /login?token=own HTTP/1.1"), "{seen}");

    // The cookie outlives the token, but is never replaced: passing the address on ends with it.
    world.pass(Duration::from_mins(70)).await;
    let fresh = Browser::new(&world, "port-3000", &session.id);
    assert_eq!(
        fresh.get(&format!("/?token={token}"), &[]).await.status(),
        401
    );
    let seen = browser.get("/", &[("sec-fetch-user", "?1")]).await;
    assert_eq!(seen.status(), 200);
    let set = seen.headers().get_all("set-cookie").iter();
    let mut set = set.map(|set| set.to_str().unwrap());
    assert!(set.all(|set| !set.starts_with("deskhand")));
    world.pass(Duration::from_hours(11)).await;
    let expired = browser.get("/", &[]).await;
    assert_eq!(
        (expired.status().as_u16(), code(&expired)),
        (401, "not_signed_in")
    );
}

#[tokio::test]
async fn the_dashboard_and_services_do_not_answer_for_each_other() {
    let (world, session, _listener) = world_with_program().await;
    let client = world.client();
    let link = client.post("/api/sign-in-links", json!({})).await.good();
    let (_, sign_in) = link["url"].as_str().unwrap().split_once("code=").unwrap();
    let dashboard = client.sign_in(sign_in).await;
    let browser = Browser::open(&world, &session, "port-3000").await;

    // At the service's host every path is the program's, and nothing of the dashboard counts.
    for path in [
        "/api/me",
        "/health",
        "/api/openapi.json",
        "/metrics",
        "/assets/x.js",
    ] {
        let seen = browser.get(path, &[]).await.text().await.unwrap();
        assert!(seen.starts_with(&format!("GET {path} HTTP/1.1")), "{seen}");
    }
    let mut stranger = browser.clone();
    let bearer = format!("Bearer {}", client.token());
    for (cookie, headers) in [
        (dashboard.clone(), vec![]),
        (String::new(), vec![("authorization", bearer.as_str())]),
    ] {
        stranger.cookie = cookie;
        assert_eq!(stranger.get("/api/me", &headers).await.status(), 401);
    }
    // At the dashboard's host the cookie of a service counts for nothing.
    let mut at_dashboard = browser.clone();
    at_dashboard.host = world.url().strip_prefix("http://").unwrap().to_owned();
    assert_eq!(at_dashboard.get("/api/me", &[]).await.status(), 401);

    // Names that are neither, and requests with two names.
    let id = &session.id;
    for host in [
        format!("port-3000--{id}.localhost.evil.example"),
        format!("x.port-3000--{id}.localhost"),
        format!("port-03000--{id}.localhost"),
        format!("terminal--{id}.localhost"),
        format!("port-3000--{}.localhost", id.replace('-', "")),
        "x.localhost".to_owned(),
    ] {
        let mut other = browser.clone();
        other.host = host;
        let refused = other.get("/api/me", &[]).await;
        assert_eq!(refused.status(), 421, "{}", other.host);
    }
    let twice = format!(
        "GET /api/me HTTP/1.1\r\nHost: {}\r\nHost: localhost\r\n\r\n",
        browser.host
    );
    assert!(raw(&world, &twice).await.starts_with("HTTP/1.1 421 "));
    let absolute = format!(
        "GET http://localhost/api/me HTTP/1.1\r\nHost: {}\r\nCookie: {dashboard}\r\n\r\n",
        browser.host
    );
    assert!(raw(&world, &absolute).await.starts_with("HTTP/1.1 421 "));
}

/// Sends bytes to the server, and returns the beginning of the answer.
async fn raw(world: &World, request: &str) -> String {
    let address = world.url().strip_prefix("http://").unwrap();
    let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 512];
    let n_read = connection.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..n_read]).into_owned()
}

#[tokio::test]
async fn a_program_sees_and_sets_only_what_is_its_own() {
    let (world, session, _listener) = world_with_program().await;
    let mut browser = Browser::open(&world, &session, "port-3000").await;
    browser.cookie = format!("{}; theme=dark; deskhand=x", browser.cookie);
    let origin = browser.origin();
    let headers = [
        ("origin", origin.as_str()),
        ("authorization", "Bearer dh_secret"),
        ("x-forwarded-for", "192.0.2.1"),
    ];
    // Longer than any body of the API may be.
    let body = vec![b'x'; 3 * 1024 * 1024];
    let answer = browser.send(Method::POST, "/form", &headers, body).await;
    let header = |name: &str| {
        let values = answer.headers().get_all(name).iter();
        values
            .map(|value| value.to_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        header("set-cookie"),
        ["own=1; Path=/; SameSite=None; Secure; Partitioned"]
    );
    for name in [
        "access-control-allow-origin",
        "access-control-allow-credentials",
        "clear-site-data",
        "strict-transport-security",
        "x-frame-options",
    ] {
        assert_eq!(header(name), Vec::<String>::new(), "{name}");
    }
    let port = world.url().rsplit_once(':').unwrap().1;
    let ancestors =
        format!("frame-ancestors 'self' http://127.0.0.1:{port} http://localhost:{port}");
    assert_eq!(
        header("content-security-policy"),
        ["img-src 'self'".to_owned(), ancestors]
    );
    assert_eq!(header("cross-origin-resource-policy"), ["same-origin"]);
    let seen = answer.text().await.unwrap();
    assert!(seen.contains("host: localhost:3000\r\n"), "{seen}");
    assert!(seen.contains("origin: http://localhost:3000\r\n"), "{seen}");
    assert!(seen.contains("\r\ncookie: theme=dark\n"), "{seen}");
    assert!(
        !seen.contains("dh_secret") && !seen.contains("192.0.2.1") && !seen.contains("deskhand"),
        "{seen}"
    );
    assert!(seen.ends_with("body: 3145728"), "{seen}");
    // The dashboard shows frames of services only, and nobody shows the dashboard in a frame.
    browser.host = format!("localhost:{port}");
    let dashboard = browser.get("/", &[]).await;
    let policy = dashboard.headers()["content-security-policy"]
        .to_str()
        .unwrap();
    assert!(
        policy.ends_with(&format!("; frame-src http://*.localhost:{port}")),
        "{policy}"
    );
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
}

#[tokio::test]
async fn other_pages_cannot_use_a_service() {
    let (world, session, _listener) = world_with_program().await;
    let browser = Browser::open(&world, &session, "port-3000").await;
    let other = Browser::new(&world, "port-3001", &session.id).origin();
    let cross = ("sec-fetch-site", "cross-site");
    let html = ("accept", "text/html");
    let cases: &[(Method, &[(&str, &str)])] = &[
        (
            Method::GET,
            &[
                cross,
                ("sec-fetch-mode", "no-cors"),
                ("sec-fetch-dest", "image"),
            ],
        ),
        (
            Method::GET,
            &[cross, ("sec-fetch-mode", "cors"), ("origin", &other)],
        ),
        (
            Method::GET,
            &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
        ),
        (
            Method::POST,
            &[
                cross,
                ("sec-fetch-mode", "navigate"),
                ("origin", world.url()),
            ],
        ),
        (Method::POST, &[("origin", &other)]),
        (
            Method::OPTIONS,
            &[("origin", &other), ("access-control-request-method", "PUT")],
        ),
    ];
    for (method, headers) in cases {
        let refused = browser.send(method.clone(), "/", headers, Vec::new()).await;
        assert_eq!(
            (refused.status().as_u16(), code(&refused)),
            (403, "wrong_origin"),
            "{method} {headers:?}"
        );
        assert!(
            refused
                .headers()
                .get("access-control-allow-origin")
                .is_none()
        );
    }
    // A page that leads here does not reach the program: the person is asked, or is on the way from the dashboard.
    let navigation = [cross, ("sec-fetch-mode", "navigate"), html];
    let asked = browser.get("/delete?all", &navigation).await;
    assert_eq!(
        (asked.status().as_u16(), code(&asked)),
        (403, "wrong_origin")
    );
    assert!(asked.text().await.unwrap().contains("Continue"));
    let on_the_way = browser.get("/", &navigation).await;
    assert_eq!(
        (on_the_way.status().as_u16(), code(&on_the_way)),
        (200, "opening")
    );
    assert!(
        on_the_way
            .text()
            .await
            .unwrap()
            .contains(&format!("url={}/", browser.origin()))
    );

    // WebSockets have no other protection than their origin.
    for origin in [other.as_str(), world.url(), "null", "http://evil.example"] {
        let (answer, _) = browser.socket(origin).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{origin}: {answer}");
    }
    let (answer, _) = browser.socket(&browser.origin()).await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
}

#[tokio::test]
async fn answers_and_sockets_end_with_the_right() {
    let (world, session, mut listener) = world_with_program().await;
    let bob = world.client().new_user("bob").await;
    share(&session, "bob", "drive").await;
    let bobs = bob.session(&session.id);
    let browser = Browser::open(&world, &bobs, "port-3000").await;

    let mut events = browser.get("/events", &[]).await;
    assert_eq!(events.chunk().await.unwrap().unwrap(), "data: 1\n\n");
    let (answer, mut socket) = browser.socket(&browser.origin()).await;
    assert!(
        answer.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
        "{answer}"
    );
    socket.write_all(b"anything").await.unwrap();
    let mut echo = [0; 8];
    socket.read_exact(&mut echo).await.unwrap();
    assert_eq!(&echo, b"anything");

    share(&session, "bob", "view").await;
    assert!(events.chunk().await.is_err(), "the answer is cut off");
    assert_eq!(
        socket.read(&mut echo).await.unwrap_or(0),
        0,
        "the socket is closed"
    );
    let mut ended = [
        listener.cut_off.recv().await.unwrap(),
        listener.cut_off.recv().await.unwrap(),
    ];
    ended.sort();
    assert_eq!(ended, ["/events", "/ws"]);
    let refused = browser.get("/", &[]).await;
    assert_eq!(
        (refused.status().as_u16(), code(&refused)),
        (403, "not_allowed")
    );
    let refused = bob
        .get(&bobs.path("/sandbox-token?service=port-3000"))
        .await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "not_allowed")
    );
    // The list of ports is for everybody who may look.
    bob.get(&bobs.path("/ports")).await.good();
}

#[tokio::test]
async fn the_owner_can_share_a_port_with_everybody_in_the_session() {
    let (world, session, mut listener) = world_with_program().await;
    world.sandboxes().listen(3001, listener.address, "node");
    let bob = world.client().new_user("bob").await;
    share(&session, "bob", "view").await;
    let bobs = bob.session(&session.id);
    let shared = session.path("/shared-ports/3000");
    let refused = bob.put(&shared, json!({})).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "not_allowed")
    );
    session.client.put(&shared, json!({})).await.good();
    session.client.put(&shared, json!({})).await.good();
    let ports = bob.get(&bobs.path("/ports")).await.good();
    assert_eq!(ports["shared"], json!([3000]));

    let browser = Browser::open(&world, &bobs, "port-3000").await;
    assert_eq!(browser.get("/", &[]).await.status(), 200);
    for service in ["port-3001", "vscode"] {
        let path = bobs.path(&format!("/sandbox-token?service={service}"));
        assert_eq!(bob.get(&path).await.status, 403, "{service}");
    }
    let mut events = browser.get("/events", &[]).await;
    events.chunk().await.unwrap().unwrap();
    session.client.delete(&shared).await.good();
    assert!(events.chunk().await.is_err(), "the answer is cut off");
    assert_eq!(listener.cut_off.recv().await.unwrap(), "/events");
    assert_eq!(browser.get("/", &[]).await.status(), 403);
    let audit = session.client.get("/api/me/audit").await.good().to_string();
    assert!(
        audit.contains("port.shared") && audit.contains("port.unshared"),
        "{audit}"
    );
}

#[tokio::test]
async fn access_ends_with_the_credential_it_was_given_for() {
    let (world, session, _listener) = world_with_program().await;
    let client = world.client();
    let link = client.post("/api/sign-in-links", json!({})).await.good();
    let (_, sign_in) = link["url"].as_str().unwrap().split_once("code=").unwrap();
    let dashboard = client.sign_in(sign_in).await;
    let path = session.path("/sandbox-token?service=port-3000");
    let issued = client
        .in_browser(Method::GET, &path, &dashboard)
        .await
        .good();
    let mut browser = Browser::new(&world, "port-3000", &session.id);
    let opened = browser
        .get(
            &format!("/?token={}", issued["token"].as_str().unwrap()),
            &[],
        )
        .await;
    browser.cookie = cookie_of(opened.headers());
    assert_eq!(browser.get("/", &[]).await.status(), 200);
    client.sign_out(&dashboard).await;
    assert_eq!(browser.get("/", &[]).await.status(), 401);

    // A token that may only read cannot open what may be changed.
    let reader = json!({"name": "reader", "scope": "read"});
    let reader = client.post("/api/tokens", reader).await.good();
    let reader = client.with_token(reader["token"].as_str().unwrap());
    let refused = reader.get(&path).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "narrow_scope")
    );
}

#[tokio::test]
async fn while_a_person_has_control_others_are_kept_out() {
    let (world, session, mut listener) = world_with_program().await;
    let bob = world.client().new_user("bob").await;
    share(&session, "bob", "drive").await;
    let bobs = bob.session(&session.id);
    let (mine, his) = (
        Browser::open(&world, &session, "port-3000").await,
        Browser::open(&world, &bobs, "port-3000").await,
    );
    let mut events = mine.get("/events", &[]).await;
    events.chunk().await.unwrap().unwrap();
    bobs.take_control(60).await.good();
    assert!(
        !matches!(events.chunk().await, Ok(Some(_))),
        "the answer is cut off"
    );
    assert_eq!(listener.cut_off.recv().await.unwrap(), "/events");
    let refused = mine.get("/", &[]).await;
    assert_eq!(
        (refused.status().as_u16(), code(&refused)),
        (409, "somebody_else_drives")
    );
    assert_eq!(his.get("/", &[]).await.status(), 200);
    bobs.hand_back().await.good();
    assert_eq!(mine.get("/", &[]).await.status(), 200);
}

#[tokio::test]
async fn a_service_says_why_it_does_not_answer() {
    let (world, session, listener) = world_with_program().await;
    let browser = Browser::open(&world, &session, "port-3000").await;
    world.sandboxes().close(3000);
    let nothing = browser.get("/", &[("accept", "text/html,*/*")]).await;
    assert_eq!(
        (nothing.status().as_u16(), code(&nothing)),
        (502, "nothing_listens")
    );
    assert!(
        nothing
            .text()
            .await
            .unwrap()
            .contains("Start your server on port 3000")
    );
    world.sandboxes().listen(3000, listener.address, "node");
    assert_eq!(browser.get("/", &[]).await.status(), 200);

    // VS Code is a service like others.
    world.sandboxes().listen(
        deskhand_testkit::sandboxes::FAKE_CODE_PORT,
        listener.address,
        "node",
    );
    let code_browser = Browser::open(&world, &session, "vscode").await;
    let seen = code_browser.get("/", &[]).await.text().await.unwrap();
    assert!(seen.contains("host: localhost\r\n"), "{seen}");

    session.terminate().await;
    let gone = browser.get("/", &[]).await;
    assert_eq!((gone.status().as_u16(), code(&gone)), (410, "sandbox_gone"));
    let gone = session
        .client
        .get(&session.path("/sandbox-token?service=port-3000"))
        .await;
    assert_eq!((gone.status, gone.code().as_str()), (410, "sandbox_gone"));
    let told = format!("session {} has ended, and its computer is gone", session.id);
    assert_eq!(gone.json()["error"]["message"], told);
    for service in ["port-0", "port-99999", "vnc", "%2e"] {
        let path = session.path(&format!("/sandbox-token?service={service}"));
        assert_eq!(session.client.get(&path).await.status, 400, "{service}");
    }
}

#[tokio::test]
async fn a_public_server_needs_a_domain_for_services() {
    let options = WorldOptions {
        public_url: Some("https://desk.example".to_owned()),
        ..WorldOptions::default()
    };
    let world = World::with(options.clone()).await;
    let session = world.client().new_session("scripted/demo").await;
    let refused = session
        .client
        .get(&session.path("/sandbox-token?service=port-80"))
        .await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (503, "no_apps_domain")
    );
    drop(world);

    let options = WorldOptions {
        apps_domain: Some("apps.example".to_owned()),
        ..options
    };
    let world = World::with(options).await;
    let listener = Listener::start().await;
    world.sandboxes().listen(80, listener.address, "nginx");
    let session = world.client().new_session("scripted/demo").await;
    let issued = session
        .client
        .get(&session.path("/sandbox-token?service=port-80"))
        .await
        .good();
    let url = format!("https://port-80--{}.apps.example", session.id);
    assert_eq!(issued["urls"]["port-80"], url);
    let mut browser = Browser::new(&world, "port-80", &session.id);
    // At localhost there are no services now.
    let token = issued["token"].as_str().unwrap();
    assert_eq!(
        browser.get(&format!("/?token={token}"), &[]).await.status(),
        421
    );
    browser.host = url.strip_prefix("https://").unwrap().to_owned();
    let opened = browser.get(&format!("/?token={token}"), &[]).await;
    let set = opened.headers()["set-cookie"].to_str().unwrap();
    assert!(
        set.starts_with("__Host-deskhand-app=")
            && set.contains("; Secure")
            && !set.contains("Domain"),
        "{set}"
    );
    browser.cookie = cookie_of(opened.headers());
    let seen = browser.get("/", &[]).await;
    let csp = seen
        .headers()
        .get_all("content-security-policy")
        .iter()
        .next_back()
        .unwrap();
    assert_eq!(csp, "frame-ancestors 'self' https://desk.example");
    assert_eq!(seen.status(), 200);
}
