//! The model gateway: programs in sandboxes call models, and the calls are counted.
//!
//! A program may call while the agent is at work or a person has control: stopping the agent stops
//! the spending as well. A call that was begun is counted even if the program hangs up, so its answer
//! is read to the end.

mod call;
pub(crate) mod room;

use std::sync::Arc;

use deskhand_core::{
    budget::{Account, Accounts},
    gateway::{GatewayAnswer, GatewayRefusal, GatewayRefusalKind, GatewayRequest, ModelGateway},
    id::{SessionId, TurnId},
    tasks::Tasks,
};
use tokio::{
    sync::{OwnedSemaphorePermit, oneshot},
    task::spawn_blocking,
};
use tokio_util::sync::CancellationToken;

use self::{
    call::Call,
    room::{BodyRoom, HeldRoom},
};
use crate::{feed::log::Log, live::LiveSessions, money::spending::Spending};

/// The number of calls that one session may have in progress.
pub(crate) const MOST_CALLS: usize = 8;

/// The model gateway as programs in sandboxes use it. Clones share it.
#[derive(Debug, Clone)]
pub struct Gateway {
    live: LiveSessions,
    spending: Spending,
    log: Log,
    tasks: Tasks,
    vendors: Arc<dyn ModelGateway>,
    /// The memory for requests.
    room: BodyRoom,
}

/// Permission for one call.
#[derive(Debug)]
pub struct Admitted {
    session: SessionId,
    /// The turn in progress, if there is one.
    turn: Option<TurnId>,
    /// Fires when the call has to end.
    stop: CancellationToken,
    /// True if there is a budget in money, so that the price has to be known.
    counts_money: bool,
    /// The memory for the request, until it is sent.
    room: HeldRoom,
    _place: OwnedSemaphorePermit,
}

impl Admitted {
    /// Reserves memory for a request of `n_bytes`. What was reserved before counts.
    pub fn reserve(&mut self, n_bytes: usize) -> Result<(), GatewayRefusal> {
        self.room.grow(n_bytes)
    }
}

impl Gateway {
    pub(crate) fn new(
        live: LiveSessions,
        spending: Spending,
        log: Log,
        tasks: Tasks,
        vendors: Arc<dyn ModelGateway>,
    ) -> Self {
        Self {
            live,
            spending,
            log,
            tasks,
            vendors,
            room: BodyRoom::of_all(),
        }
    }

    /// Returns `true` if a vendor is behind this path and accepts this method.
    pub fn serves(&self, method: &str, path: &str) -> bool {
        self.vendors.serves(method, path)
    }

    /// Returns a refusal in the format of the vendor behind this path.
    pub fn refuse(&self, path: &str, refusal: &GatewayRefusal) -> GatewayAnswer {
        self.vendors.refuse(path, refusal)
    }

    /// Admits a call of a program of this session. Its request is read only after that.
    pub async fn admit(&self, session: SessionId) -> Result<Admitted, GatewayRefusal> {
        let idle = || {
            let problem = "this session is idle: programs can call models only while the agent works or a \
                           person has control";
            GatewayRefusal::new(GatewayRefusalKind::Idle, problem)
        };
        let live = self.live.get(session).ok_or_else(idle)?;
        let (turn, stop) = match live.at_work() {
            Some((turn, stop)) => (Some(turn), stop),
            None if live.desk.is_held() => (None, live.ending()),
            None => return Err(idle()),
        };
        let place = Arc::clone(&live.gateway_calls)
            .try_acquire_owned()
            .map_err(|_full| {
                let problem =
                    format!("this session already has {MOST_CALLS} model calls in progress: wait until one ends");
                GatewayRefusal::new(GatewayRefusalKind::Busy, problem)
            })?;
        let accounts = self.may_spend(session).await?;
        let counts_money =
            accounts.session.budget.usd.is_some() || accounts.day.budget.usd.is_some();
        Ok(Admitted {
            session,
            counts_money,
            turn,
            stop,
            room: HeldRoom::new(self.room.clone(), live.gateway_room.clone()),
            _place: place,
        })
    }

    /// Forwards a request. The body of the answer is passed on as it arrives.
    pub async fn ask(
        &self,
        admitted: Admitted,
        request: GatewayRequest,
    ) -> Result<GatewayAnswer, GatewayRefusal> {
        let vendors = Arc::clone(&self.vendors);
        // A request may be long, and parsing it in one go would keep others waiting.
        let asked = spawn_blocking(move || vendors.read(request)).await;
        let asked = asked.map_err(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "could not parse a request to the model gateway"
            );
            GatewayRefusal::new(GatewayRefusalKind::Server, "could not parse the request")
        })??;
        if admitted.counts_money && asked.has_unknown_price() && !asked.is_free() {
            let problem = format!(
                "the price of {} is not known, so it cannot be used with a budget in US dollars: choose another \
                 model, or have an administrator set its price under models.prices",
                asked.model()
            );
            return Err(GatewayRefusal::new(GatewayRefusalKind::Request, problem));
        }
        let (begun, beginning) = oneshot::channel();
        let call = Call {
            log: self.log.clone(),
            shutdown: self.tasks.shutdown().clone(),
            admitted,
            asked,
        };
        // This runs as its own task, since the call continues even if the program hangs up.
        self.tasks.spawn("gateway call", call.carry_out(begun));
        beginning.await.unwrap_or_else(|_ended| {
            Err(GatewayRefusal::new(
                GatewayRefusalKind::Server,
                "the call did not finish",
            ))
        })
    }

    /// Returns the accounts of a session and its owner, unless one is used up.
    async fn may_spend(&self, session: SessionId) -> Result<Accounts, GatewayRefusal> {
        let accounts = self.spending.accounts(session).await;
        let (_, accounts) = accounts.map_err(|error| {
            tracing::error!(session.id = %session, error = &error as &dyn std::error::Error, "could not read \
                                                                                              the budget of a \
                                                                                              session");
            GatewayRefusal::new(GatewayRefusalKind::Server, "could not read the budget of this session")
        })?;
        for (account, whose) in [
            (&accounts.session, "of this session"),
            (&accounts.day, "of its owner for today"),
        ] {
            if is_used_up(account) {
                let problem = format!("the budget {whose} is used up: ask for more");
                return Err(GatewayRefusal::new(GatewayRefusalKind::Budget, problem));
            }
        }
        Ok(accounts)
    }
}

/// Returns `true` if there is no room for even the smallest call.
fn is_used_up(account: &Account) -> bool {
    let Account { used, .. } = account;
    account.usd_limit().is_some_and(|limit| used.usd >= limit)
        || account
            .tokens_limit()
            .is_some_and(|limit| used.tokens >= limit)
}
