//! The result of a call, as text and pictures.

use deskhand_core::tool_server::{RemoteAnswer, RemotePicture};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::{picture::picture, problem::shortened};

/// The most text that is kept. The model is shown less.
const LONGEST_TEXT_BYTES: usize = 1024 * 1024;
/// The most pictures that are kept.
const MOST_PICTURES: usize = 4;

/// Returns the result as its reader needs it.
pub(crate) async fn answer(result: CallToolResult) -> RemoteAnswer {
    let mut text = String::new();
    let mut pictures: Vec<RemotePicture> = Vec::new();
    let mut has_text = false;
    for block in result.content {
        let line = match block {
            ContentBlock::Text(block) => {
                has_text = true;
                block.text
            }
            ContentBlock::Image(block) => {
                let seen = picture(block.data).await;
                match seen.filter(|_| pictures.len() < MOST_PICTURES) {
                    Some(seen) => {
                        pictures.push(seen);
                        continue;
                    }
                    None => "[A picture that cannot be shown.]".to_owned(),
                }
            }
            ContentBlock::Audio(block) => format!("[Sound: {}.]", shortened(&block.mime_type)),
            ContentBlock::Resource(block) => resource(block.resource),
            ContentBlock::ResourceLink(link) => format!("[A link to {}.]", shortened(&link.uri)),
            _ => "[Something that cannot be shown.]".to_owned(),
        };
        push_line(&mut text, &line);
    }
    // Servers repeat it as text for clients that cannot read it.
    if let Some(value) = result.structured_content.filter(|_| !has_text) {
        push_line(&mut text, &value.to_string());
    }
    RemoteAnswer {
        text,
        pictures,
        is_error: result.is_error.unwrap_or(false),
    }
}

fn resource(contents: ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            format!("[{}]\n{text}", shortened(&uri))
        }
        ResourceContents::BlobResourceContents { uri, .. } => {
            format!("[The file {} is left out.]", shortened(&uri))
        }
        _ => "[Something that cannot be shown.]".to_owned(),
    }
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    let room = LONGEST_TEXT_BYTES.saturating_sub(text.len());
    text.push_str(&line[..line.floor_char_boundary(room)]);
}
