//! The report of `doctor` on this machine, and on one that lacks something.

use deskhand_core::sandbox::{CheckState, Lifecycle};

use crate::support::World;

#[tokio::test]
async fn everything_is_looked_at() {
    let world = World::new();
    let checks = world.sandboxes.doctor().await;
    let names: Vec<&str> = checks.iter().map(|check| check.name).collect();
    assert_eq!(
        names,
        [
            "bubblewrap",
            "isolation",
            "system calls",
            "X server",
            "window manager",
            "browser",
            "fonts",
            "sound",
            "network",
            "memory limit",
            "processor limit",
            "process limit",
            "file size limit",
            "disk limit",
            "disk space",
        ]
    );
    for check in checks {
        println!("{check:?}");
        assert_ne!(check.state, CheckState::Missing, "{check:?}");
        assert_eq!(
            check.remedy.is_none(),
            check.state == CheckState::Ok,
            "{check:?}"
        );
    }
}

#[tokio::test]
async fn a_missing_bubblewrap_is_named_with_its_package() {
    let world = World::with(|config| config.bubblewrap = "/nowhere/bwrap".into());
    let checks = world.sandboxes.doctor().await;
    assert_eq!(checks[0].state, CheckState::Missing);
    assert_eq!(
        checks[0].remedy.as_deref(),
        Some("apt-get install bubblewrap")
    );
    assert_eq!(checks[1].state, CheckState::Missing);
}
