//! Using a session's computer by hand, one action at a time, when nobody else does.

use std::time::Instant;

use deskhand_agent::DeskError;
use deskhand_core::{
    action::BadAction,
    blob::{BlobError, BlobName},
    edit::EditCommand,
    event::{EventBody, Screenshot, ToolResult, ToolUse},
    id::{SessionId, UserId},
    lease::Lease,
    model::{BadCall, ToolRequest},
    right::Right,
    sandbox::{Act, Actor, Call, Computer, ComputerError, ComputerExt, Frame},
    session::Phase,
    shell::ShellRequest,
    viewer::Viewer,
};
use deskhand_store::StoreError;

use super::{FindError, Sessions};
use crate::WakeError;

/// In place of what came of an action during which somebody took control.
const NOT_KEPT: &str = "Somebody took control meanwhile, so nothing of it is kept.";

/// One thing to do by hand.
#[derive(Debug)]
pub struct ActByHand {
    /// `computer`, `bash` or `editor`.
    pub tool: String,
    pub input: serde_json::Value,
    /// Whether to wait until the screen settles and keep a picture of it.
    pub look: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct ByHand {
    pub call: String,
    pub text: String,
    pub is_error: bool,
    pub screenshot: Option<BlobName>,
    pub duration_ms: u64,
}

/// Why nothing was done.
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
        let operation = self.operation_of(&act)?;
        let kept = self.wake(&session).await?;
        let computer = kept.live.desk.computer().await;
        let computer = computer.map_err(ActByHandError::NoSandbox)?;

        let request = Call::by(Actor::Person(user));
        let call = request.id.to_string();
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
            self.shared.log.append(id, &bodies).await?;
        }
        let started = Instant::now();
        let done = operation.perform(&*computer, request).await;
        let (text, is_error, frame) = done.unwrap_or_else(|error| (error.to_string(), true, None));
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if has_control {
            return Ok(ByHand {
                call,
                text,
                is_error,
                screenshot: None,
                duration_ms,
            });
        }
        // They may have taken control meanwhile; then only that it was done is told.
        let is_private = room.held().is_some();
        let frame = frame.filter(|_| !is_private);
        let logged_text = if is_private { NOT_KEPT } else { &text };

        let mut bodies = vec![EventBody::ToolResult(ToolResult {
            turn: None,
            call: call.clone(),
            text: logged_text.to_owned(),
            is_error,
            duration_ms,
            partial: false,
        })];
        let mut screenshot = None;
        if let Some(frame) = frame {
            let blob = self.shared.blobs.put(frame.bytes, frame.format).await?;
            screenshot = Some(blob.clone());
            bodies.push(EventBody::Screenshot(Screenshot {
                turn: None,
                call: Some(call.clone()),
                blob,
                width: frame.size.width,
                height: frame.size.height,
            }));
        }
        self.shared.log.append(id, &bodies).await?;
        Ok(ByHand {
            call,
            text,
            is_error,
            screenshot,
            duration_ms,
        })
    }

    fn operation_of(&self, act: &ActByHand) -> Result<HandOperation, ActByHandError> {
        match ToolRequest::parse(&act.tool, &act.input)? {
            ToolRequest::Computer(action) => {
                action.check(self.shared.settings.screen)?;
                let look = act.look;
                Ok(HandOperation::Act(Act {
                    action,
                    look,
                    shown: None,
                }))
            }
            ToolRequest::Bash(shell) => Ok(HandOperation::Shell(shell)),
            ToolRequest::Editor(edit) => Ok(HandOperation::Edit(edit)),
            ToolRequest::AskUser(_) => Err(ActByHandError::Question),
            ToolRequest::FillSecret(_) => Err(ActByHandError::Secret),
        }
    }
}

/// An operation that people may ask for.
enum HandOperation {
    Act(Act),
    Shell(ShellRequest),
    Edit(EditCommand),
}

impl HandOperation {
    /// Carries it out and returns the result's text, whether it counts as an error, and the picture.
    async fn perform(
        self,
        computer: &dyn Computer,
        call: Call,
    ) -> Result<(String, bool, Option<Frame>), ComputerError> {
        match self {
            Self::Act(act) => {
                let action = act.action.clone();
                let acted = computer.perform(call, act).await?;
                let text = deskhand_agent::action_text(&action, &acted);
                Ok((text, false, acted.frame))
            }
            Self::Shell(shell) => {
                let output = computer.perform(call, shell).await?;
                let (text, is_error) = deskhand_agent::shell_text(&output);
                Ok((text, is_error, None))
            }
            Self::Edit(edit) => Ok((computer.perform(call, edit).await?.text, false, None)),
        }
    }
}
