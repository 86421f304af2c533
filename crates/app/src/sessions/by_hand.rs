//! Using a session's computer by hand, one action at a time, when nobody else does.

mod context;

use std::time::Instant;

use deskhand_agent::{
    DeskError,
    tools::{self, BadCall, Invocation, ToolOutput},
};
use deskhand_core::{
    blob::{BlobError, BlobName},
    event::{EventBody, Screenshot, ToolResult, ToolUse},
    id::{RequestId, SessionId, UserId},
    lease::Lease,
    right::Right,
    session::Phase,
    viewer::Viewer,
};
use deskhand_store::StoreError;

use self::context::HandContext;
use super::{FindError, Sessions};
use crate::WakeError;

/// In place of the result of an action during which somebody took control.
const NOT_KEPT: &str = "Somebody took control meanwhile, so nothing of it is kept.";

/// One thing to do by hand.
#[derive(Debug)]
pub struct ActByHand {
    /// The name of a tool that people can use by hand: `computer`, `bash` or `editor`.
    pub tool: String,
    pub input: serde_json::Value,
    /// Whether to wait until the screen settles and keep a picture of it.
    pub look: bool,
}

/// The result of it.
#[derive(Debug)]
pub struct ByHand {
    pub call: String,
    pub text: String,
    pub is_error: bool,
    pub screenshot: Option<BlobName>,
    pub duration_ms: u64,
}

/// Reasons why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum ActByHandError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    BadCall(#[from] BadCall),
    /// The call does not fit the screen.
    #[error("{0}")]
    BadAction(String),
    /// The tool is not for people.
    #[error("{0}")]
    NotByHand(&'static str),
    #[error("session {0} has ended")]
    Ended(SessionId),
    #[error("the agent is working in session {0}: stop it or wait until it is done")]
    AgentIsDriving(SessionId),
    #[error(transparent)]
    Wake(#[from] WakeError),
    #[error("{} has mouse and keyboard of session {session} until {}", .lease.name, .lease.until)]
    SomebodyElseDrives { session: SessionId, lease: Lease },
    #[error("{}", .0.message)]
    NoSandbox(DeskError),
    #[error("the picture could not be kept")]
    Blob(#[from] BlobError),
    #[error("the action could not be logged")]
    Store(#[from] StoreError),
}

impl Sessions {
    /// Does one thing by hand. It is logged with who did it, unless they have control: what people do
    /// in that time is nobody else's.
    pub async fn act_by_hand(
        &self,
        user: UserId,
        id: SessionId,
        act: ActByHand,
    ) -> Result<ByHand, ActByHandError> {
        let viewer = Viewer::User(user);
        let session = self.find_with(Right::Drive, viewer, id).await?;
        let room = self.shared.rooms.room(id);
        let held = room.held().map(|held| held.lease);
        if let Some(lease) = held.clone().filter(|lease| lease.user != user) {
            return Err(ActByHandError::SomebodyElseDrives { session: id, lease });
        }
        let has_control = held.is_some();
        match session.phase {
            Phase::Terminated => return Err(ActByHandError::Ended(id)),
            Phase::Running | Phase::Waiting if has_control => {}
            Phase::Running | Phase::Waiting => return Err(ActByHandError::AgentIsDriving(id)),
            Phase::Initializing | Phase::Idle | Phase::Error => {}
        }
        let invocation = self.invocation(&act)?;
        let kept = self.wake(&session).await?;
        let sandbox = kept.live.desk.sandbox().await;
        let sandbox = sandbox.map_err(ActByHandError::NoSandbox)?;

        let request = RequestId::new();
        let call = request.to_string();
        if !has_control {
            let tool_use = tool_use(user, call.clone(), &act, &*invocation);
            self.shared.log.append(id, &[tool_use]).await?;
        }
        let started = Instant::now();
        let mut context = HandContext {
            sandbox: &*sandbox,
            request,
            user,
            look: act.look,
            now: self.shared.clock.now(),
        };
        let output = invocation.run(&mut context).await;
        let output = output.unwrap_or_else(ToolOutput::from);
        let mut done = ByHand {
            call,
            text: output.for_people(),
            is_error: output.is_error,
            screenshot: None,
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        if !has_control {
            // They may have taken control meanwhile; then the log only says that it was done.
            let is_private = room.held().is_some();
            self.log_result(id, &mut done, output, is_private).await?;
        }
        Ok(done)
    }

    fn invocation(&self, act: &ActByHand) -> Result<Box<dyn Invocation>, ActByHandError> {
        let invocation = tools::all().read(&act.tool, &act.input)?;
        invocation.by_hand().map_err(ActByHandError::NotByHand)?;
        let screen = self.shared.settings.screen;
        invocation
            .check(screen)
            .map_err(ActByHandError::BadAction)?;
        Ok(invocation)
    }

    /// Logs the result and its picture, unless they are private.
    async fn log_result(
        &self,
        id: SessionId,
        done: &mut ByHand,
        output: ToolOutput,
        is_private: bool,
    ) -> Result<(), ActByHandError> {
        let mut bodies = vec![EventBody::ToolResult(ToolResult {
            turn: None,
            call: done.call.clone(),
            text: if is_private {
                NOT_KEPT.to_owned()
            } else {
                done.text.clone()
            },
            is_error: done.is_error,
            duration_ms: done.duration_ms,
            partial: false,
            parts: Vec::new(),
            state: output.state.filter(|_| !is_private),
        })];
        if let Some(frame) = output.picture.filter(|_| !is_private) {
            let blob = self.shared.blobs.put(frame.bytes, frame.format).await?;
            done.screenshot = Some(blob.clone());
            bodies.push(EventBody::Screenshot(Screenshot {
                turn: None,
                call: Some(done.call.clone()),
                blob,
                width: frame.size.width,
                height: frame.size.height,
            }));
        }
        self.shared.log.append(id, &bodies).await?;
        Ok(())
    }
}

fn tool_use(user: UserId, call: String, act: &ActByHand, invocation: &dyn Invocation) -> EventBody {
    EventBody::ToolUse(ToolUse {
        turn: None,
        call,
        tool: act.tool.clone(),
        input: act.input.clone(),
        description: Some(invocation.describe()),
        by: Some(user),
        checks: Vec::new(),
    })
}
