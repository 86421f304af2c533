//! Formats files and folders for the model.

use std::{fs, path::Path};

use super::{EditError, file::failed, text::Text};

/// The longest text shown at once, in characters.
const LONGEST: usize = 16_000;
/// The number of lines shown before and after an edit.
const AROUND: usize = 4;
/// The most entries listed of a folder, so that a huge one does not take forever.
const MOST_ENTRIES: usize = 4_000;

/// Formats lines `first..=last`, counted from 1, with their numbers.
pub(super) fn numbered(lines: &[&str], first: usize, last: usize) -> String {
    let shown = &lines[(first - 1).min(lines.len())..last.min(lines.len())];
    let mut text = String::new();
    for (line, number) in shown.iter().zip(first..) {
        text.push_str(&format!("{number:>6}\t{line}\n"));
        if text.len() > LONGEST * 4 {
            break;
        }
    }
    cut(text)
}

/// Formats the lines around an edit that changed lines `first..=last`.
pub(super) fn around(text: &Text, first: usize, last: usize) -> String {
    let lines = text.lines();
    numbered(&lines, first.saturating_sub(AROUND).max(1), last + AROUND)
}

/// Lists a folder and its direct subfolders, without names that begin with a dot.
pub(super) fn folder(path: &str, real: &Path) -> Result<String, EditError> {
    let mut listing = format!("{}/\n", path.trim_end_matches('/'));
    let mut n_left = MOST_ENTRIES;
    list(real, 1, &mut listing, &mut n_left).map_err(|error| failed(path, error))?;
    if n_left == 0 {
        listing.push_str("[The rest is left out.]\n");
    }
    Ok(cut(listing))
}

fn list(
    folder: &Path,
    depth: usize,
    listing: &mut String,
    n_left: &mut usize,
) -> std::io::Result<()> {
    let mut entries: Vec<(String, bool)> = fs::read_dir(folder)?
        .filter_map(Result::ok)
        .map(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            (entry.file_name().to_string_lossy().into_owned(), is_folder)
        })
        .filter(|(name, _)| !name.starts_with('.'))
        .take(MOST_ENTRIES)
        .collect();
    entries.sort_unstable();
    for (name, is_folder) in entries {
        if *n_left == 0 {
            break;
        }
        *n_left -= 1;
        let slash = if is_folder { "/" } else { "" };
        listing.push_str(&format!(
            "{:indent$}{name}{slash}\n",
            "",
            indent = depth * 2
        ));
        if is_folder && depth < 2 {
            // A folder that cannot be read is listed without its content.
            let _ = list(&folder.join(&name), depth + 1, listing, n_left);
        }
    }
    Ok(())
}

/// Cuts the text off at the limit.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push_str(
            "\n[Cut after 16,000 characters. View a part of it with view_range, or use the shell.]\n",
        );
    }
    text
}
