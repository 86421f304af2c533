//! The findings of a check, in plain words, with the way out.

use deskhand_core::{
    action::{Point, ScreenSize},
    model::{Model, ModelError, PriceSource, ToolCall, Usage},
    model_check::{CheckVerdict, CheckedPoint, Finding},
};

use super::{
    card::{SCREEN, TARGET},
    is_hit,
};

fn finding(point: CheckedPoint, verdict: CheckVerdict, text: String, remedy: &str) -> Finding {
    Finding {
        point,
        verdict,
        text,
        remedy: Some(remedy.to_owned()).filter(|remedy| !remedy.is_empty()),
    }
}

/// Returns the finding for a point that was not reached.
pub(super) fn skipped(point: CheckedPoint) -> Finding {
    let text = "It was not checked.".to_owned();
    finding(point, CheckVerdict::Skipped, text, "")
}

/// Returns the finding about an error before the first answer.
pub(super) fn of_first(error: &ModelError, shown: ScreenSize) -> Finding {
    let told = error.to_string();
    let lower = told.to_ascii_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let failed = |point, remedy: &str| finding(point, CheckVerdict::Failed, told.clone(), remedy);
    match error {
        ModelError::Unavailable { .. } if names(&["could not be reached", "request failed"]) => {
            failed(
                CheckedPoint::Answer,
                "Check the network of the server, its proxy, and the vendor's `base_url` in the configuration.",
            )
        }
        ModelError::Unavailable { .. } => failed(
            CheckedPoint::Answer,
            "The vendor is overloaded or limits the account. Try again later.",
        ),
        ModelError::Refused(_) => failed(
            CheckedPoint::Answer,
            "The model refuses a harmless test. Choose another model.",
        ),
        ModelError::Rejected(_) if names(&["is the key right?", "api key"]) => failed(
            CheckedPoint::Answer,
            "Set the vendor's key anew, in its environment variable or as `api_key` in the configuration, and start \
             the server again.",
        ),
        ModelError::Rejected(_) if names(&["is the model's name right?"]) => failed(
            CheckedPoint::Answer,
            "Compare the name with the vendor's list of models, and ask the vendor if the account may use it. \
             `deskhand models` lists the names that are known here.",
        ),
        ModelError::Rejected(_) if names(&["image", "picture", "pixel", "dimension"]) => finding(
            CheckedPoint::Picture,
            CheckVerdict::Failed,
            format!("The vendor refused a picture of {shown}: {told}"),
            "Choose a model that is made for pictures. If it is, give sessions a smaller screen.",
        ),
        ModelError::TooLong(_) => failed(
            CheckedPoint::Answer,
            "The window of the model is too small for this work. Give it a longer one at the server that runs it, or \
             choose another model.",
        ),
        ModelError::Rejected(_) if names(&["tool", "function"]) => failed(
            CheckedPoint::Tools,
            "Choose a model that can call functions, or switch that on at the server that runs it.",
        ),
        ModelError::Rejected(_) => failed(
            CheckedPoint::Answer,
            "The vendor refuses the request. If the model is new, a newer version of Deskhand may know it.",
        ),
    }
}

/// Returns the finding about an error after the first answer.
pub(super) fn of_second(error: &ModelError) -> Finding {
    let remedy = match error {
        ModelError::Unavailable { .. } => "The vendor broke off. Try again later.",
        ModelError::TooLong(_) => {
            "Give the model a longer window at the server that runs it, or choose another model."
        }
        ModelError::Rejected(_) | ModelError::Refused(_) => {
            "The vendor refuses its own earlier answer. A proxy between may change answers or leave out signatures: \
             ask the vendor directly, or choose another model."
        }
    };
    finding(
        CheckedPoint::SecondStep,
        CheckVerdict::Failed,
        error.to_string(),
        remedy,
    )
}

/// Returns the finding about a model that did not click.
pub(super) fn no_click(text: &str, calls: &[ToolCall]) -> Finding {
    if let Some(problem) = calls.iter().find_map(|call| call.problem.as_deref()) {
        return finding(
            CheckedPoint::Click,
            CheckVerdict::Failed,
            format!("The model called the computer in a way that makes no sense: {problem}."),
            "Choose a model that is made for computer use.",
        );
    }
    let said: String = text.trim().chars().take(120).collect();
    finding(
        CheckedPoint::Tools,
        CheckVerdict::Failed,
        format!("The model did not use the computer. It said “{said}”."),
        "Choose a model that can call functions and see pictures, or switch both on at the server that runs it. A \
         server with a short context (Ollama: `OLLAMA_CONTEXT_LENGTH`) cuts the tools off.",
    )
}

/// Returns the finding about a click.
pub(super) fn of_click(at: Point, name: &str) -> Finding {
    if is_hit(at) {
        let text = "The model clicked on the disc.".to_owned();
        return finding(CheckedPoint::Click, CheckVerdict::Passed, text, "");
    }
    let text = format!(
        "The model clicked at ({}, {}). The disc is at ({}, {}).",
        at.x, at.y, TARGET.x, TARGET.y
    );
    let vendor = name.split('/').next().unwrap_or_default();
    let scaled = |at: i32, times: u16, by: u16| at * i32::from(times) / i32::from(by);
    let as_thousandths = Point {
        x: scaled(at.x, SCREEN.width, 1000),
        y: scaled(at.y, SCREEN.height, 1000),
    };
    let as_pixels = Point {
        x: scaled(at.x, 1000, SCREEN.width),
        y: scaled(at.y, 1000, SCREEN.height),
    };
    let remedy = if is_hit(as_thousandths) {
        format!(
            "The model points in thousandths of the picture: set `coordinates = \"thousandths\"` in \
             `[models.{vendor}]`."
        )
    } else if is_hit(as_pixels) {
        format!(
            "The model points in pixels: set `coordinates = \"pixels\"` in `[models.{vendor}]`."
        )
    } else {
        "Choose a model that is made for computer use.".to_owned()
    };
    finding(CheckedPoint::Click, CheckVerdict::Failed, text, &remedy)
}

/// Returns the finding about the cache, from the usage of the second call.
pub(super) fn of_cache(second: Usage) -> Finding {
    let (read, prompt) = (second.cache_read, second.prompt());
    if read > 0 {
        let text =
            format!("The second call read {read} of {prompt} tokens from the vendor's cache.");
        return finding(CheckedPoint::Cache, CheckVerdict::Passed, text, "");
    }
    finding(
        CheckedPoint::Cache,
        CheckVerdict::Warned,
        format!("The second call read none of its {prompt} tokens from the vendor's cache."),
        "Check again: a cache may need a moment. If it stays so, a proxy between may remove cache marks, or the vendor \
         has no cache for this model; long sessions then cost several times more.",
    )
}

/// Returns the finding about the price.
pub(super) fn of_price(name: &str, model: &dyn Model) -> Finding {
    let (verdict, text, remedy) = match model.price() {
        Some(price) => match price.source {
            PriceSource::Listed | PriceSource::Set => (
                CheckVerdict::Passed,
                format!(
                    "A million tokens cost ${} to read and ${} to write.",
                    price.input, price.output
                ),
                String::new(),
            ),
            PriceSource::Guessed { like } => (
                CheckVerdict::Warned,
                format!("The price is guessed: that of {like}."),
                set_price(name),
            ),
        },
        None if model.has_unknown_price() => (
            CheckVerdict::Failed,
            "The price is unknown, so no budget in money can hold.".to_owned(),
            set_price(name),
        ),
        None => (
            CheckVerdict::Passed,
            "The model costs nothing.".to_owned(),
            String::new(),
        ),
    };
    finding(CheckedPoint::Price, verdict, text, &remedy)
}

fn set_price(name: &str) -> String {
    format!("Set it in `[models.prices]`: `\"{name}\" = {{ input = …, output = … }}`.")
}
