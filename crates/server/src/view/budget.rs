//! What the wire shows of budgets.

use deskhand_core::budget::{Account, Amount, ChangeBudget};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What may be used. What is not given stays as it is, or is left to the server's settings; 0 is as much as it takes.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[schema(as = ChangeBudget)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetBody {
    /// US dollars.
    #[schema(minimum = 0, maximum = 1_000_000)]
    usd: Option<f64>,
    #[schema(maximum = 1_000_000_000_000_u64)]
    tokens: Option<u64>,
}

/// What may be used, and what is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Budget)]
pub(crate) struct BudgetView {
    usd: UsdView,
    tokens: TokensView,
}

/// US dollars.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsdOfBudget)]
pub(crate) struct UsdView {
    used: f64,
    /// With what people gave in addition. As much as it takes when it is null.
    #[schema(required)]
    limit: Option<f64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TokensOfBudget)]
pub(crate) struct TokensView {
    used: u64,
    /// With what people gave in addition. As many as it takes when it is null.
    #[schema(required)]
    limit: Option<u64>,
}

/// What was used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Amount)]
pub(crate) struct AmountView {
    /// US dollars.
    usd: f64,
    tokens: u64,
}

impl From<BudgetBody> for ChangeBudget {
    fn from(body: BudgetBody) -> Self {
        Self {
            usd: body.usd,
            tokens: body.tokens,
        }
    }
}

impl From<Account> for BudgetView {
    fn from(account: Account) -> Self {
        Self {
            usd: UsdView {
                used: account.used.usd,
                limit: account.usd_limit(),
            },
            tokens: TokensView {
                used: account.used.tokens,
                limit: account.tokens_limit(),
            },
        }
    }
}

impl From<Amount> for AmountView {
    fn from(amount: Amount) -> Self {
        Self {
            usd: amount.usd,
            tokens: amount.tokens,
        }
    }
}
