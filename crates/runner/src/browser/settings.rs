//! The properties of the browser that a tab's pages are shown.

use deskhand_core::browser::Emulation;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{BrowseError, tab::Tab};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    user_agent: String,
}

impl Tab {
    /// Shows pages another viewport, language or time zone. It lasts until control changes hands or the tab closes.
    pub(super) async fn emulate(&self, emulation: &Emulation) -> Result<(), BrowseError> {
        let viewport = match emulation.viewport {
            Some(viewport) => self.page.call::<Value>(
                "Emulation.setDeviceMetricsOverride",
                json!({
                    "width": viewport.width,
                    "height": viewport.height,
                    "deviceScaleFactor": f64::from(viewport.scale_percent) / 100.0,
                    "mobile": false,
                }),
            ),
            None => self
                .page
                .call("Emulation.clearDeviceMetricsOverride", json!({})),
        };
        self.unless_interrupted(viewport).await?;
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
