//! Approval policies: what a person must agree to before the agent does it.
//!
//! The first rule that matches says what happens; without one, the mode does. A policy is a guard
//! against accidents. What keeps an agent in that means harm is the sandbox.

mod commands;
mod risky;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::commands::{Command, split};
use crate::{action::Action, edit::EditCommand, model::ToolRequest, shell::ShellRequest};

/// The most rules a policy has.
pub const MOST_RULES: usize = 50;
/// The longest pattern of a rule, in characters.
pub const LONGEST_PATTERN: usize = 200;

/// What the agent must ask before it does it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ApprovalPolicy)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    #[serde(default)]
    pub mode: Mode,
    /// The first that matches wins over the mode.
    #[serde(default)]
    #[schema(max_items = 50)]
    pub rules: Vec<Rule>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ApprovalMode)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Everything but looking is asked about.
    Always,
    /// What may do harm is asked about; `docs/approvals.md` lists it.
    #[default]
    Risky,
    /// Nothing is asked about.
    Never,
}

/// What happens to calls of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ApprovalRule)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub tool: RuleTool,
    /// The whole text of a call, in which `*` stands for anything: see [`Subjects`].
    #[serde(default = "anything")]
    #[schema(min_length = 1, max_length = 200)]
    pub pattern: String,
    pub then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleTool {
    Computer,
    Bash,
    Editor,
    FillSecret,
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Then {
    Ask,
    Allow,
    Refuse,
}

/// What a policy says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    /// The text says what the agent wants, for people.
    Ask(String),
    Refuse,
}

/// Why something cannot be a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPolicy {
    #[error("a policy has at most {MOST_RULES} rules, not {0}")]
    Rules(usize),
    #[error(
        "rule {0}: a pattern has 1 to {LONGEST_PATTERN} characters, none of them a control character"
    )]
    Pattern(usize),
}

fn anything() -> String {
    "*".to_owned()
}

impl Policy {
    pub fn check(&self) -> Result<(), BadPolicy> {
        if self.rules.len() > MOST_RULES {
            return Err(BadPolicy::Rules(self.rules.len()));
        }
        let is_good = |pattern: &str| {
            (1..=LONGEST_PATTERN).contains(&pattern.chars().count())
                && !pattern.chars().any(char::is_control)
        };
        match self.rules.iter().position(|rule| !is_good(&rule.pattern)) {
            Some(index) => Err(BadPolicy::Pattern(index + 1)),
            None => Ok(()),
        }
    }

    /// What is to happen with a call. Asking is never asked about.
    pub fn verdict(&self, request: &ToolRequest) -> Verdict {
        let Some(subjects) = Subjects::of(request) else {
            return Verdict::Allow;
        };
        match self.rules.iter().find(|rule| subjects.match_rule(rule)) {
            Some(rule) => match rule.then {
                Then::Ask => Verdict::Ask(wish(request, None)),
                Then::Allow => Verdict::Allow,
                Then::Refuse => Verdict::Refuse,
            },
            None => self.by_mode(request, &subjects),
        }
    }

    fn by_mode(&self, request: &ToolRequest, subjects: &Subjects) -> Verdict {
        match self.mode {
            Mode::Never => Verdict::Allow,
            Mode::Always if only_looks(request) => Verdict::Allow,
            Mode::Always => Verdict::Ask(wish(request, subjects.risk())),
            Mode::Risky if matches!(request, ToolRequest::FillSecret(_)) => {
                Verdict::Ask(wish(request, None))
            }
            Mode::Risky => match subjects.risk() {
                Some(risk) => Verdict::Ask(wish(request, Some(risk))),
                None => Verdict::Allow,
            },
        }
    }
}

/// What the patterns of rules are held against. Of a shell command that is the whole text and each
/// of the simple commands in it; otherwise the action or command and what it is about, such as
/// `type hello`, `key ctrl+s`, `click` or `create /etc/hosts`; of a secret its name.
struct Subjects {
    tool: RuleTool,
    whole: String,
    commands: Vec<Command>,
}

impl Subjects {
    fn of(request: &ToolRequest) -> Option<Self> {
        let (tool, whole) = match request {
            ToolRequest::Computer(action) => (RuleTool::Computer, action_text(action)),
            ToolRequest::Bash(ShellRequest::Run { command, .. }) => {
                (RuleTool::Bash, command.trim().to_owned())
            }
            ToolRequest::Bash(ShellRequest::Restart) => (RuleTool::Bash, "restart".to_owned()),
            ToolRequest::Editor(edit) => (RuleTool::Editor, edit_text(edit)),
            ToolRequest::FillSecret(fill) => (RuleTool::FillSecret, fill.name.to_string()),
            ToolRequest::AskUser(_) => return None,
        };
        let commands = match request {
            ToolRequest::Bash(ShellRequest::Run { command, .. }) => split(command),
            ToolRequest::Bash(ShellRequest::Restart)
            | ToolRequest::Computer(_)
            | ToolRequest::Editor(_)
            | ToolRequest::FillSecret(_)
            | ToolRequest::AskUser(_) => Vec::new(),
        };
        Some(Self {
            tool,
            whole,
            commands,
        })
    }

    /// A rule that asks or refuses matches when any command does, however it is begun. One that
    /// allows matches only when every command does, so that nothing hides behind what is allowed.
    fn match_rule(&self, rule: &Rule) -> bool {
        if rule.tool != RuleTool::Any && rule.tool != self.tool {
            return false;
        }
        let matched = |text: &str| matches(&rule.pattern, text);
        match rule.then {
            Then::Ask | Then::Refuse => {
                matched(&self.whole)
                    || self.commands.iter().any(|command| {
                        matched(&command.text) || matched(&command.words().join(" "))
                    })
            }
            Then::Allow if self.commands.is_empty() => matched(&self.whole),
            Then::Allow => self.commands.iter().all(|command| matched(&command.text)),
        }
    }

    fn risk(&self) -> Option<&'static str> {
        risky::risk(&self.commands, &self.whole)
    }
}

/// What the agent wants, and what is risky about it.
fn wish(request: &ToolRequest, risk: Option<&str>) -> String {
    let wish = match request {
        ToolRequest::Computer(_) => "The agent wants to use mouse and keyboard".to_owned(),
        ToolRequest::Bash(ShellRequest::Run { .. }) => {
            "The agent wants to run a command".to_owned()
        }
        ToolRequest::Bash(ShellRequest::Restart) => {
            "The agent wants to start a new shell".to_owned()
        }
        ToolRequest::Editor(_) => "The agent wants to use the editor".to_owned(),
        ToolRequest::AskUser(_) => "The agent wants to ask".to_owned(),
        ToolRequest::FillSecret(fill) => format!(
            "The agent wants to type the secret {} into the page in front",
            fill.name
        ),
    };
    match risk {
        Some(risk) => format!("{wish} that {risk}."),
        None => format!("{wish}."),
    }
}

/// Whether a call changes nothing.
pub fn only_looks(request: &ToolRequest) -> bool {
    match request {
        ToolRequest::Computer(action) => matches!(
            action,
            Action::Screenshot | Action::Zoom { .. } | Action::Wait { .. } | Action::CursorPosition
        ),
        ToolRequest::Editor(edit) => matches!(edit, EditCommand::View { .. }),
        ToolRequest::Bash(_) | ToolRequest::FillSecret(_) => false,
        ToolRequest::AskUser(_) => true,
    }
}

fn action_text(action: &Action) -> String {
    match action {
        Action::Screenshot => "screenshot".to_owned(),
        Action::Zoom { .. } => "zoom".to_owned(),
        Action::Move { .. } => "move".to_owned(),
        Action::Click { .. } => "click".to_owned(),
        Action::MouseDown { .. } => "mouse_down".to_owned(),
        Action::MouseUp { .. } => "mouse_up".to_owned(),
        Action::Drag { .. } => "drag".to_owned(),
        Action::Scroll { .. } => "scroll".to_owned(),
        Action::Type { text } => format!("type {text}"),
        Action::Key { keys, .. } => format!("key {keys}"),
        Action::HoldKey { keys, .. } => format!("hold_key {keys}"),
        Action::Wait { .. } => "wait".to_owned(),
        Action::CursorPosition => "cursor_position".to_owned(),
    }
}

fn edit_text(edit: &EditCommand) -> String {
    match edit {
        EditCommand::View { path, .. } => format!("view {path}"),
        EditCommand::Create { path, .. } => format!("create {path}"),
        EditCommand::StrReplace { path, .. } => format!("str_replace {path}"),
        EditCommand::Insert { path, .. } => format!("insert {path}"),
        EditCommand::UndoEdit { path } => format!("undo_edit {path}"),
    }
}

/// Whether a pattern stands for the whole text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        // The earliest place leaves the most for the parts that follow.
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
