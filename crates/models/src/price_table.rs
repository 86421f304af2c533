//! The table of published prices, read from `prices.toml`.

use std::{collections::BTreeMap, sync::LazyLock};

use deskhand_core::model::{LongPrompts, Price, PriceSource};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::Deserialize;

/// All known models, and the day of their prices.
#[derive(Debug, Default)]
pub(crate) struct PriceTable {
    /// As `2026-11-18`.
    pub(crate) day: String,
    /// The default of each vendor first.
    pub(crate) models: Vec<KnownModel>,
}

/// A model that is known by name.
#[derive(Debug)]
pub(crate) struct KnownModel {
    pub(crate) vendor: String,
    /// The part after the slash.
    pub(crate) name: String,
    pub(crate) price: Price,
    /// The end of a reduced price. From then on everything costs twice as much.
    reduced_until: Option<Timestamp>,
}

/// The table that comes with this program. A test reads it, so it is never empty.
pub(crate) static PRICE_TABLE: LazyLock<PriceTable> =
    LazyLock::new(|| PriceTable::read(include_str!("prices.toml")).unwrap_or_default());

impl PriceTable {
    fn read(text: &str) -> Result<Self, BadPriceTable> {
        let file: PriceTableFile = toml::from_str(text)?;
        let bad = |problem: String| BadPriceTable::Meaning(problem);
        let day: Result<Date, _> = file.day.parse();
        day.map_err(|error| bad(format!("day: {error}")))?;
        let mut models = Vec::new();
        for (vendor, rows) in file.vendors {
            for row in rows {
                let long = match &row.long {
                    Some(name) => Some(*file.surcharges.get(name).ok_or_else(|| {
                        bad(format!("{}: there is no surcharge {name:?}", row.name))
                    })?),
                    None => None,
                };
                models.push(row.known(&vendor, long)?);
            }
        }
        Ok(Self {
            day: file.day,
            models,
        })
    }
}

impl KnownModel {
    /// Returns the price at this time.
    pub(crate) fn price_at(&self, now: Timestamp) -> Price {
        let factor = match self.reduced_until {
            Some(end) if now >= end => 2.0,
            _ => 1.0,
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

/// An error in the table.
#[derive(Debug, thiserror::Error)]
enum BadPriceTable {
    #[error(transparent)]
    Form(#[from] toml::de::Error),
    #[error("{0}")]
    Meaning(String),
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceTableFile {
    day: String,
    surcharges: BTreeMap<String, Surcharge>,
    vendors: BTreeMap<String, Vec<PriceRow>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Surcharge {
    over_tokens: u64,
    input_factor: f64,
    output_factor: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceRow {
    name: String,
    input: f64,
    cache_write: f64,
    cache_read: f64,
    output: f64,
    long: Option<String>,
    reduced_until: Option<String>,
}

impl PriceRow {
    fn known(self, vendor: &str, long: Option<Surcharge>) -> Result<KnownModel, BadPriceTable> {
        let bad = |problem: String| BadPriceTable::Meaning(format!("{}: {problem}", self.name));
        let prices = [self.input, self.cache_write, self.cache_read, self.output];
        if !prices.iter().all(|price| price.is_finite() && *price > 0.0) {
            return Err(bad("a price is more than zero".to_owned()));
        }
        if self.cache_read > self.input || self.cache_write < self.input {
            return Err(bad(
                "a cache is written for at least the price of input, and read for at most that"
                    .to_owned(),
            ));
        }
        let midnight = |day: &str| {
            let date: Date = day.parse()?;
            Ok::<_, jiff::Error>(date.to_zoned(TimeZone::UTC)?.timestamp())
        };
        let reduced_until = self.reduced_until.as_deref().map(midnight).transpose();
        Ok(KnownModel {
            vendor: vendor.to_owned(),
            reduced_until: reduced_until.map_err(|error| bad(error.to_string()))?,
            price: Price {
                input: self.input,
                cache_write: self.cache_write,
                cache_read: self.cache_read,
                output: self.output,
                long: long.map(|long| LongPrompts {
                    over_tokens: long.over_tokens,
                    input_factor: long.input_factor,
                    output_factor: long.output_factor,
                }),
                source: PriceSource::Listed,
            },
            name: self.name,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_that_comes_with_the_program_can_be_read() {
        let table = PriceTable::read(include_str!("prices.toml")).unwrap();
        let names: BTreeSet<_> = table
            .models
            .iter()
            .map(|model| (&model.vendor, &model.name))
            .collect();
        assert_eq!(names.len(), table.models.len(), "a model is listed twice");
        for vendor in ["anthropic", "openai", "gemini"] {
            assert!(names.iter().any(|(of, _)| *of == vendor), "{vendor}");
        }
        // Writing to Anthropic's cache costs a quarter more than input.
        for model in table
            .models
            .iter()
            .filter(|model| model.vendor == "anthropic")
        {
            let Price {
                input, cache_write, ..
            } = model.price;
            assert!((cache_write - input * 1.25).abs() < 1e-9, "{}", model.name);
        }
    }

    #[test]
    fn mistakes_in_the_table_are_named() {
        let told = |row: &str| {
            let head = "day = \"2026-11-18\"\n[surcharges]\n[vendors]\n";
            let error = PriceTable::read(&format!("{head}acme = [{{ name = \"a\", {row} }}]"));
            error.unwrap_err().to_string()
        };
        let good = "input = 1.0, cache_write = 1.0, cache_read = 0.5, output = 2.0";
        insta::assert_snapshot!(told(&format!("{good}, long = \"x\"")), @r#"a: there is no surcharge "x""#);
        insta::assert_snapshot!(told(&good.replace("2.0", "0.0")), @"a: a price is more than zero");
        insta::assert_snapshot!(told(&good.replace("0.5", "1.5")), @"a: a cache is written for at least the price of input, and read for at most that");
        assert!(told(&format!("{good}, reduced_until = \"soon\"")).starts_with("a: "));
        assert!(told(&format!("{good}, lnog = \"x\"")).contains("lnog"));
    }
}
