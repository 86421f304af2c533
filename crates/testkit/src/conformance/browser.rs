//! Rules of the browser in a running sandbox.

use deskhand_core::{
    blob::BlobFormat,
    browser::{Browse, BrowserFinding, BrowserVerb, PageArea, TabNumber},
    id::UserId,
    sandbox::{ComputerError, LeaseHolder, Sandbox},
};

use super::perform;

pub(super) async fn the_browser_opens_pages_and_tabs(sandbox: &dyn Sandbox) {
    let url = "about:blank".parse().unwrap();
    let opened = perform(sandbox, Browse::new(BrowserVerb::Navigate { url })).await;
    let page = opened.unwrap().page.expect("a page is open");
    assert_eq!((&*page.url, page.dialog), ("about:blank", None));
    let new = perform(sandbox, Browse::new(BrowserVerb::NewTab { url: None })).await;
    let BrowserFinding::Tabs(tabs) = new.unwrap().finding else {
        panic!("a new tab is answered with the tabs");
    };
    let current: Vec<_> = tabs.iter().filter(|tab| tab.is_current).collect();
    assert_eq!((tabs.len(), current.len()), (2, 1), "{tabs:?}");
    assert_ne!(current[0].tab, page.tab);
    perform(sandbox, Browse::new(BrowserVerb::CloseTab))
        .await
        .unwrap();
    let screenshot = BrowserVerb::Screenshot {
        area: PageArea::Viewport,
        format: BlobFormat::Png,
    };
    let seen = perform(sandbox, Browse::new(screenshot)).await.unwrap();
    let frame = seen.frame.expect("a screenshot has a picture");
    assert!(frame.bytes.starts_with(b"\x89PNG"));
    let missing = Browse {
        tab: Some(TabNumber(99)),
        ..Browse::new(BrowserVerb::ReadText)
    };
    let refused = perform(sandbox, missing).await;
    let expected = ComputerError::Failed("there is no tab 99: list the tabs".to_owned());
    assert_eq!(refused, Err(expected));
}

pub(super) async fn the_lease_holds_for_the_browser(sandbox: &dyn Sandbox) {
    sandbox
        .set_lease_holder(LeaseHolder::Person(UserId::new()))
        .await;
    let refused = perform(sandbox, Browse::new(BrowserVerb::ReadText)).await;
    assert_eq!(refused, Err(ComputerError::Refused { was_begun: false }));
    sandbox.set_lease_holder(LeaseHolder::Nobody).await;
    let read = perform(sandbox, Browse::new(BrowserVerb::ReadText)).await;
    assert!(read.is_ok(), "{read:?}");
}
