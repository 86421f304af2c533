//! The browser of a fake computer: tabs with addresses, and nothing on their pages. Hosts under `.invalid` do not exist.

use deskhand_core::{
    action::Action,
    browser::{
        Browse, Browsed, BrowserFinding, BrowserVerb, PagePlace, PageState, TabEntry, TabNumber,
        WebUrl,
    },
    sandbox::{Act, ComputerError, Frame, RunnerReply, RunnerRequest},
};

use super::{client::FakeClient, player::FakePages, requests::RequestResult};

const EMPTY_PAGE: &str = "about:blank";
/// The error of everything that needs a screen where there is none.
pub(super) const NO_SCREEN: &str =
    "this computer has no screen, mouse or keyboard: use the tool browser";

/// The tabs of a browser.
#[derive(Debug)]
pub(super) struct FakeBrowser {
    tabs: Vec<FakeTab>,
    current: TabNumber,
    last: u32,
}

#[derive(Debug)]
struct FakeTab {
    number: TabNumber,
    /// The addresses that it has shown, the present one last.
    history: Vec<String>,
}

impl Default for FakeBrowser {
    fn default() -> Self {
        let number = TabNumber(1);
        Self {
            tabs: vec![FakeTab {
                number,
                history: vec![EMPTY_PAGE.to_owned()],
            }],
            current: number,
            last: 1,
        }
    }
}

impl FakeTab {
    fn url(&self) -> String {
        self.history.last().cloned().unwrap_or_default()
    }
}

/// Checks that a request needs no screen, and that there is a page if it is to be seen.
pub(super) fn check_without_screen(
    request: &RunnerRequest,
    is_browsing: bool,
) -> Result<(), ComputerError> {
    let is_look = matches!(
        request,
        RunnerRequest::Look(_)
            | RunnerRequest::Act(Act {
                action: Action::Screenshot,
                ..
            })
    );
    if is_look && !is_browsing {
        let problem = "no page is open yet: open one with the tool browser";
        return Err(ComputerError::Failed(problem.to_owned()));
    }
    let needs_screen = matches!(
        request,
        RunnerRequest::Act(_) | RunnerRequest::ReadClipboard(_) | RunnerRequest::SetClipboard(_)
    );
    if needs_screen && !is_look {
        return Err(ComputerError::Failed(NO_SCREEN.to_owned()));
    }
    Ok(())
}

/// Carries out a verb. `frame` is sent along if the verb asks for a picture.
pub(super) fn perform(
    browser: &mut FakeBrowser,
    browse: &Browse,
    frame: Frame,
    pages: &FakePages,
) -> RequestResult {
    let failed = |problem: String| ComputerError::Failed(problem);
    browse.check().map_err(|bad| failed(bad.to_string()))?;
    let number = browse.tab.unwrap_or(browser.current);
    let place = browser.tabs.iter().position(|tab| tab.number == number);
    let place = place.ok_or_else(|| failed(format!("there is no tab {number}: list the tabs")))?;
    let tab = &mut browser.tabs[place];
    let verb = &browse.verb;
    let mut finding = BrowserFinding::Done;
    if let BrowserVerb::Navigate { url } = verb {
        if url.as_str().contains(".invalid") {
            let problem = "could not open the page: net::ERR_NAME_NOT_RESOLVED";
            return Err(failed(problem.to_owned()));
        }
        pages.with_client(url.as_str(), FakeClient::load);
        tab.history.push(url.as_str().to_owned());
    } else if matches!(verb, BrowserVerb::Back) && tab.history.len() > 1 {
        tab.history.pop();
    } else if matches!(verb, BrowserVerb::Back | BrowserVerb::Forward) {
        return Err(failed("there is no page to go to".to_owned()));
    } else if matches!(verb, BrowserVerb::ReadPage { .. } | BrowserVerb::ReadText) {
        let of_client = pages.with_client(&tab.url(), |client| client.text());
        let text = of_client.unwrap_or_else(|| format!("A page at {}", tab.url()));
        finding = BrowserFinding::Text {
            text,
            is_cut: false,
        };
    } else if let BrowserVerb::Click { at, .. } = verb {
        if let PagePlace::Element(at) = at {
            pages.with_client(&tab.url(), |client| client.click(*at));
        }
        pages.click(&tab.url());
    } else if let BrowserVerb::Player(wish) = verb {
        finding = BrowserFinding::Media(pages.follow(&tab.url(), *wish));
    } else if let BrowserVerb::NewTab { url } = verb {
        finding = browser.open(url.as_ref());
    } else if matches!(verb, BrowserVerb::SelectTab | BrowserVerb::ListTabs) {
        if matches!(verb, BrowserVerb::SelectTab) {
            browser.current = number;
        }
        finding = browser.list();
    } else if matches!(verb, BrowserVerb::CloseTab) && browser.tabs.len() > 1 {
        browser.tabs.remove(place);
        browser.current = browser.tabs[0].number;
        finding = browser.list();
    }
    let looks = browse.look.is_some() || matches!(browse.verb, BrowserVerb::Screenshot { .. });
    let viewport = looks.then_some(frame.size);
    let current = browser.current;
    let shown = browser.tabs.iter().find(|tab| tab.number == current);
    Ok(RunnerReply::Browse(Browsed {
        page: shown.map(|tab| PageState {
            tab: tab.number,
            url: tab.url(),
            title: "A page".to_owned(),
            is_loading: false,
            dialog: None,
        }),
        finding,
        changes: Vec::new(),
        tabs: browser.entries(),
        frame: looks.then_some(frame),
        viewport,
    }))
}

impl FakeBrowser {
    /// Returns the address of the current tab.
    pub(super) fn url(&self) -> String {
        let current = self.tabs.iter().find(|tab| tab.number == self.current);
        current.map(FakeTab::url).unwrap_or_default()
    }

    fn open(&mut self, url: Option<&WebUrl>) -> BrowserFinding {
        self.last += 1;
        self.current = TabNumber(self.last);
        let url = url.map_or(EMPTY_PAGE, WebUrl::as_str).to_owned();
        self.tabs.push(FakeTab {
            number: self.current,
            history: vec![url],
        });
        self.list()
    }

    fn list(&self) -> BrowserFinding {
        BrowserFinding::Tabs(self.entries())
    }

    fn entries(&self) -> Vec<TabEntry> {
        let entry = |tab: &FakeTab| TabEntry {
            tab: tab.number,
            url: tab.url(),
            title: "A page".to_owned(),
            is_current: tab.number == self.current,
        };
        self.tabs.iter().map(entry).collect()
    }
}
