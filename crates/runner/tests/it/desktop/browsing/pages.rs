//! Mouse and keyboard on pages that make it hard for them.

use deskhand_core::{
    action::{Button, Point},
    browser::{BrowserVerb, PagePlace, page_elements},
};

use super::{Desk, click};

pub(super) async fn clicks_reach_their_targets(desk: &Desk) {
    desk.open("/moving").await;
    // The target moves, and something covers it for a while.
    desk.click("Moving").await;
    desk.says("moved").await;
    desk.click("Far below").await;
    desk.says("far").await;
    desk.click("Drawing").await;
    desk.says("canvas 10,5").await;

    desk.open("/covered").await;
    let buried = desk.find("Buried").await;
    let refused = desk.try_verb(click(PagePlace::Element(buried))).await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("is covered by dialog \"Cookie wall\""),
        "{refused}"
    );
    let outside = PagePlace::Point(Point { x: 5_000, y: 10 });
    let refused = desk.try_verb(click(outside)).await.unwrap_err().to_string();
    assert!(refused.contains("outside the visible part"), "{refused}");
    // A reference of another document is not good any more.
    desk.open("/rtl").await;
    desk.click("اضغط").await;
    desk.says("rtl").await;
    let stale = desk
        .try_verb(click(PagePlace::Element("e999".parse().unwrap())))
        .await;
    assert!(
        stale
            .unwrap_err()
            .to_string()
            .contains("read the page again")
    );
}

pub(super) async fn frames_and_shadow_trees_are_pages_too(desk: &Desk) {
    desk.open("/frames").await;
    let tree = desk.tree().await;
    let mut inside = page_elements(&tree);
    inside.retain(|one| tree[one.place.clone()].contains("button Inside"));
    assert_eq!(inside.len(), 2, "{tree}");
    for (element, host) in inside.iter().zip(["127.0.0.1", "localhost"]) {
        desk.verb(click(PagePlace::Element(element.reference)))
            .await;
        desk.says(&format!("inside {host}")).await;
    }
    desk.click("In the shadow").await;
    desk.says("shadow").await;
}

pub(super) async fn drags_work_with_the_mouse_and_with_data(desk: &Desk) {
    desk.open("/drag").await;
    let from = PagePlace::Element(desk.find("Card").await);
    let to = PagePlace::Element(desk.find("Zone").await);
    desk.verb(drag(vec![from, to])).await;
    desk.says("dropped card").await;
    let from = PagePlace::Element(desk.find("Knob").await);
    let to = PagePlace::Point(Point { x: 300, y: 200 });
    desk.verb(drag(vec![from, to])).await;
    desk.says("slid true").await;
}

pub(super) async fn buttons_and_keys_can_be_held(desk: &Desk) {
    desk.open("/drag").await;
    let knob = PagePlace::Element(desk.find("Knob").await);
    desk.verb(BrowserVerb::MouseDown { at: knob }).await;
    let far = PagePlace::Point(Point { x: 300, y: 200 });
    desk.verb(BrowserVerb::Hover { at: far.clone() }).await;
    desk.verb(BrowserVerb::MouseUp { at: far }).await;
    desk.says("slid true").await;

    desk.open("/held").await;
    let pad = PagePlace::Element(desk.find("Pad").await);
    let middle = BrowserVerb::Click {
        at: pad.clone(),
        button: Button::Middle,
        count: 1,
        modifiers: Vec::new(),
    };
    desk.verb(middle).await;
    desk.says("button 1").await;
    desk.verb(click(pad.clone())).await;
    let hold = BrowserVerb::HoldKey {
        keys: "shift+a".to_owned(),
        ms: 300,
    };
    desk.verb(hold).await;
    desk.says("held A true").await;
    let path = [(20, 100), (80, 100), (80, 160), (20, 160)];
    let path = path.map(|(x, y)| PagePlace::Point(Point { x, y }));
    desk.verb(drag(path.into())).await;
    desk.says("turned true").await;
}

fn drag(path: Vec<PagePlace>) -> BrowserVerb {
    BrowserVerb::Drag {
        path,
        modifiers: Vec::new(),
    }
}
