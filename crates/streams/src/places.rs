//! Checks that all streams find a place among the awake sessions of their owner.

use deskhand_jamie::SetupCheck;

use crate::controller::Streams;

impl Streams {
    /// Returns a warning if there may be more streams at a time than awake sessions of their owner.
    pub(crate) async fn check_places(&self) -> Option<SetupCheck> {
        let at_once = self.0.settings.at_once;
        // If the limits cannot be read, other checks fail.
        let used = self.0.app.limits().in_use(self.0.owner).await.ok()?;
        let most = used.limits.awake_sessions;
        if at_once <= usize::try_from(most).unwrap_or(usize::MAX) {
            return None;
        }
        Some(SetupCheck::warning(
            "streams",
            format!(
                "{at_once} streams at a time, but their owner may have only {most} sessions awake, so the others fail"
            ),
            "raise limits.awake_sessions, also above this for sessions of the owner's own, or lower jamie.streams",
        ))
    }
}
