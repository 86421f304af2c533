//! Bounds of a turn: before each model call the turn checks if the call would pass a bound, and then asks people.
//!
//! The app keeps the bounds on money and tokens, with the amounts that people granted. The bounds of the turn itself
//! are read from its log. So a resumed turn neither forgets a yes nor asks twice.

use std::{
    cell::{RefCell, RefMut},
    collections::{HashMap, HashSet},
    sync::Arc,
};

use deskhand_core::{
    blob::BlobName,
    budget::{Amount, Bound, Over},
    decision::{Ask, DecisionKind, DecisionState, Form, Reply},
    event::{EventBody, Notice},
    id::DecisionId,
    model::PriceSource,
};
use tokio::time::Instant;

use crate::{
    cut::Cut,
    estimate::estimate,
    gauge::Gauge,
    loops::{Repeats, repeats},
    people::Raised,
    ports::{Budgets, Settled},
    work::Work,
};

/// The number of repetitions after which the model is warned.
const WARN_MODEL_AFTER: f64 = 3.0;
/// The number of repetitions after which a person is asked.
const ASK_PERSON_AFTER: f64 = 5.0;

/// The bounds of a turn.
#[derive(Debug)]
pub(crate) struct Bounds {
    budgets: Arc<dyn Budgets>,
    /// The amounts that people added for this turn.
    granted: HashMap<Bound, f64>,
    /// The questions about models without a price that people said yes to in this turn. Each names its model.
    allowed: HashSet<String>,
    /// The question from before the interruption, while it is open.
    open: Option<(DecisionId, Asked)>,
    /// The bound that a person declined to raise before the interruption.
    refused: Option<Bound>,
}

/// A question about a bound.
#[derive(Debug, Clone)]
struct Asked {
    over: Over,
    prompt: String,
}

impl Bounds {
    pub(crate) fn new(budgets: Arc<dyn Budgets>, raised: &[Raised]) -> Self {
        let mut bounds = Self {
            budgets,
            granted: HashMap::new(),
            allowed: HashSet::new(),
            open: None,
            refused: None,
        };
        for one in raised {
            let Some(over) = one.ask.over else { continue };
            let asked = Asked {
                over,
                prompt: one.ask.prompt.clone(),
            };
            match (one.state, &one.reply) {
                (DecisionState::Open, _) => bounds.open = Some((one.decision, asked)),
                (_, Some(reply)) if reply.is_yes() => bounds.grant(asked),
                (_, Some(reply)) if reply.is_no() => bounds.refused = Some(over.bound),
                // The question was withdrawn.
                (_, _) => {}
            }
        }
        bounds
    }

    fn grant(&mut self, asked: Asked) {
        let Over { bound, more, .. } = asked.over;
        *self.granted.entry(bound).or_default() += more;
        if bound == Bound::Unpriced {
            self.allowed.insert(asked.prompt);
        }
    }

    fn granted(&self, bound: Bound) -> f64 {
        self.granted.get(&bound).copied().unwrap_or_default()
    }
}

impl Work {
    /// Asks people if the next step after `n_done` would pass a bound. Returns true if they were asked: the turn must
    /// then check what has happened in the meantime before it takes the step.
    pub(crate) async fn stay_within_bounds(&mut self, n_done: u32) -> Result<bool, Cut> {
        if let Some(bound) = self.bounds.refused {
            return Err(Cut::Enough(Some(bound)));
        }
        let gauges = self.gauges(n_done).await?;
        let over = gauges.iter().find(|gauge| gauge.is_over);
        let before = self.bounds.open.take();
        match (over, before) {
            (None, None) => {
                self.warn(&gauges).await?;
                return Ok(false);
            }
            // No one has been asked about this bound yet.
            (Some(gauge), None) => {
                let asked = Asked {
                    over: gauge.over,
                    prompt: gauge.question(&self.model.name),
                };
                let decision = self.ask_for_more(&asked).await?;
                let settled = self.until_room(decision, asked.over.bound, n_done).await?;
                self.heed(asked, &settled)?;
            }
            // The question from before the interruption still applies.
            (Some(gauge), Some((decision, asked))) if gauge.over.bound == asked.over.bound => {
                let settled = self.until_room(decision, asked.over.bound, n_done).await?;
                self.heed(asked, &settled)?;
            }
            // The question from before the interruption no longer applies.
            (_, Some((decision, asked))) => {
                let settled = self.no_longer_asked(decision).await?;
                self.heed(asked, &settled)?;
            }
        }
        Ok(true)
    }

    /// Applies the answer of people about a bound.
    fn heed(&mut self, asked: Asked, settled: &Settled) -> Result<(), Cut> {
        match &settled.reply {
            Some(reply) if reply.is_yes() => self.bounds.grant(asked),
            Some(reply) if reply.is_no() => return Err(Cut::Enough(Some(asked.over.bound))),
            // There is room without a yes.
            Some(_) | None => {}
        }
        Ok(())
    }

    async fn ask_for_more(&mut self, asked: &Asked) -> Result<DecisionId, Cut> {
        let decision = DecisionId::new();
        let ask = Ask {
            call: None,
            kind: DecisionKind::Budget,
            prompt: asked.prompt.clone(),
            form: Form::YesNo,
            subject: None,
            over: Some(asked.over),
            rule: None,
            default: None,
            expires_at: None,
        };
        self.people.decisions.raise(decision, ask).await?;
        Ok(decision)
    }

    /// Waits until a person has answered, or there is room again for another reason.
    async fn until_room(
        &mut self,
        decision: DecisionId,
        bound: Bound,
        n_done: u32,
    ) -> Result<Settled, Cut> {
        let began = Instant::now();
        let settled = loop {
            let budgets = Arc::clone(&self.bounds.budgets);
            tokio::select! {
                biased;
                cut = self.signals.parked() => break Err(cut),
                settled = self.people.decisions.settled(decision) => break Ok(settled),
                cut = self.signals.stopped() => break Err(cut),
                () = budgets.changed() => {}
            }
            let gauges = self.gauges(n_done).await?;
            let is_over = |gauge: &Gauge| gauge.over.bound == bound && gauge.is_over;
            if !gauges.iter().any(is_over) {
                break self.no_longer_asked(decision).await;
            }
        };
        self.stopwatch.waited_since(began);
        settled
    }

    /// Withdraws a question and returns its settlement, since a person may have answered first.
    async fn no_longer_asked(&mut self, decision: DecisionId) -> Result<Settled, Cut> {
        self.people.decisions.withdraw(decision).await?;
        Ok(self.people.decisions.settled(decision).await)
    }

    /// Warns people and the model, once for each bound that is close.
    async fn warn(&mut self, gauges: &[Gauge]) -> Result<(), Cut> {
        let repeats = |gauge: &Gauge| {
            gauge.over.bound == Bound::Repeats && gauge.over.used >= WARN_MODEL_AFTER
        };
        let is_stuck = gauges.iter().any(repeats) && !self.repeats().await?.is_warned;
        let is_news = |gauge: &&Gauge| match gauge.over.bound {
            Bound::Repeats => is_stuck,
            Bound::SessionUsd
            | Bound::SessionTokens
            | Bound::DayUsd
            | Bound::DayTokens
            | Bound::Steps
            | Bound::Seconds => gauge.is_close() && !self.is_warned(gauge),
            Bound::Unpriced => false,
        };
        let notice = |gauge: &Gauge| {
            EventBody::Notice(Notice {
                turn: self.turn,
                bound: gauge.over.bound,
                used: gauge.over.used,
                limit: gauge.over.limit,
                message: gauge.so_far(),
            })
        };
        let mut notices: Vec<_> = gauges.iter().filter(is_news).map(notice).collect();
        notices.extend(self.guess());
        self.journal.append(notices).await?;
        Ok(())
    }

    /// Returns the warning that the price of the model is a guess, once for each model of the session.
    fn guess(&self) -> Option<EventBody> {
        let PriceSource::Guessed { like } = self.model.model.price()?.source else {
            return None;
        };
        let message = format!(
            "The price of {} is not known. It is counted like {like}, the dearest known model of its family. An \
             administrator can set the price under `models.prices` in the settings.",
            self.model.name
        );
        let is_told = self
            .journal
            .bodies
            .iter()
            .any(|body| matches!(body, EventBody::Notice(notice) if notice.message == message));
        (!is_told).then_some(EventBody::Notice(Notice {
            turn: self.turn,
            bound: Bound::Unpriced,
            used: 0.0,
            limit: 0.0,
            message,
        }))
    }

    /// Returns true if people have allowed this model without a price in this session.
    fn is_unpriced_allowed(&self) -> bool {
        let question = Gauge::of_unpriced(false).question(&self.model.name);
        let log = &self.journal.bodies;
        let about_it = log.iter().filter_map(|body| {
            let EventBody::Decision(raised) = body else {
                return None;
            };
            let is_it = raised.ask.over?.bound == Bound::Unpriced && raised.ask.prompt == question;
            is_it.then_some(raised.decision)
        });
        let asked: Vec<DecisionId> = about_it.collect();
        let is_yes = |body: &EventBody| {
            matches!(body, EventBody::Answer(settled)
                if asked.contains(&settled.decision) && settled.answer.as_ref().is_some_and(Reply::is_yes))
        };
        self.bounds.allowed.contains(&question) || log.iter().any(is_yes)
    }

    /// Returns true if the log has a warning of the same bound. Bounds of the session are warned about once, all
    /// others once per turn.
    fn is_warned(&self, gauge: &Gauge) -> bool {
        let over = &gauge.over;
        let is_of_session = matches!(over.bound, Bound::SessionUsd | Bound::SessionTokens);
        self.journal.bodies.iter().any(|body| {
            matches!(body, EventBody::Notice(notice) if notice.bound == over.bound
                && notice.limit.total_cmp(&over.limit).is_eq()
                && (is_of_session || notice.turn == self.turn))
        })
    }

    /// Counts the repetitions of this turn. Decoding a picture takes longer than the rest of a step, so only those are
    /// compared that follow the same calls.
    async fn repeats(&mut self) -> Result<Repeats, Cut> {
        loop {
            match self.repeats_so_far() {
                Ok(repeats) => return Ok(repeats),
                Err(pictures) => self.album.prepare_to_compare(pictures).await?,
            }
        }
    }

    /// Counts the repetitions, or returns pictures that must be prepared to be compared.
    fn repeats_so_far(&self) -> Result<Repeats, Vec<BlobName>> {
        let unprepared = RefCell::default();
        let is_like = |one: &BlobName, other: &BlobName| {
            self.album.are_alike(one, other).unwrap_or_else(|| {
                let mut unprepared: RefMut<'_, Vec<_>> = unprepared.borrow_mut();
                unprepared.extend([one.clone(), other.clone()]);
                true
            })
        };
        let repeats = repeats(&self.journal.bodies, self.turn, &self.tools, &is_like);
        let unprepared = unprepared.into_inner();
        if unprepared.is_empty() {
            Ok(repeats)
        } else {
            Err(unprepared)
        }
    }

    /// Measures all bounds of this turn after `n_done` steps.
    async fn gauges(&mut self, n_done: u32) -> Result<Vec<Gauge>, Cut> {
        let accounts = self.bounds.budgets.accounts().await?;
        let next = self.next_call().await?;
        let n_repeats = self.repeats().await?.n_times;
        let of_turn = |bound, used, next, more| {
            Gauge::of_turn(bound, used, next, more, self.bounds.granted(bound))
        };
        let mut gauges = vec![
            of_turn(Bound::Repeats, n_repeats.into(), 0.0, ASK_PERSON_AFTER),
            of_turn(
                Bound::Steps,
                n_done.into(),
                1.0,
                self.limits.max_steps.into(),
            ),
            of_turn(
                Bound::Seconds,
                self.stopwatch.worked().as_secs_f64(),
                0.0,
                self.limits.max_duration.as_secs_f64(),
            ),
        ];
        let has_money = accounts.session.budget.usd.or(accounts.day.budget.usd);
        if self.model.model.has_unknown_price() && has_money.is_some() {
            gauges.push(Gauge::of_unpriced(self.is_unpriced_allowed()));
        }
        // A model without a price is free, or people have allowed it.
        if self.model.model.price().is_some() {
            gauges.extend(Gauge::of_usd(Bound::SessionUsd, &accounts.session, &next));
            gauges.extend(Gauge::of_usd(Bound::DayUsd, &accounts.day, &next));
        }
        let tokens = [
            (Bound::SessionTokens, &accounts.session),
            (Bound::DayTokens, &accounts.day),
        ];
        gauges.extend(
            tokens
                .into_iter()
                .filter_map(|(bound, account)| Gauge::of_tokens(bound, account, &next)),
        );
        Ok(gauges)
    }

    /// Estimates the next call by the turn's last complete answer, and the first call by its request.
    async fn next_call(&mut self) -> Result<Amount, Cut> {
        for body in self.journal.bodies.iter().rev() {
            if let EventBody::Cost(cost) = body
                && cost.turn == self.turn
                && !cost.broken_off
                && !cost.summary
            {
                return Ok(Amount {
                    usd: cost.usd,
                    tokens: cost.usage.tokens(),
                });
            }
        }
        let usage = estimate(&self.request().await?);
        let price = self.model.model.price();
        Ok(Amount {
            usd: price.map_or(0.0, |price| price.of(&usage)),
            tokens: usage.tokens(),
        })
    }
}
