//! Ends streams.

use std::{sync::Arc, time::Duration};

use super::{Asker, Desk};
use crate::{
    bot::{
        reporter::log,
        streams::{Report, StreamInfo},
    },
    contract::{StopRequest, StreamState},
    error_code::ErrorCode,
    text,
};

/// The time after which a person who waits for the end of a stream gets a first answer.
const FIRST_ANSWER: Duration = Duration::from_millis(1500);
/// The number of servers for which it is looked up whether a person administers them.
const MAX_LOOK_UPS: usize = 3;

impl Desk {
    /// Ends the stream that the asker means, if they may.
    pub(super) async fn stop(&self, asker: &Asker) {
        self.refresh().await;
        let streams = self.streams.list();
        if streams.is_empty() {
            return self.say(asker, text::NOTHING).await;
        }
        let Some(info) = self.stoppable(asker, streams).await else {
            return self.refuse(asker, &ErrorCode::NotRequester.into()).await;
        };
        let is_own = info.requester_id == Some(asker.user_id);
        self.streams.tell_end(info.session_id, is_own);
        let request = StopRequest {
            reason: if is_own {
                "user_requested"
            } else {
                "administrator_requested"
            }
            .into(),
        };
        let mut stopping = self.controller.stop(info.session_id, &request);
        let stopped = match tokio::time::timeout(FIRST_ANSWER, &mut stopping).await {
            Ok(stopped) => stopped,
            Err(_) => {
                self.say(asker, text::STOPPING).await;
                stopping.await
            }
        };
        match stopped {
            Ok(()) => {
                tracing::info!(session.id = %info.session_id, user.id = asker.user_id, "a stream was stopped");
                self.streams
                    .report(info.session_id, Report::new(StreamState::Ended));
                self.say(asker, text::ENDED).await;
            }
            Err(error) => {
                tracing::warn!(session.id = %info.session_id, error.code = error.code.name(), "a stream was not stopped");
                self.streams.tell_end(info.session_id, false);
                if error.code == ErrorCode::NotFound {
                    self.streams
                        .report(info.session_id, Report::new(StreamState::Ended));
                }
                self.refuse(asker, &error).await;
            }
        }
    }

    /// Finds the stream that the asker may stop: their own, or one in a server that they administer.
    async fn stoppable(
        &self,
        asker: &Asker,
        streams: Vec<(Arc<StreamInfo>, Report)>,
    ) -> Option<Arc<StreamInfo>> {
        let mut streams: Vec<_> = streams.into_iter().map(|(info, _)| info).collect();
        let own = |info: &Arc<StreamInfo>| info.requester_id == Some(asker.user_id);
        let known = |info: &Arc<StreamInfo>| Some(info.guild_id) == asker.administers;
        if let Some(at) = streams
            .iter()
            .position(own)
            .or_else(|| streams.iter().position(known))
        {
            return Some(streams.swap_remove(at));
        }
        let is_near = |guild_id| self.voices().is_in_guild(asker.user_id, guild_id);
        let servers = servers_of(&streams, is_near);
        for guild_id in servers.into_iter().take(MAX_LOOK_UPS) {
            match self.rest.administers(guild_id, asker.user_id).await {
                Ok(true) => return streams.into_iter().find(|info| info.guild_id == guild_id),
                Ok(false) => {}
                Err(error) => log(Err(error), "look up who administers a server"),
            }
        }
        None
    }
}

/// Returns the servers of streams, each once, and first those that are near the person who asks.
fn servers_of(streams: &[Arc<StreamInfo>], is_near: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut servers = Vec::new();
    for info in streams {
        if !servers.contains(&info.guild_id) {
            servers.push(info.guild_id);
        }
    }
    servers.sort_by_key(|guild_id| !is_near(*guild_id));
    servers
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::text::StreamNames;

    #[test]
    fn each_server_is_looked_up_once_and_the_one_of_the_asker_first() {
        let stream = |guild_id| {
            Arc::new(StreamInfo {
                session_id: Uuid::now_v7(),
                requester_id: Some(7),
                guild_id,
                channel_id: 10,
                names: StreamNames {
                    channel_name: "Movies".into(),
                    guild_name: "Friends".into(),
                    url: "https://youtu.be/a".into(),
                },
            })
        };
        let streams: Vec<_> = [1, 1, 1, 2, 3].map(stream).into();
        assert_eq!(servers_of(&streams, |guild_id| guild_id == 3), [3, 1, 2]);
        assert_eq!(servers_of(&streams, |_| false), [1, 2, 3]);
    }
}
