//! The ids of calls where one call of a vendor's is several of ours.

/// The id of the call at `index` of those that a vendor's call is made of.
pub(crate) fn part(call: &str, index: usize) -> String {
    format!("{call}#{index}")
}

/// The id of the vendor's call that a call of ours is, or is a part of.
pub(crate) fn whole(call: &str) -> &str {
    call.split_once('#').map_or(call, |(whole, _)| whole)
}
