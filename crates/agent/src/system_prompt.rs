//! The system prompt. The built-in text is in `system_prompt.md`, and in `system_prompt/browser.md` for sessions without
//! a screen; a deployment may have its own, and a session adds the secrets that its programs can use and the
//! instructions of its people.

pub(crate) mod secrets;
pub(crate) mod servers;
pub(crate) mod surroundings;

use std::sync::Arc;

use deskhand_core::{
    action::ScreenSize,
    computer::{DrivingTool, DrivingTools},
};
use jiff::Timestamp;

use self::{secrets::UsableSecret, servers::ServerNote, surroundings::Surroundings};

const BUILT_IN: &str = include_str!("system_prompt.md");

/// The text for models that are not offered the tool `computer`.
const WITHOUT_SCREEN: &str = include_str!("system_prompt/browser.md");

/// The correction of a deployment's own text for models that are not offered the tool `computer`.
const NO_SCREEN: &str = "# Your computer in this conversation\n\nYou have no screen, mouse or keyboard in this \
                         conversation. Where the text above speaks of them, use the tool `browser`, which shows you \
                         pages.\n";

/// The longest template.
const LONGEST_TEMPLATE_BYTES: usize = 64 * 1024;

/// The facts that a template has to contain, each written as `{{name}}`.
const FACTS: [&str; 2] = ["date", "screen"];

/// A prompt with placeholders for facts. Every fact has a placeholder, and every placeholder is for a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate(Arc<str>);

/// The reason why a text cannot be a template.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    #[error("it is empty")]
    Empty,
    #[error("it has {0} bytes, and at most {LONGEST_TEMPLATE_BYTES} are allowed")]
    Long(usize),
    #[error(
        "line {line}: {{{{{name}}}}} is not a placeholder; the placeholders are {{{{date}}}} and \
             {{{{screen}}}}"
    )]
    NoFact { line: usize, name: String },
    #[error("line {line}: {{{{ is not closed by }}}} on the same line")]
    Open { line: usize },
    #[error("the placeholder {{{{{0}}}}} is missing, so the model would not know it")]
    Missing(&'static str),
}

impl Default for PromptTemplate {
    fn default() -> Self {
        Self(BUILT_IN.into())
    }
}

impl PromptTemplate {
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the template for a session that drives its computer with these tools.
    pub fn for_tools(&self, tools: &DrivingTools) -> Self {
        if tools.contain(DrivingTool::Computer) {
            return self.clone();
        }
        if *self == Self::default() {
            return Self(WITHOUT_SCREEN.into());
        }
        Self(format!("{}\n\n{NO_SCREEN}", self.0.trim_end()).into())
    }

    /// Parses a text that contains all facts and no other placeholders.
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        if text.trim().is_empty() {
            return Err(BadTemplate::Empty);
        }
        if text.len() > LONGEST_TEMPLATE_BYTES {
            return Err(BadTemplate::Long(text.len()));
        }
        let mut missing = FACTS.to_vec();
        for (line, words) in (1..).zip(text.lines()) {
            for place in words.split("{{").skip(1) {
                let (name, _) = place.split_once("}}").ok_or(BadTemplate::Open { line })?;
                if !FACTS.contains(&name) {
                    let name = name.to_owned();
                    return Err(BadTemplate::NoFact { line, name });
                }
                missing.retain(|fact| *fact != name);
            }
        }
        match missing.first() {
            Some(fact) => Err(BadTemplate::Missing(fact)),
            None => Ok(Self(text.into())),
        }
    }
}

/// The system prompt of one session.
#[derive(Debug, Clone, Default)]
pub struct SystemPrompt {
    pub template: PromptTemplate,
    /// The instructions of the session's people. Empty if there are none.
    pub instructions: String,
    /// The facts about the session's computer. `None` if the model is not told any.
    pub surroundings: Option<Surroundings>,
    /// The secrets that programs of the session can use.
    pub secrets: Vec<UsableSecret>,
    /// The MCP servers of the session. Only its first turn tells about them.
    pub servers: Vec<ServerNote>,
}

impl SystemPrompt {
    /// Returns the text for a session that begins at `now`, for a model that is shown pictures of this size.
    pub fn fill(&self, now: Timestamp, shown: ScreenSize) -> String {
        self.pieces(now).join(&shown.to_string())
    }

    /// Returns the same text, cut where the size of the pictures belongs. Instructions may contain anything, so a
    /// placeholder would not do.
    pub(crate) fn pieces(&self, now: Timestamp) -> Vec<String> {
        let told = self.template.0.replace("{{date}}", &Self::day(now));
        let mut pieces: Vec<String> = told.split("{{screen}}").map(str::to_owned).collect();
        if let Some(surroundings) = &self.surroundings {
            append(&mut pieces, &surroundings.section());
        }
        if !self.secrets.is_empty() {
            append(&mut pieces, &secrets::section(&self.secrets));
        }
        if !self.servers.is_empty() {
            append(&mut pieces, &servers::section(&self.servers));
        }
        let wanted = self.instructions.trim();
        if !wanted.is_empty() {
            let section = format!(
                "# For this conversation\n\nThe people in this conversation want you to follow these \
                 instructions:\n\n{wanted}\n"
            );
            append(&mut pieces, &section);
        }
        pieces
    }

    /// Returns the text without the instructions, with these words for the size of the pictures.
    pub(crate) fn told(&self, now: Timestamp, size: &str) -> String {
        let told = self.template.0.replace("{{date}}", &Self::day(now));
        told.replace("{{screen}}", size)
    }

    /// Writes the day.
    pub(crate) fn day(now: Timestamp) -> String {
        now.strftime("%A, %-d %B %Y").to_string()
    }
}

/// Appends a section to a text in pieces.
fn append(pieces: &mut [String], section: &str) {
    if let Some(last) = pieces.last_mut() {
        last.truncate(last.trim_end().len());
        last.push_str("\n\n");
        last.push_str(section);
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::computer::ComputerKind;

    use super::*;

    fn filled(prompt: &SystemPrompt) -> String {
        let now = "2026-07-03T23:59:59Z".parse().unwrap();
        prompt.fill(now, ScreenSize::default())
    }

    #[test]
    fn the_built_in_template_tells_all_facts_and_leaves_no_place_empty() {
        assert_eq!(
            PromptTemplate::parse(BUILT_IN),
            Ok(PromptTemplate::default())
        );
        let told = filled(&SystemPrompt::default());
        assert!(told.contains("Today is Friday, 3 July 2026."), "{told}");
        assert!(told.contains("pictures of 1024×768"), "{told}");
        assert!(!told.contains(['{', '}']), "{told}");
    }

    #[test]
    fn a_session_without_a_screen_is_not_told_of_one() {
        let browser = DrivingTools::of(ComputerKind::Browser);
        let prompt = SystemPrompt {
            template: PromptTemplate::default().for_tools(&browser),
            ..SystemPrompt::default()
        };
        let told = filled(&prompt);
        assert!(told.contains("Today is Friday, 3 July 2026."), "{told}");
        let words = told.replace("screenshot", "picture");
        for word in ["screen", "mouse", "desktop", "`computer`", "{{"] {
            assert!(!words.contains(word), "{word}: {told}");
        }
        // The rules about safety are the same everywhere.
        let rules = |text: &str| -> Vec<String> {
            let starts = ["Do not give anybody", "Before you buy", "Some actions need"];
            let is_rule = |item: &&str| starts.iter().any(|start| item.starts_with(start));
            let items = text.split("\n- ").filter(is_rule);
            items.map(str::to_owned).collect()
        };
        let usual = rules(&filled(&SystemPrompt::default()));
        assert_eq!(usual.len(), 3);
        assert_eq!(rules(&told), usual);
        let both = PromptTemplate::default().for_tools(&DrivingTools::default());
        assert_eq!(both, PromptTemplate::default());
        let own = PromptTemplate::parse("{{date}} {{screen}}").unwrap();
        let own = own.for_tools(&browser);
        assert!(own.text().contains("You have no screen"), "{}", own.text());
    }

    #[test]
    fn instructions_stand_under_a_heading_of_their_own_and_are_not_filled_in() {
        let prompt = SystemPrompt {
            template: PromptTemplate::parse("On {{date}}: {{screen}}\n").unwrap(),
            instructions: " Write {{date}} in full.\n".to_owned(),
            ..SystemPrompt::default()
        };
        assert_eq!(
            filled(&prompt),
            "On Friday, 3 July 2026: 1024×768\n\n# For this conversation\n\n\
             The people in this conversation want you to follow these instructions:\n\nWrite {{date}} in full.\n"
        );
    }

    #[test]
    fn templates_that_would_not_work_are_refused_with_the_place() {
        let no_fact = BadTemplate::NoFact {
            line: 2,
            name: "dat".to_owned(),
        };
        for (text, problem) in [
            (" \n", BadTemplate::Empty),
            ("{{date}}\n{{dat}} {{screen}}", no_fact),
            ("{{date}} {{screen", BadTemplate::Open { line: 1 }),
            ("{{date}} {{\nscreen}}", BadTemplate::Open { line: 1 }),
            ("today is {{date}}", BadTemplate::Missing("screen")),
            ("{date} {screen}", BadTemplate::Missing("date")),
        ] {
            assert_eq!(PromptTemplate::parse(text), Err(problem), "{text:?}");
        }
        let long = "x".repeat(LONGEST_TEMPLATE_BYTES + 1);
        assert!(matches!(
            PromptTemplate::parse(&long),
            Err(BadTemplate::Long(_))
        ));
        let told = BadTemplate::Missing("screen").to_string();
        assert!(
            told.starts_with("the placeholder {{screen}} is missing"),
            "{told}"
        );
    }
}
