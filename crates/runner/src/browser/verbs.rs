//! Carries out verbs.

use std::time::Duration;

use deskhand_core::{
    browser::{
        Browse, Browsed, BrowserFinding, BrowserVerb, CaptureWish, LONGEST_PAGE_LABEL, PageArea,
        PageState, TabNumber, page_label,
    },
    secret::Secret,
};

use super::{
    BrowseError, Browser,
    pictures::PagePicture,
    pointer::{Click, whole},
    settle::Calm,
    tab::Tab,
};

impl Browser {
    /// Carries out a verb, and waits for its effect. Secrets are covered in pictures.
    pub(crate) async fn browse(
        &self,
        browse: &Browse,
        secrets: &[Secret],
    ) -> Result<Browsed, BrowseError> {
        browse.check()?;
        if browse.verb == BrowserVerb::Close {
            return self.close().await;
        }
        self.follow().await?;
        let (finding, mut picture) = self.carry_out(browse, secrets).await?;
        // Pop-ups are followed from their beginning.
        self.attach_all().await;
        let page = self.page_state().await;
        let can_look = page.as_ref().is_some_and(|page| page.dialog.is_none());
        if let Some(format) = browse.look
            && picture.is_none()
            && can_look
        {
            let tab = self.tab(None).await?;
            picture = Some(tab.picture(&PageArea::Viewport, format, secrets).await?);
        }
        let changes = std::mem::take(&mut self.observer.seen().changes);
        Ok(Browsed {
            page,
            finding,
            changes,
            tabs: self.list_tabs(),
            viewport: picture.as_ref().and_then(|picture| picture.viewport),
            frame: picture.map(|picture| picture.frame),
        })
    }

    async fn page_state(&self) -> Option<PageState> {
        let tab = self.tab(None).await.ok()?;
        self.read_title(&tab).await;
        self.state_of(tab.number)
    }

    fn state_of(&self, number: TabNumber) -> Option<PageState> {
        let mut seen = self.observer.seen();
        seen.tab(number).map(|tab| PageState {
            tab: tab.number,
            url: tab.url.clone(),
            title: page_label(&tab.title, LONGEST_PAGE_LABEL),
            is_loading: tab.is_loading,
            dialog: tab.dialog.clone(),
        })
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the compiler asks for a new verb in `act`, which lists all of them"
    )]
    async fn carry_out(
        &self,
        browse: &Browse,
        secrets: &[Secret],
    ) -> Result<(BrowserFinding, Option<PagePicture>), BrowseError> {
        let finding = match &browse.verb {
            BrowserVerb::ListTabs => BrowserFinding::Tabs({
                self.tab(None).await?;
                self.list_tabs()
            }),
            BrowserVerb::NewTab { url } => {
                self.new_tab(url.as_ref()).await?;
                BrowserFinding::Tabs(self.list_tabs())
            }
            BrowserVerb::Downloads => {
                let seen = self.observer.seen();
                let downloads = seen.downloads.iter().map(|one| one.entry.clone());
                BrowserFinding::Downloads(downloads.collect())
            }
            BrowserVerb::SaveState { path } => self.save_state(path).await?,
            BrowserVerb::LoadState { path } => self.load_state(path).await?,
            verb => {
                let tab = self.tab(browse.tab).await?;
                tab.check_usable(verb)?;
                if let BrowserVerb::Screenshot { area, format } = verb {
                    let picture = tab.picture(area, *format, secrets).await?;
                    return Ok((BrowserFinding::Done, Some(picture)));
                }
                tab.perform(verb).await?
            }
        };
        Ok((finding, None))
    }
}

impl Tab {
    /// Checks that the page can do anything at all.
    fn check_usable(&self, verb: &BrowserVerb) -> Result<(), BrowseError> {
        let is_about_tab = matches!(
            verb,
            BrowserVerb::SelectTab | BrowserVerb::CloseTab | BrowserVerb::Reload
        );
        let is_answer = matches!(verb, BrowserVerb::AnswerDialog { .. });
        let (is_crashed, has_dialog) = self
            .state(|tab| (tab.is_crashed, tab.dialog.is_some()))
            .ok_or(BrowseError::NoTab(self.number))?;
        if is_crashed && !is_about_tab {
            return Err(BrowseError::Crashed(self.number));
        }
        let is_possible =
            is_answer || matches!(verb, BrowserVerb::SelectTab) || is_for_dialog(verb);
        if has_dialog && !is_possible {
            return Err(self.dialog_error());
        }
        Ok(())
    }

    /// Carries out a verb of the page, and waits for its effect.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the compiler asks for a new verb in `act`, which lists all of them"
    )]
    async fn perform(&self, verb: &BrowserVerb) -> Result<BrowserFinding, BrowseError> {
        match verb {
            BrowserVerb::Navigate { url } => self.navigate(url.as_str()).await?,
            BrowserVerb::Back => self.travel(-1).await?,
            BrowserVerb::Forward => self.travel(1).await?,
            BrowserVerb::Reload => self.reload().await?,
            BrowserVerb::SelectTab => {
                self.browser.select_tab(self).await?;
                return Ok(BrowserFinding::Tabs(self.browser.list_tabs()));
            }
            BrowserVerb::CloseTab => {
                self.browser.close_tab(self).await?;
                return Ok(BrowserFinding::Tabs(self.browser.list_tabs()));
            }
            BrowserVerb::AnswerDialog { accept, text } => {
                self.answer_dialog(*accept, text.as_deref()).await?;
            }
            BrowserVerb::Press { keys, .. } if self.has_dialog() => {
                self.press_in_dialog(keys).await?;
            }
            BrowserVerb::Type { text, submit, .. } if self.has_dialog() => {
                self.type_in_dialog(text, *submit).await?;
            }
            BrowserVerb::Wait { until, timeout_ms } => self.wait(until, *timeout_ms).await?,
            BrowserVerb::Pause { ms } => tokio::time::sleep(Duration::from_millis(*ms)).await,
            BrowserVerb::Emulate(emulation) => self.emulate(emulation).await?,
            verb => return self.read_or_act(verb).await,
        }
        Ok(BrowserFinding::Done)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the compiler asks for a new verb in `act`, which lists all of them"
    )]
    async fn read_or_act(&self, verb: &BrowserVerb) -> Result<BrowserFinding, BrowseError> {
        match verb {
            BrowserVerb::ReadPage { filter, at, depth } => {
                self.read_page(*filter, *at, *depth).await
            }
            BrowserVerb::ReadText => self.read_text().await,
            BrowserVerb::Find { text } => self.find(text).await,
            BrowserVerb::Console => {
                let entries = self.state(|tab| tab.console.iter().cloned().collect());
                Ok(BrowserFinding::Console(entries.unwrap_or_default()))
            }
            BrowserVerb::Network => {
                let entries = |tab: &super::tab_record::TabRecord| {
                    tab.network.iter().map(|one| one.entry.clone()).collect()
                };
                Ok(BrowserFinding::Network(
                    self.state(entries).unwrap_or_default(),
                ))
            }
            BrowserVerb::Script { text } => self.evaluate_script(text).await,
            BrowserVerb::Pdf { path } => self.print(path.as_deref()).await,
            BrowserVerb::Capabilities => self.capabilities().await,
            BrowserVerb::Player(wish) => self.use_player(*wish).await,
            // The browser was started for it.
            BrowserVerb::Capture(CaptureWish::Allow) => Ok(BrowserFinding::Done),
            BrowserVerb::Capture(CaptureWish::Mark) => self.mark_captured().await,
            verb => {
                let mark = self.mark();
                self.act(verb).await?;
                let calm = match verb {
                    BrowserVerb::Type { submit: false, .. } => Calm::AfterTyping,
                    _ => Calm::Full,
                };
                self.settle(mark, calm).await;
                Ok(BrowserFinding::Done)
            }
        }
    }

    /// Carries out a verb of mouse or keyboard.
    async fn act(&self, verb: &BrowserVerb) -> Result<(), BrowseError> {
        match verb {
            BrowserVerb::Click {
                at,
                button,
                count,
                modifiers,
            } => {
                let click = Click::new(*button, *count, modifiers)?;
                self.click(self.point(at).await?, click).await
            }
            BrowserVerb::Hover { at } => self.move_to(self.point(at).await?).await,
            BrowserVerb::MouseDown { at } => self.mouse_down(self.point(at).await?).await,
            BrowserVerb::MouseUp { at } => self.mouse_up(self.point(at).await?).await,
            BrowserVerb::Drag { path, modifiers } => self.drag(path, modifiers).await,
            BrowserVerb::Scroll {
                at,
                dx,
                dy,
                modifiers,
            } => self.scroll(at.as_ref(), (*dx, *dy), modifiers).await,
            BrowserVerb::ScrollTo { at } => self.scroll_to(*at).await,
            BrowserVerb::Type { at, text, submit } => {
                if let Some(place) = at {
                    self.enter(place).await?;
                }
                self.insert(text).await?;
                if *submit {
                    self.press("Return", 1).await?;
                }
                Ok(())
            }
            BrowserVerb::Press { keys, repeat } => self.press(keys, *repeat).await,
            BrowserVerb::HoldKey { keys, ms } => {
                self.hold_key(keys, Duration::from_millis(*ms)).await
            }
            BrowserVerb::Fill { at, value } => self.fill(*at, value).await,
            BrowserVerb::Select { at, options } => self.select(*at, options).await,
            BrowserVerb::Upload { at, paths } => self.upload(*at, paths).await,
            // These were carried out before.
            BrowserVerb::Screenshot { .. }
            | BrowserVerb::Wait { .. }
            | BrowserVerb::Pause { .. }
            | BrowserVerb::Close
            | BrowserVerb::Navigate { .. }
            | BrowserVerb::Back
            | BrowserVerb::Forward
            | BrowserVerb::Reload
            | BrowserVerb::ListTabs
            | BrowserVerb::NewTab { .. }
            | BrowserVerb::SelectTab
            | BrowserVerb::CloseTab
            | BrowserVerb::AnswerDialog { .. }
            | BrowserVerb::ReadPage { .. }
            | BrowserVerb::ReadText
            | BrowserVerb::Find { .. }
            | BrowserVerb::Downloads
            | BrowserVerb::Console
            | BrowserVerb::Network
            | BrowserVerb::Script { .. }
            | BrowserVerb::Pdf { .. }
            | BrowserVerb::Emulate(_)
            | BrowserVerb::SaveState { .. }
            | BrowserVerb::LoadState { .. }
            | BrowserVerb::Player(_)
            | BrowserVerb::Capture(_)
            | BrowserVerb::Capabilities => Ok(()),
        }
    }

    async fn capabilities(&self) -> Result<BrowserFinding, BrowseError> {
        let part = self.visible_part().await?;
        let side = |length: f64| u16::try_from(whole(length)).unwrap_or(u16::MAX);
        Ok(BrowserFinding::Capabilities {
            viewport: deskhand_core::action::ScreenSize {
                width: side(part.width),
                height: side(part.height),
            },
            scale_percent: side(part.ratio * 100.0),
            is_headless: self.browser.settings.viewport.is_some(),
        })
    }
}

/// Returns true if the keyboard can answer a dialog with this verb.
fn is_for_dialog(verb: &BrowserVerb) -> bool {
    matches!(
        verb,
        BrowserVerb::Press { .. } | BrowserVerb::Type { at: None, .. }
    )
}
