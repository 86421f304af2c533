//! `docs/api.md` names everything that it must.

use deskhand_core::event::EventBody;

#[test]
fn every_kind_of_event_is_documented() {
    let docs = include_str!("../../../../docs/api.md");
    let entries = docs
        .lines()
        .filter_map(|line| line.strip_prefix("- ")?.split(": ").next());
    let named: Vec<_> = entries.flat_map(|names| names.split(", ")).collect();
    let is_missing = |kind: &&&str| !named.contains(&&*format!("`{kind}`"));
    let missing: Vec<_> = EventBody::KINDS.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "docs/api.md lacks {missing:?}");
}
