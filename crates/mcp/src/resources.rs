//! Resources: the logs of sessions, pictures of their screens, and files that agents have shared.

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::id::SessionId;
use rmcp::{
    ErrorData,
    model::{
        CacheScope, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
        ResourceTemplate,
    },
};

use crate::{
    call::{Call, session_id},
    clip::clip,
    log::{self, LogQuery},
    refusal::CallError,
};

/// The number of sessions in one page of the list.
const PAGE: u32 = 25;
/// The most entries of a log in one resource. Those after it are read with `after`.
const MOST_ENTRIES: usize = 200;
/// The largest file that is returned. Larger ones are downloaded over HTTP.
const LARGEST_FILE_BYTES: usize = 8 * 1024 * 1024;

/// The kinds of resources: template, name, description and media type.
const TEMPLATES: &[(&str, &str, &str, &str)] = &[
    (
        "session://{id}/log{?after}",
        "log",
        "The log of a session as JSON, from the entry after number `after`.",
        "application/json",
    ),
    (
        "session://{id}/screenshot",
        "screenshot",
        "The screen of a session, as it is now or was last.",
        "image/png",
    ),
    (
        "session://{id}/screenshots/{seq}",
        "earlier screenshot",
        "The picture that the log of a session names.",
        "image/png",
    ),
    (
        "session://{id}/artifacts/{seq}",
        "artifact",
        "A file that the agent has shared, as the log of a session names it.",
        "application/octet-stream",
    ),
];

/// Returns the kinds of resources.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |(uri, name, description, media_type): &(&str, &str, &str, &str)| {
        ResourceTemplate::new(*uri, *name)
            .with_description(*description)
            .with_mime_type(*media_type)
    };
    TEMPLATES.iter().map(template).collect()
}

/// Lists the logs of the caller's sessions, newest first.
pub(crate) async fn list(
    call: &Call<'_>,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let before = cursor.map(|cursor| cursor.parse::<SessionId>()).transpose();
    let before = before.map_err(|_no_id| {
        ErrorData::invalid_params("the cursor is not one that this server gave", None)
    })?;
    let page = call.app.sessions().list(call.viewer(), before, PAGE).await;
    let page = page.map_err(|error| CallError::from(error).into_protocol_error("session://"))?;
    let resources = page.sessions.iter().map(|session| {
        let title = match &*session.title {
            "" => "a session without a name",
            title => title,
        };
        Resource::new(
            format!("session://{}/log", session.id),
            session.id.to_string(),
        )
        .with_title(clip(title, 120))
        .with_mime_type("application/json")
    });
    let mut list = ListResourcesResult::with_all_items(resources.collect());
    list.next_cursor = page.next.map(|next| next.to_string());
    list.ttl_ms = Some(0);
    list.cache_scope = Some(CacheScope::Private);
    Ok(list)
}

/// Reads a resource that the caller may see.
pub(crate) async fn read(call: &Call<'_>, uri: &str) -> Result<ReadResourceResult, CallError> {
    let unknown = || CallError::bad_id(uri);
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let (id, part) = path
        .strip_prefix("session://")
        .and_then(|rest| rest.split_once('/'))
        .ok_or_else(unknown)?;
    let id = session_id(id)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_no_number| unknown());
    let contents = match part.split_once('/') {
        None if part == "log" => {
            let after = query.strip_prefix("after=").map(number).transpose()?;
            log_of(call, id, uri, after.unwrap_or(0)).await?
        }
        None if part == "screenshot" => {
            let picture = call.app.computers().screenshot(call.user(), id).await?;
            bytes(uri, &picture.bytes, picture.format.media_type())
        }
        Some(("screenshots", seq)) => {
            let picture = log::picture(call, id, number(seq)?).await?;
            bytes(uri, &picture.bytes, picture.format.media_type())
        }
        Some(("artifacts", seq)) => {
            let files = call.app.files();
            let file = files.artifact(call.viewer(), id, number(seq)?).await?;
            if file.bytes.len() > LARGEST_FILE_BYTES {
                let message = format!(
                    "the file has {} bytes, too many for a resource; download it from \
                     {}/api/sessions/{id}/artifacts/{seq}",
                    file.bytes.len(),
                    call.public_url
                );
                return Err(CallError::malformed(message));
            }
            bytes(uri, &file.bytes, &file.artifact.media_type)
        }
        _ => return Err(unknown()),
    };
    let mut read = ReadResourceResult::new(vec![contents]);
    read.ttl_ms = Some(0);
    read.cache_scope = Some(CacheScope::Private);
    Ok(read)
}

async fn log_of(
    call: &Call<'_>,
    id: SessionId,
    uri: &str,
    after: u64,
) -> Result<ResourceContents, CallError> {
    let query = LogQuery {
        after,
        limit: MOST_ENTRIES,
        with_images: false,
    };
    let (page, _no_images) = log::read(call, id, query).await?;
    let text = serde_json::to_string(&page).map_err(|error| {
        tracing::error!(%error, "a log cannot be written as JSON");
        CallError::malformed("the log cannot be written as JSON")
    })?;
    Ok(ResourceContents::text(text, uri).with_mime_type("application/json"))
}

fn bytes(uri: &str, bytes: &[u8], media_type: &str) -> ResourceContents {
    ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(media_type)
}
