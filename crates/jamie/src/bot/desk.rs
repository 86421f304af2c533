//! Answers people: finds their voice channel, has streams started and stopped, and says how they are.

mod start;
mod stop;
mod sync;

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use deskhand_core::{secret::Secret, tasks::Tasks};
use tokio::sync::watch;

use super::{
    commands::Wish,
    events::{DirectMessage, SlashCommand},
    reporter::{Outlet, Reporter, log},
    rest::{Note, Rest},
    streams::{Report, StreamInfo, Streams},
};
use crate::{
    contract::{StatusUpdate, StreamState},
    controller::{Controller, ControllerError},
    error_code::ErrorCode,
    settings::Settings,
    text,
    voice::VoiceMap,
};

/// Everything that answering people needs.
#[derive(Debug)]
pub(super) struct Desk {
    controller: Arc<dyn Controller>,
    rest: Arc<Rest>,
    voices: Mutex<VoiceMap>,
    streams: Streams,
    /// The bot's application, or 0 before Discord has told it.
    application_id: AtomicU64,
    webhook_url: Option<String>,
    tasks: Tasks,
}

/// A person who wants something, and the way to answer them.
#[derive(Debug)]
struct Asker {
    user_id: u64,
    door: Door,
    /// The server that they are known to administer.
    administers: Option<u64>,
}

#[derive(Debug)]
enum Door {
    Message {
        channel_id: u64,
    },
    /// The command has been promised an answer.
    Command {
        token: Secret,
        is_answered: AtomicBool,
    },
}

impl Desk {
    pub(super) fn new(settings: &Settings, controller: Arc<dyn Controller>, tasks: Tasks) -> Self {
        Self {
            controller,
            rest: Arc::new(Rest::new(settings)),
            voices: Mutex::default(),
            streams: Streams::new(settings.streams_at_once),
            application_id: AtomicU64::new(0),
            webhook_url: settings.webhook_url.clone(),
            tasks,
        }
    }

    pub(super) fn rest(&self) -> &Arc<Rest> {
        &self.rest
    }

    pub(super) fn voices(&self) -> MutexGuard<'_, VoiceMap> {
        // Every change of the map is complete, so a panic elsewhere leaves nothing half done.
        self.voices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_application(&self, application_id: u64) {
        self.application_id.store(application_id, Ordering::Relaxed);
    }

    /// Takes in an update of the controller.
    pub(super) fn update(&self, update: StatusUpdate) {
        let session_id = update.session_id;
        tracing::info!(session.id = %session_id, status = update.status.name(), "a stream changed");
        self.streams.report(session_id, update.into());
    }

    /// Answers a direct message.
    pub(super) async fn answer_message(&self, message: DirectMessage) {
        tracing::info!(
            event = "discord.dm_received",
            user_id = message.user_id,
            content_length = message.text.len(),
            "a direct message came in"
        );
        let asker = Asker {
            user_id: message.user_id,
            door: Door::Message {
                channel_id: message.channel_id,
            },
            administers: None,
        };
        self.answer(asker, Wish::in_message(&message.text)).await;
    }

    /// Tells Discord that a command will be answered.
    pub(super) async fn promise(&self, command: &SlashCommand) {
        let promised = self.rest.promise(command.interaction_id, &command.token);
        log(promised.await, "promise an answer to a command");
    }

    /// Answers a command that has been promised an answer.
    pub(super) async fn answer_command(&self, command: SlashCommand) {
        tracing::info!(user.id = command.user_id, "a command came in");
        let wish = Wish::in_command(&command);
        let asker = Asker {
            user_id: command.user_id,
            door: Door::Command {
                token: command.token,
                is_answered: AtomicBool::new(false),
            },
            administers: command.administers,
        };
        self.answer(asker, wish).await;
    }

    async fn answer(&self, asker: Asker, wish: Wish) {
        match wish {
            Wish::Watch(url) => self.watch(&asker, url).await,
            Wish::Stop => self.stop(&asker).await,
            Wish::Status => self.status(&asker).await,
            Wish::Help => self.say(&asker, text::HELP).await,
            Wish::Unclear => self.say(&asker, text::GUIDANCE).await,
            Wish::BadLink => self.refuse(&asker, &ErrorCode::InvalidUrl.into()).await,
        }
    }

    /// Starts the task that reports on a stream.
    fn follow(
        &self,
        info: Arc<StreamInfo>,
        outlet: Outlet,
        reports: watch::Receiver<Report>,
        told: Option<StreamState>,
    ) {
        let reporter = Reporter {
            rest: Arc::clone(&self.rest),
            info,
            outlet,
            told,
            told_link: None,
            shown: None,
            in_chat: None,
        };
        self.tasks
            .spawn("jamie reporter", reporter.run(reports, self.tasks.clone()));
    }

    /// Reports the state of the stream that the asker may know about.
    async fn status(&self, asker: &Asker) {
        self.refresh().await;
        let streams = self.streams.list();
        let visible = streams
            .iter()
            .find(|(info, _)| info.requester_id == Some(asker.user_id))
            .or_else(|| streams.iter().find(|(info, _)| self.may_know(asker, info)));
        match visible {
            Some((info, report)) => {
                let note = Note {
                    text: text::status(report.state, report.message.as_deref(), &info.names),
                    watch_url: report.watch_url.clone(),
                    chat: None,
                };
                self.say(asker, note).await;
            }
            None if streams.is_empty() => self.say(asker, text::NOTHING).await,
            None => self.say(asker, text::ELSEWHERE).await,
        }
    }

    /// Returns true if a person may know where a stream is. Servers are not named to people outside of them.
    fn may_know(&self, asker: &Asker, info: &StreamInfo) -> bool {
        info.requester_id == Some(asker.user_id)
            || asker.administers == Some(info.guild_id)
            || self.voices().is_in_guild(asker.user_id, info.guild_id)
    }

    async fn say_busy(&self, asker: &Asker, other: &StreamInfo) {
        if self.may_know(asker, other) {
            self.say(asker, text::busy(&other.names)).await;
        } else {
            self.refuse(asker, &ErrorCode::Busy.into()).await;
        }
    }

    async fn refuse(&self, asker: &Asker, error: &ControllerError) {
        let problem = text::problem(error.code, error.message.as_deref());
        self.say(asker, problem).await;
    }

    /// Answers the asker where they asked.
    async fn say(&self, asker: &Asker, note: impl Into<Note>) {
        let note = note.into();
        let said = match &asker.door {
            Door::Message { channel_id } => self.rest.post(*channel_id, &note).await.map(|_| ()),
            Door::Command { token, is_answered } => {
                let application_id = self.application_id.load(Ordering::Relaxed);
                if is_answered.swap(true, Ordering::Relaxed) {
                    self.rest.follow_up(application_id, token, &note).await
                } else {
                    self.rest.edit_answer(application_id, token, &note).await
                }
            }
        };
        log(said, "answer a person");
    }
}
