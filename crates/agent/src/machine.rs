//! The session's computer as a turn uses it.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    action::{Action, Button, ScreenSize},
    sandbox::{Act, Actor, Call, Computer, ComputerError, ComputerExt, Frame},
};

use crate::{
    cut::{Cut, Signals},
    ports::Desk,
};

/// The timeout for releasing the mouse. A stop promises an end within a second.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(250);

/// The computer, once the turn has needed it, and the mouse buttons that the agent left pressed.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) screen: ScreenSize,
    computer: Option<Arc<dyn Computer>>,
    pressed: Vec<Button>,
    /// True if the computer was lost, or a person took control, since this was last asked.
    was_taken_away: bool,
}

/// The result of a look at the screen that no call asked for.
#[derive(Debug)]
pub(crate) enum Look {
    Seen(Frame),
    /// A person took control again.
    Refused,
    /// There is no picture. The model is told without one, and can look for itself.
    Nothing,
}

impl Machine {
    pub(crate) fn new(desk: Arc<dyn Desk>, screen: ScreenSize) -> Self {
        Self {
            desk,
            screen,
            computer: None,
            pressed: Vec::new(),
            was_taken_away: false,
        }
    }

    /// Returns true if the computer was lost, or a person took control, since the last call.
    pub(crate) fn was_taken_away(&mut self) -> bool {
        std::mem::take(&mut self.was_taken_away)
    }

    /// Waits while a person controls the mouse and keyboard.
    pub(crate) async fn free(&self, signals: &Signals) -> Result<(), Cut> {
        tokio::select! {
            biased;
            cut = signals.stopped() => Err(cut),
            () = self.desk.free() => Ok(()),
        }
    }

    /// Returns the session's computer, starting it if necessary.
    pub(crate) async fn computer(&mut self, signals: &Signals) -> Result<Arc<dyn Computer>, Cut> {
        if signals.is_stopped() {
            return Err(Cut::Stopped);
        }
        if let Some(computer) = &self.computer {
            return Ok(Arc::clone(computer));
        }
        let computer = tokio::select! {
            biased;
            cut = signals.stopped() => return Err(cut),
            found = self.desk.computer() => found.map_err(|error| Cut::Failed {
                code: "sandbox_failed",
                message: error.message,
            })?,
        };
        self.computer = Some(Arc::clone(&computer));
        Ok(computer)
    }

    /// Records a request's failure: a lost computer is started again for the next request.
    pub(crate) fn note_failure(&mut self, error: &ComputerError) {
        if matches!(
            error,
            ComputerError::FateUnknown | ComputerError::Gone | ComputerError::Ended(_)
        ) {
            self.computer = None;
            self.was_taken_away = true;
        }
        self.was_taken_away |= matches!(error, ComputerError::Refused { .. });
    }

    /// Records the buttons that an action presses and releases. An action that fails leaves nothing pressed.
    pub(crate) fn note_buttons(&mut self, action: &Action) {
        if let Action::MouseDown { button } | Action::MouseUp { button } = action {
            self.pressed.retain(|pressed| pressed != button);
        }
        if let Action::MouseDown { button } = action {
            self.pressed.push(*button);
        }
    }

    /// Takes a picture of the screen once it has settled.
    pub(crate) async fn look(&mut self, shown: ScreenSize, signals: &Signals) -> Result<Look, Cut> {
        let computer = match self.computer(signals).await {
            Ok(computer) => computer,
            // The turn fails when it really needs the computer.
            Err(Cut::Failed { .. }) => return Ok(Look::Nothing),
            Err(cut) => return Err(cut),
        };
        let look = Act {
            action: Action::Screenshot,
            look: true,
            shown: Some(shown),
        };
        let reply = tokio::select! {
            biased;
            cut = signals.stopped() => return Err(cut),
            reply = computer.perform(Call::by(Actor::Agent), look) => reply,
        };
        Ok(match reply {
            Ok(acted) => acted.frame.map_or(Look::Nothing, Look::Seen),
            Err(ComputerError::Refused { .. }) => Look::Refused,
            Err(error) => {
                self.note_failure(&error);
                Look::Nothing
            }
        })
    }

    /// Releases the buttons that are still pressed. Returns false if that took too long.
    pub(crate) async fn release(&mut self) -> bool {
        let pressed = std::mem::take(&mut self.pressed);
        let Some(computer) = self.computer.clone() else {
            return true;
        };
        let release = async {
            for button in pressed {
                let up = Act {
                    action: Action::MouseUp { button },
                    look: false,
                    shown: None,
                };
                // If the computer refuses, a person controls it, and found nothing pressed. If it is gone, there is
                // no mouse.
                let _ = computer.perform(Call::by(Actor::Agent), up).await;
            }
        };
        tokio::time::timeout(RELEASE_TIMEOUT, release).await.is_ok()
    }
}
