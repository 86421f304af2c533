//! Money and tokens: the budgets of sessions and users, and their usage.

pub(crate) mod gateway;
pub(crate) mod spending;
