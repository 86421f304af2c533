//! The last mile `share`: the steps in a web client, and everything that keeps an account from sharing.

use std::time::Duration;

use deskhand_core::vault::Origin;
use deskhand_jamie::contract::StreamState;
use deskhand_streams::{LastMile, ShareSettings, StreamSettings};
use deskhand_testkit::sandboxes::{FakeClient, FakePage};
use serde_json::json;

use super::{StreamWorld, VIDEO, request, settings};

const CLIENT: &str = "https://client.example";
const PASSWORD: &str = "Canary-of-the-account";

fn share_settings(profile: &std::path::Path) -> StreamSettings {
    StreamSettings {
        last_mile: LastMile::Share(ShareSettings {
            client_url: CLIENT.to_owned(),
            email: "email".parse().unwrap(),
            password: "password".parse().unwrap(),
            profile: profile.join("account.json"),
        }),
        ..settings()
    }
}

/// A server whose account shares in a web client.
struct ShareWorld {
    streams: StreamWorld,
    _folder: tempfile::TempDir,
}

impl ShareWorld {
    async fn start(change: impl FnOnce(&mut FakeClient)) -> Self {
        Self::with(change, |_| {}, &[]).await
    }

    async fn with(
        change: impl FnOnce(&mut FakeClient),
        set: impl FnOnce(&mut StreamSettings),
        scenarios: &[(&str, &str)],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = share_settings(folder.path());
        set(&mut settings);
        let streams = StreamWorld::with(settings, scenarios).await;
        let mut client = FakeClient::new(CLIENT.parse::<Origin>().unwrap());
        change(&mut client);
        streams.pages.put_client(client);
        for (name, value) in [("email", "jamie@streams.example"), ("password", PASSWORD)] {
            let body = json!({"value": value, "origins": [CLIENT]});
            let path = format!("/api/secrets/{name}");
            let stored = streams.world.client().put(&path, body).await;
            assert_eq!(stored.status, 204);
        }
        Self {
            streams,
            _folder: folder,
        }
    }

    fn client(&self) -> FakeClient {
        self.streams.pages.client()
    }
}

/// Returns the code with which a stream fails, and the seconds that it took.
async fn failure(change: impl FnOnce(&mut FakeClient)) -> (String, i64) {
    ShareWorld::start(change).await.streams.failure(VIDEO).await
}

#[tokio::test]
async fn an_account_signs_in_joins_and_shares_until_the_stream_is_stopped() {
    let world = ShareWorld::start(|_| {}).await;
    let id = world.streams.ask(VIDEO).await;
    let view = world.streams.until_streaming(&id).await;
    assert_eq!(view.watch_url, None, "people watch in the channel");
    assert_eq!(world.streams.world.links().n_open(), 0);
    let client = world.client();
    assert!(client.is_joined && client.shared_at.is_some());
    assert_eq!((client.n_sign_ins, client.n_shares), (1, 1));
    world.streams.stop(&id).await.good();
    let client = world.client();
    assert!(!client.is_joined && client.shared_at.is_none());
    assert!(!world.streams.world.log().contains(PASSWORD));
}

#[tokio::test]
async fn a_drop_is_joined_and_shared_again() {
    let world = ShareWorld::start(|_| {}).await;
    let id = world.streams.ask(VIDEO).await;
    world.streams.until_streaming(&id).await;
    world
        .streams
        .pages
        .change_client(FakeClient::drop_connection);
    world.streams.world.pass(Duration::from_secs(15)).await;
    let view = world.streams.view(&id).await;
    assert_eq!(view.status, StreamState::Streaming, "{view:?}");
    let client = world.client();
    assert!(client.is_joined && client.shared_at.is_some());
    assert_eq!((client.n_sign_ins, client.n_shares), (1, 2));
    assert!(world.streams.world.log().contains("ERR_STREAM_DROPPED"));
}

#[tokio::test]
async fn a_share_that_drops_again_and_again_fails() {
    let world = ShareWorld::start(|_| {}).await;
    let id = world.streams.ask(VIDEO).await;
    world.streams.until_streaming(&id).await;
    while world.streams.view(&id).await.status == StreamState::Streaming {
        world
            .streams
            .pages
            .change_client(FakeClient::drop_connection);
        world.streams.world.pass(Duration::from_secs(5)).await;
    }
    let view = world.streams.view(&id).await;
    assert_eq!(view.error_code.unwrap().name(), "ERR_STREAM_DROPPED");
    assert!(
        world.client().n_shares >= 4,
        "the first one, and three tries"
    );
}

#[tokio::test]
async fn what_the_form_answers_has_its_code() {
    for (notice, code) in [
        ("Login or password is invalid.", "ERR_INVALID_CREDS"),
        ("Wait! Are you human?", "ERR_CAPTCHA"),
        ("Enter your authentication code", "ERR_2FA_REQUIRED"),
        ("New login location detected", "ERR_LOGIN_FAILED"),
        ("Something else", "ERR_LOGIN_FAILED"),
    ] {
        let (found, _) = failure(|client| client.notice = Some(notice.to_owned())).await;
        assert_eq!(found, code, "{notice}");
    }
}

#[tokio::test]
async fn an_account_that_is_limited_tries_three_times_more() {
    let limited = "You are being rate limited.";
    let world = ShareWorld::start(|client| client.notice = Some(limited.to_owned())).await;
    let (code, _) = world.streams.failure(VIDEO).await;
    assert_eq!(code, "ERR_DISCORD_RATE_LIMIT");
    assert_eq!(world.client().n_sign_ins, 4);
}

#[tokio::test]
async fn a_channel_that_the_account_does_not_see_is_not_found() {
    let (code, took) = failure(|client| client.has_channel = false).await;
    assert_eq!(code, "ERR_CHANNEL_NOT_FOUND");
    assert!(took < 10, "{took} s");
    let (code, _) = failure(|client| client.can_join = false).await;
    assert_eq!(code, "ERR_CHANNEL_NOT_FOUND");
}

#[tokio::test]
async fn a_page_that_cannot_be_shared_is_tried_four_times() {
    let world = ShareWorld::with(
        |client| client.can_share = false,
        |settings| settings.start_timeout = Duration::from_secs(300),
        &[],
    )
    .await;
    let (code, took) = world.streams.failure(VIDEO).await;
    assert_eq!(code, "ERR_SHARE_FAILED");
    assert!(took >= 7 + 4 * 10, "{took} s");
}

#[tokio::test]
async fn a_page_that_cannot_be_loaded_is_not_shared() {
    let world = ShareWorld::start(|_| {}).await;
    let gone = "https://videos.example/gone";
    world.streams.pages.put(gone, FakePage::error(404));
    let (code, _) = world.streams.failure(gone).await;
    assert_eq!(code, "ERR_URL_UNREACHABLE");
    let client = world.client();
    assert_eq!((client.is_joined, client.n_shares), (false, 0));
}

#[tokio::test]
async fn without_its_secrets_the_account_is_not_valid() {
    let world = ShareWorld::start(|_| {}).await;
    let client = world.streams.world.client();
    client.delete("/api/secrets/password").await.good();
    let id = world.streams.ask(VIDEO).await;
    let view = world.streams.until_over(&id).await;
    assert_eq!(view.error_code.unwrap().name(), "ERR_INVALID_CREDS");
    assert_eq!(world.client().n_sign_ins, 0, "half a form is not sent");
}

#[tokio::test]
async fn pages_of_the_client_itself_are_not_shared() {
    let world = ShareWorld::start(|_| {}).await;
    let own = format!("{CLIENT}/channels/@me");
    let answer = world.streams.post(request(&own)).await;
    assert_eq!(answer.json()["error"], "ERR_INVALID_URL");
}

#[tokio::test]
async fn a_model_is_asked_when_a_control_is_missing_and_its_word_is_checked() {
    for (outcome, code) in [
        ("done", "ERR_CHANNEL_NOT_FOUND"),
        ("channel_not_found", "ERR_CHANNEL_NOT_FOUND"),
        ("captcha", "ERR_CAPTCHA"),
        ("stuck", "ERR_AGENT_STUCK"),
    ] {
        let yaml = format!("steps:\n  - text: '{{\"outcome\": \"{outcome}\"}}'\n");
        let world = ShareWorld::with(
            |client| client.can_join = false,
            |settings| settings.model = Some("scripted/helper".to_owned()),
            &[("helper", &yaml)],
        )
        .await;
        let id = world.streams.ask(VIDEO).await;
        let view = world.streams.until_over(&id).await;
        assert_eq!(view.error_code.unwrap().name(), code, "{outcome}");
        assert!(view.agent_iterations >= 1, "{view:?}");
    }
}
