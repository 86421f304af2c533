//! What tools should do, in a few words: two files, a variable and a pointer.

use proptest::prelude::*;
use serde_json::{Value, json};

const FILES: [&str; 2] = ["a.txt", "b.txt"];

#[derive(Debug, Clone)]
pub(super) enum Tool {
    Create {
        file: usize,
        text: String,
    },
    Replace {
        file: usize,
        old: String,
        new: String,
    },
    Insert {
        file: usize,
        line: usize,
        text: String,
    },
    Undo {
        file: usize,
    },
    View {
        file: usize,
    },
    SetVariable(String),
    ShowVariable,
    /// Appends to a file behind the editor's back.
    Append {
        file: usize,
        text: String,
    },
    Fail {
        code: u8,
    },
    Move {
        x: u16,
        y: u16,
    },
    WhereIsPointer,
    Click,
    Look,
    OutsideScreen {
        beyond: u16,
    },
}

pub(super) fn tool() -> impl Strategy<Value = Tool> {
    let file = 0..FILES.len();
    // Few letters, so that what is looked for is found never, once or often.
    let text = "[ab\n]{0,8}";
    let some = "[ab]{1,3}";
    prop_oneof![
        3 => (file.clone(), text).prop_map(|(file, text)| Tool::Create { file, text }),
        3 => (file.clone(), some, "[abc]{0,3}").prop_map(|(file, old, new)| Tool::Replace { file, old, new }),
        3 => (file.clone(), 0..5_usize, some).prop_map(|(file, line, text)| Tool::Insert { file, line, text: text + "\n" }),
        2 => file.clone().prop_map(|file| Tool::Undo { file }),
        2 => file.clone().prop_map(|file| Tool::View { file }),
        1 => "[a-z]{1,5}".prop_map(Tool::SetVariable),
        1 => Just(Tool::ShowVariable),
        1 => (file, some).prop_map(|(file, text)| Tool::Append { file, text }),
        1 => (1..100_u8).prop_map(|code| Tool::Fail { code }),
        1 => (0..1024_u16, 0..768_u16).prop_map(|(x, y)| Tool::Move { x, y }),
        1 => Just(Tool::WhereIsPointer),
        1 => Just(Tool::Click),
        1 => Just(Tool::Look),
        1 => (0..5000_u16).prop_map(|beyond| Tool::OutsideScreen { beyond }),
    ]
}

impl Tool {
    /// As it is asked for, with files in `folder`.
    pub(super) fn call(&self, folder: &str) -> (&'static str, Value) {
        let path = |file: &usize| format!("{folder}/{}", FILES[*file]);
        let shell = |command: String| ("bash", json!({"shell": "run", "command": command}));
        match self {
            Self::Create { file, text } => (
                "editor",
                json!({"command": "create", "path": path(file), "file_text": text}),
            ),
            Self::Replace { file, old, new } => (
                "editor",
                json!({"command": "str_replace", "path": path(file), "old_str": old, "new_str": new}),
            ),
            Self::Insert { file, line, text } => (
                "editor",
                json!({"command": "insert", "path": path(file), "insert_line": line, "insert_text": text}),
            ),
            Self::Undo { file } => (
                "editor",
                json!({"command": "undo_edit", "path": path(file)}),
            ),
            Self::View { file } => ("editor", json!({"command": "view", "path": path(file)})),
            Self::SetVariable(text) => shell(format!("kept={text}")),
            Self::ShowVariable => shell("echo \"<$kept>\"".to_owned()),
            Self::Append { file, text } => shell(format!("printf {text} >> {}", FILES[*file])),
            Self::Fail { code } => shell(format!("echo out; (exit {code})")),
            Self::Move { x, y } => (
                "computer",
                json!({"action": "move", "at": {"x": x, "y": y}}),
            ),
            Self::WhereIsPointer => ("computer", json!({"action": "cursor_position"})),
            // The middle button of an empty place does nothing.
            Self::Click => ("computer", json!({"action": "click", "button": "middle"})),
            Self::Look => ("computer", json!({"action": "screenshot"})),
            Self::OutsideScreen { beyond } => (
                "computer",
                json!({"action": "move", "at": {"x": 1024 + i32::from(*beyond), "y": 0}}),
            ),
        }
    }
}

/// What a tool should answer.
pub(super) enum Expected {
    /// This, and no error.
    Text(String),
    /// Something with these lines in it, and no error.
    Lines(Vec<String>),
    Done,
    Refusal,
}

#[derive(Debug, Default)]
pub(super) struct Model {
    files: [File; 2],
    variable: String,
    pointer: Option<(u16, u16)>,
}

#[derive(Debug, Default)]
struct File {
    text: Option<String>,
    /// What was there before each edit, and what it left.
    edits: Vec<(Option<String>, String)>,
}

impl File {
    fn edit(&mut self, text: String) -> Expected {
        self.edits.push((self.text.replace(text.clone()), text));
        Expected::Done
    }
}

impl Model {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// The files as they should be; `None` for one that is not there.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        let texts = self.files.iter().map(|file| file.text.clone());
        FILES.into_iter().zip(texts)
    }

    pub(super) fn apply(&mut self, tool: &Tool) -> Expected {
        match tool {
            Tool::Create { file, text } => self.files[*file].edit(text.clone()),
            Tool::Replace { file, old, new } => self.replace(*file, old, new),
            Tool::Insert { file, line, text } => self.insert(*file, *line, text),
            Tool::Undo { file } => self.undo(*file),
            Tool::View { file } => match &self.files[*file].text {
                Some(text) => Expected::Lines(text.lines().map(str::to_owned).collect()),
                None => Expected::Refusal,
            },
            Tool::SetVariable(text) => {
                self.variable.clone_from(text);
                Expected::Done
            }
            Tool::ShowVariable => Expected::Text(format!("<{}>", self.variable)),
            Tool::Append { file, text } => {
                let kept = &mut self.files[*file].text;
                kept.get_or_insert_default().push_str(text);
                Expected::Done
            }
            Tool::Fail { code } => Expected::Lines(vec!["out".to_owned(), code.to_string()]),
            Tool::Move { x, y } => {
                self.pointer = Some((*x, *y));
                Expected::Done
            }
            Tool::WhereIsPointer => match self.pointer {
                Some((x, y)) => Expected::Text(format!("X={x}, Y={y}")),
                None => Expected::Done,
            },
            Tool::Click | Tool::Look => Expected::Done,
            Tool::OutsideScreen { .. } => Expected::Refusal,
        }
    }

    /// Only a text that is there exactly once is replaced.
    fn replace(&mut self, file: usize, old: &str, new: &str) -> Expected {
        let file = &mut self.files[file];
        let Some(text) = &file.text else {
            return Expected::Refusal;
        };
        let n_found = (0..text.len())
            .filter(|at| text[*at..].starts_with(old))
            .count();
        if n_found != 1 || old == new {
            return Expected::Refusal;
        }
        let text = text.replacen(old, new, 1);
        file.edit(text)
    }

    fn insert(&mut self, file: usize, line: usize, added: &str) -> Expected {
        let file = &mut self.files[file];
        let Some(text) = &file.text else {
            return Expected::Refusal;
        };
        let mut lines: Vec<_> = text.split_inclusive('\n').collect();
        if line > lines.len() {
            return Expected::Refusal;
        }
        // A file without a line end at its end stays one.
        let is_open = line > 0 && line == lines.len() && !text.ends_with('\n');
        let text = if is_open {
            format!("{text}\n{}", added.trim_end())
        } else {
            lines.insert(line, added);
            lines.concat()
        };
        file.edit(text)
    }

    /// An edit is taken back unless something else has changed the file since.
    fn undo(&mut self, file: usize) -> Expected {
        let file = &mut self.files[file];
        match file.edits.last() {
            Some((_, left)) if file.text.as_ref() == Some(left) => {}
            Some(_) | None => return Expected::Refusal,
        }
        file.text = file.edits.pop().and_then(|(before, _)| before);
        Expected::Done
    }
}
