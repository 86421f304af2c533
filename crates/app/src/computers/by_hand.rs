//! Uses a session's computer by hand, one action at a time, while no one else does.

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
    sandbox::Frame,
    session::{Phase, Session},
    viewer::Viewer,
};
use deskhand_store::{AppendEvents, StoreError};
use serde_json::Value;

use self::context::HandContext;
use super::{Computers, NoScreen, check_screen};
use crate::{FindError, InternalError, WakeError, refusal::refusals, sessions::find::find_with};

/// The result of an action during which another person took control.
const NOT_KEPT: &str =
    "Another person took control during this action, so its result was discarded.";

/// The longest text of an action's input in the log.
const LONGEST_LOGGED_BYTES: usize = 8 * 1024;

/// An action to carry out by hand.
#[derive(Debug)]
pub struct ActByHand {
    /// The name of a tool that people can use by hand: `computer`, `bash`, `editor` or `browser`.
    pub tool: String,
    pub input: Value,
    /// True to wait until the screen settles and keep a picture of it.
    pub look: bool,
}

/// The result of an action by hand.
#[derive(Debug)]
pub struct ByHand {
    pub call: String,
    pub text: String,
    pub is_error: bool,
    /// Facts for programs, such as the exit code of a command.
    pub state: Option<Value>,
    /// The name of the picture in the log.
    pub screenshot: Option<BlobName>,
    /// The picture itself, for its author.
    pub frame: Option<Frame>,
    pub duration_ms: u64,
}

/// The reason why an action was not done.
#[derive(Debug, thiserror::Error)]
pub enum ActByHandError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    NoScreen(#[from] NoScreen),
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
    #[error("{} has control of session {session} until {}; wait, or ask them to hand back", .lease.name, .lease.until)]
    SomebodyElseDrives { session: SessionId, lease: Lease },
    #[error("control of session {0} is changing hands; try again")]
    ControlChanges(SessionId),
    #[error("{}", .0.message)]
    NoSandbox(DeskError),
    #[error("could not store the picture")]
    Blob(#[from] BlobError),
    #[error("could not log the action")]
    Internal(#[source] InternalError),
}

refusals! {
    ActByHandError passes on Find, NoScreen, Wake, Blob, Internal;
    Self::BadCall(_) | Self::BadAction(_) | Self::NotByHand(_) => Invalid("bad_action"),
    Self::Ended(_) => Conflict("session_ended"),
    Self::AgentIsDriving(_) => Conflict("agent_is_driving"),
    Self::ControlChanges(_) => Conflict("control_changed"),
    Self::SomebodyElseDrives { lease, .. } => Conflict(
        "somebody_else_drives",
        { "user": lease.user, "name": lease.name, "until": lease.until }
    ),
    Self::NoSandbox(_) => Unavailable("no_sandbox"),
}

impl Computers {
    /// Carries out one action by hand. It is logged with its author, unless the author has control: what people do in
    /// that time is private.
    pub async fn act_by_hand(
        &self,
        user: UserId,
        id: SessionId,
        act: ActByHand,
    ) -> Result<ByHand, ActByHandError> {
        let viewer = Viewer::User(user);
        let session = find_with(&self.0.store, Right::Drive, viewer, id).await?;
        let has_control = self.check_free_for(user, &session)?;
        let invocation = self.invocation(&act)?;
        if invocation.action().is_some() {
            check_screen(&session)?;
        }
        let guard = self.0.live.wake(&session).await?;
        let computer = guard.desk.computer().await;
        let computer = computer.map_err(ActByHandError::NoSandbox)?;

        let request = RequestId::new();
        let call = request.to_string();
        if !has_control {
            let bodies = [tool_use(user, call.clone(), &act, &*invocation)];
            self.append(id, &bodies).await?;
        }
        let started = Instant::now();
        let mut context = HandContext {
            computer: &*computer,
            request,
            user,
            look: act.look,
            now: self.0.clock.now(),
        };
        let output = invocation.run(&mut context).await;
        let output = output.unwrap_or_else(ToolOutput::from);
        let mut done = ByHand {
            call,
            text: output.for_people(),
            is_error: output.is_error,
            state: output.state.clone(),
            screenshot: None,
            frame: output.picture.clone(),
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        if !has_control {
            // Another person may have taken control in the meantime. Then the log says only that the action was done.
            let is_private = self.0.live.attendance(id).held().is_some();
            done.frame = done.frame.filter(|_| !is_private);
            self.log_result(id, &mut done, output, is_private).await?;
        }
        Ok(done)
    }

    /// Checks that no one else uses the computer. Returns `true` if this user has control.
    fn check_free_for(&self, user: UserId, session: &Session) -> Result<bool, ActByHandError> {
        let id = session.id;
        let attendance = self.0.live.attendance(id);
        let held = attendance.held().map(|held| held.lease);
        let has_control = held.is_some();
        if let Some(lease) = held.filter(|lease| lease.user != user) {
            return Err(ActByHandError::SomebodyElseDrives { session: id, lease });
        }
        if has_control && !attendance.is_open_for(user) {
            return Err(ActByHandError::ControlChanges(id));
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

    fn invocation(&self, act: &ActByHand) -> Result<Box<dyn Invocation>, ActByHandError> {
        let invocation = tools::all().read(&act.tool, &act.input)?;
        invocation.by_hand().map_err(ActByHandError::NotByHand)?;
        invocation
            .check(self.0.screen)
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
            not_done: None,
        })];
        if let Some(frame) = output.picture.filter(|_| !is_private) {
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
        self.append(id, &bodies).await?;
        Ok(())
    }

    async fn append(&self, id: SessionId, bodies: &[EventBody]) -> Result<(), StoreError> {
        // Sessions are never deleted, so this one still exists.
        let _ = self.0.log.commit(id, AppendEvents::new(bodies)).await?;
        Ok(())
    }
}

/// Returns an input for the log, with long texts cut. Nobody carries it out again.
fn shortened(input: &Value) -> Value {
    match input {
        Value::String(text) if text.len() > LONGEST_LOGGED_BYTES => {
            let end = text.floor_char_boundary(LONGEST_LOGGED_BYTES);
            format!("{}… ({} bytes)", &text[..end], text.len()).into()
        }
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), shortened(value)));
            Value::Object(fields.collect())
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => input.clone(),
    }
}

fn tool_use(user: UserId, call: String, act: &ActByHand, invocation: &dyn Invocation) -> EventBody {
    EventBody::ToolUse(ToolUse {
        turn: None,
        call,
        tool: act.tool.clone(),
        input: shortened(&act.input),
        description: Some(invocation.describe()),
        by: Some(user),
        checks: Vec::new(),
    })
}
