//! The distance of a turn from one of its bounds, in numbers and in words.

use deskhand_core::{
    budget::{Account, Amount, Bound, Over},
    event::Notice,
};

/// The used part of a bound from which on people and the model are warned.
const CLOSE: f64 = 0.8;
/// Money is counted in billionths of a dollar.
const SMALLEST_USD: f64 = 1e-9;

/// A bound and its use. `is_over` is true if the next step would pass the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gauge {
    pub(crate) over: Over,
    pub(crate) is_over: bool,
}

impl Gauge {
    /// Measures a bound of a turn. Its limit is `more` plus the `granted` amount that people added.
    pub(crate) fn of_turn(bound: Bound, used: f64, next: f64, more: f64, granted: f64) -> Self {
        let limit = more + granted;
        Self {
            over: Over {
                bound,
                used,
                limit,
                more,
            },
            is_over: used + next > limit || used >= limit,
        }
    }

    /// Measures the bound on money, if there is one.
    pub(crate) fn of_usd(bound: Bound, account: &Account, next: &Amount) -> Option<Self> {
        let (more, limit) = (account.budget.usd?, account.usd_limit()?);
        let used = account.used.usd;
        Some(Self {
            over: Over {
                bound,
                used,
                limit,
                more,
            },
            is_over: used + next.usd > limit + SMALLEST_USD,
        })
    }

    /// Measures the bound on tokens, if there is one.
    pub(crate) fn of_tokens(bound: Bound, account: &Account, next: &Amount) -> Option<Self> {
        let (more, limit) = (account.budget.tokens?, account.tokens_limit()?);
        let used = account.used.tokens;
        Some(Self {
            over: Over {
                bound,
                used: number(used),
                limit: number(limit),
                more: number(more),
            },
            is_over: used.saturating_add(next.tokens) > limit,
        })
    }

    /// Measures the calls to a model whose price is unknown.
    pub(crate) fn of_unpriced(is_allowed: bool) -> Self {
        Self {
            over: Over {
                bound: Bound::Unpriced,
                used: 0.0,
                limit: 0.0,
                more: 1.0,
            },
            is_over: !is_allowed,
        }
    }

    pub(crate) fn is_close(&self) -> bool {
        self.over.used + SMALLEST_USD >= CLOSE * self.over.limit
    }

    /// Returns the question for people if the next step, of the model with this name, would pass the bound.
    pub(crate) fn question(&self, model: &str) -> String {
        let more = amount(self.over.bound, self.over.more);
        let so_far = self.so_far();
        match self.over.bound {
            Bound::SessionUsd | Bound::SessionTokens => {
                format!("{so_far} The next step would go beyond that. Give it {more} more?")
            }
            Bound::DayUsd | Bound::DayTokens => format!(
                "{so_far} The next step would go beyond that. Only an administrator can give {more} more, here or \
                 with `deskhand user limit`; at midnight UTC the agent goes on by itself. Go on?"
            ),
            Bound::Steps | Bound::Seconds => format!("{so_far} Give it {more} more?"),
            Bound::Repeats => format!("{so_far} Let it go on?"),
            Bound::Unpriced => format!(
                "The price of {model} is not known, so no budget in US dollars holds for it. Only an administrator can allow this model in this session, here, or set the price under \
                 `models.prices` in the settings. Go on?"
            ),
        }
    }

    /// Returns the sentence for people about the use so far.
    pub(crate) fn so_far(&self) -> String {
        let Over {
            bound, used, limit, ..
        } = self.over;
        let limit = amount(bound, limit);
        let part = match bound {
            Bound::SessionTokens | Bound::DayTokens | Bound::Steps => format!("{used:.0}"),
            Bound::SessionUsd
            | Bound::DayUsd
            | Bound::Seconds
            | Bound::Repeats
            | Bound::Unpriced => amount(bound, used),
        };
        match bound {
            Bound::SessionUsd | Bound::SessionTokens => {
                format!("This session has used {part} of its {limit}.")
            }
            Bound::DayUsd | Bound::DayTokens => {
                format!("The owner of this session has used {part} of {limit} for today.")
            }
            Bound::Steps | Bound::Seconds => {
                format!("This turn has used {part} of its {limit}.")
            }
            Bound::Repeats => format!("The agent has repeated itself or failed {part} in a row."),
            Bound::Unpriced => {
                "The price of the model is not known, so no budget in US dollars holds for it."
                    .to_owned()
            }
        }
    }
}

/// Returns the note for the model that goes with a notice for people, if it concerns the model.
pub(crate) fn note(notice: &Notice) -> Option<String> {
    Some(match notice.bound {
        Bound::Unpriced => return None,
        Bound::Repeats => format!(
            "[You have repeated yourself or failed {} in a row. Try another way, or ask a person.]",
            amount(notice.bound, notice.used)
        ),
        Bound::SessionUsd
        | Bound::SessionTokens
        | Bound::DayUsd
        | Bound::DayTokens
        | Bound::Steps
        | Bound::Seconds => format!(
            "[{} Come to an end soon, or say what remains to be done.]",
            notice.message
        ),
    })
}

/// Writes a number in the bound's unit.
fn amount(bound: Bound, number: f64) -> String {
    match bound {
        Bound::SessionUsd | Bound::DayUsd => money(number),
        Bound::SessionTokens | Bound::DayTokens => format!("{number:.0} tokens"),
        Bound::Steps => format!("{number:.0} steps"),
        Bound::Seconds if number >= 60.0 => format!("{:.0} min", (number / 60.0).floor()),
        Bound::Seconds => format!("{number:.0} s"),
        Bound::Repeats | Bound::Unpriced => format!("{number:.0} times"),
    }
}

/// Writes dollars with two decimals, or more for small amounts.
fn money(usd: f64) -> String {
    let decimals = if usd >= 1.0 { 2 } else { 6 };
    let mut text = format!("${usd:.decimals$}");
    let cents = text.find('.').map_or(text.len(), |point| point + 3);
    while text.len() > cents && text.ends_with('0') {
        text.pop();
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use deskhand_core::budget::Budget;

    use super::*;

    fn usd(used: f64, next: f64, limit: f64) -> Gauge {
        let account = Account {
            budget: Budget {
                usd: Some(limit),
                tokens: None,
            },
            used: Amount {
                usd: used,
                tokens: 0,
            },
            ..Account::default()
        };
        let next = Amount {
            usd: next,
            tokens: 0,
        };
        Gauge::of_usd(Bound::SessionUsd, &account, &next).unwrap()
    }

    #[test]
    fn what_just_fits_is_not_over() {
        assert!(!usd(0.008, 0.004, 0.012).is_over);
        assert!(usd(0.008, 0.004, 0.0119).is_over);
        assert!(usd(0.008, 0.0, 0.01).is_close());
        assert!(usd(0.01 + 0.02 + 0.05, 0.0, 0.1).is_close());
        assert!(!usd(0.0079, 0.0, 0.01).is_close());
        let steps = |used| Gauge::of_turn(Bound::Steps, used, 1.0, 50.0, 0.0);
        assert!(!steps(49.0).is_over);
        assert!(steps(50.0).is_over);
        assert_eq!(
            Gauge::of_tokens(
                Bound::SessionTokens,
                &Account::default(),
                &Amount::default()
            ),
            None
        );
    }

    #[test]
    fn people_are_asked_in_plain_words() {
        let asked =
            |bound, used, more| Gauge::of_turn(bound, used, 0.0, more, 0.0).question("acme/model");
        insta::assert_snapshot!(asked(Bound::SessionUsd, 0.008, 0.01), @"This session has used $0.008 of its $0.01. The next step would go beyond that. Give it $0.01 more?");
        insta::assert_snapshot!(asked(Bound::SessionTokens, 9_999.0, 10_000.0), @"This session has used 9999 of its 10000 tokens. The next step would go beyond that. Give it 10000 tokens more?");
        insta::assert_snapshot!(asked(Bound::DayUsd, 49.876, 50.0), @"The owner of this session has used $49.88 of $50.00 for today. The next step would go beyond that. Only an administrator can give $50.00 more, here or with `deskhand user limit`; at midnight UTC the agent goes on by itself. Go on?");
        insta::assert_snapshot!(asked(Bound::Steps, 50.0, 50.0), @"This turn has used 50 of its 50 steps. Give it 50 steps more?");
        insta::assert_snapshot!(asked(Bound::Seconds, 1_800.4, 1_800.0), @"This turn has used 30 min of its 30 min. Give it 30 min more?");
        insta::assert_snapshot!(Gauge::of_unpriced(false).question("acme/model"), @"The price of acme/model is not known, so no budget in US dollars holds for it. Only an administrator can allow this model in this session, here, or set the price under `models.prices` in the settings. Go on?");
        insta::assert_snapshot!(asked(Bound::Repeats, 5.0, 5.0), @"The agent has repeated itself or failed 5 times in a row. Let it go on?");
    }
}
