//! Appends to the log, and stores the model's answers in their vendor's own form.

use deskhand_core::{
    budget::Amount,
    event::{Cost, EventBody},
    id::{SessionId, TurnId},
    model::Original,
};

use crate::{
    budgets::use_up,
    commit::{Change, HeldSession, Hold},
    database::{Row, Store, StoreError, count, from_json},
};

/// A stored answer: its turn, its step in the turn, and the vendor's own form of it.
pub type KeptAnswer = (TurnId, u32, Original);

/// Appends events that change only the log and the usage of the session.
#[derive(Debug)]
pub struct AppendEvents<'a> {
    pub bodies: &'a [EventBody],
    /// The vendor's own form of the answer in these events. It is stored with the last `cost` among them.
    pub original: Option<&'a Original>,
}

/// The refusal if there is no such session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchSession;

impl<'a> AppendEvents<'a> {
    /// Appends events that are not an answer of a model.
    pub fn new(bodies: &'a [EventBody]) -> Self {
        Self {
            bodies,
            original: None,
        }
    }

    fn cost(&self) -> Option<&'a Cost> {
        let costs = self.bodies.iter().rev();
        costs
            .filter_map(|body| {
                if let EventBody::Cost(cost) = body {
                    Some(cost)
                } else {
                    None
                }
            })
            .next()
    }
}

impl Change for AppendEvents<'_> {
    /// The number of the last event.
    type Output = u64;
    type Refusal = NoSuchSession;

    fn hold(&self) -> Hold {
        Hold::Count {
            n_events: self.bodies.len(),
            used: self.cost().map(amount).unwrap_or_default(),
        }
    }

    fn no_session(&self) -> NoSuchSession {
        NoSuchSession
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<u64, NoSuchSession>, StoreError> {
        if let Some(cost) = self.cost() {
            use_up(session, amount(cost)).await?;
            if let Some(original) = self.original {
                keep(session, cost, original).await?;
            }
        }
        for body in self.bodies {
            session.tell(body).await?;
        }
        Ok(Ok(session.last_seq()))
    }
}

impl Store {
    /// Returns all answers of a session in their vendor's own form.
    pub async fn answers(&self, session: SessionId) -> Result<Vec<KeptAnswer>, StoreError> {
        let sql = "SELECT turn_id, step, vendor, data FROM answers WHERE session_id = $1";
        let rows = self.all(sql, [session.0.into()]).await?;
        rows.iter().map(answer).collect()
    }
}

fn amount(cost: &Cost) -> Amount {
    Amount {
        usd: cost.usd,
        tokens: cost.usage.tokens(),
    }
}

async fn keep(
    session: &mut HeldSession,
    cost: &Cost,
    original: &Original,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO answers (session_id, turn_id, step, vendor, data) \
               VALUES ($1, $2, $3, $4, $5)";
    let values = [
        session.id.0.into(),
        cost.turn.0.into(),
        i64::from(cost.step).into(),
        original.vendor.as_str().into(),
        original.data.to_string().into(),
    ];
    session.tx.execute(sql, values).await?;
    Ok(())
}

fn answer(row: &Row) -> Result<KeptAnswer, StoreError> {
    let original = Original {
        vendor: row.get("vendor")?,
        data: from_json(row.get("data")?)?,
    };
    let step = count(row.get("step")?)?;
    let step = u32::try_from(step).map_err(|error| StoreError::Unreadable(error.to_string()))?;
    Ok((TurnId(row.get("turn_id")?), step, original))
}
