//! Budgets: the amounts that may be used before a person is asked.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The largest budget in US dollars.
pub const LARGEST_USD: f64 = 1_000_000.0;
/// The largest budget in tokens.
pub const LARGEST_TOKENS: u64 = 1_000_000_000_000;

/// The most that may be used. An absent number means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = SetBudget)]
pub struct Budget {
    /// US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64)]
    pub usd: Option<f64>,
    /// Tokens, read and written by models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64)]
    pub tokens: Option<u64>,
}

/// A change to a budget. An absent number stays as it is, and 0 removes the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChangeBudget {
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
}

/// An amount of money and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Amount {
    pub usd: f64,
    pub tokens: u64,
}

/// A budget with the amounts granted and used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Account {
    pub budget: Budget,
    /// The amount that people added when they were asked.
    pub granted: Amount,
    pub used: Amount,
}

/// The accounts that a turn draws on.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Accounts {
    pub session: Account,
    /// The owner's account over all their sessions, since midnight UTC.
    pub day: Account,
}

/// A limit that a turn may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    SessionUsd,
    SessionTokens,
    /// The money that the session's owner may use in one day.
    DayUsd,
    DayTokens,
    /// The number of model calls in one turn.
    Steps,
    /// The duration of one turn.
    Seconds,
    /// The number of times that the agent repeats itself while nothing changes.
    Repeats,
    /// Calls to a model whose price is unknown, while there is a budget in money. A yes allows them in this session.
    Unpriced,
}

/// A bound that would be passed, in the bound's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = OverBound)]
pub struct Over {
    pub bound: Bound,
    pub used: f64,
    pub limit: f64,
    /// The amount that a yes adds to the limit.
    pub more: f64,
}

/// The reason why a budget is invalid.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum BadBudget {
    #[error("a budget is from 0 to {LARGEST_USD} US dollars, not {0}; 0 means no limit")]
    Usd(f64),
    #[error("a budget is from 0 to {LARGEST_TOKENS} tokens, not {0}; 0 means no limit")]
    Tokens(u64),
}

impl Budget {
    /// Returns this budget with a change applied.
    pub fn with(self, change: ChangeBudget) -> Self {
        Self {
            usd: change
                .usd
                .map_or(self.usd, |usd| Some(usd).filter(|usd| *usd > 0.0)),
            tokens: change
                .tokens
                .map_or(self.tokens, |tokens| Some(tokens).filter(|n| *n > 0)),
        }
    }
}

impl ChangeBudget {
    pub fn check(&self) -> Result<(), BadBudget> {
        if let Some(usd) = self.usd.filter(|usd| !(0.0..=LARGEST_USD).contains(usd)) {
            return Err(BadBudget::Usd(usd));
        }
        if let Some(tokens) = self.tokens.filter(|tokens| *tokens > LARGEST_TOKENS) {
            return Err(BadBudget::Tokens(tokens));
        }
        Ok(())
    }
}

impl Account {
    /// Returns the budget plus what was granted, in US dollars. Returns `None` if there is no limit.
    pub fn usd_limit(&self) -> Option<f64> {
        self.budget.usd.map(|usd| usd + self.granted.usd)
    }

    /// Returns the budget plus what was granted, in tokens. Returns `None` if there is no limit.
    pub fn tokens_limit(&self) -> Option<u64> {
        let granted = self.granted.tokens;
        self.budget
            .tokens
            .map(|tokens| tokens.saturating_add(granted))
    }
}

impl Bound {
    /// Returns true if the bound starts afresh with each turn.
    pub fn is_of_turn(self) -> bool {
        match self {
            Self::Steps | Self::Seconds | Self::Repeats => true,
            Self::SessionUsd
            | Self::SessionTokens
            | Self::DayUsd
            | Self::DayTokens
            | Self::Unpriced => false,
        }
    }

    /// Returns true if an administrator sets the bound for the session's owner, so that only an administrator can
    /// raise it. Calls without a price would pass the owner's budget unseen.
    pub fn is_of_owner(self) -> bool {
        match self {
            Self::DayUsd | Self::DayTokens | Self::Unpriced => true,
            Self::SessionUsd
            | Self::SessionTokens
            | Self::Steps
            | Self::Seconds
            | Self::Repeats => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_at_all_takes_a_budget_away() {
        let budget = Budget {
            usd: Some(5.0),
            tokens: None,
        };
        let changed = budget.with(ChangeBudget {
            usd: Some(0.0),
            tokens: Some(7),
        });
        assert_eq!((changed.usd, changed.tokens), (None, Some(7)));
        assert_eq!(budget.with(ChangeBudget::default()), budget);
    }

    #[test]
    fn a_budget_is_a_number_that_can_be_kept() {
        let usd = |usd| ChangeBudget {
            usd: Some(usd),
            tokens: None,
        };
        for good in [0.0, 0.01, LARGEST_USD] {
            assert_eq!(usd(good).check(), Ok(()));
        }
        for bad in [-0.01, f64::INFINITY, f64::NAN, LARGEST_USD * 1.01] {
            assert!(usd(bad).check().is_err(), "{bad}");
        }
        let tokens = ChangeBudget {
            usd: None,
            tokens: Some(LARGEST_TOKENS + 1),
        };
        assert!(tokens.check().is_err());
    }

    #[test]
    fn what_was_granted_comes_on_top() {
        let account = Account {
            budget: Budget {
                usd: Some(0.5),
                tokens: None,
            },
            granted: Amount {
                usd: 0.25,
                tokens: 9,
            },
            used: Amount::default(),
        };
        assert_eq!(account.usd_limit(), Some(0.75));
        assert_eq!(account.tokens_limit(), None);
    }
}
