//! The report of a model check: a finding for each point, with a remedy where something is wrong.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The report about one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelReport {
    /// One finding for each point, in the order of the check.
    pub findings: Vec<Finding>,
    /// The number of calls of the model.
    pub n_calls: u32,
    /// The cost of the check in US dollars. Null if the model has no known price.
    #[schema(required)]
    pub cost_usd: Option<f64>,
}

impl ModelReport {
    /// Returns true if nothing failed.
    pub fn is_good(&self) -> bool {
        let failed = |finding: &Finding| finding.verdict == CheckVerdict::Failed;
        !self.findings.iter().any(failed)
    }
}

/// The finding about one point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    pub point: CheckedPoint,
    pub verdict: CheckVerdict,
    /// A sentence for people.
    pub text: String,
    /// The way out, if something is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub remedy: Option<String>,
}

/// A point that a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckedPoint {
    /// The vendor can be reached and accepts the key and the model's name.
    Answer,
    /// The vendor accepts a picture of this size.
    Picture,
    /// The model calls the computer.
    Tools,
    /// The model clicks where it was told to.
    Click,
    /// The vendor accepts its own first answer in the second call, with signatures.
    SecondStep,
    /// The second call reads the beginning from the vendor's cache.
    Cache,
    /// The price is known.
    Price,
}

impl CheckedPoint {
    /// Returns the name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Picture => "picture",
            Self::Tools => "tools",
            Self::Click => "click",
            Self::SecondStep => "second step",
            Self::Cache => "cache",
            Self::Price => "price",
        }
    }
}

/// The outcome of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    Passed,
    /// It works, and may cost more than it should.
    Warned,
    Failed,
    /// It could not be checked, because something before it failed.
    Skipped,
}
