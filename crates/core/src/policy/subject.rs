//! The text of a call that the patterns of rules are matched against.

use super::{
    Reach, Rule, Then,
    commands::{Command, split},
    fuel::Fuel,
    interpreters::is_shell,
    pipes::piped_text,
    risky,
    wrappers::passed_on,
};

/// The text that the patterns of rules are matched against: `type hello`, `click`, `create /etc/hosts`, or a secret's
/// name.
///
/// A shell command has its whole text and each of the simple commands in it. A click has the element as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSubject {
    whole: String,
    commands: Vec<Command>,
    /// True if the commands do not have every part of the text, because it was too long or too deep to read.
    is_cut: bool,
    /// The click with its element, once that is known.
    element: Option<String>,
    /// True if the whole text says so little that a rule for it would allow too much.
    is_vague: bool,
}

impl CallSubject {
    pub fn text(whole: impl Into<String>) -> Self {
        Self {
            whole: whole.into(),
            commands: Vec::new(),
            is_cut: false,
            element: None,
            is_vague: false,
        }
    }

    /// Returns the subject of a call whose text does not say what it is for, such as `click`.
    pub fn vague(whole: impl Into<String>) -> Self {
        Self {
            is_vague: true,
            ..Self::text(whole)
        }
    }

    /// Returns the subject of a shell command.
    pub fn shell(command: &str) -> Self {
        let fuel = Fuel::for_text(command);
        Self {
            commands: split(command, &fuel),
            is_cut: fuel.is_out(),
            ..Self::text(command.trim())
        }
    }

    #[must_use]
    pub(super) fn with_element(self, element: Option<String>) -> Self {
        Self { element, ..self }
    }

    /// Returns the risk of the shell commands, as the end of "… a command that …".
    pub(super) fn shell_risk(&self, reach: Reach) -> Option<&'static str> {
        risky::risk(&self.commands, self.is_cut, reach)
    }

    /// Returns the text that stands for exactly this call.
    pub(super) fn exact_text(&self) -> Option<&str> {
        match &self.element {
            Some(element) => Some(element),
            None if self.is_vague => None,
            None => Some(&self.whole),
        }
    }

    /// Returns true if `rule` matches this text.
    ///
    /// A rule that asks or refuses matches if any command does, with or without the wrappers in front of it. A rule
    /// that allows matches only if every command does, so that nothing hides behind an allowed command.
    pub(super) fn matches(&self, rule: &Rule) -> bool {
        let matched = |text: &str| {
            if rule.exact {
                rule.pattern == text
            } else {
                matches(&rule.pattern, text)
            }
        };
        if self.element.as_deref().is_some_and(matched) {
            return true;
        }
        match rule.then {
            Then::Ask | Then::Refuse => {
                matched(&self.whole)
                    || self.all_commands().iter().any(|command| {
                        matched(&command.text)
                            || matched(&command.words().join(" "))
                            || matched(&command.plain_text())
                    })
            }
            Then::Allow if rule.exact || self.commands.is_empty() => matched(&self.whole),
            Then::Allow => {
                let mut commands = self.commands.iter().flat_map(Command::with_inner);
                !self.is_cut && commands.all(|command| matched(&command.text))
            }
        }
    }

    /// Returns all commands, with those in substitutions and those that are passed to other programs.
    fn all_commands(&self) -> Vec<Command> {
        let fuel = Fuel::for_text(&self.whole);
        let commands = self.commands.iter().flat_map(Command::with_inner);
        let passed = |command: &Command| passed_on(command, &fuel);
        let mut all: Vec<Command> = commands
            .flat_map(|command| std::iter::once(command.clone()).chain(passed(command)))
            .collect();
        for (index, command) in self.commands.iter().enumerate() {
            if is_shell(command.program())
                && let Some(text) = piped_text(command, &self.commands[..index])
            {
                all.extend(split(&text, &fuel));
            }
        }
        all
    }
}

/// Returns true if the pattern matches the whole text.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
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
