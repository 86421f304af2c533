//! Waiting while a person has mouse and keyboard, and looking at what they left.

use deskhand_core::{
    action::Action,
    event::{EventBody, Screenshot},
    model::Image,
    sandbox::{Act, Acted, Actor, Call, ComputerError, ComputerExt},
};
use tokio::time::Instant;

use crate::{
    context,
    work::{Cut, Work},
};

impl Work {
    /// Waits while a person has mouse and keyboard; the time does not count. When people had them
    /// since the agent last looked, it looks again.
    pub(crate) async fn wait_for_hands(&mut self) -> Result<(), Cut> {
        loop {
            let since = Instant::now();
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(Cut::Stopped),
                () = self.desk.free() => {}
            }
            self.stopwatch.waited_since(since);
            self.journal.take_leases().await?;
            if !context::is_to_look(&self.journal.bodies) || !self.look_again().await? {
                return Ok(());
            }
        }
    }

    /// Keeps a picture of the screen for the model. Tells whether somebody took over again.
    async fn look_again(&mut self) -> Result<bool, Cut> {
        let computer = self.computer().await?;
        let look = Act {
            action: Action::Screenshot,
            look: true,
            shown: Some(self.model.shown(self.screen)),
        };
        let interruption = self.interruption();
        let answer = tokio::select! {
            biased;
            cut = interruption => return Err(cut),
            answer = computer.perform(Call::by(Actor::Agent), look) => answer,
        };
        match answer {
            Ok(Acted {
                frame: Some(frame), ..
            }) => {
                let (bytes, format) = (frame.bytes, frame.format);
                let blob = self.blobs.put(bytes.clone(), format).await?;
                self.images.insert(blob.clone(), Image { bytes, format });
                let screenshot = EventBody::Screenshot(Screenshot {
                    turn: Some(self.turn),
                    call: None,
                    blob,
                    width: frame.size.width,
                    height: frame.size.height,
                });
                self.journal.append(vec![screenshot]).await?;
                Ok(false)
            }
            Err(ComputerError::Refused { .. }) => Ok(true),
            Err(ComputerError::FateUnknown | ComputerError::Gone | ComputerError::Ended(_)) => {
                self.computer = None;
                Ok(false)
            }
            // The model is told without a picture, and can look for itself.
            Ok(_) | Err(ComputerError::Failed(_) | ComputerError::Cancelled) => Ok(false),
        }
    }
}
