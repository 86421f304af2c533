//! The models that are known by name, with their prices.
//!
//! Prices are in US dollars per million tokens, of the day in [`PRICES_OF`]. `docs/guide/models.md` lists the ones that
//! still have to be checked.

use deskhand_core::model::{LongPrompts, Price, PriceSource};
use jiff::Timestamp;

/// The day of the prices.
pub(crate) const PRICES_OF: &str = "2026-11-16";

/// A model that is known by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) vendor: &'static str,
    /// The part after the slash.
    pub(crate) name: &'static str,
    pub(crate) price: Price,
    /// The end of a reduced price, in seconds since 1970. From then on everything costs twice as much.
    reduced_until: Option<i64>,
}

/// The end of Google's reduced prices: 1 January 2027.
const NEW_YEAR: i64 = 1_798_761_600;

/// The surcharge of Haiku 5.5.
const LONG_HAIKU: LongPrompts = LongPrompts {
    over_tokens: 100_000,
    input_factor: 5.0,
    output_factor: 5.0,
};

/// The surcharge of GPT-6.
const LONG_GPT_6: LongPrompts = LongPrompts {
    over_tokens: 272_000,
    input_factor: 2.0,
    output_factor: 1.5,
};

/// All known models, the best of each vendor first.
pub(crate) const KNOWN: &[Known] = &[
    claude("claude-opus-5-5", 4.0, 20.0, 0.20),
    claude("claude-sonnet-5-5", 2.0, 10.0, 0.20),
    claude("claude-haiku-5-5", 0.10, 0.50, 0.01).with_surcharge(LONG_HAIKU),
    claude("claude-fable-5-2", 8.0, 40.0, 0.20),
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
    gpt_6("gpt-6.1-sol", [2.0, 2.50, 0.10, 10.0]),
    gpt_6("gpt-6.1-terra", [1.0, 1.25, 0.05, 5.0]),
    gpt_6("gpt-6-astra", [10.0, 12.50, 1.0, 50.0]),
    gpt_6("gpt-6-sol", [2.0, 2.50, 0.20, 10.0]),
    gpt_6("gpt-6-luna", [0.10, 0.125, 0.01, 0.50]),
    other("openai", "gpt-5.5", [5.0, 5.0, 0.50, 30.0]),
    other("openai", "gpt-5.4", [2.50, 2.50, 0.25, 15.0]),
    other("openai", "computer-use-preview", [3.0, 3.0, 3.0, 12.0]),
    other("gemini", "gemini-3.8-flash", [0.75, 0.75, 0.075, 3.75]).reduced_until(NEW_YEAR),
    other("gemini", "gemini-3.7-flash", [0.75, 0.75, 0.075, 3.75]).reduced_until(NEW_YEAR),
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

const fn gpt_6(name: &'static str, price: [f64; 4]) -> Known {
    other("openai", name, price).with_surcharge(LONG_GPT_6)
}

const fn other(vendor: &'static str, name: &'static str, price: [f64; 4]) -> Known {
    let [input, cache_write, cache_read, output] = price;
    let price = Price {
        input,
        cache_write,
        cache_read,
        output,
        long: None,
        source: PriceSource::Listed,
    };
    Known {
        vendor,
        name,
        price,
        reduced_until: None,
    }
}

impl Known {
    const fn with_surcharge(mut self, long: LongPrompts) -> Self {
        self.price.long = Some(long);
        self
    }

    const fn reduced_until(mut self, end: i64) -> Self {
        self.reduced_until = Some(end);
        self
    }

    /// Returns the price at this time.
    fn price_at(&self, now: Timestamp) -> Price {
        let is_over = |end: i64| now.as_second() >= end;
        let factor = if self.reduced_until.is_some_and(is_over) {
            2.0
        } else {
            1.0
        };
        Price {
            input: self.price.input * factor,
            cache_write: self.price.cache_write * factor,
            cache_read: self.price.cache_read * factor,
            output: self.price.output * factor,
            ..self.price
        }
    }
}

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
    let is_it = |known: &&Known| {
        let rest = name.strip_prefix(known.name);
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
    let is_relative = |known: &&Known| {
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
        source: PriceSource::Guessed { like: dearest.name },
        ..dearest.price_at(now)
    })
}

fn of(maker: &str) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.vendor == maker)
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
            ("openai", "gpt-6.2-luna", Some("gpt-6-luna")),
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
