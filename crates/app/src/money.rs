//! Money and tokens: what sessions and people may use, and what they have used.

pub(crate) mod gateway;
pub(crate) mod spending;
