//! The cost of a task so far.

use std::fmt;

use deskhand_core::event::Cost;

/// The sum of all costs. Formatted as the end of a line, and as nothing if no tokens were used.
#[derive(Debug, Default)]
pub(super) struct Spent {
    usd: f64,
    tokens: u64,
    /// True if some of it has no known price.
    is_unpriced: bool,
}

impl Spent {
    pub(super) fn add(&mut self, cost: &Cost) {
        self.usd += cost.usd;
        self.tokens += cost.usage.tokens();
        self.is_unpriced |= cost.unpriced;
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { usd, tokens, .. } = self;
        match (self.tokens, self.is_unpriced) {
            (0, _) => Ok(()),
            (_, false) => write!(f, ", ${usd:.4}, {tokens} tokens"),
            (_, true) if *usd > 0.0 => write!(f, ", at least ${usd:.4}, {tokens} tokens"),
            (_, true) => write!(f, ", {tokens} tokens, no price known"),
        }
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::{id::TurnId, model::Usage};

    use super::*;

    fn cost(usd: f64, unpriced: bool) -> Cost {
        Cost {
            turn: TurnId::new(),
            step: 1,
            usd,
            model: String::new(),
            usage: Usage {
                input: 100,
                ..Usage::default()
            },
            unpriced,
            unfinished: false,
            aside: false,
            broken_off: false,
            summary: false,
        }
    }

    #[test]
    fn what_has_no_price_is_not_called_free() {
        let mut spent = Spent::default();
        assert_eq!(spent.to_string(), "");
        spent.add(&cost(0.0, true));
        assert_eq!(spent.to_string(), ", 100 tokens, no price known");
        spent.add(&cost(0.25, false));
        assert_eq!(spent.to_string(), ", at least $0.2500, 200 tokens");
        let mut spent = Spent::default();
        spent.add(&cost(0.25, false));
        assert_eq!(spent.to_string(), ", $0.2500, 100 tokens");
    }
}
