//! Approval policies: the calls that a person must approve before the agent makes them.
//!
//! The first matching rule decides; without one, the mode does. A policy guards against accidents. The sandbox
//! contains an agent that means harm.

mod commands;
mod risky;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::commands::{Command, split};
use crate::tool_server::is_remote_name;

/// The most rules a policy has.
pub const MOST_RULES: usize = 50;
/// The longest pattern of a rule, in characters.
pub const LONGEST_PATTERN: usize = 200;

/// The calls that the agent must ask about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ApprovalPolicy)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    #[serde(default)]
    pub mode: Mode,
    /// The first matching rule takes precedence over the mode.
    #[serde(default)]
    #[schema(max_items = 50)]
    pub rules: Vec<Rule>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ApprovalMode)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The agent asks before every call except those that only look.
    Always,
    /// The agent asks before calls that may do harm; `docs/guide/approvals.md` lists them.
    #[default]
    Risky,
    /// The agent never asks.
    Never,
}

/// A decision for all calls of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ApprovalRule)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub tool: RuleTool,
    /// A pattern for the whole text of a call, such as `npm *`, `click` or `create /etc/*`. `*` stands for anything.
    #[serde(default = "anything")]
    #[schema(min_length = 1, max_length = 200)]
    pub pattern: String,
    pub then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleTool {
    Computer,
    Browser,
    Bash,
    Editor,
    FillSecret,
    /// A program uses a secret for HTTP APIs.
    HttpSecret,
    /// A tool of an MCP server. The pattern is for its name, such as `github__*`.
    Mcp,
    Any,
}

impl RuleTool {
    /// Returns true if a rule for this tool applies to the tool called `name`.
    fn covers(self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Computer => name == "computer",
            Self::Browser => name == "browser",
            Self::Bash => name == "bash",
            Self::Editor => name == "editor",
            Self::FillSecret => name == "fill_secret",
            Self::HttpSecret => name == "http_secret",
            Self::Mcp => is_remote_name(name),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Then {
    Ask,
    Allow,
    Refuse,
}

/// A policy's decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    /// People are asked this question.
    Ask(String),
    Refuse,
}

/// The reason why a policy is refused.
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

    /// Judges a call. Exempt calls are always allowed.
    pub fn verdict(&self, proposal: &Proposal) -> Verdict {
        if proposal.risk == Risk::Exempt {
            return Verdict::Allow;
        }
        match self.rules.iter().find(|rule| proposal.matches(rule)) {
            Some(rule) => match rule.then {
                Then::Ask => Verdict::Ask(proposal.question(None)),
                Then::Allow => Verdict::Allow,
                Then::Refuse => Verdict::Refuse,
            },
            None => self.by_mode(proposal),
        }
    }

    fn by_mode(&self, proposal: &Proposal) -> Verdict {
        match (self.mode, proposal.risk) {
            (Mode::Never, _) | (_, Risk::Exempt | Risk::Looks) | (Mode::Risky, Risk::Harmless) => {
                Verdict::Allow
            }
            (Mode::Always, Risk::Harmless) => Verdict::Ask(proposal.question(None)),
            (Mode::Always | Mode::Risky, Risk::Risky(why)) => Verdict::Ask(proposal.question(why)),
        }
    }
}

/// A call as policies judge it. The tool provides the subject and the risk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The tool's name.
    pub tool: String,
    pub subject: CallSubject,
    pub risk: Risk,
    /// The beginning of the question for people: `The agent wants to run a command`.
    pub wish: String,
}

/// The harm that a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// It only talks to people. No policy applies to it.
    Exempt,
    /// It changes nothing.
    Looks,
    /// It changes something, and probably does no harm.
    Harmless,
    /// It may do harm. The reason, if there is one to give, ends the sentence "… a command that …".
    Risky(Option<&'static str>),
}

/// The text that the patterns of rules are matched against: `type hello`, `click`, `create /etc/hosts`, or a secret's
/// name.
///
/// A shell command has its whole text and each of the simple commands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSubject {
    whole: String,
    commands: Vec<Command>,
}

impl CallSubject {
    pub fn text(whole: impl Into<String>) -> Self {
        Self {
            whole: whole.into(),
            commands: Vec::new(),
        }
    }

    /// Returns the subject of a shell command.
    pub fn shell(command: &str) -> Self {
        Self {
            whole: command.trim().to_owned(),
            commands: split(command),
        }
    }

    /// Returns the risk of the shell commands, as the end of "… a command that …".
    pub fn shell_risk(&self) -> Option<&'static str> {
        risky::risk(&self.commands, &self.whole)
    }
}

impl Proposal {
    /// Returns true if `rule` matches this call.
    ///
    /// A rule that asks or refuses matches if any command does, with or without the wrappers in front of it. A rule
    /// that allows matches only if every command does, so that nothing hides behind an allowed command.
    fn matches(&self, rule: &Rule) -> bool {
        let CallSubject { whole, commands } = &self.subject;
        if !rule.tool.covers(&self.tool) {
            return false;
        }
        let matched = |text: &str| matches(&rule.pattern, text);
        match rule.then {
            Then::Ask | Then::Refuse => {
                matched(whole)
                    || commands.iter().any(|command| {
                        matched(&command.text) || matched(&command.words().join(" "))
                    })
            }
            Then::Allow if commands.is_empty() => matched(whole),
            Then::Allow => commands.iter().all(|command| matched(&command.text)),
        }
    }

    /// Returns the sentence that asks people.
    fn question(&self, why: Option<&str>) -> String {
        match why {
            Some(why) => format!("{} that {why}.", self.wish),
            None => format!("{}.", self.wish),
        }
    }
}

/// Returns true if the pattern matches the whole text.
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
        // The earliest match leaves the most text for the parts that follow.
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
