//! The consequences of clicks, by the element that is clicked and by what the model declares.

mod phrases;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::phrases::{Phrase, is_refusal, says_terms};
use crate::browser::PointedElement;

/// The longest reason that a model gives for a consequence, in characters.
const LONGEST_REASON: usize = 200;

/// An effect that people decide about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Consequence {
    Buy,
    Pay,
    Send,
    Publish,
    Delete,
    AcceptTerms,
}

/// A consequence that the model declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    pub consequence: Consequence,
    pub why: Option<String>,
}

impl Consequence {
    pub const ALL: [Self; 6] = [
        Self::Buy,
        Self::Pay,
        Self::Send,
        Self::Publish,
        Self::Delete,
        Self::AcceptTerms,
    ];

    /// Returns the name in calls.
    pub fn name(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Pay => "pay",
            Self::Send => "send",
            Self::Publish => "publish",
            Self::Delete => "delete",
            Self::AcceptTerms => "accept_terms",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Returns the words after "This may".
    fn words(self) -> &'static str {
        match self {
            Self::Buy => "buy or order something",
            Self::Pay => "pay or move money",
            Self::Send => "send something",
            Self::Publish => "publish something",
            Self::Delete => "delete something",
            Self::AcceptTerms => "accept terms",
        }
    }
}

impl Declaration {
    /// Creates a declaration, with a reason of bounded length on one line.
    pub fn new(consequence: Consequence, why: Option<&str>) -> Self {
        let why = why.map(|why| crate::browser::page_label(why, LONGEST_REASON));
        Self {
            consequence,
            why: why.filter(|why| !why.is_empty()),
        }
    }
}

/// Returns the text of a click that the patterns of rules match: `click https://shop.example Buy now`.
pub(super) fn subject(element: &PointedElement) -> Option<String> {
    let (origin, name) = (element.origin.trim(), element.name.trim());
    let is_known = origin.contains("://") && !name.is_empty();
    is_known.then(|| format!("click {origin} {name}"))
}

/// Returns the beginning of the question about a click with consequences.
pub(super) fn question(
    consequence: Consequence,
    element: Option<&PointedElement>,
    declared: Option<&Declaration>,
) -> String {
    let mut text = match element {
        Some(element) => format!(
            "The agent wants to click “{}” on a page of {}, titled “{}”. This may {}",
            element.name,
            element.origin,
            element.title,
            consequence.words()
        ),
        None => format!(
            "The agent wants to do something that may {}",
            consequence.words()
        ),
    };
    if let Some(why) = declared.and_then(|declared| declared.why.as_deref()) {
        text.push_str(". The agent says: ");
        text.push_str(why.trim_end_matches('.'));
    }
    text
}

/// Returns the consequence of a click on an element, if it is known to have one.
pub(super) fn consequence_of(element: &PointedElement) -> Option<Consequence> {
    let name = Phrase::new(&element.name);
    let role = &*element.role;
    if matches!(
        role,
        "checkbox" | "switch" | "radio" | "menuitemcheckbox" | "menuitemradio"
    ) {
        let accepts = role == "checkbox" && !element.is_checked && says_terms(&name);
        return accepts.then_some(Consequence::AcceptTerms);
    }
    let can_act = matches!(
        role,
        "button" | "link" | "menuitem" | "clickable" | "option" | "tab" | "img" | ""
    );
    if !can_act || is_refusal(&name) {
        return None;
    }
    // Links mostly lead to a page, and their names may be headlines.
    let most_words = match role {
        "link" if phrases::is_telling(&name) => 3,
        "link" => 1,
        _ => 5,
    };
    let named = phrases::consequence(&name, most_words);
    named
        .or_else(|| confirmed(&name, element))
        .or_else(|| pays(&name, element).then_some(Consequence::Pay))
        .or_else(|| {
            (element.is_submit && phrases::is_submission(&name)).then_some(Consequence::Send)
        })
}

/// Returns the consequence that a button such as `OK` confirms, from the dialog around it or the title.
fn confirmed(name: &Phrase, element: &PointedElement) -> Option<Consequence> {
    if !phrases::is_confirmation(name) {
        return None;
    }
    let around = Phrase::new(&element.surroundings);
    let title = Phrase::new(&element.title);
    phrases::mentioned(&around).or_else(|| phrases::mentioned(&title))
}

/// Returns true if an element sends a form with a card number.
fn pays(name: &Phrase, element: &PointedElement) -> bool {
    element.has_card && element.is_submit && !phrases::is_aside(name)
}
