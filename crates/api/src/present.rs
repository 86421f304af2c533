//! Fields in which null has a meaning of its own.

use serde::{Deserialize, Deserializer};

/// Deserializes a field that is present, so that null differs from an absent field.
pub(crate) fn present<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
