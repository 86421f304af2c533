//! The properties of the browser that a tab's pages are shown.

use deskhand_core::browser::{EmulatedViewport, Emulation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{BrowseError, BrowserSettings, tab::Tab};

/// The method that gives a page a viewport.
pub(super) const SET_VIEWPORT: &str = "Emulation.setDeviceMetricsOverride";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    user_agent: String,
}

impl BrowserSettings {
    /// Returns the viewport of pages where there is no screen.
    pub(super) fn usual_viewport(&self) -> Option<EmulatedViewport> {
        self.viewport.map(|size| EmulatedViewport {
            width: size.width,
            height: size.height,
            scale_percent: 100,
        })
    }
}

/// Returns the parameters of [`SET_VIEWPORT`].
pub(super) fn viewport_params(viewport: EmulatedViewport) -> Value {
    json!({
        "width": viewport.width,
        "height": viewport.height,
        "screenWidth": viewport.width,
        "screenHeight": viewport.height,
        "deviceScaleFactor": f64::from(viewport.scale_percent) / 100.0,
        "mobile": false,
    })
}

impl Tab {
    /// Shows pages another viewport, language or time zone. It lasts until control changes hands or the tab closes.
    pub(super) async fn emulate(&self, emulation: &Emulation) -> Result<(), BrowseError> {
        let wanted = emulation
            .viewport
            .or_else(|| self.browser.settings.usual_viewport());
        let (method, params) = match wanted {
            Some(viewport) => (SET_VIEWPORT, viewport_params(viewport)),
            None => ("Emulation.clearDeviceMetricsOverride", json!({})),
        };
        let set = self.page.call::<Value>(method, params);
        self.unless_interrupted(set).await?;
        let locale = emulation.locale.as_deref().unwrap_or_default();
        let params = json!({"locale": locale});
        let set = self
            .page
            .call::<Value>("Emulation.setLocaleOverride", params);
        self.unless_interrupted(set).await?;
        let version = self
            .browser
            .devtools
            .call::<Version>("Browser.getVersion", json!({}), None);
        let user_agent = self.unless_interrupted(version).await?.user_agent;
        let params = json!({"userAgent": user_agent, "acceptLanguage": locale});
        let set = self
            .page
            .call::<Value>("Emulation.setUserAgentOverride", params);
        self.unless_interrupted(set).await?;
        let zone = emulation.time_zone.as_deref().unwrap_or_default();
        let params = json!({"timezoneId": zone});
        let set = self
            .page
            .call::<Value>("Emulation.setTimezoneOverride", params);
        self.unless_interrupted(set).await?;
        Ok(())
    }
}
