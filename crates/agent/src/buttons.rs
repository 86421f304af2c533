//! Mouse buttons that actions leave pressed, which are let go when the turn is broken off.

use std::time::Duration;

use deskhand_core::{
    action::Action,
    sandbox::{Act, Actor, Call, ComputerExt},
};

use crate::work::Work;

/// How long the computer may take to let go. A stop promises an end within a second.
const PATIENCE: Duration = Duration::from_millis(250);

impl Work {
    /// Notes what an action presses and lets go. One that fails leaves nothing pressed.
    pub(crate) fn note_buttons(&mut self, action: &Action) {
        if let Action::MouseDown { button } | Action::MouseUp { button } = action {
            self.pressed.retain(|pressed| pressed != button);
        }
        if let Action::MouseDown { button } = action {
            self.pressed.push(*button);
        }
    }

    /// Lets go of the buttons that are still pressed.
    pub(crate) async fn let_go(&mut self) {
        let pressed = std::mem::take(&mut self.pressed);
        let Some(computer) = self.computer.clone() else {
            return;
        };
        let release = async {
            for button in pressed {
                let up = Act {
                    action: Action::MouseUp { button },
                    look: false,
                    shown: None,
                };
                // A computer that refuses obeys a person, who found nothing pressed; one that is gone has no mouse.
                let _ = computer.perform(Call::by(Actor::Agent), up).await;
            }
        };
        if tokio::time::timeout(PATIENCE, release).await.is_err() {
            tracing::warn!(turn.id = %self.turn, "the mouse was not let go in time");
        }
    }
}
