//! The kind of a session's computer, and the tools by which its model drives it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::action::ScreenSize;

/// The size of a page on a computer without a screen, unless the server's settings say otherwise.
pub const USUAL_VIEWPORT: ScreenSize = ScreenSize {
    width: 1280,
    height: 800,
};

/// The kind of a computer. It never changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ComputerKind {
    /// A desktop with a screen, mouse and keyboard, and a browser on it.
    #[default]
    Desktop,
    /// A browser without a screen, which is lighter. Nobody can take control of it.
    Browser,
}

/// A tool by which a model drives its computer. The shell, the editor and the others are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DrivingTool {
    /// Mouse, keyboard and screen.
    Computer,
    /// The browser, by its pages.
    Browser,
}

/// The driving tools that a session offers to its models. There is at least one, and each fits the computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DrivingTools(Vec<DrivingTool>);

/// The reason why a session cannot offer a choice of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadDrivingTools {
    #[error("no tool is chosen; choose computer, browser or both")]
    Empty,
    #[error(
        "a computer of the kind browser has no screen, so the tool computer cannot be used on it; leave it out, or \
         choose the kind desktop"
    )]
    NoScreen,
}

impl ComputerKind {
    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Browser => "browser",
        }
    }

    /// Returns true if it has a screen, with mouse and keyboard.
    pub fn has_screen(self) -> bool {
        self == Self::Desktop
    }
}

/// The error for a name that no kind of computer has.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a kind of computer; the kinds are desktop and browser")]
pub struct UnknownComputerKind(pub String);

impl std::str::FromStr for ComputerKind {
    type Err = UnknownComputerKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Desktop, Self::Browser]
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| UnknownComputerKind(text.to_owned()))
    }
}

impl DrivingTool {
    /// Returns the name of the tool in calls.
    pub fn name(self) -> &'static str {
        match self {
            Self::Computer => "computer",
            Self::Browser => "browser",
        }
    }
}

impl DrivingTools {
    /// Returns all tools that fit a computer.
    pub fn of(kind: ComputerKind) -> Self {
        Self(match kind {
            ComputerKind::Desktop => vec![DrivingTool::Computer, DrivingTool::Browser],
            ComputerKind::Browser => vec![DrivingTool::Browser],
        })
    }

    /// Chooses tools for a computer. Their order and repetitions do not matter.
    pub fn choose(
        kind: ComputerKind,
        mut wanted: Vec<DrivingTool>,
    ) -> Result<Self, BadDrivingTools> {
        wanted.sort();
        wanted.dedup();
        if wanted.is_empty() {
            return Err(BadDrivingTools::Empty);
        }
        if !kind.has_screen() && wanted.contains(&DrivingTool::Computer) {
            return Err(BadDrivingTools::NoScreen);
        }
        Ok(Self(wanted))
    }

    pub fn contain(&self, tool: DrivingTool) -> bool {
        self.0.contains(&tool)
    }

    /// Returns them in the order of their names on the wire.
    pub fn all(&self) -> &[DrivingTool] {
        &self.0
    }
}

impl Default for DrivingTools {
    fn default() -> Self {
        Self::of(ComputerKind::Desktop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_fits_the_computer_or_is_refused() {
        use DrivingTool::{Browser, Computer};
        let desktop = ComputerKind::Desktop;
        let chosen = DrivingTools::choose(desktop, vec![Browser, Computer, Browser]);
        assert_eq!(chosen, Ok(DrivingTools::of(desktop)));
        let browser = ComputerKind::Browser;
        let chosen = DrivingTools::choose(browser, vec![Browser]);
        assert_eq!(chosen, Ok(DrivingTools::of(browser)));
        let chosen = DrivingTools::choose(browser, vec![Browser, Computer]);
        assert_eq!(chosen, Err(BadDrivingTools::NoScreen));
        let chosen = DrivingTools::choose(desktop, Vec::new());
        assert_eq!(chosen, Err(BadDrivingTools::Empty));
    }
}
