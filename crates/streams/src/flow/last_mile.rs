//! The ways from the computer to the people: a link to watch, or a share in the voice channel.

use deskhand_core::id::SessionId;

use super::Flow;
use crate::{fault::Fault, settings::LastMile};

impl Flow<'_> {
    /// Brings the page to the people.
    pub(super) async fn bring(&mut self, session: SessionId) -> Result<(), Fault> {
        match self.last_mile() {
            LastMile::Watch => self.show(session).await,
            LastMile::Share(share) => self.share(session, share).await,
        }
    }

    /// Checks that the page still reaches the viewers. A link works until it is revoked.
    pub(crate) async fn check_reach(&self, session: SessionId) -> Result<(), Fault> {
        match self.last_mile() {
            LastMile::Watch => Ok(()),
            LastMile::Share(share) => self.check_share(session, share).await,
        }
    }

    /// Withdraws the page from the viewers.
    pub(crate) async fn withdraw(&mut self) {
        match self.last_mile() {
            LastMile::Watch => self.revoke_links(self.owner()).await,
            LastMile::Share(_) => self.leave_channel().await,
        }
    }

    /// Opens the page, plays it over the whole screen, and makes a link.
    async fn show(&mut self, session: SessionId) -> Result<(), Fault> {
        self.tell_step("Opening the page");
        self.open_page(session).await?;
        self.tell_step("Starting the player");
        let has_player = self.play(session).await?;
        if has_player {
            self.fill_screen(session).await?;
        }
        if self.streams.watch_url(self.request.session_id).is_none() {
            self.make_link(session).await?;
        }
        Ok(())
    }
}
