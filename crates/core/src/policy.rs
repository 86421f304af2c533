//! Approval policies: the calls that a person must approve before the agent makes them.
//!
//! The first matching rule decides; without one, the mode does. A policy guards against accidents. The sandbox
//! contains an agent that means harm.

mod clicks;
mod commands;
mod destination;
mod fuel;
mod inline;
mod interpreters;
mod options;
mod outside;
mod pipes;
mod removal;
mod risky;
mod subject;
mod wrappers;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::{
    clicks::{Consequence, Declaration},
    subject::CallSubject,
};
use crate::{browser::PointedElement, network::policy::NetworkMode, tool_server::is_remote_name};

/// The most rules a policy has.
pub const MOST_RULES: usize = 50;
/// The longest pattern of a rule, in characters.
pub const LONGEST_PATTERN: usize = 200;
/// The longest exact text of a rule, in characters. It may have several lines.
pub const LONGEST_EXACT: usize = 2_000;

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
    /// A pattern for the whole text of a call, such as `npm *`, `click` or `create /etc/*`. `*` stands for anything. An
    /// exact one has at most 2000 characters, others at most 200.
    #[serde(default = "anything")]
    #[schema(min_length = 1, max_length = 2000)]
    pub pattern: String,
    pub then: Then,
    /// True if only this very text matches, in which `*` stands for itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub exact: bool,
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
    /// Returns the value for the tool called `name`. A rule for a secret would allow it on every site, so there is none.
    fn of(name: &str) -> Option<Self> {
        match name {
            "computer" => Some(Self::Computer),
            "browser" => Some(Self::Browser),
            "bash" => Some(Self::Bash),
            "editor" => Some(Self::Editor),
            name if is_remote_name(name) => Some(Self::Mcp),
            _ => None,
        }
    }

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

/// The reach of the network of a session's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Only the computer itself.
    Sealed,
    /// Some or all hosts of the internet.
    Connected,
}

impl From<NetworkMode> for Reach {
    fn from(mode: NetworkMode) -> Self {
        match mode {
            NetworkMode::Closed => Self::Sealed,
            NetworkMode::Allow | NetworkMode::Open => Self::Connected,
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
    #[error(
        "rule {0}: an exact text has 1 to {LONGEST_EXACT} characters, and of the control characters only line feeds and tabs"
    )]
    Exact(usize),
}

/// The reason why a rule is not added to a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyRules;

fn anything() -> String {
    "*".to_owned()
}

impl Policy {
    /// Returns the policy of a session that nobody watches: there is nobody to ask, and no model gets a stored secret.
    pub fn unattended() -> Self {
        Self {
            mode: Mode::Never,
            rules: vec![Rule {
                tool: RuleTool::FillSecret,
                pattern: "*".to_owned(),
                then: Then::Refuse,
                exact: false,
            }],
        }
    }

    pub fn check(&self) -> Result<(), BadPolicy> {
        if self.rules.len() > MOST_RULES {
            return Err(BadPolicy::Rules(self.rules.len()));
        }
        for (number, rule) in (1..).zip(&self.rules) {
            rule.check(number)?;
        }
        Ok(())
    }

    /// Adds a rule before all others. If it is there already, it moves to that place.
    pub fn add(&mut self, rule: Rule) -> Result<(), TooManyRules> {
        self.rules.retain(|other| *other != rule);
        if self.rules.len() >= MOST_RULES {
            return Err(TooManyRules);
        }
        self.rules.insert(0, rule);
        Ok(())
    }

    /// Judges a call in a sandbox with a network of this reach. Exempt calls are always allowed.
    pub fn verdict(&self, proposal: &Proposal, reach: Reach) -> Verdict {
        if proposal.risk == Risk::Exempt {
            return Verdict::Allow;
        }
        match self.rules.iter().find(|rule| proposal.matches(rule)) {
            Some(rule) => match rule.then {
                Then::Ask => Verdict::Ask(proposal.question(None)),
                Then::Allow => Verdict::Allow,
                Then::Refuse => Verdict::Refuse,
            },
            None => self.by_mode(proposal, reach),
        }
    }

    /// Returns true if the verdict depends on the element that a call is for: no rule decides, and the mode asks about
    /// what may do harm.
    pub fn depends_on_element(&self, proposal: &Proposal) -> bool {
        self.mode == Mode::Risky && !self.rules.iter().any(|rule| proposal.matches(rule))
    }

    fn by_mode(&self, proposal: &Proposal, reach: Reach) -> Verdict {
        let risk = match proposal.risk {
            Risk::ByCommand => match proposal.subject.shell_risk(reach) {
                Some(why) => Risk::Risky(Some(why)),
                None => Risk::Harmless,
            },
            risk @ (Risk::Exempt | Risk::Looks | Risk::Harmless | Risk::Risky(_)) => risk,
        };
        match (self.mode, risk) {
            (Mode::Never, _) | (_, Risk::Exempt | Risk::Looks) | (Mode::Risky, Risk::Harmless) => {
                Verdict::Allow
            }
            (Mode::Always, Risk::Harmless) => Verdict::Ask(proposal.question(None)),
            (Mode::Always | Mode::Risky, Risk::Risky(why)) => Verdict::Ask(proposal.question(why)),
            // It was resolved above.
            (Mode::Always | Mode::Risky, Risk::ByCommand) => Verdict::Ask(proposal.question(None)),
        }
    }
}

impl Rule {
    /// Returns the rule that allows exactly one text.
    pub fn allowing(tool: RuleTool, text: String) -> Self {
        Self {
            tool,
            pattern: text,
            then: Then::Allow,
            exact: true,
        }
    }

    fn check(&self, number: usize) -> Result<(), BadPolicy> {
        let n_chars = self.pattern.chars().count();
        if self.exact {
            let is_bad = |c: char| c.is_control() && c != '\n' && c != '\t';
            let is_good = (1..=LONGEST_EXACT).contains(&n_chars) && !self.pattern.contains(is_bad);
            return is_good.then_some(()).ok_or(BadPolicy::Exact(number));
        }
        let is_good =
            (1..=LONGEST_PATTERN).contains(&n_chars) && !self.pattern.chars().any(char::is_control);
        is_good.then_some(()).ok_or(BadPolicy::Pattern(number))
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
    /// The commands in it decide, and the reach of the network.
    ByCommand,
    /// It may do harm. The reason, if there is one to give, ends the sentence "… a command that …".
    Risky(Option<&'static str>),
}

impl Proposal {
    /// Returns the proposal of a click, or of a key that clicks, on this element. It is as harmless as it was before
    /// unless the element or the model shows a consequence.
    #[must_use]
    pub fn with_element(
        self,
        element: Option<&PointedElement>,
        declared: Option<&Declaration>,
    ) -> Self {
        let shown = element.and_then(clicks::consequence_of);
        let consequence = declared.map(|declared| declared.consequence).or(shown);
        let element_text = element.and_then(clicks::subject);
        let (risk, wish) = match consequence {
            Some(consequence) => (
                Risk::Risky(None),
                clicks::question(consequence, element, declared),
            ),
            None => (self.risk, self.wish),
        };
        Self {
            subject: self.subject.with_element(element_text),
            risk,
            wish,
            ..self
        }
    }

    /// Returns the rule that allows exactly this call, if its text says enough to tell it from others.
    pub fn rule(&self) -> Option<Rule> {
        let tool = RuleTool::of(&self.tool)?;
        let rule = Rule::allowing(tool, self.subject.exact_text()?.to_owned());
        rule.check(1).is_ok().then_some(rule)
    }

    fn matches(&self, rule: &Rule) -> bool {
        rule.tool.covers(&self.tool) && self.subject.matches(rule)
    }

    /// Returns the sentence that asks people.
    fn question(&self, why: Option<&str>) -> String {
        match why {
            Some(why) => format!("{} that {why}.", self.wish),
            None => format!("{}.", self.wish),
        }
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
