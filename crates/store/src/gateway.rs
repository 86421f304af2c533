//! Use of models by programs in a session's sandbox.

use deskhand_core::{
    budget::Amount,
    event::{EventBody, GatewayUse},
};

use crate::{
    answers::NoSuchSession,
    budgets::use_up,
    commit::{Change, HeldSession, Hold},
    database::StoreError,
};

/// Counts a program's call of a model for the session and its owner.
#[derive(Debug)]
pub struct CountGatewayUse {
    pub used: GatewayUse,
}

impl CountGatewayUse {
    fn amount(&self) -> Amount {
        Amount {
            usd: self.used.usd,
            tokens: self.used.usage.tokens(),
        }
    }
}

impl Change for CountGatewayUse {
    type Output = ();
    type Refusal = NoSuchSession;

    fn hold(&self) -> Hold {
        Hold::Count {
            n_events: 1,
            used: self.amount(),
        }
    }

    fn no_session(&self) -> NoSuchSession {
        NoSuchSession
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<(), NoSuchSession>, StoreError> {
        use_up(session, self.amount()).await?;
        session.tell(&EventBody::Gateway(self.used)).await?;
        Ok(Ok(()))
    }
}
