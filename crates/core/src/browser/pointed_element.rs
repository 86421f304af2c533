//! The element that a click or a key is for, as far as it says what would follow.

use serde::{Deserialize, Serialize};

use super::{ElementRef, LONGEST_PAGE_LABEL, PagePlace, TabNumber, page_label};
use crate::action::Point;

/// The most characters of the text around an element.
pub const LONGEST_SURROUNDING_TEXT: usize = 400;

/// The place of an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElementAt {
    /// A point of the screen.
    Screen(Point),
    /// The place of the pointer on the screen.
    Pointer,
    /// The element that a key is for, if the browser's window has the focus.
    ScreenFocus(ActivatingKey),
    /// A place on a page.
    Page {
        tab: Option<TabNumber>,
        place: PagePlace,
    },
    /// The element of a page that a key is for.
    PageFocus {
        tab: Option<TabNumber>,
        key: ActivatingKey,
    },
    /// The button that sends the form of a field when Enter is pressed in it.
    PageField {
        tab: Option<TabNumber>,
        field: ElementRef,
    },
    /// The button that accepts the dialog of a page.
    PageDialog { tab: Option<TabNumber> },
}

/// A key that does what a click would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivatingKey {
    /// In a field, it sends the form as its button would.
    Enter,
    Space,
}

impl ActivatingKey {
    /// Returns the key among those of a chord or of several chords, if there is one: `Return`, `Tab space`.
    pub fn among(keys: &str) -> Option<Self> {
        // A blank alone is the key itself.
        if keys == " " {
            return Some(Self::Space);
        }
        key_names(keys).find_map(|name| Self::of(&name))
    }

    fn of(plain_name: &str) -> Option<Self> {
        match plain_name {
            "return" | "enter" | "kpenter" | "numpadenter" => Some(Self::Enter),
            "space" | "spacebar" => Some(Self::Space),
            _ => None,
        }
    }

    /// Returns true if the focus moves before such a key is pressed: `Tab Return`.
    pub fn follows_tab(keys: &str) -> bool {
        let mut names = key_names(keys).skip_while(|name| !is_tab(name));
        names.any(|name| Self::of(&name).is_some())
    }

    /// Returns true if typing this text moves the focus before it presses Enter: a tab comes first.
    pub fn is_typed_after_tab(text: &str) -> bool {
        text.starts_with('\t') && types_enter(text)
    }
}

/// Returns the name of a key in lower case without `_` and `-`: models write `KP_Enter`, `KP-Enter` and `kpenter`.
pub fn plain_key_name(name: &str) -> String {
    let characters = name
        .chars()
        .filter(|character| !matches!(character, '_' | '-'));
    characters.flat_map(char::to_lowercase).collect()
}

/// Returns true if typing this text presses Enter.
pub fn types_enter(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Returns the plain names of the keys of several chords.
fn key_names(keys: &str) -> impl Iterator<Item = String> {
    let chords = keys.split_whitespace();
    chords
        .flat_map(|chord| chord.split('+'))
        .map(plain_key_name)
}

fn is_tab(plain_name: &str) -> bool {
    matches!(plain_name, "tab" | "isolefttab" | "backtab")
}

/// An element and the facts about it. Everything in it is written by the page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointedElement {
    /// The scheme, host and port of the page that contains it, such as `https://shop.example`.
    pub origin: String,
    /// The title of the page.
    pub title: String,
    pub role: String,
    pub name: String,
    /// True if it sends its form.
    pub is_submit: bool,
    /// True if its form has a field for a password.
    pub has_password: bool,
    /// True if its form has a field for a card number.
    pub has_card: bool,
    /// True if it is a box with a tick.
    pub is_checked: bool,
    /// The text of the dialog or form around it.
    pub surroundings: String,
}

impl PointedElement {
    /// Returns it with texts of bounded length, without control characters.
    #[must_use]
    pub fn bounded(self) -> Self {
        let label = |text: &str| page_label(text, LONGEST_PAGE_LABEL);
        Self {
            origin: label(&self.origin),
            title: label(&self.title),
            role: label(&self.role),
            name: label(&self.name),
            surroundings: page_label(&self.surroundings, LONGEST_SURROUNDING_TEXT),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_click_are_known_by_every_name_that_the_computer_takes() {
        for keys in [
            "Return",
            "enter",
            "KP_Enter",
            "KP-Enter",
            "KPEnter",
            "numpad_enter",
            "ctrl+Return",
            "a  Return",
        ] {
            assert_eq!(
                ActivatingKey::among(keys),
                Some(ActivatingKey::Enter),
                "{keys}"
            );
        }
        for keys in [" ", "space", "spacebar", "Space_Bar", "shift+space"] {
            assert_eq!(
                ActivatingKey::among(keys),
                Some(ActivatingKey::Space),
                "{keys}"
            );
        }
        for keys in ["", "Tab", "ctrl+s", "ctrl++", "Escape", "a b"] {
            assert_eq!(ActivatingKey::among(keys), None, "{keys}");
        }
    }

    #[test]
    fn a_tab_before_the_key_moves_the_focus() {
        for keys in [
            "Tab Return",
            "shift+Tab space",
            "a Tab Tab KP_Enter",
            "ISO_Left_Tab Return",
        ] {
            assert!(ActivatingKey::follows_tab(keys), "{keys}");
        }
        for keys in ["Return", "Return Tab", "Tab", "Down Return", "ctrl+Tab"] {
            assert!(!ActivatingKey::follows_tab(keys), "{keys}");
        }
        assert!(ActivatingKey::is_typed_after_tab("\t\r"));
        assert!(!ActivatingKey::is_typed_after_tab("ada\tpassword\n"));
        assert!(!ActivatingKey::is_typed_after_tab("\tindented"));
    }
}
