//! Waits while a person controls the mouse and keyboard, and looks at the screen they left.

use tokio::time::Instant;

use crate::{context, cut::Cut, machine::Look, work::Work};

impl Work {
    /// Waits while a person controls the mouse and keyboard. The wait does not count as work. The agent looks again
    /// if people had control since it last looked.
    pub(crate) async fn wait_for_hands(&mut self) -> Result<(), Cut> {
        loop {
            let since = Instant::now();
            self.machine.free(&self.signals).await?;
            self.stopwatch.waited_since(since);
            self.journal.take_leases().await?;
            // What comes with a message is on the computer before the agent looks at it.
            let is_to_look =
                !self.has_unplaced_files() && !self.has_unopened_pages() && self.is_to_look();
            if !is_to_look || !self.look_again().await? {
                return Ok(());
            }
        }
    }

    /// Returns true if the model needs a new picture of the screen.
    pub(crate) fn is_to_look(&self) -> bool {
        let news = &self.journal.bodies[self.n_looked_at..];
        self.has_screen && context::is_to_look(news, self.turn)
    }

    /// Stores a picture of the screen for the model. Returns true if a person took control again.
    async fn look_again(&mut self) -> Result<bool, Cut> {
        let shown = self.model.model.shown(self.machine.screen);
        match self.machine.look(shown, &self.signals).await? {
            Look::Seen(frame) => {
                let screenshot = self.album.keep(self.turn, None, frame).await?;
                self.journal.append(vec![screenshot]).await?;
                Ok(false)
            }
            Look::Refused => Ok(true),
            // The model can look for itself.
            Look::Nothing => {
                self.n_looked_at = self.journal.bodies.len();
                Ok(false)
            }
        }
    }
}
