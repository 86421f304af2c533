//! The last mile `share`: an account of a person shares the page in its voice channel, through Discord's web client.
//!
//! The steps are fixed, and each can be done again: after a drop, all of them are. Controls are found by their names.
//! Only if that fails a model is asked, and what it says is checked against the page. A CAPTCHA or a second factor ends
//! the stream: nothing here tries to get past them.

mod account;
mod client;
mod hands;
mod profile;

use std::time::Duration;

use deskhand_app::PlayerError;
use deskhand_core::{
    browser::{Browse, BrowserFinding, BrowserVerb, CaptureWish, PlayerWish, TabNumber, WebUrl},
    id::SessionId,
};
use deskhand_jamie::ErrorCode;
use tokio::time::{Instant, timeout};
use url::Url;

use self::client::{ClientPage, ClientView, DISCONNECT, JOIN, SHARE, STOP_SHARING};
use crate::{
    fault::Fault,
    flow::{Flow, GLANCE_EVERY},
    settings::ShareSettings,
    step::Step,
};

/// The time that the web client has to show the effect of a step.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(20);
/// The time for which a share may take to begin, and its preview to move.
const SHARE_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time to leave the channel. The end of the computer leaves it, too.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// The steps of a stream that is shared, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShareStep {
    Prepare,
    SignIn,
    Join,
    Open,
    Share,
    Check,
}

impl ShareStep {
    const ALL: [Self; 6] = [
        Self::Prepare,
        Self::SignIn,
        Self::Join,
        Self::Open,
        Self::Share,
        Self::Check,
    ];

    /// Returns the message for the person who waits.
    fn told(self) -> &'static str {
        match self {
            Self::Prepare => "Preparing the browser",
            Self::SignIn => "Signing in to Discord",
            Self::Join => "Joining the voice channel",
            Self::Open => "Opening the page",
            Self::Share => "Sharing the page",
            Self::Check => "Checking what is shared",
        }
    }
}

/// The tabs of a stream that is shared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShareTabs {
    /// The web client.
    client: TabNumber,
    /// The page that is shared.
    page: Option<TabNumber>,
}

impl Flow<'_> {
    /// Brings the page into the voice channel.
    pub(crate) async fn share(
        &mut self,
        session: SessionId,
        share: &ShareSettings,
    ) -> Result<(), Fault> {
        for step in ShareStep::ALL {
            self.tell_step(step.told());
            match step {
                ShareStep::Prepare => self.prepare_browser(session, share).await?,
                ShareStep::SignIn => self.sign_in(session, share).await?,
                ShareStep::Join => self.join(session, share).await?,
                ShareStep::Open => self.open_beside(session, share).await?,
                ShareStep::Share => self.share_tab(session).await?,
                ShareStep::Check => self.check_preview(session).await?,
            }
        }
        Ok(())
    }

    /// Checks that the channel still gets the page, and that the page is not the web client itself.
    pub(crate) async fn check_share(
        &self,
        session: SessionId,
        share: &ShareSettings,
    ) -> Result<(), Fault> {
        let page = match self.read_client(session).await {
            // A person who uses the computer sees to the page.
            Err(PlayerError::Held) => return Ok(()),
            read => read?,
        };
        if !page.has(STOP_SHARING) {
            let message = "the web client no longer shares the page";
            return Err(Fault::new(ErrorCode::StreamDropped, message));
        }
        self.check_foreign(session, share).await
    }

    /// Stops sharing, and leaves the channel.
    pub(crate) async fn leave_channel(&mut self) {
        let (Some(session), Some(tabs)) = (self.session, self.tabs.take()) else {
            return;
        };
        let leaving = async {
            self.on_tab(session, tabs.client, BrowserVerb::SelectTab)
                .await?;
            for control in [STOP_SHARING, DISCONNECT] {
                let page = self.read_tab(session, tabs.client).await?;
                if let Some(found) = page.find(control) {
                    self.click(session, tabs.client, found).await?;
                }
            }
            Ok::<(), PlayerError>(())
        };
        let left = timeout(LEAVE_TIMEOUT, leaving).await;
        if !matches!(left, Ok(Ok(()))) {
            tracing::warn!(stream.id = %self.request.session_id, "the voice channel is left with the end of the computer only");
        }
    }

    /// Makes the browser one in which a page may capture a tab, and finds the tab of the web client.
    async fn prepare_browser(
        &mut self,
        session: SessionId,
        share: &ShareSettings,
    ) -> Result<(), Fault> {
        let allow = Browse::new(BrowserVerb::Capture(CaptureWish::Allow));
        let browsed = self.browse(session, allow).await?;
        let is_there = |number: TabNumber| browsed.tabs.iter().any(|tab| tab.tab == number);
        // A browser that was started again has other pages in tabs of the same numbers.
        let client = self.tabs.map(|tabs| tabs.client).filter(|client| {
            let mut tabs = browsed.tabs.iter();
            tabs.any(|tab| tab.tab == *client && tab.url.starts_with(&share.client_url))
        });
        if let (Some(client), Some(tabs)) = (client, self.tabs) {
            let page = tabs.page.filter(|page| is_there(*page));
            self.tabs = Some(ShareTabs { client, page });
            return Ok(());
        }
        let page = browsed.page.ok_or(ErrorCode::StreamDropped)?;
        self.tabs = Some(ShareTabs {
            client: page.tab,
            page: None,
        });
        self.load_profile(session, share).await;
        Ok(())
    }

    /// Opens the voice channel in the web client. This also closes everything that an earlier try has left there.
    async fn open_channel(&self, session: SessionId, share: &ShareSettings) -> Result<(), Fault> {
        let client = self.client_tab()?;
        self.on_tab(session, client, BrowserVerb::SelectTab).await?;
        let address = self.channel_address(share);
        let url: WebUrl = address.parse().map_err(|_bad| {
            let message = "the address of the web client is not one; see jamie.share.client_url";
            Fault::new(ErrorCode::Unknown, message)
        })?;
        let opened = self
            .on_tab(session, client, BrowserVerb::Navigate { url })
            .await;
        if let Err(PlayerError::Page(_)) = opened {
            return Err(ErrorCode::DiscordDown.into());
        }
        opened?;
        let look = BrowserVerb::Player(PlayerWish::Look);
        let looked = self.on_tab(session, client, look).await?;
        if let BrowserFinding::Media(media) = looked.finding
            && media.status.is_some_and(|status| status >= 500)
        {
            return Err(ErrorCode::DiscordDown.into());
        }
        Ok(())
    }

    async fn join(&mut self, session: SessionId, share: &ShareSettings) -> Result<(), Fault> {
        let mut page = self.read_client(session).await?;
        if !page.url.starts_with(&self.channel_address(share)) {
            self.open_channel(session, share).await?;
        }
        page = self
            .client_until(session, CLIENT_TIMEOUT, |page| {
                page.has(JOIN) || page.is_joined() || is_hopeless(page)
            })
            .await?;
        if let Some(join) = page.find(JOIN) {
            self.click(session, self.client_tab()?, join).await?;
            page = self
                .client_until(session, CLIENT_TIMEOUT, |page| {
                    page.is_joined() || page.view() == ClientView::Captcha
                })
                .await?;
        }
        let missing = ClientView::NoChannel.fault();
        if !page.is_joined() && !is_hopeless(&page) {
            page = self
                .ask_about_client(session, Step::Join, missing.clone())
                .await?;
        }
        if page.is_joined() {
            return Ok(());
        }
        match is_hopeless(&page) {
            true => Err(page.view().fault()),
            false => Err(missing),
        }
    }

    /// Opens the page in a tab of its own and plays it. A page that still plays is left alone.
    async fn open_beside(
        &mut self,
        session: SessionId,
        share: &ShareSettings,
    ) -> Result<(), Fault> {
        let client = self.client_tab()?;
        if let Some(page) = self.tabs.and_then(|tabs| tabs.page) {
            self.on_tab(session, page, BrowserVerb::SelectTab).await?;
            let player = self.player(session, PlayerWish::Look).await?.player;
            if player.is_some_and(|player| player.is_playing()) && self.is_moving(session).await? {
                return Ok(());
            }
        } else {
            let new = Browse::new(BrowserVerb::NewTab { url: None });
            let opened = self.browse(session, new).await?;
            let page = opened.page.map(|page| page.tab);
            self.tabs = Some(ShareTabs { client, page });
        }
        self.open_page(session).await?;
        self.check_foreign(session, share).await?;
        self.play(session).await?;
        Ok(())
    }

    /// Shares the tab of the page. The browser gives it to the web client without asking.
    async fn share_tab(&mut self, session: SessionId) -> Result<(), Fault> {
        let (client, tab) = (self.client_tab()?, self.page_tab()?);
        self.on_tab(session, client, BrowserVerb::SelectTab).await?;
        let page = self
            .client_until(session, CLIENT_TIMEOUT, |page| page.has(SHARE))
            .await?;
        // The page may give itself another title at any time, so this comes just before.
        let mark = BrowserVerb::Capture(CaptureWish::Mark);
        self.on_tab(session, tab, mark).await?;
        let mut is_shared = false;
        if let Some(share) = page.find(SHARE) {
            self.click(session, client, share).await?;
            let page = self
                .client_until(session, SHARE_TIMEOUT, |page| {
                    page.has(STOP_SHARING) || page.is_share_refused()
                })
                .await?;
            is_shared = page.has(STOP_SHARING);
            if page.is_share_refused() && !is_shared {
                return Err(ErrorCode::ShareFailed.into());
            }
        }
        if !is_shared {
            let failed = ErrorCode::ShareFailed.into();
            let page = self
                .ask_about_client(session, Step::ShareTab, failed)
                .await?;
            is_shared = page.has(STOP_SHARING);
        }
        match is_shared {
            true => Ok(()),
            false => Err(ErrorCode::ShareFailed.into()),
        }
    }

    /// Checks that the web client's preview moves, and fills the page with the player.
    async fn check_preview(&mut self, session: SessionId) -> Result<(), Fault> {
        let (client, tab) = (self.client_tab()?, self.page_tab()?);
        // The browser has brought the shared tab to the front. Some previews rest while they are hidden.
        self.on_tab(session, client, BrowserVerb::SelectTab).await?;
        let until = Instant::now() + SHARE_TIMEOUT;
        let mut first = None;
        loop {
            let look = BrowserVerb::Player(PlayerWish::Look);
            let looked = self.on_tab(session, client, look).await?;
            if let BrowserFinding::Media(media) = looked.finding
                && let Some(preview) = media.player
            {
                let shown = (preview.position_ms, preview.n_frames);
                if *first.get_or_insert(shown) != shown {
                    break;
                }
            }
            if Instant::now() >= until {
                let message = "the web client shows no preview of the page";
                return Err(Fault::new(ErrorCode::ShareFailed, message));
            }
            tokio::time::sleep(GLANCE_EVERY).await;
        }
        self.on_tab(session, tab, BrowserVerb::SelectTab).await?;
        // A shared tab is filled without the screen, so this is what the channel gets.
        self.fill_screen(session).await
    }

    /// Refuses a page of the web client: the account's messages are nobody else's.
    async fn check_foreign(&self, session: SessionId, share: &ShareSettings) -> Result<(), Fault> {
        let listed = self
            .browse(session, Browse::new(BrowserVerb::ListTabs))
            .await;
        let listed = match listed {
            Err(PlayerError::Held) => return Ok(()),
            listed => listed?,
        };
        let page = self.page_tab()?;
        let shown = listed.tabs.iter().find(|tab| tab.tab == page);
        match shown {
            Some(shown) if is_of_client(&shown.url, share) => Err(Fault::new(
                ErrorCode::UrlUnreachable,
                "the page leads to the web client itself",
            )),
            Some(_) => Ok(()),
            None => Err(Fault::new(ErrorCode::StreamDropped, "the page was closed")),
        }
    }
}

/// Returns true if an address is one of the web client's site.
pub(crate) fn is_of_client(url: &str, share: &ShareSettings) -> bool {
    let host = |url: &str| {
        let url = Url::parse(url).ok()?;
        Some(url.host_str()?.trim_end_matches('.').to_ascii_lowercase())
    };
    let (Some(host), Some(client)) = (host(url), host(&share.client_url)) else {
        return false;
    };
    host == client || host.ends_with(&format!(".{client}"))
}

/// Returns true if the channel will not appear any more.
fn is_hopeless(page: &ClientPage) -> bool {
    !matches!(page.view(), ClientView::Unknown | ClientView::SignedIn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_web_client_are_recognised() {
        let share = ShareSettings {
            client_url: "https://discord.com".to_owned(),
            email: "email".parse().unwrap(),
            password: "password".parse().unwrap(),
            profile: "account.json".into(),
        };
        for own in [
            "https://discord.com/channels/@me",
            "http://DISCORD.com./x",
            "https://ptb.discord.com/",
        ] {
            assert!(is_of_client(own, &share), "{own}");
        }
        for other in [
            "https://videos.example/discord.com",
            "https://notdiscord.com/",
            "about:blank",
        ] {
            assert!(!is_of_client(other, &share), "{other}");
        }
    }
}
