//! Pictures of pages, with secrets covered, and PDF files of them.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use deskhand_core::{
    action::{Point, Region, ScreenSize},
    blob::BlobFormat,
    browser::{BrowserFinding, ElementRef, PageArea},
    sandbox::Frame,
    secret::Secret,
};
use deskhand_pictures::DecodedPicture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    BrowseError, DevToolsError, Until, browse_failed,
    pointer::{VisiblePart, whole},
    tab::Tab,
};

/// The longest side of the part that is shown, in CSS pixels. The rest of a longer page is left out.
const LONGEST_PART: f64 = 8_000.0;
/// The longest side of a picture, in pixels. Some models take no longer one. A larger part is shown smaller.
const LONGEST_SIDE: f64 = 2_000.0;
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(15);
const PRINT_TIMEOUT: Duration = Duration::from_secs(30);
/// The quality of a JPEG, out of 100.
const JPEG_QUALITY: u8 = 75;
/// The most pixels per CSS pixel of a part that is looked at closely.
const MOST_ZOOM: f64 = 8.0;
/// The attempts to take a picture while secrets keep moving.
const MOST_ATTEMPTS: usize = 5;

/// A picture of a page.
#[derive(Debug)]
pub(super) struct PagePicture {
    pub(super) frame: Frame,
    /// The size of the visible part in CSS pixels, if the picture shows exactly that.
    pub(super) viewport: Option<ScreenSize>,
}

#[derive(Deserialize)]
struct Encoded {
    data: String,
}

/// A part of a page in CSS pixels, from the page's top left corner.
#[derive(Debug, Clone, Copy, Deserialize)]
struct PagePart {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum BoxAnswer {
    Part(PagePart),
    Problem {
        #[serde(rename = "error")]
        _error: String,
    },
}

impl PagePart {
    /// Returns a part of this one, which is the visible part.
    fn within(self, region: Region) -> Result<Self, BrowseError> {
        let (left, top) = (f64::from(region.x0).max(0.0), f64::from(region.y0).max(0.0));
        let right = f64::from(region.x1).min(self.width);
        let bottom = f64::from(region.y1).min(self.height);
        if right - left < 1.0 || bottom - top < 1.0 {
            return Err(BrowseError::Outside {
                x: region.x0,
                y: region.y0,
                width: whole(self.width),
                height: whole(self.height),
            });
        }
        Ok(Self {
            x: self.x + left,
            y: self.y + top,
            width: right - left,
            height: bottom - top,
        })
    }
}

impl Tab {
    /// Takes a picture of the page in CSS pixels. Places that show one of these secrets are black.
    pub(super) async fn picture(
        &self,
        area: &PageArea,
        format: BlobFormat,
        secrets: &[Secret],
    ) -> Result<PagePicture, BrowseError> {
        // A picture of the visible part is usually taken as it is, so it need not wait for the page's measurements.
        let (part, as_it_is) = if matches!(area, PageArea::Viewport) && secrets.is_empty() {
            let (part, bytes) = tokio::join!(self.visible_part(), self.capture(None, format));
            (part?, Some(bytes?))
        } else {
            (self.visible_part().await?, None)
        };
        let visible = PagePart {
            x: part.scroll_x,
            y: part.scroll_y,
            width: part.width,
            height: part.height,
        };
        let wanted = self.wanted_part(area, visible, part).await?;
        let is_plain = matches!(area, PageArea::Viewport) && (part.ratio - 1.0).abs() < 0.01;
        let factor = match area {
            // As large as fits into the visible part.
            PageArea::Region(_) => (part.width / wanted.width)
                .min(part.height / wanted.height)
                .clamp(1.0, MOST_ZOOM),
            PageArea::Viewport | PageArea::WholePage | PageArea::Element(_) => {
                (LONGEST_SIDE / wanted.width.max(wanted.height)).min(1.0)
            }
        };
        let clip = (!is_plain).then_some((wanted, factor / part.ratio));
        let (bytes, size) = match as_it_is {
            Some(bytes) if is_plain => (bytes, size_of(wanted, factor)),
            _ if secrets.is_empty() => {
                let bytes = self.capture(clip, format).await?;
                (bytes, size_of(wanted, factor))
            }
            _ => {
                let part = (wanted, factor);
                self.covered(clip, part, format, secrets).await?
            }
        };
        let is_whole = matches!(area, PageArea::Viewport);
        Ok(PagePicture {
            frame: Frame {
                bytes,
                format,
                size,
                pointer: Point { x: 0, y: 0 },
            },
            viewport: is_whole.then(|| size_of(visible, 1.0)),
        })
    }

    async fn wanted_part(
        &self,
        area: &PageArea,
        visible: PagePart,
        part: VisiblePart,
    ) -> Result<PagePart, BrowseError> {
        let wanted = match area {
            PageArea::Viewport => visible,
            PageArea::Region(region) => visible.within(*region)?,
            PageArea::WholePage => PagePart {
                x: 0.0,
                y: 0.0,
                width: part.page_width.max(part.width),
                height: part.page_height.max(part.height),
            },
            PageArea::Element(element) => self.part_of(*element).await?,
        };
        Ok(PagePart {
            width: wanted.width.clamp(1.0, LONGEST_PART),
            height: wanted.height.clamp(1.0, LONGEST_PART),
            ..wanted
        })
    }

    async fn part_of(&self, element: ElementRef) -> Result<PagePart, BrowseError> {
        let frame = self.frame_of(element).await?;
        let call = format!("boxOf({})", element.element);
        let BoxAnswer::Part(part) = self.script(&frame, &call).await? else {
            return Err(BrowseError::Stale(element));
        };
        if frame.number == 0 {
            return Ok(part);
        }
        // In a frame, the place is counted from the frame's own corner.
        let (left, top) = self.origin_of(&frame).await?;
        let inner: VisiblePart = self.script(&frame, "viewport()").await?;
        let outer = self.visible_part().await?;
        Ok(PagePart {
            x: part.x - inner.scroll_x + left + outer.scroll_x,
            y: part.y - inner.scroll_y + top + outer.scroll_y,
            ..part
        })
    }

    async fn capture(
        &self,
        clip: Option<(PagePart, f64)>,
        format: BlobFormat,
    ) -> Result<Bytes, BrowseError> {
        let mut params = match format {
            BlobFormat::Png => json!({"format": "png"}),
            BlobFormat::Jpeg => json!({"format": "jpeg", "quality": JPEG_QUALITY}),
        };
        params["optimizeForSpeed"] = json!(true);
        if let Some((
            PagePart {
                x,
                y,
                width,
                height,
            },
            scale,
        )) = clip
        {
            params["captureBeyondViewport"] = json!(true);
            params["clip"] =
                json!({"x": x, "y": y, "width": width, "height": height, "scale": scale});
        }
        let captured =
            self.page
                .call_within::<Encoded>(CAPTURE_TIMEOUT, "Page.captureScreenshot", params);
        decoded(&self.unless_interrupted(captured).await?)
    }

    /// Takes a picture with secrets covered. Their places must be the same before and after it.
    async fn covered(
        &self,
        clip: Option<(PagePart, f64)>,
        (wanted, factor): (PagePart, f64),
        format: BlobFormat,
        secrets: &[Secret],
    ) -> Result<(Bytes, ScreenSize), BrowseError> {
        for _ in 0..MOST_ATTEMPTS {
            let before = self.browser.sights(secrets, Until::Painted).await;
            let bytes = self.capture(clip, BlobFormat::Png).await?;
            let after = self.browser.sights(secrets, Until::Now).await;
            let (Ok(before), Ok(after)) = (before, after) else {
                continue;
            };
            let Some(places) = before.iter().find_map(|sight| sight.on_page(&self.main)) else {
                continue;
            };
            if before != after {
                continue;
            }
            let part = self.visible_part().await?;
            let (left, top) = (part.scroll_x - wanted.x, part.scroll_y - wanted.y);
            let region = |[x0, y0, x1, y1]: [f64; 4]| Region {
                x0: whole(((x0 + left) * factor).floor()),
                y0: whole(((y0 + top) * factor).floor()),
                x1: whole(((x1 + left) * factor).ceil()),
                y1: whole(((y1 + top) * factor).ceil()),
            };
            let regions: Vec<Region> = places.into_iter().map(region).collect();
            return cover(bytes, regions, format).await;
        }
        Err(BrowseError::Unclear)
    }

    /// Prints the page to a file.
    pub(super) async fn print(&self, path: Option<&str>) -> Result<BrowserFinding, BrowseError> {
        let params = json!({"printBackground": true});
        let printed = self
            .page
            .call_within::<Encoded>(PRINT_TIMEOUT, "Page.printToPDF", params);
        let bytes = decoded(&self.unless_interrupted(printed).await?)?;
        let path = match path {
            Some(path) => path.to_owned(),
            None => format!("Downloads/{}.pdf", self.file_name()),
        };
        self.browser.write_file(&path, &bytes).await
    }

    /// Returns the title of the page as the name of a file.
    fn file_name(&self) -> String {
        let title = self.state(|tab| tab.title.clone()).unwrap_or_default();
        let safe = |one: char| one.is_alphanumeric() || matches!(one, ' ' | '-' | '_');
        let name: String = title.chars().filter(|one| safe(*one)).take(80).collect();
        match name.trim() {
            "" => "page".to_owned(),
            name => name.to_owned(),
        }
    }

    /// Evaluates an expression in the page itself, and returns its value as JSON.
    pub(super) async fn evaluate_script(&self, text: &str) -> Result<BrowserFinding, BrowseError> {
        use deskhand_core::browser::{LONGEST_PAGE_TEXT, page_label};
        if !self.browser.settings.allows_scripts {
            return Err(BrowseError::ScriptsOff);
        }
        let params = json!({
            "expression": text, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let answered = self
            .page
            .call_within::<Value>(CAPTURE_TIMEOUT, "Runtime.evaluate", params);
        let answer = self.unless_interrupted(answered).await?;
        let thrown = &answer["exceptionDetails"];
        if !thrown.is_null() {
            let problem = thrown["exception"]["description"].as_str();
            let problem = problem.or(thrown["text"].as_str()).unwrap_or_default();
            return Err(BrowseError::Script(page_label(problem, 500)));
        }
        let value = answer["result"]["value"].to_string();
        Ok(BrowserFinding::Value(page_label(&value, LONGEST_PAGE_TEXT)))
    }
}

impl super::Browser {
    /// Takes a picture of the current page as it is now, while a verb may go on.
    pub(crate) async fn look(
        &self,
        format: BlobFormat,
        secrets: &[Secret],
    ) -> Result<Frame, BrowseError> {
        let current = self.observer.seen().current;
        let tab = self
            .tab(Some(current.ok_or(BrowseError::NotStarted)?))
            .await?;
        let picture = tab.picture(&PageArea::Viewport, format, secrets).await?;
        Ok(picture.frame)
    }

    /// Writes a file of the agent's. Its folder is created if it does not exist.
    pub(super) async fn write_file(
        &self,
        path: &str,
        bytes: &[u8],
    ) -> Result<BrowserFinding, BrowseError> {
        let path = self.path(path);
        let folder = path.parent().map(ToOwned::to_owned).unwrap_or_default();
        let made = tokio::fs::create_dir_all(&folder).await;
        made.map_err(browse_failed(folder))?;
        let written = tokio::fs::write(&path, bytes).await;
        written.map_err(browse_failed(path.clone()))?;
        Ok(BrowserFinding::File {
            path: path.to_string_lossy().into_owned(),
            n_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        })
    }
}

fn decoded(encoded: &Encoded) -> Result<Bytes, BrowseError> {
    let bytes = BASE64_STANDARD.decode(&encoded.data);
    let bytes = bytes.map_err(|_bad| DevToolsError::Strange("a picture"))?;
    Ok(bytes.into())
}

/// Blackens parts of a picture.
async fn cover(
    bytes: Bytes,
    regions: Vec<Region>,
    format: BlobFormat,
) -> Result<(Bytes, ScreenSize), BrowseError> {
    let covering = tokio::task::spawn_blocking(move || {
        let decoded = DecodedPicture::decode(&bytes);
        let mut picture = decoded.map_err(|_bad| BrowseError::BadPicture)?.picture;
        for region in regions {
            picture.cover(region);
        }
        Ok((Bytes::from(picture.encode(format)?), picture.size))
    });
    match covering.await {
        Ok(covered) => covered,
        // The runtime drops such work only while it shuts down.
        Err(_join) => Err(BrowseError::Cancelled),
    }
}

fn size_of(part: PagePart, factor: f64) -> ScreenSize {
    let side = |length: f64| u16::try_from(whole(length)).unwrap_or(u16::MAX);
    ScreenSize {
        width: side(part.width * factor),
        height: side(part.height * factor),
    }
}
