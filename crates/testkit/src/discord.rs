//! The Discord of the tests: a process that plays it, its people, and waiting for what the bot writes.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::not_run;

/// The time that anything may take. It is long, because the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub const TOKEN: &str = "test.token";

/// A running Discord. It ends with the test.
#[derive(Debug)]
pub struct Discord {
    process: Child,
    http: reqwest::Client,
    pub url: String,
}

impl Discord {
    /// Starts a Discord. Without its Python packages the test does not run, and says so.
    #[expect(
        clippy::disallowed_methods,
        reason = "the peer of the test is a program"
    )]
    pub fn start() -> Option<Self> {
        let Some(python) = python() else {
            not_run(
                "the packages of the Discord for tests are not installed; \
                 run scripts/python jamie crates/jamie/tests/discord/requirements.txt",
            );
            return None;
        };
        // Clients of TLS are made even where only plain connections are used. A second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut process = Command::new(python)
            .arg(here().join("adapter.py"))
            .arg(TOKEN)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut port).unwrap();
        Some(Self {
            process,
            http: reqwest::Client::builder()
                .no_proxy()
                .timeout(PATIENCE)
                .build()
                .unwrap(),
            url: format!("http://127.0.0.1:{}", port.trim()),
        })
    }

    /// Does something in Discord.
    pub async fn ask(&self, operation: &str, arguments: Value) -> Value {
        let url = format!("{}/control/{operation}", self.url);
        let response = self.http.post(url).json(&arguments).send().await.unwrap();
        let response = response.error_for_status().unwrap();
        response.json().await.unwrap()
    }

    async fn ask_id(&self, operation: &str, arguments: Value) -> u64 {
        self.ask(operation, arguments).await.as_u64().unwrap()
    }

    /// Adds a server with a voice channel.
    pub async fn server(&self, name: &str) -> DiscordServer<'_> {
        let id = self.ask_id("guild", json!({"name": name})).await;
        let voice = json!({"guild": id, "name": "Movie Night"});
        DiscordServer {
            discord: self,
            id,
            voice: self.ask_id("voice_channel", voice).await,
        }
    }

    /// Sends events to the bot, each a kind and its data.
    pub async fn dispatch(&self, events: &[Value]) {
        self.ask("dispatch", json!({"events": events})).await;
    }

    pub async fn state(&self) -> Value {
        self.ask("state", json!({})).await
    }

    /// Waits until Discord is in a state.
    pub async fn wait_until(&self, what: &str, is_so: impl Fn(&Value) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let state = self.state().await;
            if is_so(&state) {
                return;
            }
            assert!(Instant::now() < deadline, "waited for {what}: {state}");
            self.changed(&state["version"]).await;
        }
    }

    /// Returns the bot's messages in a channel, when they are as expected.
    pub async fn wait_for(
        &self,
        channel: u64,
        what: &str,
        is_so: impl Fn(&[Posted]) -> bool,
    ) -> Vec<Posted> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let read = self.ask("messages", json!({"channel": channel})).await;
            let messages: Vec<_> = read["messages"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|message| message["author"]["username"] == "TestBot")
                // A promised answer that is not there yet.
                .filter(|message| message["content"] != "")
                .map(Posted::read)
                .collect();
            if is_so(&messages) {
                return messages;
            }
            assert!(
                Instant::now() < deadline,
                "waited for {what}: {messages:#?}"
            );
            self.changed(&read["version"]).await;
        }
    }

    /// Waits until something has happened since a version, or a while.
    async fn changed(&self, version: &Value) {
        let waiting = self.ask("messages", json!({"channel": 0, "after": version}));
        // If nothing happens, the caller looks again and notices its own deadline.
        let _ = tokio::time::timeout(PATIENCE / 12, waiting).await;
    }

    /// Has the next requests fail: with `after`, only their answers.
    pub async fn fail(&self, method: &str, path: &str, status: u16, times: u32, after: bool) {
        let fault = json!({"method": method, "path": path, "status": status, "times": times, "after": after});
        self.ask("fault", fault).await;
    }
}

impl Drop for Discord {
    fn drop(&mut self) {
        // A process that has ended already is what is wanted.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A message of the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    pub id: String,
    pub text: String,
    /// The address of its button.
    pub link: Option<String>,
    /// Nobody but the one who gave a command sees it.
    pub is_for_one: bool,
    pub pings: bool,
}

impl Posted {
    fn read(message: &Value) -> Self {
        let link = message.pointer("/components/0/components/0/url");
        let is_empty = |field: &str| message[field].as_array().unwrap().is_empty();
        Self {
            id: message["id"].as_str().unwrap().to_owned(),
            text: message["content"].as_str().unwrap().to_owned(),
            link: link.map(|link| link.as_str().unwrap().to_owned()),
            is_for_one: message["flags"].as_u64().unwrap() & 64 != 0,
            pings: message["mention_everyone"] == true
                || !is_empty("mentions")
                || !is_empty("mention_roles"),
        }
    }
}

/// A server with one voice channel.
#[derive(Debug)]
pub struct DiscordServer<'a> {
    discord: &'a Discord,
    pub id: u64,
    pub voice: u64,
}

impl<'a> DiscordServer<'a> {
    pub async fn member(&self, name: &str) -> Person<'a> {
        self.person(name, false).await
    }

    pub async fn administrator(&self, name: &str) -> Person<'a> {
        self.person(name, true).await
    }

    async fn person(&self, name: &str, is_administrator: bool) -> Person<'a> {
        let discord = self.discord;
        let id = discord.ask_id("user", json!({"name": name})).await;
        let member = json!({"guild": self.id, "user": id, "is_administrator": is_administrator});
        discord.ask("member", member).await;
        Person { discord, id }
    }
}

/// A person who talks to the bot.
#[derive(Debug)]
pub struct Person<'a> {
    discord: &'a Discord,
    pub id: u64,
}

impl Person<'_> {
    /// Joins the voice channel of a server.
    pub async fn join(&self, server: &DiscordServer<'_>) {
        let place = json!({"guild": server.id, "user": self.id, "channel": server.voice});
        self.discord.ask("voice", place).await;
    }

    /// Writes to the bot. Returns the channel of their direct messages.
    pub async fn write(&self, text: &str) -> u64 {
        let message = json!({"user": self.id, "text": text});
        self.discord.ask_id("dm", message).await
    }

    /// Writes to the bot, and returns the first message after those that were there.
    pub async fn hear(&self, text: &str) -> Posted {
        let n_before = self.messages().await.len();
        let channel = self.write(text).await;
        let messages = self
            .discord
            .wait_for(channel, "an answer", |messages| messages.len() > n_before)
            .await;
        messages[n_before].clone()
    }

    /// Returns the bot's messages to them.
    pub async fn messages(&self) -> Vec<Posted> {
        self.wait_for("messages", |_| true).await
    }

    /// Waits for messages of the bot.
    pub async fn wait_for(&self, what: &str, is_so: impl Fn(&[Posted]) -> bool) -> Vec<Posted> {
        let channel = self
            .discord
            .ask_id("dm_channel", json!({"user": self.id}))
            .await;
        self.discord.wait_for(channel, what, is_so).await
    }

    /// Waits for a message whose text contains this, and returns it.
    pub async fn wait_for_text(&self, text: &str) -> Posted {
        let has = |message: &Posted| message.text.contains(text);
        let messages = self
            .wait_for(text, |messages| messages.iter().any(has))
            .await;
        messages.into_iter().find(has).unwrap()
    }

    /// Gives a command in the chat of a server's voice channel.
    pub async fn give(&self, server: &DiscordServer<'_>, name: &str, options: Value) {
        let command = json!({
            "user": self.id, "guild": server.id, "channel": server.voice, "name": name, "options": options
        });
        self.discord.ask("slash", command).await;
    }

    /// Gives a command in the chat of a server's voice channel, and returns the answer.
    pub async fn command(&self, server: &DiscordServer<'_>, name: &str, options: Value) -> Posted {
        let n_before = self.in_chat(server, |_| true).await.len();
        self.give(server, name, options).await;
        let messages = self
            .in_chat(server, |messages| messages.len() > n_before)
            .await;
        messages[n_before].clone()
    }

    /// Waits for messages of the bot in the chat of a server's voice channel.
    pub async fn in_chat(
        &self,
        server: &DiscordServer<'_>,
        is_so: impl Fn(&[Posted]) -> bool,
    ) -> Vec<Posted> {
        let what = "messages in the chat of the voice channel";
        self.discord.wait_for(server.voice, what, is_so).await
    }
}

/// Returns the Python that has the packages of the Discord for tests.
fn python() -> Option<PathBuf> {
    let environment = here().join("../../../../.make/python/jamie");
    // The copy is made when all packages are installed.
    let installed = std::fs::read(environment.join("requirements.txt")).ok()?;
    let wanted = std::fs::read(here().join("requirements.txt")).ok()?;
    (installed == wanted).then(|| environment.join("bin/python"))
}

/// Returns the folder of the Discord for tests.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../jamie/tests/discord")
}
