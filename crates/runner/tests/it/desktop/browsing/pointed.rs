//! The elements that clicks and keys are for.

use std::time::{Duration, Instant};

use deskhand_core::{
    action::{Action, Button, Point},
    browser::{ActivatingKey, ElementAt, PagePlace, PointedElement},
};

use super::Desk;

const DEADLINE: Duration = Duration::from_secs(60);

/// Returns the element at a place. A busy machine may take longer than a look does.
async fn element(desk: &Desk, at: ElementAt) -> PointedElement {
    let give_up_at = Instant::now() + DEADLINE;
    loop {
        if let Some(element) = desk.world.desktop.find_element(&at).await {
            return element;
        }
        assert!(Instant::now() < give_up_at, "no element at {at:?}");
    }
}

pub(super) async fn elements_are_named_before_they_are_clicked(desk: &Desk) {
    desk.open("/shop").await;
    let origin = desk.site.url("/").trim_end_matches('/').to_owned();
    let pay = PointedElement {
        origin: origin.clone(),
        title: "Hard".to_owned(),
        role: "button".to_owned(),
        name: "Pay €12".to_owned(),
        is_submit: true,
        has_card: true,
        ..PointedElement::default()
    };
    let amount = desk.find("Amount").await;
    let place = PagePlace::Element(desk.find("Pay").await);
    let enter = ActivatingKey::Enter;
    let tab = None;
    assert_eq!(element(desk, ElementAt::Page { tab, place }).await, pay);
    let field = ElementAt::PageField { tab, field: amount };
    assert_eq!(element(desk, field).await, pay);
    desk.click("Amount").await;
    let focus = ElementAt::PageFocus { tab, key: enter };
    assert_eq!(element(desk, focus).await, pay);
    assert_eq!(element(desk, ElementAt::ScreenFocus(enter)).await, pay);

    // Another process shows this frame.
    let place = PagePlace::Point(Point { x: 100, y: 120 });
    let found = element(desk, ElementAt::Page { tab, place }).await;
    assert_eq!(found.name, "Delete all");
    assert_eq!(found.origin, origin.replace("127.0.0.1", "localhost"));

    // A click on the screen hits the very button that was named.
    for (x, y) in [(203, 411), (333, 500), (96, 455)] {
        let at = Point { x, y };
        let found = element(desk, ElementAt::Screen(at)).await;
        let click = Action::Click {
            button: Button::Left,
            count: 1,
            at: Some(at),
            modifiers: Vec::new(),
        };
        desk.world.act(click).await.unwrap();
        desk.says(&found.name).await;
        assert_eq!(element(desk, ElementAt::Pointer).await.name, found.name);
    }
    // The bars of the browser are no page.
    let bar = ElementAt::Screen(Point { x: 300, y: 5 });
    assert_eq!(desk.world.desktop.find_element(&bar).await, None);
}
