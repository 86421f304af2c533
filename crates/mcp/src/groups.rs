//! Groups of tools, and the choice among them.

use crate::tools;

/// The groups of tools that a client is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups(Vec<&'static str>);

/// The error for a name that no group of tools has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no group of tools {name:?}; choose from {known}")]
pub struct UnknownGroup {
    name: String,
    known: String,
}

impl Default for Groups {
    fn default() -> Self {
        Self(vec![tools::AGENT])
    }
}

impl Groups {
    /// Reads the names of groups, separated by commas.
    pub fn parse(names: &str) -> Result<Self, UnknownGroup> {
        let known = tools::GROUPS;
        let find = |name: &str| {
            let found = known.iter().find(|group| **group == name);
            found.copied().ok_or_else(|| UnknownGroup {
                name: name.to_owned(),
                known: known.join(", "),
            })
        };
        names
            .split(',')
            .map(str::trim)
            .map(find)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Reads the groups in the query `tools=…` of an address, if it has one.
    pub(crate) fn in_query(query: &str) -> Result<Option<Self>, UnknownGroup> {
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        let named = pairs.into_iter().find(|(key, _)| key == "tools");
        named.map(|(_, names)| Self::parse(&names)).transpose()
    }

    /// Returns true if one of these groups is offered.
    pub(crate) fn has_any(&self, groups: &[&str]) -> bool {
        groups.iter().any(|group| self.0.contains(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_chosen_by_name() {
        assert_eq!(Groups::parse("agent"), Ok(Groups::default()));
        assert_eq!(
            Groups::in_query("a=b&tools=agent"),
            Ok(Some(Groups::default()))
        );
        assert_eq!(Groups::in_query("a=b"), Ok(None));
        let error = Groups::parse("agent, cars").unwrap_err().to_string();
        assert!(error.starts_with("there is no group of tools \"cars\"; choose from agent"));
        let two = Groups::parse("shell, browser").unwrap();
        assert!(two.has_any(&["agent", "browser"]) && !two.has_any(&["agent"]));
    }
}
