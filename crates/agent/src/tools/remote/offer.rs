//! The offers of tools of MCP servers, in a form that every vendor accepts and within bounds.

use std::collections::HashSet;

use deskhand_core::{
    plain::visible,
    tool::ToolSpec,
    tool_server::{NAME_SEPARATOR, RemoteTool},
};
use serde_json::{Map, Value, json};

use super::RemoteLink;

/// The most tools of one server that are offered.
pub const MOST_TOOLS_OF_SERVER: usize = 64;
/// The most tools of all servers of a session. With our own, vendors accept 128.
pub(super) const MOST_TOOLS: usize = 100;

/// The longest name of a tool that vendors accept.
const LONGEST_NAME: usize = 64;
/// The number of hexadecimal digits that tell shortened names apart.
const N_DIGITS: usize = 8;
/// The longest name that a server may give to a tool, in characters.
const LONGEST_OWN_NAME: usize = 256;
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 1024;
/// The largest schema, as JSON. A larger one is left out.
const LARGEST_SCHEMA_BYTES: usize = 16 * 1024;
/// The longest name of a field of the input that vendors accept.
const LONGEST_FIELD: usize = 64;

/// The parts of a schema's top level that are kept. Vendors refuse alternatives there.
const KEPT: [&str; 5] = [
    "properties",
    "required",
    "additionalProperties",
    "$defs",
    "definitions",
];

/// The tools of one server.
#[derive(Debug, Clone)]
pub struct ServerTools {
    pub server: String,
    pub tools: Vec<RemoteTool>,
}

/// A tool as it is offered to models.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteOffer {
    pub link: RemoteLink,
    pub spec: ToolSpec,
}

/// Returns the offers of the tools of all servers, in their order. Those beyond the bounds are left out.
pub fn remote_offers(servers: &[ServerTools]) -> Vec<RemoteOffer> {
    let (mut names, mut seen) = (HashSet::new(), HashSet::new());
    let tools = servers.iter().flat_map(|one| {
        let tools = one.tools.iter().take(MOST_TOOLS_OF_SERVER);
        tools.map(|tool| (one.server.as_str(), tool))
    });
    let offers = tools.filter_map(|(server, tool)| {
        let is_named = (1..=LONGEST_OWN_NAME).contains(&tool.name.chars().count());
        let is_named = is_named && seen.insert((server, tool.name.as_str()));
        let name = free_name(server, &tool.name, &names).filter(|_| is_named)?;
        names.insert(name.clone());
        Some(offer(server, tool, name))
    });
    offers.take(MOST_TOOLS).collect()
}

fn offer(server: &str, tool: &RemoteTool, name: String) -> RemoteOffer {
    let described = visible(&tool.description);
    let mut characters = described.trim().chars();
    let text: String = characters.by_ref().take(LONGEST_DESCRIPTION).collect();
    let cut = if characters.next().is_some() {
        "…"
    } else {
        ""
    };
    let description = match text.as_str() {
        "" => format!("A tool of the MCP server {server}."),
        // Braces would be taken for the place of a fact.
        text => format!(
            "A tool of the MCP server {server}, which describes it like this: {}{cut}",
            text.replace("{{", "{ {")
        ),
    };
    RemoteOffer {
        link: RemoteLink {
            name: name.clone(),
            server: server.to_owned(),
            tool: tool.name.clone(),
        },
        spec: ToolSpec {
            name,
            description,
            parameters: cleaned(&tool.schema),
            native: None,
        },
    }
}

/// Returns a name that vendors accept and that no other tool has. Returns `None` for a tool that exists already.
fn free_name(server: &str, tool: &str, taken: &HashSet<String>) -> Option<String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let plain: String = tool
        .chars()
        .map(|c| if is_good(c) { c } else { '_' })
        .collect();
    let name = format!("{server}{NAME_SEPARATOR}{plain}");
    if name.len() <= LONGEST_NAME && !taken.contains(&name) {
        return Some(name);
    }
    let kept = name.len().min(LONGEST_NAME - N_DIGITS - 1);
    let digits = digits(tool);
    let short = format!("{}_{digits}", name.get(..kept).unwrap_or_default());
    (!taken.contains(&short)).then_some(short)
}

/// Returns digits that differ for different names (64-bit FNV-1a, folded).
fn digits(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

/// Returns a schema that vendors accept: that of an object, without references to elsewhere. If the server's own cannot
/// be used, the schema of any object.
fn cleaned(schema: &Value) -> Value {
    let any = || json!({"type": "object", "properties": {}});
    let is_large = schema.to_string().len() > LARGEST_SCHEMA_BYTES;
    let Some(given) = schema.as_object().filter(|_| !is_large) else {
        return any();
    };
    if has_foreign_reference(schema) || !has_good_fields(given) {
        return any();
    }
    let kept = KEPT.iter().filter_map(|name| {
        let value = given.get(*name)?;
        Some(((*name).to_owned(), value.clone()))
    });
    let mut cleaned: Map<String, Value> = kept.collect();
    cleaned.insert("type".to_owned(), json!("object"));
    let properties = cleaned.entry("properties").or_insert_with(|| json!({}));
    if !properties.is_object() {
        return any();
    }
    Value::Object(cleaned)
}

fn has_good_fields(schema: &Map<String, Value>) -> bool {
    let is_good = |name: &String| {
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        (1..=LONGEST_FIELD).contains(&name.len()) && name.chars().all(is_good)
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required");
    let is_list = required.is_none_or(|required| {
        let names = required.as_array();
        names.is_some_and(|names| names.iter().all(Value::is_string))
    });
    is_list && properties.is_none_or(|fields| fields.keys().all(is_good))
}

/// Returns true if the schema refers to something outside of it, which vendors cannot read.
fn has_foreign_reference(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| {
            let is_foreign =
                name == "$ref" && !value.as_str().is_some_and(|at| at.starts_with('#'));
            is_foreign || has_foreign_reference(value)
        }),
        Value::Array(values) => values.iter().any(has_foreign_reference),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
