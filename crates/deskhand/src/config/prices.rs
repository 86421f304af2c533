//! `[models.prices]`: prices by the name of a model.

use std::collections::BTreeMap;

use deskhand_core::model::{Price, PriceSource};

use super::{layers::OPEN, reader::Reader};

/// The highest price of a million tokens, in US dollars.
const HIGHEST: f64 = 10_000.0;

/// The fields of a price, as they are given.
struct GivenPrice {
    /// The key of its first field, for mistakes.
    key: String,
    input: Option<f64>,
    cache_write: Option<f64>,
    cache_read: Option<f64>,
    output: Option<f64>,
}

impl GivenPrice {
    fn at(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            input: None,
            cache_write: None,
            cache_read: None,
            output: None,
        }
    }
}

/// Reads the prices of the file. A price without those of a cache counts everything that is read as input.
pub(super) fn prices(reader: &mut Reader<'_>) -> BTreeMap<String, Price> {
    let mut given = BTreeMap::<String, GivenPrice>::new();
    for (key, number) in reader.open_numbers() {
        let whole = format!("{OPEN}{key}");
        let Some((model, field)) = key.rsplit_once('.') else {
            reader.mistake(&whole, "must be a table with input and output");
            continue;
        };
        let price = given
            .entry(model.to_owned())
            .or_insert_with(|| GivenPrice::at(&whole));
        let place = match field {
            "input" => &mut price.input,
            "cache_write" => &mut price.cache_write,
            "cache_read" => &mut price.cache_read,
            "output" => &mut price.output,
            _ => {
                let fields = "a price has input, output, cache_write and cache_read";
                reader.mistake(&whole, fields);
                continue;
            }
        };
        *place = Some(number);
        if !(0.0..=HIGHEST).contains(&number) {
            let problem = format!("must be from 0 to {HIGHEST}, not {number}");
            reader.mistake(&whole, &problem);
        }
    }
    let mut prices = BTreeMap::new();
    for (model, price) in given {
        let is_name = model
            .split_once('/')
            .is_some_and(|(vendor, name)| !vendor.is_empty() && !name.is_empty());
        match (price.input, price.output) {
            _ if !is_name => reader.mistake(
                &price.key,
                "must be below the name of a model, as vendor/name in quotes",
            ),
            (Some(input), Some(output)) => {
                let price = Price {
                    input,
                    cache_write: price.cache_write.unwrap_or(input),
                    cache_read: price.cache_read.unwrap_or(input),
                    output,
                    long: None,
                    source: PriceSource::Set,
                };
                prices.insert(model, price);
            }
            _ => reader.mistake(
                &price.key,
                "a price needs input and output, in US dollars for a million tokens",
            ),
        }
    }
    prices
}
