//! The streams that the bot knows, and the newest report of each.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use uuid::Uuid;

use crate::{
    contract::{SessionView, StatusUpdate, StreamState},
    error_code::ErrorCode,
    link::is_link,
    text::StreamNames,
};

/// The number of ended streams that are remembered. Few streams end while the controller answers.
const MAX_ENDED: usize = 64;

/// The unchanging facts of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StreamInfo {
    pub(super) session_id: Uuid,
    /// The person who asked. Streams of programs have none.
    pub(super) requester_id: Option<u64>,
    pub(super) guild_id: u64,
    pub(super) channel_id: u64,
    pub(super) names: StreamNames,
}

impl From<&SessionView> for StreamInfo {
    fn from(view: &SessionView) -> Self {
        Self {
            session_id: view.session_id,
            requester_id: view.requester_id,
            guild_id: view.guild_id,
            channel_id: view.channel_id,
            names: StreamNames {
                channel_name: view.channel_name.clone(),
                guild_name: view.guild_name.clone().unwrap_or_else(|| "Discord".into()),
                url: view.url.clone(),
            },
        }
    }
}

/// The newest news of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) state: StreamState,
    /// The step that is being done, or the reason of a failure.
    pub(super) message: Option<String>,
    pub(super) error_code: Option<ErrorCode>,
    pub(super) watch_url: Option<String>,
    /// The requester is stopping it and is told so in the answer. The end is not told a second time.
    pub(super) is_end_told: bool,
}

impl Report {
    pub(super) fn new(state: StreamState) -> Self {
        Self {
            state,
            message: None,
            error_code: None,
            watch_url: None,
            is_end_told: false,
        }
    }

    pub(super) fn failed(error_code: ErrorCode, message: Option<String>) -> Self {
        Self {
            error_code: Some(error_code),
            message,
            ..Self::new(StreamState::Failed)
        }
    }
}

impl From<StatusUpdate> for Report {
    fn from(update: StatusUpdate) -> Self {
        Self {
            message: update.message,
            error_code: update.error_code,
            watch_url: update.watch_url,
            ..Self::new(update.status)
        }
    }
}

impl From<&SessionView> for Report {
    fn from(view: &SessionView) -> Self {
        Self {
            message: view.error_message.clone(),
            error_code: view.error_code,
            watch_url: view.watch_url.clone().filter(|url| is_link(url)),
            ..Self::new(view.status)
        }
    }
}

/// All streams that have not ended, as far as the bot knows.
#[derive(Debug)]
pub(super) struct Streams {
    known: Mutex<KnownStreams>,
    at_once: usize,
}

#[derive(Debug, Default)]
struct KnownStreams {
    by_id: HashMap<Uuid, Stream>,
    /// The streams that ended last, newest first.
    ended: VecDeque<Uuid>,
    n_ended: usize,
}

#[derive(Debug)]
struct Stream {
    info: Arc<StreamInfo>,
    report: watch::Sender<Report>,
    /// The controller knows it.
    is_accepted: bool,
}

impl Streams {
    pub(super) fn new(at_once: usize) -> Self {
        Self {
            known: Mutex::default(),
            at_once: at_once.max(1),
        }
    }

    /// Returns a stream that leaves no room for another.
    pub(super) fn blocking(&self) -> Option<Arc<StreamInfo>> {
        self.blocking_in(&self.lock().by_id)
    }

    fn blocking_in(&self, by_id: &HashMap<Uuid, Stream>) -> Option<Arc<StreamInfo>> {
        let oldest = by_id.values().min_by_key(|stream| stream.info.session_id)?;
        (by_id.len() >= self.at_once).then(|| Arc::clone(&oldest.info))
    }

    /// Takes the place for a new stream, or returns the one that has it.
    pub(super) fn claim(
        &self,
        info: &Arc<StreamInfo>,
    ) -> Result<watch::Receiver<Report>, Arc<StreamInfo>> {
        let mut known = self.lock();
        if let Some(other) = self.blocking_in(&known.by_id) {
            return Err(other);
        }
        let (report, reports) = watch::channel(Report::new(StreamState::Pending));
        let stream = Stream {
            info: Arc::clone(info),
            report,
            is_accepted: false,
        };
        known.by_id.insert(info.session_id, stream);
        Ok(reports)
    }

    /// Returns the number of streams that have ended.
    pub(super) fn n_ended(&self) -> usize {
        self.lock().n_ended
    }

    /// Adds a stream that the controller knows and the bot does not.
    ///
    /// The controller was asked when `n_ended` streams had ended. One that ended since then stays ended.
    pub(super) fn adopt(
        &self,
        view: &SessionView,
        n_ended: usize,
    ) -> Option<(Arc<StreamInfo>, watch::Receiver<Report>)> {
        let mut known = self.lock();
        let n_since = known.n_ended.saturating_sub(n_ended);
        let has_ended = known
            .ended
            .iter()
            .take(n_since)
            .any(|id| *id == view.session_id);
        if view.status.is_final() || has_ended || known.by_id.contains_key(&view.session_id) {
            return None;
        }
        let info = Arc::new(StreamInfo::from(view));
        let (report, reports) = watch::channel(Report::from(view));
        let stream = Stream {
            info: Arc::clone(&info),
            report,
            is_accepted: true,
        };
        known.by_id.insert(view.session_id, stream);
        Some((info, reports))
    }

    /// Returns true for a stream that is active, or was when the bot knew it.
    pub(super) fn has_known(&self, session_id: Uuid) -> bool {
        let known = self.lock();
        known.by_id.contains_key(&session_id) || known.ended.contains(&session_id)
    }

    /// Notes that the controller has accepted a stream.
    pub(super) fn accept(&self, session_id: Uuid) {
        if let Some(stream) = self.lock().by_id.get_mut(&session_id) {
            stream.is_accepted = true;
        }
    }

    /// Forgets a stream without a report.
    pub(super) fn release(&self, session_id: Uuid) {
        self.lock().by_id.remove(&session_id);
    }

    /// Takes in news of a stream. Old news and those of unknown streams are ignored.
    pub(super) fn report(&self, session_id: Uuid, news: Report) {
        let mut known = self.lock();
        let Some(stream) = known.by_id.get(&session_id) else {
            return;
        };
        stream.report.send_if_modified(|report| {
            if report.state != news.state && !report.state.may_reach(news.state) {
                return false;
            }
            let next = Report {
                // A link that was given before stays.
                watch_url: news
                    .watch_url
                    .filter(|url| is_link(url))
                    .or_else(|| report.watch_url.clone()),
                is_end_told: report.is_end_told,
                ..news
            };
            let is_news = *report != next;
            *report = next;
            is_news
        });
        if stream.report.borrow().state.is_final() {
            known.by_id.remove(&session_id);
            known.n_ended += 1;
            known.ended.push_front(session_id);
            known.ended.truncate(MAX_ENDED);
        }
    }

    /// Notes whether the requester is told about the end by the answer to their own wish.
    pub(super) fn tell_end(&self, session_id: Uuid, is_end_told: bool) {
        if let Some(stream) = self.lock().by_id.get(&session_id) {
            stream.report.send_if_modified(|report| {
                report.is_end_told = is_end_told;
                false
            });
        }
    }

    /// Returns the streams that the controller has accepted.
    pub(super) fn accepted(&self) -> Vec<Uuid> {
        let known = self.lock();
        let accepted = known.by_id.iter().filter(|(_, stream)| stream.is_accepted);
        accepted.map(|(id, _)| *id).collect()
    }

    /// Returns all streams with their newest reports. The ids order them by age.
    pub(super) fn list(&self) -> Vec<(Arc<StreamInfo>, Report)> {
        let known = self.lock();
        let mut list: Vec<_> = known
            .by_id
            .values()
            .map(|stream| (Arc::clone(&stream.info), stream.report.borrow().clone()))
            .collect();
        list.sort_by_key(|(info, _)| info.session_id);
        list
    }

    fn lock(&self) -> MutexGuard<'_, KnownStreams> {
        // Every change is complete, so a panic elsewhere leaves nothing half done.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;
