//! What sessions and people may use and have used.

use deskhand_core::{
    budget::{Amount, Bound, Budget, ChangeBudget, Over},
    decision::{Ask, DecisionKind, Form, Reply, Settlement},
    event::{Cost, EventBody},
    id::{DecisionId, SessionId, TurnId},
    model::Usage,
    user::UserRole,
};
use deskhand_store::{AppendEvents, DayUse, EditSession, RaiseDecision, SettleDecision};
use jiff::Timestamp;

use crate::{World, commit_at, decisions::at_work, edit::nothing, on_both_databases};

on_both_databases! {
    what_sessions_use_is_counted_for_their_owner_by_day,
    a_session_has_a_budget_and_another_takes_its_place,
    a_yes_gives_more_and_a_no_does_not,
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn cost(usd: f64, tokens: u64) -> EventBody {
    EventBody::Cost(Cost {
        turn: TurnId::new(),
        step: 1,
        usd,
        model: "scripted/demo".to_owned(),
        usage: Usage {
            input: tokens,
            ..Usage::default()
        },
        unpriced: false,
        unfinished: false,
        aside: false,
        broken_off: false,
        summary: false,
    })
}

fn amount(usd: f64, tokens: u64) -> Amount {
    Amount { usd, tokens }
}

async fn what_sessions_use_is_counted_for_their_owner_by_day(world: World) {
    let store = &world.store;
    let bea = world.user_named("Bea", UserRole::Member).await;
    let (one, two) = (world.session_of(bea).await, world.session_of(bea).await);
    let other = world.session().await;
    for (session, usd, tokens, when) in [
        (one, 0.5, 10, "2026-02-27T23:59:59Z"),
        (one, 0.25, 20, "2026-03-01T00:00:00Z"),
        (one, 0.125, 40, "2026-03-02T00:00:00Z"),
        (two, 0.001, 80, "2026-03-02T23:59:59.999Z"),
        (other, 7.0, 160, "2026-03-02T12:00:00Z"),
        (one, 1.0, 320, "2026-03-03T00:00:00Z"),
    ] {
        let bodies = [cost(usd, tokens)];
        let append = AppendEvents::new(&bodies);
        commit_at(store, at(when), session, append).await.unwrap();
    }
    let noon = at("2026-03-02T12:00:00Z");
    let used = store.day_use(bea, noon).await.unwrap().used;
    assert_eq!(used, amount(0.126, 120));
    let used = store.month_use(bea, noon).await.unwrap();
    assert_eq!(used, amount(0.376, 140));
    let never = store.day_use(bea, at("2026-04-01T00:00:00Z")).await;
    assert_eq!(never.unwrap(), DayUse::default());
    let (owner, account) = store.session_account(one).await.unwrap().unwrap();
    assert_eq!((owner, account.used), (bea, amount(1.875, 390)));
    let nobodys = store.session_account(SessionId::new()).await.unwrap();
    assert_eq!(nobodys, None);
}

async fn a_session_has_a_budget_and_another_takes_its_place(world: World) {
    let store = &world.store;
    let session = world.session().await;
    let budget = async || {
        let (_, account) = store.session_account(session).await.unwrap().unwrap();
        account.budget
    };
    assert_eq!(budget().await, Budget::default());
    let change = async |usd, tokens| {
        let edit = EditSession {
            budget: Some(ChangeBudget { usd, tokens }),
            ..nothing(world.user)
        };
        world.commit(session, edit).await.unwrap();
    };
    change(Some(0.01), Some(5)).await;
    change(None, Some(6)).await;
    let expected = Budget {
        usd: Some(0.01),
        tokens: Some(6),
    };
    assert_eq!(budget().await, expected);
    change(Some(0.0), None).await;
    assert_eq!(budget().await.usd, None);
}

async fn a_yes_gives_more_and_a_no_does_not(world: World) {
    let store = &world.store;
    let now = at("2026-03-02T12:00:00Z");
    let answered = async |bound, yes| {
        let (session, turn) = at_work(&world, world.user).await;
        let edit = EditSession {
            budget: Some(ChangeBudget {
                usd: Some(2.0),
                tokens: Some(2_000),
            }),
            ..nothing(world.user)
        };
        world.commit(session, edit).await.unwrap();
        let ask = Ask {
            call: None,
            kind: DecisionKind::Budget,
            prompt: "More?".to_owned(),
            form: Form::YesNo,
            subject: None,
            over: Some(Over {
                bound,
                used: 1.0,
                limit: 2.0,
                more: 2.0,
            }),
            rule: None,
            default: None,
            expires_at: None,
        };
        let id = DecisionId::new();
        let raise = RaiseDecision {
            turn,
            id,
            ask: &ask,
        };
        commit_at(store, now, session, raise).await.unwrap();
        let reply = Settlement::Answered {
            by: world.user,
            reply: Reply::Yes(yes),
        };
        // Whoever says it twice gives it once.
        for is_first in [true, false] {
            let settle = SettleDecision {
                id,
                settlement: &reply,
                file: None,
            };
            let settled = commit_at(store, now, session, settle).await;
            assert_eq!(settled.is_ok(), is_first);
        }
        let (_, account) = store.session_account(session).await.unwrap().unwrap();
        account.granted
    };
    let day = async || store.day_use(world.user, now).await.unwrap().granted;
    assert_eq!(answered(Bound::SessionUsd, false).await, Amount::default());
    assert_eq!(answered(Bound::SessionUsd, true).await, amount(2.0, 0));
    assert_eq!(answered(Bound::SessionTokens, true).await, amount(0.0, 2));
    assert_eq!(answered(Bound::Steps, true).await, Amount::default());
    assert_eq!(day().await, Amount::default());
    assert_eq!(answered(Bound::DayUsd, false).await, Amount::default());
    assert_eq!(answered(Bound::DayUsd, true).await, Amount::default());
    assert_eq!(answered(Bound::DayTokens, true).await, Amount::default());
    assert_eq!(day().await, amount(2.0, 2));
}
