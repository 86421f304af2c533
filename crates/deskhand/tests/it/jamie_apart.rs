//! The Discord bot as a process of its own: signed webhooks reach it, and after `kill -9` another one goes on.

use std::net::TcpListener;

use deskhand_core::{
    clock::{Clock, SystemClock},
    secret::Secret,
};
use deskhand_streams::{SIGNATURE_HEADER, WebhookKey};
use deskhand_testkit::{
    ServerOptions,
    discord::{Discord, TOKEN},
};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    program::{Place, Started},
    world::serve_with,
};

const KEY: &str = "a key that both sides know";
/// A computer that takes longer to start than the test does, so that the stream stays where it is.
const SLOW_COMPUTER: &str = "#!/bin/sh\nexec sleep 60\n";

/// A bot, and the place that it runs in.
struct BotProgram {
    place: Place,
    server: String,
    /// The address at which it receives webhooks.
    listens: String,
}

impl BotProgram {
    fn new(discord: &Discord, server: String, server_token: &str) -> Self {
        // Another program could take the port before the bot does, but nothing else here asks for one.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let listens = free.local_addr().unwrap().to_string();
        let place = Place::new()
            .with("DESKHAND_JAMIE_TOKEN", TOKEN)
            .with("DESKHAND_JAMIE_API_URL", &discord.url)
            .with(
                "DESKHAND_JAMIE_GATEWAY_URL",
                &discord.url.replace("http", "ws"),
            )
            .with("DESKHAND_JAMIE_WEBHOOK_KEY", KEY)
            .with("DESKHAND_TOKEN", server_token);
        Self {
            place,
            server,
            listens,
        }
    }

    fn webhook_url(&self) -> String {
        format!("http://{}/jamie/status", self.listens)
    }

    fn start(&self) -> Started {
        let webhook_url = self.webhook_url();
        self.place.start(&[
            "jamie",
            "--server",
            &self.server,
            "--listen",
            &self.listens,
            "--webhook-url",
            &webhook_url,
        ])
    }

    /// Sends the bot an update, and returns the status and the body of its answer.
    async fn send(&self, signature: &str, body: &str) -> (u16, String) {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = http
            .post(self.webhook_url())
            .header(SIGNATURE_HEADER, signature)
            .body(body.to_owned());
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }
}

fn has_identified(times: u64) -> impl Fn(&Value) -> bool {
    move |state| state["identified"].as_u64().unwrap() >= times
}

#[tokio::test]
async fn a_bot_that_runs_apart_is_told_by_signed_webhooks_and_replaced_after_a_crash() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let tools = Place::new();
    let computer = tools.write("computer", SLOW_COMPUTER);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&computer, executable).unwrap();
    let variables = [
        ("DESKHAND_JAMIE_CONTROLLER", "true"),
        ("DESKHAND_JAMIE_WEBHOOK_KEY", KEY),
        ("DESKHAND_JAMIE_PRIVATE_WEBHOOKS", "true"),
        ("DESKHAND_SANDBOX_BUBBLEWRAP", computer.as_str()),
    ];
    let server = serve_with(ServerOptions {
        variables: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..ServerOptions::default()
    });
    let bot = BotProgram::new(&discord, server.url(), &server.token());
    let first = bot.start();
    discord
        .wait_until("the first bot to be connected", has_identified(1))
        .await;
    let friends = discord.server("Friends").await;
    let anna = friends.member("anna").await;
    anna.join(&friends).await;

    // The bot does not ask by itself, so it knows of the start from a webhook.
    let status = anna.hear("https://videos.example/1").await;
    anna.wait_for_text("🔄 **starting**").await;

    let active = server.client().get("/jamie/sessions").await.good();
    let id = active[0]["session_id"].as_str().unwrap().to_owned();
    let now = SystemClock.now();
    let update = json!({"session_id": id, "status": "starting", "timestamp": now});
    let update = update.to_string();
    let right = WebhookKey(Secret::new(KEY)).sign(update.as_bytes(), now);
    let wrong = WebhookKey(Secret::new("another key")).sign(update.as_bytes(), now);
    let (code, answer) = bot.send(&right, &update).await;
    assert_eq!((code, answer.as_str()), (200, r#"{"status":"processed"}"#));
    let (code, answer) = bot.send(&wrong, &update).await;
    assert_eq!(code, 401);
    assert!(answer.contains("jamie.webhook_key"), "{answer}");
    assert_eq!(bot.send(&right, "{}").await.0, 401, "of another body");

    first.signal(Signal::KILL);
    drop(first);
    let second = bot.start();
    discord
        .wait_until("the second bot to be connected", has_identified(2))
        .await;
    anna.write("stop").await;
    anna.wait_for_text("Stream ended").await;
    let messages = anna
        .wait_for("the end in the first message", |messages| {
            messages[0].text.starts_with("✅ **ended**")
        })
        .await;
    assert_eq!(messages[0].id, status.id, "it is still the same message");
    let active = server.client().get("/jamie/sessions").await.good();
    assert_eq!(active, json!([]));

    second.signal(Signal::TERM);
    let ended = second.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let logs = [ended.stdout, ended.stderr, server.log()];
    for secret in [TOKEN, KEY, &server.token()] {
        assert!(!logs.iter().any(|log| log.contains(secret)), "{secret}");
    }
}
