//! The models that are known by name, and the prices of those that are not.

use deskhand_core::model::{Price, PriceSource};
use jiff::Timestamp;

use crate::price_table::{KnownModel, PRICE_TABLE};

/// Vendors that offer another vendor's models under their own names, with the prefix of those names.
const ELSEWHERE: [(&str, &str, &str); 2] = [
    ("bedrock", "anthropic", "anthropic."),
    ("vertex", "anthropic", ""),
];

/// The families of models by a word in their names. A new model of a family rarely costs more than the dearest so far.
const FAMILIES: [(&str, &[&str]); 9] = [
    ("anthropic", &["opus"]),
    ("anthropic", &["sonnet"]),
    ("anthropic", &["haiku"]),
    ("anthropic", &["fable", "mythos"]),
    ("openai", &["sol"]),
    ("openai", &["luna"]),
    ("openai", &["astra"]),
    ("openai", &["terra"]),
    ("gemini", &["flash"]),
];

/// Words in the names of OpenAI's models that cost many times more than the others, or are of one's own making.
const NOT_GUESSED: [&str; 4] = ["pro", "research", "ft", "audio"];

/// Returns the names of a vendor's models, the best first.
pub(crate) fn names_of(vendor: &str) -> impl Iterator<Item = String> {
    let (maker, prefix) = maker(vendor);
    of(maker).map(move |known| format!("{prefix}{}", known.name))
}

/// Returns the price of a model in the table. The name may end with a date or a version: `claude-opus-5-5-20260922`.
pub(crate) fn price(vendor: &str, name: &str, now: Timestamp) -> Option<Price> {
    let (maker, name) = at_maker(vendor, name);
    let is_it = |known: &&KnownModel| {
        let rest = name.strip_prefix(known.name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || is_edition(rest))
    };
    of(maker).find(is_it).map(|known| known.price_at(now))
}

/// Returns the price of the dearest model of the same family, or of the same vendor if the family is unknown. Returns
/// `None` for vendors whose prices are unknown.
pub(crate) fn guess(vendor: &str, name: &str, now: Timestamp) -> Option<Price> {
    let (maker, name) = at_maker(vendor, name);
    let words = || name.split(|letter: char| !letter.is_ascii_alphanumeric());
    if maker == crate::openai::VENDOR && words().any(|word| NOT_GUESSED.contains(&word)) {
        return None;
    }
    let family = FAMILIES
        .iter()
        .find(|(vendor, family)| *vendor == maker && words().any(|word| family.contains(&word)));
    let is_relative = |known: &&KnownModel| {
        let mut words = known.name.split('-');
        family.is_none_or(|(_, family)| words.any(|word| family.contains(&word)))
    };
    let dearest = of(maker).filter(is_relative).reduce(|dearest, known| {
        if known.price.output > dearest.price.output {
            known
        } else {
            dearest
        }
    })?;
    Some(Price {
        source: PriceSource::Guessed {
            like: &dearest.name,
        },
        ..dearest.price_at(now)
    })
}

fn of(maker: &str) -> impl Iterator<Item = &'static KnownModel> {
    PRICE_TABLE
        .models
        .iter()
        .filter(move |known| known.vendor == maker)
}

/// Returns the maker of a vendor's models, and the prefix of their names there.
fn maker(vendor: &str) -> (&str, &'static str) {
    let elsewhere = ELSEWHERE.iter().find(|(name, ..)| *name == vendor);
    elsewhere.map_or((vendor, ""), |(_, maker, prefix)| (*maker, *prefix))
}

/// Returns the maker of a model and the model's name there.
fn at_maker<'a>(vendor: &'a str, name: &'a str) -> (&'a str, &'a str) {
    let (maker, prefix) = maker(vendor);
    // At Amazon, a name may begin with the place that serves it: `global.anthropic.claude-opus-5-5`.
    let name = match name.find(prefix) {
        Some(start) if !prefix.is_empty() => &name[start + prefix.len()..],
        _ => name,
    };
    (maker, name)
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
    use deskhand_core::model::Usage;

    use super::*;

    fn november() -> Timestamp {
        "2026-11-16T00:00:00Z".parse().unwrap()
    }

    #[test]
    fn editions_of_a_model_cost_the_same_and_other_models_do_not() {
        let price = |vendor: &str, name: &str| price(vendor, name, november());
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

    #[test]
    fn an_unknown_name_costs_as_much_as_the_dearest_of_its_family() {
        for (vendor, name, like) in [
            ("anthropic", "claude-opus-5-7", Some("claude-opus-5")),
            ("anthropic", "claude-mythos-5-2", Some("claude-fable-5-1")),
            ("anthropic", "claude-next", Some("claude-fable-5-1")),
            (
                "bedrock",
                "eu.anthropic.claude-haiku-6",
                Some("claude-haiku-4-5"),
            ),
            ("openai", "gpt-6.2-luna", Some("gpt-5.6-luna")),
            ("openai", "gpt-7", Some("gpt-6-astra")),
            ("openai", "gpt-5.5-pro", None),
            ("openai", "ft:gpt-6-luna:x", None),
            ("gemini", "gemini-4-flash", Some("gemini-3.5-flash")),
            ("openrouter", "openai/gpt-6-luna", None),
        ] {
            let guess = guess(vendor, name, november());
            let guessed = guess.map(|price| price.source);
            let expected = like.map(|like| PriceSource::Guessed { like });
            assert_eq!(guessed, expected, "{vendor}/{name}");
            let dearest = like.and_then(|like| super::price(maker(vendor).0, like, november()));
            let output = |price: Option<Price>| price.map(|price| price.output);
            assert_eq!(output(guess), output(dearest), "{vendor}/{name}");
        }
    }

    #[test]
    fn reduced_prices_end_and_long_prompts_cost_more() {
        let flash = |day: &str| {
            let at = format!("{day}T00:00:00Z").parse().unwrap();
            price("gemini", "gemini-3.8-flash", at).unwrap().output
        };
        assert_eq!([flash("2026-12-31"), flash("2027-01-01")], [3.75, 7.5]);
        let haiku = price("anthropic", "claude-haiku-5-5", november()).unwrap();
        let of = |input| {
            haiku.of(&Usage {
                input,
                ..Usage::default()
            })
        };
        assert!((of(100_000) - 0.01).abs() < 1e-9);
        assert!((of(200_000) - 0.1).abs() < 1e-9);
    }
}
