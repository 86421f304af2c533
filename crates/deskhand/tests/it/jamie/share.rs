//! The last mile `share`, with a real sandbox and Chromium, against a stand-in for Discord's web client.

use std::{path::Path, time::Duration};

use deskhand_core::{id::RequestId, tasks::Tasks};
use deskhand_testkit::{Client, Server, ServerOptions, not_run};
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::Instant};

use super::{
    BROWSER, HOST, serve_site,
    stand_in::{EMAIL, NAME, PASSWORD, SignInAnswer, StandIn},
};
use crate::world::serve_with;

/// The longest time for one thing.
const LONGEST: Duration = Duration::from_secs(60);

struct Walk {
    client: StandIn,
    server: Server,
    http: Client,
    video: String,
    _site: Tasks,
}

impl Walk {
    /// Starts everything, with the account's secrets stored. Returns nothing where there is no browser.
    async fn start() -> Option<Self> {
        if !Path::new(BROWSER).exists() {
            not_run("Chromium is not installed");
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let video = format!("http://{HOST}:{}/", listener.local_addr().unwrap().port());
        let site = Tasks::default();
        site.spawn("site", serve_site(listener));
        let client = StandIn::start().await;
        let server = serve(&client);
        let http = server.client();
        let put = async |name: &str, body: Value| {
            let stored = http.put(&format!("/api/secrets/{name}"), body).await;
            assert_eq!(stored.status, 204, "{:?}", stored.code());
        };
        let origins = json!([client.url]);
        put("discord-email", json!({"value": EMAIL, "origins": origins})).await;
        put(
            "discord-password",
            json!({"value": PASSWORD, "origins": origins}),
        )
        .await;
        // Pages may capture tabs only over TLS. For the sites of such a secret, the sandbox trusts a certificate.
        let token = json!({
            "value": "for-its-certificate", "origins": origins,
            "http": {"headers": ["authorization"], "env": "CLIENT_TOKEN"},
        });
        put("certificate", token).await;
        Some(Self {
            client,
            server,
            http,
            video,
            _site: site,
        })
    }

    async fn ask(&self) -> String {
        let id = RequestId::new().to_string();
        let request = json!({
            "session_id": id, "url": self.video,
            "guild_id": 123_456_789_012_345_678_u64, "channel_id": 987_654_321_098_765_432_u64,
            "channel_name": "Movie Night",
        });
        self.http.post("/jamie/stream", request).await.good();
        id
    }

    /// Waits until a stream has one of these states, or another end.
    async fn until(&self, id: &str, status: &str) -> Value {
        let began = Instant::now();
        loop {
            let path = format!("/jamie/session/{id}");
            let view = self.http.get(&path).await.good();
            let now = view["status"].as_str().unwrap();
            if now == status || now == "failed" || now == "ended" {
                assert_eq!(now, status, "{view}\n{}", self.server.log());
                return view;
            }
            assert!(began.elapsed() < LONGEST, "{view}\n{}", self.server.log());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until the stand-in is as expected.
    async fn until_client(&self, what: &str, is_so: impl Fn(&StandIn) -> bool) {
        let began = Instant::now();
        while !is_so(&self.client) {
            let state = format!("{:?}", self.client.state());
            assert!(
                began.elapsed() < LONGEST,
                "{what}: {state}\n{}",
                self.server.log()
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until the picture and the tone that the stand-in gets are those of the video.
    async fn until_received(&self) {
        self.client.state().received = super::stand_in::Received::default();
        self.until_client("the bar and the tone", |client| {
            let received = client.state().received.clone();
            let mut places = received.places.clone();
            places.sort_unstable();
            places.dedup();
            let is_bar_moving = received.frames > 20 && places.len() >= 8;
            let is_filled = received.blue > 0.5;
            let is_tone = (received.hertz - 440.0).abs() < 15.0;
            is_bar_moving && is_filled && is_tone
        })
        .await;
    }

    async fn stop(&self, id: &str) {
        let path = format!("/jamie/stop/{id}");
        self.http
            .post(&path, json!({"reason": "user_requested"}))
            .await
            .good();
    }

    fn count(&self, event: &str) -> usize {
        let state = self.client.state();
        state.events.iter().filter(|one| *one == event).count()
    }
}

fn serve(client: &StandIn) -> Server {
    let authority = client.folder.path().join("ca.pem").display().to_string();
    let variables = [
        ("SSL_CERT_FILE", authority.as_str()),
        ("DESKHAND_NETWORK_ALLOW", "127.0.0.0/8"),
        ("DESKHAND_JAMIE_CONTROLLER", "true"),
        ("DESKHAND_JAMIE_LAST_MILE", "share"),
        ("DESKHAND_JAMIE_SHARE_ALTHOUGH_DISCORD_FORBIDS_IT", "true"),
        ("DESKHAND_JAMIE_SHARE_EMAIL_SECRET", "discord-email"),
        ("DESKHAND_JAMIE_SHARE_PASSWORD_SECRET", "discord-password"),
        ("DESKHAND_JAMIE_SHARE_CLIENT_URL", client.url.as_str()),
    ];
    let names = [HOST, NAME];
    serve_with(ServerOptions {
        variables: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        hosts: names
            .map(|name| (name.to_owned(), "127.0.0.1".to_owned()))
            .into(),
        ..ServerOptions::default()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_page_arrives_in_the_channel_with_its_sound_and_comes_back_after_a_drop() {
    let Some(walk) = Walk::start().await else {
        return;
    };
    let asked_at = Instant::now();
    let id = walk.ask().await;
    let view = walk.until(&id, "streaming").await;
    let live = asked_at.elapsed();
    assert_eq!(view["agent_iterations"], 0, "no model was needed");
    assert_eq!(
        view["watch_url"],
        Value::Null,
        "people watch in the channel"
    );
    walk.until_received().await;

    walk.client.state().n_drops += 1;
    walk.until_client("a second share", |_| walk.count("shared") == 2)
        .await;
    walk.until_received().await;
    assert_eq!(walk.count("dropped"), 1);
    assert_eq!(walk.count("joined"), 2);

    let stopped_at = Instant::now();
    walk.stop(&id).await;
    let ended = stopped_at.elapsed();
    walk.until(&id, "ended").await;
    assert_eq!((walk.count("stopped"), walk.count("left")), (1, 1));

    // The next stream is still signed in.
    let id = walk.ask().await;
    walk.until(&id, "streaming").await;
    assert_eq!(walk.client.state().n_sign_ins, 1);
    walk.stop(&id).await;
    for canary in [EMAIL, PASSWORD] {
        assert!(
            !walk.server.log().contains(canary),
            "{canary} is not logged"
        );
    }
    assert!(
        walk.server
            .log()
            .contains("Discord forbids automated user accounts")
    );
    crate::world::say(&format!("shared in {live:.1?}, left in {ended:.1?}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_the_account_from_sharing_has_its_code() {
    let Some(walk) = Walk::start().await else {
        return;
    };
    for (answer, code) in [
        (SignInAnswer::Wrong, "ERR_INVALID_CREDS"),
        (SignInAnswer::SecondFactor, "ERR_2FA_REQUIRED"),
        (SignInAnswer::Captcha, "ERR_CAPTCHA"),
    ] {
        walk.client.state().sign_in = answer;
        let id = walk.ask().await;
        let view = walk.until(&id, "failed").await;
        assert_eq!(view["error_code"], code, "{view}");
    }
    assert!(!walk.client.state().is_touched, "nobody tried to get past");
    walk.client.state().sign_in = SignInAnswer::Welcome;
    walk.client.state().has_channel = false;
    let id = walk.ask().await;
    let view = walk.until(&id, "failed").await;
    assert_eq!(view["error_code"], "ERR_CHANNEL_NOT_FOUND", "{view}");
    walk.client.state().has_channel = true;
    walk.client.state().refuses_share = true;
    let id = walk.ask().await;
    let view = walk.until(&id, "failed").await;
    assert_eq!(view["error_code"], "ERR_SHARE_FAILED", "{view}");
    assert_eq!(walk.count("joined"), 4, "the first try, and three more");
}
