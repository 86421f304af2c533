//! Starts streams.

use std::sync::{Arc, atomic::Ordering};

use uuid::Uuid;

use super::{Asker, Desk, Door};
use crate::{
    bot::{
        reporter::{Outlet, log},
        rest::{Note, RestError},
        streams::{Report, StreamInfo},
    },
    contract::{MessageRef, StreamRequest, StreamState, StreamVerdict},
    controller::ControllerError,
    error_code::ErrorCode,
    text::{self, StreamNames},
    voice::VoicePlace,
};

impl Desk {
    /// Has a link streamed to the asker's voice channel.
    pub(super) async fn watch(&self, asker: &Asker, url: String) {
        self.refresh().await;
        if let Some(other) = self.streams.blocking() {
            return self.say_busy(asker, &other).await;
        }
        let place = self.voices().find(asker.user_id);
        if let Some(place) = &place {
            tracing::info!(
                event = "discord.voice_detected",
                user_id = asker.user_id,
                guild_id = place.guild_id,
                channel_id = place.channel_id,
                "the requester's voice channel was found"
            );
        }
        let Some(place) = place else {
            return self.refuse(asker, &ErrorCode::NotInVoice.into()).await;
        };
        let info = Arc::new(new_stream(asker.user_id, place, url));
        let reports = match self.streams.claim(&info) {
            Ok(reports) => reports,
            Err(other) => return self.say_busy(asker, &other).await,
        };
        let outlet = self.acknowledge(asker, &info).await;
        let request = self.request(&info, &outlet);
        match self.start(&request).await {
            Ok(()) => {
                tracing::info!(
                    session.id = %info.session_id, user.id = asker.user_id, guild.id = info.guild_id,
                    channel.id = info.channel_id, "a stream was started"
                );
                self.streams.accept(info.session_id);
            }
            Err(error) if error.code == ErrorCode::Busy => {
                self.streams.release(info.session_id);
                return self.take_back(asker, &outlet, &error).await;
            }
            Err(error) => {
                tracing::warn!(session.id = %info.session_id, error.code = error.code.name(), "a stream was not started");
                let failed = Report::failed(error.code, error.message);
                self.streams.report(info.session_id, failed);
            }
        }
        self.follow(info, outlet, reports, Some(StreamState::Pending));
    }

    /// Tells the asker that their wish is being carried out, and prepares the message that shows the status.
    async fn acknowledge(&self, asker: &Asker, info: &StreamInfo) -> Outlet {
        let accepted = Note::from(text::accepted(&info.names));
        let (user_id, mut status) = (asker.user_id, None);
        match &asker.door {
            Door::Message { channel_id } => match self.rest.post(*channel_id, &accepted).await {
                Ok(message) => status = Some(message),
                Err(error) => log(Err(error), "acknowledge a request"),
            },
            Door::Command { token, .. } => {
                self.say(asker, accepted).await;
                let pending = text::status(StreamState::Pending, None, &info.names).into();
                match self.write_to(user_id, &pending).await {
                    Ok(message) => status = Some(message),
                    Err(error) if error.is_forbidden() => {
                        return Outlet::Answer {
                            application_id: self.application_id.load(Ordering::Relaxed),
                            token: token.clone(),
                        };
                    }
                    Err(error) => log(Err(error), "write to the requester"),
                }
            }
        }
        Outlet::Direct { user_id, status }
    }

    /// Asks the controller for a stream.
    async fn start(&self, request: &StreamRequest) -> Result<(), ControllerError> {
        let error = match self.controller.start(request).await {
            Ok(response) if response.status == StreamVerdict::Rejected => {
                return Err(ControllerError {
                    code: ErrorCode::Unknown,
                    message: response.message,
                });
            }
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        // If the answer was lost, the stream may have started all the same.
        if matches!(error.code, ErrorCode::Timeout | ErrorCode::Unknown)
            && let Ok(view) = self.controller.session(request.session_id).await
            && !view.status.is_final()
        {
            return Ok(());
        }
        Err(error)
    }

    /// Replaces the acknowledgement with the reason for the failure.
    async fn take_back(&self, asker: &Asker, outlet: &Outlet, error: &ControllerError) {
        const DOING: &str = "take back an acknowledgement";
        let note = Note::from(text::problem(error.code, error.message.as_deref()));
        let has_status = !matches!(outlet, Outlet::Direct { status: None, .. });
        if has_status {
            log(outlet.edit(&self.rest, &note).await, DOING);
        }
        match (&asker.door, outlet) {
            // The acknowledgement is the answer to the command, apart from the status.
            (Door::Command { token, .. }, Outlet::Direct { .. }) => {
                let application_id = self.application_id.load(Ordering::Relaxed);
                let edited = self.rest.edit_answer(application_id, token, &note).await;
                log(edited, DOING);
            }
            (Door::Message { .. }, _) if !has_status => self.say(asker, note).await,
            _ => {}
        }
    }

    fn request(&self, info: &StreamInfo, outlet: &Outlet) -> StreamRequest {
        StreamRequest {
            session_id: info.session_id,
            url: info.names.url.clone(),
            guild_id: info.guild_id,
            channel_id: info.channel_id,
            channel_name: info.names.channel_name.clone(),
            webhook_url: self.webhook_url.clone(),
            requester_id: info.requester_id,
            guild_name: Some(info.names.guild_name.clone()).filter(|name| !name.is_empty()),
            status_message: match outlet {
                Outlet::Direct { status, .. } => *status,
                Outlet::Answer { .. } => None,
            },
        }
    }

    /// Sends a direct message to a person.
    async fn write_to(&self, user_id: u64, note: &Note) -> Result<MessageRef, RestError> {
        let channel_id = self.rest.direct_channel(user_id).await?;
        self.rest.post(channel_id, note).await
    }
}

/// Describes a stream that a person asks for.
fn new_stream(requester_id: u64, place: VoicePlace, url: String) -> StreamInfo {
    StreamInfo {
        session_id: Uuid::now_v7(),
        requester_id: Some(requester_id),
        guild_id: place.guild_id,
        channel_id: place.channel_id,
        names: StreamNames {
            channel_name: place.channel_name,
            guild_name: place.guild_name,
            url,
        },
    }
}
