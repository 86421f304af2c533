//! The input of the tool: one flat object, whose `action` says which of its fields count.

use deskhand_core::{
    action::{Button, Point, Region},
    blob::BlobFormat,
    browser::{
        Browse, BrowserVerb, ElementRef, EmulatedViewport, Emulation, FieldValue, PageArea,
        PageCondition, PagePlace, TabNumber, TreeFilter, WebUrl,
    },
};
use serde::Deserialize;
use serde_json::Value;

use super::schema::ACTIONS;

/// The wait for a condition, unless the call says otherwise.
const USUAL_WAIT_SECONDS: f64 = 10.0;
/// The distance of a scroll, unless the call says otherwise.
const USUAL_SCROLL: i32 = 600;

/// A call as models write it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BrowserInput {
    pub(super) action: String,
    tab: Option<u32>,
    #[serde(rename = "ref")]
    element: Option<String>,
    x: Option<f64>,
    y: Option<f64>,
    to_ref: Option<String>,
    to_x: Option<f64>,
    to_y: Option<f64>,
    url: Option<String>,
    text: Option<String>,
    submit: bool,
    keys: Option<String>,
    repeat: Option<u8>,
    path_points: Vec<[f64; 2]>,
    region: Option<[f64; 4]>,
    seconds: Option<f64>,
    depth: Option<u16>,
    look: bool,
    modifiers: Vec<String>,
    value: Option<Value>,
    options: Vec<String>,
    dx: Option<f64>,
    dy: Option<f64>,
    selector: Option<String>,
    gone: bool,
    timeout: Option<f64>,
    accept: Option<bool>,
    filter: Option<TreeFilter>,
    full_page: bool,
    format: Option<BlobFormat>,
    path: Option<String>,
    paths: Vec<String>,
    width: Option<u16>,
    height: Option<u16>,
    scale: Option<f64>,
    locale: Option<String>,
    time_zone: Option<String>,
}

impl BrowserInput {
    /// Returns the request of the call. The error is for the model.
    pub(super) fn into_browse(self) -> Result<Browse, String> {
        let tab = self.tab.map(TabNumber);
        let verb = match &*self.action {
            "navigate" => self.navigation()?,
            "click" | "double_click" | "triple_click" | "right_click" | "middle_click" => {
                self.click()?
            }
            "type" | "press" | "hold_key" | "fill" | "select" | "upload" => self.entry()?,
            "wait" | "pause" => self.wait()?,
            "scroll" | "scroll_to" | "hover" | "drag" | "mouse_down" | "mouse_up" => {
                self.motion()?
            }
            "screenshot" | "zoom" | "read_page" | "page_text" | "find" => self.reading()?,
            _ => self.other(tab)?,
        };
        Ok(Browse {
            tab,
            verb,
            look: self.look.then(|| self.picture_format()),
        })
    }

    fn picture_format(&self) -> BlobFormat {
        self.format.unwrap_or(BlobFormat::Jpeg)
    }

    fn navigation(&self) -> Result<BrowserVerb, String> {
        let url = self.needs(self.url.as_ref(), "url")?;
        // Another vendor's spelling.
        match &**url {
            "back" => Ok(BrowserVerb::Back),
            "forward" => Ok(BrowserVerb::Forward),
            "reload" => Ok(BrowserVerb::Reload),
            url => Ok(BrowserVerb::Navigate { url: web_url(url)? }),
        }
    }

    fn click(&self) -> Result<BrowserVerb, String> {
        Ok(BrowserVerb::Click {
            at: self.place()?,
            button: match &*self.action {
                "right_click" => Button::Right,
                "middle_click" => Button::Middle,
                _ => Button::Left,
            },
            count: match &*self.action {
                "double_click" => 2,
                "triple_click" => 3,
                _ => 1,
            },
            modifiers: self.modifiers.clone(),
        })
    }

    fn entry(&self) -> Result<BrowserVerb, String> {
        Ok(match &*self.action {
            "type" => BrowserVerb::Type {
                at: self.place_if_any()?,
                text: self.needs(self.text.as_ref(), "text")?.clone(),
                submit: self.submit,
            },
            "press" => BrowserVerb::Press {
                keys: self.chord()?,
                repeat: self.repeat.unwrap_or(1),
            },
            "hold_key" => BrowserVerb::HoldKey {
                keys: self.chord()?,
                ms: self.pause_ms()?,
            },
            "fill" => BrowserVerb::Fill {
                at: self.reference()?,
                value: match self.needs(self.value.as_ref(), "value")? {
                    Value::Bool(is_checked) => FieldValue::Checked(*is_checked),
                    Value::String(text) => FieldValue::Text(text.clone()),
                    Value::Number(number) => FieldValue::Text(number.to_string()),
                    Value::Null | Value::Array(_) | Value::Object(_) => {
                        return Err("value is a text, a number, true or false".to_owned());
                    }
                },
            },
            "select" => BrowserVerb::Select {
                at: self.reference()?,
                options: self.options.clone(),
            },
            _ => BrowserVerb::Upload {
                at: self.reference()?,
                paths: self.paths.clone(),
            },
        })
    }

    fn chord(&self) -> Result<String, String> {
        let keys = self.keys.as_ref().or(self.text.as_ref());
        self.needs(keys, "keys").cloned()
    }

    fn pause_ms(&self) -> Result<u64, String> {
        Ok(milliseconds(self.needs(self.seconds, "seconds")?))
    }

    fn wait(&self) -> Result<BrowserVerb, String> {
        if self.action == "pause" {
            let ms = self.pause_ms()?;
            return Ok(BrowserVerb::Pause { ms });
        }
        let until = match (&self.text, &self.selector, &self.url) {
            (Some(text), None, None) if self.gone => PageCondition::NoText(text.clone()),
            (Some(text), None, None) => PageCondition::Text(text.clone()),
            (None, Some(selector), None) => PageCondition::Selector(selector.clone()),
            (None, None, Some(part)) => PageCondition::Url(part.clone()),
            (None, None, None) => PageCondition::Quiet,
            _ => return Err("wait takes one of text, selector and url".to_owned()),
        };
        let seconds = self.timeout.unwrap_or(USUAL_WAIT_SECONDS);
        Ok(BrowserVerb::Wait {
            until,
            timeout_ms: milliseconds(seconds),
        })
    }

    fn motion(&self) -> Result<BrowserVerb, String> {
        Ok(match &*self.action {
            "scroll" => {
                let (dx, dy) = (self.dx.map(whole), self.dy.map(whole));
                let usual = if dx.is_none() { USUAL_SCROLL } else { 0 };
                BrowserVerb::Scroll {
                    at: self.place_if_any()?,
                    dx: dx.unwrap_or_default(),
                    dy: dy.unwrap_or(usual),
                    modifiers: self.modifiers.clone(),
                }
            }
            "scroll_to" => BrowserVerb::ScrollTo {
                at: self.reference()?,
            },
            "hover" => BrowserVerb::Hover { at: self.place()? },
            "mouse_down" => BrowserVerb::MouseDown { at: self.place()? },
            "mouse_up" => BrowserVerb::MouseUp { at: self.place()? },
            _ => BrowserVerb::Drag {
                path: self.drag_path()?,
                modifiers: self.modifiers.clone(),
            },
        })
    }

    fn drag_path(&self) -> Result<Vec<PagePlace>, String> {
        if !self.path_points.is_empty() {
            let points = self.path_points.iter().map(|[x, y]| point(*x, *y));
            return Ok(points.map(PagePlace::Point).collect());
        }
        let to = place(self.to_ref.as_deref(), self.to_x, self.to_y)?;
        Ok(vec![
            self.place()?,
            to.ok_or("drag needs to_ref, or to_x and to_y")?,
        ])
    }

    fn reading(&self) -> Result<BrowserVerb, String> {
        let element = self.element.as_deref().map(parse_ref).transpose()?;
        Ok(match &*self.action {
            "screenshot" => BrowserVerb::Screenshot {
                area: match element {
                    Some(element) => PageArea::Element(element),
                    None if self.full_page => PageArea::WholePage,
                    None => PageArea::Viewport,
                },
                format: self.picture_format(),
            },
            "zoom" => BrowserVerb::Screenshot {
                area: PageArea::Region(region(self.needs(self.region, "region")?)),
                format: self.picture_format(),
            },
            "read_page" => BrowserVerb::ReadPage {
                filter: self.filter.unwrap_or_default(),
                at: element,
                depth: self.depth,
            },
            "find" => BrowserVerb::Find {
                text: self.needs(self.text.as_ref(), "text")?.clone(),
            },
            _ => BrowserVerb::ReadText,
        })
    }

    fn other(&self, tab: Option<TabNumber>) -> Result<BrowserVerb, String> {
        let path = || self.needs(self.path.as_ref(), "path").cloned();
        Ok(match &*self.action {
            "back" => BrowserVerb::Back,
            "forward" => BrowserVerb::Forward,
            "reload" => BrowserVerb::Reload,
            "list_tabs" => BrowserVerb::ListTabs,
            "new_tab" => BrowserVerb::NewTab {
                url: self.url.as_deref().map(web_url).transpose()?,
            },
            "select_tab" => {
                self.needs(tab, "tab")?;
                BrowserVerb::SelectTab
            }
            "close_tab" => BrowserVerb::CloseTab,
            "dialog" => BrowserVerb::AnswerDialog {
                accept: self.needs(self.accept, "accept")?,
                text: self.text.clone(),
            },
            "downloads" => BrowserVerb::Downloads,
            "console" => BrowserVerb::Console,
            "network" => BrowserVerb::Network,
            "script" => BrowserVerb::Script {
                text: self.needs(self.text.as_ref(), "text")?.clone(),
            },
            "pdf" => BrowserVerb::Pdf {
                path: self.path.clone(),
            },
            "emulate" => BrowserVerb::Emulate(self.emulation()),
            "save_state" => BrowserVerb::SaveState { path: path()? },
            "load_state" => BrowserVerb::LoadState { path: path()? },
            "current_url" | "capabilities" => BrowserVerb::Capabilities,
            "close" => BrowserVerb::Close,
            other => {
                let actions = ACTIONS.join(", ");
                return Err(format!(
                    "there is no action {other:?}; the actions are {actions}"
                ));
            }
        })
    }

    fn emulation(&self) -> Emulation {
        let viewport = |(width, height)| EmulatedViewport {
            width,
            height,
            scale_percent: u16::try_from(whole(self.scale.unwrap_or(1.0) * 100.0)).unwrap_or(0),
        };
        Emulation {
            viewport: self.width.zip(self.height).map(viewport),
            locale: self.locale.clone(),
            time_zone: self.time_zone.clone(),
        }
    }

    fn needs<T>(&self, field: Option<T>, name: &str) -> Result<T, String> {
        field.ok_or_else(|| format!("{} needs {name}", self.action))
    }

    fn reference(&self) -> Result<ElementRef, String> {
        parse_ref(self.needs(self.element.as_deref(), "ref")?)
    }

    fn place_if_any(&self) -> Result<Option<PagePlace>, String> {
        place(self.element.as_deref(), self.x, self.y)
    }

    fn place(&self) -> Result<PagePlace, String> {
        self.needs(self.place_if_any()?, "ref, or x and y")
    }
}

fn place(
    element: Option<&str>,
    x: Option<f64>,
    y: Option<f64>,
) -> Result<Option<PagePlace>, String> {
    match (element, x, y) {
        (Some(element), None, None) => Ok(Some(PagePlace::Element(parse_ref(element)?))),
        (None, Some(x), Some(y)) => Ok(Some(PagePlace::Point(point(x, y)))),
        (None, None, None) => Ok(None),
        _ => Err("a place is either ref, or x and y".to_owned()),
    }
}

fn point(x: f64, y: f64) -> Point {
    Point {
        x: whole(x),
        y: whole(y),
    }
}

fn region(corners: [f64; 4]) -> Region {
    let [x0, y0, x1, y1] = corners.map(whole);
    Region { x0, y0, x1, y1 }
}

fn milliseconds(seconds: f64) -> u64 {
    u64::try_from(whole(seconds * 1000.0)).unwrap_or_default()
}

fn parse_ref(text: &str) -> Result<ElementRef, String> {
    text.parse()
        .map_err(|error: deskhand_core::browser::BadElementRef| error.to_string())
}

fn web_url(text: &str) -> Result<WebUrl, String> {
    text.parse()
        .map_err(|error: deskhand_core::browser::BadWebUrl| error.to_string())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and bounds are checked later"
)]
fn whole(number: f64) -> i32 {
    number.round() as i32
}
