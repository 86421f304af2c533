//! The models that are known by name, with their prices.
//!
//! Prices are of November 2026, in US dollars per million tokens. `docs/guide/models.md` lists the ones that still
//! have to be checked. If a vendor charges more for long prompts, this is the price for the usual length.

use deskhand_core::model::Price;

/// A model that is known by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) vendor: &'static str,
    /// The part after the slash.
    pub(crate) name: &'static str,
    pub(crate) price: Price,
}

/// All known models, the best of each vendor first.
pub(crate) const KNOWN: &[Known] = &[
    claude("claude-opus-5-5", 4.0, 20.0, 0.20),
    claude("claude-sonnet-5-5", 2.0, 10.0, 0.20),
    claude("claude-haiku-5-5", 0.10, 0.50, 0.01),
    claude("claude-fable-5-1", 10.0, 50.0, 0.25),
    claude("claude-opus-5", 5.0, 25.0, 0.50),
    claude("claude-sonnet-5", 2.0, 10.0, 0.20),
    claude("claude-opus-4-8", 5.0, 25.0, 0.50),
    claude("claude-opus-4-7", 5.0, 25.0, 0.50),
    claude("claude-opus-4-6", 5.0, 25.0, 0.50),
    claude("claude-sonnet-4-6", 3.0, 15.0, 0.30),
    claude("claude-opus-4-5", 5.0, 25.0, 0.50),
    claude("claude-sonnet-4-5", 3.0, 15.0, 0.30),
    claude("claude-haiku-4-5", 1.0, 5.0, 0.10),
    other("openai", "gpt-6.1-sol", [2.0, 2.50, 0.10, 10.0]),
    other("openai", "gpt-6-sol", [2.0, 2.50, 0.20, 10.0]),
    other("openai", "gpt-6-luna", [0.10, 0.125, 0.01, 0.50]),
    other("openai", "gpt-5.5", [5.0, 5.0, 0.50, 30.0]),
    other("openai", "gpt-5.4", [2.50, 2.50, 0.25, 15.0]),
    other("openai", "computer-use-preview", [3.0, 3.0, 3.0, 12.0]),
    other("gemini", "gemini-3.6-flash", [1.50, 1.50, 0.15, 7.50]),
    other("gemini", "gemini-3.5-flash", [1.50, 1.50, 0.15, 9.0]),
    other("gemini", "gemini-3.1-pro-preview", [2.0, 2.0, 0.20, 12.0]),
    other("gemini", "gemini-3-flash-preview", [0.50, 0.50, 0.05, 3.0]),
    other(
        "gemini",
        "gemini-2.5-computer-use-preview-10-2025",
        [1.25, 1.25, 0.125, 10.0],
    ),
];

/// Creates an entry for a Claude model. Writing to Anthropic's cache costs a quarter more than uncached input.
const fn claude(name: &'static str, input: f64, output: f64, cache_read: f64) -> Known {
    other("anthropic", name, [input, input * 1.25, cache_read, output])
}

const fn other(vendor: &'static str, name: &'static str, price: [f64; 4]) -> Known {
    let [input, cache_write, cache_read, output] = price;
    let price = Price {
        input,
        cache_write,
        cache_read,
        output,
    };
    Known {
        vendor,
        name,
        price,
    }
}

/// Vendors that offer another vendor's models under their own names, with the prefix of those names.
const ELSEWHERE: [(&str, &str, &str); 2] = [
    ("bedrock", "anthropic", "anthropic."),
    ("vertex", "anthropic", ""),
];

/// Returns the names of a vendor's models, the best first.
pub(crate) fn names_of(vendor: &str) -> impl Iterator<Item = String> {
    let (maker, prefix) = maker(vendor);
    of(maker).map(move |known| format!("{prefix}{}", known.name))
}

/// Returns the price of a model. The name may end with a date or a version: `claude-opus-5-5-20260922`.
pub(crate) fn price(vendor: &str, name: &str) -> Option<Price> {
    let (maker, prefix) = maker(vendor);
    // At Amazon, a name may begin with the place that serves it: `global.anthropic.claude-opus-5-5`.
    let name = match name.find(prefix) {
        Some(start) if !prefix.is_empty() => &name[start + prefix.len()..],
        _ => name,
    };
    let is_it = |known: &&Known| {
        let rest = name.strip_prefix(known.name);
        rest.is_some_and(|rest| rest.is_empty() || is_edition(rest))
    };
    of(maker).find(is_it).map(|known| known.price)
}

fn of(maker: &str) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.vendor == maker)
}

/// Returns the maker of a vendor's models, and the prefix of their names there.
fn maker(vendor: &str) -> (&str, &'static str) {
    let elsewhere = ELSEWHERE.iter().find(|(name, ..)| *name == vendor);
    elsewhere.map_or((vendor, ""), |(_, maker, prefix)| (*maker, *prefix))
}

/// Returns true if this is the suffix that marks an edition of a model: a date, optionally followed by a version.
fn is_edition(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix(['-', '@']) else {
        return false;
    };
    let date = rest.split_once("-v").map_or(rest, |(date, _)| date);
    let is_date = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    date.bytes().all(is_date) && date.bytes().filter(u8::is_ascii_digit).count() == 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editions_of_a_model_cost_the_same_and_other_models_do_not() {
        let opus = price("anthropic", "claude-opus-5-5");
        assert_eq!(opus.map(|price| price.cache_write), Some(5.0));
        for (vendor, name) in [
            ("anthropic", "claude-opus-5-5-20260922"),
            ("bedrock", "anthropic.claude-opus-5-5"),
            ("bedrock", "global.anthropic.claude-opus-5-5-20260922-v1:0"),
            ("vertex", "claude-opus-5-5@20260922"),
        ] {
            assert_eq!(price(vendor, name), opus, "{vendor}/{name}");
        }
        let sol = price("openai", "gpt-6-sol");
        assert_eq!(price("openai", "gpt-6-sol-2026-09-22"), sol);
        assert_ne!(price("anthropic", "claude-opus-5"), opus);
        for (vendor, name) in [
            ("anthropic", "claude-opus-5-7"),
            ("openai", "claude-opus-5-5"),
            ("openai", "gpt-6-sol-mini"),
            ("ollama", "claude-opus-5-5"),
        ] {
            assert_eq!(price(vendor, name), None, "{vendor}/{name}");
        }
    }
}
