//! Discord's gateway: reads events, keeps the voice map, and hands messages and commands to the workers.

use std::{
    collections::{HashSet, VecDeque},
    error::Error,
    future::Future,
    sync::Arc,
    time::Duration,
};

use deskhand_core::tasks::Tasks;
use futures::StreamExt;
use tokio::{sync::mpsc, task::JoinHandle};
use twilight_gateway::{
    CloseFrame, ConfigBuilder, Intents, Message, Shard, ShardId, error::ReceiveMessageErrorType,
};

use super::{
    BotError, BotStanding, BotState, commands,
    desk::Desk,
    events::{BotEvent, DirectMessage, SlashCommand, read_event},
};
use crate::settings::Settings;

/// The events that Discord sends. None of them needs Discord's approval: messages to the bot itself come with their
/// text.
const INTENTS: Intents = Intents::GUILDS
    .union(Intents::GUILD_VOICE_STATES)
    .union(Intents::DIRECT_MESSAGES);

/// The number of people who are answered at a time.
const N_WORKERS: usize = 16;
/// The number of messages that wait for one worker. Further ones are dropped.
const MAX_WAITING: usize = 32;
/// The number of messages that are remembered, so that one that comes again is not answered again.
const MAX_SEEN: usize = 4096;
/// The time that Discord has to confirm the end of the connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The close code for a token that Discord does not accept.
const TOKEN_REFUSED: u16 = 4004;

/// Reads the gateway until shutdown. The library identifies, sends heartbeats, resumes and connects again.
pub(super) async fn run_gateway(
    settings: &Settings,
    desk: &Arc<Desk>,
    tasks: &Tasks,
) -> Result<(), BotError> {
    let config = ConfigBuilder::new(settings.token.expose().to_owned(), INTENTS)
        .proxy_url(settings.gateway_url.trim_end_matches('/').to_owned())
        .build();
    let mut shard = Shard::with_config(ShardId::ONE, config);
    let mut intake = Intake::new(desk, settings.standing.clone(), tasks);
    let mut last_close = None;
    loop {
        let item = tokio::select! {
            item = shard.next() => item,
            () = tasks.shutdown().cancelled() => {
                close(&mut shard).await;
                return Ok(());
            }
        };
        match item {
            Some(Ok(Message::Text(text))) => match read_event(&text) {
                Ok(Some(event)) => intake.take(event),
                Ok(None) => {}
                // The event may be somebody's message, and the error would quote it.
                Err(error) => tracing::warn!(
                    line = error.line(),
                    column = error.column(),
                    "skipped an event that cannot be read"
                ),
            },
            Some(Ok(Message::Close(frame))) => {
                last_close = frame.map(|frame| frame.code);
                intake.standing.set(BotState::Connecting);
                tracing::info!(code = last_close, "the connection to Discord was closed");
            }
            Some(Err(error)) => {
                if matches!(error.kind(), ReceiveMessageErrorType::Reconnect) {
                    tracing::warn!(
                        error = error.source(),
                        "could not connect to Discord; trying again"
                    );
                } else {
                    tracing::warn!("skipped a message of Discord that cannot be read");
                }
            }
            None => return Err(ended_by(last_close)),
        }
    }
}

fn ended_by(close_code: Option<u16>) -> BotError {
    match close_code {
        Some(TOKEN_REFUSED) => BotError::TokenRefused,
        Some(code) => BotError::Closed(code),
        None => BotError::Ended,
    }
}

/// Leaves Discord, so that the bot is shown as offline at once.
async fn close(shard: &mut Shard) {
    shard.close(CloseFrame::NORMAL);
    let closed = async {
        while let Some(item) = shard.next().await {
            if matches!(item, Ok(Message::Close(_)) | Err(_)) {
                break;
            }
        }
    };
    // Without a confirmation the connection is simply dropped.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, closed).await;
}

/// Takes in events and hands on those that need an answer.
struct Intake {
    desk: Arc<Desk>,
    standing: BotStanding,
    tasks: Tasks,
    workers: Vec<mpsc::Sender<Question>>,
    seen: Seen,
    has_offered_commands: bool,
    /// The servers that the bot is in.
    servers: HashSet<u64>,
}

/// Something that a person is waiting for an answer to.
#[derive(Debug)]
enum Question {
    Message(DirectMessage),
    /// A command, and the task that promises an answer.
    Command(SlashCommand, JoinHandle<()>),
}

impl Intake {
    fn new(desk: &Arc<Desk>, standing: BotStanding, tasks: &Tasks) -> Self {
        let workers = (0..N_WORKERS).map(|_| {
            let (questions, waiting) = mpsc::channel(MAX_WAITING);
            tasks.spawn(
                "jamie worker",
                work(Arc::clone(desk), waiting, tasks.clone()),
            );
            questions
        });
        Self {
            desk: Arc::clone(desk),
            standing,
            tasks: tasks.clone(),
            workers: workers.collect(),
            seen: Seen::default(),
            has_offered_commands: false,
            servers: HashSet::new(),
        }
    }

    fn take(&mut self, event: BotEvent) {
        match event {
            BotEvent::Ready {
                application_id,
                guilds,
            } => self.begin(application_id, &guilds),
            BotEvent::Resumed => self.resume(),
            BotEvent::Guild(guild) => {
                if self.servers.insert(guild.guild_id) {
                    self.note_connected();
                }
                self.desk.voices().set_guild(guild);
            }
            BotEvent::GuildRenamed { guild_id, name } => {
                self.desk.voices().rename_guild(guild_id, &name);
            }
            BotEvent::GuildGone { guild_id } => {
                if self.servers.remove(&guild_id) {
                    self.note_connected();
                }
                self.desk.voices().remove_guild(guild_id);
            }
            BotEvent::Channel {
                guild_id,
                channel_id,
                name,
            } => self.desk.voices().set_channel(guild_id, channel_id, &name),
            BotEvent::ChannelGone {
                guild_id,
                channel_id,
            } => self.desk.voices().remove_channel(guild_id, channel_id),
            BotEvent::Voice {
                guild_id,
                user_id,
                channel_id,
            } => self.desk.voices().move_user(guild_id, user_id, channel_id),
            BotEvent::Message(message) => {
                let (id, user_id) = (message.message_id, message.user_id);
                self.hand_on(id, user_id, |_| Question::Message(message));
            }
            BotEvent::Slash(command) => {
                let (id, user_id) = (command.interaction_id, command.user_id);
                self.hand_on(id, user_id, |intake| {
                    let promised = intake.promise(command.clone());
                    Question::Command(command, promised)
                });
            }
        }
    }

    fn resume(&self) {
        tracing::info!("the connection to Discord was resumed");
        self.note_connected();
    }

    fn note_connected(&self) {
        self.standing.set(BotState::Connected {
            n_servers: self.servers.len(),
        });
    }

    /// Begins a new connection. The servers are described again after it.
    fn begin(&mut self, application_id: u64, guilds: &[u64]) {
        tracing::info!(servers = guilds.len(), "connected to Discord");
        self.servers = guilds.iter().copied().collect();
        self.note_connected();
        self.desk.set_application(application_id);
        self.desk.voices().retain_guilds(guilds);
        if !self.has_offered_commands {
            self.has_offered_commands = true;
            let rest = Arc::clone(self.desk.rest());
            let offer = async move {
                let commands = commands::offered();
                if let Err(error) = rest.set_commands(application_id, &commands).await {
                    tracing::warn!(%error, "could not offer the slash commands; direct messages work");
                }
            };
            self.tasks
                .spawn("jamie commands", until_shutdown(offer, self.tasks.clone()));
        }
    }

    /// Promises an answer to a command. That cannot wait until the worker has time, since Discord gives up after three
    /// seconds.
    fn promise(&self, command: SlashCommand) -> JoinHandle<()> {
        let desk = Arc::clone(&self.desk);
        let promise = async move { desk.promise(&command).await };
        self.tasks
            .spawn("jamie promise", until_shutdown(promise, self.tasks.clone()))
    }

    /// Hands a question to the worker of its person, unless it came before. It is made if there is a place for it.
    fn hand_on(&mut self, id: u64, user_id: u64, question: impl FnOnce(&Self) -> Question) {
        if !self.seen.insert(id) {
            return;
        }
        let n_workers = self.workers.len() as u64;
        // The lowest bits of an id count up, so people are spread evenly. A remainder is smaller than the number.
        let worker = usize::try_from((user_id ^ (user_id >> 22)) % n_workers).unwrap_or_default();
        if let Ok(place) = self.workers[worker].try_reserve() {
            place.send(question(self));
        } else {
            tracing::warn!(
                user.id = user_id,
                "too many messages are waiting; dropped one"
            );
        }
    }
}

/// Answers questions one after the other.
async fn work(desk: Arc<Desk>, mut waiting: mpsc::Receiver<Question>, tasks: Tasks) {
    let answer_all = async {
        while let Some(question) = waiting.recv().await {
            match question {
                Question::Message(message) => desk.answer_message(message).await,
                Question::Command(command, promised) => {
                    // The answer takes the place of the promise. A promise that failed has been logged.
                    let _ = promised.await;
                    desk.answer_command(command).await;
                }
            }
        }
    };
    until_shutdown(answer_all, tasks).await;
}

/// Drops a future at shutdown.
async fn until_shutdown(work: impl Future<Output = ()>, tasks: Tasks) {
    tokio::select! {
        () = work => {}
        () = tasks.shutdown().cancelled() => {}
    }
}

/// The newest ids that were seen.
#[derive(Debug, Default)]
struct Seen {
    ids: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Seen {
    /// Returns true if the id is new.
    fn insert(&mut self, id: u64) -> bool {
        if !self.ids.insert(id) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > MAX_SEEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intents_need_no_approval() {
        assert_eq!(INTENTS.bits(), 4225);
    }

    #[test]
    fn an_id_is_new_once_and_memory_is_bounded() {
        let mut seen = Seen::default();
        assert!(seen.insert(1));
        assert!(!seen.insert(1));
        for id in 2..20_000 {
            assert!(seen.insert(id));
            assert!(!seen.insert(id));
        }
        assert_eq!((seen.ids.len(), seen.order.len()), (MAX_SEEN, MAX_SEEN));
    }
}
