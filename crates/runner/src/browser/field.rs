//! Finds the focused field, and types a secret into it.
//!
//! The server learns the origin of the field's frame first, and sends the value only for an origin that it allows. The
//! value is sent only to the process of that frame. There, one function checks again that the field has the focus and
//! then types, so that no script of the page and no input can come in between.

use deskhand_core::vault::{FieldPlace, Filling};
use futures::future::join_all;
use serde::Deserialize;
use serde_json::json;

use super::{
    Browser,
    devtools::{DevToolsError, Target, TargetInfo},
    frames::Thing,
};

/// The most frames that may be nested around a field.
const MAX_DEPTH: usize = 10;

/// Evaluates to the focused element of a document, including those inside open shadow trees.
const FOCUSED: &str = "(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
})()";

const HAS_FOCUS: &str = "document.visibilityState === 'visible' && document.hasFocus()";

/// Describes an element: its kind and the origin of its frame.
const ABOUT: &str = "function () {
    const types = ['text', 'password', 'email', 'tel', 'url', 'search', 'number'];
    const isFrame = this instanceof HTMLIFrameElement || this instanceof HTMLFrameElement
        || this instanceof HTMLObjectElement || this instanceof HTMLEmbedElement;
    const isField = this instanceof HTMLTextAreaElement
        || (this instanceof HTMLInputElement && types.includes(this.type));
    return { kind: isFrame ? 'frame' : isField ? 'field' : 'other', origin: self.origin };
}";

/// Types the value into the field.
///
/// If the field does not take the value unchanged, it is emptied again. Autocomplete is switched off for a field
/// whose content the browser would otherwise store for the next visit.
const TYPE: &str = "function (value, origin) {
    if (self.origin !== origin || !document.hasFocus() || this.getRootNode().activeElement !== this)
        return 'moved';
    if (this.disabled || this.readOnly) return 'locked';
    if (this.type !== 'password') this.autocomplete = 'off';
    this.select();
    document.execCommand('insertText', false, value);
    if (this.value === value) return 'typed';
    this.select();
    document.execCommand('delete');
    return 'refused';
}";

/// Reasons why a secret was not typed. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    #[error("Nothing was typed: the browser that was started with this computer is not in front.")]
    NoBrowser,
    #[error("Nothing was typed: no page has the focus. Click into the field on the page first.")]
    NoPage,
    #[error("Nothing was typed: no text field has the focus. Click into the field first.")]
    NoField,
    #[error("Nothing was typed: the focus moved in the meantime.")]
    Moved,
    #[error("Nothing was typed: the field cannot be written to.")]
    Locked,
    #[error(
        "The field changed the secret, so it was emptied again. The field may be too short for it, or of \
         another kind."
    )]
    Refused,
    #[error("Nothing was typed: {0}.")]
    Unasked(DevToolsError),
    #[error("It is not known whether the secret was typed: {0}.")]
    Unknown(DevToolsError),
}

/// A field and the frame that contains it.
struct Field {
    target: Target,
    element: Thing,
    frame: String,
    origin: String,
}

/// The focused field, or the reason why there is none, with everything that was attached to on the way to it.
struct Located {
    field: Result<Field, FillError>,
    title: String,
    attached: Vec<Target>,
}

#[derive(Deserialize)]
struct About {
    kind: Kind,
    origin: String,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Frame,
    Field,
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Attempt {
    Typed,
    Moved,
    Locked,
    Refused,
}

#[derive(Deserialize)]
struct Described {
    node: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    frame_id: Option<String>,
}

impl Browser {
    /// Returns the place of the focused field.
    pub(crate) async fn find_field(&self) -> Result<FieldPlace, FillError> {
        let located = self.locate_field().await?;
        let title = located.title;
        let place = located.field.map(|field| FieldPlace {
            origin: field.origin,
            title,
            frame: field.frame,
        });
        detach_all(located.attached).await;
        place
    }

    /// Types the value into the focused field, if it is in the frame that was found before.
    pub(crate) async fn fill(&self, filling: &Filling) -> Result<(), FillError> {
        let located = self.locate_field().await?;
        let filled = match located.field {
            Ok(field) => type_into(&field, filling).await,
            Err(error) => Err(error),
        };
        detach_all(located.attached).await;
        filled
    }

    async fn locate_field(&self) -> Result<Located, FillError> {
        let targets = self.devtools.targets().await.map_err(FillError::Unasked)?;
        let (page, title) = self.page_with_focus(&targets).await?;
        let mut attached = vec![page.clone()];
        let field = self.focused_field(&targets, page, &mut attached).await;
        Ok(Located {
            field,
            title,
            attached,
        })
    }

    /// Returns the page with the focus, and its title.
    pub(super) async fn page_with_focus(
        &self,
        targets: &[TargetInfo],
    ) -> Result<(Target, String), FillError> {
        // Without a screen, windows do not take the focus from each other: the tab that verbs use has it.
        let only = self.settings.viewport.and_then(|_| self.current_target());
        let is_meant = |target: &&TargetInfo| {
            target.kind == "page" && only.as_ref().is_none_or(|id| *id == target.target_id)
        };
        let pages = targets.iter().filter(is_meant);
        let asked = pages.map(|info| async move {
            let page = self.devtools.attach(info).await.ok()?;
            // A page that does not answer cannot be the one that was just clicked into.
            if has_focus(&page).await.unwrap_or(false) {
                return Some((page, info.title.clone()));
            }
            page.detach().await;
            None
        });
        let mut focused = join_all(asked).await.into_iter().flatten();
        match (focused.next(), focused.next()) {
            (Some(page), None) => Ok(page),
            (None, _) => Err(FillError::NoPage),
            (Some(_), Some(_)) => Err(FillError::Moved),
        }
    }

    /// Follows the focus from frame to frame down to the focused element.
    async fn focused_field(
        &self,
        targets: &[TargetInfo],
        page: Target,
        asked: &mut Vec<Target>,
    ) -> Result<Field, FillError> {
        let mut target = page;
        let mut frame = target.frames().await.map_err(FillError::Unasked)?.frame.id;
        for _ in 0..MAX_DEPTH {
            let found = target.find(&frame, FOCUSED).await;
            let element = found.map_err(FillError::Unasked)?;
            let element = element.ok_or(FillError::NoField)?;
            let about = target.call_on::<About>(&element, ABOUT, &[]).await;
            let about = about.map_err(FillError::Unasked)?;
            match about.kind {
                Kind::Field => {
                    return Ok(Field {
                        target,
                        element,
                        frame,
                        origin: about.origin,
                    });
                }
                Kind::Other => return Err(FillError::NoField),
                Kind::Frame => {}
            }
            let params = json!({"objectId": element.0});
            let described = target.call::<Described>("DOM.describeNode", params).await;
            let described = described.map_err(FillError::Unasked)?;
            frame = described.node.frame_id.ok_or(FillError::NoField)?;
            let frames = target.frames().await.map_err(FillError::Unasked)?;
            if !frames.contains(&frame) {
                // Another process shows this frame.
                let info = targets.iter().find(|target| target.target_id == frame);
                let info = info.ok_or(FillError::Moved)?;
                target = self
                    .devtools
                    .attach(info)
                    .await
                    .map_err(FillError::Unasked)?;
                asked.push(target.clone());
            }
        }
        Err(FillError::NoField)
    }
}

async fn has_focus(page: &Target) -> Result<bool, DevToolsError> {
    let frame = page.frames().await?.frame.id;
    page.evaluate(&frame, HAS_FOCUS).await
}

async fn detach_all(targets: Vec<Target>) {
    join_all(targets.into_iter().map(Target::detach)).await;
}

async fn type_into(field: &Field, filling: &Filling) -> Result<(), FillError> {
    if field.frame != filling.frame || field.origin != filling.origin.as_str() {
        return Err(FillError::Moved);
    }
    let arguments = [filling.value.expose(), &field.origin];
    let typed = field.target.call_on(&field.element, TYPE, &arguments).await;
    match typed.map_err(FillError::Unknown)? {
        Attempt::Typed => Ok(()),
        Attempt::Moved => Err(FillError::Moved),
        Attempt::Locked => Err(FillError::Locked),
        Attempt::Refused => Err(FillError::Refused),
    }
}
