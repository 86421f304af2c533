//! The state of one tab, as its events reported it.

use std::collections::{BTreeMap, VecDeque};

use deskhand_core::browser::{
    ConsoleEntry, LONGEST_PAGE_LABEL, LONGEST_WEB_URL, MOST_LOG_ENTRIES, NetworkEntry, OpenDialog,
    TabNumber, page_label,
};
use serde::Deserialize;
use serde_json::Value;

use super::devtools::TargetInfo;

/// The most characters of a message on the console.
const LONGEST_CONSOLE_TEXT: usize = 500;
/// The most requests of a tab that are followed at the same time.
const MOST_REQUESTS: usize = 500;
/// The most frames of other processes that are used.
const MOST_FRAMES: usize = 50;
/// Kinds of requests that may stay open as long as the page.
const LASTING: [&str; 5] = ["EventSource", "WebSocket", "Ping", "Media", "Prefetch"];

/// A tab.
#[derive(Debug)]
pub(super) struct TabRecord {
    pub(super) number: TabNumber,
    /// The id of its target, which is also the id of its main frame.
    pub(super) target: String,
    pub(super) session: Option<String>,
    pub(super) url: String,
    pub(super) title: String,
    pub(super) is_crashed: bool,
    pub(super) is_loading: bool,
    /// The number of documents that it has shown while it was followed.
    pub(super) n_documents: u64,
    pub(super) dialog: Option<OpenDialog>,
    /// The text that was typed into the field of the dialog.
    pub(super) dialog_text: Option<String>,
    pub(super) console: VecDeque<ConsoleEntry>,
    pub(super) network: VecDeque<RequestRecord>,
    /// The open requests, with the number that counts them.
    open_requests: BTreeMap<String, u64>,
    n_requests: u64,
    /// The frames that other processes show.
    pub(super) frames: Vec<FrameRecord>,
    /// The ids of frames in the order of their numbers, which begin with 1.
    pub(super) frame_numbers: Vec<String>,
    /// The data of a drag that the browser has handed to us.
    pub(super) drag: Option<Value>,
    /// The file field whose chooser was asked for.
    pub(super) chooser: Option<i64>,
}

#[derive(Debug)]
pub(super) struct RequestRecord {
    id: String,
    pub(super) entry: NetworkEntry,
}

/// A frame of another process.
#[derive(Debug, Clone)]
pub(super) struct FrameRecord {
    pub(super) session: String,
    /// True once its own frames are attached to as well.
    pub(super) is_prepared: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfFrame {
    frame_id: String,
    #[serde(default)]
    navigation_type: String,
}

#[derive(Deserialize)]
struct Navigated {
    frame: NavigatedFrame,
}

#[derive(Deserialize)]
struct NavigatedFrame {
    id: String,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WillBeSent {
    request_id: String,
    request: Request,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
struct Request {
    url: String,
    method: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Received {
    request_id: String,
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    status: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestEnded {
    request_id: String,
    error_text: Option<String>,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
struct ConsoleCall {
    #[serde(rename = "type")]
    level: String,
    args: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thrown {
    exception_details: Value,
}

#[derive(Deserialize)]
struct DialogOpening {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

#[derive(Deserialize)]
struct DialogClosed {
    result: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChooserOpened {
    backend_node_id: Option<i64>,
}

#[derive(Deserialize)]
struct Dragged {
    data: Value,
}

impl TabRecord {
    pub(super) fn new(number: TabNumber, info: TargetInfo) -> Self {
        Self {
            number,
            target: info.target_id,
            session: None,
            url: page_label(&info.url, LONGEST_WEB_URL),
            title: info.title,
            is_crashed: false,
            is_loading: false,
            n_documents: 0,
            dialog: None,
            dialog_text: None,
            console: VecDeque::new(),
            network: VecDeque::new(),
            open_requests: BTreeMap::new(),
            n_requests: 0,
            frames: Vec::new(),
            frame_numbers: Vec::new(),
            drag: None,
            chooser: None,
        }
    }

    pub(super) fn has_session(&self, session: &str) -> bool {
        self.session.as_deref() == Some(session)
            || self.frames.iter().any(|frame| frame.session == session)
    }

    /// Returns the number of requests so far. Later ones are newer.
    pub(super) fn request_mark(&self) -> u64 {
        self.n_requests
    }

    /// Returns true if a request that is newer than `mark` is still open.
    pub(super) fn is_requesting(&self, mark: u64) -> bool {
        self.open_requests.values().any(|number| *number > mark)
    }

    /// Returns the number of a frame, which it gets with its first use.
    pub(super) fn frame_number(&mut self, id: &str) -> u32 {
        if id == self.target {
            return 0;
        }
        let place = self.frame_numbers.iter().position(|known| known == id);
        let place = place.unwrap_or_else(|| {
            self.frame_numbers.push(id.to_owned());
            self.frame_numbers.len() - 1
        });
        u32::try_from(place + 1).unwrap_or(u32::MAX)
    }

    pub(super) fn add_frame(&mut self, session: String, info: &TargetInfo) {
        if info.kind == "iframe" && self.frames.len() < MOST_FRAMES {
            self.frames.push(FrameRecord {
                session,
                is_prepared: false,
            });
        }
    }

    pub(super) fn remove_frame(&mut self, session: &str) {
        self.frames.retain(|frame| frame.session != session);
        if self.session.as_deref() == Some(session) {
            self.session = None;
        }
    }

    pub(super) fn take_in(&mut self, method: &str, params: &str) -> serde_json::Result<()> {
        match method {
            "Page.frameStartedLoading" | "Page.frameStartedNavigating" => {
                let frame: OfFrame = serde_json::from_str(params)?;
                let is_new = frame.navigation_type != "sameDocument"
                    && frame.navigation_type != "historySameDocument";
                if frame.frame_id == self.target && is_new {
                    self.is_loading = true;
                }
            }
            "Page.frameStoppedLoading" => {
                if serde_json::from_str::<OfFrame>(params)?.frame_id == self.target {
                    self.is_loading = false;
                }
            }
            "Page.frameNavigated" => self.saw_navigation(&serde_json::from_str(params)?),
            "Page.javascriptDialogOpening" => {
                let DialogOpening { kind, message } = serde_json::from_str(params)?;
                let message = page_label(&message, LONGEST_PAGE_LABEL);
                self.dialog = Some(OpenDialog { kind, message });
                self.dialog_text = None;
            }
            "Page.javascriptDialogClosed" => {
                let DialogClosed { result } = serde_json::from_str(params)?;
                let closed = self.dialog.take();
                // The page stays, so nothing loads any more.
                if !result && closed.is_some_and(|dialog| dialog.kind == "beforeunload") {
                    self.is_loading = false;
                }
            }
            "Page.fileChooserOpened" => {
                self.chooser = serde_json::from_str::<ChooserOpened>(params)?.backend_node_id;
            }
            "Input.dragIntercepted" => {
                self.drag = Some(serde_json::from_str::<Dragged>(params)?.data);
            }
            "Inspector.targetCrashed" => self.is_crashed = true,
            "Runtime.consoleAPICalled" => self.saw_console(&serde_json::from_str(params)?),
            "Runtime.exceptionThrown" => self.saw_exception(&serde_json::from_str(params)?),
            _ => self.take_in_request(method, params)?,
        }
        Ok(())
    }

    fn take_in_request(&mut self, method: &str, params: &str) -> serde_json::Result<()> {
        match method {
            "Network.requestWillBeSent" => self.saw_request(serde_json::from_str(params)?),
            "Network.responseReceived" => {
                let received: Received = serde_json::from_str(params)?;
                if let Some(entry) = self.request(&received.request_id) {
                    entry.status = Some(received.response.status);
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let ended: RequestEnded = serde_json::from_str(params)?;
                self.open_requests.remove(&ended.request_id);
                // A page that became a download, or that has no content, never loads.
                if ended.kind == "Document" && ended.error_text.is_some() {
                    self.is_loading = false;
                }
                if let Some(entry) = self.request(&ended.request_id) {
                    entry.failure = ended.error_text;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn saw_navigation(&mut self, navigated: &Navigated) {
        if navigated.frame.id == self.target {
            self.n_documents += 1;
            self.url = page_label(&navigated.frame.url, LONGEST_WEB_URL);
            self.open_requests.clear();
        }
    }

    fn saw_request(&mut self, sent: WillBeSent) {
        self.n_requests += 1;
        if !LASTING.contains(&&*sent.kind) && self.open_requests.len() < MOST_REQUESTS {
            self.open_requests
                .insert(sent.request_id.clone(), self.n_requests);
        }
        if self.network.len() >= MOST_LOG_ENTRIES {
            self.network.pop_front();
        }
        let entry = NetworkEntry {
            method: page_label(&sent.request.method, LONGEST_PAGE_LABEL),
            url: page_label(&sent.request.url, LONGEST_PAGE_LABEL),
            status: None,
            failure: None,
        };
        let id = sent.request_id;
        self.network.push_back(RequestRecord { id, entry });
    }

    fn request(&mut self, id: &str) -> Option<&mut NetworkEntry> {
        let mut requests = self.network.iter_mut().rev();
        requests
            .find(|request| request.id == id)
            .map(|request| &mut request.entry)
    }

    fn saw_console(&mut self, call: &ConsoleCall) {
        let texts = call.args.iter().map(|argument| {
            let text = argument["value"].as_str().map(str::to_owned);
            let description = || argument["description"].as_str().map(str::to_owned);
            text.or_else(description)
                .unwrap_or_else(|| argument["value"].to_string())
        });
        let text = texts.collect::<Vec<_>>().join(" ");
        self.add_to_console(&call.level, &text);
    }

    fn saw_exception(&mut self, thrown: &Thrown) {
        let details = &thrown.exception_details;
        let text = details["exception"]["description"].as_str();
        let text = text.or(details["text"].as_str()).unwrap_or_default();
        self.add_to_console("error", text);
    }

    fn add_to_console(&mut self, level: &str, text: &str) {
        if self.console.len() >= MOST_LOG_ENTRIES {
            self.console.pop_front();
        }
        self.console.push_back(ConsoleEntry {
            level: page_label(level, LONGEST_PAGE_LABEL),
            text: page_label(text, LONGEST_CONSOLE_TEXT),
        });
    }
}
