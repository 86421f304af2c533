//! Reads and uses the tabs of a stream that is shared.

use std::time::Duration;

use deskhand_app::PlayerError;
use deskhand_core::{
    action::Button,
    browser::{
        Browse, Browsed, BrowserFinding, BrowserVerb, ElementRef, PagePlace, TabNumber, TreeFilter,
    },
    id::SessionId,
};
use deskhand_jamie::ErrorCode;
use tokio::time::{Instant, timeout};

use super::client::{CONTINUE, ClientPage};
use crate::{
    fault::Fault,
    flow::{COMPUTER_TIMEOUT, Flow, GLANCE_EVERY},
    settings::ShareSettings,
    step::Step,
};

impl Flow<'_> {
    /// Has a model do a step in the web client, and reads the page again. Without a model, the step ends with `otherwise`.
    pub(super) async fn ask_about_client(
        &mut self,
        session: SessionId,
        step: Step,
        otherwise: Fault,
    ) -> Result<ClientPage, Fault> {
        if self.model_fault().is_some() {
            return Err(otherwise);
        }
        self.ask(session, step).await?;
        Ok(self.read_client(session).await?)
    }

    /// Reads the web client until it is as wanted, or the time is over. Returns the last reading.
    pub(super) async fn client_until(
        &self,
        session: SessionId,
        longest: Duration,
        is_so: impl Fn(&ClientPage) -> bool,
    ) -> Result<ClientPage, Fault> {
        let until = Instant::now() + longest;
        loop {
            let page = self.read_client(session).await?;
            if is_so(&page) || Instant::now() >= until {
                return Ok(page);
            }
            if let Some(found) = page.find(CONTINUE) {
                self.click(session, self.client_tab()?, found).await?;
            }
            tokio::time::sleep(GLANCE_EVERY).await;
        }
    }

    pub(super) async fn read_client(&self, session: SessionId) -> Result<ClientPage, PlayerError> {
        let tabs = self.tabs.ok_or(PlayerError::Lost)?;
        self.read_tab(session, tabs.client).await
    }

    pub(super) async fn read_tab(
        &self,
        session: SessionId,
        tab: TabNumber,
    ) -> Result<ClientPage, PlayerError> {
        let read = BrowserVerb::ReadPage {
            filter: TreeFilter::All,
            at: None,
            depth: None,
        };
        let browsed = self.on_tab(session, tab, read).await?;
        let mut tabs = browsed.tabs.iter();
        let url = tabs.find(|one| one.tab == tab).map(|one| one.url.as_str());
        let BrowserFinding::Text { text, .. } = &browsed.finding else {
            return Err(PlayerError::Page("another verb was answered".to_owned()));
        };
        Ok(ClientPage::read(url.unwrap_or_default(), text))
    }

    pub(super) async fn click(
        &self,
        session: SessionId,
        tab: TabNumber,
        at: ElementRef,
    ) -> Result<(), PlayerError> {
        let click = BrowserVerb::Click {
            at: PagePlace::Element(at),
            button: Button::Left,
            count: 1,
            modifiers: Vec::new(),
        };
        match self.on_tab(session, tab, click).await {
            // A page that changes in this moment has another element. The next reading tells.
            Ok(_) | Err(PlayerError::Page(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn on_tab(
        &self,
        session: SessionId,
        tab: TabNumber,
        verb: BrowserVerb,
    ) -> Result<Browsed, PlayerError> {
        let tab = Some(tab);
        self.browse(
            session,
            Browse {
                tab,
                ..Browse::new(verb)
            },
        )
        .await
    }

    pub(super) async fn browse(
        &self,
        session: SessionId,
        browse: Browse,
    ) -> Result<Browsed, PlayerError> {
        let computers = self.streams.0.app.computers();
        let browsing = computers.browse(self.owner(), session, browse);
        let browsed = timeout(COMPUTER_TIMEOUT, browsing).await;
        browsed.unwrap_or(Err(PlayerError::Lost))
    }

    pub(super) fn client_tab(&self) -> Result<TabNumber, Fault> {
        let tabs = self.tabs.ok_or(ErrorCode::StreamDropped)?;
        Ok(tabs.client)
    }

    pub(super) fn page_tab(&self) -> Result<TabNumber, Fault> {
        let page = self.tabs.and_then(|tabs| tabs.page);
        Ok(page.ok_or(ErrorCode::StreamDropped)?)
    }

    pub(super) fn channel_address(&self, share: &ShareSettings) -> String {
        let (guild, channel) = (self.request.guild_id, self.request.channel_id);
        format!("{}/channels/{guild}/{channel}", share.client_url)
    }
}
