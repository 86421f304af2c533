//! The task of one stream: keeps its status message up to date, and tells about its beginning and end.

use std::{sync::Arc, time::Duration};

use deskhand_core::{secret::Secret, tasks::Tasks};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    rest::{ChatPost, Note, Rest, RestError},
    streams::{Report, StreamInfo},
};
use crate::{
    contract::{MessageRef, StreamState},
    error_code::ErrorCode,
    text,
};

/// The time that messages have which are being sent at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The place where a requester reads about their stream.
#[derive(Debug, Clone)]
pub(super) enum Outlet {
    /// Direct messages. The channel is opened when it is needed.
    Direct {
        user_id: u64,
        status: Option<MessageRef>,
    },
    /// The answer to a command, for people who take no direct messages. It can be changed for a quarter of an hour.
    Answer { application_id: u64, token: Secret },
}

impl Outlet {
    /// Changes the message that shows the status, if there is one.
    pub(super) async fn edit(&self, rest: &Rest, note: &Note) -> Result<(), RestError> {
        match self {
            Self::Direct { status: None, .. } => Ok(()),
            Self::Direct {
                status: Some(message),
                ..
            } => rest.edit(*message, note).await,
            Self::Answer {
                application_id,
                token,
            } => rest.edit_answer(*application_id, token, note).await,
        }
    }

    /// Sends a new message.
    async fn post(&self, rest: &Rest, note: &Note) -> Result<(), RestError> {
        match self {
            Self::Direct { user_id, status } => {
                let channel_id = match status {
                    Some(message) => message.channel_id,
                    None => rest.direct_channel(*user_id).await?,
                };
                rest.post(channel_id, note).await.map(|_| ())
            }
            Self::Answer {
                application_id,
                token,
            } => rest.follow_up(*application_id, token, note).await,
        }
    }
}

/// The things that people have been told by an earlier bot.
struct Told {
    state: StreamState,
    link: Option<String>,
    in_chat: Option<MessageRef>,
}

/// Reports on one stream.
#[derive(Debug)]
pub(super) struct Reporter {
    pub(super) rest: Arc<Rest>,
    pub(super) info: Arc<StreamInfo>,
    pub(super) outlet: Outlet,
    /// The state that people have been told. A bot that was restarted does not know it.
    pub(super) told: Option<StreamState>,
    /// The link that people have been told.
    pub(super) told_link: Option<String>,
    /// The text that the status message has.
    pub(super) shown: Option<Note>,
    /// The message in the chat of the voice channel.
    pub(super) in_chat: Option<MessageRef>,
}

impl Reporter {
    /// Reports until the stream has ended. Messages that are being sent at shutdown have a moment.
    pub(super) async fn run(self, reports: watch::Receiver<Report>, tasks: Tasks) {
        let shutdown = tasks.shutdown();
        let too_late = async {
            shutdown.cancelled().await;
            tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
        };
        tokio::select! {
            () = self.follow(reports, shutdown) => {}
            () = too_late => {}
        }
    }

    async fn follow(mut self, mut reports: watch::Receiver<Report>, shutdown: &CancellationToken) {
        if self.told.is_none() {
            let report = reports.borrow().clone();
            let is_over = report.state.is_final();
            let told = self.read_told().await.unwrap_or(Told {
                state: report.state,
                link: report.watch_url,
                in_chat: None,
            });
            if is_over && told.state.is_final() {
                return;
            }
            (self.told, self.told_link) = (Some(told.state), told.link);
            self.in_chat = told.in_chat;
            reports.mark_changed();
        }
        loop {
            let changed = tokio::select! {
                changed = reports.changed() => changed.is_ok(),
                () = shutdown.cancelled() => false,
            };
            if !changed {
                return;
            }
            // News that came in meanwhile are skipped: people want to know the newest state.
            let report = reports.borrow_and_update().clone();
            self.show(&report).await;
            if report.state.is_final() {
                return;
            }
        }
    }

    /// Finds out from the status message what an earlier bot has told.
    async fn read_told(&self) -> Option<Told> {
        let Outlet::Direct {
            status: Some(message),
            ..
        } = &self.outlet
        else {
            return None;
        };
        match self.rest.read(*message).await {
            Ok(note) => Some(Told {
                state: text::shown_state(&note.text),
                link: note.watch_url,
                in_chat: note.chat.map(|post| post.message),
            }),
            Err(error) => {
                log(Err(error), "read the status message");
                None
            }
        }
    }

    /// Brings all messages up to date.
    async fn show(&mut self, report: &Report) {
        let is_live = report.state == StreamState::Streaming;
        let has_news = report.watch_url.is_some() && report.watch_url != self.told_link;
        if is_live && has_news {
            self.invite(report).await;
        }
        self.update_status(report).await;
        if self.told.replace(report.state) == Some(report.state) {
            // It goes on by another link.
            if is_live && has_news {
                self.tell_live(text::RENEWED.to_owned(), report).await;
            }
            return;
        }
        match report.state {
            StreamState::Streaming => {
                // People without a link watch in Discord, as everybody in the channel does.
                let everyone_sees_it = self.in_chat.is_some() || report.watch_url.is_none();
                let text = text::streaming(&self.info.names, everyone_sees_it);
                self.tell_live(text, report).await;
            }
            StreamState::Failed => {
                let code = report.error_code.unwrap_or(ErrorCode::Unknown);
                let note = text::problem(code, report.message.as_deref()).into();
                self.tell(&note).await;
            }
            StreamState::Ended if !report.is_end_told => self.tell(&text::ENDED.into()).await,
            StreamState::Pending
            | StreamState::Starting
            | StreamState::Stopping
            | StreamState::Ended => {}
        }
        if report.state.is_final()
            && let Some(message) = self.in_chat.take()
        {
            let over = text::over(&self.info.names).into();
            log(
                self.rest.edit(message, &over).await,
                "change the invitation",
            );
        }
    }

    /// Shows the state in the status message.
    async fn update_status(&mut self, report: &Report) {
        // The reason of a failure is in a message of its own.
        let step = report
            .message
            .as_deref()
            .filter(|_| report.state != StreamState::Failed);
        let is_live = report.state == StreamState::Streaming;
        let post = |message| ChatPost {
            guild_id: self.info.guild_id,
            message,
        };
        let note = Note {
            text: text::status(report.state, step, &self.info.names),
            watch_url: report.watch_url.clone().filter(|_| is_live),
            // A bot that is started later finds it here.
            chat: self.in_chat.filter(|_| is_live).map(post),
        };
        if self.shown.as_ref() == Some(&note) {
            return;
        }
        match self.outlet.edit(&self.rest, &note).await {
            Ok(()) => self.shown = Some(note),
            Err(error) => log(Err(error), "update the status message"),
        }
    }

    /// Tells the requester how to watch.
    async fn tell_live(&mut self, text: String, report: &Report) {
        let watch_url = report.watch_url.clone();
        self.told_link.clone_from(&watch_url);
        let note = Note {
            text,
            watch_url,
            chat: None,
        };
        self.tell(&note).await;
    }

    /// Shows the link in the chat of the voice channel, where the bot may do that.
    async fn invite(&mut self, report: &Report) {
        let note = Note {
            text: text::invitation(&self.info.names),
            watch_url: report.watch_url.clone(),
            chat: None,
        };
        if let Some(message) = self.in_chat {
            let edited = self.rest.edit(message, &note).await;
            return log(edited, "renew the invitation");
        }
        match self.rest.post(self.info.channel_id, &note).await {
            Ok(message) => self.in_chat = Some(message),
            Err(error) if error.is_forbidden() => {
                tracing::debug!("the bot may not write in the chat of the voice channel");
            }
            Err(error) => log(Err(error), "write in the chat of the voice channel"),
        }
    }

    /// Sends a new message to the requester.
    async fn tell(&self, note: &Note) {
        let told = self.outlet.post(&self.rest, note).await;
        log(told, "tell the requester about the stream");
    }
}

/// Logs a failed request. The stream goes on without the message.
pub(super) fn log(result: Result<(), RestError>, doing: &str) {
    if let Err(error) = result {
        tracing::warn!(error.code = error.code().name(), %error, "could not {doing}");
    }
}
