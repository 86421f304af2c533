//! Finds secrets on the browser's pages, in fields and in any other text.
//!
//! The browser is asked for everything it shows, and the search happens here, so that a page that does not know a
//! secret does not learn it this way.

use deskhand_core::{action::Region, secret::Secret};
use futures::future::join_all;
use serde::Deserialize;
use serde_json::json;

use super::{
    Browser,
    devtools::{DevToolsError, Target, TargetInfo},
    frames::FrameTree,
    snapshot::{Found, Snapshot},
};
use crate::desktop::windows::Window;

/// The most places that are covered one by one on a page or frame.
const MOST_PLACES: usize = 64;
/// The widest border between a page and the edges of its window, in pixels.
const WIDEST_BORDER: f64 = 24.0;
/// The margin covered around each place, in pixels, since letters reach a little beyond their boxes.
const MARGIN: f64 = 2.0;

const VIEWPORT: &str = "({
    visible: document.visibilityState === 'visible',
    width: innerWidth, height: innerHeight, ratio: devicePixelRatio,
    scale: visualViewport?.scale ?? 1,
    x: screenX, y: screenY, outer_width: outerWidth, outer_height: outerHeight,
})";

/// Resolves when the page has been painted again and the result is on the screen.
const PAINTED: &str = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
    () => setTimeout(() => done(true), 30))))";

/// The places of secrets on one page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sight {
    /// The id of the page's main frame.
    page: String,
    viewport: Viewport,
    /// Places in CSS pixels, from the top left corner of the visible part.
    places: Vec<Place>,
}

/// The state to wait for after pages were searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Now,
    /// The screen shows the pages as they were when searched, or later.
    Painted,
}

/// The error for secrets whose places cannot be determined.
#[derive(Debug)]
pub(crate) struct Unclear;

impl From<DevToolsError> for Unclear {
    fn from(_: DevToolsError) -> Self {
        Self
    }
}

/// The visible part of a page, and the window that contains it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Viewport {
    visible: bool,
    width: f64,
    height: f64,
    /// The number of screen pixels per CSS pixel.
    ratio: f64,
    /// The pinch-zoom factor.
    scale: f64,
    x: f64,
    y: f64,
    outer_width: f64,
    outer_height: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    x0: f64,
    y0: f64,
    x1: f64,
    y1: f64,
}

/// A page or frame that was searched.
struct LookedAt {
    id: String,
    is_page: bool,
    target: Target,
    frames: FrameTree,
    viewport: Viewport,
    found: Vec<Found>,
}

#[derive(Deserialize)]
struct Boxed {
    model: BoxModel,
}

#[derive(Deserialize)]
struct BoxModel {
    border: Vec<f64>,
}

#[derive(Deserialize)]
struct Quads {
    quads: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    backend_node_id: i64,
}

impl Browser {
    /// Finds these values on the visible pages.
    pub(crate) async fn sights(
        &self,
        values: &[Secret],
        until: Until,
    ) -> Result<Vec<Sight>, Unclear> {
        let targets = self.devtools.targets().await?;
        if targets.iter().any(|target| tells(target, values)) {
            return Err(Unclear);
        }
        let is_shown = |target: &&TargetInfo| matches!(&*target.kind, "page" | "iframe");
        let looked = targets.iter().filter(is_shown).map(|info| async move {
            let target = self.devtools.attach(info).await?;
            let looked = look(info, target.clone(), values, until).await;
            if !matches!(looked, Ok(Some(_))) {
                target.detach().await;
            }
            looked
        });
        let looked = join_all(looked).await;
        let (mut all, mut is_unclear) = (Vec::new(), false);
        for one in looked {
            match one {
                Ok(one) => all.extend(one),
                Err(Unclear) => is_unclear = true,
            }
        }
        let sights = if is_unclear {
            Err(Unclear)
        } else {
            place_all(&all).await
        };
        join_all(all.into_iter().map(|one| one.target.detach())).await;
        sights
    }
}

impl Sight {
    /// Returns true if the page shows no secret.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the places in CSS pixels of the visible part, with a margin, if this is the page.
    pub(super) fn on_page(&self, page: &str) -> Option<Vec<[f64; 4]>> {
        let with_margin = |place: &Place| {
            let Place { x0, y0, x1, y1 } = *place;
            [x0 - MARGIN, y0 - MARGIN, x1 + MARGIN, y1 + MARGIN]
        };
        (self.page == page).then(|| self.places.iter().map(with_margin).collect())
    }

    /// Returns the places in screen coordinates.
    ///
    /// Returns `None` if the page is in none of these windows, or if its position in the window is unclear.
    pub(crate) fn on_screen(&self, windows: &[Window]) -> Option<Vec<Region>> {
        let Viewport {
            width,
            height,
            ratio,
            x,
            y,
            outer_width,
            outer_height,
            ..
        } = self.viewport;
        let is_around = |window: &&Window| {
            let region = window.region;
            let sizes = [
                region.x0,
                region.y0,
                region.x1 - region.x0,
                region.y1 - region.y0,
            ];
            sizes.map(f64::from) == [x, y, outer_width, outer_height]
        };
        windows.iter().find(is_around)?;
        // A page is at the bottom of its window, between the window's borders.
        let border = outer_width - width * ratio;
        if border < -ratio || border > WIDEST_BORDER {
            return None;
        }
        let border = border.max(0.0);
        let (left, top) = (x, y + outer_height - height * ratio - border);
        let margin = MARGIN + ratio;
        let region = |place: &Place| Region {
            x0: pixel(left + place.x0 * ratio - margin),
            y0: pixel(top + place.y0 * ratio - margin),
            x1: pixel(left + border + place.x1 * ratio + margin),
            y1: pixel(top + border + place.y1 * ratio + margin),
        };
        Some(self.places.iter().map(region).collect())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and any place outside the screen is as good as another"
)]
fn pixel(position: f64) -> i32 {
    position.round() as i32
}

/// Returns true if the browser shows a secret in an address or a title, or if the target is the browser's own
/// DevTools window, which shows the source of pages.
fn tells(target: &TargetInfo, values: &[Secret]) -> bool {
    let shows = |text: &str| {
        values.iter().any(|value| {
            let value = value.expose();
            text.contains(value) || encoded(value).iter().any(|value| text.contains(value))
        })
    };
    target.url.starts_with("devtools:")
        || (target.kind == "page" && (shows(&target.url) || shows(&target.title)))
}

/// Returns a value in the two forms in which addresses contain it.
fn encoded(value: &str) -> [String; 2] {
    let encode = |space: &str| {
        value.bytes().fold(String::new(), |text, byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => {
                text + &char::from(byte).to_string()
            }
            b' ' => text + space,
            _ => text + &format!("%{byte:02X}"),
        })
    };
    [encode("+"), encode("%20")]
}

/// Searches a page or frame for secrets. Returns `None` if no part of it is visible.
async fn look(
    info: &TargetInfo,
    target: Target,
    values: &[Secret],
    until: Until,
) -> Result<Option<LookedAt>, Unclear> {
    let frames = target.frames().await?;
    let viewport: Viewport = target.evaluate(&frames.frame.id, VIEWPORT).await?;
    if !viewport.visible {
        return Ok(None);
    }
    let params = json!({"computedStyles": []});
    let snapshot: Snapshot = target.call("DOMSnapshot.captureSnapshot", params).await?;
    let found = snapshot.find(values);
    if found.len() > MOST_PLACES {
        return Err(Unclear);
    }
    if until == Until::Painted {
        let _painted: bool = target.evaluate(&frames.frame.id, PAINTED).await?;
    }
    Ok(Some(LookedAt {
        id: info.target_id.clone(),
        is_page: info.kind == "page",
        target,
        frames,
        viewport,
        found,
    }))
}

/// Finds the places of all nodes that show secrets. A frame of another process counts as one place.
async fn place_all(all: &[LookedAt]) -> Result<Vec<Sight>, Unclear> {
    let mut sights = Vec::new();
    // The nodes of each page itself, and the frames of other processes inside it.
    for page in all.iter().filter(|one| one.is_page) {
        let mut places = Vec::new();
        for found in &page.found {
            places.extend(places_of(&page.target, found).await?);
        }
        let is_inside = |one: &&LookedAt| {
            let parent = one.frames.frame.parent_id.as_ref();
            !one.is_page && parent.is_some_and(|parent| page.frames.contains(parent))
        };
        let telling = |one: &&LookedAt| !one.found.is_empty();
        for frame in all.iter().filter(is_inside).filter(telling) {
            let params = json!({"frameId": frame.id});
            let owner: Owner = page.target.call("DOM.getFrameOwner", params).await?;
            let owner = Found {
                node: owner.backend_node_id,
                is_element: true,
            };
            places.extend(places_of(&page.target, &owner).await?);
        }
        if !places.is_empty() && (page.viewport.scale - 1.0).abs() > f64::EPSILON {
            return Err(Unclear);
        }
        sights.push(Sight {
            page: page.id.clone(),
            viewport: page.viewport,
            places,
        });
    }
    // Every frame that shows a secret must belong to one of the pages.
    let is_placed = |one: &LookedAt| {
        let parent = one.frames.frame.parent_id.as_ref();
        let mut pages = all.iter().filter(|page| page.is_page);
        parent.is_some_and(|parent| pages.any(|page| page.frames.contains(parent)))
    };
    let mut frames = all
        .iter()
        .filter(|one| !one.is_page && !one.found.is_empty());
    if frames.all(is_placed) {
        Ok(sights)
    } else {
        Err(Unclear)
    }
}

async fn places_of(target: &Target, found: &Found) -> Result<Vec<Place>, Unclear> {
    let params = json!({"backendNodeId": found.node});
    let quads = if found.is_element {
        let boxed: Boxed = target.call("DOM.getBoxModel", params).await?;
        vec![boxed.model.border]
    } else {
        let answer: Quads = target.call("DOM.getContentQuads", params).await?;
        answer.quads
    };
    quads.iter().map(|quad| around(quad)).collect()
}

/// Returns the bounding rectangle of a quadrilateral, which is given as four points.
fn around(quad: &[f64]) -> Result<Place, Unclear> {
    let [ax, ay, bx, by, cx, cy, dx, dy] = *quad.first_chunk::<8>().ok_or(Unclear)?;
    let least = |values: [f64; 4]| values.into_iter().fold(f64::INFINITY, f64::min);
    let most = |values: [f64; 4]| values.into_iter().fold(f64::NEG_INFINITY, f64::max);
    Ok(Place {
        x0: least([ax, bx, cx, dx]),
        y0: least([ay, by, cy, dy]),
        x1: most([ax, bx, cx, dx]),
        y1: most([ay, by, cy, dy]),
    })
}
