//! The places of a request where something is checked.

use super::{fields, paths::Dialect};

/// The longest beginning of a text that is looked at.
const LOOKED_AT_BYTES: usize = 32;

/// The fields that clients may name to say that they do not use them.
const OFF: [&str; 9] = [
    "background",
    "cachedContent",
    "cached_content",
    "container",
    "conversation",
    "mcp_servers",
    "previous_response_id",
    "prompt",
    "web_search_options",
];

/// A value that is neither an array nor an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    Number,
    Text(&'a str),
}

/// A place in a request. It decides what may stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The request itself.
    Body,
    /// The value of this field, which may only be switched off.
    Off(&'static str),
    Model,
    Stream,
    /// `service_tier`.
    Tier,
    /// The list of tools.
    Tools,
    /// One of the tools.
    Tool,
    /// The type of a tool.
    ToolKind,
    /// `input` of the Responses API: a text or items.
    Items,
    /// An item of the Responses API.
    Item,
    /// The type of an item or of a part of it.
    ItemKind,
    /// Anything that the model is told.
    Content,
    /// The source of a picture or document in Anthropic's API.
    Source,
    SourceKind,
    /// The address of a picture or file in OpenAI's APIs.
    Address,
    /// A file in OpenAI's APIs, as text.
    InlineFile,
    /// The id of something that is kept in the account.
    StoredId,
    /// A file in Gemini's API.
    GeminiFile,
    GeminiFileUri,
    /// Data that no vendor follows: schemas, options, inputs of tools.
    Plain,
}

impl Place {
    /// Returns the place of the values in an array at this place.
    pub(super) fn item(self) -> Result<Self, String> {
        if self == Self::Tools {
            return Ok(Self::Tool);
        }
        if self == Self::Items {
            return Ok(Self::Item);
        }
        self.nested()?;
        Ok(self)
    }

    /// Checks that an object may stand here.
    pub(super) fn object(self) -> Result<(), String> {
        if self == Self::Tools {
            return Err(not_a_list());
        }
        if matches!(self, Self::Body | Self::Tool) {
            return Ok(());
        }
        self.nested()
    }

    /// Checks that this is not the place of a single value.
    fn nested(self) -> Result<(), String> {
        match self {
            Self::Body => Err("the body cannot be read: it is not an object".to_owned()),
            Self::Off(key) => Err(not_passed_on(key)),
            Self::Tool => Err(not_a_list()),
            Self::Model => Err(single("model")),
            Self::Stream => Err(single("stream")),
            Self::Tier => Err(single("service_tier")),
            Self::ToolKind => Err(single("type")),
            Self::Tools
            | Self::Items
            | Self::Item
            | Self::ItemKind
            | Self::Content
            | Self::Source
            | Self::SourceKind
            | Self::Address
            | Self::InlineFile
            | Self::StoredId
            | Self::GeminiFile
            | Self::GeminiFileUri
            | Self::Plain => Ok(()),
        }
    }

    /// Returns the place of the value of this key in an object at this place.
    pub(super) fn value(self, dialect: Dialect, key: &str) -> Result<Self, String> {
        Ok(match (self, key) {
            (Self::Body, _) => return field(dialect, key),
            (Self::Tool, _) if dialect == Dialect::Gemini && !fields::is_tool(dialect, key) => {
                return Err(hosted(key));
            }
            (Self::Tool, "type") if dialect != Dialect::Gemini => Self::ToolKind,
            (Self::Tool | Self::Plain, _) => Self::Plain,
            (Self::Source, "type") => Self::SourceKind,
            (Self::Address, "url") => Self::Address,
            (Self::GeminiFile, "fileUri" | "file_uri") => Self::GeminiFileUri,
            (_, _) => content(dialect, key),
        })
    }

    /// Checks a value that is neither an array nor an object.
    pub(super) fn check(self, dialect: Dialect, scalar: Scalar<'_>) -> Result<(), String> {
        match (self, scalar) {
            (Self::Body, _) => Err("the body cannot be read: it is not an object".to_owned()),
            (Self::Off(_), Scalar::Null | Scalar::Bool(false)) => Ok(()),
            (Self::Off(key), _) => Err(not_passed_on(key)),
            (Self::Tools, Scalar::Null) => Ok(()),
            (Self::Tools | Self::Tool, _) => Err(not_a_list()),
            (Self::ToolKind, Scalar::Text(kind)) if fields::is_tool(dialect, kind) => Ok(()),
            (Self::ToolKind, Scalar::Text(kind)) => Err(hosted(kind)),
            (Self::ToolKind, Scalar::Null) if dialect == Dialect::Messages => Ok(()),
            (Self::ToolKind, _) => Err(single("type")),
            (Self::Tier, Scalar::Text(tier)) if !fields::is_tier(tier) => Err(format!(
                "the gateway does not pass on the service {tier:?}: it may cost more"
            )),
            (Self::ItemKind, Scalar::Text("item_reference")) => Err(kept("item_reference")),
            (Self::SourceKind, Scalar::Text(kind))
                if !matches!(kind, "base64" | "text" | "content") =>
            {
                Err(by_reference("source"))
            }
            (Self::Address, Scalar::Text(address)) if !is_data(address) => {
                Err(by_reference("an address"))
            }
            (Self::InlineFile, Scalar::Text(file)) if is_address(file) => {
                Err(by_reference("file_data"))
            }
            (Self::StoredId, Scalar::Text(_)) => Err(by_reference("file_id")),
            (Self::GeminiFileUri, Scalar::Text(_)) => Err(by_reference("fileData")),
            (_, _) => Ok(()),
        }
    }
}

/// Returns the place of a field of the request, if the gateway passes it on.
fn field(dialect: Dialect, key: &str) -> Result<Place, String> {
    if !fields::is_field(dialect, key) {
        let off = OFF.iter().find(|off| **off == key);
        return off
            .map(|key| Place::Off(key))
            .ok_or_else(|| not_passed_on(key));
    }
    Ok(match key {
        "model" => Place::Model,
        "stream" => Place::Stream,
        "service_tier" => Place::Tier,
        "tools" => Place::Tools,
        "input" => Place::Items,
        "messages" | "system" | "contents" | "systemInstruction" | "system_instruction"
        | "prediction" => Place::Content,
        _ => Place::Plain,
    })
}

/// Returns the place of the value of this key in something that the model is told.
fn content(dialect: Dialect, key: &str) -> Place {
    match (dialect, key) {
        // The input of a tool's call is the program's own.
        (Dialect::Messages, "input") => Place::Plain,
        (Dialect::Messages, "source") => Place::Source,
        (Dialect::Messages | Dialect::Responses | Dialect::Chat, "file_id") => Place::StoredId,
        (Dialect::Responses, "type") => Place::ItemKind,
        (Dialect::Responses | Dialect::Chat, "file_data") => Place::InlineFile,
        // The page that a browser shows is told, not fetched.
        (Dialect::Responses | Dialect::Chat, "current_url") => Place::Content,
        (Dialect::Responses | Dialect::Chat, key) if key.ends_with("_url") => Place::Address,
        (Dialect::Gemini, "fileData" | "file_data") => Place::GeminiFile,
        _ => Place::Content,
    }
}

fn is_data(address: &str) -> bool {
    address.trim_start().starts_with("data:")
}

/// Returns true if this is an address and not the data itself, which has no colon.
fn is_address(file: &str) -> bool {
    let beginning = file.trim_start().bytes().take(LOOKED_AT_BYTES);
    !is_data(file) && beginning.into_iter().any(|byte| byte == b':')
}

fn not_passed_on(key: &str) -> String {
    format!("the gateway does not pass on the field {key:?}")
}

fn single(key: &str) -> String {
    format!("{key:?} must be a single value")
}

fn not_a_list() -> String {
    "\"tools\" must be a list of objects".to_owned()
}

fn hosted(kind: &str) -> String {
    format!(
        "the gateway does not pass on the tool {kind:?}: it would run at the vendor, and programs here have no network"
    )
}

fn kept(what: &str) -> String {
    format!("the gateway does not pass on {what:?}: it is kept in the account")
}

fn by_reference(what: &str) -> String {
    format!("the gateway does not pass on {what:?} by reference: put the data into the request")
}
