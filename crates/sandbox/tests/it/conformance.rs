//! Runs the conformance suite for providers on the local provider.

use std::{sync::Arc, time::Duration};

use deskhand_testkit::conformance::{self, Subject};

use crate::support::{World, example};

#[tokio::test]
async fn the_local_provider_conforms() {
    let world = World::with(|config| config.runner = example("runner"));
    conformance::provider(Subject {
        sandboxes: Arc::new(world.sandboxes.clone()),
        deadly_command: "pkill -9 Xvnc; sleep 60",
    })
    .await;
    assert!(world.tasks.end(Duration::from_secs(60)).await);
}
