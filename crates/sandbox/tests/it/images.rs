//! Homes in images, where the machine can mount them.

use std::{fs, os::unix::fs::MetadataExt, path::PathBuf};

use deskhand_core::{
    id::SessionId,
    sandbox::{Lifecycle, SandboxLimits},
    tasks::Tasks,
};
use deskhand_sandbox::{
    local::LocalSandboxes,
    providers::{DiskQuota, ProviderSettings},
};
use deskhand_testkit::not_run;

use crate::support::{World, homes_are_images, loop_devices_of, run, said, spec, wait_until};

const MIB: u64 = 1024 * 1024;

/// Returns a world whose homes are images, unless this machine cannot mount any.
async fn world_of_images(change: impl FnOnce(&mut ProviderSettings)) -> Option<World> {
    let world = World::with(|config| {
        config.limits = SandboxLimits {
            disk_bytes: 64 * MIB,
            disk_files: 1_000,
            ..SandboxLimits::default()
        };
        change(config);
    });
    if homes_are_images(&world).await {
        return Some(world);
    }
    not_run("only a server that is root, on a machine with loop devices, can mount images");
    None
}

#[tokio::test]
async fn a_full_image_does_not_stop_the_sandbox() {
    let Some(world) = world_of_images(|_| {}).await else {
        return;
    };
    let (session, neighbour) = (SessionId::new(), SessionId::new());
    let sandbox = world.start(session).await;
    let beside = world.start(neighbour).await;
    let sandbox = &*sandbox;
    assert_eq!(
        said(sandbox, "ls -A ~; stat -c '%a %U' ~").await,
        "700 agent"
    );

    said(sandbox, "echo kept > ~/file").await;
    let full = "head -c 100M /dev/zero 2>&1 > ~/large; stat -c %s ~/large";
    let full = run(sandbox, full).await.unwrap().output;
    assert!(full.contains("No space left on device"), "{full}");
    let bytes: u64 = full.lines().last().unwrap().parse().unwrap();
    assert!((40 * MIB..=64 * MIB).contains(&bytes), "{bytes}");
    said(&*beside, "head -c 20M /dev/zero > ~/large").await;
    said(sandbox, "rm ~/large").await;
    let many = "mkdir ~/many; touch ~/many/$(seq -s \" $HOME/many/\" 2000) 2>&1 | tail -1; ls ~/many | wc -l";
    let many = said(sandbox, many).await;
    assert!(many.contains("No space left on device"), "{many}");
    let n_files: u64 = many.lines().last().unwrap().parse().unwrap();
    assert!((900..1_100).contains(&n_files), "{n_files}");
    said(sandbox, "rm -r ~/many").await;
    assert_eq!(said(sandbox, "cat ~/file").await, "kept");

    sandbox.stop().await;
    assert_eq!(loop_devices_of(session), Vec::<PathBuf>::new());
    let image = world.folder(session).join("home.img");
    wait_until("removed files take no space", || {
        fs::metadata(&image).unwrap().blocks() * 512 < 20 * MIB
    });
    let again = world.start(session).await;
    assert_eq!(said(&*again, "cat ~/file").await, "kept");
    world.sandboxes.remove_files(session).await.unwrap();
    assert!(!world.folder(session).exists());
    assert_eq!(loop_devices_of(session), Vec::<PathBuf>::new());
    world.end().await;
}

#[tokio::test]
async fn existing_homes_keep_their_kind() {
    let Some(images) = world_of_images(|_| {}).await else {
        return;
    };
    let [old, new] = [SessionId::new(), SessionId::new()];
    let settings = ProviderSettings {
        disk_quota: DiskQuota::Watched,
        ..images.config.clone()
    };
    let folders = LocalSandboxes::new(settings, Tasks::default());
    let sandbox = folders.start(spec(old)).await.unwrap();
    said(&*sandbox, "echo folder > ~/file").await;
    sandbox.stop().await;
    let sandbox = images.start(new).await;
    said(&*sandbox, "echo image > ~/file").await;
    sandbox.stop().await;

    let sandbox = images.start(old).await;
    assert_eq!(said(&*sandbox, "cat ~/file").await, "folder");
    let sandbox = folders.start(spec(new)).await.unwrap();
    assert_eq!(said(&*sandbox, "cat ~/file").await, "image");

    let has_image = |session: SessionId| images.folder(session).join("home.img").exists();
    assert_eq!([old, new].map(has_image), [false, true]);
    folders.stop_all().await;
    images.end().await;
}

#[tokio::test]
async fn an_image_is_never_mounted_twice() {
    let Some(world) = world_of_images(|_| {}).await else {
        return;
    };
    let session = SessionId::new();
    // Each start ends the one before. What it left in memory is written before the image is mounted again.
    let mut expected = Vec::new();
    for n in 0..5 {
        let sandbox = world.start(session).await;
        said(
            &*sandbox,
            &format!("head -c 5M /dev/urandom > ~/{n}; echo {n} >> ~/all"),
        )
        .await;
        expected.push(n.to_string());
        assert_eq!(said(&*sandbox, "cat ~/all").await, expected.join("\n"));
        assert_eq!(loop_devices_of(session).len(), 1);
    }
    world.end().await;
}

#[tokio::test]
async fn a_server_that_must_have_images_starts_no_sandbox_without_them() {
    let can = homes_are_images(&World::new()).await;
    let world = World::with(|config| config.disk_quota = DiskQuota::Image);
    let started = world.sandboxes.start(spec(SessionId::new())).await;
    if can {
        assert_eq!(said(&*started.unwrap(), "echo here").await, "here");
    } else {
        let error = started.unwrap_err().to_string();
        let begin = "this machine cannot give each home an image (";
        assert!(error.starts_with(begin), "{error}");
        assert!(error.contains("sandbox.disk_quota"), "{error}");
    }
    world.end().await;
}
