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
        let of = |key: &str| match key.to_ascii_lowercase().as_str() {
            "return" | "enter" | "kp_enter" | "\n" => Some(Self::Enter),
            "space" => Some(Self::Space),
            _ => None,
        };
        let mut all = keys.split(' ').flat_map(|chord| chord.split('+'));
        all.find_map(of)
    }
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
