//! Opens the pages that messages begin with, before the model reads the messages.

use std::time::Duration;

use deskhand_core::{
    browser::{Browse, BrowserVerb, PageState, WebUrl},
    event::{EventBody, PageOpened},
    id::MessageId,
    sandbox::{Actor, Call, ComputerError, ComputerExt},
};

use crate::{
    cut::{Cut, Signals},
    machine::{Look, Machine},
    work::Work,
};

/// The maximum number of attempts to open a page. Each starts the computer again if it was lost.
const MOST_TRIES: u32 = 3;
/// The timeout of one attempt. The browser has shorter ones of its own.
const OPEN_TIMEOUT: Duration = Duration::from_secs(120);

const NO_ANSWER: &str = "the browser did not answer";

/// The result of opening a page.
#[derive(Debug)]
enum Opening {
    Opened(Option<PageState>),
    /// A person took control.
    Refused,
    /// It cannot be opened. The model is shown the problem.
    Failed(String),
}

impl Work {
    /// Opens the pages of messages that were not opened yet, and takes a picture of each. Returns false if a person took
    /// control in the meantime. Then the turn has to wait and call this again.
    ///
    /// An interrupted turn may have opened a page without recording it, and opens it again.
    pub(crate) async fn open_pages(&mut self) -> Result<bool, Cut> {
        for (message, url) in unopened(&self.journal.bodies) {
            let (page, problem) = match self.machine.open_page(&url, &self.signals).await? {
                Opening::Opened(page) => (page, None),
                Opening::Failed(problem) => (None, Some(problem)),
                Opening::Refused => return Ok(false),
            };
            let (shown_url, title) = page.map(|page| (page.url, page.title)).unzip();
            let mut bodies = vec![EventBody::Opened(PageOpened {
                turn: self.turn,
                message,
                url,
                shown_url,
                title,
                problem,
            })];
            let shown = self.model.model.shown(self.machine.screen);
            if let Look::Seen(frame) = self.machine.look(shown, &self.signals).await? {
                bodies.push(self.album.keep(self.turn, None, frame).await?);
            }
            self.journal.append(bodies).await?;
        }
        Ok(true)
    }

    /// Returns true if a message has a page that was not opened yet.
    pub(crate) fn has_unopened_pages(&self) -> bool {
        !unopened(&self.journal.bodies).is_empty()
    }
}

impl Machine {
    /// Opens a page in the browser, and starts the computer if necessary.
    async fn open_page(&mut self, url: &WebUrl, signals: &Signals) -> Result<Opening, Cut> {
        let mut n_tries = 0;
        loop {
            n_tries += 1;
            let computer = self.computer(signals).await?;
            let call = Call::by(Actor::Agent);
            let id = call.id;
            let open = Browse::new(BrowserVerb::Navigate { url: url.clone() });
            let opened = tokio::select! {
                biased;
                cut = signals.stopped() => {
                    computer.cancel(id).await;
                    return Err(cut);
                }
                opened = computer.perform(call, open) => opened,
                () = tokio::time::sleep(OPEN_TIMEOUT) => {
                    computer.cancel(id).await;
                    return Ok(Opening::Failed(NO_ANSWER.to_owned()));
                }
            };
            let error = match opened {
                Ok(browsed) => return Ok(Opening::Opened(browsed.page)),
                Err(ComputerError::Refused { .. }) => return Ok(Opening::Refused),
                Err(error) => error,
            };
            self.note_failure(&error);
            let is_lost = matches!(
                error,
                ComputerError::FateUnknown | ComputerError::Gone | ComputerError::Ended(_)
            );
            if !is_lost || n_tries == MOST_TRIES {
                return Ok(Opening::Failed(error.to_string()));
            }
        }
    }
}

/// Returns the messages whose pages were not opened yet, with these pages.
fn unopened(log: &[EventBody]) -> Vec<(MessageId, WebUrl)> {
    let mut messages: Vec<(MessageId, WebUrl)> = Vec::new();
    for body in log {
        if let EventBody::Message(said) = body
            && let Some(url) = &said.start_url
        {
            messages.push((said.id, url.clone()));
        }
        if let EventBody::Opened(opened) = body {
            messages.retain(|(message, _)| *message != opened.message);
        }
    }
    messages
}
