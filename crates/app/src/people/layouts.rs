//! The arrangement of each user's session page, which follows them from browser to browser.

use deskhand_core::id::UserId;
use serde_json::{Map, Value};

use super::users::Users;
use crate::{InternalError, refusal::refusals};

/// The maximum size of a layout as JSON. One with every panel has about 1 KiB.
const LONGEST_LAYOUT_BYTES: usize = 16 * 1024;

/// The reason why a layout was refused.
#[derive(Debug, thiserror::Error)]
pub enum SetLayoutError {
    #[error("a layout may have at most {LONGEST_LAYOUT_BYTES} bytes as JSON, not {0}")]
    TooLong(usize),
    #[error("could not store the layout")]
    Internal(#[source] InternalError),
}

refusals! {
    SetLayoutError passes on Internal;
    Self::TooLong(_) => Invalid("long_layout"),
}

impl Users {
    /// Returns the layout of a user, if there is one. Its format is known to the page only.
    pub async fn layout(&self, user: UserId) -> Result<Option<Value>, InternalError> {
        Ok(self.store.layout(user).await?)
    }

    pub async fn set_layout(
        &self,
        user: UserId,
        layout: Map<String, Value>,
    ) -> Result<(), SetLayoutError> {
        let layout = Value::Object(layout);
        let n_bytes = layout.to_string().len();
        if n_bytes > LONGEST_LAYOUT_BYTES {
            return Err(SetLayoutError::TooLong(n_bytes));
        }
        Ok(self.store.set_layout(user, &layout).await?)
    }
}
