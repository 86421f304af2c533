//! Models whose price is a guess, or that nobody knows the price of.

use deskhand_core::{
    budget::{Account, Accounts, Bound, Budget},
    decision::{Ask, DecisionState, Reply},
    event::{DecisionRaised, DecisionSettled, EventBody},
    id::{TurnId, UserId},
    model::{Chunk, ModelError, Price, PriceSource},
};
use insta::assert_snapshot;

use crate::{
    fakes::{Beat, FakeModel},
    stage::{Stage, calls, ending, fails, runs, says},
};

fn bounded() -> Accounts {
    let budget = Budget {
        usd: Some(5.0),
        tokens: None,
    };
    Accounts {
        session: Account::default(),
        day: Account {
            budget,
            ..Account::default()
        },
    }
}

fn unpriced() -> Stage {
    let stage = Stage::new(vec![says("Done.")]);
    *stage.model.has_unknown_price.lock().unwrap() = true;
    stage.people.accounts.send_replace(bounded());
    stage
}

fn asked(stage: &Stage) -> Vec<Ask> {
    let asked = stage.people.asked.lock().unwrap();
    asked.iter().map(|(_, ask)| ask.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_person_is_asked_before_a_model_without_a_price_works_under_a_budget() {
    let stage = unpriced();
    *stage.people.replies.lock().unwrap() = [Reply::Yes(false)].into();
    assert_snapshot!(ending(&stage.run().await), @"enough: Some(Unpriced) (steps: 0)");
    assert!(stage.model.requests.lock().unwrap().is_empty());
    let [ask] = &asked(&stage)[..] else {
        panic!("{:?}", asked(&stage))
    };
    assert_eq!(ask.over.unwrap().bound, Bound::Unpriced);

    let stage = unpriced();
    *stage.people.replies.lock().unwrap() = [Reply::Yes(true)].into();
    assert_snapshot!(ending(&stage.run().await), @"done: Done. (steps: 1)");

    // Without a budget in money there is nothing to ask.
    let stage = unpriced();
    stage.people.accounts.send_replace(Accounts::default());
    assert_snapshot!(ending(&stage.run().await), @"done: Done. (steps: 1)");
    assert!(asked(&stage).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_person_is_asked_before_another_model_without_a_price_takes_over() {
    let away = fails(ModelError::unavailable("it is overloaded"));
    let mut stage = unpriced();
    stage.model = FakeModel::new(vec![away]);
    let other = FakeModel::new(vec![says("I help out.")]);
    *other.has_unknown_price.lock().unwrap() = true;
    stage.fallback = Some(other.clone());
    *stage.people.replies.lock().unwrap() = [Reply::Yes(false)].into();
    assert_snapshot!(ending(&stage.run().await), @"enough: Some(Unpriced) (steps: 1)");
    assert!(other.requests.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_yes_holds_for_the_session() {
    let first = unpriced();
    *first.people.replies.lock().unwrap() = [Reply::Yes(true)].into();
    first.run().await;
    let (decision, ask) = first.people.asked.lock().unwrap()[0].clone();
    let turn = TurnId::new();
    let mut later = unpriced();
    let before = [
        EventBody::Decision(DecisionRaised {
            turn,
            decision,
            ask,
        }),
        EventBody::Answer(DecisionSettled {
            turn,
            decision,
            state: DecisionState::Answered,
            answer: Some(Reply::Yes(true)),
            by: Some(UserId::new()),
        }),
    ];
    later.history.splice(0..0, before);
    assert_snapshot!(ending(&later.run().await), @"done: Done. (steps: 1)");
    assert!(asked(&later).is_empty());

    // Another model is another question.
    let away = fails(ModelError::unavailable("it is overloaded"));
    later.model = FakeModel::new(vec![away]);
    *later.model.has_unknown_price.lock().unwrap() = true;
    let other = FakeModel::new(vec![says("I help out.")]);
    *other.has_unknown_price.lock().unwrap() = true;
    later.fallback = Some(other);
    *later.people.replies.lock().unwrap() = [Reply::Yes(true)].into();
    assert_snapshot!(ending(&later.run().await), @"done: I help out. (steps: 1)");
    let [ask] = &asked(&later)[..] else {
        panic!("{:?}", asked(&later))
    };
    assert!(ask.prompt.contains("fake/other"), "{}", ask.prompt);
}

#[tokio::test(start_paused = true)]
async fn a_guessed_price_is_told_to_people_once_and_not_to_the_model() {
    let stage = Stage::new(vec![calls(vec![runs("ls")]), says("Done.")]);
    *stage.model.price.lock().unwrap() = Some(Price {
        input: 1.0,
        cache_write: 1.0,
        cache_read: 1.0,
        output: 1.0,
        long: None,
        source: PriceSource::Guessed { like: "other" },
    });
    stage.run().await;
    let bodies = stage.log.bodies();
    let notices = bodies.iter().filter_map(|body| {
        let EventBody::Notice(notice) = body else {
            return None;
        };
        Some(&*notice.message)
    });
    let told: Vec<&str> = notices.collect();
    assert_snapshot!(told.join("\n"), @"The price of fake/model is not known. It is counted like other, the dearest known model of its family. An administrator can set the price under `models.prices` in the settings.");
    let shown = format!("{:?}", stage.shown());
    assert!(!shown.contains("price"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_stopped_before_the_vendor_reports_is_estimated() {
    let words = "x".repeat(400);
    let stage = Stage::new(vec![vec![
        Beat::Say(Chunk::TextStart),
        Beat::Say(Chunk::Text(words)),
        Beat::Hang,
    ]]);
    *stage.model.price.lock().unwrap() = Some(Price {
        input: 1.0,
        cache_write: 1.0,
        cache_read: 1.0,
        output: 1.0,
        long: None,
        source: PriceSource::Listed,
    });
    let stop = async {
        stage.log.until("text").await;
        stage.stop.cancel();
    };
    let (report, ()) = tokio::join!(stage.run(), stop);
    assert_snapshot!(ending(&report), @"stopped (steps: 1)");
    let bodies = stage.log.bodies();
    let cost = bodies.iter().find_map(|body| {
        let EventBody::Cost(cost) = body else {
            return None;
        };
        Some(cost)
    });
    let cost = cost.unwrap();
    assert!(cost.broken_off && cost.usd > 0.0, "{cost:?}");
    assert!(cost.usage.input > 1_000, "{cost:?}");
    assert_eq!(cost.usage.output, 100);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_stopped_is_counted() {
    let too_long = fails(ModelError::TooLong("prompt is too long".to_owned()));
    let summary = vec![Beat::Say(Chunk::Text("x".repeat(400))), Beat::Hang];
    let stage = Stage::new(vec![too_long, summary]);
    *stage.model.price.lock().unwrap() = Some(Price {
        input: 1.0,
        cache_write: 1.0,
        cache_read: 1.0,
        output: 1.0,
        long: None,
        source: PriceSource::Listed,
    });
    let stop = async {
        while stage.model.requests.lock().unwrap().len() < 2 {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
        stage.stop.cancel();
    };
    let (report, ()) = tokio::join!(stage.run(), stop);
    assert_snapshot!(ending(&report), @"stopped (steps: 1)");
    let bodies = stage.log.bodies();
    let Some(EventBody::Cost(cost)) = bodies.last() else {
        panic!("{bodies:?}")
    };
    assert!(
        cost.summary && cost.broken_off && cost.usd > 0.0,
        "{cost:?}"
    );
    assert_eq!(cost.usage.output, 100);
}
