//! How much people may use, and how many sessions they made.

use std::time::Duration;

use deskhand_core::{
    budget::{Budget, ChangeBudget},
    clock::{Clock, SystemClock},
    computer::{ComputerKind, DrivingTools},
    id::SessionId,
    limits::{Limits, UserLimits},
    network::policy::NetworkPolicy,
    policy::Policy,
};
use deskhand_store::NewSession;

use crate::{World, on_both_databases};

on_both_databases! {
    what_was_decided_for_a_user_is_kept,
    sessions_are_made_up_to_the_limit_also_at_once,
    only_what_is_not_in_order_is_unsettled,
}

const DAY: Duration = Duration::from_hours(24);

fn limits(sessions_per_day: u32) -> Limits {
    Limits {
        awake_sessions: 5,
        sessions_per_day,
        idle: Duration::from_secs(1),
        life: Duration::from_secs(1),
        day: Budget::default(),
    }
}

async fn what_was_decided_for_a_user_is_kept(world: World) {
    let store = &world.store;
    assert_eq!(
        store.user_limits(world.user).await.unwrap(),
        UserLimits::default()
    );
    for decided in [
        UserLimits {
            awake_sessions: Some(7),
            life_seconds: Some(u32::MAX),
            ..UserLimits::default()
        },
        UserLimits {
            idle_seconds: Some(1),
            sessions_per_day: Some(0),
            day: ChangeBudget {
                usd: Some(0.25),
                tokens: Some(0),
            },
            ..UserLimits::default()
        },
    ] {
        store
            .set_user_limits(world.user, decided, world.stamp())
            .await
            .unwrap();
        assert_eq!(store.user_limits(world.user).await.unwrap(), decided);
    }
}

async fn sessions_are_made_up_to_the_limit_also_at_once(world: World) {
    let now = SystemClock.now();
    let (metadata, approvals) = (serde_json::json!({}), Policy::default());
    let (network, tools) = (NetworkPolicy::default(), DrivingTools::default());
    let new = |created_at| NewSession {
        id: SessionId::new(),
        owner: world.user,
        title: "",
        model: "scripted/demo",
        effort: None,
        computer: ComputerKind::Desktop,
        tools: &tools,
        instructions: "",
        metadata: &metadata,
        approvals: &approvals,
        network: &network,
        mcp_servers: &[],
        budget: Budget::default(),
        is_counted: true,
        created_at,
    };
    let insert = |at| {
        world
            .store
            .insert_session_within(new(at), limits(3), at - DAY)
    };
    // Too old to count.
    insert(now - DAY - DAY).await.unwrap().unwrap();
    let first = now - Duration::from_secs(60);
    insert(first).await.unwrap().unwrap();
    let made = futures::future::join_all((0..8).map(|_| insert(now))).await;
    let refused: Vec<_> = made
        .into_iter()
        .filter_map(|made| made.unwrap().err())
        .collect();
    assert_eq!(refused.len(), 6, "of eight, two found room");
    for refused in refused {
        assert_eq!(refused.n_sessions, 3);
        let way = refused.in_the_way.unwrap();
        assert_eq!(
            way.as_millisecond(),
            first.as_millisecond(),
            "the oldest that counts"
        );
    }
    let lately = world
        .store
        .made_lately(world.user, limits(4), now - DAY)
        .await
        .unwrap();
    assert_eq!((lately.n_sessions, lately.in_the_way), (3, None));
}

async fn only_what_is_not_in_order_is_unsettled(world: World) {
    let fresh = world.session().await;
    let unsettled = world.store.unsettled_sessions().await.unwrap();
    assert_eq!(unsettled.len(), 1, "it says that it is starting");
    assert_eq!(
        (
            unsettled[0].session.id,
            unsettled[0].turn,
            unsettled[0].is_awaited
        ),
        (fresh, None, false)
    );
    let ended = world
        .store
        .ended_among(vec![fresh, SessionId::new()])
        .await
        .unwrap();
    assert_eq!(ended.len(), 1);
    assert!(!ended.contains(&fresh));
}
