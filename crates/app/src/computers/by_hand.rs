//! Using a session's computer by hand, one action at a time, while nobody else does.

use std::time::Instant;

use deskhand_agent::DeskError;
use deskhand_core::{
    action::BadAction,
    blob::{BlobError, BlobName},
    event::{EventBody, Screenshot, ToolResult, ToolUse},
    id::{RequestId, SessionId, UserId},
    lease::Lease,
    model::{BadCall, ToolRequest},
    right::Right,
    sandbox::{Actor, ComputerError, ComputerReply, ComputerRequest, Frame, Sandbox},
    session::{Phase, Session},
    viewer::Viewer,
};

use super::Computers;
use crate::{FindError, InternalError, WakeError, refusal::refusals, sessions::find::find_with};

/// Stands for the result of an action during which somebody took control.
const NOT_KEPT: &str = "Somebody took control meanwhile, so nothing of it is kept.";

/// One thing to do by hand.
#[derive(Debug)]
pub struct ActByHand {
    /// `computer`, `bash` or `editor`.
    pub tool: String,
    pub input: serde_json::Value,
    /// Waits until the screen settles, and keeps a picture of it.
    pub look: bool,
}

/// The result of an action by hand.
#[derive(Debug)]
pub struct ByHand {
    pub call: String,
    pub text: String,
    pub is_error: bool,
    pub screenshot: Option<BlobName>,
    pub duration_ms: u64,
}

/// Reasons an action was not done.
#[derive(Debug, thiserror::Error)]
pub enum ActByHandError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    BadCall(#[from] BadCall),
    #[error(transparent)]
    BadAction(#[from] BadAction),
    #[error("only the agent asks questions; send it a message instead")]
    Question,
    #[error("only the agent fills in secrets; type yours into the screen instead")]
    Secret,
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
    Internal(#[source] InternalError),
}

refusals! {
    ActByHandError passes on Find, Wake, Blob, Internal;
    Self::BadCall(_) | Self::BadAction(_) | Self::Question | Self::Secret => Invalid("bad_action"),
    Self::Ended(_) => Conflict("session_ended"),
    Self::AgentIsDriving(_) => Conflict("agent_is_driving"),
    Self::SomebodyElseDrives { lease, .. } => Conflict(
        "somebody_else_drives",
        { "user": lease.user, "name": lease.name, "until": lease.until }
    ),
    Self::NoSandbox(_) => Unavailable("no_sandbox"),
}

/// The reply of the computer to an action.
struct Performed {
    text: String,
    is_error: bool,
    frame: Option<Frame>,
}

impl Computers {
    /// Does one thing by hand. The log tells who did it, unless they have control: the actions of a
    /// person in that time are private.
    pub async fn act_by_hand(
        &self,
        user: UserId,
        id: SessionId,
        act: ActByHand,
    ) -> Result<ByHand, ActByHandError> {
        let viewer = Viewer::User(user);
        let session = find_with(&self.0.store, Right::Drive, viewer, id).await?;
        let has_control = self.check_free_for(user, &session)?;
        let request = self.request_of(&act)?;
        let guard = self.0.live.wake(&session).await?;
        let sandbox = guard.desk.sandbox().await;
        let sandbox = sandbox.map_err(ActByHandError::NoSandbox)?;

        let request_id = RequestId::new();
        let call = request_id.to_string();
        let tool_use = ToolUse {
            turn: None,
            call: call.clone(),
            tool: act.tool,
            input: act.input,
            by: Some(user),
            checks: Vec::new(),
        };
        if !has_control {
            let bodies = [EventBody::ToolUse(tool_use)];
            self.0.log.append(id, &bodies).await?;
        }
        let started = Instant::now();
        let actor = Actor::Person(user);
        let performed = perform(&*sandbox, request_id, actor, request).await;
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut done = ByHand {
            call,
            text: performed.text,
            is_error: performed.is_error,
            screenshot: None,
            duration_ms,
        };
        if !has_control {
            self.log_result(id, &mut done, performed.frame).await?;
        }
        Ok(done)
    }

    /// Checks that nobody else uses the computer. Returns `true` if this user has control.
    fn check_free_for(&self, user: UserId, session: &Session) -> Result<bool, ActByHandError> {
        let id = session.id;
        let held = self.0.live.attendance(id).held().map(|held| held.lease);
        let has_control = held.is_some();
        if let Some(lease) = held.filter(|lease| lease.user != user) {
            return Err(ActByHandError::SomebodyElseDrives { session: id, lease });
        }
        match session.phase {
            Phase::Terminated => Err(ActByHandError::Ended(id)),
            Phase::Running | Phase::Waiting if !has_control => {
                Err(ActByHandError::AgentIsDriving(id))
            }
            Phase::Running | Phase::Waiting | Phase::Initializing | Phase::Idle | Phase::Error => {
                Ok(has_control)
            }
        }
    }

    /// Logs the result of an action, and keeps the picture that came with it.
    async fn log_result(
        &self,
        id: SessionId,
        done: &mut ByHand,
        frame: Option<Frame>,
    ) -> Result<(), ActByHandError> {
        // Somebody may have taken control meanwhile. Then the log tells only that it was done.
        let is_private = self.0.live.attendance(id).held().is_some();
        let frame = frame.filter(|_| !is_private);
        let logged_text = if is_private { NOT_KEPT } else { &done.text };

        let mut bodies = vec![EventBody::ToolResult(ToolResult {
            turn: None,
            call: done.call.clone(),
            text: logged_text.to_owned(),
            is_error: done.is_error,
            duration_ms: done.duration_ms,
            partial: false,
        })];
        if let Some(frame) = frame {
            let blob = self.0.blobs.put(frame.bytes, frame.format).await?;
            done.screenshot = Some(blob.clone());
            bodies.push(EventBody::Screenshot(Screenshot {
                turn: None,
                call: Some(done.call.clone()),
                blob,
                width: frame.size.width,
                height: frame.size.height,
            }));
        }
        self.0.log.append(id, &bodies).await?;
        Ok(())
    }

    fn request_of(&self, act: &ActByHand) -> Result<ComputerRequest, ActByHandError> {
        match ToolRequest::parse(&act.tool, &act.input)? {
            ToolRequest::Computer(action) => {
                action.check(self.0.screen)?;
                let look = act.look;
                Ok(ComputerRequest::Act {
                    action,
                    look,
                    shown: None,
                })
            }
            ToolRequest::Bash(shell) => Ok(ComputerRequest::Shell(shell)),
            ToolRequest::Editor(edit) => Ok(ComputerRequest::Edit(edit)),
            ToolRequest::AskUser(_) => Err(ActByHandError::Question),
            ToolRequest::FillSecret(_) => Err(ActByHandError::Secret),
        }
    }
}

async fn perform(
    sandbox: &dyn Sandbox,
    id: RequestId,
    actor: Actor,
    request: ComputerRequest,
) -> Performed {
    let (text, is_error, frame) = match sandbox.perform(id, actor, request, None).await {
        Ok(ComputerReply::Acted { text, frame, .. }) => (text, false, frame),
        Ok(ComputerReply::Edited { text }) => (text, false, None),
        Ok(ComputerReply::Shell(output)) => {
            let (text, is_error) = deskhand_agent::shell_text(&output);
            (text, is_error, None)
        }
        Err(
            error @ (ComputerError::Failed(_)
            | ComputerError::Refused { .. }
            | ComputerError::Cancelled
            | ComputerError::FateUnknown
            | ComputerError::Gone
            | ComputerError::Ended(_)),
        ) => (error.to_string(), true, None),
    };
    Performed {
        text,
        is_error,
        frame,
    }
}
