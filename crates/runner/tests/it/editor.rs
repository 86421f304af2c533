//! The editor on real files.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use deskhand_core::edit::EditCommand;
use deskhand_runner::editor::{EditError, Editor};
use proptest::prelude::*;
use tempfile::TempDir;

/// A folder with an editor for it.
struct Desk {
    folder: TempDir,
    editor: Editor,
}

impl Desk {
    fn open() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            editor: Editor::default(),
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn with(name: &str, content: impl AsRef<[u8]>) -> (Self, String) {
        let desk = Self::open();
        let path = desk.path(name);
        fs::write(&path, content).unwrap();
        (desk, path)
    }

    fn view(&mut self, path: &str, view_range: Option<[i64; 2]>) -> Result<String, EditError> {
        self.editor.perform(&EditCommand::View {
            path: path.to_owned(),
            view_range,
        })
    }

    fn create(&mut self, path: &str, text: &str) -> Result<String, EditError> {
        self.editor.perform(&EditCommand::Create {
            path: path.to_owned(),
            file_text: text.to_owned(),
        })
    }

    fn replace(&mut self, path: &str, old: &str, new: &str) -> Result<String, EditError> {
        self.editor.perform(&EditCommand::StrReplace {
            path: path.to_owned(),
            old_str: old.to_owned(),
            new_str: new.to_owned(),
        })
    }

    fn insert(&mut self, path: &str, insert_line: u64, text: &str) -> Result<String, EditError> {
        self.editor.perform(&EditCommand::Insert {
            path: path.to_owned(),
            insert_line,
            insert_text: text.to_owned(),
        })
    }

    fn undo(&mut self, path: &str) -> Result<String, EditError> {
        self.editor.perform(&EditCommand::UndoEdit {
            path: path.to_owned(),
        })
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }
}

fn problem(result: Result<String, EditError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn files_are_shown_with_line_numbers() {
    let (mut desk, path) = Desk::with("a", "\u{feff}one\r\n\ttwo\n\nfour");
    assert_eq!(
        desk.view(&path, None).unwrap(),
        "     1\tone\n     2\t\ttwo\n     3\t\n     4\tfour\n"
    );
    assert_eq!(
        desk.view(&path, Some([2, 3])).unwrap(),
        "     2\t\ttwo\n     3\t\n"
    );
    assert_eq!(desk.view(&path, Some([4, -1])).unwrap(), "     4\tfour\n");
    for range in [[0, 1], [5, 5], [3, 2], [1, 5], [2, -2], [-1, -1]] {
        assert!(
            problem(desk.view(&path, Some(range))).contains("which has 4 lines"),
            "{range:?}"
        );
    }
    fs::write(&path, "").unwrap();
    assert_eq!(desk.view(&path, None).unwrap(), format!("{path} is empty."));
}

#[test]
fn folders_are_shown_two_levels_deep_without_hidden_names() {
    let mut desk = Desk::open();
    let folder = desk.path("");
    fs::create_dir_all(desk.path("b/c/d")).unwrap();
    fs::create_dir(desk.path(".git")).unwrap();
    for name in ["z", "b/y", "b/c/deep", "b/.hidden"] {
        fs::write(desk.path(name), "").unwrap();
    }
    let folder = folder.trim_end_matches('/');
    assert_eq!(
        desk.view(folder, None).unwrap(),
        format!("{folder}/\n  b/\n    c/\n    y\n  z\n")
    );
    assert!(problem(desk.view(folder, Some([1, 2]))).contains("is a folder"));
}

#[test]
fn long_files_are_cut_with_a_notice() {
    let (mut desk, path) = Desk::with("long", "äöü\n".repeat(20_000));
    let shown = desk.view(&path, None).unwrap();
    let (text, notice) = shown.split_once("\n[").unwrap();
    assert_eq!(text.chars().count(), 16_000);
    assert!(notice.starts_with("Cut after 16,000 characters"));
}

#[test]
fn a_new_file_gets_its_folders_and_undo_removes_it() {
    let mut desk = Desk::open();
    let path = desk.path("new/deep/file.txt");
    assert_eq!(
        desk.create(&path, "one\n").unwrap(),
        format!("Created {path}.")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
    let said = desk.create(&path, "two").unwrap();
    assert!(said.contains("which already existed"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    desk.undo(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
    desk.undo(&path).unwrap();
    assert!(!PathBuf::from(&path).exists());
    assert!(problem(desk.undo(&path)).contains("no edit"));
}

#[test]
fn a_replacement_has_to_match_exactly_once() {
    let (mut desk, path) = Desk::with("a", "x = 1\ny = 2\nx = 1\n");
    let said = problem(desk.replace(&path, "x = 1", "x = 3"));
    assert!(
        said.contains("found 2 times") && said.contains("at lines 1, 3"),
        "{said}"
    );
    assert!(problem(desk.replace(&path, "z", "x")).contains("was not found"));
    assert!(problem(desk.replace(&path, "", "x")).contains("old_str is empty"));
    let said = desk.replace(&path, "y = 2\nx = 1", "y = 5").unwrap();
    assert!(said.ends_with("     1\tx = 1\n     2\ty = 5\n"), "{said}");
    desk.replace(&path, "y = 5\n", "").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "x = 1\n");
}

#[test]
fn edits_show_four_lines_around_them() {
    let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let (mut desk, path) = Desk::with("a", text);
    let said = desk.insert(&path, 10, "new\n").unwrap();
    let shown: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(shown.first(), Some(&"     7\tline 7"));
    assert_eq!(shown[4], "    11\tnew");
    assert_eq!(shown.last(), Some(&"    15\tline 14"));
    assert!(problem(desk.insert(&path, 22, "x")).contains("give 0 to 21"));
}

#[test]
fn mode_and_links_stay_and_nothing_is_left_behind() {
    let (mut desk, path) = Desk::with("script", "#!/bin/sh\n\techo old\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let link = desk.path("link");
    std::os::unix::fs::symlink("script", &link).unwrap();
    desk.replace(&link, "old", "new").unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "#!/bin/sh\n\techo new\n"
    );
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o750
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(desk.names(), ["link", "script"]);
    // The edit was of the real file, under either name.
    desk.undo(&path).unwrap();
    assert_eq!(
        fs::read_to_string(&link).unwrap(),
        "#!/bin/sh\n\techo old\n"
    );
}

#[test]
fn an_undo_does_not_destroy_the_work_of_others() {
    let (mut desk, path) = Desk::with("a", "one");
    desk.replace(&path, "one", "two").unwrap();
    fs::write(&path, "three").unwrap();
    assert!(problem(desk.undo(&path)).contains("changed by something else"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "three");
}

#[test]
fn what_is_no_text_is_refused() {
    let (mut desk, path) = Desk::with("a", b"ok\xff");
    assert!(problem(desk.view(&path, None)).contains("byte 2"));
    assert!(problem(desk.create(&path, "x")).contains("not UTF-8"));
    assert_eq!(fs::read(&path).unwrap(), b"ok\xff");
    fs::File::create(&path)
        .unwrap()
        .set_len(10_000_001)
        .unwrap();
    assert!(problem(desk.view(&path, None)).contains("at most 10000000"));
    let folder = desk.path("");
    assert!(problem(desk.create(&folder, "x")).contains("is a folder"));
    assert!(problem(desk.view("relative", None)).contains("not absolute"));
    assert!(problem(desk.view("/nonexistent", None)).contains("there is no file"));
    assert!(problem(desk.view("/dev/null", None)).contains("not a regular file"));
    std::os::unix::fs::symlink("nowhere", desk.path("broken")).unwrap();
    let broken = desk.path("broken");
    assert!(problem(desk.create(&broken, "x")).contains("is a broken link"));
}

/// Contents with every mix of line ends, with and without a byte order mark and a final line end.
fn any_content() -> impl Strategy<Value = String> {
    let line = (
        "[a-c\té€]{0,4}",
        prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
    );
    (
        any::<bool>(),
        prop::collection::vec(line, 0..6),
        "[a-c]{0,3}",
    )
        .prop_map(|(marked, lines, last)| {
            let mark = if marked { "\u{feff}" } else { "" };
            let lines: String = lines
                .iter()
                .flat_map(|(line, end)| [line.as_str(), end])
                .collect();
            format!("{mark}{lines}{last}")
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_insertion_and_its_undo_change_no_byte(content in any_content(), added in "[x\n]{0,4}", at in 0_u64..4) {
        let (mut desk, path) = Desk::with("a", &content);
        if desk.insert(&path, at, &added).is_ok() {
            desk.undo(&path).unwrap();
        }
        prop_assert_eq!(fs::read(&path).unwrap(), content.into_bytes());
    }

    #[test]
    fn a_replacement_changes_no_other_byte(before in any_content(), after in any_content()) {
        let after = after.trim_start_matches('\u{feff}');
        let (mut desk, path) = Desk::with("a", format!("{before}OLD{after}"));
        desk.replace(&path, "OLD", "new text").unwrap();
        prop_assert_eq!(fs::read_to_string(&path).unwrap(), format!("{before}new text{after}"));
    }
}
