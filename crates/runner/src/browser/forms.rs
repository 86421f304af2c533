//! Fills in forms: fields, options and files.

use std::{path::PathBuf, time::Duration};

use deskhand_core::browser::{ElementRef, FieldValue, PagePlace};
use serde_json::{Value, json};

use super::{
    BrowseError, Browser, browse_failed,
    pointer::Click,
    tab::{FrameHandle, Tab},
};

/// The timeout for a file chooser to open after a click.
const CHOOSER_TIMEOUT: Duration = Duration::from_secs(3);

const IS_FILE_FIELD: &str =
    "function () { return this instanceof HTMLInputElement && this.type === 'file'; }";

impl Tab {
    /// Gives the focus to the place where text is typed. A field gets it without a click, with the caret at its end.
    pub(super) async fn enter(&self, place: &PagePlace) -> Result<(), BrowseError> {
        // In a frame inside the page, only a click moves the focus of the page there, too.
        if let PagePlace::Element(element) = place
            && element.frame == 0
        {
            let call = format!("enter({})", element.element);
            let entered: String = self.script(&self.main_frame(), &call).await?;
            match &*entered {
                "done" => return Ok(()),
                "click" => {}
                other => return Err(problem(*element, other)),
            }
        }
        self.click(self.point(place).await?, Click::plain()).await
    }

    /// Replaces the content of a field.
    pub(super) async fn fill(
        &self,
        element: ElementRef,
        value: &FieldValue,
    ) -> Result<(), BrowseError> {
        let frame = self.frame_of(element).await?;
        let text = match value {
            FieldValue::Text(text) => text.clone(),
            FieldValue::Checked(is_checked) => is_checked.to_string(),
        };
        let call = format!("fill({}, {})", element.element, json!(text));
        let prepared: String = self.script(&frame, &call).await?;
        match &*prepared {
            "done" => Ok(()),
            "insert" if text.is_empty() => self.press("Delete", 1).await,
            "insert" => self.insert(&text).await,
            "click" => self.click_on(element).await,
            "select" => self.select(element, &[text]).await,
            other => Err(problem(element, other)),
        }
    }

    pub(super) async fn click_on(&self, element: ElementRef) -> Result<(), BrowseError> {
        let place = PagePlace::Element(element);
        let point = self.point(&place).await?;
        self.click(point, Click::plain()).await
    }

    /// Selects options of a `select`.
    pub(super) async fn select(
        &self,
        element: ElementRef,
        options: &[String],
    ) -> Result<(), BrowseError> {
        let frame = self.frame_of(element).await?;
        let call = format!("select({}, {})", element.element, json!(options));
        let selected: String = self.script(&frame, &call).await?;
        match &*selected {
            "done" => Ok(()),
            other => Err(problem(element, other)),
        }
    }

    /// Gives files to a file field, or to the chooser that a click on the element opens.
    pub(super) async fn upload(
        &self,
        element: ElementRef,
        paths: &[String],
    ) -> Result<(), BrowseError> {
        let mut files = Vec::new();
        for path in paths {
            files.push(self.browser.readable_file(path).await?);
        }
        let frame = self.frame_of(element).await?;
        let field = self.element(&frame, element).await?;
        let is_field = frame.target.call_on::<bool>(&field, IS_FILE_FIELD, &[]);
        if self.unless_interrupted(is_field).await? {
            return self
                .give_files(&frame, json!({"objectId": field.0}), &files)
                .await;
        }
        let enable = json!({"enabled": true});
        let intercept = "Page.setInterceptFileChooserDialog";
        let enabled = frame.target.call::<Value>(intercept, enable);
        self.unless_interrupted(enabled).await?;
        let chosen = self.choose(element, &frame, &files).await;
        let disable = json!({"enabled": false});
        let disabled = frame.target.call::<Value>(intercept, disable);
        self.unless_interrupted(disabled).await?;
        chosen
    }

    async fn choose(
        &self,
        element: ElementRef,
        frame: &FrameHandle,
        files: &[PathBuf],
    ) -> Result<(), BrowseError> {
        let number = self.number;
        if let Some(tab) = self.browser.observer.seen().tab(number) {
            tab.chooser = None;
        }
        self.click_on(element).await?;
        let opened = self.browser.observer.until(CHOOSER_TIMEOUT, |seen| {
            seen.tab(number).and_then(|tab| tab.chooser.take())
        });
        let node = opened.await.ok_or(BrowseError::NoChooser(element))?;
        self.give_files(frame, json!({"backendNodeId": node}), files)
            .await
    }

    async fn give_files(
        &self,
        frame: &FrameHandle,
        field: Value,
        files: &[PathBuf],
    ) -> Result<(), BrowseError> {
        let mut params = field;
        params["files"] = json!(files);
        let given = frame.target.call::<Value>("DOM.setFileInputFiles", params);
        self.unless_interrupted(given).await?;
        Ok(())
    }
}

impl Browser {
    /// Returns a path in the computer. One that is not absolute is in the home folder.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        let path = path.strip_prefix("~/").unwrap_or(path);
        self.settings.home.join(path)
    }

    async fn readable_file(&self, path: &str) -> Result<PathBuf, BrowseError> {
        let path = self.path(path);
        let about = tokio::fs::metadata(&path).await;
        let about = about.map_err(browse_failed(path.clone()))?;
        if !about.is_file() {
            let source = std::io::Error::from(std::io::ErrorKind::IsADirectory);
            return Err(BrowseError::File { path, source });
        }
        Ok(path)
    }
}

fn problem(element: ElementRef, name: &str) -> BrowseError {
    match name {
        "stale" => BrowseError::Stale(element),
        "locked" => BrowseError::Locked(element),
        "refused" => BrowseError::Refused(element),
        "missing" => BrowseError::NoOption(element),
        "single" => BrowseError::SingleOption(element),
        _ => BrowseError::NoField(element),
    }
}
