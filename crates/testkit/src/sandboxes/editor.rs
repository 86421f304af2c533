//! The editor of a fake sandbox, over files in memory.

use std::collections::HashMap;

use bytes::Bytes;
use deskhand_core::{edit::EditCommand, sandbox::Edited};

/// The last content of each edited file, for `UndoEdit`. `None` if the file did not exist.
pub(super) type Edits = HashMap<String, Vec<Option<Bytes>>>;

/// Carries out a command on a file, whose content is `file`. Returns the reply, or the problem.
pub(super) fn edit(
    file: &mut Option<Bytes>,
    edits: &mut Edits,
    command: &EditCommand,
) -> Result<Edited, String> {
    let text = match command {
        EditCommand::View { path, .. } => numbered(&content(file, path)?),
        EditCommand::Create { path, file_text } => {
            change(file, edits, path, file_text.clone());
            format!("Created {path}.")
        }
        EditCommand::StrReplace {
            path,
            old_str,
            new_str,
        } => {
            let text = content(file, path)?;
            match text.matches(old_str).count() {
                0 => return Err(format!("old_str was not found in {path}")),
                1 => {}
                n => return Err(format!("old_str is in {path} {n} times")),
            }
            change(file, edits, path, text.replacen(old_str, new_str, 1));
            format!("Edited {path}. The place now reads:\n{new_str}")
        }
        EditCommand::Insert {
            path,
            insert_line,
            insert_text,
        } => {
            let text = content(file, path)?;
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            let at = usize::try_from(*insert_line).unwrap_or(usize::MAX);
            if at > lines.len() {
                return Err(format!("{path} has only {} lines", lines.len()));
            }
            let added = format!("{}\n", insert_text.trim_end_matches('\n'));
            lines.insert(at, &added);
            change(file, edits, path, lines.concat());
            format!("Edited {path}. The place now reads:\n{added}")
        }
        EditCommand::UndoEdit { path } => {
            let earlier = edits.get_mut(path).and_then(Vec::pop);
            *file = earlier.ok_or_else(|| format!("there is no edit of {path} to take back"))?;
            format!("Took back the last edit of {path}.")
        }
    };
    Ok(Edited { text })
}

fn change(file: &mut Option<Bytes>, edits: &mut Edits, path: &str, text: String) {
    let earlier = file.replace(text.into());
    edits.entry(path.to_owned()).or_default().push(earlier);
}

fn content(file: &Option<Bytes>, path: &str) -> Result<String, String> {
    let missing = || format!("there is no file {path}: make it with create");
    let bytes = file.as_ref().ok_or_else(missing)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn numbered(text: &str) -> String {
    let lines = (1..).zip(text.lines());
    lines
        .map(|(number, line)| format!("{number:>6}\t{line}\n"))
        .collect()
}
