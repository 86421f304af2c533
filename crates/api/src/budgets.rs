//! Budgets, limits and their usage.

use deskhand_core::{
    budget::{Account, Amount, ChangeBudget},
    limits::UserLimits,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A budget to set. An absent field stays as it is, or is left to the server's settings; 0 means no limit.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ChangeBudget)]
#[serde(deny_unknown_fields)]
pub struct BudgetBody {
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1_000_000)]
    pub usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 1_000_000_000_000_u64)]
    pub tokens: Option<u64>,
}

/// A budget and its usage.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Budget)]
pub struct BudgetView {
    pub usd: UsdView,
    pub tokens: TokensUsedView,
}

/// US dollars.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = UsdOfBudget)]
pub struct UsdView {
    pub used: f64,
    /// Includes additional grants. Null means no limit.
    #[schema(required)]
    pub limit: Option<f64>,
}

/// Tokens that models read and wrote.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = TokensOfBudget)]
pub struct TokensUsedView {
    pub used: u64,
    /// Includes additional grants. Null means no limit.
    #[schema(required)]
    pub limit: Option<u64>,
}

/// An amount that was used.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Amount)]
pub struct AmountView {
    /// US dollars.
    pub usd: f64,
    pub tokens: u64,
}

/// The usage of the models in all your sessions.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Usage)]
pub struct UsageView {
    /// The usage since midnight UTC, and the limit until the next midnight.
    pub today: BudgetView,
    /// The usage since the first of the month.
    pub month: AmountView,
    /// The start of the next day.
    pub next_day_at: Timestamp,
}

/// Your limits and their usage.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = LimitsInUse)]
pub struct LimitsInUseView {
    /// Your sessions that are awake.
    pub awake_sessions: UsedView,
    /// The sessions that you created in the last 24 hours.
    pub sessions_per_day: UsedView,
    /// The time from which you can create another session, if you cannot now.
    #[schema(required)]
    pub frees_at: Option<Timestamp>,
    /// The time for which an idle session stays awake.
    pub idle_seconds: u64,
    /// The maximum lifetime of a sandbox.
    pub life_seconds: u64,
}

/// A limit and its usage.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = UsedOfLimit)]
pub struct UsedView {
    pub used: u64,
    pub limit: u32,
}

/// The limits of one user. The server's settings apply where a field is absent or null.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = UserLimits)]
#[serde(deny_unknown_fields)]
pub struct UserLimitsView {
    /// The maximum number of their sessions that can be awake at the same time.
    #[schema(maximum = 10000)]
    pub awake_sessions: Option<u32>,
    /// The maximum number of sessions that they can create in 24 hours.
    #[schema(maximum = 1_000_000)]
    pub sessions_per_day: Option<u32>,
    /// The time for which their idle sessions stay awake.
    #[schema(minimum = 1, maximum = 2_592_000)]
    pub idle_seconds: Option<u32>,
    /// The maximum lifetime of one of their sandboxes.
    #[schema(minimum = 1, maximum = 2_592_000)]
    pub life_seconds: Option<u32>,
    /// The budget for the models of their sessions in a day, in US dollars. 0 means no limit.
    #[schema(minimum = 0, maximum = 1_000_000)]
    pub day_usd: Option<f64>,
    /// The tokens they can use in a day. 0 means no limit.
    #[schema(maximum = 1_000_000_000_000_u64)]
    pub day_tokens: Option<u64>,
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
            tokens: TokensUsedView {
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

impl From<UserLimits> for UserLimitsView {
    fn from(limits: UserLimits) -> Self {
        Self {
            awake_sessions: limits.awake_sessions,
            sessions_per_day: limits.sessions_per_day,
            idle_seconds: limits.idle_seconds,
            life_seconds: limits.life_seconds,
            day_usd: limits.day.usd,
            day_tokens: limits.day.tokens,
        }
    }
}

impl From<UserLimitsView> for UserLimits {
    fn from(view: UserLimitsView) -> Self {
        Self {
            awake_sessions: view.awake_sessions,
            sessions_per_day: view.sessions_per_day,
            idle_seconds: view.idle_seconds,
            life_seconds: view.life_seconds,
            day: ChangeBudget {
                usd: view.day_usd,
                tokens: view.day_tokens,
            },
        }
    }
}
