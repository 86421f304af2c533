//! Events of decisions.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type},
};

use crate::{
    decision::{Ask, DecisionState, Reply, SettledState},
    id::{DecisionId, TurnId, UserId},
};

/// A person is asked something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionRaised {
    pub turn: TurnId,
    pub decision: DecisionId,
    #[serde(flatten)]
    pub ask: Ask,
}

/// The schema lists the fields of [`Ask`] beside its own, as the JSON does. A derived one would refer to a second schema.
impl PartialSchema for DecisionRaised {
    fn schema() -> RefOr<Schema> {
        let id = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
            .build();
        let mut schema = Ask::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.description = Some("A person is asked something.".to_owned());
            for field in ["turn", "decision"] {
                object
                    .properties
                    .insert(field.to_owned(), id.clone().into());
                object.required.push(field.to_owned());
            }
        }
        schema
    }
}

impl ToSchema for DecisionRaised {
    fn name() -> Cow<'static, str> {
        "DecisionData".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Ask::schemas(schemas);
    }
}

/// A decision is settled. It can no longer be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AnswerData)]
pub struct DecisionSettled {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    #[schema(value_type = Uuid)]
    pub decision: DecisionId,
    /// Never `open`.
    #[schema(value_type = SettledState)]
    pub state: DecisionState,
    /// The answer that counts, which is the default after an expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub answer: Option<Reply>,
    /// The person who answered, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub by: Option<UserId>,
}
