//! Streams: their states, their queue, and everything that goes wrong with them.

mod activity;
mod faults;
mod life;
mod log_events;
mod models;
mod people;
mod places;
mod records;
mod restarts;
mod share;
mod webhooks;

use std::time::Duration;

use deskhand_core::id::{RequestId, SessionId};
use deskhand_jamie::contract::{SessionView, StreamState};
use deskhand_streams::{LastMile, StreamSettings};
use deskhand_testkit::{
    Answer,
    sandboxes::{FakePage, FakePages},
};
use deskhand_world::{Ending, World, WorldOptions};
use serde_json::{Value, json};

const VIDEO: &str = "https://videos.example/1";
/// The most seconds that a test lets pass for one thing.
const LONGEST_SECONDS: u64 = 600;

fn settings() -> StreamSettings {
    StreamSettings {
        owner: None,
        at_once: 1,
        model: None,
        budget_usd: 2.0,
        most_steps: 50,
        block: vec!["blocked.example".parse().unwrap()],
        start_timeout: Duration::from_secs(120),
        longest: Duration::from_hours(1),
        webhook_key: None,
        private_webhooks: false,
        last_mile: LastMile::Watch,
    }
}

/// A server that runs streams, and the pages that its browsers find.
struct StreamWorld {
    world: World,
    pages: FakePages,
}

impl StreamWorld {
    async fn start() -> Self {
        Self::with(settings(), &[]).await
    }

    async fn with(settings: StreamSettings, scenarios: &[(&str, &str)]) -> Self {
        Self::on(settings, WorldOptions::default().knowing(scenarios)).await
    }

    async fn on(settings: StreamSettings, options: WorldOptions) -> Self {
        let streams = Some(settings);
        let world = World::with(WorldOptions { streams, ..options }).await;
        let pages = world.sandboxes().pages();
        pages.put(VIDEO, FakePage::video());
        Self { world, pages }
    }

    /// Starts a server whose model plays this scenario.
    async fn with_model(yaml: &str, change: impl FnOnce(&mut StreamSettings)) -> Self {
        let mut settings = settings();
        settings.model = Some("scripted/helper".to_owned());
        change(&mut settings);
        Self::with(settings, &[("helper", yaml)]).await
    }

    /// Starts the server again, with these settings.
    async fn restart(&mut self, change: impl FnOnce(&mut StreamSettings)) {
        self.world.end(Ending::InOrder).await;
        self.world.change_streams(change);
        self.world.open().await;
        self.pages = self.world.sandboxes().pages();
    }

    async fn post(&self, request: Value) -> Answer {
        self.world.client().post("/jamie/stream", request).await
    }

    /// Asks for a stream, which is accepted.
    async fn ask(&self, url: &str) -> String {
        let request = request(url);
        let answer = self.post(request.clone()).await.good();
        assert_eq!(answer["status"], "accepted", "{answer}");
        request["session_id"].as_str().unwrap().to_owned()
    }

    async fn view(&self, id: &str) -> SessionView {
        let path = format!("/jamie/session/{id}");
        self.world.client().get(&path).await.view()
    }

    async fn stop(&self, id: &str) -> Answer {
        let path = format!("/jamie/stop/{id}");
        let reason = json!({"reason": "administrator_requested"});
        self.world.client().post(&path, reason).await
    }

    /// Lets time pass until a stream is as expected.
    async fn until(&self, id: &str, is_so: impl Fn(&SessionView) -> bool) -> SessionView {
        let mut view = self.view(id).await;
        for _ in 0..LONGEST_SECONDS {
            if is_so(&view) {
                return view;
            }
            self.world.pass(Duration::from_secs(1)).await;
            view = self.view(id).await;
        }
        panic!("it stays {view:?}\n{}", self.world.log());
    }

    async fn until_streaming(&self, id: &str) -> SessionView {
        let has_settled =
            |view: &SessionView| view.status == StreamState::Streaming || view.status.is_final();
        let view = self.until(id, has_settled).await;
        assert_eq!(view.status, StreamState::Streaming, "{view:?}");
        view
    }

    async fn until_over(&self, id: &str) -> SessionView {
        self.until(id, |view| view.status.is_final()).await
    }

    /// Asks for a stream that fails, and returns the name of its error and the seconds that it took.
    async fn failure(&self, url: &str) -> (String, i64) {
        let id = self.ask(url).await;
        let view = self.until_over(&id).await;
        assert_eq!(view.status, StreamState::Failed, "{view:?}");
        let took = view.ended_at.unwrap().as_second() - view.created_at.as_second();
        (view.error_code.unwrap().name().to_owned(), took)
    }

    /// Returns the newest session, which shows the stream.
    async fn session(&self) -> SessionId {
        let sessions = self.world.client().get("/api/sessions").await.good();
        let id = sessions["sessions"][0]["id"].as_str().unwrap();
        id.parse().unwrap()
    }

    /// Opens the database of the server, which goes on using it.
    fn database(&self) -> rusqlite::Connection {
        let file = self.world.folder().join("deskhand.db");
        rusqlite::Connection::open(file).unwrap()
    }

    /// Returns true if a stream was tried again.
    fn was_tried_again(&self) -> bool {
        self.world.log().contains("a stream is tried again")
    }

    /// Returns how often the log has an event of this name.
    fn n_logged(&self, event: &str) -> usize {
        self.world.log().matches(&format!("\"{event}\"")).count()
    }
}

fn request(url: &str) -> Value {
    json!({
        "session_id": RequestId::new().to_string(),
        "url": url,
        "guild_id": 123_456_789_012_345_678_u64,
        "channel_id": 987_654_321_098_765_432_u64,
        "channel_name": "Movie Night",
        "requester_id": 7,
        "guild_name": "Friends",
        "status_message": {"channel_id": 1, "message_id": 2},
    })
}
