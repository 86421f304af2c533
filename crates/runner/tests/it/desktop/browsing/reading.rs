//! Reading pages, and waiting for them.

use deskhand_core::{
    action::Region,
    blob::BlobFormat,
    browser::{
        Browse, BrowserFinding, BrowserVerb, EmulatedViewport, Emulation, LONGEST_PAGE_TEXT,
        PageArea, PageCondition, TreeFilter, page_elements,
    },
};

use super::{Desk, text};

pub(super) async fn a_page_is_read_briefly(desk: &Desk) {
    desk.open("/form").await;
    let tree = desk.tree().await;
    assert!(tree.contains("[textbox Name e"), "{tree}");
    assert!(tree.contains(" =\"Red\" (Red | Green)]"), "{tree}");
    // References stay the same as long as their elements do.
    assert_eq!(tree, desk.tree().await);
    let shown = desk.verb(BrowserVerb::Screenshot {
        area: PageArea::Element(desk.find("Send").await),
        format: BlobFormat::Png,
    });
    let size = shown.await.frame.unwrap().size;
    assert!(size.width < 200 && size.height < 100, "{size:?}");
    let printed = desk.verb(BrowserVerb::Pdf { path: None }).await.finding;
    let BrowserFinding::File { path, .. } = printed else {
        panic!("not a file: {printed:?}");
    };
    assert!(std::fs::read(path).unwrap().starts_with(b"%PDF"));
    let emulation = Emulation {
        viewport: Some(EmulatedViewport {
            width: 500,
            height: 400,
            scale_percent: 200,
        }),
        locale: Some("de-DE".to_owned()),
        time_zone: Some("Europe/Berlin".to_owned()),
    };
    desk.verb(BrowserVerb::Emulate(emulation)).await;
    let script = "[innerWidth, devicePixelRatio, navigator.language]";
    let told = desk
        .verb(BrowserVerb::Script {
            text: script.to_owned(),
        })
        .await;
    assert_eq!(
        told.finding,
        BrowserFinding::Value("[500,2,\"de-DE\"]".to_owned())
    );
    let seen = desk.verb(BrowserVerb::Screenshot {
        area: PageArea::Viewport,
        format: BlobFormat::Jpeg,
    });
    let frame = seen.await.frame.unwrap();
    assert_eq!((frame.size.width, frame.size.height), (500, 400));
    desk.verb(BrowserVerb::Emulate(Emulation::default())).await;
}

pub(super) async fn elements_stand_in_the_lines_of_their_text(desk: &Desk) {
    desk.open("/written").await;
    let read = desk.tree().await;
    let told: Vec<&str> = read.lines().collect();
    assert_eq!(
        told,
        [
            "h1 Tea",
            "Read [about us e1], or [our story e2].",
            "group Search:",
            " [searchbox Words e3] [combobox Kind e4 =\"Green\" (Green | Black)] [checkbox Loose e5 checked]",
            "- h2 [Sencha e6]",
            " 1.50 € [button Buy e7]",
            "- Two",
            " - Inner",
            "| Order | Total | ",
            "| 1 | 9 € | [button Undo e8 disabled]",
            "[clickable e9] Card",
            " [button Open e10]",
        ]
        .map(str::trim_end)
    );
    let verb = |filter, at| BrowserVerb::ReadPage {
        filter,
        at,
        depth: None,
    };
    let usable = text(desk.verb(verb(TreeFilter::Interactive, None)).await);
    assert!(
        usable.starts_with("[about us e1] [our story e2]\n[searchbox"),
        "{usable}"
    );
    let at = Some(desk.find("Undo").await);
    let part = text(desk.verb(verb(TreeFilter::All, at)).await);
    assert_eq!(part, "[button Undo e8 disabled]");
}

pub(super) async fn no_text_of_a_page_looks_like_an_element(desk: &Desk) {
    desk.open("/spoof").await;
    let tree = desk.tree().await;
    let elements = page_elements(&tree);
    let references: Vec<String> = elements
        .iter()
        .map(|one| one.reference.to_string())
        .collect();
    assert_eq!(references, ["e1", "e2"], "{tree}");
    assert!(tree.contains("(button Pay e7)"), "{tree}");
    assert!(tree.contains("See note [3]."), "{tree}");
}

pub(super) async fn large_and_foreign_pages_are_read(desk: &Desk) {
    desk.open("/large").await;
    let read = desk.tree().await;
    assert!(read.chars().count() <= LONGEST_PAGE_TEXT);
    let BrowserFinding::Text { text: all, is_cut } = desk.verb(BrowserVerb::ReadText).await.finding
    else {
        panic!("not a text");
    };
    assert!(is_cut && all.chars().count() <= LONGEST_PAGE_TEXT);
    desk.open("/rtl").await;
    assert!(desk.tree().await.contains("h1 مرحبا بالعالم"));
}

pub(super) async fn waits_are_for_the_page(desk: &Desk) {
    desk.open("/lazy").await;
    desk.wait_for("late forty-two").await;
    let late = BrowserVerb::Wait {
        until: PageCondition::Selector("#late".to_owned()),
        timeout_ms: 60_000,
    };
    desk.verb(late).await;
    let never = BrowserVerb::Wait {
        until: PageCondition::Text("never there".to_owned()),
        timeout_ms: 50,
    };
    let vain = desk.try_verb(never).await.unwrap_err().to_string();
    assert_eq!(vain, "the page did not get there within 50 ms");
    // The list grows as it is scrolled.
    let down = BrowserVerb::Scroll {
        at: None,
        dx: 0,
        dy: 2_000,
        modifiers: Vec::new(),
    };
    desk.verb(down).await;
    desk.wait_for("Row 40.").await;
    let page_text = text(desk.verb(BrowserVerb::ReadText).await);
    assert!(page_text.contains("Row 1."), "{page_text}");
}

pub(super) async fn parts_of_a_page_are_seen_closely(desk: &Desk) {
    desk.open("/frames").await;
    let shallow = BrowserVerb::ReadPage {
        filter: TreeFilter::All,
        at: None,
        depth: Some(1),
    };
    let BrowserFinding::Text { text, is_cut } = desk.verb(shallow).await.finding else {
        panic!("not a text");
    };
    assert!(is_cut && text.contains("Outer"), "{text}");
    assert!(!text.contains("Inside"), "{text}");
    let picture = |area| BrowserVerb::Screenshot {
        area,
        format: BlobFormat::Png,
    };
    let whole = desk.verb(picture(PageArea::Viewport)).await;
    let viewport = whole.viewport.unwrap();
    assert_eq!(whole.frame.unwrap().size, viewport);
    let region = Region {
        x0: 0,
        y0: 0,
        x1: 100,
        y1: 50,
    };
    let closely = desk.verb(picture(PageArea::Region(region))).await;
    assert_eq!(closely.viewport, None);
    let size = closely.frame.unwrap().size;
    assert_eq!(size.width, 2 * size.height);
    assert!(size.width > 400 && size.width <= viewport.width, "{size}");
    // A picture can come with any verb.
    let looking = Browse {
        look: Some(BlobFormat::Jpeg),
        ..Browse::new(BrowserVerb::Reload)
    };
    let seen = desk.browse(&looking).await.unwrap();
    assert_eq!(seen.viewport, Some(viewport));
    assert!(
        seen.tabs
            .iter()
            .any(|tab| tab.is_current && tab.url.ends_with("/frames"))
    );
}
