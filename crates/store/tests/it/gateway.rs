use deskhand_core::{
    event::{EventBody, GatewayUse},
    id::SessionId,
    model::Usage,
    viewer::Viewer,
};
use deskhand_store::{CountGatewayUse, NoSuchSession};

use crate::{World, on_both_databases};

on_both_databases! {
    what_programs_ask_is_counted_with_its_event,
}

async fn what_programs_ask_is_counted_with_its_event(world: World) {
    let session = world.session().await;
    let used = GatewayUse {
        turn: None,
        model: "anthropic/claude-opus-5-5".to_owned(),
        usd: 0.25,
        usage: Usage {
            input: 10,
            cache_write: 20,
            cache_read: 30,
            output: 40,
            ..Usage::default()
        },
        unpriced: false,
        unfinished: false,
    };
    let store = &world.store;
    let before = store.session(Viewer::System, session).await.unwrap();
    let before = before.unwrap().last_seq;
    for n in 1..=2 {
        let count = CountGatewayUse { used: used.clone() };
        let told = world.commit(session, count).await.unwrap().events;
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].seq, before + n);
        assert_eq!(
            told[0].read().unwrap().body,
            EventBody::Gateway(used.clone())
        );
    }
    let after = store.session(Viewer::System, session).await.unwrap();
    let after = after.unwrap();
    assert_eq!((after.cost_usd, after.tokens), (0.5, 200));
    assert_eq!(after.last_seq, before + 2);

    let nowhere = world.commit(SessionId::new(), CountGatewayUse { used });
    assert_eq!(nowhere.await.unwrap_err(), NoSuchSession);
}
