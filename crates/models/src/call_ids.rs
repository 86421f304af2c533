//! Ids of calls for vendors whose single call can become several of ours.

/// Returns the id of the part at `index` of a vendor's call.
pub(crate) fn part(call: &str, index: usize) -> String {
    format!("{call}#{index}")
}

/// Returns the id of the vendor's call that one of our calls is, or is a part of.
pub(crate) fn whole(call: &str) -> &str {
    call.split_once('#').map_or(call, |(whole, _)| whole)
}
