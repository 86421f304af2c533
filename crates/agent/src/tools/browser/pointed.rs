//! The element that a verb is for, if it may have consequences.

use deskhand_core::{
    action::Button,
    browser::{ActivatingKey, Browse, BrowserVerb, ElementAt, FieldValue, PagePlace, types_enter},
};

/// Returns the place of the element whose consequences a verb would have.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other verbs neither click nor press a key"
)]
pub(super) fn element(browse: &Browse) -> Option<ElementAt> {
    let tab = browse.tab;
    let place = |place: &PagePlace| {
        let place = place.clone();
        Some(ElementAt::Page { tab, place })
    };
    match &browse.verb {
        BrowserVerb::Click {
            at,
            button: Button::Left,
            ..
        }
        | BrowserVerb::MouseDown { at } => place(at),
        BrowserVerb::Fill {
            at,
            value: FieldValue::Checked(true),
        } => place(&PagePlace::Element(*at)),
        BrowserVerb::Press { keys, .. } | BrowserVerb::HoldKey { keys, .. } => {
            let key = ActivatingKey::among(keys)?;
            Some(ElementAt::PageFocus { tab, key })
        }
        BrowserVerb::Type { at, text, submit } if *submit || types_enter(text) => match at {
            Some(PagePlace::Element(field)) => Some(ElementAt::PageField { tab, field: *field }),
            Some(PagePlace::Point(_)) | None => Some(ElementAt::PageFocus {
                tab,
                key: ActivatingKey::Enter,
            }),
        },
        BrowserVerb::AnswerDialog { accept: true, .. } => Some(ElementAt::PageDialog { tab }),
        _ => None,
    }
}

/// Returns true if a verb clicks with a key after it has moved the focus.
pub(super) fn moves_focus(verb: &BrowserVerb) -> bool {
    if let BrowserVerb::Press { keys, .. } = verb {
        return ActivatingKey::follows_tab(keys);
    }
    matches!(verb, BrowserVerb::Type { text, .. } if ActivatingKey::is_typed_after_tab(text))
}
