//! The DevTools protocol over a socket that only this process and the browser hold.
//!
//! A message is a JSON object followed by a zero byte. Events go to one sink, which keeps as much as it likes.

use std::{
    borrow::Cow,
    collections::HashMap,
    io,
    os::unix::net::UnixStream as StdUnixStream,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deskhand_core::tasks::Tasks;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Mutex as AsyncMutex, oneshot},
};

/// The timeout of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest reply that is read. A longer one closes the connection to the browser.
const LONGEST_ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// Receives the events of the browser, one after the other. It must not block.
pub(super) trait EventSink: Send + Sync + std::fmt::Debug {
    fn hear(&self, session: Option<&str>, method: &str, params: &str);
}

/// The browser's DevTools. Clones share the socket.
#[derive(Debug, Clone)]
pub(super) struct DevTools(Arc<Pipe>);

#[derive(Debug)]
struct Pipe {
    writer: AsyncMutex<OwnedWriteHalf>,
    last_id: AtomicU64,
    /// The callers that wait for a reply, or `None` once the connection is closed.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Answer>>>>,
    sink: Arc<dyn EventSink>,
}

/// An attached page, frame or other part of the browser.
#[derive(Debug, Clone)]
pub(super) struct Target {
    devtools: DevTools,
    session: String,
}

/// A part of the browser that can be attached to.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetInfo {
    pub(super) target_id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) title: String,
    pub(super) url: String,
    /// The page that opened it.
    pub(super) opener_id: Option<String>,
}

/// Reasons why a call failed. They contain nothing of the call's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DevToolsError {
    #[error("the browser has closed")]
    Gone,
    #[error("the browser did not answer in time")]
    Late,
    #[error("the browser refused {0}")]
    Refused(&'static str),
    #[error("the browser sent an invalid answer to {0}")]
    Strange(&'static str),
}

#[derive(Debug)]
struct Answer {
    result: Option<Value>,
}

/// A reply or an event.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Heard<'a> {
    id: Option<u64>,
    result: Option<Value>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Targets {
    target_infos: Vec<TargetInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
}

impl DevTools {
    /// Opens DevTools over a socket whose other end the browser holds.
    pub(super) fn open(
        socket: StdUnixStream,
        sink: Arc<dyn EventSink>,
        tasks: &Tasks,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(socket)?.into_split();
        let inner = Arc::new(Pipe {
            writer: AsyncMutex::new(writer),
            last_id: AtomicU64::new(0),
            waiting: Mutex::new(Some(HashMap::new())),
            sink,
        });
        let (heard, shutdown) = (Arc::clone(&inner), tasks.shutdown().clone());
        tasks.spawn("devtools", async move {
            // At shutdown, no caller waits for replies.
            let _ = shutdown.run_until_cancelled(heard.listen(reader)).await;
            *heard.waiting() = None;
        });
        Ok(Self(inner))
    }

    /// Returns true if the connection is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.0.waiting().is_none()
    }

    /// Returns everything that can be attached to at the moment.
    pub(super) async fn targets(&self) -> Result<Vec<TargetInfo>, DevToolsError> {
        let method = "Target.getTargets";
        let targets: Targets = self.call(method, json!({}), None).await?;
        Ok(targets.target_infos)
    }

    /// Attaches to a target.
    pub(super) async fn attach(&self, target: &TargetInfo) -> Result<Target, DevToolsError> {
        self.attach_to(&target.target_id).await
    }

    /// Attaches to the target with this id.
    pub(super) async fn attach_to(&self, id: &str) -> Result<Target, DevToolsError> {
        let params = json!({"targetId": id, "flatten": true});
        let attached: Attached = self.call("Target.attachToTarget", params, None).await?;
        Ok(Target {
            devtools: self.clone(),
            session: attached.session_id,
        })
    }

    /// Returns the target to which this session is attached.
    pub(super) fn target(&self, session: String) -> Target {
        Target {
            devtools: self.clone(),
            session,
        }
    }

    /// Calls a method of the browser itself.
    pub(super) async fn call<T: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
        session: Option<&str>,
    ) -> Result<T, DevToolsError> {
        self.call_within(CALL_TIMEOUT, method, params, session)
            .await
    }

    /// Calls a method that may take longer than others.
    pub(super) async fn call_within<T: serde::de::DeserializeOwned>(
        &self,
        timeout: Duration,
        method: &'static str,
        params: Value,
        session: Option<&str>,
    ) -> Result<T, DevToolsError> {
        let answered = self.ask(method, params, session);
        let answer = tokio::time::timeout(timeout, answered).await;
        let answer = answer.map_err(|_elapsed| DevToolsError::Late)??;
        let result = answer.result.ok_or(DevToolsError::Refused(method))?;
        // The JSON error could quote content of the page.
        serde_json::from_value(result).map_err(|_words| DevToolsError::Strange(method))
    }

    async fn ask(
        &self,
        method: &'static str,
        params: Value,
        session: Option<&str>,
    ) -> Result<Answer, DevToolsError> {
        let id = self.0.last_id.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let (caller, answer) = oneshot::channel();
        match &mut *self.0.waiting() {
            Some(waiting) => waiting.insert(id, caller),
            None => return Err(DevToolsError::Gone),
        };
        let mut writer = self.0.writer.lock().await;
        let written = writer.write_all(&bytes).await;
        drop(writer);
        // A failed write says no more than that the browser has closed.
        written.map_err(|_gone| DevToolsError::Gone)?;
        answer.await.map_err(|_closed| DevToolsError::Gone)
    }
}

impl Pipe {
    /// Hands replies to their callers until the connection ends.
    async fn listen(&self, reader: OwnedReadHalf) {
        let mut reader = BufReader::new(reader);
        let mut message = Vec::new();
        loop {
            message.clear();
            let mut limited = (&mut reader).take(LONGEST_ANSWER_BYTES);
            if limited.read_until(0, &mut message).await.is_err() || message.pop() != Some(0) {
                return;
            }
            let Ok(heard) = serde_json::from_slice::<Heard<'_>>(&message) else {
                continue;
            };
            if let Some(method) = &heard.method {
                let params = heard.params.map_or("{}", RawValue::get);
                self.sink.hear(heard.session_id.as_deref(), method, params);
                continue;
            }
            let caller = heard.id.and_then(|id| self.waiting().as_mut()?.remove(&id));
            if let Some(caller) = caller {
                let result = heard.result;
                // A caller whose timeout has passed no longer wants the reply.
                let _ = caller.send(Answer { result });
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Answer>>>> {
        // No code under this lock panics halfway.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target {
    pub(super) async fn call<T: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<T, DevToolsError> {
        self.devtools
            .call(method, params, Some(&self.session))
            .await
    }

    /// Calls a method that may take longer than others.
    pub(super) async fn call_within<T: serde::de::DeserializeOwned>(
        &self,
        timeout: Duration,
        method: &'static str,
        params: Value,
    ) -> Result<T, DevToolsError> {
        self.devtools
            .call_within(timeout, method, params, Some(&self.session))
            .await
    }

    pub(super) fn session(&self) -> &str {
        &self.session
    }

    /// Detaches from the target. Errors are ignored.
    pub(super) async fn detach(self) {
        let params = json!({"sessionId": self.session});
        // A target that is gone needs no detaching.
        let _: Result<Value, _> = self
            .devtools
            .call("Target.detachFromTarget", params, None)
            .await;
    }
}
