//! Streams as administrators see them over the API: now, earlier, in figures, and how they are set up.

use deskhand_api::streams::{
    ActiveStreamsView, StreamCheckState, StreamFiguresView, StreamSetupView, StreamsView,
};
use deskhand_core::{id::RequestId, stream::StreamState};
use deskhand_testkit::sandboxes::FakePage;
use deskhand_world::World;
use serde_json::json;

use super::{StreamWorld, VIDEO};

/// A page that answers with an error.
const GONE: &str = "https://videos.example/gone";

impl StreamWorld {
    async fn history(&self, query: &str) -> StreamsView {
        let path = format!("/api/streams{query}");
        self.world.client().get(&path).await.view()
    }

    async fn figures(&self) -> StreamFiguresView {
        let path = "/api/streams/figures";
        self.world.client().get(path).await.view()
    }

    async fn active(&self) -> ActiveStreamsView {
        let path = "/api/streams/active";
        self.world.client().get(path).await.view()
    }
}

#[tokio::test]
async fn administrators_see_streams_while_they_run_and_afterwards() {
    let world = StreamWorld::start().await;
    assert!(world.history("").await.streams.is_empty());
    assert_eq!(world.figures().await.total_sessions, 0);

    let watched = world.ask(VIDEO).await;
    world.until_streaming(&watched).await;
    let active = world.active().await.streams;
    assert_eq!(active.len(), 1);
    let stream = &active[0];
    assert_eq!(stream.id.to_string(), watched);
    assert_eq!(stream.state, StreamState::Streaming);
    assert_eq!(stream.url, VIDEO);
    // These ids have more digits than the numbers of JavaScript.
    assert_eq!(stream.guild_id, "123456789012345678");
    assert_eq!(stream.channel_id, "987654321098765432");
    assert_eq!(stream.requester_id.as_deref(), Some("7"));
    assert_eq!(stream.session, Some(world.session().await));
    assert!(stream.watch_url.as_ref().unwrap().contains("/watch/"));

    let stop = format!("/api/streams/{watched}/stop");
    world.world.client().post(&stop, json!({})).await.good();
    assert!(world.active().await.streams.is_empty());
    let again = world.world.client().post(&stop, json!({})).await;
    assert_eq!((again.status, again.code()), (404, "no_stream".to_owned()));

    let gone = FakePage {
        status: Some(404),
        player: None,
    };
    world.pages.put(GONE, gone);
    let failed = world.ask(GONE).await;
    world.until_over(&failed).await;
    let first = world.history("?limit=1").await;
    assert_eq!(first.streams[0].id.to_string(), failed);
    assert_eq!(first.streams[0].state, StreamState::Failed);
    assert!(first.streams[0].error_code.is_some());
    assert!(first.streams[0].error_message.is_some());
    let next = first.next.expect("an older stream");
    let second = world.history(&format!("?limit=1&before={next}")).await;
    assert_eq!(second.streams[0].id.to_string(), watched);
    assert_eq!(second.streams[0].state, StreamState::Ended);
    assert_eq!(second.streams[0].watch_url, None);
    assert_eq!(second.next, None);

    let figures = world.figures().await;
    assert_eq!(
        (
            figures.total_sessions,
            figures.successful_sessions,
            figures.failed_sessions
        ),
        (2, 1, 1)
    );
    assert!(figures.total_streaming_seconds >= 0.0);
}

#[tokio::test]
async fn streams_are_for_administrators_only() {
    let world = StreamWorld::start().await;
    let client = world.world.client();
    let other = client.new_user("berta").await;
    let reader = json!({"name": "reader", "scope": "write"});
    let made = client.post("/api/tokens", reader).await.good();
    let narrow = client.with_token(made["token"].as_str().unwrap());
    for path in ["", "/active", "/figures", "/setup"] {
        let path = format!("/api/streams{path}");
        let answer = other.get(&path).await;
        assert_eq!(
            (answer.status, answer.code()),
            (403, "not_administrator".to_owned()),
            "{path}"
        );
        assert_eq!(narrow.get(&path).await.code(), "narrow_scope", "{path}");
        assert_eq!(client.with_token("").get(&path).await.status, 401, "{path}");
    }
    let stop = format!("/api/streams/{}/stop", RequestId::new());
    assert_eq!(other.post(&stop, json!({})).await.status, 403);
    assert_eq!(client.post(&stop, json!({})).await.code(), "no_stream");

    // Another administrator sees the stream, but not a link to a session that is not theirs.
    let id = world.ask(VIDEO).await;
    world.until_streaming(&id).await;
    let berta = client.get("/api/users").await.good();
    let berta = berta["users"].as_array().unwrap().iter();
    let berta = berta.clone().find(|user| user["name"] == "berta").unwrap();
    let path = format!("/api/users/{}", berta["id"].as_str().unwrap());
    client.patch(&path, json!({"role": "admin"})).await.good();
    let seen: ActiveStreamsView = other.get("/api/streams/active").await.view();
    assert_eq!(seen.streams[0].session, None);
    assert!(seen.streams[0].watch_url.is_some());
}

#[tokio::test]
async fn the_settings_are_checked_and_each_problem_has_a_way_out() {
    let world = StreamWorld::start().await;
    let client = world.world.client();
    let setup: StreamSetupView = client.get("/api/streams/setup").await.view();
    assert!(setup.is_on);
    let names: Vec<_> = setup.checks.iter().map(|check| &*check.name).collect();
    let expected = [
        "streams",
        "bot",
        "public_url",
        "computers",
        "network",
        "model",
        "last_mile",
        "activity",
        "webhooks",
    ];
    assert_eq!(names, expected);
    for check in &setup.checks {
        let is_ok = check.state == StreamCheckState::Ok;
        assert_eq!(check.remedy.is_none(), is_ok, "{check:?}");
    }
    // A test has neither encryption nor a vendor's key.
    let state = |name: &str| {
        let found = setup.checks.iter().find(|check| check.name == name);
        found.unwrap().state
    };
    assert_eq!(state("public_url"), StreamCheckState::Warning);
    assert_eq!(state("model"), StreamCheckState::Warning);
    assert_eq!(state("computers"), StreamCheckState::Ok);
}

#[tokio::test]
async fn a_server_without_streams_says_how_to_have_them() {
    let world = World::start(&[]).await;
    let client = world.client();
    let setup: StreamSetupView = client.get("/api/streams/setup").await.view();
    assert!(!setup.is_on);
    assert_eq!(setup.checks[0].state, StreamCheckState::Failed);
    let remedy = setup.checks[0].remedy.as_deref().unwrap();
    assert!(remedy.contains("jamie.token"), "{remedy}");
    let listed: StreamsView = client.get("/api/streams").await.view();
    assert!(listed.streams.is_empty());
    let stop = format!("/api/streams/{}/stop", RequestId::new());
    let answer = client.post(&stop, json!({})).await;
    assert_eq!(
        (answer.status, answer.code()),
        (409, "no_streams".to_owned())
    );
}
