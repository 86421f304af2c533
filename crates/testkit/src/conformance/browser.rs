//! Rules of the browser in a running sandbox.

use deskhand_core::{
    action::Action,
    blob::BlobFormat,
    browser::{Browse, BrowserFinding, BrowserVerb, PageArea, TabNumber},
    computer::ComputerKind,
    id::{SessionId, UserId},
    sandbox::{
        Act, Actor, ComputerError, LeaseHolder, Look, ReadClipboard, Sandbox, SandboxSpec,
        StreamTarget,
    },
};

use super::{Subject, perform, said, spec};

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

pub(super) async fn a_computer_may_have_no_screen(subject: &Subject) {
    let spec = SandboxSpec {
        computer: ComputerKind::Browser,
        ..spec()
    };
    let claimed = subject.sandboxes.claim(SessionId::new(), spec.clone());
    let sandbox = claimed.await.expect("a browser can be claimed");
    assert_eq!(said(&*sandbox, "echo hello").await, "hello\n");
    let look = Look {
        format: BlobFormat::Png,
        shown: None,
    };
    // Nothing is to be seen before a page is open.
    let early = perform(&*sandbox, look.clone()).await;
    let problem = "no page is open yet: open one with the tool browser".to_owned();
    assert_eq!(early, Err(ComputerError::Failed(problem)));
    let url = "about:blank".parse().unwrap();
    let opened = perform(&*sandbox, Browse::new(BrowserVerb::Navigate { url })).await;
    let opened = opened.unwrap();
    assert_eq!(
        (&*opened.page.unwrap().url, opened.changes),
        ("about:blank", Vec::new())
    );
    let frame = perform(&*sandbox, look).await.unwrap();
    assert_eq!(frame.size, spec.screen, "a page has the size of the spec");
    assert!(frame.bytes.starts_with(b"\x89PNG"));
    // Whatever needs a screen fails, and says what to do instead.
    let no_screen =
        "this computer has no screen, mouse or keyboard: use the tool browser".to_owned();
    let no_screen = ComputerError::Failed(no_screen);
    let key = Act {
        action: Action::Key {
            keys: "a".to_owned(),
            repeat: 1,
        },
        look: true,
        shown: None,
    };
    assert_eq!(perform(&*sandbox, key).await, Err(no_screen.clone()));
    assert_eq!(
        perform(&*sandbox, ReadClipboard).await,
        Err(no_screen.clone())
    );
    let watched = sandbox.open(StreamTarget::Screen, Actor::Agent).await;
    let refused = watched.expect_err("there is nothing to watch");
    assert!(refused.to_string().contains("no screen"), "{refused}");
    sandbox.stop().await;
}
