//! The verbs of the browser, against pages that are made to be hard.

mod forms;
mod pages;
mod players;
mod pointed;
mod reading;
mod site;
mod tabs;

use deskhand_core::{
    action::Button,
    blob::BlobFormat,
    browser::{
        Browse, Browsed, BrowserFinding, BrowserVerb, ElementRef, PageArea, PageCondition,
        PagePlace, TreeFilter, page_elements,
    },
    secret::Secret,
};
use deskhand_runner::desktop::BrowseError;
use tokio_util::sync::CancellationToken;

use self::site::Site;
use super::world::World;

/// A desktop with a browser, and a site on the loopback interface.
pub(crate) struct Desk {
    world: World,
    site: Site,
}

impl Desk {
    pub(crate) async fn start() -> Self {
        let (world, site) = tokio::join!(World::with_page_and_bars(""), Site::start());
        Self { world, site }
    }

    async fn browse(&self, browse: &Browse) -> Result<Browsed, BrowseError> {
        self.world
            .desktop
            .browse(browse, CancellationToken::new())
            .await
    }

    async fn try_verb(&self, verb: BrowserVerb) -> Result<Browsed, BrowseError> {
        self.browse(&Browse::new(verb)).await
    }

    async fn verb(&self, verb: BrowserVerb) -> Browsed {
        let told = format!("{verb:?}");
        self.try_verb(verb)
            .await
            .unwrap_or_else(|error| panic!("{told}: {error}"))
    }

    /// Opens a page of the site.
    async fn open(&self, path: &str) -> Browsed {
        let url = self.site.url(path).parse().unwrap();
        self.verb(BrowserVerb::Navigate { url }).await
    }

    /// Reads the page as a tree.
    async fn tree(&self) -> String {
        let verb = BrowserVerb::ReadPage {
            filter: TreeFilter::All,
            at: None,
            depth: None,
        };
        text(self.verb(verb).await)
    }

    /// Returns the reference of the first element that contains a text, or that is on a line with it.
    async fn find(&self, wanted: &str) -> ElementRef {
        let verb = BrowserVerb::Find {
            text: wanted.to_owned(),
        };
        let text = text(self.verb(verb).await);
        let elements = page_elements(&text);
        let named = elements
            .iter()
            .find(|one| text[one.place.clone()].contains(wanted));
        let found = named.or(elements.first());
        found
            .unwrap_or_else(|| panic!("no reference for {wanted:?} in {text:?}"))
            .reference
    }

    async fn click(&self, wanted: &str) -> Browsed {
        let at = PagePlace::Element(self.find(wanted).await);
        self.verb(click(at)).await
    }

    async fn wait_for(&self, wanted: &str) {
        let verb = BrowserVerb::Wait {
            until: PageCondition::Text(wanted.to_owned()),
            timeout_ms: 60_000,
        };
        self.verb(verb).await;
    }

    /// Waits until the page says something.
    async fn says(&self, wanted: &str) {
        let verb = BrowserVerb::Wait {
            until: PageCondition::Text(format!("said: {wanted};")),
            timeout_ms: 60_000,
        };
        if let Err(error) = self.try_verb(verb).await {
            panic!(
                "the page does not say {wanted:?} ({error}): {}",
                self.tree().await
            );
        }
    }
}

fn click(at: PagePlace) -> BrowserVerb {
    BrowserVerb::Click {
        at,
        button: Button::Left,
        count: 1,
        modifiers: Vec::new(),
    }
}

fn text(browsed: Browsed) -> String {
    let BrowserFinding::Text { text, .. } = browsed.finding else {
        panic!("not a text: {:?}", browsed.finding);
    };
    text
}

#[tokio::test]
async fn a_walk_through_hard_pages() {
    let desk = Desk::start().await;
    pages::clicks_reach_their_targets(&desk).await;
    pages::frames_and_shadow_trees_are_pages_too(&desk).await;
    pointed::elements_are_named_before_they_are_clicked(&desk).await;
    pages::drags_work_with_the_mouse_and_with_data(&desk).await;
    pages::buttons_and_keys_can_be_held(&desk).await;
    forms::fields_of_all_kinds_are_filled_in(&desk).await;
    forms::text_is_typed_at_the_end_of_fields_without_a_click(&desk).await;
    forms::files_are_given_and_downloaded(&desk).await;
    desk.world.end().await;
}

#[tokio::test]
async fn a_walk_through_large_pages_and_tabs() {
    let desk = Desk::start().await;
    reading::a_page_is_read_briefly(&desk).await;
    reading::elements_stand_in_the_lines_of_their_text(&desk).await;
    reading::no_text_of_a_page_looks_like_an_element(&desk).await;
    reading::large_and_foreign_pages_are_read(&desk).await;
    reading::waits_are_for_the_page(&desk).await;
    reading::parts_of_a_page_are_seen_closely(&desk).await;
    players::the_largest_player_is_used_wherever_it_is(&desk).await;
    players::a_frame_that_hangs_does_not_hide_the_player(&desk).await;
    players::looks_are_no_clicks_and_sound_has_an_end(&desk).await;
    tabs::pop_ups_dialogs_and_tabs(&desk).await;
    tabs::dialogs_are_answered_with_the_keyboard(&desk).await;
    tabs::pages_that_do_not_open_are_reported(&desk).await;
    tabs::a_crash_is_reported_and_recovered(&desk).await;
    tabs::a_browser_that_is_closed_comes_back(&desk).await;
    desk.world.end().await;
}

#[tokio::test]
async fn secrets_are_black_in_pictures_of_pages() {
    let desk = Desk::start().await;
    desk.open("/secret").await;
    let screenshot = |area| BrowserVerb::Screenshot {
        area,
        format: BlobFormat::Png,
    };
    let open = desk.verb(screenshot(PageArea::Viewport)).await;
    let red = |browsed: &Browsed| {
        let frame = browsed.frame.as_ref().unwrap();
        let pixels = deskhand_pictures::Pixels::decode_png(&frame.bytes).unwrap();
        pixels.find([255, 0, 0]).is_some()
    };
    assert!(red(&open), "the text is on a red background");
    desk.world.desktop.cover(vec![Secret::new("hunter2")]);
    for area in [PageArea::Viewport, PageArea::WholePage] {
        assert!(!red(&desk.verb(screenshot(area)).await));
    }
    desk.world.end().await;
}
