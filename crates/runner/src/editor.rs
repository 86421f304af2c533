//! The file editor: shows and changes text files, and undoes changes.

mod file;
mod show;
mod text;

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
};

use deskhand_core::edit::EditCommand;
use text::Text;

/// The most edits of one file that can be undone.
const MOST_UNDOS: usize = 20;
/// The limit for all content kept for undo together.
const MOST_UNDO_BYTES: usize = 64 * 1024 * 1024;
/// The most line numbers listed when a text was expected once and occurs more often.
const MOST_PLACES: usize = 20;

/// Reasons why an edit was not made. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error(
        "the path {0:?} is not absolute: it must begin with a slash, such as /home/agent/notes.txt"
    )]
    NotAbsolute(String),
    #[error("there is no file {0}: use create to make it")]
    Missing(String),
    #[error("{0} is a broken link")]
    BrokenLink(String),
    #[error("{0} is a folder")]
    Folder(String),
    #[error("{0} is not a regular file")]
    NotAFile(String),
    #[error(
        "{path} has {bytes} bytes, and at most {} can be shown or edited: use the shell",
        file::LARGEST_BYTES
    )]
    TooLarge { path: String, bytes: u64 },
    #[error("{path} is not UTF-8 text (byte {byte} is not): use the shell")]
    NotText { path: String, byte: usize },
    #[error(
        "view_range [{first}, {last}] does not fit {path}, which has {n_lines} lines: give a first line from 1 on and a last line not before it, or -1 for the end"
    )]
    BadRange {
        path: String,
        first: i64,
        last: i64,
        n_lines: usize,
    },
    #[error("view_range is for files, and {0} is a folder")]
    RangeOfFolder(String),
    #[error(
        "insert_line {line} does not fit {path}, which has {n_lines} lines: give 0 to {n_lines}"
    )]
    BadLine {
        path: String,
        line: u64,
        n_lines: usize,
    },
    #[error("old_str is empty: give the text to replace")]
    NothingToFind,
    #[error("old_str and new_str are the same")]
    NothingToChange,
    #[error("old_str was not found in {0}: it must match exactly, spaces and tabs included")]
    NotFound(String),
    #[error(
        "old_str was found {count} times in {path}, at lines {lines}: give more of the text around it"
    )]
    Ambiguous {
        path: String,
        count: usize,
        lines: String,
    },
    #[error("there is no edit of {0} to undo")]
    NothingToUndo(String),
    #[error("{0} was changed by something else since the edit, so the edit cannot be undone")]
    ChangedSince(String),
    #[error("could not read or write {path}")]
    Io {
        path: String,
        source: std::io::Error,
    },
}

/// The editor, with the edits that it can undo.
#[derive(Debug, Default)]
pub struct Editor {
    undos: HashMap<PathBuf, VecDeque<Undo>>,
    undo_bytes: usize,
    hasher: RandomState,
}

/// The data needed to undo one edit.
#[derive(Debug)]
struct Undo {
    /// The content before the edit, or `None` if there was no file.
    before: Option<Text>,
    /// A hash of the content after the edit, to notice changes by others.
    after: u64,
}

impl Editor {
    /// Carries out a command and returns a report for the model. Blocks on file I/O.
    pub fn perform(&mut self, command: &EditCommand) -> Result<String, EditError> {
        match command {
            EditCommand::View { path, view_range } => view(path, *view_range),
            EditCommand::Create { path, file_text } => self.create(path, file_text),
            EditCommand::StrReplace {
                path,
                old_str,
                new_str,
            } => self.replace(path, old_str, new_str),
            EditCommand::Insert {
                path,
                insert_line,
                insert_text,
            } => self.insert(path, *insert_line, insert_text),
            EditCommand::UndoEdit { path } => self.undo(path),
        }
    }

    fn create(&mut self, path: &str, file_text: &str) -> Result<String, EditError> {
        let text = Text(file_text.to_owned());
        let Some(real) = file::real_path(path)? else {
            file::write(path, Path::new(path), &text)?;
            // Now that the file exists, it has a canonical path, which later commands look up.
            let real = file::real_path(path)?.unwrap_or_else(|| PathBuf::from(path));
            self.remember(real, None, &text);
            return Ok(format!("Created {path}."));
        };
        let before = file::read(path, &real)?;
        file::write(path, &real, &text)?;
        self.remember(real, Some(before), &text);
        Ok(format!(
            "Replaced {path}, which already existed. undo_edit restores its old content."
        ))
    }

    fn replace(&mut self, path: &str, old: &str, new: &str) -> Result<String, EditError> {
        if old.is_empty() {
            return Err(EditError::NothingToFind);
        }
        if old == new {
            return Err(EditError::NothingToChange);
        }
        let (real, before) = open(path)?;
        let found = before.find(old);
        let range = match found.as_slice() {
            [] => return Err(EditError::NotFound(path.to_owned())),
            [only] => only.clone(),
            [..] => {
                let lines = found.iter().take(MOST_PLACES);
                let lines: Vec<String> = lines
                    .map(|range| before.line_at(range.start).to_string())
                    .collect();
                let more = if found.len() > MOST_PLACES {
                    ", …"
                } else {
                    ""
                };
                return Err(EditError::Ambiguous {
                    path: path.to_owned(),
                    count: found.len(),
                    lines: lines.join(", ") + more,
                });
            }
        };
        let first = before.line_at(range.start);
        let last = first + new.matches('\n').count();
        let after = before.replaced(range, new);
        file::write(path, &real, &after)?;
        let shown = show::around(&after, first, last);
        self.remember(real, Some(before), &after);
        Ok(format!(
            "Edited {path}. The changed part now reads:\n{shown}"
        ))
    }

    fn insert(&mut self, path: &str, line: u64, added: &str) -> Result<String, EditError> {
        let (real, before) = open(path)?;
        let n_lines = before.lines().len();
        let after_line = usize::try_from(line).ok().filter(|line| *line <= n_lines);
        let Some(after_line) = after_line else {
            return Err(EditError::BadLine {
                path: path.to_owned(),
                line,
                n_lines,
            });
        };
        let after = before.inserted(after_line, added);
        file::write(path, &real, &after)?;
        let shown = show::around(
            &after,
            after_line + 1,
            after_line + added.lines().count().max(1),
        );
        self.remember(real, Some(before), &after);
        Ok(format!(
            "Edited {path}. The changed part now reads:\n{shown}"
        ))
    }

    fn undo(&mut self, path: &str) -> Result<String, EditError> {
        let nothing = || EditError::NothingToUndo(path.to_owned());
        let real = file::real_path(path)?.ok_or_else(nothing)?;
        let undos = self.undos.get_mut(&real).ok_or_else(nothing)?;
        let undo = undos.back().ok_or_else(nothing)?;
        let now = file::read(path, &real)?;
        if self.hasher.hash_one(&now.0) != undo.after {
            return Err(EditError::ChangedSince(path.to_owned()));
        }
        let text = match &undo.before {
            Some(before) => {
                file::write(path, &real, before)?;
                format!("Undid the last edit of {path}.")
            }
            None => {
                std::fs::remove_file(&real).map_err(|error| file::failed(path, error))?;
                format!("Undid the creation of {path}: the file is gone.")
            }
        };
        self.undo_bytes -= undo.size();
        undos.pop_back();
        Ok(text)
    }

    /// Keeps the content that an edit replaced.
    ///
    /// When the limit for all files is exceeded, the undos of other files go first, then the oldest of this one.
    fn remember(&mut self, real: PathBuf, before: Option<Text>, after: &Text) {
        let undo = Undo {
            before,
            after: self.hasher.hash_one(&after.0),
        };
        self.undo_bytes += undo.size();
        let undos = self.undos.entry(real.clone()).or_default();
        undos.push_back(undo);
        if undos.len() > MOST_UNDOS {
            self.undo_bytes -= undos.pop_front().map_or(0, |oldest| oldest.size());
        }
        if self.undo_bytes > MOST_UNDO_BYTES {
            self.undos.retain(|path, _| *path == real);
            let undos = self.undos.entry(real).or_default();
            self.undo_bytes = undos.iter().map(Undo::size).sum();
            while self.undo_bytes > MOST_UNDO_BYTES {
                self.undo_bytes -= undos
                    .pop_front()
                    .map_or(self.undo_bytes, |oldest| oldest.size());
            }
        }
    }
}

impl Undo {
    fn size(&self) -> usize {
        self.before.as_ref().map_or(0, |before| before.0.len())
    }
}

fn view(path: &str, range: Option<[i64; 2]>) -> Result<String, EditError> {
    let real = file::real_path(path)?.ok_or_else(|| EditError::Missing(path.to_owned()))?;
    if real.is_dir() {
        return match range {
            Some(_) => Err(EditError::RangeOfFolder(path.to_owned())),
            None => show::folder(path, &real),
        };
    }
    let text = file::read(path, &real)?;
    let lines = text.lines();
    let Some([first, last]) = range else {
        if lines.is_empty() {
            return Ok(format!("{path} is empty."));
        }
        return Ok(show::numbered(&lines, 1, lines.len()));
    };
    let bad_range = || EditError::BadRange {
        path: path.to_owned(),
        first,
        last,
        n_lines: lines.len(),
    };
    let first_line = usize::try_from(first)
        .ok()
        .filter(|first| (1..=lines.len()).contains(first));
    let first_line = first_line.ok_or_else(bad_range)?;
    let last_line = match last {
        -1 => lines.len(),
        _ => usize::try_from(last)
            .ok()
            .filter(|last| (first_line..=lines.len()).contains(last))
            .ok_or_else(bad_range)?,
    };
    Ok(show::numbered(&lines, first_line, last_line))
}

/// Returns an existing file's canonical path and content.
fn open(path: &str) -> Result<(PathBuf, Text), EditError> {
    let real = file::real_path(path)?.ok_or_else(|| EditError::Missing(path.to_owned()))?;
    let text = file::read(path, &real)?;
    Ok((real, text))
}
