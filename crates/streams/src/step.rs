//! The steps of a stream that a model may be asked for: the tasks, and the outcomes that it reports.

use deskhand_jamie::ErrorCode;
use serde::Deserialize;

use crate::fault::Fault;

/// The longest detail of an outcome, in characters. It is written by a model, and may come from a page.
const LONGEST_DETAIL: usize = 200;

/// A step that could not be done by rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Play,
    FillScreen,
    SignIn,
    Join,
    ShareTab,
}

impl Step {
    /// Returns the word for logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Play => "play",
            Self::FillScreen => "fill_screen",
            Self::SignIn => "sign_in",
            Self::Join => "join",
            Self::ShareTab => "share_tab",
        }
    }

    /// Returns the whole task. A model is told nothing else.
    pub(crate) fn task(self) -> String {
        let outcomes = self.outcomes().iter();
        let outcomes: Vec<_> = outcomes
            .map(|(name, meaning)| format!("\"{name}\" {meaning}"))
            .collect();
        format!(
            "{}\n\nWhen you are done, answer with one JSON object and nothing else: \
             {{\"outcome\": OUTCOME, \"detail\": \"one short sentence\"}}. OUTCOME is {}.",
            self.instruction(),
            outcomes.join(", or ")
        )
    }

    fn instruction(self) -> &'static str {
        match self {
            Self::Play => {
                "The browser on your screen shows a page that several people want to watch. Make its video or sound play, \
                 with the sound on: close banners and notices that cover it, and press its play button. Do not sign in, \
                 do not buy anything, do not follow links to other pages, and do not try to get past a CAPTCHA. If the \
                 page has nothing to play, leave it as it is."
            }
            Self::FillScreen => {
                "The browser on your screen plays a video. Make the video fill the screen with the player's own button \
                 for that, and leave it playing. Do nothing else."
            }
            Self::SignIn => {
                "The browser on your screen shows the web client of a chat service. Somebody else signs in: bring the \
                 form with the fields for e-mail and password onto the screen, and close banners and notices that cover \
                 it. Type nothing into the fields, do not download anything, do not allow notifications, and do not try \
                 to get past a CAPTCHA or a second factor. If nobody needs to sign in, leave the page as it is."
            }
            Self::Join => {
                "The browser on your screen shows a voice channel in the web client of a chat service. Join this voice \
                 channel with the button for that, and close notices that cover it. Write to nobody, open no other \
                 channel, and do not try to get past a CAPTCHA."
            }
            Self::ShareTab => {
                "The browser on your screen shows the web client of a chat service, which has joined a voice channel. \
                 Press its button to share the screen. The browser chooses what is shared by itself. Write to nobody, \
                 and leave the channel open."
            }
        }
    }

    /// Returns the outcomes that a model may report, each with its meaning.
    fn outcomes(self) -> &'static [(&'static str, &'static str)] {
        const CAPTCHA: (&str, &str) = ("captcha", "if a person has to prove that they are one");
        const STUCK: (&str, &str) = ("stuck", "if you could not do it");
        match self {
            Self::Play | Self::FillScreen => &[
                ("playing", "if it works"),
                ("nothing_to_play", "if the page has no video or sound"),
                ("unreachable", "if the page could not be loaded"),
                ("login_required", "if it needs an account"),
                CAPTCHA,
                STUCK,
            ],
            Self::SignIn => &[
                ("done", "if the form is there, or nobody needs to sign in"),
                ("two_factor", "if the page asks for a code or a key"),
                ("wrong_password", "if the page refuses the password"),
                CAPTCHA,
                STUCK,
            ],
            Self::Join => &[
                ("done", "if the channel is joined"),
                ("channel_not_found", "if there is no such channel"),
                CAPTCHA,
                STUCK,
            ],
            Self::ShareTab => &[
                ("done", "if the page shows that it shares"),
                ("share_failed", "if the page says that it cannot share"),
                CAPTCHA,
                STUCK,
            ],
        }
    }
}

/// A model's report about its step.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepReport {
    pub(crate) outcome: StepOutcome,
    #[serde(default)]
    detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepOutcome {
    Playing,
    NothingToPlay,
    Unreachable,
    LoginRequired,
    Captcha,
    Stuck,
    Done,
    TwoFactor,
    WrongPassword,
    ChannelNotFound,
    ShareFailed,
}

impl StepReport {
    /// Reads an answer, which is the object and nothing else, or the object in a fence.
    pub(crate) fn read(answer: &str) -> Option<Self> {
        let answer = answer.trim();
        let fenced = answer
            .strip_prefix("```")
            .and_then(|rest| rest.strip_suffix("```"));
        let json = match fenced {
            Some(fenced) => fenced.strip_prefix("json").unwrap_or(fenced),
            None => answer,
        };
        serde_json::from_str(json).ok()
    }

    /// Returns the error that the outcome is, if it is one.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let code = match self.outcome {
            StepOutcome::Playing | StepOutcome::NothingToPlay | StepOutcome::Done => return None,
            StepOutcome::Unreachable | StepOutcome::LoginRequired => ErrorCode::UrlUnreachable,
            StepOutcome::Captcha => ErrorCode::Captcha,
            StepOutcome::Stuck => ErrorCode::AgentStuck,
            StepOutcome::TwoFactor => ErrorCode::TwoFactorRequired,
            StepOutcome::WrongPassword => ErrorCode::InvalidCreds,
            StepOutcome::ChannelNotFound => ErrorCode::ChannelNotFound,
            StepOutcome::ShareFailed => ErrorCode::ShareFailed,
        };
        let detail: String = self.detail.chars().take(LONGEST_DETAIL).collect();
        Some(match detail.trim() {
            "" => code.into(),
            detail => Fault::new(code, detail),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_object_counts_as_a_report() {
        let outcome = |answer: &str| StepReport::read(answer).map(|report| report.outcome);
        assert_eq!(
            outcome(r#"{"outcome":"playing"}"#),
            Some(StepOutcome::Playing)
        );
        assert_eq!(
            outcome("```json\n{\"outcome\":\"captcha\",\"detail\":\"a puzzle\"}\n```"),
            Some(StepOutcome::Captcha)
        );
        for free in [
            "",
            "Done!",
            "It is playing. {\"outcome\":\"playing\"}",
            r#"{"outcome":"won"}"#,
            r#"{"outcome":"playing","success":true}"#,
        ] {
            assert_eq!(outcome(free), None, "{free}");
        }
    }

    #[test]
    fn outcomes_are_errors_of_the_table() {
        let fault = |outcome: &str| {
            let json = format!(r#"{{"outcome":"{outcome}","detail":"why"}}"#);
            let report = StepReport::read(&json).unwrap();
            report.fault().map(|fault| fault.code)
        };
        assert_eq!(fault("playing"), None);
        assert_eq!(fault("nothing_to_play"), None);
        assert_eq!(fault("unreachable"), Some(ErrorCode::UrlUnreachable));
        assert_eq!(fault("login_required"), Some(ErrorCode::UrlUnreachable));
        assert_eq!(fault("captcha"), Some(ErrorCode::Captcha));
        assert_eq!(fault("stuck"), Some(ErrorCode::AgentStuck));
        assert_eq!(fault("done"), None);
        assert_eq!(fault("two_factor"), Some(ErrorCode::TwoFactorRequired));
        assert_eq!(fault("wrong_password"), Some(ErrorCode::InvalidCreds));
        assert_eq!(fault("channel_not_found"), Some(ErrorCode::ChannelNotFound));
        assert_eq!(fault("share_failed"), Some(ErrorCode::ShareFailed));
    }

    #[test]
    fn every_outcome_of_a_task_can_be_reported() {
        for step in [
            Step::Play,
            Step::FillScreen,
            Step::SignIn,
            Step::Join,
            Step::ShareTab,
        ] {
            for (outcome, _) in step.outcomes() {
                let json = format!(r#"{{"outcome":"{outcome}"}}"#);
                assert!(StepReport::read(&json).is_some(), "{step:?}: {outcome}");
                assert!(step.task().contains(&format!("\"{outcome}\"")));
            }
        }
    }
}
