//! Text, keys and forms.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{BROWSER_TOOL, IN_GROUP, and_read, browse};
use crate::{
    refusal::CallError,
    tools::{Effect, hand::HandTool},
};

/// The most fields of a form that are filled in at once.
const MOST_FIELDS: usize = 50;

pub(super) static TYPE: HandTool<BrowserTypeInput> = HandTool {
    name: "browser_type",
    title: "Type on a page",
    description: "Type text into an element, which is clicked first, or into the one that has the focus. \
        browser_fill_form replaces the content of fields instead.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let entry = json!({
            "action": "type",
            "ref": input.element,
            "x": input.x,
            "y": input.y,
            "text": input.text,
            "submit": input.submit,
            "tab": input.tab,
        });
        let acts = browse(input.session_id, entry);
        Ok(and_read(acts, input.snapshot, input.tab))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserTypeInput {
    session_id: String,
    text: String,
    /// The element, such as e12.
    #[serde(default, rename = "ref")]
    element: Option<String>,
    /// A point instead of ref, with y.
    #[serde(default)]
    x: Option<f64>,
    #[serde(default)]
    y: Option<f64>,
    /// Press Enter afterwards.
    #[serde(default)]
    submit: Option<bool>,
    #[serde(default)]
    tab: Option<u32>,
    /// Also return the page as `browser_snapshot` does.
    #[serde(default)]
    snapshot: Option<bool>,
}

pub(super) static FILL_FORM: HandTool<BrowserFillFormInput> = HandTool {
    name: "browser_fill_form",
    title: "Fill in a form",
    description: "Replace the content of one or more fields of a form, given by their refs.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        if !(1..=MOST_FIELDS).contains(&input.fields.len()) {
            let message = format!("fields must have 1 to {MOST_FIELDS} entries");
            return Err(CallError::malformed(message));
        }
        let mut fields = input.fields.into_iter().map(FormField::into_input);
        let first = fields.next().unwrap_or_default();
        let acts = browse(input.session_id, first);
        let acts = fields.fold(acts, |acts, field| acts.then(BROWSER_TOOL, field));
        Ok(and_read(acts, input.snapshot, None))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserFillFormInput {
    session_id: String,
    fields: Vec<FormField>,
    /// Also return the page as `browser_snapshot` does.
    #[serde(default)]
    snapshot: Option<bool>,
}

/// A field of a form, with its new content.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FormField {
    #[serde(rename = "ref")]
    element: String,
    /// The new text.
    #[serde(default)]
    value: Option<String>,
    /// For a check box or a switch: ticked or not, instead of value.
    #[serde(default)]
    checked: Option<bool>,
}

impl FormField {
    fn into_input(self) -> Value {
        let value = self.checked.map_or(self.value.into(), Value::Bool);
        json!({ "action": "fill", "ref": self.element, "value": value })
    }
}

pub(super) static SELECT_OPTION: HandTool<BrowserSelectOptionInput> = HandTool {
    name: "browser_select_option",
    title: "Select an option",
    description: "Select options of a drop-down list or list box, by their values or labels.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let select = json!({ "action": "select", "ref": input.element, "options": input.options });
        let acts = browse(input.session_id, select);
        Ok(and_read(acts, input.snapshot, None))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserSelectOptionInput {
    session_id: String,
    #[serde(rename = "ref")]
    element: String,
    options: Vec<String>,
    /// Also return the page as `browser_snapshot` does.
    #[serde(default)]
    snapshot: Option<bool>,
}

pub(super) static PRESS_KEY: HandTool<BrowserPressKeyInput> = HandTool {
    name: "browser_press_key",
    title: "Press a key",
    description: "Press a key or a chord in the page, such as Enter, ctrl+a or Tab, or several separated by spaces.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let press = json!({ "action": "press", "keys": input.key, "repeat": input.repeat });
        let acts = browse(input.session_id, press);
        Ok(and_read(acts, input.snapshot, None))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserPressKeyInput {
    session_id: String,
    key: String,
    /// The number of times, from 1 to 100.
    #[serde(default)]
    repeat: Option<u8>,
    /// Also return the page as `browser_snapshot` does.
    #[serde(default)]
    snapshot: Option<bool>,
}

pub(super) static FILE_UPLOAD: HandTool<BrowserFileUploadInput> = HandTool {
    name: "browser_file_upload",
    title: "Upload files to a page",
    description: "Give files of the computer to a file field, or to the element whose click opens a file chooser. \
        file_write puts a file there.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let upload = json!({ "action": "upload", "ref": input.element, "paths": input.paths });
        Ok(browse(input.session_id, upload))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserFileUploadInput {
    session_id: String,
    #[serde(rename = "ref")]
    element: String,
    /// Absolute paths on the computer, or in its home folder as ~/a.txt.
    paths: Vec<String>,
}
